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
TABLES = (20, 300, 5_000, 300_000, 3_000_000)  # rows, of estimates
ESTIMATED = (0.05, 0.1, 0.25, 1.0, 4.0)  # epsilon of estimates


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
    exact, rounded = rng.negative_binomial(1.5, 1.5 / (1.5 + size / 8), rows), rng.random(rows)
    found = {
        "even": rng.integers(0, size, rows),
        "cliffs": rng.integers(3 * size // 10, 6 * size // 10, rows),
        "all equal": np.full(rows, size // 2),
        "two counts": rng.choice([3, 2 * size // 5], rows),
        "spikes": np.where(some < 0, rng.integers(0, size, rows), some),
        "two Poissons": rng.poisson(np.where(rng.random(rows) < 0.5, 8, 2 * size // 5)),
        "fives": 5 * rng.geometric(20 / size, rows) - 5,
        "heaps": np.select([rounded < 0.3, rounded < 0.6], [(exact + 5) // 10 * 10, (exact + 2) // 5 * 5], exact),
        "thirds": 3 * rng.poisson(size / 12, rows),
        "blocks": size // 4 * rng.integers(0, 3, rows) + rng.integers(0, size // 8, rows),
        "power law": rng.pareto(0.6, rows),
        "bell": rng.normal(size / 2, size / 20, rows),
        "mostly zero": np.where(rng.random(rows) < 0.95, 0, rng.geometric(10 / size, rows)),
        "u-shaped": rng.binomial(size - 1, rng.beta(0.5, 0.5, rows)),
    }
    return {name: np.clip(counts, 0, size - 1).astype(np.int64) for name, counts in found.items()}


def estimates() -> list[dict[str, Any]]:
    """Seconds of computing, where 0.5 over 1,000 counts and 4 over 100,000 are the aim. Every shape meets every
    epsilon, and every number of rows in turn."""
    out, rng = [], np.random.default_rng(0)
    _estimate(shapes(1_001, 300, rng)["spikes"], 1_001, _gaussian(1.0), _gaussian(1.0), rng)  # loads what all need
    for size, sizes, epsilons in ((1_001, TABLES, ESTIMATED), (100_001, (5_000,), (0.1, 1.0))):
        names = list(shapes(size, 1, rng))
        for (k, name), (turn, epsilon), law in product(enumerate(names), enumerate(epsilons), (_geometric, _gaussian)):
            rows = sizes[(k + turn) % len(sizes)]
            counts, whole = shapes(size, rows, rng)[name], law(epsilon)
            seconds = {
                "seconds": _estimate(counts, size, whole, None, rng),
                "seconds_with_a_first_measurement": _estimate(
                    counts, size, law(0.8 * epsilon), law(0.2 * epsilon), rng
                ),
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
