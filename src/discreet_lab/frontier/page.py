"""The study as a reader sees it: tables in Markdown between the marks of a page, and a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet import plot
from discreet_lab.frontier.methods import OTHERS, Method
from discreet_lab.frontier.tables import StudyTable
from discreet_lab.frontier.verdicts import (
    BOTH,
    COUNT,
    STANDARD_ERRORS,
    Finding,
    Judged,
    Verdict,
    held_out,
    verdicts,
)  # fmt: skip

COLUMNS: tuple[Method, ...] = ("balance", "counts", "distribution", *OTHERS)
PICTURED_TABLES = ("homicides", "binomial", "schools", "precincts")  # skewed, a bell, wide with many rows, held out
PICTURED: tuple[Method, ...] = ("balance", "distribution", "version 0.1", "paper", "oracle")
COUNT_TICKS, DISTRIBUTION_TICKS = (0.1, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5), (0.01, 0.03, 0.1, 0.3, 1, 3)
LEAST_RATIO = 3e-3  # below which a line of the picture ends: nothing is left of the error
NAMED = 20  # failing cells that are named in the list of verdicts; the others are counted


def written(page: str, cells: Sequence[Judged], tables: Sequence[StudyTable]) -> str:
    """The page with everything that the study found between its marks."""
    parts = {
        "extent": [extent(cells, tables)],
        "verdicts": [*verdict_lines(verdicts(cells)), "", "Of the tables held out alone:", "",
                     *verdict_lines(held_out(cells))],
        "summary": list(summary_lines(cells)),
        "shapes": list(shape_lines(tables)),
        "without max_count": list(cell_lines([one for one in cells if not one.cell.with_max_count])),
        "with max_count": list(cell_lines([one for one in cells if one.cell.with_max_count])),
    }  # fmt: skip
    for name, lines in parts.items():
        page = between(page, name, lines)
    return page


def between(page: str, name: str, lines: Iterable[str]) -> str:
    """The page with these lines between the marks of that name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, found, rest = page.partition(begin)
    if not found or end not in rest:
        raise ValueError(f"the page has no marks {begin} and {end}")
    return "\n".join([before + begin, *lines, end]) + rest.partition(end)[2]


def extent(cells: Sequence[Judged], tables: Sequence[StudyTable]) -> str:
    apart = sum(table.held_out for table in tables)
    repeats = min(run.repeats for one in cells for run in one.runs)
    return (
        f"{len(tables)} tables, {apart} of them held out; {len(cells)} cells (a table, an epsilon, with max_count or "
        f"without); at least {repeats} releases by each method in each cell."
    )


def verdict_lines(found: Iterable[Verdict]) -> Iterator[str]:
    yield "| to be shown | cells | verdict |"
    yield "|---|---|---|"
    for verdict in found:
        yield f"| {verdict.name} | {verdict.cells} | {verdict_words(verdict)} |"


def verdict_words(verdict: Verdict) -> str:
    """Holds or not; in which cells not; and how many are on the wrong side by chance, as far as can be told."""
    if not verdict.cells:
        return "no cell to judge by"
    if verdict.share is not None and verdict.needed is not None:
        share = f"in {verdict.share:.0%} of the cells, {verdict.needed:.0%} needed"
        return f"**holds**: {share}" if verdict.holds else f"**fails**: {share}"
    failing, unsure = verdict.failing, len(verdict.findings) - len(verdict.failing)
    chance = f" ({unsure} more on the wrong side, within {STANDARD_ERRORS} standard errors)" if unsure else ""
    if not failing:
        return "**holds**" + chance.replace(" more ", " ")
    worst = sorted(failing, key=_distance, reverse=True)[:NAMED]
    named = "; ".join(map(str, worst)) + (f"; and {len(failing) - NAMED} more" if len(failing) > NAMED else "")
    return f"**fails** in {len(failing)}: {named}{chance}"


def _distance(finding: Finding) -> float:
    """From a ratio of 1, either way."""
    return abs(math.log(finding.ratio)) if finding.ratio > 0 else math.inf


def summary_lines(cells: Sequence[Judged]) -> Iterator[str]:
    """Medians over the tables of both errors, each in parts of that of plain noise."""
    shown: tuple[Method, ...] = tuple(method for method in COLUMNS if method != "plain")
    yield "| max_count | epsilon | " + " | ".join(shown) + " |"
    yield "|---" * (len(shown) + 2) + "|"
    for known in (False, True):
        some = [one for one in cells if one.cell.with_max_count == known]
        for epsilon in sorted({one.cell.epsilon for one in some}, key=float):
            here = [one for one in some if one.cell.epsilon == epsilon]
            medians = " | ".join(_median_ratios(here, method) for method in shown)
            yield f"| {'with' if known else 'without'} | {epsilon} | {medians} |"


