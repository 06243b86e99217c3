"""Noisy tables of counts, and what is published of them, for tests of the distribution by evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence import Followed, Posterior, follow, posterior
from discreet.laws import Geometric, NoiseLaw

REACH = 12  # standard deviations of noise that are drawn and summed; for geometric noise of epsilon 0.1 and more, 2e-7


def geometric(epsilon: float) -> Geometric:
    return Geometric(Fraction(math.exp(epsilon)))


def drawn(noise: NoiseLaw, size: int, rng: np.random.Generator) -> Integers:
    reach = math.ceil(REACH * math.sqrt(noise.spread)) + 1
    masses = noise.masses(reach)
    both = np.concatenate([masses[:0:-1], masses])
    return rng.choice(np.arange(-reach, reach + 1), size, p=both / both.sum())


@dataclass(frozen=True, eq=False)
class Noisy:
    """True and noisy counts of the same rows."""

    true: Integers
    noisy: Integers
    noise: NoiseLaw

    @property
    def low(self) -> int:
        return int(self.noisy.min())

    @property
    def largest(self) -> int:
        return max(1, int(self.noisy.max()))

    @property
    def histogram(self) -> Integers:
        return np.bincount(self.noisy - self.low)

    @property
    def plain(self) -> Integers:
        return np.cumsum(np.bincount(np.maximum(self.noisy, 0), minlength=self.largest + 1))

    def posterior(self, noise: NoiseLaw | None = None) -> Posterior:
        return posterior(self.histogram, self.low, noise or self.noise, self.largest)

    def errors(self, upto: Integers) -> Floats:
        """Of the counts and of the distribution, where so many rows are published as at most 0, 1, ..."""
        published = np.empty(len(self.true), dtype=np.int64)
        order = np.argsort(self.noisy, kind="stable")
        published[order] = np.searchsorted(upto, np.arange(len(order)), side="right")
        return np.array([np.abs(published - self.true).mean(), np.abs(np.sort(published) - np.sort(self.true)).mean()])


def noised(true: Integers, noise: NoiseLaw, seed: int) -> Noisy:
    rng = np.random.default_rng(seed)
    mixed = rng.permutation(true)
    return Noisy(mixed, mixed + drawn(noise, len(mixed), rng), noise)


def balanced(table: Noisy, noise: NoiseLaw | None = None) -> Followed:
    return follow(table.posterior(noise), table.plain, None)


def chances(shares: Floats, histogram: Floats, low: int, noise: NoiseLaw) -> Floats:
    """P(count <= l | noisy value), a row for every noisy value, by Bayes' rule alone."""
    values, counts = low + np.arange(len(histogram)), np.arange(len(shares))
    joint = shares * np.exp(noise.log_mass((values[:, None] - counts).astype(float)))
    return np.cumsum(joint, axis=1) / joint.sum(axis=1, keepdims=True)
