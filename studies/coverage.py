"""How often the intervals of `estimate` cover the truth, and how wide they are next to an oracle's.

The oracle sees the same noisy values and knows the true distribution of counts, so it uses the best weights and the
exact variances; only the noise itself is hidden from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

import discreet as dc
from discreet.estimate.answers import Answer, Estimate
from discreet.estimate.evidence import evidence_of

ROWS, MAX_COUNT = 1000, 30
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
    first = float(truth[: ROWS // GROUPS].sum())
    median = float(np.sort(truth)[(ROWS + 1) // 2 - 1])
    return {
        "share_zero": (float((truth == 0).mean()), lambda view: view.share_zero()),
        f"share_above {THRESHOLD}": (float((truth > THRESHOLD).mean()), lambda view: view.share_above(THRESHOLD)),
        "mean": (float(truth.mean()), lambda view: view.mean()),
        "total": (float(truth.sum()), lambda view: view.total()),
        "quantile 0.5": (median, lambda view: view.quantile(0.5)),
        "by group": (first, lambda view: view.by("group")[0]),
    }


def one_setting(truth: np.ndarray[Any, Any], epsilon: str, repeats: int, **options: Any) -> dict[str, dict[str, float]]:
    """Coverage and relative width of each question."""
    keys = {"row": np.arange(ROWS), "group": np.arange(ROWS) // (ROWS // GROUPS)}
    table = dc.table(pa.table({**keys, "people": truth}), "people", keys=["row", "group"])
    distribution = np.bincount(truth, minlength=MAX_COUNT + 1) / ROWS
    covered: dict[str, list[bool]] = defaultdict(list)
    widths: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for seed in range(repeats):
        evidence = evidence_of(dc.release(table, epsilon, max_count=MAX_COUNT, seed=seed, **options))
        view, oracle = Estimate(evidence), Estimate(replace(evidence, published=distribution))
        for name, (answer, ask) in questions(truth).items():
            low, high = ask(view).interval
            best_low, best_high = ask(oracle).interval
            covered[name].append(low - 1e-9 <= answer <= high + 1e-9)
            widths[name].append((high - low, best_high - best_low))
    return {
        name: {"coverage": float(np.mean(hits)), "width": _relative(*np.mean(widths[name], axis=0))}
        for name, hits in covered.items()
    }


def _relative(ours: float, oracle: float) -> float:
    """Intervals of a single whole number, both of them, are equally wide."""
    return 1.0 if ours == oracle == 0 else float(ours / max(oracle, 1e-12))


def run(quick: bool = False) -> list[dict[str, Any]]:
    from rich.console import Console
    from rich.progress import track

    results = []
    settings = list(product(shapes().items(), EPSILONS))
    for (shape, truth), epsilon in track(settings, "coverage", console=Console(stderr=True), transient=True):
        found = one_setting(truth, epsilon, 100 if quick else 1000)
        results += [{"shape": shape, "epsilon": epsilon, "question": name, **row} for name, row in found.items()]
    return results


if __name__ == "__main__":
    import sys

    for row in run(quick="--quick" in sys.argv):
        flag = "" if row["coverage"] >= 0.93 and row["width"] <= 1.3 else "  <--"
        print(
            f"{row['shape']:24s} epsilon {row['epsilon']:4s} {row['question']:14s} "
            f"coverage {row['coverage']:.3f}  width / oracle {row['width']:.2f}{flag}"
        )
