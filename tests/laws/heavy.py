"""A law of somebody else with heavy tails: masses fall by the fifth power of the value. One file, one registration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.laws import register
from discreet.laws.law import add_from_table, require, scaled
from discreet.numbers import Epsilon
from discreet.privacy import Grade, Loss, Pure, pure_only
from discreet.sample.bits import Bits

LEFT_OUT = 2.0**-19  # of the mass, on either side of the centre
FINE = 1 << 20  # parts of a unit that the width is found in


@register
@dataclass(frozen=True)
class Heavy:
    """P(X >= k) proportional to 1 / (a (a + 1) (a + 2) (a + 3)) with a = width + k - 1, for k above 0."""

    width: Fraction

    name: ClassVar[str] = "heavy"
    pure: ClassVar[bool] = True
    rational: ClassVar[bool] = True
    grade: ClassVar[Grade] = "exact"

    def __post_init__(self) -> None:
        require(self.width > 0, "heavy", "its width must be above 0")

    @property
    def odds(self) -> Fraction:
        """Of 0 and 1, and of 1 and 2; further out neighbours differ less."""
        return (self.width + 5) / self.width

    @property
    def above(self) -> Fraction:
        """P(X >= 1)."""
        return 1 / (2 + 4 * self.odds / (self.width + 4))

    @property
    def centre(self) -> tuple[int, int]:
        reach = math.ceil((float(self.width) + 4) * LEFT_OUT**-0.25)
        return -reach, reach

    def below(self, k: int, bits: int) -> tuple[int, int]:
        return scaled((self.chance_below(k), self.chance_below(k)), bits)

    def chance_below(self, k: int) -> Fraction:
        if k >= 0:
            return 1 - self.chance_below(-k - 1)
        shares = ((self.width + j) / (self.width - k - 1 + j) for j in range(4))
        return self.above * math.prod(shares, start=Fraction(1))

    def mass(self, k: int) -> Fraction:
        return self.chance_below(-abs(k)) - self.chance_below(-abs(k) - 1)

    def masses(self, reach: int) -> Floats:
        return np.exp(self.log_mass(np.arange(reach + 1.0)))

    def tails(self, reach: int) -> Floats:
        a, s = float(self.width) + np.arange(float(reach)), float(self.width)
        beyond = float(self.above) * np.prod([(s + j) / (a + j) for j in range(4)], axis=0)
        return np.concatenate([[1 - float(self.above)], beyond])

    def log_mass(self, values: Floats) -> Floats:
        s, far = float(self.width), np.maximum(np.abs(values), 1)
        first = math.log(float(self.above) * 4 / (s + 4))
        fallen = sum(np.log1p((far - 1) / (s + j)) for j in range(5))
        found: Floats = first - fallen + np.where(values == 0, math.log(self.odds), 0.0)
        return found

    @property
    def spread(self) -> float:
        s = self.width
        product = s * (s + 1) * (s + 2) * (s + 3)
        return float(2 * self.above * product * (1 - (2 * s - 1) / (3 * s)) / ((s + 1) * (s + 2)))

    def curvature(self, residual: Floats) -> Floats:
        far, s = np.maximum(np.abs(residual), 1), float(self.width)
        found: Floats = sum(1 / (s + far - 1 + j) for j in range(5)) / far
        return found

    @property
    def decay(self) -> float | None:
        return None

    @property
    def worst_odds(self) -> Fraction | None:
        return self.odds

    def delta(self, epsilon: Epsilon, shift: int = 1) -> Fraction:
        """The outputs that tell a value from the one `shift` higher lie about it: further out all are alike."""
        factor = epsilon.bounds(96)[0]

        def tells(k: int) -> bool:
            return self.mass(k) > factor * self.mass(k - shift)

        if not tells(0):
            return Fraction(0)
        left, right = (self._last(lambda k: tells(-k)), self._last(tells))
        here = self.chance_below(right) - self.chance_below(-left - 1)
        return here - factor * (self.chance_below(right - shift) - self.chance_below(-left - 1 - shift))

    @staticmethod
    def _last(holds: object) -> int:
        low, high = 0, 1
        while holds(high):  # type: ignore[operator]
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if holds(middle) else (low, middle)  # type: ignore[operator]
        return low

    def price(self, units: int = 1) -> Loss:
        return Pure(Epsilon(ratio=self.mass(0) / self.mass(units)))

    @classmethod
    def calibrated(cls, loss: Loss, units: int = 1) -> Self:
        epsilon = pure_only(loss, "heavy noise").epsilon

        def enough(parts: int) -> bool:
            law = cls(Fraction(parts, FINE))
            return epsilon.allows(law.mass(0) / law.mass(units))

        low, high = 1, FINE
        while not enough(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return cls(Fraction(high, FINE))

    def add(self, counts: Integers, bits: Bits, top: int | None = None) -> Integers:
        return add_from_table(self, counts, bits, top)
