"""How unequal counts are: Gini's coefficient, and the index of dissimilarity of two kinds of people over areas.

Noise alone makes equal counts unequal, so both come out too large if worked out from estimates as they are. So this is
turned round. Take tables between one without any differences and one with more than were seen: what would the same
noise have shown of each? Those of which it might well have shown what it did show, make the interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import BadInput
from discreet.estimate.answers import Answer
from discreet.estimate.asked import RowGroups, groups_of, one_by_one, rows_where

if TYPE_CHECKING:
    from discreet.estimate.view import Estimate

DRAWS = 400  # of the noise, for every table that is tried
MOST_NUMBERS = 4_000_000  # drawn for every table that is tried; of larger tables fewer draws do
FEWEST = 40  # draws, however large the table
STEPS = 24  # of halving: a part in ten million
FURTHEST = 3.0  # times the differences that were seen
SEED = 1  # any: the noise drawn again is public, and an answer is the same every time

Measure = Callable[[Floats], Floats]  # of tables, a row each


@dataclass(frozen=True, eq=False)
class BetweenTables:
    """Tables from one without differences to one with more than were seen, and noise to be added to them."""

    even: Floats
    uneven: Floats
    noise: Floats  # a draw a row
    cut: bool = True  # whether tables have no negative counts; if not, they differ by no more than was seen

    def table(self, part: float) -> Floats:
        found: Floats = self.even + part * (self.uneven - self.even)
        return np.maximum(found, 0.0) if self.cut else found

    def shown(self, part: float, measure: Measure) -> Floats:
        """What would have been seen of it, again and again."""
        return measure(self.table(part)[None, :] + self.noise)


@dataclass(frozen=True, eq=False)
class NoisySums:
    """Sums of groups with noise, and draws of that noise."""

    values: Floats
    noise: Floats  # a draw a row

    @classmethod
    def of(cls, view: Estimate, groups: RowGroups) -> NoisySums:
        draws = int(np.clip(MOST_NUMBERS // len(groups), FEWEST, DRAWS))
        rng = np.random.default_rng(SEED)
        return cls(*view.told.noisy(groups.weights(view.told.rows), draws, rng))

    @property
    def exact(self) -> bool:
        return not self.noise.any()


def gini(view: Estimate, by: tuple[str, ...]) -> Answer:
    rows = view.rows_asked
    groups = groups_of(view.categories, by, rows) if by else one_by_one(view.categories, rows)
    if len(groups) < 2:
        raise BadInput("Gini's coefficient was asked for", "there is one group only", "Ask for two groups or more")
    seen = NoisySums.of(view, groups)
    if seen.values.sum() <= 0:
        raise BadInput("Gini's coefficient was asked for", "the total may be zero", "Ask for more rows")
    if not by and view.shares is None and not seen.exact:
        found = "the noise of rows is joint, and single rows do not tell how unequal they are"
        raise BadInput("Gini's coefficient of rows was asked for", found, "Ask for that of groups: gini('county')")
    shape = seen.values if by else _like_rows(view, seen.values)
    return _inverted(view, seen, np.full(len(groups), float(shape.mean())), shape, gini_of)


def _like_rows(view: Estimate, seen: Floats) -> Floats:
    """Counts with the distribution that those of the rows have, by evidence, where it is told; else as seen."""
    from discreet.distribution.projections import integer_bins

    if view.shares is None or view.among.by_size:
        return seen
    bins = integer_bins(view.among.distribution("published"), len(seen))
    return np.repeat(np.arange(len(bins)), bins).astype(float)


def dissimilarity(view: Estimate, column: str, one: Any, other: Any, over: tuple[str, ...]) -> Answer:
    """Both kinds of people in every area are told apart by a column."""
    rows = view.rows_asked
    chosen = [rows_where(view.categories, rows, {column: value}) for value in (one, other)]
    if str(one) == str(other):
        raise BadInput("an index of dissimilarity was asked for", "both kinds are the same", "Name two values")
    if column in over:
        found = f"areas are told apart by {column!r}, as people are"
        raise BadInput("an index of dissimilarity was asked for", found, "Name another column for the areas")
    both = np.sort(np.concatenate(chosen))
    groups = groups_of(view.categories, (*over, column), both)
    area = groups_of(groups.keys, over, np.arange(len(groups)))
    kind = np.zeros(len(groups), dtype=np.int64)
    kind[groups.of] = np.isin(groups.rows, chosen[1])
    place = area.of * 2 + kind
    filled = RowGroups(_Numbered(2 * len(area)), groups.rows, place[groups.of])
    seen = NoisySums.of(view, filled)
    pairs = seen.values.reshape(-1, 2)
    totals = pairs.sum(axis=0)
    if (totals <= 0).any():
        raise BadInput("an index of dissimilarity was asked for", "a total may be zero", "Ask for larger groups")
    share = np.maximum(pairs, 0.0).sum(axis=1)
    even = (share / share.sum())[:, None] * totals[None, :]
    return _inverted(view, seen, even.ravel(), seen.values, dissimilarity_of)


@dataclass(frozen=True)
class _Numbered:
    """Keys of so many groups that need no names."""

    num_rows: int


def gini_of(tables: Floats) -> Floats:
    """Mean difference of two, over twice the mean; of each row."""
    size = tables.shape[1]
    ordered = np.sort(tables, axis=1)
    total = np.maximum(ordered.sum(axis=1), 1e-9)
    found: Floats = (ordered @ (2 * np.arange(1, size + 1) - size - 1.0)) / (size * total)
    return found


def dissimilarity_of(tables: Floats) -> Floats:
    """Half of the sum of differences of shares; of each row, whose numbers are of one kind and the other in turns."""
    pairs = tables.reshape(len(tables), -1, 2)
    shares = pairs / np.where(np.abs(totals := pairs.sum(axis=1, keepdims=True)) < 1e-9, 1e-9, totals)
    found: Floats = np.abs(shares[:, :, 0] - shares[:, :, 1]).sum(axis=1) / 2
    return found


def _inverted(view: Estimate, seen: NoisySums, even: Floats, uneven: Floats, measure: Measure) -> Answer:
    """The measure of the tables under which what was seen is neither too small nor too large."""
    shown = float(measure(seen.values[None, :])[0])
    if seen.exact:
        return Answer(shown, (shown, shown), view.level, True, view.cut)
    lines = [BetweenTables(even, uneven, seen.noise, cut) for cut in (True, False)]
    low, middle, high = (np.array([_at(line, measure, shown, share) for line in lines]) for share in _shares(view))
    largest = float(high.max()) or shown  # noise adds differences: what was seen is too large rather than too small
    ends = (float(np.clip(low.min(), 0, 1)), float(np.clip(largest, 0, 1)))
    return Answer(float(np.clip(middle[0], *ends)), ends, view.level, False, view.cut, view.told.conservative)


def _shares(view: Estimate) -> tuple[float, float, float]:
    """Of what noise shows, below what was seen: at the lower end of the interval, in its middle, at its upper end."""
    tail = (1 - view.level) / 2
    return 1 - tail, 0.5, tail


def _at(line: BetweenTables, measure: Measure, shown: float, share: float) -> float:
    """The measure of the table on the line of which this share of what noise shows is below what was seen."""
    return float(measure(line.table(_part(line, measure, shown, share))[None, :])[0])


def _part(line: BetweenTables, measure: Measure, shown: float, share: float) -> float:
    """Along the line, the table of which this share of what the noise shows is below what was seen."""
    low, high = 0.0, FURTHEST
    if float(np.quantile(line.shown(low, measure), share)) >= shown:
        return low
    for _ in range(STEPS):
        part = (low + high) / 2
        if float(np.quantile(line.shown(part, measure), share)) < shown:
            low = part
        else:
            high = part
    return high
