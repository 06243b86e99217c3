from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.requirements._base import Breach, Plain, Row, at_most, exceeds, first_exceeding, square


@dataclass(frozen=True)
class RowHonest(Plain):
    """An output is likeliest when it is the truth: T[i,i] >= T[k,i] for every input k."""

    kind = "row-honest"
    alias = "RH"

    def rows(self, size: int) -> list[Row]:
        return [at_most((k, i), (i, i)) for i in range(size) for k in range(size) if k != i]

    def check(self, weights: Any, total: int) -> Breach | None:
        array = square(weights, total)
        found = first_exceeding(array, np.diagonal(array)[None, :])
        return exceeds(array, total, found, (found[1], found[1])) if found else None


REQUIREMENT = RowHonest
