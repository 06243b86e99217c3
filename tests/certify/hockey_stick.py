"""The specification of delta(epsilon): every output of every pair of neighbouring rows, in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from discreet.mechanism import Mechanism


def rational_rows(mechanism: Mechanism) -> list[list[Fraction]]:
    weights = mechanism.weights
    return [[Fraction(weight, weights.total) for weight in row] for row in weights.rows]


def hockey_stick(rows: Sequence[Sequence[Fraction]], odds: Fraction) -> Fraction:
    """The largest sum of max(0, p - r q) over neighbouring rows."""
    pairs = [*pairwise(rows), *pairwise(rows[::-1])]
    return max(sum((max(Fraction(0), p - odds * q) for p, q in zip(one, other)), Fraction(0)) for one, other in pairs)
