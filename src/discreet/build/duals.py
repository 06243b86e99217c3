"""Lower bounds that are proven: any multipliers give one, and it is computed in exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.build.formulation import Exact, Formulation

SHIFT = 80  # multipliers are rounded to multiples of 2^-80: whatever they are, the bound they give is true


def proven_bound(
    formulation: Formulation, multipliers: NDArray[np.float64] | Sequence[Fraction], shift: int = SHIFT
) -> Fraction:
    """A number no feasible x costs less than: multipliers . bounds + min over the box of (reduced costs) . x.

    BoundProof of inequalities are first made non-positive. The nearer they are to optimal duals, the better the bound.
    """
    reduced: list[Exact] = list(formulation.costs)
    bound: Exact = 0
    for row, multiplier in zip(formulation.rows, multipliers, strict=True):
        weight = round(Fraction(multiplier if row.equal else min(multiplier, 0)) * (1 << shift))
        if weight:
            bound += Fraction(weight * row.bound, 1 << shift) if row.bound else 0
            for column, coefficient in zip(row.columns, row.coefficients):
                reduced[column] -= Fraction(weight * coefficient, 1 << shift)
    for cost, low, high in zip(reduced, formulation.lower, formulation.upper):
        bound += cost * (low if cost > 0 else high)
    return Fraction(bound + formulation.constant)


@dataclass(frozen=True, eq=False)
class BoundProof:
    """Of all rows of a program, to be rounded to multiples of 2^-shift."""

    of_rows: NDArray[np.float64] | Sequence[Fraction]
    shift: int = SHIFT

    def bound(self, formulation: Formulation) -> Fraction:
        return proven_bound(formulation, self.of_rows, self.shift)


def float_below(number: Fraction) -> float:
    """The largest double not above `number`, or the one before it."""
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)
