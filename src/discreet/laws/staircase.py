"""Staircase noise, rounded to integers: less spread than geometric noise at a large epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.laws.law import (
    WIDEST_TABLE,
    add_from_table,
    concave_delta,
    falling_curvature,
    log_odds,
    power_price,
    reach_of,
    register,
    require,
    require_odds,
    require_width,
    scaled,
)
from discreet.numbers import Epsilon
from discreet.privacy import Grade, Loss, Pure, pure_only
from discreet.sample.bits import Bits


@register
@dataclass(frozen=True)
class Staircase:
    """Geng and Viswanath's staircase noise with step share `gamma` < 1/2, rounded to the nearest integer."""

    odds: Fraction
    gamma: Fraction

    name: ClassVar[str] = "staircase"
    pure: ClassVar[bool] = True
    rational: ClassVar[bool] = True
    grade: ClassVar[Grade] = "exact"

    def __post_init__(self) -> None:
        require_odds(self.odds, "staircase")
        require(0 < self.gamma < Fraction(1, 2), "staircase", "its step share must lie between 0 and 1/2")

    @property
    def centre(self) -> tuple[int, int]:
        reach = reach_of(self.odds)
        return -reach, reach

    @property
    def steps(self) -> tuple[Fraction, Fraction]:
        """P(0), and the factor c of P(k) = c odds^-|k| elsewhere."""
        b, half = 1 / self.odds, Fraction(1, 2)
        height = (1 - b) / (2 * (self.gamma + b * (1 - self.gamma)))
        return 2 * height * (self.gamma + b * (half - self.gamma)), height * (
            half + self.gamma + b * (half - self.gamma)
        )

    def below(self, k: int, bits: int) -> tuple[int, int]:
        return scaled((self.chance_below(k), self.chance_below(k)), bits)

    def chance_below(self, k: int) -> Fraction:
        """P(X <= k), exactly."""
        steps = -k if k < 0 else k + 1
        tail = self.steps[1] * (1 / self.odds) ** steps / (1 - 1 / self.odds)
        return tail if k < 0 else 1 - tail

    def masses(self, reach: int) -> Floats:
        masses: Floats = float(self.steps[1]) * np.exp(-log_odds(self.odds) * np.arange(reach + 1))
        masses[0] = float(self.steps[0])
        return masses

    def tails(self, reach: int) -> Floats:
        tails = self.masses(reach) / float(1 - 1 / self.odds)
        tails[0] = float(1 - self.chance_below(-1))
        return tails

    def log_mass(self, values: Floats) -> Floats:
        first, other = (float(step) for step in self.steps)
        logs: Floats = np.where(values == 0, np.log(first), np.log(other) - log_odds(self.odds) * np.abs(values))
        return logs

    @property
    def spread(self) -> float:
        b = 1 / self.odds
        return float(2 * self.steps[1] * b * (1 + b) / (1 - b) ** 3)

    def curvature(self, residual: Floats) -> Floats:
        return falling_curvature(residual, self.odds)

    @property
    def decay(self) -> float | None:
        return None

    @property
    def worst_odds(self) -> Fraction | None:
        centre, factor = self.steps
        first = factor / self.odds
        return max(self.odds, centre / first, first / centre)

    def delta(self, epsilon: Epsilon, shift: int = 1) -> Fraction:
        return concave_delta(self.chance_below, epsilon, shift, beyond=1)

    def price(self, units: int = 1) -> Pure:
        odds = self.worst_odds
        assert odds is not None
        return power_price(odds, units)

    @classmethod
    def calibrated(cls, loss: Loss, units: int = 1) -> Self:
        """With the step share 1/(1+e^(epsilon/2)), the best for the mean absolute error before rounding."""
        each = pure_only(loss, "staircase noise").epsilon.times(Fraction(1, units))
        noise = cls(each.odds(), 1 / (1 + each.times(Fraction(1, 2)).odds()))
        require_width(Fraction(noise.centre[1]), WIDEST_TABLE, "staircase noise")
        return noise

    def add(self, counts: Integers, bits: Bits, top: int | None = None) -> Integers:
        return add_from_table(self, counts, bits, top)
