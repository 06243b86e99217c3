"""Two-sided geometric noise: the discrete Laplace law, and the best there is for pure privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.laws.digit import one_sided_geometric
from discreet.laws.law import (
    WIDEST_TABLE,
    capped,
    concave_delta,
    falling_curvature,
    log_odds,
    power_price,
    reach_of,
    register,
    require_odds,
    require_width,
)
from discreet.numbers import Epsilon
from discreet.privacy import Grade, Loss, Pure, pure_only
from discreet.sample.bits import Bits
from discreet.sample.draw import add_noise

SPARE_BITS = 8  # each of so many products drops less than one unit, which the next ones at most double


@register
@dataclass(frozen=True)
class Geometric:
    """P(k) proportional to odds^-|k|, the odds a rational above 1."""

    odds: Fraction

    name: ClassVar[str] = "geometric"
    pure: ClassVar[bool] = True
    rational: ClassVar[bool] = True
    grade: ClassVar[Grade] = "exact"

    def __post_init__(self) -> None:
        require_odds(self.odds, "geometric")

    @property
    def centre(self) -> tuple[int, int]:
        reach = reach_of(self.odds)
        return -reach, reach

    def below(self, k: int, bits: int) -> tuple[int, int]:
        p, q = self.odds.numerator, self.odds.denominator
        steps = -k if k < 0 else k + 1
        size = bits + 2 * steps.bit_length() + SPARE_BITS
        least, most = _power(q, p, steps, size)
        low, high = (least * p // (p + q)) >> (size - bits), -((-most * p // (p + q)) >> (size - bits))
        return (low, high) if k < 0 else ((1 << bits) - high, (1 << bits) - low)

    def chance_below(self, k: int) -> Fraction:
        """P(X <= k), exactly."""
        p, q = self.odds.numerator, self.odds.denominator
        steps = -k if k < 0 else k + 1
        tail = Fraction(q**steps * p, p**steps * (p + q))
        return tail if k < 0 else 1 - tail

    def tails(self, reach: int) -> Floats:
        """P(X >= k) for k = 0..reach, in floats of full relative precision."""
        tails: Floats = np.exp(-log_odds(self.odds) * np.arange(reach + 1)) / (1 + 1 / float(self.odds))
        return tails

    def masses(self, reach: int) -> Floats:
        """P(X = k) for k = 0..reach, in floats of full relative precision."""
        return self.tails(reach) * float(1 - 1 / self.odds)

    def log_mass(self, values: Floats) -> Floats:
        logs: Floats = np.log(self.masses(0)[0]) - log_odds(self.odds) * np.abs(values)
        return logs

    @cached_property
    def spread(self) -> float:
        return float(2 * self.odds / (self.odds - 1) ** 2)

    def curvature(self, residual: Floats) -> Floats:
        return falling_curvature(residual, self.odds)

    @cached_property
    def decay(self) -> float | None:
        return 1 / float(self.odds)

    @property
    def worst_odds(self) -> Fraction | None:
        return self.odds

    def delta(self, epsilon: Epsilon, shift: int = 1) -> Fraction:
        return concave_delta(self.chance_below, epsilon, shift, beyond=0)

    def price(self, units: int = 1) -> Pure:
        return power_price(self.odds, units)

    @classmethod
    def calibrated(cls, loss: Loss, units: int = 1) -> Self:
        """A unit may cost one part in `units` of epsilon, rounded towards privacy."""
        noise = cls(pure_only(loss, "geometric noise").epsilon.times(Fraction(1, units)).odds())
        require_width(1 / (noise.odds - 1))
        return noise

    def add(self, counts: Integers, bits: Bits, top: int | None = None) -> Integers:
        """From a table; where the noise is too wide for one, the difference of two one-sided draws."""
        require_width(1 / (self.odds - 1))
        if reach_of(self.odds) <= WIDEST_TABLE:
            return add_noise(counts, self, bits, top=top)
        return capped(counts, top) + wide_geometric(Epsilon(ratio=self.odds), len(counts), bits)


def _power(numerator: int, denominator: int, steps: int, size: int) -> tuple[int, int]:
    """Integers around 2^size times a power of a fraction below 1: all that is dropped on the way is below, or above."""
    low, high = (numerator << size) // denominator, -(-(numerator << size) // denominator)
    least = most = 1 << size
    while steps:
        if steps & 1:
            least, most = least * low >> size, -(-most * high >> size)
        low, high = low * low >> size, -(-high * high >> size)
        steps >>= 1
    return least, most


def wide_geometric(rate: Epsilon, size: int, bits: Bits) -> Integers:
    """The difference of two one-sided geometric variables is two-sided geometric."""
    return one_sided_geometric(rate, size, bits) - one_sided_geometric(rate, size, bits)
