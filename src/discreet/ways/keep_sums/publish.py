"""What people see is what was drawn; the kept sums are public, and the released counts have them too."""

from __future__ import annotations

from discreet.arrays import Integers
from discreet.lattice.disclosure import fixed_rows
from discreet.ways import Published
from discreet.ways.keep_sums.facts import InvariantFacts, KeptSums, described
from discreet.ways.keep_sums.plan import SumsPlan


def publish(plan: SumsPlan, measured: Integers) -> Published[KeptSums]:
    lattice = plan.lattice
    kept = lattice.invariants
    fixed = fixed_rows(lattice.structure, measured)
    invariants = InvariantFacts(kept.kept, kept.labels, kept.sums(measured), lattice.determined + 1, fixed)
    noise = described(lattice.law, lattice.sampler, lattice.nonnegative, lattice.inequalities)
    return Published(measured, None, plan.guarantee, KeptSums(noise, invariants))
