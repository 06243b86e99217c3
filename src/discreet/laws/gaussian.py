"""Discrete Gaussian noise: for concentrated privacy, or for epsilon with a delta."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from discreet.arrays import Flags, Floats, Integers
from discreet.errors import BadInput
from discreet.laws.geometric import wide_geometric
from discreet.laws.law import (
    CENTRE_BITS,
    WIDEST_TABLE,
    capped,
    register,
    require,
    require_width,
    scaled,
    summed_spread,
)
from discreet.numbers import Epsilon, arb_of, enclose
from discreet.privacy import Concentrated, Grade, Loss, gaussian_only
from discreet.privacy.convert import require_delta, rho_for
from discreet.sample.bits import Bits
from discreet.sample.draw import add_noise, bernoulli

DELTA_BITS = 160  # of the enclosures that a delta is computed from
SUMMED = 10**10  # up to this variance probabilities are summed: four million masses
WIDEST_ENCLOSED = 1 << 12  # of noise whose delta is summed value by value, some twenty times over: half a minute
MOST_ENCLOSED = 1 << 18  # values with a probability that can be told from 0: some ten seconds
SMOOTH = 4  # from this variance on, sums over the integers are integrals to the last digit of a float


@register
@dataclass(frozen=True)
class Gaussian:
    """P(k) proportional to exp(-k^2 / (2 variance))."""

    variance: Fraction

    name: ClassVar[str] = "discrete-gaussian"
    pure: ClassVar[bool] = False
    rational: ClassVar[bool] = False
    grade: ClassVar[Grade] = "enclosed"

    def __post_init__(self) -> None:
        require(self.variance > 0, "Gaussian", "its variance must be above 0")

    @property
    def centre(self) -> tuple[int, int]:
        reach = math.ceil(math.sqrt(2 * CENTRE_BITS * math.log(2) * float(self.variance))) + 1
        return -reach, reach

    def below(self, k: int, bits: int) -> tuple[int, int]:
        bounds, reach = _bounds(self.variance, bits)
        if abs(k) > reach:
            return (0, 1) if k < 0 else ((1 << bits) - 1, 1 << bits)
        return bounds[k + reach]

    def chance_below(self, k: int) -> Fraction:
        asked = f"the exact probability of values up to {k} was asked for"
        raise BadInput(asked, "probabilities of a discrete Gaussian are irrational", "Use `below`")

    def masses(self, reach: int) -> Floats:
        if self.variance > SUMMED:
            wide: Floats = np.exp(self.log_mass(np.arange(reach + 1.0)))
            return wide
        far = max(reach, math.ceil(40 * math.sqrt(self.variance))) + 1
        masses = np.exp(-(np.arange(far + 1.0) ** 2) / (2 * float(self.variance)))
        shares: Floats = (masses / (masses[0] + 2 * masses[1:].sum()))[: reach + 1]
        return shares

    def tails(self, reach: int) -> Floats:
        if self.variance > SUMMED:
            from scipy.special import ndtr

            wide: Floats = ndtr((0.5 - np.arange(reach + 1)) / math.sqrt(self.variance))
            return wide
        masses = self.masses(max(reach, math.ceil(40 * math.sqrt(self.variance))) + 1)
        return np.cumsum(masses[::-1])[::-1][: reach + 1]

    def log_mass(self, values: Floats) -> Floats:
        smooth = self.variance >= SMOOTH
        top = -math.log(2 * math.pi * self.variance) / 2 if smooth else math.log(self.masses(0)[0])
        return top - np.asarray(values, dtype=float) ** 2 / (2 * float(self.variance))

    @property
    def spread(self) -> float:
        """Nearly its parameter, and below it where that is small."""
        return float(self.variance) if self.variance >= SMOOTH else summed_spread(self)

    def curvature(self, residual: Floats) -> Floats:
        return np.full(len(residual), 1 / float(self.variance))

    @property
    def decay(self) -> float | None:
        return None

    @property
    def worst_odds(self) -> Fraction | None:
        return None

    def delta(self, epsilon: Epsilon, shift: int = 1) -> Fraction:
        # P(k) > e^epsilon P(k + shift) just for k above this border: the sum over that tail is the largest of all sums
        border = epsilon.rational() * self.variance / shift - Fraction(shift, 2)
        middle, scale = border.numerator // border.denominator + 1, 1 << DELTA_BITS
        factor = epsilon.bounds(DELTA_BITS)[0]

        def excess(first: int) -> Fraction:
            near, far = self.below(first - 1, DELTA_BITS), self.below(first + shift - 1, DELTA_BITS)
            return Fraction(scale - near[0], scale) - factor * Fraction(scale - far[1], scale)

        return max(Fraction(0), *(excess(first) for first in (middle - 1, middle, middle + 1)))

    def price(self, units: int = 1) -> Concentrated:
        return Concentrated(Fraction(units**2) / (2 * self.variance))

    @classmethod
    def calibrated(cls, loss: Loss, units: int = 1) -> Self:
        return cls.of_square(loss, units**2)

    @classmethod
    def of_square(cls, loss: Loss, square: int) -> Self:
        """The narrowest at which changes of this squared length, over any number of values, cost at most `loss`.

        For epsilon with delta and one unit, to one part in a thousand; for more by way of rho, which is a little wider.
        """
        asked = gaussian_only(loss, "discrete Gaussian noise")
        if isinstance(asked, Concentrated):
            variance = square / (2 * asked.rho)
        elif square == 1:
            variance = least_variance(asked.epsilon, asked.delta)
        else:
            variance = square / (2 * rho_for(asked.epsilon.rational(), asked.delta))
        require_width(_deviation(variance))
        return cls(variance)

    def add(self, counts: Integers, bits: Bits, top: int | None = None) -> Integers:
        """From a table; where the noise is too wide for one, by rejection."""
        require_width(_deviation(self.variance))
        if self.centre[1] <= WIDEST_TABLE:
            return add_noise(counts, self, bits, top=top)
        return capped(counts, top) + _wide_gaussian(self.variance, len(counts), bits)


def _deviation(variance: Fraction) -> Fraction:
    return Fraction(math.isqrt(math.ceil(variance)))


def least_variance(epsilon: Epsilon, delta: Fraction) -> Fraction:
    """The smallest variance, to one part in a thousand, whose noise is (epsilon, delta)-private."""
    require_delta(delta)
    by_rho = 1 / (2 * rho_for(epsilon.rational(), delta))  # nearly as narrow, and quick to find
    require_width(_deviation(by_rho), WIDEST_ENCLOSED, "Gaussian noise for epsilon with delta")
    low, high = Fraction(1, 100), Fraction(1)
    while Gaussian(high).delta(epsilon) > delta:
        low, high = high, 2 * high
    while high > low * Fraction(1001, 1000):
        middle = Fraction(round((low + high) / 2 * 10**6), 10**6)
        low, high = (middle, high) if Gaussian(middle).delta(epsilon) > delta else (low, middle)
    return high


@lru_cache(maxsize=32)
def _bounds(variance: Fraction, bits: int) -> tuple[list[tuple[int, int]], int]:
    """Enclosures of 2^bits P(X <= k) for k = -reach..reach; beyond it there is less than 2^-bits on either side."""
    from flint import arb, ctx

    reach = math.ceil(math.sqrt(2 * (bits + 8) * math.log(2) * float(variance))) + 2
    require(reach <= MOST_ENCLOSED, "Gaussian", "it is too wide for its delta to be proved")
    with ctx.workprec(bits + 64):
        rate = -1 / (2 * arb_of(variance))
        masses = [(rate * k * k).exp() for k in range(reach + 1)]
        # beyond reach neighbouring masses fall at least by the factor e^(-reach/variance)
        tail = masses[reach] / -(-arb(reach) / arb_of(variance)).expm1()
        tail = tail.union(arb(0))
        total = masses[0] + 2 * sum(masses[1:], arb(0)) + 2 * tail
        running, bounds = tail, []
        for k in range(-reach, reach + 1):
            running = running + masses[abs(k)]
            share = running / total * arb(2) ** bits
            low, high = int(share.lower().floor().unique_fmpz()), int(share.upper().ceil().unique_fmpz())
            bounds.append((max(0, low), min(1 << bits, high)))
    return bounds, reach


def _wide_gaussian(variance: Fraction, size: int, bits: Bits) -> Integers:
    """Rejection from two-sided geometric noise of nearly the same width (Canonne, Kamath and Steinke)."""
    width = math.isqrt(math.floor(variance)) + 1
    out = np.empty(size, dtype=np.int64)
    done = 0
    while done < size:
        proposals = wide_geometric(Epsilon(value=Fraction(1, width)), 2 * (size - done) + 16, bits)
        kept = proposals[_accepted(np.abs(proposals), variance, width, bits)][: size - done]
        out[done : done + len(kept)] = kept
        done += len(kept)
    return out


def _accepted(distances: Integers, variance: Fraction, width: int, bits: Bits) -> Flags:
    """Each with probability exp(-(distance - variance/width)^2 / (2 variance))."""
    values, which = np.unique(distances, return_inverse=True)
    chances = [_chance_of((int(value) - variance / width) ** 2 / (2 * variance)) for value in values]
    bounds = [chance(64) for chance in chances]
    largest = (1 << 64) - 1
    low = np.array([min(b[0], largest) for b in bounds], dtype=np.uint64)[which]
    last = np.array([max(b[1] - 1, 0) for b in bounds], dtype=np.uint64)[which]
    words = bits.words(len(distances))
    accepted: Flags = words < low
    for i in np.flatnonzero((words >= low) & (words <= last)):
        accepted[i] = bernoulli(chances[which[i]], bits, int(words[i]), 64)
    return accepted


def _chance_of(gamma: Fraction) -> Callable[[int], tuple[int, int]]:
    """Enclosures of 2^b e^-gamma."""
    return lambda b: scaled(enclose(lambda: (-arb_of(gamma)).exp(), b), b)
