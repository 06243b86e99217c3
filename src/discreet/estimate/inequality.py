"""How unequal counts are: Gini's coefficient, and the index of dissimilarity of two kinds of people over areas.

Noise alone makes equal counts unequal, so both come out too large if worked out from estimates as they are. So this is
turned round. Take tables between one without any differences and one with more than were seen: what would the same
noise have shown of each? Those of which it might well have shown what it did show, make the interval.

How much noise adds depends on how many groups are alike, which noise hides. So there are two such lines of tables: one
towards what was seen, where no two are alike, and one where all are alike that noise alone may have made different.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import BadInput
from discreet.estimate.answers import Answer
from discreet.estimate.asked import RowGroups, groups_of, one_by_one, require_columns, rows_where, sums_of
from discreet.io.coded import numbers_of

if TYPE_CHECKING:
    from discreet.estimate.view import Estimate

DRAWS = 400  # of the noise, for every table that is tried
MOST_NUMBERS = 4_000_000  # drawn for every table that is tried; of larger tables fewer draws do
FEWEST = 40  # draws, however large the table
STEPS = 14  # of halving: a part in five thousand, far less than the draws tell
ROUNDED = 12  # places: a table without differences has none, and not those of its rounding
NOISY = 0.95  # of noises are smaller than what is taken to be noise alone
FURTHEST = 3.0  # times the differences that were seen
FEW = 5  # groups: of so few the tables that are tried are not like the true one
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

    @property
    def variance(self) -> Floats:
        found: Floats = np.maximum(self.noise.var(axis=0), 1e-12)
        return found

    @property
    def noise_alone(self) -> float:
        """How large the sum of squared noises, each in deviations, hardly ever is."""
        return float(np.quantile((self.noise**2 / self.variance).sum(axis=1), NOISY))


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
    if view.told.conservative and not seen.exact:
        return _by_bounds(view, groups, float(gini_of(seen.values[None, :])[0]), gini_between)
    shape = seen.values if by else _like_rows(view, seen.values)
    even = np.full(len(groups), float(shape.mean()))
    answer = _inverted(view, seen, even, (shape, merged(seen) if by else shape), gini_of, 1 - 1 / len(groups))
    if seen.exact or len(groups) > FEW:
        return answer
    low, high = answer.interval
    return replace(answer, interval=(low, max(high, largest_gini(seen, _shares(view)[2]))))


def largest_gini(seen: NoisySums, tail: float) -> float:
    """The largest coefficient that what was seen allows for, however few groups there are and however wide the noise.

    Of a table with the coefficient g or more, the differences less g times their sum are not below 0 in its true order;
    in the order that was seen they come out larger still. So g is refused where they are below what noise alone makes
    of 0."""
    size, order = len(seen.values), np.argsort(seen.values, kind="stable")
    slopes = np.empty(size)
    slopes[order] = 2 * np.arange(1, size + 1) - size - 1.0

    def refused(g: float) -> bool:
        weights = slopes - g * size
        return float(seen.values @ weights) < float(np.quantile(seen.noise @ weights, tail, method="weibull"))

    low, high = 0.0, 1 - 1 / size
    if not refused(high):
        return high
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if refused(middle) else (middle, high)
    return high


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
    require_columns(over, [name for name in view.categories.column_names if name != column])
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
    if view.told.conservative and not seen.exact:
        return _by_bounds(view, filled, float(dissimilarity_of(seen.values[None, :])[0]), dissimilarity_between)
    share = np.maximum(pairs, 0.0).sum(axis=1)
    even = (share / share.sum())[:, None] * totals[None, :]
    answer = _inverted(view, seen, even.ravel(), (seen.values, mixed(seen)), dissimilarity_of)
    drawn = seen.noise.reshape(len(seen.noise), -1, 2).sum(axis=1)
    may_be_zero = totals <= np.quantile(drawn, _shares(view)[0], axis=0, method="weibull")
    return replace(answer, interval=(answer.interval[0], 1.0)) if may_be_zero.any() else answer


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


Between = Callable[[Floats, Floats, Floats, Floats], tuple[float, float]]  # of groups and totals low, high: the ends


def _by_bounds(view: Estimate, groups: RowGroups, shown: float, between: Between) -> Answer:
    """Where noise has a bias that is only bounded, drawing it again shows nothing: from the intervals of all groups and
    of the total of each kind, which hold at once."""
    kinds = 2 if between is dissimilarity_between else 1
    totals = RowGroups(_Numbered(kinds), groups.rows, groups.of % kinds)
    level = 1 - (1 - view.level) / (len(groups) + kinds)
    parts, whole = (view.sums(some, level) for some in (groups, totals))
    ends = between(*(np.maximum(end, 0.0) for end in (parts.low, parts.high, whole.low, whole.high)))
    return Answer(float(np.clip(shown, *ends)), ends, view.level, False, view.cut, True)


def gini_between(low: Floats, high: Floats, least: Floats, most: Floats) -> tuple[float, float]:
    """The differences of every two groups, the least and the largest, over the total."""
    size, middle, reach = len(low), (low + high) / 2, (high - low) / 2
    surely = sum(float(np.maximum(low[k] - high, 0.0).sum()) for k in range(size))
    perhaps = float(gini_of(middle[None, :])[0]) * size * float(middle.sum()) + (size - 1) * float(reach.sum())
    largest = perhaps / (size * float(least[0])) if least[0] > 0 else 1.0
    return surely / max(size * float(most[0]), 1e-9), min(largest, 1 - 1 / size)


def dissimilarity_between(low: Floats, high: Floats, least: Floats, most: Floats) -> tuple[float, float]:
    """The same of the shares of both kinds in every area."""
    if not (least > 0).all():
        return 0.0, 1.0
    (first, other), (upto, others) = (low.reshape(-1, 2) / most).T, (high.reshape(-1, 2) / least).T
    surely = np.maximum(np.maximum(first - others, other - upto), 0.0).sum() / 2
    return float(surely), min(1.0, float(np.maximum(upto - other, others - first).sum() / 2))


def merged(seen: NoisySums) -> Floats:
    """What was seen, with groups put together as far as noise alone may have made them differ."""
    return _put_together(seen.values, seen.variance, np.ones(len(seen.values)), seen.noise_alone)


def mixed(seen: NoisySums) -> Floats:
    """What was seen, with areas of one mixture as far as noise alone may have made theirs differ."""
    pairs, (first, second) = seen.values.reshape(-1, 2), seen.variance.reshape(-1, 2).T
    people = np.maximum(pairs.sum(axis=1), np.sqrt(first + second))
    overall = float(pairs[:, 0].sum() / pairs.sum())
    variance = ((1 - overall) ** 2 * first + overall**2 * second) / people**2
    share = _put_together(np.clip(pairs[:, 0] / people, 0, 1), variance, people, seen.noise_alone / 2)
    return np.stack([share * people, (1 - share) * people], axis=1).ravel()


def _put_together(values: Floats, variance: Floats, sizes: Floats, most: float) -> Floats:
    """Means of those that come together first where all differences are made smaller, the path of which is a monotone
    regression; as many as differ from them by no more than this, in squared deviations."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(values, kind="stable")
    ordered, weights = values[order], sizes[order]
    pull, found = np.arange(len(values)) - (len(values) - 1) / 2, ordered
    low, high = 0.0, float(np.ptp(values))
    for _ in range(STEPS):
        middle = (low + high) / 2
        group = numbers_of(isotonic_regression(ordered - middle * pull).x)[0]
        size = np.maximum(sums_of(group, weights, len(values)), 1e-12)
        means = (sums_of(group, ordered * weights, len(values)) / size)[group]
        if float(((ordered - means) ** 2 / variance[order]).sum()) <= most:
            low, found = middle, means
        else:
            high = middle
    out = np.empty(len(values))
    out[order] = found
    return out


