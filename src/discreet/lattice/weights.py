"""Laws of sums, in integers that are never too large.

A table holds, for every point, an integer not above 2^precision times its weight, and an integer not below 2^precision
times the weight of all points together. What the entries leave of that is the most any of them can be short of, so
products may be rounded down and tails left out freely: the table itself tells how good it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Objects
from discreet.sample.draw import Law

PRECISION = 96  # of tables that serve nearly every draw


@dataclass(frozen=True, eq=False)
class SumWeights:
    """Lower bounds on the weights of the points starts, .. in one or more dimensions."""

    starts: tuple[int, ...]
    lows: Objects
    cap: int
    precision: int

    @cached_property
    def missing(self) -> int:
        return self.cap - int(self.lows.sum())

    @cached_property
    def most(self) -> int:
        """No weight is larger."""
        return int(self.lows.max()) + self.missing

    def at(self, point: tuple[int, ...]) -> tuple[int, int]:
        place = tuple(p - s for p, s in zip(point, self.starts))
        inside = all(0 <= i < n for i, n in zip(place, self.lows.shape))
        low = int(self.lows[place]) if inside else 0
        return low, low + self.missing


def weights_of(law: Law, precision: int) -> SumWeights:
    """A law on the integers."""
    first, last = law.centre
    while law.below(first - 1, precision)[1] > 2:
        first -= max(1, (last - first) // 8)
    while (1 << precision) - law.below(last, precision)[0] > 2:
        last += max(1, (last - first) // 8)
    lows, before = [], law.below(first - 1, precision)
    for k in range(first, last + 1):
        here = law.below(k, precision)
        lows.append(max(0, here[0] - before[1]))
        before = here
    return SumWeights((first,), np.array(lows, dtype=object), 1 << precision, precision)


def add(one: SumWeights, other: SumWeights) -> SumWeights:
    """The law of the sum of two independent things."""
    from flint import fmpz, fmpz_poly

    shape = tuple(a + b - 1 for a, b in zip(one.lows.shape, other.lows.shape))
    product = fmpz_poly(_flat(one.lows, shape)) * fmpz_poly(_flat(other.lows, shape))
    scaled = product // fmpz(1 << one.precision)
    entries = np.zeros(int(np.prod(shape)), dtype=object)
    coefficients = scaled.coeffs()
    entries[: len(coefficients)] = [int(entry) for entry in coefficients]
    starts = tuple(a + b for a, b in zip(one.starts, other.starts))
    cap = (one.cap * other.cap >> one.precision) + 1
    return _trimmed(SumWeights(starts, entries.reshape(shape), cap, one.precision))


def _flat(lows: Objects, shape: tuple[int, ...]) -> list[int]:
    """The entries in the order of a product of this shape: powers of one variable stand for all (Kronecker)."""
    if lows.ndim == 1:
        return list(lows)
    padded = np.zeros((lows.shape[0], *shape[1:]), dtype=object)
    padded[tuple(slice(0, n) for n in lows.shape)] = lows
    return list(padded.ravel())


def _trimmed(weights: SumWeights) -> SumWeights:
    lows, starts = weights.lows, list(weights.starts)
    for axis in range(lows.ndim):
        others = tuple(i for i in range(lows.ndim) if i != axis)
        used = np.flatnonzero((lows > 0).any(axis=others) if others else lows > 0)
        if len(used):
            lows = np.take(lows, np.arange(used[0], used[-1] + 1), axis=axis)
            starts[axis] += int(used[0])
    return SumWeights(tuple(starts), lows, weights.cap, weights.precision)


def nothing(dimensions: int, precision: int) -> SumWeights:
    """The law of the empty sum."""
    one = np.empty((1,) * dimensions, dtype=object)
    one[...] = 1 << precision
    return SumWeights((0,) * dimensions, one, 1 << precision, precision)
