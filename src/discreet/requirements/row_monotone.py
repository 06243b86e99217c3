from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.requirements._base import Breach, Plain, Row, at_most, exceeds, first_exceeding, square


@dataclass(frozen=True)
class RowMonotone(Plain):
    """For each output i, T[k,i] does not rise as the input k moves away from i."""

    kind = "row-monotone"
    alias = "RM"
    implies = ("row-honest",)

    def rows(self, size: int) -> list[Row]:
        towards = [at_most((k - 1, i), (k, i)) for i in range(size) for k in range(1, i + 1)]
        return towards + [at_most((k + 1, i), (k, i)) for i in range(size) for k in range(i, size - 1)]

    def check(self, weights: Any, total: int) -> Breach | None:
        array = square(weights, total)
        upper, lower = array[:-1], array[1:]
        before = np.arange(len(upper))[:, None] < np.arange(len(array))[None, :]
        found = first_exceeding(np.where(before, upper, lower), np.where(before, lower, upper))
        if found is None:
            return None
        here, there = found, (found[0] + 1, found[1])
        return exceeds(array, total, *((here, there) if before[found] else (there, here)))


REQUIREMENT = RowMonotone
