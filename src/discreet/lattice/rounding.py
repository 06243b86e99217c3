"""The nearest non-negative table for sums of any kind: least squares, then an integer program around them.

Multipliers of the sums, whatever they are, bound the squared distance of every table with these sums from below: cell
by cell the best count is found by itself, in whole numbers. What the program found is therefore known to be nearest up
to a gap, and anybody can check it without a solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers, Words
from discreet.errors import SolverFailed

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

SCALE = 1 << 10  # multipliers are whole multiples of 1/SCALE: finer ones would hardly narrow the gap
STEPS = 200  # of Newton's method: usually ten
RIDGE = 1e-9  # sums may depend on each other
CLOSE = 1e-9  # of a sum: least squares are only where the program looks
LONGEST = 60.0  # seconds of the program; what it has then is taken, with its gap
WIDEST = 1 << 20  # units around the least squares


@dataclass(frozen=True, eq=False)
class Rounded:
    """Counts with the sums wanted, and the proof of how near they are."""

    counts: Integers
    gap: Fraction
    multipliers: Integers


def nearest_by_program(matrix: csr_array, signed: Integers, words: Words) -> Rounded:
    """The nearest counts with the sums matrix @ signed; `words` decide among equals."""
    sums = matrix @ signed
    multipliers, near = _least_squares(matrix, signed, sums)
    counts = _around(matrix, signed, sums, near, words)
    off = [z - y for z, y in zip(counts.tolist(), signed.tolist())]
    scaled = np.rint(2 * SCALE * multipliers).astype(np.int64)
    return Rounded(counts, sum(one * one for one in off) - bound_below(matrix, signed, scaled), scaled)


def bound_below(matrix: csr_array, signed: Integers, multipliers: Integers) -> Fraction:
    """No counts z with matrix @ z = matrix @ signed have a smaller sum of (z - signed)^2.

    The sum is that of (z - y)^2 - g z + g y, g the multipliers of the sums that a cell is in: these add up to zero.
    """
    held = [0] * len(signed)
    sums, cells = matrix.nonzero()
    for one, cell in zip(multipliers[sums].tolist(), cells.tolist()):
        held[cell] += one
    least = 0
    for y, g in zip(signed.tolist(), held):
        z = max(0, y + (g + SCALE) // (2 * SCALE))  # the whole number nearest to y + g/2, not below zero
        least += SCALE * (z - y) ** 2 - g * (z - y)
    return Fraction(least, SCALE)


def _least_squares(matrix: csr_array, signed: Integers, sums: Integers) -> tuple[Floats, Floats]:
    """Multipliers m for which max(0, signed + m @ matrix) has the sums, nearly; Newton's method on the dual."""
    rows = matrix.astype(float).tocsc()
    multipliers, step = np.zeros(len(sums)), np.zeros(len(sums))
    value = np.inf
    for _ in range(STEPS):
        near, new = _dual(rows, signed, sums, multipliers + step)
        while new > value + CLOSE and np.abs(step).max() > CLOSE:
            step = step / 2
            near, new = _dual(rows, signed, sums, multipliers + step)
        multipliers, value = multipliers + step, new
        excess = rows @ near - sums
        if np.abs(excess).max() < CLOSE * max(1, np.abs(sums).max()):
            break
        active = rows[:, np.flatnonzero(near > 0)]
        step = -np.linalg.solve((active @ active.T).toarray() + RIDGE * np.eye(len(sums)), excess)
    return multipliers, near


def _dual(rows: csc_array, signed: Integers, sums: Integers, multipliers: Floats) -> tuple[Floats, float]:
    near = np.maximum(signed + multipliers @ rows, 0)
    return near, float(near @ near / 2 - multipliers @ sums)


def _around(matrix: csr_array, signed: Integers, sums: Integers, near: Floats, words: Words) -> Integers:
    """The nearest counts within so many units of the least squares; more units where there are none."""
    wider = 0
    while wider <= WIDEST:
        low = np.maximum(np.floor(near + CLOSE).astype(np.int64) - wider, 0)
        high = np.maximum(np.ceil(near - CLOSE).astype(np.int64) + wider, low)
        counts = _program(matrix, signed, sums, low, high, words)
        if counts is not None:
            return counts
        wider = 2 * wider + 1
    raise SolverFailed("counts with the sums of a signed table were asked for", "no program found any")


def _program(
    matrix: csr_array, signed: Integers, sums: Integers, low: Integers, high: Integers, words: Words
) -> Integers | None:
    """A variable for every unit of every cell, with what it adds to the squared distance; units that cost less come
    first by themselves, since the cost of a cell is convex."""
    from scipy.sparse import csr_array

    from discreet.program import LinearProgram, solve_whole

    units = high - low
    cell = np.repeat(np.arange(len(signed)), units)
    place = np.arange(len(cell)) - np.repeat(np.cumsum(units) - units, units)
    costs = 2.0 * (low[cell] + place - signed[cell]) + 1.0
    costs += words[cell].astype(float) / 2.0**64 / (4 * max(1, len(cell)))  # all together below one: among equals only
    left = (sums - matrix @ low).astype(float)
    if len(cell) == 0:
        return low if not left.any() else None
    program = LinearProgram(
        costs, csr_array(matrix.tocsc()[:, cell].astype(float)), left, left, np.zeros(len(cell)), np.ones(len(cell))
    )
    found = solve_whole(program, LONGEST)
    if found is None:
        return None
    counts: Integers = low + np.bincount(cell, np.rint(found), minlength=len(signed)).astype(np.int64)
    return counts if np.array_equal(matrix @ counts, sums) else None
