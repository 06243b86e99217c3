"""What the record of a release that keeps sums holds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.arrays import Integers
from discreet.lattice.conditioning import Bound, By
from discreet.lattice.inequalities import Inequalities
from discreet.lattice.invariants import Kept
from discreet.lattice.laws import KINDS, LatticeLaw, parameter
from discreet.shown.terse import Terse


@dataclass(frozen=True, eq=False, repr=False)
class ProjectionFacts(Terse):
    """How near the counts are to the signed values: their squared distance exceeds the least by `gap` at most.

    The multipliers of sums that overlap in no shape we know prove it, in units of 1/1024; without such sums there are
    none, and the counts are the nearest.
    """

    gap: Fraction
    multipliers: Integers


@dataclass(frozen=True, eq=False, repr=False)
class LatticeFacts(Terse):
    """The noise: P(v) proportional to odds^-|v|, e^(-rate |v|) or e^(-|v|^2/(2 variance)), by its law."""

    name: str
    law: str
    parameters: dict[str, Fraction]
    sampler: str
    nonnegative: bool
    nonnegative_by: By | None
    inequalities: Inequalities | None
    bound: Bound | None  # of what conditioning costs, where the noise was conditioned
    projection: ProjectionFacts | None  # of the signed values, where they were projected

    @property
    def noise(self) -> LatticeLaw:
        return KINDS[self.law](**self.parameters)

    @property
    def restricted(self) -> bool:
        """Whether the noise was conditioned on inequalities."""
        return self.conditioned or self.inequalities is not None

    @property
    def conditioned(self) -> bool:
        """Whether it was conditioned on no negative count."""
        return self.nonnegative and self.nonnegative_by == "condition"

    @property
    def projected(self) -> bool:
        return self.nonnegative and self.nonnegative_by == "project"


@dataclass(frozen=True, eq=False, repr=False)
class InvariantFacts(Terse):
    """What was kept, the sums themselves, the rows (counted from 1) that they determine, and in how many directions
    the table can still change.

    `fixed` are further rows that can have one count only, since no count is negative: those in a sum of zero, say. Or
    since the table meets inequalities: two rows, each at most 3, whose sum is 6.
    """

    kept: tuple[Kept, ...]
    labels: tuple[str, ...]
    sums: Integers
    determined: Integers
    fixed: Integers
    dimensions: int


@dataclass(frozen=True, eq=False, repr=False)
class KeptSums(Terse):
    """All of it."""

    mechanism: LatticeFacts
    invariants: InvariantFacts


def described(
    law: LatticeLaw,
    sampler: str,
    by: By | None = None,
    inequalities: Inequalities | None = None,
    bound: Bound | None = None,
    projection: ProjectionFacts | None = None,
) -> LatticeFacts:
    name, number = parameter(law)
    return LatticeFacts(
        f"lattice-{law.name}", law.name, {name: number}, sampler, by is not None, by, inequalities, bound, projection
    )
