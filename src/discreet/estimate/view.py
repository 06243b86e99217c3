"""`estimate(release)`: any question about the true table, answered with an interval from what was published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.estimate.answers import Answer, AnswerSet, Cut
from discreet.estimate.asked import RowGroups, groups_of, one_by_one, rows_where, sums_of
from discreet.estimate.possible import KeptBounds, ends_of
from discreet.estimate.told import SumEstimates, ToldSums, whole_ends
from discreet.numbers import level_of
from discreet.options import spelt
from discreet.shown import Shown
from discreet.ways import way_named

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from discreet.estimate.rates import Rates
    from discreet.estimate.shares import CountShares
    from discreet.record.release import Publication


FEWEST_ROWS = 20  # of which a prior is learnt: with that of 8 different ones 80 of 100 intervals cover, of 12 89
LARGEST_WHOLE = 2.0**53  # weight that is a whole number for sure: of larger ones floats have gaps
HEAVIEST = 1e100  # weight of a row: the squares of larger ones are no numbers


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Shown):
    """What a release says about the true table, or about some of its rows (`where`).

    Sums are answered by the best unbiased combination of everything that was measured, so that they add up; what is
    kept is exact. Rows whose noises are independent are answered by their posterior.
    """

    told: ToldSums = field(repr=False)
    categories: Any = field(repr=False)  # the key columns of all rows, as an Arrow table
    level: float = 0.95
    shares: CountShares | None = field(default=None, repr=False)  # where the distribution of counts is told
    why_only_sums: str = "the release tells sums of rows, and nothing of their distribution"
    cut: Cut = Cut()
    largest: Floats | None = field(default=None, repr=False)  # of each row, the count it was cut at
    kept: KeptBounds | None = field(default=None, repr=False)  # what sums can be at all beside the kept ones
    chosen: Integers | None = field(default=None, repr=False)  # the rows that are asked about; None: all
    in_parts: int | None = None  # how many rows there are, where the release is in parts and only values are told
    read_rows: Callable[[], Estimate] | None = field(default=None, repr=False)  # the same from the rows of all parts

    @property
    def rows_asked(self) -> Integers:
        """The places of the rows that are asked about."""
        return np.arange(self.told.rows) if self.chosen is None else self.chosen

    def where(self, values: Mapping[str, Any] | None = None, **more: Any) -> Estimate:
        """The same about some rows: `where(sex="f")`, or `where({"Age group": ["0-4", "5-9"]})` for any of several."""
        wanted = {**values, **more} if isinstance(values, Mapping) else more if values is None else values
        told = self.with_rows("some rows")
        return replace(told, chosen=rows_where(told.categories, told.rows_asked, wanted))

    @spelt
    def total(self) -> Answer:
        """The sum of the true counts."""
        return self._answers(RowGroups(_nameless(), self.rows_asked, np.zeros(len(self.rows_asked), np.int64))).at(0)

    @spelt
    def mean(self) -> Answer:
        """The mean true count."""
        return self.total().times(1 / (self.in_parts or len(self.rows_asked)))

    @spelt
    def by(self, *columns: str) -> AnswerSet:
        """The total of each group of rows that share a value of a key column, or the values of several."""
        told = self.with_rows("totals by groups")
        return told._answers(groups_of(told.categories, columns, told.rows_asked))

    def with_rows(self, what: str) -> Estimate:
        """The same with the rows one by one, which are read where so far only their values are told."""
        if self.in_parts is None:
            return self
        if self.read_rows is None:
            found = "the release is in parts, and of these only their manifest is read"
            raise BadInput(
                f"{what} were asked for", found, "Ask for the total, the mean, shares or quantiles of all rows"
            )
        return self.read_rows()

    @spelt
    def rows(self, covariate: Any = None) -> AnswerSet:
        """Every row by itself: its posterior where noises are independent and rows are not few, else the best unbiased
        estimate.

        The prior is the distribution of counts, as estimated from everything that was measured. With a public
        `covariate`, such as the population, counts are taken to follow it: see `per`.

        Posterior intervals cover on average, over rows and releases. Rows of one release share their prior, and are
        missed together: under wide noise far fewer of one release may be covered, and all of others.
        """
        told = self.with_rows("estimates of rows")
        if covariate is not None:
            return told.per(covariate).counts()
        groups = one_by_one(told.categories, told.rows_asked)
        if told.shares is None or told.shares.number < FEWEST_ROWS:
            return told._answers(groups)
        found, none = told.among.rows(told.rows_asked), np.zeros(len(told.rows_asked), dtype=bool)
        low, high = found.low.astype(float), found.high.astype(float)
        more = {"median": found.median}
        return AnswerSet(groups.keys, found.mean, low, high, none, told.level, told.cut, more=more)

    @spelt
    def region(self, weights: ArrayLike) -> Answer:
        """A weighted sum of the true counts, row by row in the order of the table: 1 and 0 for some rows, or also -1
        for the difference of two groups."""
        told = self.with_rows("sums of rows")
        rows = told._weights(weights)
        found, ends = told.told.sums(rows, told.level), told.possible(rows)
        low, high = found.low, found.high
        if (rows.data == np.rint(rows.data)).all() and np.abs(rows.data).max() <= LARGEST_WHOLE:
            unit = float(np.gcd.reduce(rows.data.astype(np.int64)))  # what all such sums are multiples of
            low, high = (unit * end for end in whole_ends(found.estimate / unit, low / unit, high / unit))
        middle, least, most = (float(np.clip(values, *ends)[0]) for values in (found.estimate, low, high))
        return Answer(middle, (least, most), self.level, bool(found.exact[0]), self.cut, self.told.conservative)

    @spelt
    def deviation(self, weights: ArrayLike) -> float:
        """The standard deviation of `region`."""
        told = self.with_rows("sums of rows")
        return float(told.told.sums(told._weights(weights), told.level).deviation[0])

    @spelt
    def minus(self, other: Estimate, *by: str) -> Any:
        """How much larger the total is than that of the other: rows of the same release, or another release, whose
        noise is independent. With columns: group by group."""
        from discreet.estimate.compare import difference

        return difference(self.with_rows("differences"), _view(other, "a difference").with_rows("differences"), by)

    @spelt
    def over(self, other: Estimate, *by: str) -> Any:
        """The total in parts of that of the other one: a ratio; a share, where the other one has all rows of this one.
        With columns: group by group."""
        from discreet.estimate.compare import ratio

        return ratio(self.with_rows("ratios"), _view(other, "a ratio").with_rows("ratios"), by)

    @spelt
    def share(self, *by: str) -> AnswerSet:
        """The share of each group in the total of all of them."""
        from discreet.estimate.compare import shares_of

        return shares_of(self.with_rows("shares of groups"), by)

    @spelt
    def per(self, denominators: Any) -> Rates:
        """Rates with a public denominator: a file or frame with key columns and one column of numbers."""
        from discreet.estimate.rates import rates

        return rates(self.with_rows("rates"), denominators)

    @spelt
    def rank(self, *by: str) -> AnswerSet:
        """The rank of every group, or row, by its true count, 1 being the largest: all its ranks that are possible, at
        once for all, with probability `level`."""
        from discreet.estimate.ranks import ranks

        return ranks(self.with_rows("ranks"), by)

    @spelt
    def gini(self, *by: str) -> Answer:
        """How unequal the true counts of rows are, or of groups: 0 where all are equal, near 1 where one has all."""
        from discreet.estimate.inequality import gini

        return gini(self.with_rows("rows or groups"), by)

    @spelt
    def dissimilarity(self, column: str, one: Any, other: Any, *over: str) -> Answer:
        """The index of dissimilarity: which part of those with `one` value of a column would have to move, for them to
        be spread over the groups by `over` like those with the `other` value."""
        from discreet.estimate.inequality import dissimilarity

        return dissimilarity(self.with_rows("groups"), column, one, other, over)

    @spelt
    def share_above(self, threshold: int) -> Answer:
        """The share of rows whose true count exceeds `threshold`."""
        return self._told_shares(f"the share of counts above {threshold}").above(threshold)

    @spelt
    def share_zero(self) -> Answer:
        """The share of rows whose true count is zero."""
        return self._told_shares("the share of zeros").zero()

    @spelt
    def quantile(self, q: float | str) -> Answer:
        """The smallest count that at least a share q of the rows do not exceed."""
        found = self._told_shares(f"the quantile {q}").quantile(q)
        reaches = self.cut.top is not None and found.interval[1] >= self.cut.top
        return replace(found, cut=self.cut) if reaches else found

    @spelt
    def posterior(self, value: int) -> Floats:
        """P(true count = 0, 1, ...) for a row whose noisy value (or, without measurements, published count) is this."""
        return self._told_shares("a posterior").posterior(value)

    @spelt
    def distribution(self, method: str = "published") -> Floats:
        """The distribution of counts: as `published`, by maximum `likelihood`, or the posterior mean of `bayes`."""
        return self._told_shares("the distribution of counts").distribution(method)

    @cached_property
    def among(self) -> CountShares:
        """What the rows that are asked about tell of their distribution."""
        assert self.shares is not None
        return self.shares if self.chosen is None else self.shares.among(self.chosen)

    def _told_shares(self, what: str) -> CountShares:
        if self.shares is None:
            do = "Ask for the total, the mean, or totals by a column"
            raise BadInput(f"{what} was asked for", self.why_only_sums, do)
        return self.among

    def sums(self, groups: RowGroups, level: float | None = None) -> SumEstimates:
        """Estimates, deviations and intervals of the sums of groups, not yet cut to what is possible."""
        return self.told.sums(groups.weights(self.told.rows), self.level if level is None else level)

    def _answers(self, groups: RowGroups) -> AnswerSet:
        found, least, most = self.sums(groups), np.zeros(len(groups)), np.full(len(groups), np.inf)
        if self.largest is not None:
            most = sums_of(groups.of, self.largest[groups.rows], len(groups))
        if self.kept is not None and not found.exact.all():
            low, high = self.kept.ends(groups.weights(self.told.rows))
            least, most = np.maximum(least, low), np.minimum(most, high)
        ends = whole_ends(found.estimate, found.low, found.high)
        middle, low, high = (np.clip(values, least, most) for values in (found.estimate, *ends))
        return AnswerSet(groups.keys, middle, low, high, found.exact, self.level, self.cut, self.told.conservative)

    def possible(self, weights: csr_array) -> tuple[Floats, Floats]:
        """The least and the largest that weighted sums of rows can be: no count is negative, or larger than it was cut
        at, and what is kept is kept."""
        low, high = ends_of(weights, self.largest)
        if self.kept is None:
            return low, high
        least, most = self.kept.ends(weights)
        return np.maximum(low, least), np.minimum(high, most)

    def _weights(self, weights: ArrayLike) -> csr_array:
        """As a matrix of one row."""
        from scipy.sparse import csr_array

        try:
            rows = np.asarray(weights, dtype=float)
        except (TypeError, ValueError):
            rows = np.empty(0)
        if rows.shape != (self.told.rows,) or not np.isfinite(rows).all():
            found = f"it is not one number for each of the {self.told.rows} rows"
            raise BadInput("a sum over some rows was asked for", found, "Give 1 for rows that count, 0 for others")
        if np.abs(rows).max(initial=0.0) > HEAVIEST:
            found = f"a weight is larger than {HEAVIEST:g}"
            raise BadInput("a sum over some rows was asked for", found, "Give smaller weights, and multiply afterwards")
        if not rows.any():
            raise BadInput("a sum over some rows was asked for", "all weights are 0", "Give 1 for rows that count")
        return csr_array(rows[None, :])


@spelt
def estimate(release: Any, level: float | str = 0.95) -> Estimate:
    """The analyst's view of a release, or of the folder it was saved in."""
    number = level_of(level)
    folder = getattr(release, "folder", release)
    publication = publication_of(folder)
    found = _told(publication, number)
    if publication.in_parts is None:
        return found

    @cache  # questions about one release know each other by what it told
    def read_rows() -> Estimate:
        from discreet.parts.verify import rows_of_all

        return _told(rows_of_all(folder), number)

    return replace(found, read_rows=read_rows)


def _told(publication: Publication[Any], level: float) -> Estimate:
    try:
        found: Estimate = way_named(publication.record.way).evidence(publication, level)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, AssertionError) as error:
        raise BadInput("a release was to be estimated from", "its record is damaged", "Run discreet verify") from error
    return found


def publication_of(release: Any) -> Publication[Any]:
    """A release, or the folder it was saved in."""
    if isinstance(release, (str, Path)):
        from discreet.io.folder import read_folder

        return read_folder(release)
    from discreet.released import Release

    if not isinstance(release, Release):
        raise BadInput("an estimate was asked for", f"a {type(release).__name__} is not a release", "Give its folder")
    return release.publication


def _view(other: Any, what: str) -> Estimate:
    if not isinstance(other, Estimate):
        found = f"a {type(other).__name__} is no view of a release"
        raise BadInput(f"{what} of two totals was asked for", found, "Give dc.estimate(...) of it")
    return other


class _Nameless:
    """The keys of one group that has none."""

    num_rows = 1
    column_names: Sequence[str] = ()


def _nameless() -> Any:
    return _Nameless()
