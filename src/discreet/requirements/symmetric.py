from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.requirements._base import Breach, Plain, Row, entry, equal, square


@dataclass(frozen=True)
class Symmetric(Plain):
    """Counting from the top changes nothing: T[k,i] = T[m-k,m-i], m the largest count."""

    kind = "symmetric"
    alias = "S"

    def rows(self, size: int) -> list[Row]:
        last = size - 1
        cells = [(k, i) for k in range(size) for i in range(size)]
        return [equal(cell, (last - cell[0], last - cell[1])) for cell in cells[: len(cells) // 2]]

    def check(self, weights: Any, total: int) -> Breach | None:
        array = square(weights, total)
        places = np.argwhere(np.asarray(array != array[::-1, ::-1], dtype=bool))
        if not len(places):
            return None
        cell = (int(places[0][0]), int(places[0][1]))
        mirror = (len(array) - 1 - cell[0], len(array) - 1 - cell[1])
        return Breach((cell, mirror), f"{entry(array, total, cell)} differs from {entry(array, total, mirror)}")


REQUIREMENT = Symmetric
