"""`estimate(release)`: questions about the true table, answered with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from discreet.arrays import Floats
from discreet.errors import BadInput, choose, did_you_mean
from discreet.estimate.evidence import Evidence
from discreet.estimate.intervals import half_width
from discreet.numbers import exact, probability, whole
from discreet.options import spelt
from discreet.ways import way_named

if TYPE_CHECKING:
    from discreet.estimate.lattice import LatticeEstimate
    from discreet.estimate.measured import MeasuredEstimate
    from discreet.record.release import Publication

METHODS = ("published", "likelihood", "bayes")


@dataclass(frozen=True)
class Answer:
    """An estimate and the interval that covers the true value with probability `level`, over the noise."""

    estimate: float
    interval: tuple[float, float]
    level: float
    exact: bool = False  # whether it has no error at all: what is kept is published as it is

    def as_json(self) -> dict[str, object]:
        known = {"estimate": self.estimate, "interval": list(self.interval), "level": self.level}
        return {**known, "exact": self.exact}

    def __str__(self) -> str:
        low, high = self.interval
        if self.exact:
            return f"{self.estimate:.6g} (exact)"
        return f"{self.estimate:.6g} (between {low:.6g} and {high:.6g}, {self.level:.0%})"


class SumsOnly:
    """Estimates of sums of rows, which tell nothing about their distribution."""

    why_only: ClassVar[str]

    def share_above(self, threshold: int) -> NoReturn:
        """Not answered."""
        self._refuse(f"the share of counts above {threshold}")

    def share_zero(self) -> NoReturn:
        """Not answered."""
        self._refuse("the share of zeros")

    def quantile(self, q: float | str) -> NoReturn:
        """Not answered."""
        self._refuse(f"the quantile {q}")

    def _refuse(self, what: str) -> NoReturn:
        raise BadInput(f"{what} was asked for", self.why_only, "Ask for the total, the mean, or totals by a column")


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a release says about the true table. Counts above the release's max_count are treated as that count."""

    evidence: Evidence
    level: float = 0.95

    def share_above(self, threshold: int) -> Answer:
        """The share of rows whose true count exceeds `threshold`."""
        t, rows = whole(threshold, "the threshold", 0), self.evidence.rows
        self._refuse_below(t)
        top = self.evidence.top
        if top is not None and t >= top:
            raise BadInput(
                f"the share of counts above {t} was asked for",
                f"the release treats counts above {top} as {top}, so nothing is known beyond it",
                f"Ask for a threshold below {top}",
            )
        if t > self.evidence.size - 2:
            return Answer(0.0, (0.0, self._share_above(self.evidence.size - 2).interval[1]), self.level)
        return self._share_above(t) if rows else Answer(0.0, (0.0, 0.0), self.level)

    def share_zero(self) -> Answer:
        """The share of rows whose true count is zero."""
        self._refuse_below(0)
        above = self._share_above(0)
        low, high = above.interval
        return Answer(1 - above.estimate, (1 - high, 1 - low), self.level)

    def _refuse_below(self, threshold: int) -> None:
        least = self.evidence.least
        if threshold < least:
            raise BadInput(
                f"the share of counts above {threshold} was asked for",
                f"the release treats counts below {least} as {least}, so nothing is known below it",
                f"Ask for a threshold of {least} or more",
            )

    def mean(self) -> Answer:
        """The mean true count."""
        return _scaled(self.total(), 1 / self.evidence.rows)

    def total(self) -> Answer:
        """The sum of the true counts."""
        rows, steps = self.evidence.rows, self.evidence.size - 1
        if self.evidence.only_sums or len(self.evidence.beyond):
            assert self.evidence.law is not None
            width = half_width(self.level, None, 0.0, rows * self.evidence.law.spread)
            return _between(self.evidence.sum, width, 0.0, np.inf, self.level)
        estimate = rows * steps - float(self._prefix.estimate[-1])
        most = np.inf if self.evidence.top is None else float(rows * steps)
        return _between(estimate, self._prefix.half_width(-1, self.level), 0.0, most, self.level)

    def quantile(self, q: float | str) -> Answer:
        """The smallest count that at least a share q of the rows do not exceed."""
        share = float(probability(q, "the quantile"))
        prefix, wanted = self._monotone, share * self.evidence.rows - 1e-9
        width = self._prefix.half_widths(self.level, np.abs(prefix - wanted))
        ends = (np.maximum.accumulate(prefix + sign * width) for sign in (1, 0, -1))
        low, middle, high = (float(np.searchsorted(end, wanted)) for end in ends)
        if len(self.evidence.beyond) and high >= self.evidence.size - 1:
            found = f"it may be above {self.evidence.size - 1:,}, and larger counts are too few to have a distribution"
            raise BadInput(f"the quantile {q} was asked for", found, "Look at the largest rows one by one")
        return Answer(middle, (low, high), self.level)

    def by(self, *columns: str) -> dict[Any, Answer]:
        """The total of each group of rows that share a value of a key column, or the values of several."""
        from discreet.estimate.groups import group_totals

        self.evidence.require_rows("totals by groups")
        return group_totals(self.evidence, groups_by(self.evidence.categories, columns), self.level)

    def rows(self) -> Any:
        """For every row: the keys, the posterior mean and median of its count, and a credible interval.

        The prior is the published distribution of counts; the evidence is the row's own noisy value.
        """
        from discreet.estimate.posterior import row_estimates

        self.evidence.require_rows("estimates of rows")
        found = row_estimates(self.evidence, self.level)
        frame = self.evidence.categories
        for name in ("mean", "median", "low", "high"):
            frame = frame.append_column(name, [getattr(found, name)])
        return frame

    def posterior(self, value: int) -> Floats:
        """P(true count = 0, 1, ...) for a row whose noisy value (or, without measurements, published count) is this."""
        from discreet.estimate.posterior import posteriors

        chances: Floats = posteriors(self.evidence, np.array([int(value)]))[0]
        return chances

    def distribution(self, method: str = "published") -> Floats:
        """The distribution of counts: as `published`, by maximum `likelihood`, or the posterior mean of `bayes`."""
        from discreet.estimate.deconvolve import most_likely, posterior_mean

        choose(method, METHODS, "method")
        if method == "published":
            return self.evidence.prior
        return most_likely(self.evidence) if method == "likelihood" else posterior_mean(self.evidence)

    @cached_property
    def _prefix(self) -> Any:
        from discreet.estimate.prefix import prefix_of

        return prefix_of(self.evidence)

    @cached_property
    def _monotone(self) -> Floats:
        from scipy.optimize import isotonic_regression

        return np.clip(isotonic_regression(self._prefix.estimate[:-1]).x, 0, self.evidence.rows)

    def _share_above(self, t: int) -> Answer:
        rows = self.evidence.rows
        estimate = rows - float(self._prefix.estimate[t])
        return _scaled(_between(estimate, self._prefix.half_width(t, self.level), 0.0, rows, self.level), 1 / rows)


