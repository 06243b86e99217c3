"""The posterior of every row, given the distribution that rows are drawn from: in linear time."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.decay import running
from discreet.distribution.evidence.cells import TINY, reach_of
from discreet.laws import NoiseLaw

FINEST = 16  # steps of other than geometric noise to its standard deviation: between them chances are interpolated


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
        each, square = histogram / self.whole, histogram / self.whole**2
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
    """Any symmetric noise of short reach: the chance at count l and noisy value l + o, one convolution for each o."""

    def __init__(self, shares: Floats, histogram: Floats, low: int, noise: NoiseLaw) -> None:
        from scipy.signal import oaconvolve

        reach, size = reach_of(noise), len(shares)
        half = noise.masses(reach)
        masses = np.concatenate([half[:0:-1], half])
        self.low, self.upto, self.step = low, np.cumsum(histogram), 2 * int(math.sqrt(noise.spread) / FINEST / 2) + 1
        self.offsets = np.arange(-(reach // self.step) * self.step, reach + 1, self.step)
        counts = np.arange(size)
        whole = np.maximum(oaconvolve(shares, masses), 0) + TINY  # of noisy values from -reach on
        self.table = np.array(
            [
                np.clip(oaconvolve(shares, masses[reach + o :])[:size] / whole[counts + o + reach], 0, 1)
                for o in self.offsets
            ]
        )
        each, values = (
            np.zeros(size + 2 * reach),
            np.clip(np.arange(low, low + len(histogram)), -reach, size - 1 + reach),
        )
        np.add.at(each, values + reach, histogram / whole[values + reach])
        rows = shares * np.maximum(oaconvolve(each, masses)[2 * reach : 2 * reach + size], 0)
        self.mean = np.cumsum(rows) * (histogram.sum() / rows.sum())
        self.own = np.zeros(size)
        for start, end, chance in self._windows(counts):
            self.own += (end - start) * chance * (1 - chance)

    def chance(self, counts: Integers, places: Integers) -> Floats:
        offset = places + self.low - counts
        at = (offset - self.offsets[0]) / self.step
        first = np.clip(at.astype(np.int64), 0, len(self.offsets) - 2)
        part = np.clip(at - first, 0, 1)
        chance = (1 - part) * self.table[first, counts] + part * self.table[first + 1, counts]
        return np.where(offset > self.offsets[-1], 0.0, np.where(offset < self.offsets[0], 1.0, chance))

    def inside(self, counts: Integers, first: Floats) -> Floats:
        found = np.minimum(first, self._upto(counts + self.offsets[0] - self.step // 2 - 1))
        for start, end, chance in self._windows(counts):
            found = found + (np.clip(first, start, end) - start) * chance
        return found

    def _upto(self, value: Integers) -> Floats:
        return np.where(value < self.low, 0.0, self.upto[np.clip(value - self.low, 0, len(self.upto) - 1)])

    def _windows(self, counts: Integers):  # type: ignore[no-untyped-def]
        """Rows whose noisy value is about `offset` above the count: from the how-many-th, to the how-many-th."""
        for offset, chance in zip(self.offsets, self.table):
            first = counts + offset - self.step // 2
            yield self._upto(first - 1), self._upto(first + self.step - 1), chance[counts]


def _backward(values: Floats, ratio: float) -> Floats:
    """out[i] = sum over k >= i of ratio^(k-i) values[k], and 0 past the end."""
    return np.append(running(values[::-1], ratio)[::-1], 0.0)
