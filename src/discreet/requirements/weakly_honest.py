from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.requirements._base import Breach, Plain, Row, entry, square


@dataclass(frozen=True)
class WeaklyHonest(Plain):
    """The truth is told at least as often as by guessing: T[i,i] >= 1 / (max_count + 1)."""

    kind = "weakly-honest"
    alias = "WH"

    def rows(self, size: int) -> list[Row]:
        return [Row(((i, i),), (-1,), "<=", Fraction(-1, size)) for i in range(size)]

    def check(self, weights: Any, total: int) -> Breach | None:
        array = square(weights, total)
        for i in range(len(array)):
            if int(array[i, i]) * len(array) < total:
                return Breach(((i, i),), f"{entry(array, total, (i, i))} is below 1/{len(array)}")
        return None


REQUIREMENT = WeaklyHonest
