"""From noisy rows to the counts that err least: what `publish` does, and `replay` does again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence import Followed, Posterior, follow, posterior
from discreet.distribution.evidence.cells import expected_excess, reach_of
from discreet.distribution.evidence.thresholds import expected_errors
from discreet.distribution.projections import integer_bins
from discreet.laws import NoiseLaw
from discreet.public_map import SeenValues, rank_rows
from discreet.ways.keep_distribution.facts import DECIMALS, KeptDistribution, too_wide
from discreet.ways.keep_distribution.spec import LARGEST_MAPPED

WELL_TOLD = 0.05  # of an error: a twentieth of it, as its standard deviation, leaves a promise within a tenth


@dataclass(frozen=True, eq=False)
class Noisy:
    """All that the public needs to work out the counts: noisy values, and what was measured of their distribution."""

    seen: SeenValues  # the noisy values of all rows
    noise: NoiseLaw
    cut: int | None  # the count that larger ones were treated as
    prefix: Integers | None = None  # noisy numbers of rows with a count of at most 0, 1, ...
    prefix_noise: NoiseLaw | None = None

    @cached_property
    def largest(self) -> int:
        """Noisy values above it are left as they are."""
        return self.cut or min(LARGEST_MAPPED, max(1, int(self.seen.values[-1])))

    def fitted(self) -> Posterior:
        cut = self.cut is not None or int(self.seen.values[-1]) > self.largest
        reach = reach_of(self.noise) if self.noise.decay is None else 0  # geometric noise says no more further out
        lowest, most = np.clip(self.seen.values[[0, -1]], -reach, self.largest + reach).tolist()
        return posterior(
            self.seen.histogram(lowest, most), lowest, self.noise, self.largest, cut=cut,
            prefix=self.prefix, prefix_noise=self.prefix_noise,
        )  # fmt: skip

    @cached_property
    def plain(self) -> Integers:
        """How many rows have a noisy value of at most 0, 1, ..., cut to the range."""
        return self.seen.upto(0, self.largest)

    def followed(self, post: Posterior, lam: float | None, top: int | None) -> Followed:
        """The rows that err least, by the posterior of every row."""
        found = follow(post, self.plain, lam, top)
        if found.lam is None:
            return replace(found, count_error=self.plain_error(found.count_error))
        return self.leaving_the_far(post, found)

    def leaving_the_far(self, post: Posterior, found: Followed) -> Followed:
        """With rows beyond the largest count that is looked for as they are, whatever a measurement of the distribution
        says, and with their errors: those of the noise. So far apart, they move the distribution by as much."""
        near = int(self.seen.at_most(np.array([self.largest]))[0])
        if self.cut is not None or near == self.seen.rows:
            return found
        upto = np.append(np.minimum(found.upto[:-1], near), self.seen.rows)
        left = (1 - near / self.seen.rows) * self.noise_error
        if (upto != found.upto).any():
            found = Followed(upto, found.lam, *(float(error) for error in expected_errors(post, upto)))
        return replace(found, count_error=found.count_error + left, distribution_error=found.distribution_error + left)

    @property
    def noise_error(self) -> float:
        """How far a noisy count is from the true one, on average."""
        return 2 * float(expected_excess(np.zeros(1, dtype=np.int64), self.noise)[0])

    def plain_error(self, expected: float) -> float:
        """The error of the noisy counts as they are, cut to the range; `expected` by their posterior.

        It is that of the noise, less what cutting took from it: right on average for any counts, however few. Where so
        much was cut that this tells little of these rows, their posterior tells more.
        """
        cut = np.abs(self.seen.values - np.clip(self.seen.values, 0, self.cut))
        mean, deviation = self.seen.mean_and_deviation(cut.astype(float))
        own = self.noise_error - mean
        return own if deviation <= WELL_TOLD * own * math.sqrt(self.seen.rows) else expected


@dataclass(frozen=True, eq=False)
class LeastError:
    """The distribution of counts, and how many rows to publish as at most 0, 1, ..."""

    distribution: Floats
    followed: Followed

    @property
    def histogram(self) -> Integers:
        return np.diff(self.followed.upto, prepend=0)


def least_error(noisy: Noisy, lam: float | None, top: int | None) -> LeastError:
    """The rows that err least, by the posterior of every row."""
    if too_wide(noisy.noise):
        return as_they_are(noisy)
    post = noisy.fitted()
    return LeastError(np.round(post.distribution, DECIMALS), noisy.followed(post, lam, top))


def as_they_are(noisy: Noisy) -> LeastError:
    """Noise that drowns every count says nothing: nothing but its own width is to be expected."""
    plain, width = noisy.plain, math.sqrt(noisy.noise.spread)
    mean = width * (math.sqrt(2 / math.pi) if noisy.noise.decay is None else math.sqrt(1 / 2))
    shares = np.diff(plain, prepend=0) / noisy.seen.rows
    return LeastError(np.round(shares, DECIMALS), Followed(plain, None, mean, mean))


def onto(noisy: Noisy, target: Floats) -> LeastError:
    """Onto a distribution that was measured: as many rows for each count as it says; beyond its end as they are."""
    if too_wide(noisy.noise):
        return LeastError(np.round(target, DECIMALS), as_they_are(noisy).followed)
    post, plain = noisy.fitted(), noisy.plain
    ends, last = np.cumsum(integer_bins(target, noisy.seen.rows)), min(len(target) - 1, len(plain) - 1)
    upto = np.maximum.accumulate(np.concatenate([ends[:last], plain[last:]]))
    found = Followed(upto, math.inf, *(float(error) for error in expected_errors(post, upto)))
    return LeastError(np.round(target, DECIMALS), noisy.leaving_the_far(post, found))


def rows_of(facts: KeptDistribution, rows: Integers, seen: SeenValues, before: Integers | None = None) -> Integers:
    """The counts that noisy values become: those of all rows, or of some, of whose values so many come earlier."""
    bins, mechanism = facts.distribution.histogram, facts.mechanism
    if bins is None:
        return rows
    return rank_rows(rows, bins, mechanism.map_seed, beyond=not mechanism.top_code, seen=seen, before=before)
