from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.errors import BadInput
from discreet.numbers import whole, whole_of
from discreet.requirements._base import Breach, Prior, Row, entry, square


@dataclass(frozen=True)
class Support:
    """No published count is further than `reach` from the truth."""

    reach: int
    kind: ClassVar[str] = "support"
    alias: ClassVar[str] = ""
    implies: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        return f"support={self.reach}"

    @classmethod
    def read(cls, value: Any, prior: Prior) -> Support:
        if isinstance(value, str):
            number = whole_of(value.removeprefix("+"))
            if number is None:
                raise BadInput(f"'support={value}' was asked for", "it takes a whole number", "Write it like support=3")
            value = number
        return cls(whole(value, "support", 1))

    def rows(self, size: int) -> list[Row]:
        far = [(i, j) for i in range(size) for j in range(size) if abs(i - j) > self.reach]
        return [Row((cell,), (1,), "==", 0) for cell in far]

    def check(self, weights: Any, total: int) -> Breach | None:
        array = square(weights, total)
        outside = np.triu(array != 0, self.reach + 1) | np.tril(array != 0, -self.reach - 1)
        places = np.argwhere(outside)
        if not len(places):
            return None
        cell = (int(places[0][0]), int(places[0][1]))
        return Breach((cell,), f"{entry(array, total, cell)}, though the error is {abs(cell[0] - cell[1])}")


REQUIREMENT = Support