def _median_ratios(cells: Sequence[Judged], method: Method) -> str:
    some = [one for one in cells if one.has(method, "plain")]
    if not some:
        return ""
    ratios = ([one.ratio(method, "plain", error) for one in some] for error in BOTH)
    return " / ".join(f"{np.median(column):.2f}" for column in ratios)


def shape_lines(tables: Iterable[StudyTable]) -> Iterator[str]:
    yield "| table | rows | max_count, where known | rows above it | what it is |"
    yield "|---|---|---|---|---|"
    for table in tables:
        above = int((table.counts > table.max_count).sum())
        name = f"*{table.name}*" if table.held_out else table.name
        yield f"| {name} | {table.rows:,} | {table.max_count} | {above or ''} | {table.about} |"


def cell_lines(cells: Sequence[Judged]) -> Iterator[str]:
    """Both errors of every method; and the paired differences of the default to plain noise, with intervals."""
    shown = [method for method in COLUMNS if any(one.has(method) for one in cells)]
    yield "| table | epsilon | " + " | ".join(shown) + " | balance - plain |"
    yield "|---" * (len(shown) + 3) + "|"
    for one in cells:
        name = f"*{one.cell.table}*" if one.table.held_out else one.cell.table
        errors = " | ".join(_both(one, method) for method in shown)
        yield f"| {name} | {one.cell.epsilon} | {errors} | {_differences(one)} |"


def _both(one: Judged, method: Method) -> str:
    if not one.has(method):
        return ""
    return " / ".join(_error(one, method, error) for error in BOTH)


def _error(one: Judged, method: Method, error: int) -> str:
    """Bold where surely below plain noise, with a star where surely above."""
    text = _number(one.mean(method, error))
    if method == "plain" or not one.has("plain"):
        return text
    excess = one.excess(method, "plain", error)
    return f"**{text}**" if excess.surely_negative else f"{text}*" if excess.surely_positive else text


def _differences(one: Judged) -> str:
    if not one.has("balance", "plain"):
        return ""
    excess = [one.excess("balance", "plain", error) for error in BOTH]
    return " / ".join(f"{_number(each.mean)} ± {_number(STANDARD_ERRORS * each.error)}" for each in excess)


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) >= 1e-4 else f"{value:.1g}" if value else "0"


def picture(cells: Sequence[Judged], file: Path) -> None:
    """Both errors over epsilon, in parts of those of plain noise, of a few tables with max_count."""
    names = [name for name in PICTURED_TABLES if any(one.cell.table == name for one in cells)]
    drawing, axes = plot.figure(2, len(names), width=2.9, height=2.7)
    for column, name in enumerate(names):
        some = [one for one in cells if one.cell.table == name and one.cell.with_max_count]
        apart = ", held out" if some[0].table.held_out else ""
        axes[0][column].set_title(f"{name} ({some[0].table.rows:,} rows{apart})", fontsize=10)
        for error in BOTH:
            _draw_ratios(axes[error][column], some, error)
        axes[1][column].set_xlabel("epsilon")
    for error in BOTH:
        _same_height(axes[error], COUNT_TICKS if error == COUNT else DISTRIBUTION_TICKS)
    axes[0][0].set_ylabel("error of a count,\nin parts of plain noise's")
    axes[1][0].set_ylabel("error of the distribution,\nin parts of plain noise's")
    handles, labels = axes[0][0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    plot.save(drawing, file)


def _draw_ratios(ax: Any, cells: Sequence[Judged], error: int) -> None:
    """A line for each method. An oracle that wants small errors of counts says nothing about the distribution."""
    from matplotlib.ticker import NullLocator

    for method, (colour, dash, marker) in zip(PICTURED, plot.STYLES):
        some = [one for one in cells if one.has(method, "plain") and (method != "oracle" or error == COUNT)]
        points = [(one.cell.budget, one.ratio(method, "plain", error)) for one in some]
        points = [point for point in points if point[1] > LEAST_RATIO]
        if points:
            style = {"color": colour, "linestyle": dash, "marker": marker, "markersize": 4, "linewidth": 1.3}
            ax.plot(*zip(*points), label=method, **style)
    ax.axhline(1, color="#999999", linewidth=0.8)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks([one.cell.budget for one in cells], [one.cell.epsilon for one in cells])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.spines[["top", "right"]].set_visible(False)


def _same_height(axes: Sequence[Any], ticks: tuple[float, ...]) -> None:
    """One scale for a row of pictures."""
    from matplotlib.ticker import NullLocator

    limits = [ax.get_ylim() for ax in axes]
    low, high = min(low for low, _ in limits), max(high for _, high in limits)
    shown = [tick for tick in ticks if low <= tick <= high]
    for ax in axes:
        ax.yaxis.set_minor_locator(NullLocator())
        ax.set_yticks(shown, [f"{tick:g}" for tick in shown])
        ax.set_ylim(low, high)
