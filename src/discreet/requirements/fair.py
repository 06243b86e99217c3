from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.requirements._base import Breach, Plain, Row, entry, equal, square


@dataclass(frozen=True)
class Fair(Plain):
    """Every input has the same chance of a true answer: all T[i,i] are equal."""

    kind = "fair"
    alias = "F"

    def rows(self, size: int) -> list[Row]:
        return [equal((i, i), (i + 1, i + 1)) for i in range(size - 1)]

    def check(self, weights: Any, total: int) -> Breach | None:
        array = square(weights, total)
        different = np.flatnonzero(np.diagonal(array) != array[0, 0])
        if not len(different):
            return None
        other = (int(different[0]), int(different[0]))
        return Breach(((0, 0), other), f"{entry(array, total, (0, 0))} differs from {entry(array, total, other)}")


REQUIREMENT = Fair
