"""What is known of one table (sums, inequalities, that no count is negative), and the cells that this leaves one value.

Only what is known matters, never the table itself: any that has these sums and meets these inequalities will do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Integers
from discreet.errors import SolverFailed
from discreet.lattice.inequalities import Inequalities

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from discreet.lattice.disclosure import GivenAway


@dataclass(frozen=True, eq=False)
class Valued:
    """What is known of a table: what some sums come to, and inequalities that it meets."""

    matrix: csr_array
    sums: Integers
    limits: Inequalities | None = None

    def met_by(self, counts: Integers) -> bool:
        same = np.array_equal(self.matrix @ counts, self.sums)
        return same and bool((counts >= 0).all()) and (self.limits is None or self.limits.hold(counts))


def sums_give_away(
    blocks: list[csr_array], counts: Integers | None = None, limits: Inequalities | None = None
) -> GivenAway:
    from scipy.sparse import csr_array, vstack

    from discreet.lattice.disclosure import GivenAway, given_away

    if not blocks:
        return GivenAway(np.zeros(0, dtype=np.int64), (), np.zeros(0, dtype=np.int64), True)
    return given_away(csr_array(vstack(blocks)), counts, limits)


def of_one_table(known: Mapping[int, Valued], witness: Integers | None) -> dict[int, Valued]:
    """The newest entry, and those before it whose sums a table may have that has all of these, too.

    The others are of data that changed in between: what was known then says nothing of now.
    """
    found: dict[int, Valued] = {}
    for number in sorted(known, reverse=True):
        if not any(_contradicts(one, known[number]) for one in found.values()):
            found[number] = known[number]
    if _may_be(found, witness):
        return found
    alike: dict[int, Valued] = {}
    for number, one in found.items():
        if not alike or _may_be({**alike, number: one}, witness):
            alike[number] = one
    return alike


def _contradicts(one: Valued, other: Valued) -> bool:
    """Whether the same sums come to something else: so much is seen without a program."""
    block, again = one.matrix, other.matrix
    same = np.array_equal(block.indptr, again.indptr) and np.array_equal(block.indices, again.indices)
    return same and not np.array_equal(one.sums, other.sums)


def _may_be(known: Mapping[int, Valued], witness: Integers | None) -> bool:
    """Whether some table has all these sums; where no program can tell, it is not ruled out."""
    try:
        return _some_table(known, witness) is not None
    except SolverFailed:
        return True


def fixed_cells(known: Mapping[int, Valued], witness: Integers | None) -> tuple[set[int], bool]:
    """Cells that can have one value only in a table without negative counts that has these sums and meets these
    inequalities; whether all is known. Only they matter, so any such table will do."""
    if not known:
        return set(), True
    try:
        counts = _some_table(known, witness)
    except SolverFailed:
        return set(), False
    whole = _together(known)
    if counts is None or not whole.met_by(counts):
        return set(), False
    away = sums_give_away([one.matrix for one in known.values()], counts, whole.limits)
    return set(away.fixed.tolist()), away.examined


def _together(known: Mapping[int, Valued]) -> Valued:
    from scipy.sparse import csr_array, vstack

    matrix = csr_array(vstack([one.matrix for one in known.values()]))
    sums = np.concatenate([one.sums for one in known.values()])
    limits = [one.limits for one in known.values() if one.limits is not None]
    if not limits:
        return Valued(matrix, sums)
    rows = csr_array(vstack([one.matrix for one in limits]))
    return Valued(matrix, sums, Inequalities(rows, np.concatenate([one.least for one in limits])))


def _some_table(known: Mapping[int, Valued], witness: Integers | None) -> Integers | None:
    """The witness where it will do, or a corner of the tables without negative counts that do, rounded: most have whole
    numbers."""
    from scipy.sparse import csr_array, vstack

    from discreet.program import LinearProgram, solve

    whole = _together(known)
    if witness is not None and whole.met_by(witness):
        return witness
    matrix, least, most = whole.matrix, whole.sums.astype(float), whole.sums.astype(float)
    if whole.limits is not None:
        matrix = csr_array(vstack([matrix, whole.limits.matrix]))
        least = np.append(least, whole.limits.least)
        most = np.append(most, np.full(len(whole.limits.least), np.inf))
    width = matrix.shape[1]
    found = solve(LinearProgram(np.zeros(width), matrix, least, most, np.zeros(width), np.full(width, np.inf)))
    return np.rint(found.values).astype(np.int64) if found.optimal else None
