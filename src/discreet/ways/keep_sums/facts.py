"""What the record of a release that keeps sums holds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.arrays import Integers
from discreet.lattice.inequalities import Inequalities
from discreet.lattice.invariants import Kept
from discreet.lattice.laws import KINDS, LatticeLaw, parameter


@dataclass(frozen=True, eq=False)
class LatticeFacts:
    """The noise: P(v) proportional to odds^-|v|, e^(-rate |v|) or e^(-|v|^2/(2 variance)), by its law."""

    name: str
    law: str
    parameters: dict[str, Fraction]
    sampler: str
    nonnegative: bool
    inequalities: Inequalities | None

    @property
    def noise(self) -> LatticeLaw:
        return KINDS[self.law](**self.parameters)

    @property
    def restricted(self) -> bool:
        return self.nonnegative or self.inequalities is not None


@dataclass(frozen=True, eq=False)
class InvariantFacts:
    """What was kept, the sums themselves, and the rows (counted from 1) that they determine.

    `fixed` are further rows that can have one count only, since no count is negative: those in a sum of zero, say.
    """

    kept: tuple[Kept, ...]
    labels: tuple[str, ...]
    sums: Integers
    determined: Integers
    fixed: Integers


@dataclass(frozen=True, eq=False)
class KeptSums:
    """All of it."""

    mechanism: LatticeFacts
    invariants: InvariantFacts


def described(law: LatticeLaw, sampler: str, nonnegative: bool, inequalities: Inequalities | None) -> LatticeFacts:
    name, number = parameter(law)
    return LatticeFacts(f"lattice-{law.name}", law.name, {name: number}, sampler, nonnegative, inequalities)
