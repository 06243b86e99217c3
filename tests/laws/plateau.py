"""A law of somebody else: flat on -1..1, geometric beyond. One file, one registration."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.laws import register
from discreet.laws.law import (
    add_from_table,
    concave_delta,
    falling_curvature,
    log_odds,
    power_price,
    reach_of,
    require_odds,
    scaled,
    summed_spread,
)
from discreet.numbers import Epsilon
from discreet.privacy import Grade, Loss, pure_only
from discreet.sample.bits import Bits


@register
@dataclass(frozen=True)
class Plateau:
    """P(k) proportional to odds^-max(|k| - 1, 0)."""

    odds: Fraction

    name: ClassVar[str] = "plateau"
    pure: ClassVar[bool] = True
    rational: ClassVar[bool] = True
    grade: ClassVar[Grade] = "exact"

    def __post_init__(self) -> None:
        require_odds(self.odds, "plateau")

    @property
    def top(self) -> Fraction:
        return 1 / (3 + 2 / (self.odds - 1))

    @property
    def centre(self) -> tuple[int, int]:
        reach = reach_of(self.odds) + 1
        return -reach, reach

    def below(self, k: int, bits: int) -> tuple[int, int]:
        return scaled((self.chance_below(k), self.chance_below(k)), bits)

    def chance_below(self, k: int) -> Fraction:
        if k >= 0:
            return 1 - self.chance_below(-k - 1)
        return self.top * self.odds ** (k + 1) / (1 - 1 / self.odds)

    def masses(self, reach: int) -> Floats:
        return np.exp(self.log_mass(np.arange(reach + 1.0)))

    def tails(self, reach: int) -> Floats:
        return np.array([float(self.chance_below(-k)) for k in range(reach + 1)])

    def log_mass(self, values: Floats) -> Floats:
        found: Floats = np.log(float(self.top)) - log_odds(self.odds) * np.maximum(np.abs(values) - 1, 0)
        return found

    @property
    def spread(self) -> float:
        return summed_spread(self)

    def curvature(self, residual: Floats) -> Floats:
        return falling_curvature(residual, self.odds)

    @property
    def decay(self) -> float | None:
        return None

    @property
    def worst_odds(self) -> Fraction | None:
        return self.odds

    def delta(self, epsilon: Epsilon, shift: int = 1) -> Fraction:
        return concave_delta(self.chance_below, epsilon, shift, beyond=1)

    def price(self, units: int = 1) -> Loss:
        return power_price(self.odds, units)

    @classmethod
    def calibrated(cls, loss: Loss, units: int = 1) -> Self:
        return cls(pure_only(loss, "plateau noise").epsilon.times(Fraction(1, units)).odds())

    def add(self, counts: Integers, bits: Bits, top: int | None = None) -> Integers:
        return add_from_table(self, counts, bits, top)
