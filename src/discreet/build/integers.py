"""From a matrix of floats to integer weights that are private beyond doubt.

A matrix that is private up to rounding is made private with a little room, then rounded, then checked in integers.
Only the check counts; the steps before it see to it that it succeeds.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.arrays import Floats
from discreet.distribution.decay import running_maximum
from discreet.errors import NotProven
from discreet.mechanism import Weights
from discreet.numbers import simplest_between

ROOM = Fraction(1, 1 << 32)  # the part of the odds, above one, that rounding may use
MIXED = 2.0**-40  # share of a mechanism that ignores its input: no entry in use is then too small to round
LEAST_BITS, LARGEST_BITS = 64, 4096  # of weights: a machine word at least; beyond 4096, 200 rows would fill 20 MB


def inner_odds(odds: Fraction) -> Fraction:
    """A hair below the odds: what to design for, so that rounding has room."""
    room = (odds - 1) * ROOM
    return simplest_between(odds - 2 * room, odds - room)


def to_weights(matrix: Floats, odds: Fraction, fixed_point: Floats | None = None) -> Weights:
    """Integer weights near the matrix, private at the odds exactly; with a fixed point z, near a matrix that keeps z.

    The matrix should be private at `inner_odds(odds)` up to rounding errors. A little of the mechanism that ignores
    its input is mixed in; columns that are nowhere positive stay empty.
    """
    private = repaired(matrix, float(inner_odds(inner_odds(odds))), fixed_point)
    low = float(private[private > 0].min())
    # a weight of u units, rounded by one, stays within the odds if u (r - r') >= 1 + r
    units = math.ceil(math.log2((odds + 1) / (odds - 1) / ROOM)) + len(matrix).bit_length() + 8
    bits = max(LEAST_BITS, math.ceil(-math.log2(low)) + units)
    if bits > LARGEST_BITS:
        raise NotProven("integer weights were asked for", f"the smallest probability is {low:.3g}: they would be huge")
    weights = Weights(tuple(_rounded_row(row, bits) for row in private), 1 << bits)
    check(weights, odds)
    return weights


def repaired(matrix: Floats, odds: float, fixed_point: Floats | None = None) -> Floats:
    """The nearest matrix from above that is private at the odds, with equal row sums again."""
    used = (matrix > 0).any(axis=0)
    ignoring = used / used.sum() if fixed_point is None else np.where(used, fixed_point, 0.0)
    above = least_private_majorant(np.clip(matrix, 0.0, None), odds)
    sums = above.sum(axis=1)
    missing = sums.max() - sums
    # what is added to a row is private by itself as soon as no row gets more than `odds` times what another gets
    mixed = max(MIXED, 2 * float(missing.max()) / (odds - 1))
    filled = above + np.outer(missing + mixed, ignoring / ignoring.sum())
    rows: Floats = filled / filled.sum(axis=1, keepdims=True)
    return rows


def least_private_majorant(matrix: Floats, odds: float) -> Floats:
    """Entry by entry the least that is no less than the matrix and private: max over k of matrix[k] odds^-|i-k|."""
    return np.maximum(running_maximum(matrix, 1 / odds), running_maximum(matrix[::-1], 1 / odds)[::-1])


def _rounded_row(row: Floats, bits: int) -> tuple[int, ...]:
    """Integers with sum 2^bits, each within one of its share."""
    mantissas, exponents = np.frexp(row)
    shift = bits + 64
    parts = [
        int(part) << (shift + power) if shift + power >= 0 else int(part) >> -(shift + power)
        for part, power in zip((mantissas * 2.0**53).astype(np.int64).tolist(), (exponents - 53).tolist())
    ]
    whole, total = sum(parts), 1 << bits
    shares = [divmod(part * total, whole) for part in parts]
    weights = [share for share, _ in shares]
    short = total - sum(weights)
    for j in sorted(range(len(row)), key=lambda j: -shares[j][1])[:short]:
        weights[j] += 1
    return tuple(weights)


def check(weights: Weights, odds: Fraction) -> None:
    """Every privacy inequality, in integers."""
    p, q = odds.numerator, odds.denominator
    for i, (one, other) in enumerate(zip(weights.rows[:-1], weights.rows[1:])):
        for j, (a, b) in enumerate(zip(one, other)):
            if a * q > b * p or b * q > a * p:
                raise NotProven(
                    "a private mechanism was to be written in integers",
                    f"inputs {i} and {i + 1} differ too much at output {j}",
                    input=i,
                    output=j,
                )
