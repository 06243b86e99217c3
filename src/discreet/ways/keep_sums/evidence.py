"""What a release that keeps sums tells an analyst: counts whose joint noise has a public law."""

from __future__ import annotations

from discreet.estimate.lattice import LatticeEstimate
from discreet.privacy.values import Remark
from discreet.record.release import Publication
from discreet.report.errors import Errors
from discreet.ways.keep_sums.facts import KeptSums


def evidence(publication: Publication[KeptSums], level: float) -> LatticeEstimate:
    facts = publication.record.facts
    law = None if facts.mechanism.restricted else facts.mechanism.noise
    return LatticeEstimate(publication.counts, publication.categories, facts.invariants.kept, law, level)


def errors(publication: Publication[KeptSums]) -> Errors | None:
    """The noise is joint: no row has an error of its own."""
    return None


def steps(publication: Publication[KeptSums]) -> tuple[Remark, ...]:
    sampler = publication.record.facts.mechanism.sampler
    return Remark("turned-into-a-lattice"), Remark.of("lattice-noise-added", sampler=sampler)
