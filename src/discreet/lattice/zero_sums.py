"""The left parts of all rows, given that they sum to a number: how likely that is, and a draw.

Words are compared with enclosures in floats; a word inside one, or a sum outside the tables, is settled by the same
chance to as many bits as it takes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Flags, Floats, Integers
from discreet.lattice.chances import integer_bounds, settle
from discreet.lattice.fixed_sum import Bag, Cell
from discreet.lattice.potentials import GUARD_BITS
from discreet.lattice.splits import UNIT, Spectra, Split, Waves
from discreet.sample.bits import Bits
from discreet.sample.draw import WORD_BITS, invert

if TYPE_CHECKING:
    from flint import arb

UNSURE = 0.1  # doubts beyond it do not add up: then nothing is known
LONG = 32  # rows from which they are halved
AT_ONCE = 1 << 20  # waves gathered at once: 16 MB
LOOKUPS = 1 << 10  # a round costs hardly more up to here, so trials that may be wasted are cheap


@dataclass(frozen=True, eq=False)
class RowSums:
    """Rows of these kinds whose sums are to be split: a row of `sums` per problem."""

    split: Split
    kinds: Integers
    sums: Integers

    def of(self, problems: Integers) -> RowSums:
        return RowSums(self.split, self.kinds, self.sums[problems])

    def part(self, rows: slice) -> RowSums:
        return RowSums(self.split, self.kinds[rows], self.sums[:, rows])

    @cached_property
    def places(self) -> Integers:
        """Of every sum in the tables; one of those at the end if it is outside."""
        reach = self.split.reach
        return np.minimum(np.maximum(self.sums, -reach), reach) + reach

    @cached_property
    def inside(self) -> Flags:
        return np.abs(self.sums) <= self.split.reach

    def added(self, table: Floats) -> Floats:
        """Sums over the rows of a table by kind and sum."""
        return np.asarray(table[self.kinds, self.places].sum(axis=1))

    def laws(self, problem: int) -> Bag:
        """For ties: the law of the sum of the left parts."""
        seen = Counter(zip(self.kinds.tolist(), self.sums[problem].tolist()))
        return Bag(tuple((Cell(self.split.law(kind, total)), number) for (kind, total), number in seen.items()))


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Chances between `low` and `high`."""

    low: Floats
    high: Floats

    def compare(self, chance: Callable[[int], Callable[[int], tuple[int, int]]], bits: Bits) -> Flags:
        """Whether a uniform number lies below each; `chance(i)` is the i-th to any number of bits."""
        words = bits.words(len(self.low))
        numbers = words.astype(np.float64) * 2.0**-WORD_BITS
        below, above = numbers < self.low - 4 * UNIT, numbers > self.high + 4 * UNIT
        for i in np.flatnonzero(~(below | above)).tolist():
            below[i] = settle(chance(i), int(words[i]), bits)
        return np.asarray(below)


def go_on(rows: RowSums, bits: Bits) -> Flags:
    """Each problem with its chance."""
    return chances(rows).compare(lambda i: _exact_chance(rows, i), bits)


def chances(rows: RowSums) -> Enclosure:
    """Of each problem, that its left parts sum to zero, over the product of the rows' excess."""
    spectrum = Spectrum.of(rows)
    value, error = spectrum.at(np.zeros(len(rows.sums), dtype=np.int64))
    logarithm = rows.added(rows.split.log_excess)
    scale = np.exp(-logarithm)
    doubt = 2 * spectrum.doubt + 8 * (len(rows.kinds) + np.abs(logarithm) + 16) * UNIT
    low, high = (value - error) * scale * (1 - doubt), (value + error) * scale * (1 + doubt)
    low, high = np.where(doubt < UNSURE, low, 0.0), np.where(doubt < UNSURE, high, 1.0)
    if np.any(low > 1):
        raise ArithmeticError("a bound on a chance was exceeded")
    return Enclosure(low, high)


def _exact_chance(rows: RowSums, problem: int) -> Callable[[int], tuple[int, int]]:
    from flint import arb, ctx

    bag, split = rows.laws(problem), rows.split

    def chance(known: int) -> tuple[int, int]:
        with ctx.workprec(known + 2 * GUARD_BITS):
            share = _weight(bag, 0, known) * arb(2) ** known
            for kind, total in zip(rows.kinds.tolist(), rows.sums[problem].tolist()):
                excess = split.sums[kind].at(total) * arb(split.scales[kind])
                share *= split.law(kind, total).whole(known + GUARD_BITS) / excess
            return integer_bounds(share, known)

    return chance


