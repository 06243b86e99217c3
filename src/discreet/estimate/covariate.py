"""Counts that follow a public covariate: of a population of n a count is Poisson with mean n times the row's rate, and
rates are gamma distributed over the rows. The two numbers of that law are those that make what was published likeliest
(empirical Bayes); then each row has a posterior, from its covariate and its own noisy value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.estimate.evidence import Evidence

if TYPE_CHECKING:
    from discreet.estimate.view import Estimate

FAR = 1e-7  # chance of noise beyond what is looked at
FITTED_ON = 400_000  # cells of rows by possible counts: the law is fitted on so many, the rows taken evenly
CHUNK = 1 << 22  # cells held at once
TINY = 1e-300  # so that no logarithm is infinite
STEPS = 200  # of the search for the two numbers: it takes some sixty
EVENEST = 12.0  # of the logarithm of the shape: rates are then as good as equal


@dataclass(frozen=True)
class RateLaw:
    """Rates are gamma distributed with this mean and shape: the larger the shape, the more alike they are."""

    mean: float
    shape: float


@dataclass(frozen=True, eq=False)
class RowRates:
    """Posteriors of the true counts, and the same over the covariate."""

    law: RateLaw
    mean: Floats
    variance: Floats
    median: Integers
    low: Integers
    high: Integers
    covariate: Floats

    @property
    def rate(self) -> Floats:
        return self.mean / self.covariate

    @property
    def rate_low(self) -> Floats:
        return self.low / self.covariate

    @property
    def rate_high(self) -> Floats:
        return self.high / self.covariate


def row_rates(view: Estimate, covariate: Floats) -> RowRates:
    """Of the rows that are asked about, in the order of the table."""
    shares = view.among
    if shares.by_size:
        found = "groups have sizes of their own, which their counts follow already"
        raise BadInput("counts that follow a covariate were asked for", found, "Ask for rows without it")
    evidence = shares.evidence
    law = fitted(evidence, covariate)
    columns = np.empty((5, evidence.rows))
    step = max(1, CHUNK // _width(evidence))
    for start in range(0, evidence.rows, step):
        part = slice(start, start + step)
        columns[:, part] = _posteriors(evidence, covariate, law, part, view.level)
    mean, variance = columns[:2]
    median, low, high = columns[2:].astype(np.int64)
    return RowRates(law, mean, variance, median, low, high, covariate)


def fitted(evidence: Evidence, covariate: Floats) -> RateLaw:
    """The likeliest law of rates, by a search over its two numbers."""
    from scipy.optimize import minimize

    number = max(100, FITTED_ON // _width(evidence))
    rows = np.unique(np.linspace(0, evidence.rows - 1, min(number, evidence.rows)).astype(np.int64))
    possible, noise = _possible(evidence, rows)
    some = covariate[rows]
    start = max(float(evidence.seen[rows].sum()), 1.0) / float(some.sum())

    def unlikely(numbers: Floats) -> float:
        law = RateLaw(float(np.exp(numbers[0])), float(np.exp(min(numbers[1], EVENEST))))
        return -float(np.log(np.maximum((_prior(possible, some, law, evidence.top) * noise).sum(axis=1), TINY)).sum())

    found = minimize(
        unlikely, np.array([np.log(start), 0.0]), method="Nelder-Mead", options={"maxiter": STEPS, "xatol": 1e-3}
    )
    return RateLaw(float(np.exp(found.x[0])), float(np.exp(min(found.x[1], EVENEST))))


def _prior(possible: Floats, covariate: Floats, law: RateLaw, top: int | None) -> Floats:
    """P(count) under the law of rates: negative binomial. Counts above `top` are it."""
    from scipy.special import betainc, gammaln

    mean, shape = law.mean * covariate[:, None], law.shape
    with np.errstate(invalid="ignore"):
        chance = np.exp(
            gammaln(possible + shape) - gammaln(shape) - gammaln(possible + 1)
            + shape * np.log(shape / (shape + mean)) + possible * np.log(mean / (shape + mean))
        )  # fmt: skip
    chance = np.where(possible < 0, 0.0, chance)
    if top is not None:
        chance = np.where(possible > top, 0.0, chance)
        beyond = betainc(np.maximum(top, 1e-9), shape, mean / (shape + mean))  # P(count >= top)
        chance = np.where(possible == top, beyond, chance)
    return np.asarray(chance)


def _width(evidence: Evidence) -> int:
    """How many counts may be behind one noisy value."""
    if evidence.law is None and evidence.steady is not None:
        return evidence.steady.width
    return evidence.size if evidence.law is None else 2 * _reach(evidence) + 1


def _reach(evidence: Evidence) -> int:
    assert evidence.law is not None
    reach = 8
    while evidence.law.tails(reach)[-1] > FAR:
        reach *= 2
    return int(np.argmax(evidence.law.tails(reach) <= FAR))


def _possible(evidence: Evidence, rows: Integers) -> tuple[Floats, Floats]:
    """Of each row the counts that may be behind what was seen of it, and the chance of that under each."""
    if evidence.law is None and evidence.steady is not None:
        return evidence.steady.behind(evidence.seen[rows])
    if evidence.law is None:
        counts = np.broadcast_to(np.arange(float(evidence.size)), (len(rows), evidence.size))
        return counts, evidence.matrix[:, evidence.seen[rows]].T
    reach = _reach(evidence)
    start = np.maximum(evidence.seen[rows] - reach, 0)
    counts = start[:, None] + np.arange(2.0 * reach + 1)[None, :]
    return counts, np.exp(evidence.law.log_mass(evidence.seen[rows][:, None] - counts))


def _posteriors(evidence: Evidence, covariate: Floats, law: RateLaw, part: slice, level: float) -> Floats:
    """Mean, variance, median and the ends of a credible interval, for some rows."""
    rows = np.arange(evidence.rows)[part]
    possible, noise = _possible(evidence, rows)
    noise = noise / np.maximum(noise.max(axis=1, keepdims=True), TINY)
    chance = np.maximum(_prior(possible, covariate[rows], law, evidence.top) * noise, 0.0)
    chance[:, 0] += TINY
    chance /= chance.sum(axis=1, keepdims=True)
    mean = (chance * possible).sum(axis=1)
    variance = (chance * (possible - mean[:, None]) ** 2).sum(axis=1)
    running, tail = np.cumsum(chance, axis=1), (1 - level) / 2
    ends = [
        np.take_along_axis(
            possible, np.minimum((running < share - 1e-12).sum(axis=1), possible.shape[1] - 1)[:, None], 1
        )[:, 0]
        for share in (0.5, tail, 1 - tail)
    ]  # fmt: skip
    return np.stack([mean, variance, *ends])
