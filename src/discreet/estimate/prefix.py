"""How many rows have a true count of at most t: unbiased, from the rows and the measured distribution together.

Rows are fixed and only the noise is random. Geometric noise of ratio a, clamped to 0..m, has an exact inverse:
P_t = #{seen <= t} + c_t Y_t - c_(t+1) Y_(t+1) is unbiased for F_t = #{true <= t}, where Y is the histogram of what is
seen and c is a/(1-a) at the ends and a/(1-a)^2 between. Its covariance S is tridiagonal. The measured C = F + L has
independent noise of variance v. The best linear combination is P + S (S+vI)^-1 (C - P), with covariance
v (I - v (S+vI)^-1): a banded solve. For other noises the inverse is damped, and the bias that leaves is
accounted for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.estimate.evidence import Evidence
from discreet.estimate.intervals import half_width
from discreet.laws import NoiseLaw

FLOOR = 0.1  # of every variance: where the prior sees no rows there may still be some


@dataclass(frozen=True, eq=False)
class Prefix:
    """Estimates of F_0..F_(n-2), and of their sum.

    The error of F_t is `weight[t]` times one noise of `law`, plus a nearly normal rest of variance `rest[t]`, plus a
    bias of at most `bias[t]`. The last entry of each array is for the sum of all F_t.
    """

    estimate: Floats
    weight: Floats
    rest: Floats
    bias: Floats
    law: NoiseLaw | None

    def half_width(self, t: int, level: float) -> float:
        return half_width(level, self.law, float(self.weight[t]), float(self.rest[t])) + float(self.bias[t])

    def half_widths(self, level: float, distance: Floats) -> Floats:
        """The half width of every F_t; only bounded where it is surely shorter than the distance that matters."""
        noise = 0.0 if self.law is None else self.law.spread
        bound = (np.sqrt((self.weight**2 * noise + self.rest) / (1 - level)) + self.bias)[:-1]  # Chebyshev
        near = np.flatnonzero(distance <= bound)
        bound[near] = [self.half_width(int(t), level) for t in near]
        return bound


def prefix_of(evidence: Evidence) -> Prefix:
    if evidence.law is not None and evidence.law.decay is not None:
        return _geometric(evidence, evidence.law.decay)
    from discreet.estimate.regularised import regularised

    return regularised(evidence)


def _geometric(evidence: Evidence, ratio: float) -> Prefix:
    from discreet.distribution.refine import geometric_blur

    seen, rows = evidence.histogram, evidence.rows
    reach = np.full(evidence.size, ratio / (1 - ratio) ** 2)
    reach[0] = ratio / (1 - ratio)
    if evidence.top is not None or len(evidence.beyond):
        reach[-1] = reach[0]
    unbiased = np.cumsum(seen)[:-1] + reach[:-1] * seen[:-1] - reach[1:] * seen[1:]
    expected = geometric_blur(rows * evidence.prior, ratio)
    spread = expected * reach * (1 + reach)
    variance, beside = spread[:-1] + spread[1:] + FLOOR, -(reach[1:-1] ** 2) * expected[1:-1]
    if evidence.cumulative is None or evidence.cumulative_law is None:
        whole = max(variance.sum() + 2 * beside.sum(), FLOOR)
        none = np.zeros(evidence.size)
        return Prefix(_with_sum(unbiased), none, np.append(variance, whole), none, None)
    measured = evidence.cumulative[: len(unbiased)]
    return _combined(unbiased, variance, beside, measured, evidence.cumulative_law)


def _combined(unbiased: Floats, variance: Floats, beside: Floats, measured: Floats, law: NoiseLaw) -> Prefix:
    """P + S_m (S_mm + vI)^-1 (C - P)_m, where the first m of them were measured; what follows hears of it through its
    neighbour alone, since S is tridiagonal."""
    from scipy.linalg import solveh_banded

    noise, m = law.spread, len(measured)
    band = np.zeros((2, m))
    band[0, 1:], band[1] = beside[: m - 1], variance[:m] + noise
    inverse = _inverse_diagonal(band[1], beside[: m - 1])
    band = band[-m:]  # of one number there is a diagonal only
    gap = solveh_banded(band, measured - unbiased[:m])
    estimate, weight, total = unbiased.copy(), np.zeros(len(unbiased)), variance.copy()
    estimate[:m], weight[:m], total[:m] = measured - noise * gap, 1 - noise * inverse, noise * (1 - noise * inverse)
    if m < len(unbiased):
        estimate[m] += beside[m - 1] * gap[-1]
        total[m] -= beside[m - 1] ** 2 * inverse[-1]
    # for the sum of all: weights of the measured noises, and the whole variance
    spread = variance + np.append(beside, 0.0) + np.append(0.0, beside)  # S times ones
    pull = solveh_banded(band, spread[:m])
    whole = spread.sum() - spread[:m] @ pull
    weights = np.append(weight, pull[np.abs(pull).argmax()])
    rest = np.maximum(np.append(total, whole) - weights**2 * noise, 0)
    return Prefix(_with_sum(estimate), weights, rest, np.zeros(len(weights)), law)


def _inverse_diagonal(diagonal: Floats, beside: Floats) -> Floats:
    """The diagonal of the inverse of a symmetric tridiagonal matrix, by elimination from both ends."""
    forward, backward = diagonal.copy(), diagonal.copy()
    squares = beside**2
    for i in range(1, len(diagonal)):
        forward[i] -= squares[i - 1] / forward[i - 1]
    for i in range(len(diagonal) - 2, -1, -1):
        backward[i] -= squares[i] / backward[i + 1]
    return 1 / (forward + backward - diagonal)


def _with_sum(estimate: Floats) -> Floats:
    return np.append(estimate, estimate.sum())
