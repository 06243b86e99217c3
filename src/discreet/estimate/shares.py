"""The distribution of counts: shares of rows, quantiles, posteriors of rows; from rows whose noises are independent.

The rows may be those of groups of different sizes, each with a mechanism of its own: what these tell adds up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput, choose
from discreet.estimate.answers import Answer, Cut
from discreet.estimate.evidence import Evidence
from discreet.estimate.few import FewRows, few_rows
from discreet.estimate.independent import independent_rows
from discreet.estimate.intervals import half_width, one_sided, sum_half_width
from discreet.estimate.prefix import Prefix, prefix_of
from discreet.estimate.profile import Likelihood, likelihood_of
from discreet.estimate.sized import RowPart
from discreet.estimate.steady import SteadyNoise, near, ordered
from discreet.estimate.twice import TwiceMeasured, twice_measured
from discreet.estimate.view import Estimate
from discreet.numbers import probability, whole

if TYPE_CHECKING:
    from discreet.estimate.posterior import RowEstimates

TIED = 1e-9  # of a row: shares of rows are compared with sums of floats
LARGEST_SEEN = 1 << 53  # noisy value: floats tell larger ones no longer apart
FEW = 8  # rows: of fewer the likelihood ratio is far from its law for many
METHODS = ("published", "likelihood", "bayes")


@dataclass(frozen=True, eq=False)
class CountShares:
    """What rows tell about the distribution of their counts."""

    parts: tuple[RowPart, ...]
    level: float
    by_size: bool = False  # whether parts are groups of one size each

    @cached_property
    def prefixes(self) -> tuple[Prefix, ...]:
        return tuple(prefix_of(part.evidence) for part in self.parts)

    @property
    def number(self) -> int:
        """Of all rows."""
        return sum(part.evidence.rows for part in self.parts)

    @property
    def evidence(self) -> Evidence:
        if self.by_size:
            found = "groups differ in size, so that one distribution of their counts says little"
            raise BadInput("the distribution of counts was asked for", found, "Ask for the share above a threshold")
        if len(self.parts) > 1:
            found = "columns of counts have noises of their own, and one distribution of all would mix them"
            raise BadInput("the distribution of counts was asked for", found, "Ask about one: where(counted=...)")
        return self.parts[0].evidence

    def among(self, rows: Integers) -> CountShares:
        """What some of the rows tell."""
        some = tuple(part for one in self.parts if (part := one.among(rows)) is not None)
        return CountShares(some, self.level, self.by_size)

    def above(self, threshold: int) -> Answer:
        """The share of rows whose true count exceeds `threshold`."""
        t = whole(threshold, "the threshold", 0)
        parts = [k for k, part in enumerate(self.parts) if self._tells(part.evidence, t)]
        held = sum(self.parts[k].evidence.rows for k in parts)
        estimate, variance, bias, law, weight = 0.0, 0.0, 0.0, None, 0.0
        for k in parts:
            evidence, prefix, place = self._upto(k, t)
            last = len(prefix.estimate) - 2  # of the counts that are told of
            at = min(place, last)
            estimate += 0.0 if place > last else self.parts[k].evidence.rows - float(prefix.estimate[at])
            variance, bias = variance + float(prefix.rest[at]), bias + float(prefix.bias[at])
            law, weight = prefix.law, float(prefix.weight[at])
        single = len(self.parts) == len(parts) == 1
        likelihood = _told_by(evidence) if single else None
        width = half_width(self.level, law, weight, variance) + bias if parts else 0.0
        ends = np.clip([estimate, estimate - width, estimate + width], 0.0, held) / self.number
        middle, low, high = map(float, ends)
        if likelihood is not None:
            least, most = likelihood.share(at, self.level)
            low, high = 0.0 if place > at else 1 - most, 1 - least  # above a larger count there are no more rows
        twice = isinstance(likelihood, TwiceMeasured)  # whose law holds for a table of zeros, too
        if single and not twice and t == 0 and _all_may_be_zero(evidence, self.level):
            low = 0.0
        low, high = whole_rows(low, high, self.number)
        return Answer(float(np.clip(middle, low, high)), (low, high), self.level)

    def _upto(self, k: int, t: int) -> tuple[Evidence, Prefix, int]:
        """What the rows of a part tell of counts up to t, and at which place."""
        evidence = self.parts[k].evidence
        if evidence.steady is None:
            return evidence, self.prefixes[k], t
        first, some = near(evidence, evidence.steady, t)
        return some, prefix_of(some), t - first

    def _tells(self, evidence: Evidence, t: int) -> bool:
        """Whether counts above t may be among the rows; refused where nothing is known of it."""
        if t < evidence.least:
            raise BadInput(
                f"the share of counts above {t} was asked for",
                f"the release treats counts below {evidence.least} as {evidence.least}, so nothing is known below it",
                f"Ask for a threshold of {evidence.least} or more",
            )
        if self.by_size:
            return evidence.top is not None and evidence.top > t
        if evidence.top is not None and t >= evidence.top:
            raise BadInput(
                f"the share of counts above {t} was asked for",
                f"the release treats counts above {evidence.top} as {evidence.top}, so nothing is known beyond it",
                f"Ask for a threshold below {evidence.top}",
            )
        if evidence.steady is None and t > evidence.size - 2 and len(evidence.beyond):
            found = f"shares are told up to {evidence.size - 2:,}; larger counts are too few to have a distribution"
            raise BadInput(f"the share of counts above {t} was asked for", found, "Look at the largest rows one by one")
        return True

    def zero(self) -> Answer:
        """The share of rows whose true count is zero."""
        above = self.above(0)
        low, high = above.interval
        return Answer(1 - above.estimate, (1 - high, 1 - low), self.level)

    def quantile(self, q: float | str) -> Answer:
        """The smallest count that at least a share q of the rows do not exceed."""
        share, evidence = float(probability(q, "the quantile")), self.evidence
        if evidence.steady is not None:
            return self._quantile_near(share, evidence, evidence.steady)
        prefix = self.prefixes[0]
        low, middle, high = self._quantile(share, evidence, prefix)
        if len(evidence.beyond) and high >= evidence.size - 1:
            found = f"it may be above {evidence.size - 1:,}, and larger counts are too few to have a distribution"
            raise BadInput(f"the quantile {q} was asked for", found, "Look at the largest rows one by one")
        return Answer(middle, (low, high), self.level)

    def _quantile_near(self, share: float, evidence: Evidence, noise: SteadyNoise) -> Answer:
        """In a window around that of what is seen, from which it cannot be further than the noise leads."""
        least, most = noise.sure(ordered(evidence, share * evidence.rows - TIED))
        first, some = near(evidence, noise, (least + most) // 2)
        found = (end + first for end in self._quantile(share, some, prefix_of(some)))
        low, middle, high = (float(np.clip(end, least, most)) for end in found)
        return Answer(middle, (low, high), self.level)

    def _quantile(self, share: float, evidence: Evidence, prefix: Prefix) -> tuple[float, float, float]:
        """The lower end, the estimate and the upper end."""
        from scipy.optimize import isotonic_regression

        rising = np.clip(isotonic_regression(prefix.estimate[:-1]).x, 0, evidence.rows)
        wanted = share * evidence.rows - TIED
        likelihood = _told_by(evidence) if 0 < share < 1 else None
        middle = float(np.searchsorted(rising, wanted))
        if likelihood is None:
            width = prefix.half_widths(self.level, np.abs(rising - wanted))
            ends = (np.maximum.accumulate(rising + sign * width) for sign in (1, -1))
            low, high = (float(np.searchsorted(end, wanted)) for end in ends)
        else:
            low, high = map(float, likelihood.quantile(share, self.level))
        if evidence.law is not None and evidence.top is None and high >= evidence.size - 1:
            high = max(high, float(evidence.seen.max()) + one_sided(self.level, evidence.law))
        return low, float(np.clip(middle, low, high)), high

    def rows(self, rows: Integers) -> RowEstimates:
        """For each of these rows: posterior mean and median, and a credible interval."""
        from discreet.estimate.posterior import RowEstimates, row_estimates

        found = [row_estimates(part.evidence, self.level) for part in self.parts]
        order = np.argsort(np.concatenate([part.rows for part in self.parts]), kind="stable")
        order = order[np.searchsorted(np.sort(rows), rows)]
        mean = np.concatenate([one.mean for one in found])[order]
        median, low, high = (
            np.concatenate([getattr(one, name) for one in found])[order] for name in ("median", "low", "high")
        )
        return RowEstimates(mean, median, low, high, self.level)

    def posterior(self, value: int) -> Floats:
        """P(true count = 0, 1, ...) for a row whose noisy value (or, without measurements, published count) is this."""
        from discreet.estimate.posterior import posteriors

        seen = whole(value, "the noisy value", -LARGEST_SEEN, LARGEST_SEEN)
        chances: Floats = posteriors(self.evidence, np.array([seen]))[0]
        return chances

    def distribution(self, method: str) -> Floats:
        """As `published`, by maximum `likelihood`, or the posterior mean of `bayes`."""
        from discreet.estimate.deconvolve import most_likely, posterior_mean

        choose(method, METHODS, "method")
        if method == "published":
            return self.evidence.prior
        return most_likely(self.evidence) if method == "likelihood" else posterior_mean(self.evidence)


def _told_by(evidence: Evidence) -> Likelihood | FewRows | TwiceMeasured | None:
    """What tells more than an unbiased estimate with normal noise, if anything: by the noise and the number of rows."""
    if evidence.cumulative is not None:
        return twice_measured(evidence)
    if evidence.rows < FEW and (few := few_rows(evidence)) is not None:
        return few
    return likelihood_of(evidence) or few_rows(evidence)


def _all_may_be_zero(evidence: Evidence, level: float) -> bool:
    """By the law of the sum of all: of a table of zeros alone the likelihood has no law that Wilks would know."""
    law = evidence.law
    return law is not None and evidence.least == 0 and evidence.sum <= sum_half_width(level, law, evidence.rows)


def whole_rows(low: float, high: float, rows: int) -> tuple[float, float]:
    """The same interval without what no number of rows can be, at its ends; unless there is nothing else in it."""
    first, last = (ceil(low * rows - TIED) / rows, floor(high * rows + TIED) / rows)
    return (first, last) if first <= last else (low, high)


def of_rows(evidence: Evidence, level: float) -> Estimate:
    """The view of a release whose rows all went through one mechanism."""
    part, times = RowPart(np.arange(len(evidence.seen)), evidence), np.ones(len(evidence.seen))
    times = times if evidence.numbers is None else evidence.numbers.astype(float)
    largest = None if evidence.top is None else evidence.top * times
    cut = Cut(evidence.top, evidence.least)
    told, shares = independent_rows(evidence), CountShares((part,), level)
    number = None if evidence.numbers is None else evidence.rows
    return Estimate(told, evidence.categories, level, shares, cut=cut, largest=largest, in_parts=number)
