"""How many rows have a count of at most t, where rows and their distribution were both measured, and noise is wide.

Neither alone tells much, and both together know that no number of rows is negative. For every number k of rows with at
most t the nearest table is looked for, by least squares of all that was measured, and k is refused where that is much
farther off than the nearest table of all. How much farther chance alone makes it has no law that would hold for every
table: where many counts are empty, that of Wilks is short by a factor of two or more, elsewhere far too long. So the
nearest table with k is measured again, many times, with the public laws of its noise: a parametric bootstrap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from discreet.arrays import Flags, Floats, Integers
from discreet.estimate.evidence import Evidence
from discreet.estimate.few import first_where
from discreet.estimate.intervals import draw_sums
from discreet.laws import NoiseLaw
from discreet.mechanism import LARGEST_MATRIX

MOST_CELLS = 160  # counts, or several together: more would take seconds
FINE = 0.25  # deviations of the noise of rows: counts as near as that, of which no number was measured, are one cell
LEAST_EXPECTED = 0.5  # rows seen at a value: there may be some where the prior expects none
DRAWN, FEWEST_DRAWN = 20_000, 100  # cells in all, and at least so many tables, that are measured again
STEPS, PULL, BEYOND = 200, 0.2, 1.6  # of the search for the nearest tables; its penalty in mean curvatures; relaxation
TRIES = 8  # at each end, of numbers of rows whose nearest tables are measured again
FIRST_CUT = 4.0  # squared deviations, to begin with: that of Wilks
MOST_SHARES = 240  # that are looked at
FAR = 40.0  # squared deviations: farther off than noise alone ever makes it
TIED = 1e-9  # of a row
KEPT = 8  # counts that were asked about last
SEED = 1  # any: the noise drawn again is public, and an answer is the same every time

Solver = tuple[Floats, Floats, float]


@dataclass(frozen=True, eq=False)
class TwiceMeasured:
    """What rows and the measured distribution tell together."""

    evidence: Evidence

    def share(self, t: int, level: float) -> tuple[float, float]:
        """Between which shares of rows have a count of at most t."""
        tables, rows, surer = _tables(self.evidence, t), self.evidence.rows, _surer(level)
        numbers = np.unique(np.rint(np.linspace(0, rows, min(rows, MOST_SHARES) + 1)))
        farther, nearest = tables.farther(np.repeat(tables.measured, len(numbers), axis=0), numbers)

        def cut(place: int) -> float:
            again, _ = tables.farther(tables.again(nearest[place]), numbers[[place]])
            return _quantile(again, surer)

        best = int(np.argmin(farther))
        low = best - _reach(farther[best::-1], lambda k: cut(best - k))
        high = best + _reach(farther[best:], lambda k: cut(best + k))
        return float(numbers[low]) / rows, float(numbers[high]) / rows

    def quantile(self, share: float, level: float) -> tuple[int, int]:
        """The smallest and the largest count that may be the smallest which this share of rows do not exceed."""
        wanted, last = int(np.ceil(share * self.evidence.rows - TIED)), self.evidence.size - 1

        def refused(t: int, number: int, fewer: bool) -> bool:
            """Whether so many rows, or more, cannot well have at most t; or so many, or fewer."""
            tables = _tables(self.evidence, t)
            number_of = np.array([float(number)])
            farther, nearest = tables.farther(tables.measured, number_of)
            if tables.is_fewer(tables.measured, number)[0] != fewer or farther[0] <= 0:
                return False
            if farther[0] > FAR:
                return True
            measured = tables.again(nearest[0])
            again, _ = tables.farther(measured, number_of)
            there = np.where(tables.is_fewer(measured, number) == fewer, again, 0.0)
            return float(farther[0]) > _quantile(there, _surer((1 + level) / 2))

        low = first_where(self.evidence.least, last, lambda t: not refused(t, wanted, fewer=True))
        high = first_where(low, last, lambda t: refused(t, wanted - 1, fewer=False))
        return low, high


@dataclass(frozen=True, eq=False)
class Tables:
    """Numbers of rows with each count, or with several together, and what is measured of them, each in deviations."""

    chances: Floats  # T[cell, seen]
    expected: Floats  # variance of the number of rows that are seen at each value
    upto: Floats  # of each measured number of rows which cells are in it
    law: NoiseLaw  # of its noise
    below: Flags  # cells of counts of at most t
    rows: int
    measured: Floats  # one row

    @cached_property
    def design(self) -> Floats:
        """What is measured of one row in each cell."""
        return np.hstack([self.chances / np.sqrt(self.expected), self.upto.T / np.sqrt(self.law.spread)])

    def farther(self, measured: Floats, numbers: Floats) -> tuple[Floats, Floats]:
        """By how much the nearest table with so many rows up to t is farther off than that of all; and that table."""
        far, nearest = self._nearest(measured, numbers)
        return np.maximum(far - self._nearest(measured, None)[0], 0.0), nearest

    def is_fewer(self, measured: Floats, number: float) -> Flags:
        """Whether the nearest table has fewer rows up to t."""
        found: Flags = self._nearest(measured, None)[1][:, self.below].sum(axis=1) < number
        return found

    def again(self, table: Floats) -> Floats:
        """The same measured of this table, again and again, its rows being fixed."""
        rng = np.random.default_rng(SEED)
        draws = max(FEWEST_DRAWN, DRAWN // len(table))
        upto = np.floor(np.cumsum(table) + 0.5)
        whole = np.diff(upto, prepend=0.0).astype(np.int64)
        seen = np.zeros((draws, self.chances.shape[1]))
        for cell in np.flatnonzero(whole):
            chance = self.chances[cell]
            seen += rng.multinomial(whole[cell], chance / chance.sum(), draws)
        noise = draw_sums(self.law, np.ones(len(self.upto), dtype=np.int64), draws, rng)
        return np.hstack([seen / np.sqrt(self.expected), (self.upto @ whole + noise) / np.sqrt(self.law.spread)])

    def _nearest(self, measured: Floats, numbers: Floats | None) -> tuple[Floats, Floats]:
        """Squared distances and tables: by alternating directions, between sums that are right and no negative numbers.
        At last either side is scaled to its number."""
        inverse, towards, pull = self._free if numbers is None else self._sided
        sides = [(np.ones(len(self.below), dtype=bool), np.full((1, 1), float(self.rows)))]
        if numbers is not None:
            sides = [(self.below, numbers[:, None]), (~self.below, self.rows - numbers[:, None])]
        wanted = np.concatenate([number for _, number in sides], axis=1)
        start = (measured @ self.design.T) @ inverse + wanted @ towards
        found = np.full((len(measured), len(self.below)), self.rows / len(self.below))
        owed = np.zeros_like(found)
        for _ in range(STEPS):
            moved = start + pull * ((found - owed) @ inverse)
            owed += BEYOND * moved + (1 - BEYOND) * found
            found = np.maximum(owed, 0.0)
            owed -= found
        for side, number in sides:
            if side.any():
                whole = found[:, side].sum(axis=1, keepdims=True)
                even = np.broadcast_to(number / side.sum(), (len(found), int(side.sum())))
                found[:, side] = np.where(whole > TIED, found[:, side] * (number / np.maximum(whole, TIED)), even)
        return ((measured - found @ self.design) ** 2).sum(axis=1), found

    @cached_property
    def _free(self) -> Solver:
        return self._solver(np.ones((1, len(self.below))))

    @cached_property
    def _sided(self) -> Solver:
        return self._solver(np.array([self.below, ~self.below], dtype=float))

    def _solver(self, sums: Floats) -> Solver:
        """Of a quadratic whose sums are given: what to multiply its slope by, and the sums; and the penalty."""
        size, curvature = len(self.below), self.design @ self.design.T
        pull = PULL * float(np.trace(curvature)) / size
        corner = np.where(sums.any(axis=1), 0.0, 1.0) * np.eye(len(sums))  # of no cells there is no sum to be given
        whole = np.linalg.inv(np.block([[curvature + pull * np.eye(size), sums.T], [sums, corner]]))
        return whole[:size, :size], whole[size:, :size], pull


def twice_measured(evidence: Evidence) -> TwiceMeasured | None:
    """None where noise is so narrow that an unbiased estimate tells as much, or there are too many counts."""
    if evidence.cumulative is None or evidence.cumulative_law is None:
        return None
    if evidence.only_sums or len(evidence.beyond) or evidence.cumulative_law.spread <= evidence.rows:
        return None
    if evidence.transition is None and evidence.size > LARGEST_MATRIX:
        return None
    return TwiceMeasured(evidence) if len(_cells(evidence, 0)) <= MOST_CELLS else None


def _cells(evidence: Evidence, t: int) -> Integers:
    """The first count of each."""
    assert evidence.cumulative is not None
    fine, size = min(len(evidence.cumulative) + 1, evidence.size), evidence.size
    spread = 0.0 if evidence.law is None else evidence.law.spread
    width = max(1, int(FINE * np.sqrt(spread)))
    starts = np.unique(np.concatenate([np.arange(fine), np.arange(fine, size, width), [t + 1]]))
    found: Integers = starts[(starts >= evidence.least) & (starts < size)]
    return found


@lru_cache(maxsize=KEPT)
def _tables(evidence: Evidence, t: int) -> Tables:
    assert evidence.cumulative is not None and evidence.cumulative_law is not None
    starts = _cells(evidence, t)
    ends = np.append(starts[1:], evidence.size) - 1
    expected = np.maximum(evidence.rows * (evidence.prior @ evidence.matrix), LEAST_EXPECTED)
    upto = (ends[None, :] <= np.arange(len(evidence.cumulative))[:, None]).astype(float)
    upto, told = upto[: evidence.size - 1], evidence.cumulative[: evidence.size - 1]
    spread = evidence.cumulative_law.spread
    measured = np.concatenate([evidence.histogram / np.sqrt(expected), told / np.sqrt(spread)])[None, :]
    chances = evidence.matrix[(starts + ends) // 2]
    return Tables(chances, expected, upto, evidence.cumulative_law, ends <= t, evidence.rows, measured)


def _surer(level: float) -> float:
    """The table that is measured again is not the true one: refused half as often as asked for, tables in two heaps,
    the worst of those tried, are covered as often (at the level itself, down to 86% of 95)."""
    return (1 + level) / 2


def _quantile(values: Floats, level: float) -> float:
    """So far out that one more value is beyond it as often as asked for."""
    return float(np.quantile(values, level, method="weibull"))


def _reach(farther: Floats, cut: Callable[[int], float]) -> int:
    """How many places from the nearest on are not refused, by being farther than their cut; where that is not settled
    in so many tries, some that may be refused, too."""
    inside, outside, guess = 0, len(farther), FIRST_CUT
    for _ in range(TRIES):
        if outside - inside <= 1:
            break
        place = int(np.searchsorted(farther, guess))
        if not inside < place < outside:
            place = inside + 1 if place <= inside else outside - 1
        guess = cut(place)
        inside, outside = (inside, place) if farther[place] > guess else (place, outside)
    return outside - 1
