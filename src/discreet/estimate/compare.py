"""One total against another: differences, ratios and shares, within a release or between two.

A ratio is no sum, but whether it is r is a question about one: is A - r B zero? All r for which the interval of A - r B
holds zero are the interval of the ratio (Fieller's). It covers as often as the interval of a sum does, also where B is
small; where B itself may be zero, it has no end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Flags, Floats, Integers
from discreet.errors import BadInput
from discreet.estimate.answers import Answer, AnswerSet, Cut
from discreet.estimate.asked import groups_of, require_columns
from discreet.estimate.intervals import NARROW
from discreet.estimate.told import HALF, SumEstimates, ToldSums, are_whole, together, whole_ends

if TYPE_CHECKING:
    from discreet.estimate.view import Estimate

Ends = tuple[Floats, Floats]

ROUNDED = 1e-9  # of a square: what is nearer to zero may be on either side of it
MOST_NAMED = 3  # groups that are missing
DRAWS = 4000  # of both noises: a share of 95% is then known to a third of a hundredth
FAR = 20.0  # whole numbers that a difference reaches: farther out it is as good as normal
MOST_DRAWN = 4000  # differences whose noise is drawn again: 130 MB
SEED = 1  # any: the noise drawn again is public, and an answer is the same every time


@dataclass(frozen=True, eq=False)
class Pair:
    """The same groups on both sides: their sums, and the covariances of these."""

    keys: Any  # an Arrow table; None: one group without a name
    one: SumEstimates
    other: SumEstimates
    covariance: Floats
    cut: Cut
    level: float
    conservative: bool
    apart: SumEstimates  # of the difference
    possible: tuple[Ends, Ends, Ends]  # what one can be at all, and the other, and the difference

    def answers(self, estimate: Floats, low: Floats, high: Floats, exact: Flags) -> Any:
        if self.keys is None:
            ends = (float(low[0]), float(high[0]))
            return Answer(float(estimate[0]), ends, self.level, bool(exact[0]), self.cut, self.conservative)
        return AnswerSet(self.keys, estimate, low, high, exact, self.level, self.cut, self.conservative)


def difference(one: Estimate, other: Estimate, by: tuple[str, ...]) -> Any:
    """one - other, with the interval of the difference itself."""
    pair = paired(one, other, by)
    middle = pair.one.estimate - pair.other.estimate
    ends = whole_ends(middle, pair.apart.low, pair.apart.high)
    middle, low, high = (np.clip(values, *pair.possible[2]) for values in (middle, *ends))
    return pair.answers(middle, low, high, pair.apart.exact)


def ratio(one: Estimate, other: Estimate, by: tuple[str, ...]) -> Any:
    """one / other. A share, where all that is in one is in the other too: then it is at most 1."""
    pair = paired(one, other, by)
    within = one.told is other.told and bool(np.isin(one.rows_asked, other.rows_asked).all())
    return pair.answers(*_quotient(pair, 1.0 if within else np.inf))


def shares_of(view: Estimate, by: tuple[str, ...]) -> AnswerSet:
    """Each group in parts of all of them."""
    groups, whole = groups_of(view.categories, by, view.rows_asked), _all_rows(view)
    weights = groups.weights(view.told.rows)
    parts, everything = view.told.sums(weights, view.level), view.told.sums(whole, view.level)
    columns = (np.repeat(column, len(groups)) for column in vars(everything).values())
    possible = view.possible(weights)
    least, most = (np.repeat(end, len(groups)) for end in view.possible(whole))
    pair = Pair(
        groups.keys, parts, SumEstimates(*columns), view.told.covariances(weights, whole), view.cut, view.level,
        view.told.conservative, parts, (possible, (least, most), possible),
    )  # fmt: skip
    found: AnswerSet = pair.answers(*_quotient(pair, 1.0))
    return found


def _quotient(pair: Pair, most: float) -> tuple[Floats, Floats, Floats, Flags]:
    exact = pair.one.exact & pair.other.exact
    low, high = fieller(pair.one, pair.other, pair.covariance)
    (least, largest), (other_least, other_largest), _ = pair.possible
    whole = np.maximum(pair.other.estimate, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.maximum(pair.one.estimate, 0.0) / (_above_zero(pair.other) if most == np.inf else whole)
        lowest, highest = least / other_largest, largest / other_least
    ends = np.where(np.isfinite(lowest), lowest, 0.0), np.where(np.isnan(highest), most, np.minimum(highest, most))
    same = exact & np.isfinite(middle)
    middle = np.where(np.isfinite(middle), middle, np.where(np.isfinite(high), (low + high) / 2, low))
    middle, low, high = (np.clip(values, *ends) for values in (middle, low, high))
    return middle, np.where(same, middle, low), np.where(same, middle, high), exact


def fieller(one: SumEstimates, other: SumEstimates, covariance: Floats) -> tuple[Floats, Floats]:
    """All r with (A - r B)^2 <= z^2 (var A - 2 r cov + r^2 var B), z from the intervals of both; r is not negative."""
    z = np.maximum(_factor(one), _factor(other))
    a = other.estimate**2 - z**2 * other.variance
    b = one.estimate * other.estimate - z**2 * covariance
    c = one.estimate**2 - z**2 * one.variance
    root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    may_be_zero = a <= ROUNDED * other.estimate**2  # the lower total: the ratio has no largest value
    open_ended = may_be_zero | (other.estimate <= 0)
    low, high = (b - root) / np.where(open_ended, 1.0, a), (b + root) / np.where(open_ended, 1.0, a)
    with np.errstate(divide="ignore", invalid="ignore"):
        surely = np.maximum(one.low, 0.0) / np.maximum(other.high, 0.0)
    low = np.where(open_ended, np.nan_to_num(surely, nan=0.0, posinf=0.0), low)
    return np.maximum(low, 0.0), np.where(open_ended, np.inf, np.maximum(high, 0.0))


def _above_zero(sums: SumEstimates) -> Floats:
    """Where an estimate is not, the middle between 0 and the upper end: 37 over 0 would be told as its lower end."""
    above: Floats = np.where(sums.estimate > 0, sums.estimate, np.maximum(sums.high, 0.0) / 2)
    return above


def _centre(sums: SumEstimates) -> Floats:
    centre: Floats = (sums.low + sums.high) / 2
    return centre


def _reach(sums: SumEstimates) -> Floats:
    reach: Floats = (sums.high - sums.low) / 2
    return reach


def _factor(sums: SumEstimates) -> Floats:
    """Deviations to either side that the interval of a sum has."""
    out = np.zeros(len(sums.estimate))
    found: Floats = np.divide(_reach(sums), sums.deviation, out=out, where=sums.deviation > 0)
    return found


def paired(one: Estimate, other: Estimate, by: tuple[str, ...]) -> Pair:
    """The groups of both, matched by their keys; all must be there on both sides."""
    if not by:
        return _pair(one, other, None, _all_rows(one), _all_rows(other))
    require_columns(by, one.categories.column_names)
    require_columns(by, other.categories.column_names)
    groups, others = (groups_of(view.categories, by, view.rows_asked) for view in (one, other))
    place = _matched(groups.keys, others.keys, by)
    weights = others.weights(other.told.rows)[place]
    return _pair(one, other, groups.keys, groups.weights(one.told.rows), weights)


def _pair(one: Estimate, other: Estimate, keys: Any, weights: Any, others: Any) -> Pair:
    level = min(one.level, other.level)
    first, second = one.told.sums(weights, level), other.told.sums(others, level)
    together = np.zeros(len(first.estimate))
    (least, most), (other_least, other_most) = possible = one.possible(weights), other.possible(others)
    ends = least - other_most, most - other_least
    if one.told is other.told:
        gap = (weights - others).tocsr()
        apart, ends = one.told.sums(gap, level), one.possible(gap)
        together = (first.variance + second.variance - apart.variance) / 2
    else:
        apart = _of_two((one.told, first, weights), (other.told, second, others), level)
    conservative = one.told.conservative or other.told.conservative
    cut = one.cut.against(other.cut)
    return Pair(keys, first, second, together, cut, level, conservative, apart, (*possible, ends))


Side = tuple[ToldSums, SumEstimates, Any]  # of a comparison: what is told, the sums, and their weights


def _of_two(one: Side, other: Side, level: float) -> SumEstimates:
    """The difference of sums of two releases, whose noises are independent: as normal ones; and where they are few
    whole numbers, by drawing them again."""
    (_, first, _), (_, second, _) = one, other
    exact = first.exact & second.exact
    middle = first.estimate - second.estimate
    some = first.exact | second.exact
    deviation = np.hypot(first.deviation, second.deviation)
    step = np.where(deviation < NARROW, HALF, 0.0)  # of nearly whole numbers: each is counted in full
    reach = np.hypot(_reach(first) + step, _reach(second) + step)
    reach = np.where(are_whole(_reach(first), _reach(second)), together(_reach(first), _reach(second)), reach)
    reach = np.where(some, _reach(first) + _reach(second), reach)
    centre = _centre(first) - _centre(second)  # of few rows: that of their noisy values, whose law it is
    few = np.flatnonzero(are_whole(_reach(first), _reach(second)) & (reach <= FAR) & ~some)[:MOST_DRAWN]
    if len(few):
        rng = np.random.default_rng(SEED)
        (own, noise), (others, more) = (told.noisy(weights[few], DRAWS, rng) for told, _, weights in (one, other))
        place = min(DRAWS - 1, int(np.ceil(level * (DRAWS + 1))))
        reach[few], centre[few] = np.partition(np.abs(noise - more), place, axis=0)[place], own - others
    low, high = np.minimum(centre - reach, middle), np.maximum(centre + reach, middle)
    return SumEstimates(middle, deviation, low, high, exact)


def _all_rows(view: Estimate) -> Any:
    """One sum, of all rows that are asked about."""
    from scipy.sparse import csr_array

    rows = view.rows_asked
    return csr_array((np.ones(len(rows)), (np.zeros(len(rows), np.int64), rows)), shape=(1, view.told.rows))


def _matched(keys: Any, others: Any, by: tuple[str, ...]) -> Integers:
    """Of each group its place among the others; refused where one side has groups that the other lacks."""
    from discreet.io.answers import places_of

    place = places_of(keys, others)
    for some, missing, side in (
        (keys, np.flatnonzero(place < 0), "second"),
        (others, np.setdiff1d(np.arange(others.num_rows), place), "first"),
    ):
        if len(missing):
            named = [", ".join(map(str, one.values())) for one in some.take(missing[:MOST_NAMED]).to_pylist()]
            more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
            found = f"the {side} has no rows for {'; '.join(named)}{more}"
            raise BadInput(f"two totals by {', '.join(by)} were compared", found, "Compare rows that both have")
    return place
