"""Bounded noise: never further than its support from 0, and 0 itself with a given chance.

Among all noise of that truth and that support it has the least delta at its odds. Away from 0 its masses fall by the
odds a step, up to the last, which is what delta pays for. Where 0 is rare they first rise by the odds from it, since a
higher step would cost more.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.laws.digit import one_sided_geometric
from discreet.laws.law import capped, falling_curvature, log_odds, power_price, register, require, require_odds
from discreet.laws.rows import WeightRow
from discreet.numbers import Epsilon
from discreet.privacy import Approximate, Grade, Loss
from discreet.sample.bits import Bits
from discreet.sample.draw import draw

if TYPE_CHECKING:
    from flint import fmpq

LARGEST_BITS = 1 << 19  # of the odds to the power of the support: its delta is then worked out in about a second
DELTA_BITS = 128  # significant ones of a delta: it is rounded up by less than one part in 10^38
FACTOR_BITS = 256  # of the lower bound on e^epsilon that a delta is worked out with


@register
@dataclass(frozen=True)
class Bounded:
    """P(0) = truth and P(k) = 0 for |k| > support, of least delta at `odds`."""

    odds: Fraction
    truth: Fraction
    support: int

    name: ClassVar[str] = "bounded"
    pure: ClassVar[bool] = False
    rational: ClassVar[bool] = True
    grade: ClassVar[Grade] = "exact"
    calibrates: ClassVar[bool] = False  # an epsilon alone does not say which

    def __post_init__(self) -> None:
        require_odds(self.odds, "bounded")
        require(0 < self.truth < 1, "bounded", "its truth must lie between 0 and 1, both excluded")
        require(self.support == int(self.support) >= 1, "bounded", "its support must be a whole number above 0")
        object.__setattr__(self, "support", int(self.support))
        bits = self.support * self.odds.numerator.bit_length()
        require(bits <= LARGEST_BITS, "bounded", "its support is so wide that its delta would fill the memory")

    @cached_property
    def shape(self) -> BoundedShape:
        return _shape(self.odds, self.truth, self.support)

    @property
    def centre(self) -> tuple[int, int]:
        return -self.support, self.support

    def below(self, k: int, bits: int) -> tuple[int, int]:
        chance = self.shape.upto(k)
        whole, rest = divmod(int(chance.p) << bits, int(chance.q))
        return whole, whole + bool(rest)

    def chance_below(self, k: int) -> Fraction:
        """P(X <= k), exactly."""
        chance = self.shape.upto(k)
        return Fraction(int(chance.p), int(chance.q))

    def masses(self, reach: int) -> Floats:
        found: Floats = np.exp(self.log_mass(np.arange(reach + 1.0)))
        return found

    def tails(self, reach: int) -> Floats:
        found: Floats = np.cumsum(self.masses(max(reach, self.support))[::-1])[::-1][: reach + 1]
        return found

    def log_mass(self, values: Floats) -> Floats:
        distance, shape = np.abs(np.asarray(values, dtype=float)), self.shape
        rising, rate = shape.rising, log_odds(self.odds)
        falling = shape.logs[1] - rate * (distance - rising - 1)
        away = np.where(distance <= rising, shape.logs[0] + rate * (distance - 1), falling)
        inside = np.where(distance == 0, float(np.log(float(self.truth))), away)
        return np.where(distance > self.support, -np.inf, inside)

    @property
    def spread(self) -> float:
        places = np.arange(self.support + 1.0)
        return float(2 * (self.masses(self.support) * places**2).sum())

    def curvature(self, residual: Floats) -> Floats:
        return falling_curvature(residual, self.odds)

    @property
    def decay(self) -> float | None:
        return None

    @property
    def worst_odds(self) -> Fraction | None:
        return None

    def delta(self, epsilon: Epsilon, shift: int = 1) -> Fraction:
        """The sum of what every value exceeds e^epsilon times its chance `shift` away by; of no rounding but one up."""
        factor = epsilon.bounds(FACTOR_BITS)[0]
        excess = sum(_excesses(self.shape, factor, shift), _zero())
        numerator, denominator = int(excess.p), int(excess.q)
        places = max(0, DELTA_BITS + denominator.bit_length() - numerator.bit_length())
        return Fraction(-(-(numerator << places) // denominator), 1 << places)

    def price(self, units: int = 1) -> Approximate:
        epsilon = power_price(self.odds, units).epsilon
        return Approximate(epsilon, self.delta(epsilon, units))

    @classmethod
    def calibrated(cls, loss: Loss, units: int = 1) -> NoReturn:
        found = f"{loss} alone does not say which"
        raise BadInput("bounded noise was asked for", found, "Release with mechanism 'bounded', truth and support")

    def add(self, counts: Integers, bits: Bits, top: int | None = None) -> Integers:
        """Nothing, or a sign times a distance: a geometric variable modulo a length is the truncated one, exactly."""
        shape, size = self.shape, len(counts)
        part = draw(WeightRow(shape.parts), size, bits) - 2  # falling below, rising below, 0, rising, falling above
        steps = one_sided_geometric(Epsilon(ratio=self.odds), size, bits)
        distance = shape.rising + 1 + steps % (self.support - shape.rising)
        if shape.rising:
            distance = np.where(np.abs(part) == 1, shape.rising - steps % shape.rising, distance)
        signed: Integers = np.sign(part) * distance
        return capped(counts, top) + signed


@dataclass(frozen=True, eq=False)
class BoundedShape:
    """The masses: `first` at 1, rising by the odds up to `rising`, then falling by them to `last` at the support.

    In flint's rationals, which keep numbers of a million bits reduced in good time.
    """

    odds: fmpq
    truth: fmpq
    support: int
    rising: int
    first: fmpq
    last: fmpq

    @cached_property
    def pieces(self) -> tuple[GeometricRun, ...]:
        """All masses, from the lowest value up."""
        odds, rising, top = self.odds, self.rising, self.support
        crest, peak = self.last * odds ** (top - rising - 1), self.first * odds ** max(0, rising - 1)
        every = (
            GeometricRun(-top, -rising - 1, self.last, odds, 1), GeometricRun(-rising, -1, peak, odds, -1),
            GeometricRun(0, 0, self.truth, odds, 1), GeometricRun(1, rising, self.first, odds, 1),
            GeometricRun(rising + 1, top, crest, odds, -1),
        )  # fmt: skip
        return tuple(piece for piece in every if piece.start <= piece.end)

    @cached_property
    def logs(self) -> tuple[float, float]:
        """Of the masses where each side begins: at 1, and after the rise."""
        crest = self.last * self.odds ** (self.support - self.rising - 1)
        return float(np.log(_float(self.first))), float(np.log(_float(crest)))

    @cached_property
    def parts(self) -> tuple[int, ...]:
        """Running sums of whole weights: falling below 0, rising below it, 0, rising above it, falling above it."""
        falling = self.pieces[0].sum()
        below = self.upto(-1)
        share = [falling, below, below + self.truth, 1 - falling, 1 + _zero()]
        common = share[0].q
        for one in share:
            common = common * one.q // common.gcd(one.q)
        return tuple(int(one.p * (common // one.q)) for one in share)

    def upto(self, k: int) -> fmpq:
        """P(X <= k)."""
        whole = (piece.upto(k).sum() for piece in self.pieces if piece.start <= k)
        return sum(whole, _zero())


@dataclass(frozen=True, eq=False)
class GeometricRun:
    """Masses at start..end: `mass` at the first, and the odds to the power of `way` (1 or -1) times the one before."""

    start: int
    end: int
    mass: fmpq
    odds: fmpq
    way: int

    def at(self, k: int) -> fmpq:
        return self.mass * self.odds ** (self.way * (k - self.start))

    def upto(self, k: int) -> GeometricRun:
        return GeometricRun(self.start, min(k, self.end), self.mass, self.odds, self.way)

    def part(self, start: int, end: int) -> GeometricRun:
        return GeometricRun(start, end, self.at(start), self.odds, self.way)

    def sum(self) -> fmpq:
        ratio = self.odds**self.way
        return self.mass * (ratio ** (self.end - self.start + 1) - 1) / (ratio - 1)


def _excesses(shape: BoundedShape, factor: Fraction, shift: int) -> Iterator[fmpq]:
    """Of every stretch where both laws are one piece: what P(k) exceeds `factor` P(k - shift) by, where it does."""
    times, moved = _rational(factor), shape.pieces
    borders = {piece.start for piece in shape.pieces} | {shape.support + 1}
    borders |= {k for piece in moved for k in (piece.start + shift, piece.end + 1 + shift)}
    ordered = sorted(k for k in borders if -shape.support <= k <= shape.support + 1)
    for start, after in pairwise(ordered):
        here = _containing(shape.pieces, start)
        there = _containing(moved, start - shift)
        assert here is not None, "within the support"
        one = here.part(start, after - 1)
        if there is None:
            yield one.sum()
            continue
        base = there.part(start - shift, after - 1 - shift)
        yield from _positive(one, GeometricRun(start, after - 1, base.mass * times, base.odds, base.way))


def _positive(one: GeometricRun, other: GeometricRun) -> Iterator[fmpq]:
    """The sum of the positive differences of two pieces over the same values."""
    if one.way == other.way or one.start == one.end:
        if one.mass > other.mass:
            yield one.sum() - other.sum()
        return
    low, high = one.start - 1, one.end + 1  # differences rise where `one` does, and fall where it falls
    while high - low > 1:
        middle = (low + high) // 2
        above = one.at(middle) > other.at(middle)
        low, high = (low, middle) if above == (one.way == 1) else (middle, high)
    start, end = (high, one.end) if one.way == 1 else (one.start, low)
    if start <= end:
        yield one.part(start, end).sum() - other.part(start, end).sum()


def _containing(pieces: tuple[GeometricRun, ...], k: int) -> GeometricRun | None:
    return next((piece for piece in pieces if piece.start <= k <= piece.end), None)


@lru_cache(maxsize=64)
def _shape(odds: Fraction, truth: Fraction, support: int) -> BoundedShape:
    """Without a rise, if the truth allows it; with one that costs nothing; or else with the one that must be."""
    step, sure = _rational(odds), _rational(truth)
    half, most = (1 - sure) / 2, step * sure  # most: what the mass at 1 may be without a cost
    room = half * (step - 1)

    def made(rising: int, first: fmpq, last: fmpq) -> BoundedShape:
        return BoundedShape(step, sure, support, rising, first, last)

    last = room / (step**support - 1)
    if (first := last * step ** (support - 1)) <= most:
        return made(0, first, last)

    def lasts(rising: int) -> fmpq:
        return (room - most * (step**rising - 1)) / (step ** (support - rising) - 1)

    def rises(rising: int) -> bool:
        return bool(most * step ** (rising - 1) <= lasts(rising) * step ** (support - rising))

    rising = bisect_left(range(1, support // 2 + 1), True, key=lambda k: not rises(k))  # as many cells as can
    if rising and (last := lasts(rising)) * step ** (support - rising - 1) <= most * step**rising:
        return made(rising, most, last)
    middle = support // 2
    tips = step**middle if support % 2 == 0 else (step**middle + step ** (middle + 1)) / 2
    both = room / (2 * (tips - 1))
    return made(middle, both, both)


def _rational(number: Fraction) -> fmpq:
    from flint import fmpq

    return fmpq(number.numerator, number.denominator)


def _zero() -> Any:
    from flint import fmpq

    return fmpq(0)


def _float(number: fmpq) -> float:
    return int(number.p) / int(number.q)
