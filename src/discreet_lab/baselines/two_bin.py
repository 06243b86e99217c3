"""Two bins with a fixed total, in closed form: noise conditioned on the total against noise corrected afterwards.

Both bins get noise of scale 2/epsilon, since one person who changes bins changes two counts. The release is
(s1 + u, s2 - u); the laws of u below are exact. `epsilon` is spent if one person changing bins is protected by it.
Continuous (Laplace) as published, and whole (double geometric), which is what a table of counts needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.numbers import Number, exact, positive, probability


@dataclass(frozen=True)
class Continuous:
    """u = weight u1 - (1 - weight) u2, both Laplace(2/epsilon); or, conditioned on a zero sum, u = u1 = -u2."""

    name: str
    epsilon: Fraction
    weight: Fraction | None  # None: conditioned

    @property
    def variance(self) -> Fraction:
        if self.weight is None:
            return 2 / self.epsilon**2
        return 8 * (self.weight**2 + (1 - self.weight) ** 2) / self.epsilon**2

    @property
    def attained_epsilon(self) -> Fraction:
        """The smallest epsilon it satisfies for one person changing bins."""
        return self.epsilon if self.weight is None else self.epsilon / (2 * max(self.weight, 1 - self.weight))

    def density(self, u: float) -> float:
        rate, far = float(self.epsilon), abs(u)
        if self.weight is None:
            return rate / 2 * math.exp(-rate * far)
        heavy = float(max(self.weight, 1 - self.weight))
        if heavy == 0.5:
            return rate / 4 * (1 + rate * far) * math.exp(-rate * far)
        light = 1 - heavy
        slow = heavy * math.exp(-rate * far / (2 * heavy))
        fast = light * math.exp(-rate * far / (2 * light)) if light else 0.0
        return rate * (slow - fast) / (4 * (heavy - light))


def conditioned(epsilon: Number) -> Continuous:
    """Noise given that the total is right: Laplace(1/epsilon)."""
    return Continuous("conditioned", positive(epsilon, "epsilon"), None)


def projected_l2(epsilon: Number) -> Continuous:
    """The nearest pair in l2: half the excess is taken off each bin."""
    return Continuous("projected-l2", positive(epsilon, "epsilon"), Fraction(1, 2))


def projected_l1(epsilon: Number, weight: Number) -> Continuous:
    """A nearest pair in l1: there is one for every weight from 0 to 1."""
    return Continuous("projected-l1", positive(epsilon, "epsilon"), probability(weight, "weight"))


@dataclass(frozen=True)
class Whole:
    """The same with double-geometric noise, P(k) proportional to a^|k| in each bin, a = e^(-epsilon/2), exactly.

    `weight` as above, 0, 1/2 or 1: other mixtures of two whole numbers are not whole. At 1/2, u is a multiple of 1/2.
    """

    name: str
    ratio: Fraction  # a
    weight: Fraction | None

    def chance(self, u: Number) -> Fraction:
        """P(u), a rational function of a."""
        a, at = self.ratio, abs(exact(u, "u"))
        if self.weight == Fraction(1, 2):
            if (2 * at).denominator != 1:
                return Fraction(0)
            k = int(2 * at)
            return ((1 - a) / (1 + a)) ** 2 * a**k * (k + (1 + a**2) / (1 - a**2))
        b = a**2 if self.weight is None else a
        return (1 - b) / (1 + b) * b ** int(at) if at.denominator == 1 else Fraction(0)

    @property
    def variance(self) -> Fraction:
        a = self.ratio
        if self.weight is None:
            return 2 * a**2 / (1 - a**2) ** 2
        return (self.weight**2 + (1 - self.weight) ** 2) * 2 * a / (1 - a) ** 2

    @property
    def attained_odds(self) -> Fraction:
        """e^epsilon for the smallest epsilon it satisfies when one person changes bins, as a rational."""
        return 1 / self.ratio if self.weight in (0, 1) else 1 / self.ratio**2


def whole_laws(ratio: Number) -> tuple[Whole, Whole, Whole]:
    """Conditioned, projected in l2, and projected in l1 by correcting the second bin only; a = `ratio`."""
    a = probability(ratio, "ratio", open_ends=True)
    return (
        Whole("conditioned", a, None),
        Whole("projected-l2", a, Fraction(1, 2)),
        Whole("projected-l1", a, Fraction(1)),
    )
