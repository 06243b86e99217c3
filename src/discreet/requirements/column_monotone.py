from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.requirements._base import Breach, Plain, Row, at_most, exceeds, first_exceeding, square


@dataclass(frozen=True)
class ColumnMonotone(Plain):
    """For each input k, T[k,i] does not rise as the output i moves away from k."""

    kind = "column-monotone"
    alias = "CM"
    implies = ("column-honest", "weakly-honest")

    def rows(self, size: int) -> list[Row]:
        towards = [at_most((k, i - 1), (k, i)) for k in range(size) for i in range(1, k + 1)]
        return towards + [at_most((k, i + 1), (k, i)) for k in range(size) for i in range(k, size - 1)]

    def check(self, weights: Any, total: int) -> Breach | None:
        array = square(weights, total)
        left, right = array[:, :-1], array[:, 1:]
        before = np.arange(left.shape[1])[None, :] < np.arange(len(array))[:, None]
        found = first_exceeding(np.where(before, left, right), np.where(before, right, left))
        if found is None:
            return None
        here, there = found, (found[0], found[1] + 1)
        return exceeds(array, total, *((here, there) if before[found] else (there, here)))


REQUIREMENT = ColumnMonotone
