"""Rows whose noises are independent: sums of rows have errors that are sums of known noises.

Geometric noise of ratio a tells no more below 0, where no count is, than that it is below: given that a noisy value is
0 or less, its law does not depend on the count. So 0 or less stands for its mean, -a/(1-a), which is as unbiased as the
noisy value and varies less; and the same at the upper end, where counts were cut. Whether a row is at an end is itself
an unbiased estimate of the chance of it. So an unbiased estimate of the variance of a sum is: half of a noise's,
a/(1-a)^2, for every row at an end, and all of it for every other row. No prior is needed.

Where the distribution of counts was measured too, it tells the total once more. The best combination moves the rows'
estimates towards it, each by its share of the variance, so that they go on adding up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Flags, Floats, Integers
from discreet.estimate.evidence import Evidence
from discreet.estimate.intervals import MANY_TERMS, NARROW, draw_sums, half_width, has_steps, sum_half_width
from discreet.estimate.told import HALF, SumEstimates, are_signs, around, squared, terms_of
from discreet.laws import NoiseLaw

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from discreet.estimate.steady import SteadyNoise

SMALL_GAIN = 0.05  # of a variance: so little is given up where few noises are looked at by their exact law
UNBIASED = 1e-6  # a bias of published counts that comes from rounding: they are taken as they are
DAMPINGS = (0.0, *np.geomspace(1e-9, 1e1, 11))  # of an inverse, from nothing to nearly everything


@dataclass(frozen=True)
class BestTotal:
    """The total from all that was measured: its error is `weight` noises of `law` and a nearly normal rest."""

    estimate: float
    law: NoiseLaw | None
    weight: float
    rest: float

    @property
    def variance(self) -> float:
        return self.rest + (0.0 if self.law is None else self.weight**2 * self.law.spread)


@dataclass(frozen=True, eq=False)
class IndependentRows:
    """A value for every row whose mean is the true count, but for `slack`, and the variances of these."""

    own: Floats  # from the row alone
    variance: Floats
    law: NoiseLaw | None = None  # of the noise in `plain`, where it is the same in all rows
    plain: Floats | None = None
    slack: Floats | None = None  # how far the mean may be from the truth
    total: BestTotal | None = None  # where more was measured than the rows
    conservative: bool = False
    times: Integers | None = None  # of each value how many rows it is the sum of, where rows are not told one by one

    @property
    def rows(self) -> int:
        return len(self.own)

    @cached_property
    def _gain(self) -> float:
        """By how much a variance falls, for the square of its part of the variance of all: by the measured total."""
        whole = float(self.variance.sum())
        if self.total is None or not self.total.variance < whole:
            return 0.0
        return (whole - self.total.variance) / whole**2

    @cached_property
    def values(self) -> Floats:
        """From all that was measured."""
        if self.total is None or not self._gain:
            return self.own
        missing = self.total.estimate - float(self.own.sum())
        moved: Floats = self.own + self.variance * (missing / float(self.variance.sum()))
        return moved

    def sums(self, weights: csr_array, level: float) -> SumEstimates:
        estimate = weights @ self.values
        alone, part = squared(weights) @ self.variance, weights @ self.variance
        deviation = np.sqrt(np.maximum(alone - self._gain * part**2, 0.0))
        reach = self._factors(weights, level) * deviation + self._half_steps(weights, deviation)
        if self.slack is not None:
            reach = reach + abs(weights) @ self.slack
        found = around(estimate, deviation, reach)
        found = self._by_exact_law(found, weights, level, self._gain * part**2 <= SMALL_GAIN * alone)
        return self._whole(found, weights, level)

    def covariances(self, weights: csr_array, one: csr_array) -> Floats:
        part = one.toarray()[0]
        gained = self._gain * float(part @ self.variance)
        found: Floats = weights @ (self.variance * part) - gained * (weights @ self.variance)
        return found

    def noisy(self, weights: csr_array, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """By the law of the noise; where there is none but that of a matrix, as normal noise."""
        if self.law is not None and self.plain is not None:
            return weights @ self.plain, draw_sums(self.law, terms_of(weights), draws, rng)
        deviation = np.sqrt(squared(weights) @ self.variance)
        return weights @ self.own, rng.normal(size=(draws, len(deviation))) * deviation

    def _factors(self, weights: csr_array, level: float) -> Floats:
        """Deviations to either side: as normal noise has, or the wider of that and one noise where they are few."""
        from discreet.levels.intervals import factor

        few = (terms_of(weights) if self.times is None else weights @ self.times) <= MANY_TERMS
        return np.where(few, factor(level, self.law is None or self.law.pure), factor(level, False))

    def _half_steps(self, weights: csr_array, deviation: Floats) -> Floats:
        """Where the law of a sum is not worked out and it is narrow: few whole numbers are counted in full."""
        if self.law is not None and self.plain is not None:
            return np.zeros(len(deviation))
        largest = np.asarray(abs(weights).max(axis=1).toarray(), dtype=float).ravel()
        return np.where(deviation < NARROW * largest, HALF * largest, 0.0)

    def _by_exact_law(self, found: SumEstimates, weights: csr_array, level: float, alone: Flags) -> SumEstimates:
        """Sums of few rows, or of little noise: the law of as many noises, whatever the counts are."""
        if self.law is None or self.plain is None:
            return found
        terms = terms_of(weights)
        few = np.flatnonzero(has_steps(terms, self.law.spread) & alone & are_signs(weights) & (terms > 0))
        if not len(few):
            return found
        sizes, place = np.unique(terms[few], return_inverse=True)
        reach = np.array([sum_half_width(level, self.law, int(size)) for size in sizes])[place]
        middle, low, high = (weights @ self.plain)[few], found.low.copy(), found.high.copy()
        low[few] = np.minimum(middle - reach, found.estimate[few])
        high[few] = np.maximum(middle + reach, found.estimate[few])
        return SumEstimates(found.estimate, found.deviation, low, high, found.exact)

    def _whole(self, found: SumEstimates, weights: csr_array, level: float) -> SumEstimates:
        """The sum of all rows, where more was measured than these: by the law of what is in it."""
        if not self._gain or self.total is None:
            return found
        all_rows = np.flatnonzero((terms_of(weights) == self.rows) & are_signs(weights))
        same = [int(k) for k in all_rows if abs(weights[[int(k)]].sum()) == self.rows]
        if not same:
            return found
        reach = half_width(level, self.total.law, self.total.weight, self.total.rest)
        low, high = found.low.copy(), found.high.copy()
        low[same], high[same] = found.estimate[same] - reach, found.estimate[same] + reach
        return SumEstimates(found.estimate, found.deviation, low, high, found.exact)


def independent_rows(evidence: Evidence) -> IndependentRows:
    """What the rows of a release say about sums of them."""
    law = evidence.law
    if law is None:
        return _by_matrix(evidence) if evidence.steady is None else _by_steady(evidence, evidence.steady)
    own, variance = at_the_ends(evidence.seen, law, evidence.least, evidence.top)
    if evidence.numbers is None:
        total = _best_total(evidence, float(variance.sum()))
        return IndependentRows(own, variance, law, evidence.seen.astype(float), total=total)
    own, variance = own * evidence.numbers, variance * evidence.numbers
    total = _best_total(evidence, float(variance.sum()))
    return IndependentRows(own, variance, law, total=total, times=evidence.numbers)


def at_the_ends(seen: Integers, law: NoiseLaw, least: int, top: int | None) -> tuple[Floats, Floats]:
    """Of every row an unbiased value, and an unbiased estimate of its variance."""
    own, variance = seen.astype(float), np.full(len(seen), law.spread)
    if law.decay is None:
        return own, variance
    beyond = law.decay / (1 - law.decay)
    below, above = seen <= least, np.zeros(len(seen), dtype=bool) if top is None else seen >= top
    own[below] = least - beyond
    if top is not None:
        own[above] = top + beyond
    variance[below | above] = law.spread / 2
    return own, variance


def _best_total(evidence: Evidence, rows_alone: float) -> BestTotal | None:
    """From the rows and the measured numbers of rows with a count of at most 0, 1, ...: N m - sum F_t is the total."""
    measured, noise, law = evidence.cumulative, evidence.cumulative_law, evidence.law
    if measured is None or noise is None or law is None or evidence.only_sums or len(evidence.beyond):
        return None
    steps = evidence.size - 1
    if law.decay is not None:
        from discreet.estimate.prefix import prefix_of

        prefix = prefix_of(evidence)
        estimate = evidence.rows * steps - float(prefix.estimate[-1])
        return BestTotal(estimate, prefix.law, float(prefix.weight[-1]), float(prefix.rest[-1]))
    if evidence.top is None or not evidence.wholly_measured:
        return None
    again, variance = evidence.rows * steps - float(measured.sum()), noise.spread * steps
    share = rows_alone / (rows_alone + variance)
    estimate = share * again + (1 - share) * evidence.sum
    return BestTotal(estimate, None, 0.0, share * variance)


def _by_matrix(evidence: Evidence) -> IndependentRows:
    """From published counts and the matrix they went through: values that are right on average, as nearly as they can
    be without a variance that costs more; and the variance to be expected of each row."""
    from discreet.estimate.posterior import posteriors

    values, variance, bias = right_on_average(evidence.matrix, evidence.prior, evidence.rows, evidence.least)
    seen, place = np.unique(evidence.seen, return_inverse=True)
    expected = posteriors(evidence, seen) @ variance
    times = np.ones(len(evidence.seen)) if evidence.numbers is None else evidence.numbers
    slack = None if bias <= UNBIASED else np.asarray(bias * times, dtype=float)
    own, variance = values[evidence.seen] * times, expected[place.reshape(-1)] * times
    return IndependentRows(own, variance, slack=slack, times=evidence.numbers)


def _by_steady(evidence: Evidence, noise: SteadyNoise) -> IndependentRows:
    """The same where larger counts all have one noise: what is seen of them, less its bias."""
    from discreet.estimate.posterior import posteriors
    from discreet.estimate.steady import MARGIN, cut_to

    end = noise.settled + MARGIN
    _, some = cut_to(evidence, noise, 0, end)
    matrix = noise.rows(end + noise.down)
    base = np.arange(float(matrix.shape[1])) - noise.bias
    values, variances, bias = right_on_average(matrix, some.prior, evidence.rows, evidence.least, base, end)
    times = np.ones(len(evidence.seen)) if evidence.numbers is None else evidence.numbers
    own, variance = evidence.seen - noise.bias, np.full(len(evidence.seen), noise.variance)
    small = np.flatnonzero(evidence.seen < end)
    if len(small):
        seen, place = np.unique(evidence.seen[small], return_inverse=True)
        own[small], variance[small] = values[evidence.seen[small]], (posteriors(some, seen) @ variances)[place]
    slack = None if bias <= UNBIASED else np.asarray(bias * times, dtype=float)
    return IndependentRows(own * times, variance * times, slack=slack, times=evidence.numbers)


def right_on_average(
    matrix: Floats, prior: Floats, rows: int, least: int = 0, base: Floats | None = None, free: int | None = None
) -> tuple[Floats, Floats, float]:
    """A value for every output; its variance for every true count, those below `least` being raised to it; and the
    largest bias. Values are `base` but for the first so many, where these are given."""
    counts = np.maximum(np.arange(len(matrix), dtype=float), least)
    plain = np.arange(float(matrix.shape[1])) if base is None else base
    if np.abs(matrix @ plain - counts).max() <= UNBIASED:
        return plain, matrix @ plain**2 - (matrix @ plain) ** 2, 0.0
    best: tuple[Floats, Floats, float] | None = None
    lowest = np.inf
    for damping in DAMPINGS:
        if base is None:
            values = _inverse(matrix, prior, counts, damping)
        else:
            values = base.copy()
            values[:free] += _inverse(matrix[:, :free], prior, counts - matrix @ base, damping)
        means = matrix @ values
        variance, bias = np.maximum(matrix @ values**2 - means**2, 0.0), float(np.abs(means - counts).max())
        score = 2 * np.sqrt(rows * float(prior @ variance)) + rows * bias
        if np.isfinite(score) and score < lowest:
            best, lowest = (values, variance, bias), score
    assert best is not None
    return best


def _inverse(matrix: Floats, prior: Floats, counts: Floats, damping: float) -> Floats:
    from discreet.estimate.regularised import SPREAD_OUT, _filters

    if not damping:
        return np.asarray(np.linalg.lstsq(matrix, counts, rcond=1e-6)[0], dtype=np.float64)
    likely = (1 - SPREAD_OUT) * prior + SPREAD_OUT / len(counts)
    return _filters(matrix, counts[:, None], likely, damping)[:, 0]
