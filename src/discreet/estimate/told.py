"""What every way of releasing tells about sums of rows: one value, from which all else follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from discreet.arrays import Flags, Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WHOLE = 1e-9  # a reach that is nearer than that to a whole number is one
TIED = 1e-7  # of a count: what floats of sums are off by, and more
HALF = 0.5  # of the way to the next whole number


@dataclass(frozen=True, eq=False)
class SumEstimates:
    """Of some weighted sums of rows: the best unbiased estimates, their standard deviations, and intervals."""

    estimate: Floats
    deviation: Floats
    low: Floats
    high: Floats
    exact: Flags  # kept: no error at all

    @property
    def variance(self) -> Floats:
        squares: Floats = self.deviation**2
        return squares


class ToldSums(Protocol):
    """What is known of any weighted sums of the true counts, row by row in the order of the table.

    The estimates of rows add up: that of a sum is the sum of theirs.
    """

    @property
    def conservative(self) -> bool:
        """Whether intervals are wider than the best, for want of what was measured."""

    @property
    def rows(self) -> int:
        """How many there are."""

    def sums(self, weights: csr_array, level: float) -> SumEstimates:
        """Of each row of weights."""

    def covariances(self, weights: csr_array, one: csr_array) -> Floats:
        """Of the estimate of each sum with that of one other sum."""

    def noisy(self, weights: csr_array, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Unbiased values of sums of rows, and draws of their joint noise, a draw a row."""


def around(estimate: Floats, deviation: Floats, reach: Floats, exact: Flags | None = None) -> SumEstimates:
    """Intervals that reach as far to either side."""
    known = np.zeros(len(estimate), dtype=bool) if exact is None else exact
    return SumEstimates(estimate, deviation, estimate - reach, estimate + reach, known)


def are_whole(*reaches: Floats) -> Flags:
    """Whether errors are in whole numbers on either side."""
    gaps = (np.abs(reach - np.rint(reach)) < WHOLE for reach in np.broadcast_arrays(*reaches))
    whole: Flags = np.logical_and.reduce(list(gaps))
    return whole


def together(one: Floats, other: Floats) -> Floats:
    """How far the difference of two independent errors reaches, each by its own interval.

    As normal ones: squares add up. But errors in whole numbers that reach 2 are cut at two and a half, and so is their
    difference; cut at the root of the squares of 2, it would cover too rarely, down to 83% for 95%.
    """
    reach: Floats = np.hypot(*(np.where(are_whole(end), end + HALF, end) for end in (one, other)))
    return np.where(are_whole(one, other), np.ceil(reach - HALF), reach)


def whole_ends(estimate: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Intervals of whole numbers without what is beyond the first and the last of these; as they are where there is
    none in them. The estimate stays inside."""
    with np.errstate(invalid="ignore"):
        first, last = np.ceil(low - TIED), np.floor(high + TIED)
    some = first <= last
    first, last = np.minimum(first, np.maximum(estimate, low)), np.maximum(last, np.minimum(estimate, high))
    return np.where(some, first, low), np.where(some, last, high)


def terms_of(weights: csr_array) -> Integers:
    """How many rows each sum has."""
    return np.asarray(np.diff(weights.indptr), dtype=np.int64)


def are_signs(weights: csr_array) -> Flags:
    """Of each sum, whether it only adds rows, or takes them off."""
    other = (np.abs(weights.data) != 1).astype(np.int64)
    running = np.concatenate([[0], np.cumsum(other)])
    signs: Flags = running[weights.indptr[1:]] == running[weights.indptr[:-1]]
    return signs


def squared(weights: csr_array) -> csr_array:
    """Of every weight its square."""
    from scipy.sparse import csr_array

    return csr_array((weights.data**2, weights.indices, weights.indptr), shape=weights.shape)
