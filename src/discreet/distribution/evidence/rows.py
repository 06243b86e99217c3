"""The posterior of every row, given the distribution that rows are drawn from: in linear time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.decay import running
from discreet.distribution.evidence.cells import TINY, reach_of
from discreet.laws import NoiseLaw

FINEST = (
    16  # blocks to the standard deviation of other than geometric noise: between their ends chances are interpolated
)
LARGEST_TABLE = 1e7  # chances kept, of blocks by noisy values, and sums of them: 160 megabytes


class Rows(Protocol):
    """Of rows in the order of their noisy values; F_l is the number of those with a count of at most l."""

    low: int  # the noisy value of the first
    upto: Floats  # upto[k] = number of rows with a noisy value of at most low + k
    mean: Floats  # E F_l
    own: Floats  # Var F_l, if the distribution were known

    def chance(self, counts: Integers, places: Integers) -> Floats:
        """P(count <= l | noisy value low + k)."""

    def inside(self, counts: Integers, first: Floats) -> Floats:
        """The sum of that chance over the `first` rows."""


def rows_of(shares: Floats, histogram: Floats, low: int, noise: NoiseLaw) -> Rows:
    """`histogram[k]` rows have the noisy value low + k; counts are looked for where `shares` are."""
    if noise.decay is None:
        return OtherRows(shares, histogram, low, noise)
    return GeometricRows(shares, histogram, noise.decay)


class GeometricRows:
    """Noisy values are those on 0..n-1, seen at the ends where they lie outside: by recursions of one ratio."""

    low = 0

    def __init__(self, shares: Floats, histogram: Floats, ratio: float) -> None:
        self.ratio, self.upto = ratio, np.cumsum(histogram)
        left, right = running(shares, ratio), _backward(shares, ratio)
        self.left, self.right = left, right
        self.whole = left + ratio * right[1:] + TINY
        each = histogram / self.whole
        square = each / self.whole
        self.before, self.after = np.append(0.0, running(each, ratio)), _backward(each, ratio)
        below, above = ratio * left, ratio * right[1:]
        self.mean = np.cumsum(shares * (self.before[1:] + ratio * self.after[1:]))
        wrong = below**2 * _backward(square, ratio**2)[1:] + above**2 * running(square, ratio**2)
        self.own = np.maximum(below * self.after[1:] + above * self.before[1:] - wrong, 0)

    def chance(self, counts: Integers, places: Integers) -> Floats:
        log, whole = math.log(self.ratio), self.whole[places]
        above = np.exp(log * np.maximum(places - counts, 1)) * self.left[counts] / whole
        below = 1 - np.exp(log * np.maximum(counts + 1 - places, 1)) * self.right[counts + 1] / whole
        chance: Floats = np.where(places > counts, above, below)
        return chance

    def inside(self, counts: Integers, first: Floats) -> Floats:
        place = np.minimum(np.searchsorted(self.upto, first + 0.5), len(self.upto) - 1)
        before = np.where(place > 0, self.upto[place - 1], 0.0)
        log = math.log(self.ratio)
        above = self.mean[counts] - self.left[counts] * np.exp(log * np.maximum(place - counts, 0)) * self.after[place]
        fall = np.exp(log * np.maximum(counts + 2 - place, 0))
        below = before - self.right[counts + 1] * fall * self.before[place]
        return np.where(place > counts, above, below) + (first - before) * self.chance(counts, place)


class OtherRows:
    """Any symmetric noise that thins out fast. Counts and noisy values are taken in blocks that are small against the
    noise (of one, unless it is wide): within a block rows are spread over counts as the distribution is."""

    def __init__(self, shares: Floats, histogram: Floats, low: int, noise: NoiseLaw) -> None:
        size, reach = len(shares), reach_of(noise)
        self.low, self.upto, self.block = low, np.cumsum(histogram), _block(noise, reach, size)
        self.ends = np.minimum(np.arange(self.block, size + self.block, self.block), size) - 1
        self.within = _within(shares, self.block)
        self.offsets = np.arange(-(reach // self.block) - 1, reach // self.block + 2)
        self.table = _chances(np.add.reduceat(shares, np.arange(0, size, self.block)), self.offsets, self.block, noise)
        self.ahead = self._ahead()
        self.mean = self.inside(np.arange(size), np.full(size, self.upto[-1]))
        self.own = self._own(np.arange(size))

    def chance(self, counts: Integers, places: Integers) -> Floats:
        return self._between(counts, lambda blocks: self._chance(blocks, places + self.low))

    def inside(self, counts: Integers, first: Floats) -> Floats:
        return self._between(counts, lambda blocks: self._inside(blocks, first))

    def _own(self, counts: Integers) -> Floats:
        """By c (1 - c) for c = p c1 + (1 - p) c0, with the chances at the end of this block and of the one before."""
        blocks = np.arange(len(self.ends))
        single, cross = np.zeros((2, len(blocks)))
        before = np.pad(self.table, ((0, 1), (1, 0)))[1:, :-1]
        for (rows, chance), last in zip(self._windows(), before):
            single += rows * chance * (1 - chance)
            cross += rows * last * (1 - chance)
        cross = 2 * cross + np.diff(self.mean[self.ends], prepend=0.0)
        block, part = counts // self.block, self.within[counts]
        own = part**2 * single[block] + (1 - part) ** 2 * np.pad(single, (1, 0))[block]
        own += part * (1 - part) * cross[block]
        return np.asarray(np.maximum(own, 0), dtype=float)

    def _between(self, counts: Integers, at: Callable[[Integers], Floats]) -> Floats:
        """What is known at the ends of blocks, at any counts."""
        blocks = counts // self.block
        if self.block == 1:
            return at(blocks)
        part = self.within[counts]
        return part * at(blocks) + (1 - part) * np.where(blocks > 0, at(np.maximum(blocks - 1, 0)), 0.0)

    def _chance(self, blocks: Integers, values: Integers) -> Floats:
        place = (values - self._end(blocks)) / self.block - self.offsets[0]
        first = np.clip(np.floor(place).astype(np.int64), 0, len(self.offsets) - 2)
        part = np.clip(place - first, 0, 1)
        chance: Floats = (1 - part) * self.table[first, blocks] + part * self.table[first + 1, blocks]
        return chance

    def _inside(self, blocks: Integers, first: Floats) -> Floats:
        """Whole windows of noisy values before that of the last of the `first` rows, and a part of its own."""
        value = np.minimum(np.searchsorted(self.upto, first), len(self.upto) - 1) + self.low
        window = (value - self._first_value(blocks, int(self.offsets[0]))) // self.block
        window = np.clip(window, 0, len(self.offsets) - 1)
        start = self._upto(self._first_value(blocks, self.offsets[window]) - 1)
        ahead: Floats = self.ahead[window, blocks] + np.maximum(first - start, 0) * self.table[window, blocks]
        return np.minimum(ahead, first)

    def _windows(self) -> Iterator[tuple[Floats, Floats]]:
        """How many rows have a noisy value about so far from the end of each block; and their chances."""
        places = np.arange(len(self.ends) + len(self.offsets))
        rows = np.diff(self._upto(self._first_value(places, int(self.offsets[0])) - 1))
        for k, chance in enumerate(self.table):
            yield rows[k : k + len(self.ends)], chance

    def _ahead(self) -> Floats:
        """The sum of the chances of all rows in the windows before each."""
        ahead = np.empty_like(self.table)
        upto = self._upto(self._first_value(np.arange(len(self.ends)), int(self.offsets[0])) - 1)
        for k, (rows, chance) in enumerate(self._windows()):
            ahead[k] = upto
            upto = upto + rows * chance
        return ahead

    def _first_value(self, blocks: Integers, offset: int | Integers) -> Integers:
        return self._end(blocks) + offset * self.block - self.block // 2

    def _end(self, blocks: Integers) -> Integers:
        return (blocks + 1) * self.block - 1

    def _upto(self, value: Integers) -> Floats:
        return np.where(value < self.low, 0.0, self.upto[np.clip(value - self.low, 0, len(self.upto) - 1)])


def _block(noise: NoiseLaw, reach: int, size: int) -> int:
    """An odd number of counts, small against the noise, that keeps the table of chances small."""
    deviation = math.sqrt(noise.spread)
    if deviation <= 1:
        return 1
    finest = min(FINEST, math.sqrt(LARGEST_TABLE * deviation * deviation / (2 * reach * size)))
    return 2 * int(deviation / finest / 2) + 1


def _within(shares: Floats, block: int) -> Floats:
    """The part of its block's share that is at each count or before it in the block."""
    if block == 1:
        return np.ones(len(shares))
    padded = np.zeros(-(-len(shares) // block) * block)
    padded[: len(shares)] = shares
    upto = np.cumsum(padded.reshape(-1, block) + TINY, axis=1)
    return (upto / upto[:, -1:]).ravel()[: len(shares)]


def _chances(shares: Floats, offsets: Integers, block: int, noise: NoiseLaw) -> Floats:
    """P(count in the first k + 1 blocks | noisy value `offset` blocks after the end of the k-th)."""
    masses = np.exp(noise.log_mass((offsets * block + block // 2).astype(float)))
    table = np.outer(masses, shares)
    for near, far in zip(table[-2::-1], table[:0:-1]):  # a noisy value is further from the end of the block before
        near[1:] += far[:-1]
    whole = np.append(table[0], table[1:, -1]) + TINY  # from as far before the first block
    for k, upto in enumerate(table):
        upto /= whole[k : k + len(shares)]
    return table


def _backward(values: Floats, ratio: float) -> Floats:
    """out[i] = sum over k >= i of ratio^(k-i) values[k], and 0 past the end."""
    return np.append(running(values[::-1], ratio)[::-1], 0.0)
