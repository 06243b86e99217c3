"""A million rows: posterior mean, median and interval of each, next to Bayes' rule row by row; and every question."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa

ROWS, TOP, SAMPLE = 1_000_000, 100, 2_000


def by_hand(view: Any) -> float:
    """Seconds per row of Bayes' rule, one row after the other."""
    evidence = view.evidence
    masses = evidence.law.masses(10_000)
    counts = np.arange(evidence.size)
    start = time.perf_counter()
    for value in evidence.seen[:SAMPLE]:
        weights = evidence.prior * masses[np.abs(value - counts)]
        running = np.cumsum(weights / weights.sum())
        np.searchsorted(running, [0.025, 0.5, 0.975])
    return (time.perf_counter() - start) / SAMPLE


def run() -> list[dict[str, Any]]:
    import discreet as dc
    from discreet.estimate import estimate

    rng = np.random.default_rng(1)
    counts = np.minimum(np.where(rng.random(ROWS) < 0.5, 0, rng.geometric(0.1, ROWS)), TOP)
    keys = {"row": np.arange(ROWS), "group": np.arange(ROWS) % 1000}
    table = dc.table(pa.table({**keys, "people": counts}), "people", keys=["row", "group"])
    view = estimate(dc.release(table, 1, max_count=TOP, seed=1))
    start = time.perf_counter()
    view.rows()
    rows = time.perf_counter() - start
    start = time.perf_counter()
    for ask in (view.share_zero, view.mean, view.total, lambda: view.quantile(0.9), lambda: view.by("group")):
        ask()
    questions = time.perf_counter() - start
    slow = by_hand(view) * ROWS
    return [
        {
            "name": f"estimate {ROWS:,} rows, each with an interval (s)",
            "ours": rows,
            "other": slow,
            "ratio": slow / rows,
        },
        {"name": f"five questions about {ROWS:,} rows (s)", "ours": questions, "note": "10 s in all are allowed"},
    ]


if __name__ == "__main__":
    for row in run():
        print(row)
