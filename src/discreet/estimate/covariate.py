"""Counts that follow a public covariate: of a population of n a count is Poisson with mean n times the row's rate, and
rates are gamma distributed over the rows. The numbers of that law are those that make what was published likeliest
(empirical Bayes); then each row has a posterior, from its covariate and its own noisy value. How far counts follow n is
one of these numbers, a power of n: 1 if twice as many people have twice the count, 0 if n tells nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.estimate.evidence import Evidence
from discreet.estimate.posterior import row_estimates

if TYPE_CHECKING:
    from discreet.estimate.view import Estimate

FAR = 1e-7  # chance of noise beyond what is looked at
FITTED_ON = 400_000  # cells of rows by possible counts: the law is fitted on so many, the rows taken evenly
CHUNK = 1 << 22  # cells held at once
TINY = 1e-300  # so that no logarithm is infinite
STEPS = 200  # of the search for the numbers of the law: it takes some eighty
EVENEST = 12.0  # of the logarithm of the shape: rates are then as good as equal
FURTHEST = 200.0  # of the logarithm of a mean: a covariate that is farther from the others is no number of people
STEEPEST = 1.5  # power of the covariate that counts follow
TRIED_FIRST = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -0.5]])  # steps from the start
UNLIKELY = 1e-3  # beside the likeliest: such laws are left out
MANY = 200  # rows, of which the law is taken as known
AROUND = ((-0.4, 0.0, 0.4), (-1.5, 0.0, 1.5), (-0.7, 0.0, 0.7))  # steps from it
POWERS = (0.0, 0.5, 1.0)  # that are tried for groups
PLAUSIBLE = float(np.exp(-2.0))  # beside the likeliest power: chance alone makes the true one less likely 1 time in 20
SHAPES = np.exp(np.linspace(-3, 9, 13))  # that are tried for groups, from hardly alike to as good as equal
FACTORS = np.exp(np.sinh(np.linspace(-2.3, 2.3, 17)) / 2)  # of the mean, close together near 1: groups share its error
ROUNDS = 8  # in which the mean of rates is found for each shape
REACH, POINTS = 6.0, 241  # deviations to either side, and how many counts are looked at there


@dataclass(frozen=True)
class RateLaw:
    """Rates are gamma distributed with this mean and shape: the larger the shape, the more alike they are."""

    mean: float
    shape: float
    power: float = 1.0  # of the covariate that counts follow

    def means(self, covariate: Floats) -> Floats:
        """Of the counts; a power of the covariate in parts of its typical size, so that it leaves the mean alone."""
        logarithms = np.log(covariate)
        typical = float(logarithms.mean())
        beside = np.clip(self.power * (logarithms - typical), -FURTHEST, FURTHEST)
        found: Floats = np.exp(np.log(self.mean) + typical + beside)
        return found


@dataclass(frozen=True, eq=False)
class RowRates:
    """Posteriors of the true counts, and the same over the covariate."""

    law: RateLaw  # the likeliest
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
    laws = fitted(evidence, covariate)
    columns = np.empty((5, evidence.rows))
    step = max(1, CHUNK // _width(evidence))
    for start in range(0, evidence.rows, step):
        part = slice(start, start + step)
        columns[:, part] = _posteriors(evidence, laws, covariate, part, view.level)
    mean, variance = columns[:2]
    median, low, high = columns[2:].astype(np.int64)
    if evidence.steady is None and not len(evidence.beyond) and _tells_nothing(evidence, laws[0][1], covariate):
        alone = row_estimates(evidence, view.level)
        low, high = np.minimum(low, alone.low), np.maximum(high, alone.high)
    return RowRates(laws[0][1], mean, variance, median, low, high, covariate)


def _tells_nothing(evidence: Evidence, law: RateLaw, covariate: Floats) -> bool:
    """Whether the distribution of counts alone explains what was seen about as well: then counts need not follow the
    covariate, nor any gamma law."""
    means, prior = law.means(covariate), np.append(evidence.prior, 0.0)
    following, alone, step = 0.0, 0.0, max(1, CHUNK // _width(evidence))
    for start in range(0, evidence.rows, step):
        rows = np.arange(evidence.rows)[start : start + step]
        possible, noise = _possible(evidence, rows)
        following += _logarithm(_prior(possible, means[rows], law.shape, evidence) * noise)
        alone += _logarithm(prior[np.minimum(possible, evidence.size).astype(np.int64)] * noise)
    return bool(alone > following + np.log(PLAUSIBLE))


def _logarithm(chances: Floats) -> float:
    """Of how likely all rows are, each by the sum of its chances."""
    return float(np.log(np.maximum(chances.sum(axis=1), TINY)).sum())


def fitted(evidence: Evidence, covariate: Floats) -> list[tuple[float, RateLaw]]:
    """The likeliest law of rates, by a search over its three numbers; where few rows tell it, also those around
    it, each with how likely it is."""
    from scipy.optimize import minimize

    number = max(100, FITTED_ON // _width(evidence))
    rows = np.unique(np.linspace(0, evidence.rows - 1, min(number, evidence.rows)).astype(np.int64))
    possible, noise = _possible(evidence, rows)
    some = covariate[rows]
    seen = max(float(evidence.seen[rows].sum()), 1.0)

    def law_of(numbers: Floats) -> RateLaw:
        mean, shape, power = numbers
        shape, power = np.exp(np.clip(shape, -EVENEST, EVENEST)), np.clip(power, 0.0, STEEPEST)
        return RateLaw(float(np.exp(mean)), float(shape), float(power))

    def unlikely(numbers: Floats) -> float:
        prior = _prior(possible, law_of(numbers).means(some), law_of(numbers).shape, evidence)
        return -_logarithm(prior * noise)

    in_proportion = np.array([np.log(seen / float(some.sum())), 0.0, 1.0])
    all_alike = np.array([np.log(seen / len(rows)) - float(np.log(some).mean()), 0.0, 0.0])
    start = min(in_proportion, all_alike, key=unlikely)
    found = minimize(
        unlikely, start, method="Nelder-Mead",
        options={"maxiter": STEPS, "xatol": 1e-3, "initial_simplex": TRIED_FIRST + start},
    )  # fmt: skip
    near = [found.x] if evidence.rows > MANY else [found.x, *(found.x + step for step in product(*AROUND))]
    unlikelier = np.array([unlikely(numbers) for numbers in near])
    weights = np.exp(unlikelier.min() - unlikelier)
    return [(float(weight), law_of(numbers)) for weight, numbers in zip(weights, near) if weight > UNLIKELY]


def _prior(possible: Floats, means: Floats, shape: float, evidence: Evidence | None = None) -> Floats:
    """P(count) of rows with these means, under the law of rates: negative binomial. Counts that were cut or raised are
    what they were cut or raised to."""
    from scipy.special import betainc, gammaln

    mean = means[:, None]
    with np.errstate(invalid="ignore"):
        chance = np.exp(
            gammaln(possible + shape) - gammaln(shape) - gammaln(possible + 1)
            + shape * np.log(shape / (shape + mean)) + possible * np.log(mean / (shape + mean))
        )  # fmt: skip
    chance = np.where(possible < 0, 0.0, chance)
    top, least = (None, 0) if evidence is None else (evidence.top, evidence.least)
    if top is not None:
        chance = np.where(possible > top, 0.0, chance)
        chance = np.where(possible == top, betainc(max(top, 1e-9), shape, mean / (shape + mean)), chance)  # top or more
    if least:
        chance = np.where(possible < least, 0.0, chance)
        chance = np.where(possible == least, 1 - betainc(least + 1, shape, mean / (shape + mean)), chance)
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


def _posteriors(
    evidence: Evidence, laws: list[tuple[float, RateLaw]], covariate: Floats, part: slice, level: float
) -> Floats:
    """Mean, variance, median and the ends of a credible interval, for some rows: under all laws by how likely they are,
    and as wide as under each that is plausible, since a wrong one misses many rows at once."""
    rows = np.arange(evidence.rows)[part]
    possible, noise = _possible(evidence, rows)
    noise = noise / np.maximum(noise.max(axis=1, keepdims=True), TINY)
    chance, likeliest, tail = np.zeros(possible.shape), max(weight for weight, _ in laws), (1 - level) / 2
    chance[:, 0] = TINY
    lows, highs = [], []
    for weight, law in laws:
        under = np.maximum(_prior(possible, law.means(covariate)[rows], law.shape, evidence) * noise, 0.0)
        under /= np.maximum(under.sum(axis=1, keepdims=True), TINY)
        chance += weight * under
        if weight > PLAUSIBLE * likeliest:
            running = np.cumsum(under, axis=1)
            lows.append(_at_share(possible, running, tail))
            highs.append(_at_share(possible, running, 1 - tail))
    chance /= chance.sum(axis=1, keepdims=True)
    mean = (chance * possible).sum(axis=1)
    variance = (chance * (possible - mean[:, None]) ** 2).sum(axis=1)
    running = np.cumsum(chance, axis=1)
    low, median, high = (_at_share(possible, running, share) for share in (tail, 0.5, 1 - tail))
    return np.stack([mean, variance, median, np.minimum.reduce([low, *lows]), np.maximum.reduce([high, *highs])])


def group_counts(seen: Floats, deviation: Floats, covariate: Floats, level: float) -> Floats:
    """Mean and ends of credible intervals of the true counts of groups, from what is told of each: its unbiased sum.

    Rows of a group are more alike than others, so that posteriors of rows would add up to too narrow a one; the law of
    rates is that of groups. These are few, and a wrong law moves all of them together: the interval holds those under
    every shape and power that are not much less likely than the likeliest.
    """
    spread = np.maximum(deviation, 1e-3)
    counts = _around(seen, spread)
    noise = np.exp(-(((counts - seen[:, None]) / spread[:, None]) ** 2) / 2) * _steps(counts)
    relative = covariate / np.exp(np.log(covariate).mean())
    total, tail = max(float(seen.sum()), 1.0), (1 - level) / 2
    likely, found = [], []
    for power, shape in product(POWERS, SHAPES):
        evidence, chance = _shaped(shape, counts, noise, relative**power, total)
        ends = (_at_share(counts, np.cumsum(chance, axis=1), share) for share in (tail, 1 - tail))
        likely.append(evidence)
        found.append(np.stack([(chance * counts).sum(axis=1), *ends]))
    each, weights = np.array(found), np.exp(np.array(likely) - max(likely))
    plausible = each[weights > PLAUSIBLE]
    mean = np.tensordot(weights, each[:, 0], 1) / weights.sum()
    return np.stack([mean, plausible[:, 1].min(axis=0), plausible[:, 2].max(axis=0)])


def _around(seen: Floats, spread: Floats) -> Floats:
    """Whole numbers near what was seen of each, as many for all; some stand several times where noise is narrow."""
    low, high = np.maximum(seen - REACH * spread, 0.0), np.maximum(seen + REACH * spread, 1.0)
    return np.rint(low[:, None] + (high - low)[:, None] * np.linspace(0, 1, POINTS)[None, :])


def _steps(counts: Floats) -> Floats:
    """How many counts each one stands for: up to the next; none where it stands again."""
    return np.maximum(np.diff(counts, axis=1, append=counts[:, -1:] + 1), 0.0)


def _shaped(shape: float, counts: Floats, noise: Floats, covariate: Floats, total: float) -> tuple[float, Floats]:
    """The logarithm of how likely this shape makes what was seen, whatever the mean, and the posterior of every group:
    every mean around the likeliest one by how likely it is, as if each had been as likely before."""
    mean = total / float(covariate.sum())
    for _ in range(ROUNDS):
        chance = _prior(counts, mean * covariate, shape) * noise
        each = np.maximum(chance.sum(axis=1, keepdims=True), TINY)
        weight = shape / (shape + mean * covariate)  # of a group: its count varies by its rate and by chance
        mean = max(float(weight @ (chance * counts / each).sum(axis=1) / (weight @ covariate)), 1e-12)
    evidence, found = -np.inf, np.zeros_like(counts)
    for factor, apart in zip(FACTORS, np.gradient(FACTORS)):
        chance = _prior(counts, factor * mean * covariate, shape) * noise
        each = np.maximum(chance.sum(axis=1, keepdims=True), TINY)
        likely = float(np.log(each).sum() + np.log(apart))
        both = float(np.logaddexp(evidence, likely))
        evidence, found = both, np.exp(evidence - both) * found + np.exp(likely - both) * chance / each
    return evidence, found


def _at_share(counts: Floats, running: Floats, share: float) -> Floats:
    place = np.minimum((running < share * running[:, -1:] - 1e-12).sum(axis=1), counts.shape[1] - 1)
    found: Floats = np.take_along_axis(counts, place[:, None], 1)[:, 0]
    return found