def _weight(bag: Bag, point: int, known: int) -> arb:
    """The chance that the sum is this point."""
    from flint import arb

    table = bag.weights(known + 2 * GUARD_BITS)
    low, high = table.at((point,))
    return arb(low).union(arb(high)) / arb(2) ** table.precision


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Of the sums of left parts: a characteristic function at the frequencies that count, and what it may be off by."""

    rows: RowSums
    waves: Waves
    doubt: Floats

    @classmethod
    def of(cls, rows: RowSums) -> Spectrum:
        split, number, places = rows.split, len(rows.kinds), rows.places
        table = split.over(number).waves
        waves = np.ones((len(places), table.shape[2]), dtype=np.complex128)
        bite = max(1, AT_ONCE // max(1, waves.size))
        for start in range(0, number, bite):
            part = slice(start, start + bite)
            waves *= np.multiply.reduce(table[rows.kinds[part], places[:, part]], axis=1)
        doubt = rows.added(split.doubt) + (8 * number + table.shape[2] + 16) * UNIT
        return cls(rows, waves, np.where(rows.inside.all(axis=1), doubt, 1.0))

    @property
    def _tables(self) -> Spectra:
        return self.rows.split.over(len(self.rows.kinds))

    @property
    def left_out(self) -> Floats:
        """No more than this comes from frequencies that were left out, and from rounding."""
        together = np.exp(self.rows.added(self._tables.left_out)) + 2 * self.doubt * self._tables.shares.sum()
        return np.where(self.doubt < UNSURE, together, 1.0)

    def at(self, points: Integers) -> tuple[Floats, Floats]:
        """The chance of these sums, and a bound on the error."""
        tables, grid = self._tables, self._tables.grid
        above = self.rows.added(tables.rising) - grid.tilt * (grid.period + points)
        below = self.rows.added(tables.falling) - grid.tilt * (grid.period - points)
        ends = np.exp(np.minimum(np.maximum(above, below), 0.0))
        return self._turned(points) @ tables.shares, np.minimum(self.left_out + 4 * ends, 1.0)

    def _turned(self, points: Integers) -> Floats:
        if not points.any():
            return self.waves.real
        period = self._tables.grid.period
        turns = (points[:, None] * np.arange(self.waves.shape[1]) + period // 2) % period - period // 2
        angles = turns * (2 * math.pi / period)
        return np.asarray(self.waves.real * np.cos(angles) + self.waves.imag * np.sin(angles))

    @property
    def ceiling(self) -> Floats:
        """No sum is more likely."""
        return np.minimum((np.abs(self.waves) @ self._tables.shares + self.left_out) * (1 + 1e-9), 1.0)

    def of_problems(self, problems: Integers) -> Spectrum:
        return Spectrum(self.rows.of(problems), self.waves[problems], self.doubt[problems])


def left_parts(rows: RowSums, bits: Bits) -> Integers:
    """Independent of one another, by inversion."""
    split = rows.split
    points = split.points
    functions, number = split.functions(rows.kinds * split.doubt.shape[1] + rows.places)
    words = bits.words(number.size).reshape(number.shape)
    keys = number + words.astype(np.float64) * 2.0**-WORD_BITS
    found = np.searchsorted(functions, keys, side="right")
    place = found - number * points
    before = np.where(place > 0, functions[found - 1], number)
    after = np.where(place < points, functions[np.minimum(found, len(functions) - 1)], -1.0)
    doubt = split.doubt[rows.kinds, rows.places] + 4 * (number + 2) * UNIT
    settled = (keys - before > doubt) & (after - keys > doubt) & rows.inside
    parts = place - split.window
    for problem, row in np.argwhere(~settled).tolist():
        total = int(rows.sums[problem, row])
        law = split.law(int(rows.kinds[row]), total)
        parts[problem, row] = invert(law.below, int(words[problem, row]), WORD_BITS, total // 2, bits)
    return np.asarray(parts)


def given_sum(rows: RowSums, targets: Integers, bits: Bits) -> Integers:
    """The left parts, given their sum. Of many rows every second is drawn and accepted by what is left for the rest."""
    if len(rows.kinds) <= LONG:
        return _solved(rows, targets, bits)
    first, rest = rows.part(slice(0, None, 2)), rows.part(slice(1, None, 2))
    parts, left = np.empty_like(rows.sums), np.empty_like(targets)
    spectrum, open_problems = Spectrum.of(rest), np.arange(len(targets))
    while len(open_problems):
        tried = left_parts(first.of(open_problems), bits)
        needed = targets[open_problems] - tried.sum(axis=1)
        good = np.flatnonzero(_met(spectrum.of_problems(open_problems), needed, bits))
        parts[open_problems[good], ::2], left[open_problems[good]] = tried[good], needed[good]
        open_problems = np.delete(open_problems, good)
    parts[:, 1::2] = given_sum(rest, left, bits)
    return parts


def _met(spectrum: Spectrum, points: Integers, bits: Bits) -> Flags:
    """Each with the chance of that sum over the largest."""
    value, error = spectrum.at(points)
    ceiling = spectrum.ceiling

    def chance(i: int) -> Callable[[int], tuple[int, int]]:
        return _relative(spectrum.rows.laws(i), int(points[i]), float(ceiling[i]))

    return Enclosure((value - error) / ceiling, (value + error) / ceiling).compare(chance, bits)


def _solved(rows: RowSums, targets: Integers, bits: Bits) -> Integers:
    """All rows but the one with the largest sum are drawn; what is left for that one is accepted by its chance."""
    parts = np.empty_like(rows.sums)
    solved = np.argmax(np.where(rows.inside, np.abs(rows.sums), -1), axis=1)
    still, open_problems = np.ones(len(targets), dtype=bool), np.arange(len(targets))
    while len(open_problems):
        each = LOOKUPS // max(1, len(open_problems) * len(rows.kinds))
        tried = np.repeat(open_problems, max(1, min(each, 2 * math.isqrt(len(rows.kinds)))))
        drawn, those = left_parts(rows.of(tried), bits), np.arange(len(tried))
        last = targets[tried] - drawn.sum(axis=1) + drawn[those, solved[tried]]
        drawn[those, solved[tried]] = last
        good = np.flatnonzero(_likely(rows.of(tried), solved[tried], last, bits))
        chosen, earliest = np.unique(tried[good], return_index=True)
        parts[chosen] = drawn[good[earliest]]
        still[chosen] = False
        open_problems = np.flatnonzero(still)
    return parts


def _likely(rows: RowSums, solved: Integers, points: Integers, bits: Bits) -> Flags:
    """The part of one row of each problem, with its chance over the largest."""
    split, those = rows.split, np.arange(len(solved))
    kinds, places = rows.kinds[solved], rows.places[those, solved]
    inside = rows.inside[those, solved]
    peaks = np.where(inside, split.peaks[kinds, places], 1.0)
    within = np.abs(points) <= split.window
    functions, number = split.functions(kinds * split.doubt.shape[1] + places)
    found = number * split.points + np.where(within, points + split.window, 0)
    value = functions[found] - np.where(points > -split.window, functions[found - 1], number)
    # all that is outside the window is in doubt
    error = np.where(inside, 2 * split.doubt[kinds, places] + 4 * (number + 2) * UNIT, 1.0)
    value = np.where(within, value, 0.0)

    def chance(i: int) -> Callable[[int], tuple[int, int]]:
        law = split.law(int(kinds[i]), int(rows.sums[i, solved[i]]))
        return _relative(Bag(((Cell(law), 1),)), int(points[i]), float(peaks[i]))

    return Enclosure((value - error) / peaks, (value + error) / peaks).compare(chance, bits)


def _relative(bag: Bag, point: int, ceiling: float) -> Callable[[int], tuple[int, int]]:
    """Bounds on 2^known times the chance of a sum over a number that is not smaller than any."""
    from flint import arb, ctx

    def chance(known: int) -> tuple[int, int]:
        with ctx.workprec(known + 2 * GUARD_BITS):
            return integer_bounds(_weight(bag, point, known) / arb(ceiling) * arb(2) ** known, known)

    return chance
