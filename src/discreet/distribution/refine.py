"""The distribution of counts, estimated again once the noisy counts exist: free, since both inputs are already private.

With geometric noise of ratio a, clamped to 0..m, the prefix counts F_l = #{counts <= l} have the unbiased estimate
P_l = #{noisy <= l} + c_l Y_l - c_(l+1) Y_(l+1), where Y is the noisy histogram and c is a/(1-a) at both ends and
a/(1-a)^2 between. Rows are fixed and only the noise is random, so P - F has a covariance that is tridiagonal:
with y the expected noisy histogram, S_ll = y_l c_l (1+c_l) + y_(l+1) c_(l+1) (1+c_(l+1)) and
S_(l,l+1) = -c_(l+1)^2 y_(l+1).
The refined F minimises (P-F)' S^-1 (P-F) / 2, plus the negative log-likelihood of the stage-one measurement, minus
`smoothing` times the sum of log of the bins: a barrier method whose every step is one banded solve, O(n).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.distribution.decay import two_sided
from discreet.distribution.expectation import expectation_steps
from discreet.distribution.projections import isotonic
from discreet.errors import BadInput
from discreet.laws import NoiseLaw

SMOOTHING = 0.1  # a tenth of a pseudo-row in each bin, so that none is empty
ROUNDS = 2  # the covariance depends on the distribution: estimate, reweigh, estimate again
STEPS = 25  # in a round; ten bring the barrier down to SMOOTHING, the others converge
FLOOR = 0.1  # added to every variance: where the pilot sees no rows there may still be some
WIDE_BARRIER = 10.0  # to start with: keeps the first steps away from empty bins
TOWARDS_EDGE = 0.95  # of the way to an empty bin, whose logarithm would not be finite
CLOSE_ENOUGH = 0.01  # rows
MIXED_IN = 0.01  # share of the uniform distribution in a starting point, so that no bin starts empty
BARELY_MIXED_IN = 1e-6  # expectation steps move mass slowly: what is put far out stays there


def refine(
    noisy: Any, noise: NoiseLaw, cumulative: Any = None, measured: NoiseLaw | None = None, smoothing: float = SMOOTHING
) -> Floats:
    """The distribution of counts from the histogram of noisy counts and, if there was one, the stage-one measurement.

    `noisy` is the histogram of the noisy counts clamped to 0..max_count and `noise` the law of their noise;
    `cumulative` holds the noisy prefix counts of stage one (max_count numbers) and `measured` the law of their noise.
    """
    histogram = _histogram(noisy)
    prefix = _prefix(cumulative, measured, len(histogram))
    if smoothing < 0:
        raise BadInput(f"smoothing = {smoothing} was asked for", "it must not be negative")
    if prefix is None:
        pilot = histogram / histogram.sum()
    else:
        pilot = isotonic(np.diff(prefix, prepend=0.0, append=histogram.sum()), histogram.sum())
    if noise.decay is not None:
        return _least_squares(histogram, noise.decay, prefix, measured, pilot, smoothing)
    return expectation_steps(histogram, noise, prefix, measured, _inside(pilot, BARELY_MIXED_IN))


def _histogram(noisy: Any) -> Floats:
    histogram = np.asarray(noisy, dtype=float)
    if histogram.ndim != 1 or len(histogram) < 2 or (histogram < 0).any() or histogram.sum() < 1:
        raise BadInput("a distribution was to be refined", "the noisy counts are not a histogram of at least two bins")
    return histogram


def _prefix(cumulative: Any, measured: NoiseLaw | None, bins: int) -> Floats | None:
    if (cumulative is None) != (measured is None):
        raise BadInput("a distribution was to be refined", "a stage-one measurement comes with the law of its noise")
    if cumulative is None:
        return None
    prefix = np.asarray(cumulative, dtype=float)
    if prefix.shape != (bins - 1,):
        raise BadInput("a distribution was to be refined", f"{prefix.size} prefix counts do not fit {bins} bins")
    return prefix


def _inside(distribution: Floats, mixed_in: float = MIXED_IN) -> Floats:
    return (1 - mixed_in) * distribution + mixed_in / len(distribution)


def _least_squares(
    histogram: Floats, ratio: float, prefix: Floats | None, measured: NoiseLaw | None, pilot: Floats, smoothing: float
) -> Floats:
    rows, pull_of = histogram.sum(), _pull_of(measured)
    reach = _reach(len(histogram), ratio)
    unbiased = np.cumsum(histogram)[:-1] + reach[:-1] * histogram[:-1] - reach[1:] * histogram[1:]
    bins, barrier, least = rows * _inside(pilot), WIDE_BARRIER, max(smoothing, 1e-9)
    for _ in range(ROUNDS):
        variance, neighbour = _covariance(geometric_blur(bins, ratio), reach)
        for _ in range(STEPS):
            barrier = max(0.6 * barrier, least)
            step = _newton_step(bins, unbiased, variance, neighbour, prefix, pull_of, barrier)
            if not np.isfinite(step).all():
                return np.asarray(bins / rows)
            falling = step < 0
            shrink = TOWARDS_EDGE / np.max(-step[falling] / bins[falling]) if falling.any() else 1.0
            bins = bins + min(1.0, shrink) * step
            if barrier == least and np.abs(np.cumsum(step)).max() < CLOSE_ENOUGH:
                break
    found: Floats = bins / bins.sum()
    return found


def _newton_step(
    bins: Floats,
    unbiased: Floats,
    variance: Floats,
    neighbour: Floats,
    prefix: Floats | None,
    pull_of: Callable[[Floats], Floats] | None,
    barrier: float,
) -> Floats:
    """The step d in the prefix counts solves (I + S B) d = (P - F) + S g, where B is the Hessian of barrier and
    measurement and g their gradient: S is never inverted. Returned as the step in the bins."""
    from scipy.linalg import LinAlgError, solve_banded

    current = np.cumsum(bins)[:-1]
    weight = barrier / bins**2
    gradient = barrier * (1 / bins[:-1] - 1 / bins[1:])
    diagonal, beside = weight[:-1] + weight[1:], -weight[1:-1]
    if prefix is not None and pull_of is not None:
        pull = pull_of(current - prefix)
        gradient = gradient - pull * (current - prefix)
        diagonal = diagonal + pull
    right = unbiased - current + _tridiagonal(variance, neighbour, gradient)
    try:
        step = solve_banded((2, 2), _one_plus_product(variance, neighbour, diagonal, beside), right, check_finite=False)
    except LinAlgError:
        return np.full(len(bins), np.nan)
    return np.diff(step, prepend=0.0, append=0.0)


def _pull_of(measured: NoiseLaw | None) -> Callable[[Floats], Floats] | None:
    """How hard a measurement pulls, by its residual: asked of the law once, since there are many small steps."""
    decay = None if measured is None else measured.decay
    if measured is None or decay is None:
        return None if measured is None else measured.curvature
    rate = -math.log(decay)
    return lambda residual: rate / np.maximum(np.abs(residual), 1 / rate)


def _reach(bins: int, ratio: float) -> Floats:
    reach = np.full(bins, ratio / (1 - ratio) ** 2)
    reach[[0, -1]] = ratio / (1 - ratio)
    return reach


def _covariance(expected: Floats, reach: Floats) -> tuple[Floats, Floats]:
    """The diagonal and the off-diagonal of S."""
    spread = expected * reach * (1 + reach)
    return spread[:-1] + spread[1:] + FLOOR, -(reach[1:-1] ** 2) * expected[1:-1]


def geometric_blur(histogram: Floats, ratio: float) -> Floats:
    """The expected histogram after geometric noise and clamping, by two recursions."""
    out = two_sided(histogram, ratio) / (1 + ratio)
    out[1:-1] *= 1 - ratio
    return out


def _tridiagonal(diagonal: Floats, beside: Floats, vector: Floats) -> Floats:
    out = diagonal * vector
    out[:-1] += beside * vector[1:]
    out[1:] += beside * vector[:-1]
    return out


def _one_plus_product(diagonal: Floats, beside: Floats, other: Floats, other_beside: Floats) -> Floats:
    """I + S B for symmetric tridiagonal S and B, in the banded form of the solver."""
    size = len(diagonal)
    band = np.zeros((5, size))
    band[2] = 1 + diagonal * other
    band[2, :-1] += beside * other_beside
    band[2, 1:] += beside * other_beside
    band[1, 1:] = diagonal[:-1] * other_beside + beside * other[1:]
    band[3, :-1] = diagonal[1:] * other_beside + beside * other[:-1]
    band[0, 2:] = beside[:-1] * other_beside[1:]
    band[4, :-2] = beside[1:] * other_beside[:-1]
    return band