@spelt
def estimate(release: Any, level: float | str = 0.95) -> Estimate | LatticeEstimate | MeasuredEstimate:
    """The analyst's view of a release, or of the folder it was saved in."""
    number = float(probability(exact(level, "the level"), "the level", open_ends=True))
    publication = publication_of(release)
    try:
        found: Any = way_named(publication.record.way).evidence(publication, number)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, AssertionError) as error:
        raise BadInput("a release was to be estimated from", "its record is damaged", "Run discreet verify") from error
    view: Estimate | LatticeEstimate | MeasuredEstimate = found
    return view


def publication_of(release: Any) -> Publication[Any]:
    """A release, or the folder it was saved in."""
    if isinstance(release, (str, Path)):
        from discreet.io.folder import read_folder

        return read_folder(release)
    from discreet.release import Release

    if not isinstance(release, Release):
        raise BadInput("an estimate was asked for", f"a {type(release).__name__} is not a release", "Give its folder")
    return release.publication


def _between(estimate: float, width: float, least: float, most: float, level: float) -> Answer:
    """An interval cut to what is possible."""
    low, high = (float(np.clip(end, least, most)) for end in (estimate - width, estimate + width))
    return Answer(float(np.clip(estimate, least, most)), (low, high), level)


def _scaled(answer: Answer, factor: float) -> Answer:
    low, high = answer.interval
    return Answer(answer.estimate * factor, (low * factor, high * factor), answer.level)


def groups_by(categories: Any, columns: Sequence[str]) -> list[Any]:
    """The group of every row: the value of one key column, or the values of several."""
    require_columns(columns, categories.column_names)
    values = [categories.column(name).to_pylist() for name in columns]
    return values[0] if len(columns) == 1 else list(zip(*values))


def require_columns(columns: Sequence[str], known: Sequence[str]) -> None:
    if not columns:
        raise BadInput("totals by groups were asked for", "no key column is named", f"Name one of {', '.join(known)}")
    for name in columns:
        if name not in known:
            raise BadInput(f"totals by {name!r} were asked for", "no such key column", did_you_mean(name, known))


def as_json(columns: Sequence[str], answers: Mapping[Any, Answer]) -> list[dict[str, object]]:
    """An object for every group, with its keys."""
    named = [dict(zip(columns, value if len(columns) > 1 else (value,))) for value in answers]
    return [{**keys, **answer.as_json()} for keys, answer in zip(named, answers.values())]
