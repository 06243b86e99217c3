"""Weights of a row's sum over some columns, and the law that splits such a sum into those of two halves.

A potential is positive and otherwise arbitrary: the law of the tables does not depend on it, only the speed does. So
its numbers are what is stored, without an error: floats in a window, and beyond it a factor times a ratio to the
distance. The weights of single cells are of the same form, with a window of one point and the odds as ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.lattice.chances import integer_bounds
from discreet.numbers import arb_of
from discreet.sample.bits import Bits
from discreet.sample.draw import add_noise

if TYPE_CHECKING:
    from flint import arb

FLOAT_PRECISION = 96  # of tails that are then rounded to floats
GUARD_BITS = 64  # beyond what is asked for: the sums are of far fewer than 2^64 terms


@dataclass(frozen=True)
class Tail:
    """factor * ratio^k at the k-th point beyond the window."""

    factor: Fraction
    ratio: Fraction

    def at(self, k: int) -> arb:
        return arb_of(self.factor) * arb_of(self.ratio) ** k

    def floats(self, number: int) -> Floats:
        """At the points 1 .. number, each within a rounding or two."""
        return _far(self, 1 << number.bit_length())[:number]


@lru_cache(maxsize=1024)
def _far(tail: Tail, number: int) -> Floats:
    """One after the other, so that shorter ones are the beginning of a longer one: it is asked for often."""
    from flint import ctx

    with ctx.workprec(FLOAT_PRECISION):
        value, ratio, found = arb_of(tail.factor), arb_of(tail.ratio), np.empty(number)
        for k in range(number):
            value *= ratio
            found[k] = float(value)
    found.flags.writeable = False
    return found


@dataclass(frozen=True, eq=False)
class Potential:
    """values at low, low + 1, ..; tails on both sides; nothing below `least`, if there is a least sum."""

    low: int
    values: Floats
    down: Tail
    up: Tail
    least: int | None = None

    @property
    def high(self) -> int:
        return self.low + len(self.values) - 1

    @cached_property
    def even(self) -> bool:
        """The same at q and -q."""
        return self.least is None and self.down == self.up and np.array_equal(self.values, self.values[::-1])

    def at(self, point: int) -> arb:
        from flint import arb

        if self.least is not None and point < self.least:
            return arb(0)
        if point > self.high:
            return self.up.at(point - self.high)
        return self.down.at(self.low - point) if point < self.low else arb(float(self.values[point - self.low]))

    def floats(self, reach: int) -> Floats:
        """At -reach .. reach."""
        wide = max(reach, -self.low, self.high)
        below, above = self.down.floats(wide + self.low)[::-1], self.up.floats(wide - self.high)
        found = np.concatenate([below, self.values, above])
        if self.least is not None:
            found[: max(0, wide + self.least)] = 0.0
        return found[wide - reach : wide + reach + 1]


def cell_potential(odds: Fraction, tilt: Fraction = Fraction(1), count: int | None = None) -> Potential:
    """odds^-|z| tilt^z; no z below minus the count, if one is given."""
    down, up = Tail(Fraction(1), 1 / (odds * tilt)), Tail(Fraction(1), tilt / odds)
    return Potential(0, np.ones(1), down, up, None if count is None else -count)


def no_potential(odds: Fraction) -> Potential:
    """Of a cell that is always zero."""
    nothing = Tail(Fraction(0), 1 / odds)
    return Potential(0, np.ones(1), nothing, nothing, 0)


@dataclass(frozen=True)
class SplitLaw:
    """The left part s of a sum: weight left(s) right(sum - s). Slow and to any precision: it settles ties."""

    left: Potential
    right: Potential
    sum: int

    @property
    def centre(self) -> tuple[int, int]:
        """Outside it both potentials are in their tails."""
        low = min(self.left.low, self.sum - self.right.high)
        return low, max(self.left.high, self.sum - self.right.low)

    def at(self, point: int) -> arb:
        return self.left.at(point) * self.right.at(self.sum - point)

    def whole(self, bits: int) -> arb:
        """All weights together."""
        return _running(self, bits)[-1] + self._above(self.centre[1])

    def below(self, k: int, bits: int) -> tuple[int, int]:
        from flint import arb, ctx

        with ctx.workprec(bits + GUARD_BITS):
            (first, last), whole = self.centre, self.whole(bits)
            if k < first:
                share = self._below(k + 1)
            elif k > last:
                share = whole - self._above(k)
            else:
                share = _running(self, bits)[k - first]
            return integer_bounds(share / whole * arb(2) ** bits, bits)

    def add(self, counts: Integers, bits: Bits) -> Integers:
        return add_noise(counts, self, bits)

    def _below(self, point: int) -> arb:
        """The weights below a point that is not above the first: a geometric series, perhaps a finite one."""
        ratio = arb_of(self.left.down.ratio * self.right.up.ratio)
        terms = None if self.left.least is None else point - self.left.least
        return _series(self.at(point - 1), ratio, terms)

    def _above(self, point: int) -> arb:
        ratio = arb_of(self.left.up.ratio * self.right.down.ratio)
        terms = None if self.right.least is None else self.sum - self.right.least - point
        return _series(self.at(point + 1), ratio, terms)


def _series(first: arb, ratio: arb, terms: int | None) -> arb:
    """first (1 + ratio + ratio^2 + ..), so many terms or all."""
    if terms is None:
        return first / (1 - ratio)
    return first * (1 - ratio ** max(0, terms)) / (1 - ratio)


@lru_cache(maxsize=256)
def _running(law: SplitLaw, bits: int) -> tuple[arb, ...]:
    """The weights up to every point of the centre."""
    from flint import ctx

    with ctx.workprec(bits + GUARD_BITS):
        first, last = law.centre
        running, found = law._below(first), []
        for point in range(first, last + 1):
            running += law.at(point)
            found.append(running)
    return tuple(found)
