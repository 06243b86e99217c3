from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.numbers import probability, text
from discreet.requirements._base import Breach, Prior, Row, entry, square


@dataclass(frozen=True)
class Truth:
    """The true count is published with probability `chance`, whatever it is."""

    chance: Fraction
    kind: ClassVar[str] = "truth"
    alias: ClassVar[str] = ""
    implies: ClassVar[tuple[str, ...]] = ("fair",)

    @property
    def name(self) -> str:
        return f"truth={text(self.chance)}"

    @classmethod
    def read(cls, value: Any, prior: Prior) -> Truth:
        return cls(probability(value, "truth", open_ends=True))

    def rows(self, size: int) -> list[Row]:
        return [Row(((i, i),), (1,), "==", self.chance) for i in range(size)]

    def check(self, weights: Any, total: int) -> Breach | None:
        array = square(weights, total)
        for i in range(len(array)):
            if int(array[i, i]) * self.chance.denominator != total * self.chance.numerator:
                return Breach(((i, i),), f"{entry(array, total, (i, i))} is not {text(self.chance)}")
        return None


REQUIREMENT = Truth
