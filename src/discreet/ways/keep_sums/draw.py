"""The only step that touches the secret counts, and the only one with secret randomness."""

from __future__ import annotations

from discreet.arrays import Integers
from discreet.sample.bits import Bits
from discreet.ways.keep_sums.plan import SumsPlan


def check(plan: SumsPlan, counts: Integers) -> None:
    """Refuse a table that violates the inequalities it is to be conditioned on."""
    plan.lattice.check(counts)


def draw(plan: SumsPlan, counts: Integers, bits: Bits) -> Integers:
    """The table with noise: every kept sum is the same, to the unit."""
    return plan.lattice.release(counts, bits)
