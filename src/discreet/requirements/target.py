from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.requirements._base import Breach, Prior, Row, exact_law, law_rows, law_witness


@dataclass(frozen=True)
class Target:
    """If counts follow the prior, published counts follow `law`: prior T = law, up to 1e-9."""

    law: tuple[Fraction, ...]
    prior: tuple[Fraction, ...]
    source: str = "..."
    kind: ClassVar[str] = "target"
    alias: ClassVar[str] = ""
    implies: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        return f"target={self.source}"

    @classmethod
    def read(cls, value: Any, prior: Prior) -> Target:
        wanted = exact_law(value, "the target law")
        uniform = [Fraction(1, len(wanted))] * len(wanted)
        return cls(wanted, tuple(uniform if prior is None else prior), value if isinstance(value, str) else "...")

    def rows(self, size: int) -> list[Row]:
        return law_rows(self.prior, self.law, size, "the target law")

    def check(self, weights: Any, total: int) -> Breach | None:
        return law_witness(weights, total, self.prior, self.law)


REQUIREMENT = Target
