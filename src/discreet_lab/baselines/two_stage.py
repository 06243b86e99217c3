"""What the experiments of paper 000 share: its privatization steps, in floats, for simulation only."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.build.explicit import explicit
from discreet.build.heuristic import heuristic
from discreet.build.transport import transport
from discreet.build.unfixed import unfixed as unfixed_optimum
from discreet.costs import cost_matrix
from discreet.distribution.privatizer import privatizer
from discreet.distribution.projections import PROJECTIONS
from discreet.distribution.split import kl_split
from discreet.evaluate.metrics import w1
from discreet.laws import Geometric
from discreet_lab.baselines.pipelines import two_stage

Constructor = Callable[[Floats, float], Floats]
EPSILONS = (0.1, 0.15, 0.22, 0.32, 0.48, 0.71, 1.05, 1.55, 2.29, 3.38, 5.0)


def odds_of(epsilon: float) -> Fraction:
    return Fraction(math.exp(epsilon)).limit_denominator(10**9)


def sandwich(z: Floats, epsilon: float) -> Floats:
    """The published greedy constructor with the sandwich selector."""
    return heuristic(z, odds_of(epsilon), "sandwich").matrix


def greedy(selector: str) -> Constructor:
    return lambda z, epsilon: heuristic(z, odds_of(epsilon), selector).matrix


def optimal(z: Floats, epsilon: float) -> Floats:
    """The fixed-point mechanism of least absolute error: what simplex and interior point find, in closed form."""
    return transport(z, Geometric(odds_of(epsilon))).matrix()


def unfixed(z: Floats, epsilon: float) -> Floats:
    """The private mechanism of least absolute error for counts of law z (algorithm 2)."""
    return unfixed_optimum(z, Geometric(odds_of(epsilon)), cost_matrix("absolute", len(z))).matrix()


@lru_cache(maxsize=256)
def baseline(name: str, bins: int, epsilon: float, delta: float = 0.0) -> Floats:
    return explicit(name, bins - 1, odds_epsilon(epsilon), delta=Fraction(delta).limit_denominator(10**9)).matrix()


def odds_epsilon(epsilon: float) -> str:
    return f"{epsilon:.12g}"


def measured(
    name: str,
    histogram: Integers,
    epsilon: float,
    rng: np.random.Generator,
    projection: str = "clip",
    scale: float | None = None,
) -> Floats:
    """The distribution from a privatizer with continuous Laplace noise, as paper 000 runs them."""
    method, rows, bins = privatizer(name), int(histogram.sum()), len(histogram)
    answers = method.answers(histogram)
    width = (method.sensitivity(bins) if scale is None else scale) / epsilon
    return PROJECTIONS[projection](method.estimate(answers + rng.laplace(0, width, len(answers)), rows, bins), rows)


def released(histogram: Integers, matrix: Floats, rng: np.random.Generator) -> Integers:
    """The histogram of the released table: each row drawn from the line of its count."""
    used = np.flatnonzero(histogram)
    lines = matrix[used] / matrix[used].sum(axis=1, keepdims=True)
    drawn: Integers = rng.multinomial(histogram[used], np.maximum(lines, 0)).sum(axis=0)
    return drawn


def count_error(histogram: Integers, matrix: Floats) -> float:
    """Expected absolute error of a count."""
    size = len(histogram)
    distance = np.abs(np.arange(size)[:, None] - np.arange(size))
    return float(histogram @ (matrix * distance).sum(axis=1) / histogram.sum())


def expected_distribution_error(
    histogram: Integers, epsilon: float, construct: Constructor, rng: np.random.Generator
) -> float:
    """The Wasserstein-1 error of what the published framework releases on average over the draws of rows."""
    share = float(kl_split(odds_epsilon(epsilon)))
    z = measured("cyclic-laplace", histogram, share * epsilon, rng)
    return w1(histogram @ construct(z, (1 - share) * epsilon), histogram)


def two_stage_errors(
    histogram: Integers, epsilon: float, construct: Constructor, rng: np.random.Generator, split: float | None = None
) -> tuple[float, float]:
    """One run of the published framework: (count error, Wasserstein-1 error of the released distribution)."""
    share = float(kl_split(odds_epsilon(epsilon))) if split is None else split
    z = measured("cyclic-laplace", histogram, share * epsilon, rng)
    matrix = construct(z, (1 - share) * epsilon)
    return count_error(histogram, matrix), w1(released(histogram, matrix, rng), histogram)


def single_stage_errors(histogram: Integers, matrix: Floats, rng: np.random.Generator) -> tuple[float, float]:
    return count_error(histogram, matrix), w1(released(histogram, matrix, rng), histogram)


def default_errors(counts: Integers, bins: int, epsilon: float, rng: np.random.Generator) -> tuple[float, float]:
    """One run of discreet's default release."""
    histogram = np.bincount(counts, minlength=bins)
    out = two_stage(epsilon, bins - 1)(counts, rng)
    return float(np.abs(out - counts).mean()), w1(np.bincount(out, minlength=bins), histogram)
