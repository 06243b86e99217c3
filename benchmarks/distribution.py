"""Privatizers of the distribution side by side, and the speed of refinement; every row is one measurement.

python benchmarks/distribution.py
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.distribution import private_distribution, privatizers, refine
from discreet.distribution.privatizer import Idealised
from discreet.evaluate.metrics import w1
from discreet.evaluate.shapes import SHAPES, rows_of
from discreet.laws import Gaussian, Geometric, draw_noise
from discreet.sample.bits import simulated

ROWS = 3136
REPEATS = 10
SIZES = (20, 51, 100, 200)
EPSILONS = ("0.05", "0.1", "0.3", "1")


def run() -> list[dict[str, Any]]:
    return [*accuracy(), *speed()]


def accuracy() -> list[dict[str, Any]]:
    """W1 of every privatizer on skewed data, and as a ratio to cyclic Laplace as published."""
    counts, out = rows_of(SHAPES["mostly-zero"](50), ROWS), []
    names = [name for name, method in privatizers().items() if not isinstance(method, Idealised)]
    for size in SIZES:
        histogram = np.bincount(np.minimum(counts, size - 1), minlength=size)
        for epsilon in EPSILONS:
            errors = {name: _error(histogram, name, epsilon) for name in names}
            out += [
                {
                    "what": "distribution error",
                    "bins": size,
                    "epsilon": epsilon,
                    "method": name,
                    "w1": error,
                    "ratio_to_cyclic_laplace": error / errors["cyclic-laplace"],
                }
                for name, error in errors.items()
            ]
    return out


def _error(histogram: np.ndarray, method: str, epsilon: str) -> float:
    runs = (private_distribution(histogram, epsilon, method=method, seed=seed) for seed in range(REPEATS))
    return float(np.mean([w1(run.distribution, histogram) for run in runs]))


def speed() -> list[dict[str, Any]]:
    """Seconds to refine, and the errors of the refined, the measured and the noisy distribution."""
    out, rng = [], np.random.default_rng(0)
    for size, rows in ((51, 3_000), (2_000, 100_000), (100_000, 1_000_000)):
        counts = rows_of(SHAPES["mostly-zero"](size - 1), rows)
        true = np.bincount(counts, minlength=size)
        for noise, first in (
            (Geometric(Fraction(2)), Geometric(Fraction(6, 5))),
            (Gaussian(Fraction(4)), Gaussian(Fraction(40))),
        ):
            prefix = np.cumsum(true)[:-1] + draw_noise(first, size - 1, simulated(rng))
            seen = np.bincount(np.clip(counts + draw_noise(noise, rows, simulated(rng)), 0, size - 1), minlength=size)
            began = time.perf_counter()
            refined = refine(seen, noise, prefix, first)
            out.append(
                {
                    "what": "refinement",
                    "bins": size,
                    "rows": rows,
                    "noise": type(noise).__name__.lower(),
                    "seconds": time.perf_counter() - began,
                    "w1_refined": w1(refined, true),
                    "w1_noisy": w1(seen, true),
                }
            )
    return out


if __name__ == "__main__":
    for row in run():
        print(
            "  ".join(
                f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()
            )
        )
