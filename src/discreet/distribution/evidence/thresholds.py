"""The published table that errs least: for every count l, how many rows are to be published as l or less.

With rows in the order of their noisy values, let G_l rows be published as at most l, and let F_l rows have a count of
at most l. The error of the counts and W1 of the distribution both split over l:
    E sum |count error| + lam E W1 = sum over l of (E rows on the wrong side of l + lam E|G_l - F_l|),
and each term is least at the first G at which the next row's chance of a count of at most l is no more than
1/2 + lam (P(F_l <= G) - 1/2). With lam = 0 rows are published at their posterior medians, with lam = infinity the
distribution is followed whatever it costs, and lam = 1 makes the sum of both errors least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence.posterior import Posterior

HALVINGS = 8  # of the interval of log2 lam, and of the way between two tables
FARTHEST = 12.0  # of log2 lam from 0: beyond it nothing changes
# Rows whose law is learnt from themselves seem better known than they are. Measured on tables of 20 to 300 rows of four
# kinds, each drawn anew, the errors of counts are underestimated by this over the number of rows:
TOO_SURE, PLAIN_TOO_SURE = 6.0, 2.5  # in a followed table, and in the noisy counts as they are
# and the gain of the first over the second, in the error of counts and in W1, is overestimated by this over them:
MARGINS = np.array([5.0, 40.0])
LARGEST_MARGIN = 0.25  # of either error, in tables of few rows
# Where a table nearer to the distribution errs more in counts than the noisy ones do, by this part of their error it
# may, while at least four times as much is gained in W1. Measured it was no more than a hundredth in any table.
HARDLY, BARGAIN = 0.005, 0.25
# The noisy counts as they are may be near the distribution by luck: so they are where most counts are at the ends of a
# range hardly wider than the noise. The less sure a gain in W1 is, the nearer to them the published counts remain:
SURE, SURE_IF_CRAMPED = 1.25, 2.5  # standard deviations that it must have; in such a range W1 was worse with less
PLAUSIBLE = 3.0  # nats: over few counts nobody leaves the noisy ones unless they are 20 times less likely to be right
# Where so few rows are in doubt that a number of rows is far from normal, their distance is worked out row by row:
FEW, FARTHEST_FEW = 2.0, 6.0  # rows: its standard deviation, and its mean, at most
NODES = 12  # so that 24 rows, six standard deviations beyond that mean, are told exactly
LEAST_CHANCE = 1e-6  # so that nothing is divided by 0
FEWEST_ROWS = 30  # fewer are published as they are: any table may differ much from what its like gain on average


@dataclass(frozen=True, eq=False)
class Followed:
    """How many rows to publish as at most 0, 1, ...; `lam` is None where they are the noisy counts as they are."""

    upto: Integers
    lam: float | None
    count_error: float  # expected, a row
    distribution_error: float  # expected W1


def follow(post: Posterior, plain: Integers, lam: float | None, top: int | None = None) -> Followed:
    """The rows to publish as at most 0, 1, ...

    `plain` is that of the noisy counts as they are; from `top` on nothing else is published. With `lam` None the sum of
    both errors is made as small as it can be while neither exceeds that of the noisy counts, or hardly.
    """
    last = len(post.shares) - 1 if top is None else min(top, len(post.shares) - 1)
    if lam is not None:
        return _followed(post, _thresholds(post, lam, plain, last), lam)
    return _neither_worse(post, plain, last)


def unchanged(post: Posterior, plain: Integers) -> Followed:
    """The noisy counts as they are, cut to the range, and the errors to expect of them."""
    return _followed(post, plain, None)


def _followed(post: Posterior, upto: Integers, lam: float | None) -> Followed:
    counts, distribution = (float(error) for error in expected_errors(post, upto))
    return Followed(upto, lam, counts * (1 + (PLAIN_TOO_SURE if lam is None else TOO_SURE) / post.total), distribution)


def _neither_worse(post: Posterior, plain: Integers, last: int) -> Followed:
    """Better in both by a margin, or much better in W1 and hardly worse in counts, or the noisy counts as they are."""
    if post.total < FEWEST_ROWS or post.against < PLAUSIBLE:
        return unchanged(post, plain)
    of_plain = expected_errors(post, plain)
    allowed = of_plain * (1 - np.minimum(MARGINS / post.total, LARGEST_MARGIN))
    lam, upto = 1.0, _thresholds(post, 1.0, plain, last)
    worse = np.flatnonzero(expected_errors(post, upto) > allowed)
    if len(worse):
        lam, upto = _drawn_back(post, plain, last, int(worse[0]), allowed)
        if worse[0] == 0 and lam < BARGAIN:
            allowed = allowed + (HARDLY * of_plain[0], 0.0)
            lam, upto = _drawn_back(post, plain, last, 0, allowed, BARGAIN)
    upto = _as_far_as_sure(post, plain, upto)
    if (expected_errors(post, upto) <= allowed).all():
        return _followed(post, upto, lam)
    return unchanged(post, plain)


def _as_far_as_sure(post: Posterior, plain: Integers, upto: Integers) -> Integers:
    """That table, or as far on the way to it as W1 is surely lower than with the noisy counts."""
    low, high = 0.0, 1.0
    if _surely_nearer(post, upto, plain):
        return upto
    for _ in range(HALVINGS):
        part = (low + high) / 2
        low, high = (part, high) if _surely_nearer(post, _between(plain, upto, part), plain) else (low, part)
    return _between(plain, upto, low)


def _surely_nearer(post: Posterior, upto: Integers, plain: Integers) -> bool:
    """Whether W1 is lower than with the noisy counts for nearly every distribution that may be behind them.

    |G - F| - |P - F| rises or falls with F by 2 wherever F is between G and P, and is constant elsewhere: it varies as
    twice F does, cut to that interval. What F_l and F_k have in common is taken for what their gains have.
    """
    gain = float(np.subtract(*(expected_errors(post, table)[1] for table in (plain, upto)))) * post.total
    low, high = np.minimum(upto, plain)[:-1], np.maximum(upto, plain)[:-1]
    each = 2 * np.sign(plain - upto)[:-1] * _cut_spread(post.mean[:-1], post.spread[:-1], low, high)
    cells = np.bincount(np.searchsorted(post.ends, np.arange(len(each))), weights=each, minlength=len(post.ends))
    sure = SURE_IF_CRAMPED if post.cramped else SURE
    return gain >= sure * math.sqrt(max(0.0, float(cells @ post.together @ cells)))


def _cut_spread(mean: Floats, spread: Floats, low: Integers, high: Integers) -> Floats:
    """The standard deviation of a normal number that is cut to low..high."""
    from scipy.special import ndtr

    below, above = (low - mean) / spread, (high - mean) / spread
    at_low, at_high = (np.exp(-(end**2) / 2) / math.sqrt(2 * math.pi) for end in (below, above))
    under, over = ndtr(below), ndtr(-above)
    first = below * under + above * over + at_low - at_high
    second = below**2 * under + above**2 * over + (1 - under - over) + below * at_low - above * at_high
    return np.asarray(spread * np.sqrt(np.maximum(second - first**2, 0.0)), dtype=float)


def _drawn_back(
    post: Posterior, plain: Integers, last: int, which: int, allowed: Floats, lam: float = 1.0
) -> tuple[float, Integers]:
    """`lam`, or as near to it as leaves one of the errors no larger than allowed; then part of the way to the next
    table."""

    def fine(upto: Integers) -> bool:
        return bool(expected_errors(post, upto)[which] <= allowed[which])

    def table(power: float) -> Integers:
        return _thresholds(post, 2.0**power, plain, last)

    good, bad = -FARTHEST if which == 0 else FARTHEST, math.log2(lam)
    if fine(table(bad)):
        return lam, table(bad)
    if not fine(table(good)):
        return 2.0**good, plain
    for _ in range(HALVINGS):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if fine(table(middle)) else (good, middle)
    near, far, low, high = table(good), table(bad), 0.0, 1.0
    for _ in range(HALVINGS):
        part = (low + high) / 2
        low, high = (part, high) if fine(_between(near, far, part)) else (low, part)
    return 2.0**good, _between(near, far, low)


def _between(one: Integers, other: Integers, part: float) -> Integers:
    return np.rint(one + part * (other - one)).astype(np.int64)


def _thresholds(post: Posterior, lam: float, plain: Integers, last: int) -> Integers:
    """For every count below `last` by the rule; from there on as in `plain`."""
    from scipy.special import ndtr

    rows, counts = post.rows, np.arange(last)
    low, high = np.zeros(last, dtype=np.int64), np.full(last, post.total)
    while (low < high).any():
        middle = (low + high) // 2
        place = np.minimum(np.searchsorted(rows.upto, middle + 0.5), len(rows.upto) - 1)
        surplus = ndtr((middle + 0.5 - post.mean[:last]) / post.spread[:last]) - 0.5
        pull = lam * surplus if math.isfinite(lam) else np.where(surplus >= 0, 1.0, -1.0)
        done = rows.chance(counts, place) <= 0.5 + pull
        high, low = np.where(done, middle, high), np.where(done, low, np.minimum(middle + 1, high))
    return np.maximum.accumulate(np.concatenate([low, plain[last:]]))


def expected_errors(post: Posterior, upto: Integers) -> Floats:
    """The posterior means of the mean absolute error of a count, and of W1."""
    counts = np.arange(len(upto))
    wrong = np.maximum(upto + post.rows.mean - 2 * post.rows.inside(counts, upto.astype(float)), 0.0)[:-1]
    surplus, spread, own = post.mean[:-1] - upto[:-1], post.spread[:-1], np.sqrt(post.rows.own[:-1])
    apart, few = _normal_distance(surplus, spread), (spread < FEW) & (np.abs(surplus) < FARTHEST_FEW)
    apart[few] = np.minimum(apart[few], _distance(surplus[few], wrong[few], own[few], spread[few]))
    return np.array([wrong.sum(), np.minimum(apart, wrong).sum()]) / post.total


def _normal_distance(mean: Floats, spread: Floats) -> Floats:
    """E|X| for a normal X."""
    from scipy.special import ndtr

    gap = mean / spread
    distance: Floats = spread * (gap * (2 * ndtr(gap) - 1) + 2 * np.exp(-gap * gap / 2) / math.sqrt(2 * math.pi))
    return distance


def _distance(mean: Floats, wrong: Floats, own: Floats, spread: Floats) -> Floats:
    """E|A - B| where A and B count the rows that are on the wrong side, above and below: `wrong` of both, A - B = mean.

    As if all of them were as likely to be, so that the variance of A - B is `own` squared, and what is unknown of the
    law came by whole rows, too. |k| is the mean of (1 - cos kt) / (1 - cos t) over t, and for k up to 2 NODES over as
    many midpoints; so the law's own wave is all that is needed.
    """
    turn = (np.arange(NODES) + 0.5) * (math.pi / NODES)
    half, many = 1 - np.cos(turn), np.maximum(wrong, np.abs(mean))
    chance = np.clip(1 - own**2 / np.maximum(many, LEAST_CHANCE), LEAST_CHANCE, 0.5)[:, None]
    fall = (many[:, None] / chance) / 2 * np.log1p(-2 * chance * (1 - chance) * half)
    wave = np.arctan2(chance * np.sin(turn), 1 - chance * half) * mean[:, None] / chance
    unknown = np.maximum(spread**2 - own**2, 0)[:, None] * half
    return np.asarray(((1 - np.exp(fall - unknown) * np.cos(wave)) / half).mean(axis=1), dtype=float)
