"""Estimates where groups of different sizes went through different mechanisms: each part by itself, then together.

The noises of rows are independent, so variances of parts add up; so do the biases that damped inverses may leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.estimate.answers import Answer, Estimate, groups_by
from discreet.estimate.evidence import Evidence
from discreet.estimate.intervals import half_width
from discreet.estimate.prefix import Prefix, prefix_of
from discreet.numbers import whole


@dataclass(frozen=True, eq=False)
class OfOneSize:
    """The rows of groups of one size, by their places in the table, and what they tell."""

    rows: Integers
    evidence: Evidence

    @property
    def top(self) -> int:
        assert self.evidence.top is not None, "every group has its size"
        return self.evidence.top

    @cached_property
    def prefix(self) -> Prefix:
        return prefix_of(self.evidence)

    @cached_property
    def unbiased(self) -> tuple[Floats, float, float]:
        """A value for each row whose mean is the true count; the variance of one, and the bias that is left."""
        if self.evidence.law is not None:
            return self.evidence.seen.astype(float), self.evidence.law.spread, 0.0
        matrix = self.evidence.matrix
        counts = np.arange(len(matrix), dtype=float)
        values = np.linalg.lstsq(matrix, counts, rcond=1e-6)[0]
        means = matrix @ values
        variance = float(self.evidence.prior @ (matrix @ values**2 - means**2))
        return values[self.evidence.seen], variance, float(np.abs(means - counts).max())


@dataclass(frozen=True, eq=False)
class SizedEstimate:
    """What a release of groups of their own sizes says. Counts above the size of their group are treated as it."""

    parts: tuple[OfOneSize, ...]
    categories: Any
    level: float = 0.95

    @property
    def number(self) -> int:
        """Of all rows."""
        return sum(len(part.rows) for part in self.parts)

    @property
    def largest(self) -> int:
        return self.parts[-1].top

    def share_above(self, threshold: int) -> Answer:
        """The share of rows whose true count exceeds `threshold`; no group has more than its size."""
        t = whole(threshold, "the threshold", 0)
        above = [part for part in self.parts if part.top > t]
        estimate = sum(len(part.rows) - float(part.prefix.estimate[t]) for part in above)
        found = self._answer(estimate, above, t, sum(len(part.rows) for part in above))
        low, high = found.interval
        return Answer(found.estimate / self.number, (low / self.number, high / self.number), self.level)

    def share_zero(self) -> Answer:
        """The share of rows whose true count is zero."""
        above = self.share_above(0)
        low, high = above.interval
        return Answer(1 - above.estimate, (1 - high, 1 - low), self.level)

    def total(self) -> Answer:
        """The sum of the true counts."""
        most = sum(len(part.rows) * part.top for part in self.parts)
        estimate = most - sum(float(part.prefix.estimate[-1]) for part in self.parts)
        return self._answer(estimate, self.parts, -1, most)

    def mean(self) -> Answer:
        """The mean true count."""
        found = self.total()
        low, high = found.interval
        return Answer(found.estimate / self.number, (low / self.number, high / self.number), self.level)

    def quantile(self, q: float | str) -> Any:
        """Not answered."""
        found = "groups differ in size, so that the quantile of their counts says little"
        raise BadInput(f"the quantile {q} was asked for", found, "Ask for the share of counts above a threshold")

    def by(self, *columns: str) -> dict[Any, Answer]:
        """The total of each group of rows that share a value of a key column, or the values of several."""
        values = groups_by(self.categories, columns)
        places = {value: k for k, value in enumerate(dict.fromkeys(values))}
        group = np.array([places[value] for value in values])
        sums, variances, biases, most = (np.zeros(len(places)) for _ in range(4))
        for part in self.parts:
            seen, variance, bias = part.unbiased
            held = np.bincount(group[part.rows], minlength=len(places))
            sums += np.bincount(group[part.rows], weights=seen, minlength=len(places))
            variances, biases, most = variances + held * variance, biases + held * bias, most + held * part.top
        widths = [half_width(self.level, None, 0.0, float(v)) + b for v, b in zip(variances, biases)]
        return {value: _cut(sums[k], widths[k], most[k], self.level) for value, k in places.items()}

    def rows(self) -> Any:
        """For every row: the keys, the posterior mean and median of its count, and a credible interval.

        The prior is the distribution of counts among groups of its size, as estimated from these.
        """
        from discreet.estimate.posterior import row_estimates

        found = [row_estimates(part.evidence, self.level) for part in self.parts]
        frame = self.categories
        for name in ("mean", "median", "low", "high"):
            column = np.empty(self.number, dtype=getattr(found[0], name).dtype)
            for part, one in zip(self.parts, found):
                column[part.rows] = getattr(one, name)
            frame = frame.append_column(name, [column])
        return frame

    def of_size(self, size: int) -> Estimate:
        """What groups of this size tell by themselves."""
        for part in self.parts:
            if part.top == size:
                return Estimate(part.evidence, self.level)
        known = ", ".join(str(part.top) for part in self.parts[:10])
        raise BadInput(f"groups of {size} were asked for", "there are none", f"There are groups of {known}")

    def _answer(self, estimate: float, parts: Any, t: int, most: float) -> Answer:
        variance = sum(float(part.prefix.rest[t]) for part in parts)
        bias = sum(float(part.prefix.bias[t]) for part in parts)
        width = half_width(self.level, None, 0.0, variance) + bias if parts else 0.0
        return _cut(estimate, width, most, self.level)


def _cut(estimate: float, width: float, most: float, level: float) -> Answer:
    """An interval cut to what is possible."""
    middle, low, high = (float(np.clip(end, 0.0, most)) for end in (estimate, estimate - width, estimate + width))
    return Answer(middle, (low, high), level)
