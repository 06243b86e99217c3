"""That the table has every kept sum, and is not below what it was conditioned on."""

from __future__ import annotations

import numpy as np

from discreet.lattice.disclosure import fixed_rows
from discreet.lattice.structure import structure_of
from discreet.record.release import Publication
from discreet.ways.keep_sums.facts import KeptSums
from discreet.ways.keep_sums.prove import invariants_of


def replay(publication: Publication[KeptSums]) -> list[str]:
    published, mechanism = publication.record.facts.invariants, publication.record.facts.mechanism
    counts, invariants = publication.counts, invariants_of(publication)
    problems = []
    if publication.measured is not None:
        problems.append("The release has a file of measurements, but its counts are all there is to measure.")
    if invariants.kept != published.kept:
        problems.append("Something kept is named twice.")
    if invariants.labels != published.labels:
        problems.append("The names of the kept sums do not follow from what is kept.")
    if len(published.sums) != len(invariants.labels):
        return [*problems, "There are not as many kept sums as names."]
    wrong = np.flatnonzero(invariants.sums(counts) != published.sums)
    if len(wrong):
        problems.append(f"The table does not have the kept sum {invariants.labels[int(wrong[0])]}.")
    structure = structure_of(invariants)
    if not np.array_equal(structure.determined + 1, published.determined):
        problems.append("The rows that are determined by what is kept are not those listed.")
    if not np.array_equal(fixed_rows(structure, counts), published.fixed):
        problems.append("The rows that kept sums fix, since no count is negative, are not those listed.")
    if mechanism.nonnegative and counts.min() < 0:
        problems.append("The table has a negative count.")
    if mechanism.inequalities is not None and not mechanism.inequalities.hold(counts):
        problems.append("The table violates an inequality it was conditioned on.")
    return problems
