from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.requirements._base import Breach, Plain, Row, square


@dataclass(frozen=True)
class Unbiased(Plain):
    """The published count is right on average: sum over j of (j - i) T[i,j] is 0 for every input i."""

    kind = "unbiased"
    alias = ""

    def rows(self, size: int) -> list[Row]:
        others = [[j for j in range(size) if j != i] for i in range(size)]
        return [
            Row(tuple((i, j) for j in others[i]), tuple(j - i for j in others[i]), "==", 0)
            for i in range(size)
            if others[i]
        ]

    def check(self, weights: Any, total: int) -> Breach | None:
        array = square(weights, total).astype(object)
        means = array @ np.arange(len(array)).astype(object)
        for i, mean in enumerate(means):
            if mean != i * total:
                return Breach((), f"input {i} is published as {float(mean / total):.6g} on average")
        return None


REQUIREMENT = Unbiased
