from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.errors import BadInput
from discreet.numbers import exact, text
from discreet.requirements._base import Breach, Prior, Row, entry, first_exceeding, square


@dataclass(frozen=True)
class OutputRatio:
    """Whatever the truth, neighbouring outputs are at most `ratio` times as likely as each other."""

    ratio: Fraction
    kind: ClassVar[str] = "output-ratio"
    alias: ClassVar[str] = ""
    implies: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        return f"output-ratio={text(self.ratio)}"

    @classmethod
    def read(cls, value: Any, prior: Prior) -> OutputRatio:
        ratio = exact(value, "output-ratio")
        if ratio < 1:
            found = "of two, one is at least as likely as the other"
            raise BadInput(f"'output-ratio={value}' was asked for", found, "Give 1 or more")
        return cls(ratio)

    def rows(self, size: int) -> list[Row]:
        pairs = [((i, j), (i, k)) for i in range(size) for j in range(size) for k in (j - 1, j + 1) if 0 <= k < size]
        return [Row(pair, (1 / self.ratio, -1), "<=", 0) for pair in pairs]

    def check(self, weights: Any, total: int) -> Breach | None:
        array = square(weights, total).astype(object)
        p, q = self.ratio.numerator, self.ratio.denominator
        left, right = array[:, :-1], array[:, 1:]
        high, low = np.maximum(left, right), np.minimum(left, right)
        found = first_exceeding(q * high, p * low)
        if found is None:
            return None
        cells = found, (found[0], found[1] + 1)
        one, other = sorted(cells, key=lambda cell: -int(array[cell]))
        more = f"more than {text(self.ratio)} times"
        return Breach((one, other), f"{entry(array, total, one)} is {more} {entry(array, total, other)}")


REQUIREMENT = OutputRatio
