from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.requirements._base import Breach, Plain, Row, at_most, exceeds, first_exceeding, square


@dataclass(frozen=True)
class ColumnHonest(Plain):
    """The truth is the likeliest answer: T[k,k] >= T[k,i] for every output i."""

    kind = "column-honest"
    alias = "CH"
    implies = ("weakly-honest",)

    def rows(self, size: int) -> list[Row]:
        return [at_most((k, i), (k, k)) for k in range(size) for i in range(size) if i != k]

    def check(self, weights: Any, total: int) -> Breach | None:
        array = square(weights, total)
        found = first_exceeding(array, np.diagonal(array)[:, None])
        return exceeds(array, total, found, (found[0], found[0])) if found else None


REQUIREMENT = ColumnHonest
