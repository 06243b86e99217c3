"""What the record of a release that keeps sums holds; and the sums with their structure, which follow from it and are
half of what a million rows take: they are worked out once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from discreet.arrays import Integers
from discreet.io.coded import key_columns
from discreet.lattice.conditioning import Bound, By
from discreet.lattice.inequalities import Inequalities
from discreet.lattice.invariants import Invariants, Kept, invariant_matrix, two_rows_each
from discreet.lattice.laws import KINDS, LatticeLaw, parameter
from discreet.shown.terse import Terse

if TYPE_CHECKING:
    from discreet.lattice.structure import Structure
    from discreet.record.release import Publication


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


WorkedOut = tuple[Invariants, "Structure"]
# by what is told of them, with which they are forgotten; and of which key columns they are
_WORKED_OUT: WeakKeyDictionary[InvariantFacts, tuple[Any, WorkedOut]] = WeakKeyDictionary()
_BUILT: WeakKeyDictionary[InvariantFacts, tuple[Any, WorkedOut]] = WeakKeyDictionary()  # with; no proof looks there


def remember(facts: InvariantFacts, categories: Any, found: WorkedOut) -> None:
    """For whoever asks what is kept in a table with these key columns (Arrow, or none where they are in parts)."""
    _BUILT[facts] = categories, found


def built_with(publication: Publication[KeptSums]) -> WorkedOut:
    """The same for pages: as the release was built with, where it was built here."""
    known = _BUILT.get(publication.record.facts.invariants)
    return known[1] if known is not None and known[0] is publication.categories else kept_of(publication)


def kept_of(publication: Publication[KeptSums]) -> WorkedOut:
    """Of a publication, from its own record and key columns."""
    from discreet.lattice.structure import structure_of

    facts, categories = publication.record.facts.invariants, publication.categories
    known = _WORKED_OUT.get(facts)
    if known is not None and known[0] is categories:
        return known[1]
    invariants = _invariants(publication) if publication.in_parts is None else _in_parts(publication)
    found = invariants, structure_of(invariants)
    _WORKED_OUT[facts] = categories, found
    return found


def _in_parts(publication: Publication[KeptSums]) -> Invariants:
    """That each of the blocks has two rows or more is seen where the parts are read."""
    kept = publication.record.facts.invariants
    return two_rows_each(kept.kept, kept.labels)


def _invariants(publication: Publication[KeptSums]) -> Invariants:
    keys = key_columns(publication.categories, publication.record.schema.keys)
    facts = publication.record.facts
    some = facts.mechanism.inequalities is None
    return invariant_matrix(facts.invariants.kept, keys, len(publication.counts), some=some)
