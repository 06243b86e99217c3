"""Chains against the published samplers, in one run: effective samples per second, iterations to forget the start."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.lattice.chains import chain_sampler
from discreet.lattice.coupling import Diagnosis, diagnose
from discreet.lattice.diagnostics import effective_draws
from discreet_lab.samplers.published import MetropolisSampler, smith

EPSILON = 0.25
PUBLISHED_LAG = 8000
RATIOS = (0.7, 0.8, 0.85, 0.9, 0.95)


def margins(rows: int, columns: int) -> np.ndarray:
    return np.vstack(
        [
            np.kron(np.eye(rows, dtype=int), np.ones((1, columns), int)),
            np.kron(np.ones((1, rows), int), np.eye(columns, dtype=int)),
        ]
    )


def rate_of(path: Callable[[int], Any], draws: int) -> float:
    """Effective samples of the slowest statistic per second of processor time; the first call compiles and settles."""
    path(max(draws // 10, 8))
    start = time.process_time()
    paths = path(draws)
    spent = time.process_time() - start
    return effective_draws(paths) / spent


def best_published(matrix: np.ndarray, draws: int, joint: bool) -> tuple[float, float, float]:
    """Over proposal widths: effective samples per second, the best width, its acceptance."""
    basis, rng, found = smith(matrix).kernel(), np.random.default_rng(7), []
    for ratio in (0.05, 0.1, 0.2, 0.3, float(np.exp(-1)), 0.45, 0.55) if joint else RATIOS:
        sampler = MetropolisSampler(basis, "l1", EPSILON, ratio, joint)
        rate = rate_of(lambda size, sampler=sampler: sampler.path(rng, size, 4 if joint else 1).states[None], draws)
        found.append((rate, ratio, sampler.path(rng, 200).acceptance))
    return max(found)


def against_published(side: int, draws: int, published_draws: int) -> dict[str, Any]:
    matrix = margins(side, side)
    ours = chain_sampler(matrix, epsilon=EPSILON, blocks=False)
    rate = rate_of(lambda size: ours.trace(3, size), draws)
    joint = best_published(matrix, published_draws, True) if side <= 4 else None
    coordinates = best_published(matrix, published_draws, False)
    best = max(coordinates, joint) if joint else coordinates
    return {
        "name": f"effective samples per second, line moves against Metropolis, {side} x {side} margins",
        "ours": rate,
        "other": best[0],
        "ratio": rate / best[0],
        "unit": "effective samples per second, ratio = ours / other",
        "parameter": best[1],
        "acceptance": best[2],
        "paper_acceptance": "not printed; its parameter for 4 x 4 is e^-1, all coordinates at once",
    }


def meeting() -> dict[str, Any]:
    """Iterations until the coupling bound is 0.01 on 4 x 4 margins; the published sampler needs about 10^4."""
    matrix = margins(4, 4)
    ours = diagnose(chain_sampler(matrix, epsilon=EPSILON, blocks=False), runs=2000, lag=100, seed=1).iterations_for(
        0.01
    )
    sampler = MetropolisSampler(smith(matrix).kernel(), "l1", EPSILON, float(np.exp(-1)), True)
    times = sampler.meetings(np.random.default_rng(1), 500, PUBLISHED_LAG, 400_000)
    theirs = Diagnosis(PUBLISHED_LAG, times, False).iterations_for(0.01)
    return {
        "name": "iterations to total variation 0.01, 4 x 4 margins",
        "ours": ours,
        "other": theirs,
        "ratio": theirs / ours,
        "unit": "iterations",
    }


def run() -> list[dict[str, Any]]:
    return [meeting(), against_published(4, 50_000, 50_000), against_published(30, 2000, 2000)]


if __name__ == "__main__":
    for row in run():
        print(row)
