"""Privatizers of the distribution side by side, the speed of refinement and of the estimate by evidence; every row is
one measurement.

python benchmarks/distribution.py
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from discreet.distribution import private_distribution, privatizers, refine
from discreet.distribution.evidence import posterior
from discreet.distribution.privatizer import Idealised
from discreet.evaluate.metrics import w1
from discreet.evaluate.shapes import SHAPES, rows_of
from discreet.laws import Gaussian, Geometric, NoiseLaw, draw_noise
from discreet.sample.bits import simulated

ROWS = 3136
REPEATS = 10
SIZES = (20, 51, 100, 200)
EPSILONS = ("0.05", "0.1", "0.3", "1")


def run() -> list[dict[str, Any]]:
    return [*accuracy(), *speed(), *estimates()]


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


def shapes(size: int, rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Counts from 0 to below a size, of kinds that take long."""
    some = np.array([0, 12, 13, 2 * size // 5, -1])[rng.integers(0, 5, rows)]
    heaped = np.minimum(5 * rng.geometric(20 / size, rows) - 5, size - 1)
    return {
        "even": rng.integers(0, size, rows),
        "cliffs": rng.integers(3 * size // 10, 6 * size // 10, rows),
        "all equal": np.full(rows, size // 2),
        "two counts": rng.choice([3, 2 * size // 5], rows),
        "spikes": np.where(some < 0, rng.integers(0, size, rows), some),
        "two Poissons": np.minimum(rng.poisson(np.where(rng.random(rows) < 0.5, 8, 2 * size // 5)), size - 1),
        "fives": heaped,
        "power law": np.minimum(rng.pareto(0.6, rows), size - 1).astype(np.int64),
    }


def estimates() -> list[dict[str, Any]]:
    """Seconds of computing, where 0.5 over 1,000 counts and 4 over 100,000 are the aim."""
    out, rng = [], np.random.default_rng(0)
    for size, rows in ((1_001, 5_000), (100_000, 5_000)):
        for name, counts in shapes(size, rows, rng).items():
            for law, epsilon in product((_geometric, _gaussian), (0.1, 1.0)):
                whole, most, second = law(epsilon), law(0.8 * epsilon), law(0.2 * epsilon)
                alone = _estimate(counts, size, whole, None, rng)
                seconds = {
                    "seconds": alone,
                    "seconds_with_a_first_measurement": _estimate(counts, size, most, second, rng),
                }
                about = {"what": "estimate", "range": size - 1, "rows": rows, "shape": name, "noise": whole.name}
                out.append({**about, "epsilon": epsilon, **seconds})
    return out


def _geometric(epsilon: float) -> Geometric:
    return Geometric(Fraction(math.exp(epsilon)))


def _gaussian(epsilon: float) -> Gaussian:
    return Gaussian(Fraction(1 / epsilon**2))


def _estimate(
    counts: np.ndarray, size: int, noise: NoiseLaw, first: NoiseLaw | None, rng: np.random.Generator
) -> float:
    noisy, measured = counts + draw_noise(noise, len(counts), simulated(rng)), {}
    if first is not None:
        upto = np.cumsum(np.bincount(counts, minlength=size))[:-1]
        measured = {"prefix": upto + draw_noise(first, size - 1, simulated(rng)), "prefix_noise": first}
    low = int(noisy.min())
    began = time.process_time()
    posterior(np.bincount(noisy - low), low, noise, size - 1, cut=True, **measured)
    return time.process_time() - began


if __name__ == "__main__":
    for row in run():
        print(
            "  ".join(
                f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in row.items()
            )
        )