def _inverted(
    view: Estimate, seen: NoisySums, even: Floats, shapes: tuple[Floats, ...], measure: Measure, most: float = 1.0
) -> Answer:
    """The measure of the tables under which what was seen is neither too small nor too large; it is `most` at most."""
    shown = float(measure(seen.values[None, :])[0])
    if seen.exact:
        return Answer(shown, (shown, shown), view.level, True, view.cut)
    lines = [BetweenTables(even, shape, seen.noise, cut) for shape in shapes for cut in (True, False)]
    found = np.array([[_at(line, measure, shown, share) for share in _shares(view)] for line in lines])
    found = np.round(found, ROUNDED)
    found[:, np.isnan(found).all(axis=0)] = shown
    low, high = np.nanmin(found[:, 0]), np.nanmax(found[:, 2])
    largest = float(high) or shown  # noise adds differences: what was seen is too large rather than too small
    ends = (float(np.clip(low, 0, most)), float(np.clip(largest, 0, most)))
    middle = float(np.nanmean(found[:, 1]))
    return Answer(float(np.clip(middle, *ends)), ends, view.level, False, view.cut, view.told.conservative)


def _shares(view: Estimate) -> tuple[float, float, float]:
    """Of what noise shows, below what was seen: at the lower end of the interval, in its middle, at its upper end."""
    tail = (1 - view.level) / 2
    return 1 - tail, 0.5, tail


def _at(line: BetweenTables, measure: Measure, shown: float, share: float) -> float:
    """The measure of the table on the line of which this share of what noise shows is below what was seen."""
    part = _part(line, measure, shown, share)
    return float("nan") if part is None else float(measure(line.table(part)[None, :])[0])


def _part(line: BetweenTables, measure: Measure, shown: float, share: float) -> float | None:
    """Along the line, the table of which this share of what the noise shows is below what was seen; None where even the
    most uneven one shows less."""

    def below(part: float) -> bool:
        return float(np.quantile(line.shown(part, measure), share, method="weibull")) < shown

    low, high = 0.0, FURTHEST
    if not below(low):
        return low
    if below(high):
        return None
    for _ in range(STEPS):
        part = (low + high) / 2
        low, high = (part, high) if below(part) else (low, part)
    return high
