"""Whether inequalities leave room for tables: if not, a few of them that contradict each other show it.

B y >= b + t is tried with t as large as possible. If t cannot be above 0, multipliers m >= 0 and c with m B + c A = 0
(A y = s the kept sums; <= 0, where no y is negative) and m b + c s >= 0 prove it: above 0 no table meets them, at 0
they hold only as equalities. Floats propose the multipliers; they are believed only where exact arithmetic agrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import SolverFailed
from discreet.lattice.inequalities import Inequalities

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NO_ROOM = 1e-6  # of t, up to which it is worth to look for a proof
FINEST = 1000  # denominators of multipliers: those of inequalities that people write are small


@dataclass(frozen=True)
class Conflict:
    """Inequalities, by their numbers from 0, that no table meets, or only with equality; `counts` that counts are not
    negative, and `sums` that some sums are kept, is part of the proof."""

    inequalities: tuple[int, ...]
    strict: bool
    counts: bool
    sums: bool


def conflict(
    limits: Inequalities, nonnegative: bool, kept: tuple[csr_array, Integers] | None = None
) -> Conflict | None:
    """What shows that there is no room between them, if so; None also where no proof was found."""
    empty = np.diff(limits.matrix.indptr) == 0
    if len(never := np.flatnonzero(empty & (limits.least > 0))):
        return Conflict((int(never[0]),), True, False, False)
    found = _multipliers(limits, nonnegative, kept)
    return None if found is None else _proved(limits, nonnegative, found, kept)


def _multipliers(limits: Inequalities, nonnegative: bool, kept: tuple[csr_array, Integers] | None) -> Floats | None:
    """Of the inequalities and then of the kept sums, where the program finds no room."""
    from scipy.sparse import csr_array, hstack, vstack

    from discreet.program import LinearProgram, solve

    (number, cells), endless = limits.matrix.shape, np.inf
    slack = csr_array(-(np.diff(limits.matrix.indptr) > 0).astype(float)[:, None])  # of one about nothing there is none
    rows = csr_array(hstack([limits.matrix, slack]))
    low, high = limits.least.astype(float), np.full(number, endless)
    if kept is not None:
        sums, values = kept
        rows = csr_array(vstack([rows, hstack([sums, csr_array((sums.shape[0], 1), dtype=float)])]))
        low, high = np.concatenate([low, values]), np.concatenate([high, values])
    costs, lower, upper = np.zeros(cells + 1), np.full(cells + 1, -endless), np.full(cells + 1, endless)
    lower[:-1] = 0.0 if nonnegative else -endless
    costs[-1], upper[-1] = -1.0, 1.0
    try:
        answer = solve(LinearProgram(costs, rows.astype(float), low, high, lower, upper))
    except SolverFailed:
        return None
    return None if not answer.optimal or answer.values[-1] > NO_ROOM else answer.duals


def _proved(
    limits: Inequalities, nonnegative: bool, found: Floats, kept: tuple[csr_array, Integers] | None
) -> Conflict | None:
    """The same, if the multipliers are a proof once they are rounded."""
    size = limits.matrix.shape[0]
    scaled = found / max(np.abs(found[:size]).max(), NO_ROOM)
    exact = [Fraction(float(value)).limit_denominator(FINEST) for value in scaled]
    unit = lcm(*(value.denominator for value in exact))
    numbers = np.array([int(value * unit) for value in exact], dtype=object)
    own, sums = numbers[:size], numbers[size:]
    left, total = _weighed(limits.matrix, own), int(own @ limits.least.astype(object))
    if kept is not None:
        left, total = left + _weighed(kept[0], sums), total + int(sums @ kept[1].astype(object))
    signs = set(np.sign(left).tolist())
    used = np.flatnonzero(own)
    if not len(used) or any(own < 0) or total < 0 or not signs <= ({0, -1} if nonnegative else {0}):
        return None
    return Conflict(tuple(used.tolist()), total > 0, -1 in signs, any(sums))


def _weighed(matrix: csr_array, numbers: Integers) -> Integers:
    """numbers @ matrix, in whole numbers of any size."""
    out = np.zeros(matrix.shape[1], dtype=object)
    for row in np.flatnonzero(numbers).tolist():
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        for place, entry in zip(matrix.indices[part].tolist(), matrix.data[part].tolist()):
            out[place] += int(numbers[row]) * entry
    return out
