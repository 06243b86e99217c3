"""Potentials of sums of several cells: a little above their weights, which are no floats.

What is drawn with such potentials has, for every sum, a little too much weight; it is accepted by the quotient, which
hardly ever rejects anything and makes the law exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.laminar import sum_weight
from discreet.lattice.potentials import FLOAT_PRECISION, Potential, Tail
from discreet.numbers import arb_of

if TYPE_CHECKING:
    from flint import arb

RAISED = 1 + 2.0**-40  # above the rounding of a float
SHORT_BY = 2.0**-39  # no quotient inside the window is further below one
LENGTHENED = 0.97  # a tail that falls this much slower is bounded by a constant


@dataclass(frozen=True, eq=False)
class CellGroup:
    """So many cells, whose sums have weight 2^exponent potential(sum), about."""

    odds: Fraction
    cells: int
    potential: Potential
    exponent: int

    def quotient(self, total: int, precision: int) -> arb:
        """The true weight over that of the potential."""
        from flint import arb

        weight = sum_weight(self.odds, self.cells, total, precision)
        return weight / arb(2) ** self.exponent / self.potential.at(total)


@lru_cache(maxsize=64)
def group_of(odds: Fraction, cells: int, reach: int) -> CellGroup:
    """With a window of -reach .. reach."""
    from flint import arb, ctx

    with ctx.workprec(FLOAT_PRECISION):
        weights = [sum_weight(odds, cells, total, FLOAT_PRECISION) for total in range(reach + 1)]
        exponent = math.floor(float(weights[0].log() / arb(2).log()))
        values = np.array([float(weight / arb(2) ** exponent) for weight in weights]) * RAISED
        ratio = float(1 / odds) ** LENGTHENED
        # Chernoff's bound: the sum of weight(z) ratio^-z over all z is a power of that of one cell
        one = (1 - arb_of(1 / odds) / arb(ratio)) * (1 - arb_of(1 / odds) * arb(ratio))
        factor = float(arb(ratio) ** reach / one**cells / arb(2) ** exponent) * (1 + 1e-9)
    tail = Tail(Fraction(factor), Fraction(ratio))
    return CellGroup(odds, cells, Potential(-reach, np.concatenate([values[:0:-1], values]), tail, tail), exponent)
