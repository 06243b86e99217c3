"""What a sum of counts can be at all: beside sums that are kept, no more than these leave.

No count is negative. So a part of a kept sum is at most that sum, and what a kept sum lies wholly in is at least it.
An interval loses nothing by ending where the possible ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Flags, Floats, Integers
from discreet.lattice.needed import disjoint_runs

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_FAMILIES = 20  # of kept sums that overlap: so many are looked at, one after the other


@dataclass(frozen=True, eq=False)
class Family:
    """Kept sums that do not overlap: of every row the one it is in, or -1; how many rows each has, and what it is."""

    of: Integers
    sizes: Integers
    sums: Floats

    def ends(self, weights: csr_array) -> tuple[Floats, Floats]:
        """The least and the largest that weighted sums of rows can be, if each kept sum may be in any of its rows."""
        number = len(self.sums)
        group = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
        block = self.of[weights.indices]
        free, inside = block < 0, block >= 0
        pair, place, rows = _occurring(group[inside] * max(number, 1) + block[inside], weights.shape[0] * number)
        least, most = np.full(len(pair), np.inf), np.full(len(pair), -np.inf)
        np.minimum.at(least, place, weights.data[inside])
        np.maximum.at(most, place, weights.data[inside])
        of, kept = np.divmod(pair, max(number, 1))
        partly = rows < self.sizes[kept] if number else rows < 0
        low, high = np.where(partly, np.minimum(least, 0.0), least), np.where(partly, np.maximum(most, 0.0), most)
        sums = self.sums[kept] if number else low
        return (
            _summed(of, low * sums, len(weights.indptr) - 1) - _endless(group[free & (weights.data < 0)], weights),
            _summed(of, high * sums, len(weights.indptr) - 1) + _endless(group[free & (weights.data > 0)], weights),
        )


@dataclass(frozen=True, eq=False)
class KeptBounds:
    """What sums of rows can be beside the kept ones."""

    worked_out: Callable[[], csr_array]  # a row of ones for every kept sum; asked for once it is needed
    counts: Integers = field(repr=False)  # any that have the kept sums

    def ends(self, weights: csr_array) -> tuple[Floats, Floats]:
        low, high = np.full(weights.shape[0], -np.inf), np.full(weights.shape[0], np.inf)
        for one in self.families:
            least, most = one.ends(weights)
            low, high = np.maximum(low, least), np.minimum(high, most)
        return low, high

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """Kept sums one after the other as long as they do not overlap, and each such run beside the first ones that
        it does not overlap."""
        matrix = self.worked_out()
        if np.bincount(matrix.indices, minlength=1).max() <= 1:  # no row is in two of them
            return (_family(matrix, self.counts),)
        found: list[tuple[list[Integers], Flags]] = []
        starts = disjoint_runs(matrix)
        for run in np.split(np.arange(matrix.shape[0]), starts[1:]):
            rows = matrix.indices[matrix.indptr[run[0]] : matrix.indptr[run[-1] + 1]]
            home = next((one for one in found if not one[1][rows].any()), None)
            if home is None and len(found) < MOST_FAMILIES:
                home = ([], np.zeros(matrix.shape[1], dtype=bool))
                found.append(home)
            if home is not None:
                home[0].append(run)
                home[1][rows] = True
        return tuple(_family(matrix[np.concatenate(runs)], self.counts) for runs, _ in found)


def _family(matrix: csr_array, counts: Integers) -> Family:
    of, sizes = np.full(matrix.shape[1], -1, dtype=np.int64), np.diff(matrix.indptr).astype(np.int64)
    of[matrix.indices] = np.repeat(np.arange(len(sizes)), sizes)
    return Family(of, sizes, np.asarray(matrix @ counts, dtype=float))


def _occurring(codes: Integers, number: int) -> tuple[Integers, Integers, Integers]:
    """The different ones of these numbers below `number`, ascending; of each its place among them, and how often each
    is there. Without sorting, where they are not much fewer than they may be."""
    if number > len(codes):
        found, place, times = np.unique(codes, return_inverse=True, return_counts=True)
        return found, place.reshape(-1), times
    times = np.bincount(codes, minlength=number)
    return np.flatnonzero(times), (np.cumsum(times > 0) - 1)[codes], times[times > 0]


def _summed(of: Integers, values: Floats, number: int) -> Floats:
    return np.bincount(of, weights=values, minlength=number).astype(float)


def _endless(groups: Integers, weights: csr_array) -> Floats:
    """Infinite for these, and else nothing."""
    out = np.zeros(weights.shape[0])
    out[groups] = np.inf
    return out


def ends_of(weights: csr_array, largest: Floats | None) -> tuple[Floats, Floats]:
    """The least and the largest that weighted sums of rows can be, no row being negative, or larger than this."""
    group = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    down, up = weights.data < 0, weights.data > 0
    if largest is None:
        return 0.0 - _endless(group[down], weights), _endless(group[up], weights)
    most = weights.data * largest[weights.indices]
    low, high = (_summed(group[some], most[some], weights.shape[0]) for some in (down, up))
    return low, high
