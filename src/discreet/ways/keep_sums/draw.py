"""The only step that touches the secret counts, and the only one with secret randomness."""

from __future__ import annotations

from discreet.arrays import Integers
from discreet.lattice.projection import require_counts
from discreet.sample.bits import Bits
from discreet.ways.keep_sums.plan import SumsPlan


def check(plan: SumsPlan, counts: Integers) -> None:
    """Refuse a table that violates the inequalities that the published one must meet."""
    plan.lattice.check(counts)
    if plan.spec.projected:
        require_counts(plan.lattice.invariants.sums(counts), counts)


def draw(plan: SumsPlan, counts: Integers, bits: Bits) -> Integers:
    """The table with noise: every kept sum is the same, to the unit."""
    return plan.lattice.release(counts, bits)
