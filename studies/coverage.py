"""How often the intervals of `estimate` cover the truth, and how wide they are next to an oracle's.

The oracle sees the same noisy values and knows the true distribution of counts, so it uses the best weights and the
exact variances; only the noise itself is hidden from it.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.progress import track

import discreet as dc
from discreet.estimate import Answer, Estimate, estimate
from discreet.estimate.inequality import gini_of
from discreet.estimate.shares import of_rows

ROWS, MAX_COUNT = 1000, 30
REPEATS, QUICK = 500, 50  # the standard error of a coverage near 95% is then a hundredth, or three
LEAST_COVERAGE, MOST_WIDTH = 0.93, 1.3  # what is pointed at
EPSILONS = ("0.1", "1", "3")
THRESHOLD, GROUPS = 2, 10


def shapes() -> dict[str, np.ndarray[Any, Any]]:
    """Half zeros with a long tail; a bell; nearly flat."""
    rng = np.random.default_rng(20)
    tail = np.where(rng.random(ROWS) < 0.5, 0, rng.geometric(0.25, ROWS))
    return {
        "half zeros, long tail": np.minimum(tail, MAX_COUNT),
        "binomial": rng.binomial(20, 0.5, ROWS),
        "flat": rng.integers(0, MAX_COUNT + 1, ROWS),
    }


def questions(truth: np.ndarray[Any, Any]) -> dict[str, tuple[float, Callable[[Estimate], Answer]]]:
    """Each question with its true answer."""
    groups = truth.reshape(GROUPS, -1).sum(axis=1).astype(float)
    first, second = groups[:2]
    median = float(np.sort(truth)[(ROWS + 1) // 2 - 1])
    return {
        "share_zero": (float((truth == 0).mean()), lambda view: view.share_zero()),
        f"share_above {THRESHOLD}": (float((truth > THRESHOLD).mean()), lambda view: view.share_above(THRESHOLD)),
        "mean": (float(truth.mean()), lambda view: view.mean()),
        "total": (float(truth.sum()), lambda view: view.total()),
        "quantile 0.5": (median, lambda view: view.quantile(0.5)),
        "by group": (first, lambda view: view.by("group")[0]),
        "some rows": (first + second, lambda view: view.where(group=[0, 1]).total()),
        "difference": (first - second, lambda view: view.where(group=0).minus(view.where(group=1))),
        "ratio": (first / second, lambda view: view.where(group=0).over(view.where(group=1))),
        "share": (first / groups.sum(), lambda view: view.share("group")[0]),
        "gini of groups": (float(gini_of(groups[None, :])[0]), lambda view: view.gini("group")),
    }


@dataclass(frozen=True)
class Row:
    """How often the interval for one question covers the truth, and its mean width in parts of the oracle's."""

    shape: str
    epsilon: str
    question: str
    coverage: float
    width: float

    @property
    def fine(self) -> bool:
        return self.coverage >= LEAST_COVERAGE and self.width <= MOST_WIDTH

    def __str__(self) -> str:
        return (
            f"{self.shape:24s} epsilon {self.epsilon:4s} {self.question:14s} "
            f"coverage {self.coverage:.3f}  width / oracle {self.width:.2f}{'' if self.fine else '  <--'}"
        )


def one_setting(shape: str, truth: np.ndarray[Any, Any], epsilon: str, repeats: int) -> Iterator[Row]:
    """A row for each question."""
    keys = {"row": np.arange(ROWS), "group": np.arange(ROWS) // (ROWS // GROUPS)}
    table = dc.table(pa.table({**keys, "people": truth}), "people", keys=["row", "group"])
    distribution = np.bincount(truth, minlength=MAX_COUNT + 1) / ROWS
    covered: dict[str, list[bool]] = defaultdict(list)
    widths: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for seed in range(repeats):
        view = estimate(dc.release(table, epsilon, max_count=MAX_COUNT, seed=seed))
        assert view.shares is not None
        oracle = of_rows(replace(view.shares.evidence, published=distribution), view.level)
        for name, (answer, ask) in questions(truth).items():
            low, high = ask(view).interval
            best_low, best_high = ask(oracle).interval
            covered[name].append(low - 1e-9 <= answer <= high + 1e-9)
            widths[name].append((high - low, best_high - best_low))
    for name, hits in covered.items():
        yield Row(shape, epsilon, name, float(np.mean(hits)), _relative(*np.mean(widths[name], axis=0)))


def _relative(ours: float, oracle: float) -> float:
    """Intervals of a single whole number, both of them, are equally wide."""
    return 1.0 if ours == oracle == 0 else float(ours / max(oracle, 1e-12))


def run(repeats: int) -> Iterator[Row]:
    settings = list(product(shapes().items(), EPSILONS))
    for (shape, truth), epsilon in track(settings, "coverage", console=Console(stderr=True), transient=True):
        yield from one_setting(shape, truth, epsilon, repeats)


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    asked, _ = parser.parse_known_args(given)
    for row in run(QUICK if asked.quick else REPEATS):
        print(row)


if __name__ == "__main__":
    main()
