"""What the experiments of paper 000 share: its privatization steps, in floats, for simulation only."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

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
from discreet.evaluate.metrics import ks, total_variation, w1
from discreet.laws import Geometric
from discreet.sample.bits import seeded
from discreet.ways.keep_distribution.draw import draw
from discreet.ways.keep_distribution.publish import publish
from discreet_lab.frontier.methods import StudySetting

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


def count_error(histogram: Integers, matrix: Floats, power: int = 1) -> float:
    """Expected absolute (or squared) error of a count."""
    size = len(histogram)
    distance = np.abs(np.arange(size)[:, None] - np.arange(size)) ** power
    return float(histogram @ (matrix * distance).sum(axis=1) / histogram.sum())


class RunErrors(NamedTuple):
    """Of one release: expected absolute and squared error of a count, three distances of the distribution."""

    absolute: float
    squared: float
    w1: float
    ks: float
    tv: float


def two_stage_errors(
    histogram: Integers, epsilon: float, construct: Constructor, rng: np.random.Generator, split: float | None = None,
    privatized_by: str = "cyclic-laplace",
) -> RunErrors:  # fmt: skip
    """One run of the published framework."""
    share = float(kl_split(odds_epsilon(epsilon))) if split is None else split
    z = measured(privatized_by, histogram, share * epsilon, rng)
    return single_stage_errors(histogram, construct(z, (1 - share) * epsilon), rng)


def single_stage_errors(histogram: Integers, matrix: Floats, rng: np.random.Generator) -> RunErrors:
    """Every row is drawn, as in the authors' code."""
    out = released(histogram, matrix, rng)
    counts = count_error(histogram, matrix), count_error(histogram, matrix, 2)
    return RunErrors(*counts, w1(out, histogram), ks(out, histogram), total_variation(out, histogram))


def default_errors(counts: Integers, bins: int, epsilon: float, repeat: int, favor: str = "balance") -> RunErrors:
    """One run of discreet's release, the default unless another aim is favoured, by its own code."""
    setting = StudySetting("the published experiments", counts, bins - 1, odds_epsilon(epsilon))
    made = setting.plan(favor=favor)
    out = publish(made, draw(made, counts, seeded(setting.seed(repeat)))).counts
    histogram, found = np.bincount(counts, minlength=bins), np.bincount(out, minlength=bins)
    errors = np.abs(out - counts)
    distances = w1(found, histogram), ks(found, histogram), total_variation(found, histogram)
    return RunErrors(float(errors.mean()), float((errors**2).mean()), *distances)
