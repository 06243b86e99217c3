from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.requirements._base import Breach, Prior, Row, exact_law, law_rows, law_witness


@dataclass(frozen=True)
class FixedPoint:
    """If counts follow the law z, so do published counts: z T = z, up to 1e-9."""

    law: tuple[Fraction, ...]
    source: str = "..."
    kind: ClassVar[str] = "fixed-point"
    alias: ClassVar[str] = ""
    implies: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        return f"fixed-point={self.source}"

    @classmethod
    def read(cls, value: Any, prior: Prior) -> FixedPoint:
        return cls(exact_law(value, "the fixed point"), value if isinstance(value, str) else "...")

    def rows(self, size: int) -> list[Row]:
        return law_rows(self.law, self.law, size, "the fixed point")

    def check(self, weights: Any, total: int) -> Breach | None:
        return law_witness(weights, total, self.law, self.law)


REQUIREMENT = FixedPoint
