"""Rates: counts over public denominators, such as murders for each inhabitant.

Denominators belong to some of the key columns. A group has the sum of those that any of its rows belongs to, each once:
with a population by county, deaths of a county by cause are all over the same population.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.estimate.answers import Answer, AnswerSet
from discreet.estimate.asked import groups_of, one_by_one, sums_of
from discreet.estimate.view import FEWEST_ROWS

if TYPE_CHECKING:
    from discreet.estimate.covariate import RowRates
    from discreet.estimate.view import Estimate

FEWEST_GROUPS = 8  # that a law of rates is made from
WIDEST = 1e6  # variance of noise behind which a law of rates is looked for: every count that it reaches is looked at


@dataclass(frozen=True, eq=False)
class Rates:
    """A view of a release, and a denominator for every row."""

    view: Estimate
    entry: Integers = field(repr=False)  # of each row of the table, its denominator's place
    numbers: Floats = field(repr=False)
    unused: str = ""  # the first of the denominators that no row of the release has, by name

    @property
    def row_numbers(self) -> Floats:
        """Of each row that is asked about."""
        found: Floats = self.numbers[self.entry[self.view.rows_asked]]
        return found

    def total(self) -> Answer:
        """The total over the sum of all denominators."""
        used = np.unique(self.entry[self.view.rows_asked])
        return self.view.total().times(1 / float(self.numbers[used].sum()))

    def by(self, *columns: str) -> AnswerSet:
        """The rate of every group."""
        found = self.view.by(*columns)
        groups = groups_of(self.view.categories, columns, self.view.rows_asked)
        pairs = np.unique(groups.of * len(self.numbers) + self.entry[groups.rows])
        of, entry = np.divmod(pairs, len(self.numbers))
        return _over(found, sums_of(of, self.numbers[entry], len(groups)))

    def rows(self) -> AnswerSet:
        """The rate of every row: by its posterior, where noises are independent and so counts can follow what they are
        over (gamma-Poisson, fitted to the noisy counts); else the count's estimate over it, and of few rows."""
        if self.view.shares is None or self._without_law:
            return _over(self.view.rows(), self.row_numbers)
        found = self.fitted
        keys = one_by_one(self.view.categories, self.view.rows_asked).keys
        none, more = np.zeros(len(found.rate), dtype=bool), {"denominator": self.row_numbers}
        return AnswerSet(
            keys, found.rate, found.rate_low, found.rate_high, none, self.view.level, self.view.cut, more=more
        )

    def counts(self, *columns: str) -> AnswerSet:
        """The true counts of rows, or of groups, if they follow the denominators: posteriors, as of the rates."""
        view = self.view
        if columns:
            return self._of_groups(columns)
        if view.shares is None:
            found = "the noise of its rows is joint, and a posterior is made from independent ones"
            raise BadInput("counts that follow a covariate were asked for", found, "Ask for groups, or without it")
        if self._without_law:
            return view.rows()
        found_rows = self.fitted
        keys = one_by_one(view.categories, view.rows_asked).keys
        none, more = np.zeros(len(found_rows.mean), dtype=bool), {"median": found_rows.median}
        ends = (found_rows.low.astype(float), found_rows.high.astype(float))
        return AnswerSet(keys, found_rows.mean, *ends, none, view.level, view.cut, more=more)

    def _of_groups(self, columns: tuple[str, ...]) -> AnswerSet:
        """From the unbiased sum of each; few groups tell no law, and what is kept is known."""
        from discreet.estimate.covariate import group_counts

        plain, over = self.view.by(*columns), self.by(*columns).more["denominator"]
        if len(plain) < FEWEST_GROUPS or plain.exact.any() or plain.conservative:
            return plain
        told = self.view.sums(groups_of(self.view.categories, columns, self.view.rows_asked))
        mean, low, high = group_counts(told.estimate, told.deviation, over, self.view.level)
        return AnswerSet(plain.keys_frame, mean, low, high, plain.exact, plain.level, plain.cut)

    @property
    def _without_law(self) -> bool:
        """Whether rows are too few to tell a law of rates, or their noise too wide."""
        parts = () if self.view.shares is None else self.view.shares.parts
        wide = any(part.evidence.law is not None and part.evidence.law.spread > WIDEST for part in parts)
        return wide or len(self.view.rows_asked) < FEWEST_ROWS

    @property
    def fitted(self) -> RowRates:
        from discreet.estimate.covariate import row_rates

        return row_rates(self.view, self.row_numbers)


def rates(view: Estimate, denominators: Any) -> Rates:
    """With the denominators of a file, or of a frame; those of no row are not used. Refused where some rows have none,
    or one that is not above 0."""
    from discreet.io.denominators import read_denominators

    return Rates(view, *read_denominators(denominators, view.categories, view.rows_asked))


def _over(found: AnswerSet, numbers: Floats) -> AnswerSet:
    more = {**found.more, "denominator": numbers}
    more.pop("median", None)
    return AnswerSet(
        found.keys_frame, found.estimate / numbers, found.low / numbers, found.high / numbers, found.exact,
        found.level, found.cut, found.conservative, more,
    )  # fmt: skip
