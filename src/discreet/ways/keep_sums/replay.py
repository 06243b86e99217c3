"""That the table has every kept sum, and follows from the signed values or meets what it was conditioned on."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers
from discreet.lattice.disclosure import fixed_rows
from discreet.lattice.inequalities import Inequalities
from discreet.lattice.invariants import Invariants
from discreet.lattice.projection import exactly, gap_of, projected_by_program
from discreet.lattice.structure import Structure
from discreet.record.release import Publication
from discreet.ways.keep_sums.facts import InvariantFacts, KeptSums, ProjectionFacts, kept_of


def replay(publication: Publication[KeptSums]) -> list[str]:
    published, mechanism = publication.record.facts.invariants, publication.record.facts.mechanism
    counts, signed = publication.counts, publication.measured
    invariants, structure = kept_of(publication)
    problems = sums_fit(published, invariants, structure, counts, mechanism.inequalities)
    if problems:
        return problems
    if mechanism.nonnegative and counts.min() < 0:
        problems.append("The table has a negative count.")
    if mechanism.inequalities is not None and not mechanism.inequalities.hold(counts):
        problems.append("The table violates an inequality it was conditioned on.")
    if signed is not None and mechanism.projection is None:
        problems.append("The release has a file of measurements, but its counts are all there is to measure.")
    elif signed is not None and not problems:
        assert mechanism.projection is not None
        problems += _projection(structure, invariants, signed, counts, mechanism.projection)
    return problems


def sums_fit(
    published: InvariantFacts,
    invariants: Invariants,
    structure: Structure,
    counts: Integers,
    limits: Inequalities | None = None,
) -> list[str]:
    """That the table has every kept sum, and that what is said of them is so."""
    problems = _sums(published, invariants, counts)
    if problems:
        return problems
    if not np.array_equal(structure.determined + 1, published.determined):
        problems.append("The rows that are determined by what is kept are not those listed.")
    if structure.dimensions != published.dimensions:
        problems.append("What is kept leaves another number of directions free than is said.")
    if not np.array_equal(fixed_rows(structure, counts, invariants.matrix, limits), published.fixed):
        problems.append("The rows that kept sums fix, with no negative count or by inequalities, are not those listed.")
    return problems


def _sums(published: InvariantFacts, invariants: Invariants, counts: Integers) -> list[str]:
    problems = []
    if invariants.kept != published.kept:
        problems.append("Something kept is named twice.")
    if invariants.labels != published.labels:
        problems.append("The names of the kept sums do not follow from what is kept.")
    if len(published.sums) != len(invariants.labels):
        return [*problems, "There are not as many kept sums as names."]
    wrong = np.flatnonzero(invariants.sums(counts) != published.sums)
    if len(wrong):
        problems.append(f"The table does not have the kept sum {invariants.labels[int(wrong[0])]}.")
    return problems


def _projection(
    structure: Structure, invariants: Invariants, signed: Integers, counts: Integers, proof: ProjectionFacts
) -> list[str]:
    """Replayed in whole numbers where that decides; elsewhere the multipliers show how near the counts are."""
    if not np.array_equal(invariants.sums(signed), invariants.sums(counts)):
        return ["The measurements do not have the kept sums."]
    replayed = projected_by_program(structure) | (exactly(structure, signed) == counts)
    if not replayed.all():
        return ["The table is not the nearest one to the measurements that has no negative count."]
    if gap_of(structure, signed, counts, proof.multipliers) != proof.gap:
        return ["The multipliers do not prove that the table is as near to the measurements as it claims."]
    return []
