"""What people see is what was drawn, or the nearest counts without a negative one. The kept sums are public."""

from __future__ import annotations

from discreet.arrays import Integers
from discreet.lattice.disclosure import fixed_rows
from discreet.lattice.projection import project
from discreet.ways import Published
from discreet.ways.keep_sums.facts import InvariantFacts, KeptSums, ProjectionFacts, described, remember
from discreet.ways.keep_sums.plan import SumsPlan


def publish(plan: SumsPlan, measured: Integers) -> Published[KeptSums]:
    lattice = plan.lattice
    kept = lattice.invariants
    fixed = fixed_rows(lattice.structure, measured, kept.matrix, lattice.inequalities)
    free = lattice.structure.dimensions
    invariants = InvariantFacts(kept.kept, kept.labels, kept.sums(measured), lattice.determined + 1, fixed, free)
    if plan.categories is not None:
        remember(invariants, plan.categories, (kept, lattice.structure))
    if not plan.spec.projected:
        noise = described(lattice.law, lattice.sampler, plan.spec.nonnegative_by, lattice.inequalities, lattice.bound)
        return Published(measured, None, plan.guarantee, KeptSums(noise, invariants))
    nearest = project(lattice.structure, measured)
    proof = ProjectionFacts(nearest.gap, nearest.multipliers)
    noise = described(lattice.law, lattice.sampler, "project", projection=proof)
    return Published(nearest.counts, measured, plan.guarantee, KeptSums(noise, invariants))
