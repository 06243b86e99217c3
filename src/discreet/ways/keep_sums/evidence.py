"""What a release that keeps sums tells an analyst: counts whose joint noise has a public law."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NoReturn

from discreet.arrays import Integers
from discreet.estimate.answers import Answer, SumsOnly
from discreet.estimate.lattice import LatticeEstimate, Unknown
from discreet.lattice.laws import width_of
from discreet.lattice.tails import error_remark
from discreet.numbers import decimal_above
from discreet.privacy.values import Remark
from discreet.record.release import Publication
from discreet.report.errors import Errors
from discreet.ways.keep_sums.facts import KeptSums


@dataclass(frozen=True, eq=False)
class KeptTotal(SumsOnly):
    """Of a release in parts: what is kept adds up to the total, without an error."""

    why_only: ClassVar[str] = "the release is in parts and keeps sums: without its rows only their total is known"

    sums: Integers
    number: int  # of rows
    level: float

    def total(self) -> Answer:
        whole = float(sum(self.sums.tolist()))
        return Answer(whole, (whole, whole), self.level, exact=True)

    def mean(self) -> Answer:
        each = self.total().estimate / self.number
        return Answer(each, (each, each), self.level, exact=True)

    def by(self, *columns: str) -> NoReturn:
        """Not answered."""
        self._refuse("totals by groups")

    def rows(self) -> NoReturn:
        """Not answered."""
        self._refuse("estimates of rows")


def evidence(publication: Publication[KeptSums], level: float) -> LatticeEstimate | KeptTotal:
    """From the signed values, where the counts were made from them: these are biased, those are not."""
    if publication.in_parts is not None:
        return KeptTotal(publication.record.facts.invariants.sums, publication.record.schema.rows, level)
    facts, signed, why = publication.record.facts, publication.measured, _unknown(publication)
    seen, law = publication.counts if signed is None else signed, facts.mechanism.noise if why is None else None
    return LatticeEstimate(seen, publication.categories, facts.invariants.kept, law, level, why)


def estimable(publication: Publication[KeptSums]) -> bool:
    return _unknown(publication) is None


def _unknown(publication: Publication[KeptSums]) -> Unknown | None:
    """Why nothing is known of the errors, if so."""
    mechanism = publication.record.facts.mechanism
    if mechanism.projected and publication.measured is None:
        return "unpublished"
    return "conditioned" if mechanism.restricted else None


def errors(publication: Publication[KeptSums]) -> Errors | None:
    """The noise is joint: no row has an error of its own."""
    return None


def steps(publication: Publication[KeptSums]) -> tuple[Remark, ...]:
    mechanism = publication.record.facts.mechanism
    if not publication.record.facts.invariants.kept:
        return Remark.of("free-noise-added", sampler=mechanism.sampler), *_afterwards(publication)
    noise = Remark.of("lattice-noise-added", sampler=mechanism.sampler)
    return Remark("turned-into-a-lattice"), noise, *_afterwards(publication)


def _afterwards(publication: Publication[KeptSums]) -> Iterator[Remark]:
    """How much noise there is at most, and what became of negative counts."""
    mechanism, free = publication.record.facts.mechanism, publication.record.facts.invariants.dimensions
    if not mechanism.restricted and publication.record.guarantee.grade != "diagnosed":
        yield error_remark(mechanism.noise, free, publication.record.schema.rows)
    if mechanism.projected:
        yield Remark("projected" if publication.measured is not None else "projected-unpublished")
        if mechanism.projection is not None and mechanism.projection.gap:
            yield Remark.of("projected-nearly", gap=decimal_above(mechanism.projection.gap, 2))
    elif mechanism.conditioned:
        yield Remark.of("noise-conditioned", empty=f"{float(width_of(mechanism.noise)):.2g}")
    if mechanism.inequalities is not None:
        yield Remark("inequalities-met")
    elif not mechanism.nonnegative:
        yield Remark("nothing-repaired")
