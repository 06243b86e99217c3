"""Laws on the integers, each known by rigorous enclosures of its distribution function."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.numbers import Epsilon, Interval, arb_of, enclose

if TYPE_CHECKING:
    from flint import arb

CENTRE_BITS = 18  # the centre of a law leaves out about 2^-18 of its mass


def scaled(bounds: Interval, bits: int) -> tuple[int, int]:
    """Integers around 2^bits times a probability known by rational bounds."""
    low, high = bounds
    return max(0, math.floor(low * 2**bits)), min(1 << bits, math.ceil(high * 2**bits))


@dataclass(frozen=True)
class Geometric:
    """Two-sided geometric noise: P(k) proportional to r^-|k| with r the odds, a rational above 1."""

    odds: Fraction

    @property
    def centre(self) -> tuple[int, int]:
        reach = math.ceil(CENTRE_BITS * math.log(2) / math.log(self.odds))
        return -reach, reach

    def below(self, k: int, bits: int) -> tuple[int, int]:
        p, q = self.odds.numerator, self.odds.denominator
        steps = -k if k < 0 else k + 1
        tail, whole = q**steps * p << bits, p**steps * (p + q)
        low, high = tail // whole, -(-tail // whole)
        return (low, high) if k < 0 else ((1 << bits) - high, (1 << bits) - low)


@dataclass(frozen=True)
class Digit:
    """A digit of a one-sided geometric variable with ratio e^-rate: P(d) proportional to e^(-rate unit d), 0 <= d < size.

    Without a size it is the leading digit, which has no end.
    """

    rate: Epsilon
    unit: int
    size: int | None

    @property
    def centre(self) -> tuple[int, int]:
        if self.size is not None:
            return 0, self.size - 1
        return 0, math.ceil(CENTRE_BITS * math.log(2) / (float(self.rate) * self.unit))

    def below(self, k: int, bits: int) -> tuple[int, int]:
        if k < 0:
            return 0, 0
        if self.size is not None and k >= self.size - 1:
            return 1 << bits, 1 << bits

        def chance() -> arb:
            rate = arb_of(self.rate.value) if self.rate.value is not None else arb_of(self.rate.ratio or Fraction(1)).log()
            first = -(-rate * self.unit * (k + 1)).expm1()
            return first if self.size is None else first / -(-rate * self.unit * self.size).expm1()

        return scaled(enclose(chance, bits), bits)


@dataclass(frozen=True)
class Gaussian:
    """The discrete Gaussian: P(k) proportional to exp(-k^2 / (2 variance))."""

    variance: Fraction

    @property
    def centre(self) -> tuple[int, int]:
        reach = math.ceil(math.sqrt(2 * CENTRE_BITS * math.log(2) * float(self.variance))) + 1
        return -reach, reach

    def below(self, k: int, bits: int) -> tuple[int, int]:
        bounds, reach = _gaussian_bounds(self.variance, bits)
        if abs(k) > reach:
            return (0, 1) if k < 0 else ((1 << bits) - 1, 1 << bits)
        return bounds[k + reach]


@lru_cache(maxsize=32)
def _gaussian_bounds(variance: Fraction, bits: int) -> tuple[list[tuple[int, int]], int]:
    """Enclosures of 2^bits P(X <= k) for k = -reach..reach; beyond it there is less than 2^-bits on either side."""
    from flint import arb, ctx

    reach = math.ceil(math.sqrt(2 * (bits + 8) * math.log(2) * float(variance))) + 2
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


@dataclass(frozen=True)
class Row:
    """A row of integer weights, given by their running sums; the last is the total."""

    running: tuple[int, ...]

    @property
    def centre(self) -> tuple[int, int]:
        return 0, len(self.running) - 1

    def below(self, k: int, bits: int) -> tuple[int, int]:
        if k < 0:
            return 0, 0
        part, total = self.running[min(k, len(self.running) - 1)] << bits, self.running[-1]
        return part // total, -(-part // total)
