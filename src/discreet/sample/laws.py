"""Laws on the integers, each known by rigorous enclosures of its distribution function."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats
from discreet.errors import BadInput
from discreet.numbers import Epsilon, Interval, arb_of, enclose

if TYPE_CHECKING:
    from flint import arb

LARGEST_ODDS = 1 << 500  # so that even their square is a float
CENTRE_BITS = 18  # the centre of a law leaves out about 2^-18 of its mass


def scaled(bounds: Interval, bits: int) -> tuple[int, int]:
    """Integers around 2^bits times a probability known by rational bounds."""
    low, high = bounds
    return max(0, math.floor(low * 2**bits)), min(1 << bits, math.ceil(high * 2**bits))


def _must(holds: bool, law: str, what: str) -> None:
    if not holds:
        raise BadInput(f"{law} noise was asked for", what)


def _log(odds: Fraction) -> float:
    """The logarithm of a number that may be very near 1."""
    return math.log1p(float(odds - 1))


@dataclass(frozen=True)
class Geometric:
    """Two-sided geometric noise: P(k) proportional to r^-|k| with r the odds, a rational above 1."""

    odds: Fraction

    def __post_init__(self) -> None:
        _must(self.odds > 1, "geometric", "its odds must be above 1")
        _must(self.odds < LARGEST_ODDS, "geometric", "an epsilon above 340 protects nobody")

    @property
    def centre(self) -> tuple[int, int]:
        reach = math.ceil(CENTRE_BITS * math.log(2) / _log(self.odds))
        return -reach, reach

    def below(self, k: int, bits: int) -> tuple[int, int]:
        p, q = self.odds.numerator, self.odds.denominator
        steps = -k if k < 0 else k + 1
        tail, whole = q**steps * p << bits, p**steps * (p + q)
        low, high = tail // whole, -(-tail // whole)
        return (low, high) if k < 0 else ((1 << bits) - high, (1 << bits) - low)

    def chance_below(self, k: int) -> Fraction:
        """P(X <= k), exactly."""
        p, q = self.odds.numerator, self.odds.denominator
        steps = -k if k < 0 else k + 1
        tail = Fraction(q**steps * p, p**steps * (p + q))
        return tail if k < 0 else 1 - tail

    def tails(self, reach: int) -> Floats:
        """P(X >= k) for k = 0..reach, in floats of full relative precision."""
        return np.exp(-_log(self.odds) * np.arange(reach + 1)) / (1 + 1 / float(self.odds))

    def masses(self, reach: int) -> Floats:
        """P(X = k) for k = 0..reach, in floats of full relative precision."""
        return self.tails(reach) * float(1 - 1 / self.odds)


@dataclass(frozen=True)
class Staircase:
    """Geng and Viswanath's staircase noise with step share `gamma` < 1/2, rounded to the nearest integer."""

    odds: Fraction
    gamma: Fraction

    def __post_init__(self) -> None:
        _must(self.odds > 1, "staircase", "its odds must be above 1")
        _must(self.odds < LARGEST_ODDS, "staircase", "an epsilon above 340 protects nobody")
        _must(0 < self.gamma < Fraction(1, 2), "staircase", "its step share must lie between 0 and 1/2")

    @property
    def centre(self) -> tuple[int, int]:
        return Geometric(self.odds).centre

    @property
    def steps(self) -> tuple[Fraction, Fraction]:
        """P(0), and the factor c of P(k) = c odds^-|k| elsewhere."""
        b, half = 1 / self.odds, Fraction(1, 2)
        height = (1 - b) / (2 * (self.gamma + b * (1 - self.gamma)))
        return 2 * height * (self.gamma + b * (half - self.gamma)), height * (
            half + self.gamma + b * (half - self.gamma)
        )

    def chance_below(self, k: int) -> Fraction:
        """P(X <= k), exactly."""
        steps = -k if k < 0 else k + 1
        tail = self.steps[1] * (1 / self.odds) ** steps / (1 - 1 / self.odds)
        return tail if k < 0 else 1 - tail

    def masses(self, reach: int) -> Floats:
        masses = float(self.steps[1]) * np.exp(-_log(self.odds) * np.arange(reach + 1))
        masses[0] = float(self.steps[0])
        return masses

    def tails(self, reach: int) -> Floats:
        tails = self.masses(reach) / float(1 - 1 / self.odds)
        tails[0] = float(1 - self.chance_below(-1))
        return tails

    def below(self, k: int, bits: int) -> tuple[int, int]:
        return scaled((self.chance_below(k), self.chance_below(k)), bits)


@dataclass(frozen=True)
class Digit:
    """A digit of a one-sided geometric variable with ratio e^-rate: P(d) proportional to e^(-rate unit d), d < size.

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
            rate = self.rate.ball()
            first = -(-rate * self.unit * (k + 1)).expm1()
            return first if self.size is None else first / -(-rate * self.unit * self.size).expm1()

        return scaled(enclose(chance, bits), bits)


@dataclass(frozen=True)
class Gaussian:
    """The discrete Gaussian: P(k) proportional to exp(-k^2 / (2 variance))."""

    variance: Fraction

    def __post_init__(self) -> None:
        _must(self.variance > 0, "Gaussian", "its variance must be above 0")

    @property
    def centre(self) -> tuple[int, int]:
        reach = math.ceil(math.sqrt(2 * CENTRE_BITS * math.log(2) * float(self.variance))) + 1
        return -reach, reach

    def below(self, k: int, bits: int) -> tuple[int, int]:
        bounds, reach = _gaussian_bounds(self.variance, bits)
        if abs(k) > reach:
            return (0, 1) if k < 0 else ((1 << bits) - 1, 1 << bits)
        return bounds[k + reach]

    def masses(self, reach: int) -> Floats:
        far = max(reach, math.ceil(40 * math.sqrt(self.variance))) + 1
        masses = np.exp(-(np.arange(far + 1.0) ** 2) / (2 * float(self.variance)))
        return (masses / (masses[0] + 2 * masses[1:].sum()))[: reach + 1]

    def tails(self, reach: int) -> Floats:
        masses = self.masses(max(reach, math.ceil(40 * math.sqrt(self.variance))) + 1)
        return np.cumsum(masses[::-1])[::-1][: reach + 1]


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


@dataclass(frozen=True)
class PowerRow:
    """A row whose j-th mass is proportional to odds^-powers[j]."""

    odds: Fraction
    powers: tuple[int, ...]

    @property
    def centre(self) -> tuple[int, int]:
        return 0, len(self.powers) - 1

    def below(self, k: int, bits: int) -> tuple[int, int]:
        if k < 0:
            return 0, 0
        if k >= len(self.powers) - 1:
            return 1 << bits, 1 << bits
        low, high = _power_sums(self.odds, self.powers, bits + 64)
        return (low[k] << bits) // high[-1], min(1 << bits, -(-(high[k] << bits) // low[-1]))


@lru_cache(maxsize=256)
def _power_sums(odds: Fraction, powers: tuple[int, ...], bits: int) -> tuple[list[int], list[int]]:
    """Running sums of 2^bits odds^-power, rounded down and up."""
    low, high = [1 << bits], [1 << bits]
    for _ in range(max(powers)):
        low.append(low[-1] * odds.denominator // odds.numerator)
        high.append(-(-high[-1] * odds.denominator // odds.numerator))
    return list(accumulate(low[k] for k in powers)), list(accumulate(high[k] for k in powers))
