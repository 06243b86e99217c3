"""Count error against distribution error: over the split, refinement and the map, and against the published pipeline.

    python studies/frontier.py --data DIR --out docs --selector sandwich

DIR holds us_county_murders_2012.csv (column `murder`); without it the county table is left out. The picture and the
table of docs/frontier.md are written anew.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from discreet.distribution.split import default_split, kl_split
from discreet_lab.baselines.pipelines import clamped_geometric, paper, two_stage, unfixed
from discreet_lab.baselines.simulate import ERRORS, Simulation, simulate

# the grid of total budgets in Kohli and Laskowski, table 3
EPSILONS = (0.10, 0.15, 0.22, 0.32, 0.48, 0.71, 1.05, 1.55, 2.29, 3.38, 5.00)
PICTURED = (0.10, 0.48, 1.05, 2.29)
SPLITS = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7)
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
Tables = dict[str, tuple[np.ndarray, int]]


def tables(data: Path | None) -> Tables:
    """The three tables of the comparison; the school table is a stand-in drawn from a gamma law."""
    rng = np.random.default_rng(5)
    schools = rng.gamma(2.2, 14.5, 95_969).astype(np.int64)
    out: Tables = {"binomial": (rng.binomial(20, 0.5, 10_000), 20), "schools": (np.minimum(schools, 80), 80)}
    file = None if data is None else data / "us_county_murders_2012.csv"
    if file is not None and file.exists():
        with file.open(newline="") as lines:
            murders = np.array([int(row["murder"]) for row in csv.DictReader(lines)])
        out = {"homicides": (np.minimum(murders, 50), 50), **out}
    return out


def comparison(counts: np.ndarray, top: int, epsilon: float, repeats: int, selector: str | None) -> Simulation:
    pipelines = {
        "paper": paper(epsilon, top, selector=selector),
        "default": two_stage(epsilon, top),
        "rank": two_stage(epsilon, top, onto="rank"),
        "geometric": clamped_geometric(epsilon, top),
        "unfixed": unfixed(epsilon, top),
    }
    return simulate(pipelines, counts, top, repeats)


def comparison_lines(name: str, epsilon: float, found: Simulation) -> Iterable[str]:
    """Both errors of every pipeline, as a line of a table: bold where better than the paper's, * where worse."""
    cells = [name, f"{epsilon:.2f}", f"{float(default_split(epsilon)):.3f}"]
    for pipeline in found.errors:
        cells.append(" / ".join(_cell(found, pipeline, error) for error in ERRORS))
    yield "| " + " | ".join(cells) + " |"


def _cell(found: Simulation, pipeline: str, error: str) -> str:
    text = f"{found.mean(pipeline)[error].mean:.3g}"
    if pipeline == "paper":
        return text
    difference = found.difference(pipeline, "paper")[error]
    return f"**{text}**" if difference.below_zero else f"{text}*" if difference.above_zero else text


def frontier(counts: np.ndarray, top: int, epsilon: float, repeats: int) -> dict[str, list[tuple[float, float, float]]]:
    """Points (split, count error, distribution error) of every curve."""
    kinds = {
        "spread": {"onto": "spread"},
        "rank": {"onto": "rank"},
        "independent": {"onto": "observed"},
        "spread, not refined": {"onto": "spread", "refined": False},
    }
    curves: dict[str, list[tuple[float, float, float]]] = {}
    for label, options in kinds.items():
        splits = SPLITS if options.get("refined") is False else (0.0, *SPLITS)
        runs = {str(split): two_stage(epsilon, top, split=split, **options) for split in splits}  # type: ignore[arg-type]
        found = simulate(runs, counts, top, repeats)
        curves[label] = [(float(split), *_means(found, split)) for split in runs]
    single = {"default": two_stage(epsilon, top), "paper": paper(epsilon, top), "unfixed": unfixed(epsilon, top)}
    found = simulate(single, counts, top, repeats)
    for name in single:
        share = {"default": default_split(epsilon), "paper": kl_split(epsilon), "unfixed": kl_split(epsilon)}[name]
        curves[name] = [(float(share), *_means(found, name))]
    return curves


def _means(found: Simulation, name: str) -> tuple[float, float]:
    means = found.mean(name)
    return means["count_error"].mean, means["distribution_error"].mean


def picture(results: dict[tuple[str, float], Any], names: list[str], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator

    plt.rcParams |= {"svg.fonttype": "none", "font.size": 8, "svg.hashsalt": "discreet"}
    figure, axes = plt.subplots(len(names), len(PICTURED), figsize=(11, 2.6 * len(names)), squeeze=False)
    lines = {"spread": "C0.-", "rank": "C4.-", "independent": "C2.-", "spread, not refined": "C7.--"}
    marks = {"default": ("C3*", 11), "paper": ("kX", 7), "unfixed": ("C1v", 6)}
    for row, name in enumerate(names):
        for column, epsilon in enumerate(PICTURED):
            axis = axes[row][column]
            for label, points in results[name, epsilon].items():
                count, distribution = [p[1] for p in points], [p[2] for p in points]
                style, size = marks.get(label, (lines.get(label), 4))
                axis.loglog(count, distribution, style, markersize=size, linewidth=1, label=label)
            axis.set_title(f"{name}, epsilon = {epsilon}")
            if row == len(names) - 1:
                axis.set_xlabel("mean absolute error of a count")
            if column == 0:
                axis.set_ylabel("distribution, W1")
            for side in (axis.xaxis, axis.yaxis):
                side.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
                side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.minorticks_off()
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="lower center", ncols=7, frameon=False)
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figure.savefig(file, metadata={"Date": None})


def main(data: Path | None, out: Path, repeats: int, selector: str | None) -> None:
    chosen, err = tables(data), Console(stderr=True)
    lines = [
        "| table | epsilon | split | paper | default | by rank | geometric | unfixed optimum |",
        "|---|---|---|---|---|---|---|---|",
    ]
    tasks = [(name, epsilon) for name in chosen for epsilon in EPSILONS]
    for name, epsilon in track(tasks, "comparing", console=err):
        lines += comparison_lines(name, epsilon, comparison(*chosen[name], epsilon, repeats, selector))
    pictured = [(name, epsilon) for name in chosen for epsilon in PICTURED]
    curves = {
        (name, epsilon): frontier(*chosen[name], epsilon, max(8, repeats // 4))
        for name, epsilon in track(pictured, "frontier", console=err)
    }
    picture(curves, list(chosen), out / "pictures" / "frontier.svg")
    write_table(lines, out / "frontier.md")


def write_table(lines: list[str], page: Path) -> None:
    """Put the table between the marks of the page."""
    before, _, rest = page.read_text().partition(BEGIN)
    page.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--selector", default=None, help="compare with the heuristic, not with the optimum")
    asked = parser.parse_args()
    main(asked.data, asked.out, asked.repeats, asked.selector)
