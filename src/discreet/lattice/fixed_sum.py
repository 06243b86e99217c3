"""Independent things with a given sum, by halving: draw one half, accept it by the law of the rest's sum, go on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np

from discreet.arrays import Integers
from discreet.lattice.chances import LARGEST, settle
from discreet.lattice.weights import PRECISION, SumWeights, add, nothing, weights_of
from discreet.laws import Gaussian
from discreet.sample.bits import Bits
from discreet.sample.draw import WORD_BITS, Law

MOST_TRIALS_EACH = 64  # of one draw at once: all but the first that is accepted are thrown away
MOST_CELLS_AT_ONCE = 1 << 20  # 8 MB


class Summand(Protocol):
    """Something random made of `width` cells, with a sum in `dimensions` coordinates. Hashable: tables are cached."""

    def __hash__(self) -> int: ...

    @property
    def width(self) -> int: ...

    @property
    def dimensions(self) -> int: ...

    def weights(self, precision: int) -> SumWeights:
        """The law of its sum, up to a factor."""

    def draw(self, size: int, bits: Bits) -> Integers:
        """Independent draws: size x width cells."""

    def totals(self, cells: Integers) -> Integers:
        """Sums of draws: .. x width -> .. x dimensions."""

    def given(self, totals: Integers, bits: Bits) -> Integers:
        """Draws with these sums."""


class CellLaw(Law, Protocol):
    """A law on the integers that draws itself."""

    def add(self, counts: Integers, bits: Bits) -> Integers:
        """counts plus independent draws."""


@dataclass(frozen=True)
class Cell:
    """One cell of a law on the integers."""

    law: CellLaw
    width: int = 1
    dimensions: int = 1

    def weights(self, precision: int) -> SumWeights:
        return weights_of(self.law, precision)

    def draw(self, size: int, bits: Bits) -> Integers:
        return self.law.add(np.zeros(size, dtype=np.int64), bits).reshape(size, 1)

    def totals(self, cells: Integers) -> Integers:
        return cells

    def given(self, totals: Integers, bits: Bits) -> Integers:
        return totals


@dataclass(frozen=True)
class Bag:
    """Summands with their numbers: all there is to know about the law of their sum."""

    kinds: tuple[tuple[Summand, int], ...]

    @cached_property
    def scale(self) -> int:
        return self.weights(PRECISION).most

    def weights(self, precision: int) -> SumWeights:
        return _bag_weights(self, precision)

    @cached_property
    def words(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds on 2^64 times the chance of every point of the table."""
        table = self.weights(PRECISION)
        scale, missing = self.scale, table.missing
        low = [min((int(w) << WORD_BITS) // scale, LARGEST) for w in table.lows.ravel()]
        high = [min(-((-(int(w) + missing) << WORD_BITS) // scale), LARGEST) for w in table.lows.ravel()]
        shape = table.lows.shape
        return np.array(low, dtype=np.uint64).reshape(shape), np.array(high, dtype=np.uint64).reshape(shape)

    def chance(self, point: tuple[int, ...], bits: int) -> tuple[int, int]:
        """Bounds on 2^bits times the weight of a sum over the largest weight."""
        table = self.weights(PRECISION if bits <= WORD_BITS else bits + PRECISION)
        low, high = table.at(point)
        shift = table.precision - PRECISION
        scale = self.scale << shift
        return (low << bits) // scale, min(1 << bits, -((-high << bits) // scale))

    def accept(self, points: Integers, bits: Bits) -> np.ndarray:
        """Each point (a row) with its chance."""
        low_words, high_words = self.words
        place = points - np.array(self.weights(PRECISION).starts)
        inside = np.all((place >= 0) & (place < np.array(low_words.shape)), axis=1)
        held = tuple(np.where(inside, column, 0) for column in place.T)
        low = np.where(inside, low_words[held], np.uint64(0))
        outside = min(self.chance(tuple(s - 1 for s in self.weights(PRECISION).starts), WORD_BITS)[1], LARGEST)
        high = np.where(inside, high_words[held], np.uint64(outside))
        words = bits.words(len(points))
        accepted = words < low
        for i in np.flatnonzero((words >= low) & (words <= high)):
            point = tuple(points[i].tolist())
            accepted[i] = settle(lambda b, point=point: self.chance(point, b), int(words[i]), bits)  # type: ignore[misc]
        return np.asarray(accepted)


@lru_cache(maxsize=256)
def _bag_weights(bag: Bag, precision: int) -> SumWeights:
    whole = nothing(bag.kinds[0][0].dimensions, precision)
    for kind, number in bag.kinds:
        whole = add(whole, _power(kind, number, precision))
    return whole


@lru_cache(maxsize=512)
def _power(kind: Summand, number: int, precision: int) -> SumWeights:
    """The law of the sum of so many of a kind."""
    if number <= 1:
        return kind.weights(precision) if number else nothing(kind.dimensions, precision)
    half = _power(kind, number // 2, precision)
    whole = add(half, half)
    return add(whole, _power(kind, 1, precision)) if number % 2 else whole


def _trials_each(open_draws: int, draws: int, width: int) -> int:
    return max(1, min(draws // open_draws, MOST_TRIALS_EACH, MOST_CELLS_AT_ONCE // (open_draws * width)))


@dataclass(frozen=True, eq=False)
class FixedSum:
    """Summand i is kinds[which[i]]; all have the same width."""

    kinds: tuple[Summand, ...]
    which: Integers

    @cached_property
    def halves(self) -> tuple[tuple[Integers, Bag], ...]:
        """What is drawn at each step, and the bag of what is left then."""
        left, steps = np.argsort(self.which, kind="stable"), []
        while len(left) > 1:
            first, left = left[0::2], left[1::2]
            steps.append((first, self._bag(left)))
        return tuple(steps)

    @cached_property
    def last(self) -> int:
        left = np.argsort(self.which, kind="stable")
        while len(left) > 1:
            left = left[1::2]
        return int(left[0])

    @cached_property
    def whole(self) -> Bag:
        return self._bag(np.arange(len(self.which)))

    def _bag(self, members: Integers) -> Bag:
        kinds, numbers = np.unique(self.which[members], return_counts=True)
        return Bag(tuple((self.kinds[k], int(n)) for k, n in zip(kinds, numbers)))

    def free(self, draws: int, bits: Bits) -> Integers:
        """Independent: draws x summands x width."""
        return self._draw(np.arange(len(self.which)), draws, bits)

    def _draw(self, members: Integers, draws: int, bits: Bits) -> Integers:
        out = np.empty((draws, len(members), self.kinds[0].width), dtype=np.int64)
        for kind in np.unique(self.which[members]):
            places = np.flatnonzero(self.which[members] == kind)
            values = self.kinds[kind].draw(draws * len(places), bits)
            out[:, places] = values.reshape(draws, len(places), -1)
        return out

    def given(self, totals: Integers, bits: Bits) -> Integers:
        """A draw for every row of totals: draws x summands x width."""
        left = np.array(totals, dtype=np.int64)
        out = np.empty((len(left), len(self.which), self.kinds[0].width), dtype=np.int64)
        for first, rest in self.halves:
            open_draws = np.arange(len(left))
            while len(open_draws):
                # the fewer draws are open, the more trials each gets at once; the first that is accepted counts
                tried = np.repeat(open_draws, _trials_each(len(open_draws), len(left), len(first)))
                cells = self._draw(first, len(tried), bits)
                remaining = left[tried] - self.kinds[0].totals(cells).sum(axis=1)
                good = np.flatnonzero(rest.accept(remaining, bits))
                chosen, earliest = np.unique(tried[good], return_index=True)
                good = good[earliest]
                out[chosen[:, None], first] = cells[good]
                left[chosen] = remaining[good]
                open_draws = np.setdiff1d(open_draws, chosen, assume_unique=True)
        out[:, self.last] = self.kinds[self.which[self.last]].given(left, bits)
        return out


@dataclass(frozen=True, eq=False)
class SumGroup:
    """Cells of one class, each with its own law on the integers."""

    inner: FixedSum
    variance: float
    flatness: float = 1.0

    @property
    def cells(self) -> int:
        return len(self.inner.which)

    def free(self, draws: int, bits: Bits) -> Integers:
        return self.inner.free(draws, bits)[:, :, 0]

    def accept(self, totals: Integers, bits: Bits) -> np.ndarray:
        """Each total with chance P(sum = total) / (something not below the largest such probability)."""
        return self.inner.whole.accept(totals.reshape(-1, 1), bits)

    def given(self, totals: Integers, bits: Bits) -> Integers:
        return self.inner.given(totals.reshape(-1, 1), bits)[:, :, 0]


@lru_cache(maxsize=256)
def gaussian_group(variance: Fraction, cells: int) -> SumGroup:
    """So many cells of the discrete Gaussian."""
    law = Gaussian(variance)
    return SumGroup(FixedSum((Cell(law),), np.zeros(cells, dtype=np.int64)), cells * float(law.variance))
