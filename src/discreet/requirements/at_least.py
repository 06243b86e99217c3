from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.numbers import text
from discreet.requirements._base import Breach, Cell, Prior, Row, cell_and_chance, entry, inside, square


@dataclass(frozen=True)
class AtLeast:
    """Input I is published as J with probability at least P."""

    cell: Cell
    chance: Fraction
    kind: ClassVar[str] = "at-least"
    alias: ClassVar[str] = ""
    implies: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        return f"at-least={self.cell[0]},{self.cell[1]},{text(self.chance)}"

    @classmethod
    def read(cls, value: Any, prior: Prior) -> AtLeast:
        return cls(*cell_and_chance(value, cls.kind))

    def rows(self, size: int) -> list[Row]:
        inside(self.cell, size, self.name)
        return [Row((self.cell,), (-1,), "<=", -self.chance)]

    def check(self, weights: Any, total: int) -> Breach | None:
        array = square(weights, total)
        inside(self.cell, len(array), self.name)
        if not int(array[self.cell]) * self.chance.denominator < total * self.chance.numerator:
            return None
        return Breach((self.cell,), f"{entry(array, total, self.cell)} is below {text(self.chance)}")


REQUIREMENT = AtLeast
