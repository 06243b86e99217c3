"""What kept sums give away: cells they determine, remainders of cells, cells fixed since no count is negative.

A cell is free when some integer change that keeps every sum changes it by one. Let g be the greatest common divisor of
what such changes can do to it: 0, and the sums determine the cell; above 1, and they publish its remainder modulo g.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.lattice.invariants import Invariants
from discreet.lattice.structure import MOST_COLUMNS, Classes, Grid, Part, Structure, structure_of, tied, together

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from discreet.lattice.inequalities import Inequalities

MOST_BOUNDED = 200  # groups of cells whose bounds are looked for one by one: two small programs each, a second in all
MOST_REDUCED = 150  # groups of cells of which a lattice is reduced, which takes a second or so
MOST_ENTRIES = 800_000  # of a matrix of sums: a few seconds
SLACK = 1e-6  # of a bound found in floats: a cell within it of one whole number only is taken to be fixed
NONE = np.zeros(0, dtype=np.int64)  # no cells


@dataclass(frozen=True, eq=False)
class GivenAway:
    """By cells, counted from 0. `examined` is false where the sums are too entangled to be sure of all of it."""

    exact: Integers  # determined by the sums alone
    residues: tuple[tuple[int, int], ...]  # (cell, modulus): its remainder is published
    fixed: Integers  # determined besides, because counts are not negative and the sums have these values
    examined: bool

    def __bool__(self) -> bool:
        return bool(len(self.exact) or self.residues or len(self.fixed))


def given_away(matrix: csr_array, counts: Integers | None = None) -> GivenAway:
    """Of a 0/1 matrix with a row per kept sum and a column per cell; `counts` is any table with these sums."""
    rows = np.arange(matrix.shape[0])
    structure = structure_of(Invariants(matrix, (), (), rows))
    found: list[Integers] = []
    residues: list[tuple[int, int]] = []
    examined = True
    for part in structure.parts:
        if _takes_long(part):
            examined = False
            continue
        found.append(part.determined)
        residues += part.residues
    exact = np.sort(np.concatenate(found)) if found else NONE
    if counts is None:
        return GivenAway(exact, tuple(sorted(residues)), NONE, examined)
    fixed, bounded = fixed_cells(structure, counts)
    return GivenAway(exact, tuple(sorted(residues)), np.setdiff1d(fixed, exact), examined and bounded)


def _takes_long(part: Part) -> bool:
    """Whether it would take more than seconds to know what the sums of a part give away."""
    if part.laminar or part.grid is not None:
        return False
    if len(part.classes) > MOST_COLUMNS or math.prod(part.matrix.shape) > MOST_ENTRIES:
        return True
    return part.plain_kernel is None and len(part.classes) > MOST_REDUCED


def fixed_rows(
    structure: Structure, counts: Integers, kept: csr_array | None = None, limits: Inequalities | None = None
) -> Integers:
    """Rows, counted from 1, that kept sums fix in a table without negative counts, beside those they determine; also in
    one that meets these inequalities."""
    fixed = fixed_cells(structure, counts)[0]
    if kept is not None and limits is not None:
        fixed = np.union1d(fixed, _fixed_within(structure, kept, limits, counts))
    return np.setdiff1d(fixed, structure.determined) + 1


def _fixed_within(structure: Structure, kept: csr_array, limits: Inequalities, counts: Integers) -> Integers:
    """Cells that kept sums and inequalities together leave one value. Cells that nothing ties to each other are looked
    at in the same two programs: a cell of each group at a time."""
    from scipy.sparse import csr_array, vstack

    group = tied(structure, limits.cells)
    about = np.isin(group, group[limits.matrix.indices])
    cells = np.flatnonzero(about & (np.bincount(group)[group] <= MOST_BOUNDED))
    if not len(cells):
        return NONE
    order = cells[np.argsort(group[cells], kind="stable")]
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    rows = csr_array(vstack([kept, limits.matrix]))[:, order]
    exact, room = np.zeros(kept.shape[0]), limits.least - limits.matrix @ counts
    touched = np.diff(rows.indptr) > 0
    program = _Program(
        csr_array(rows[touched]),
        np.concatenate([exact, room.astype(float)])[touched],
        np.concatenate([exact, np.full(len(room), np.inf)])[touched],
        -counts[order].astype(float),
    )
    return np.sort(order[program.fixed(place)])


@dataclass(frozen=True, eq=False)
class _Program:
    """Changes to a table that keep some sums and leave others room: small numbers, whatever the counts are."""

    matrix: csr_array
    least: Floats
    most: Floats
    lowest: Floats  # change of each cell that leaves no count negative

    def fixed(self, place: Integers) -> Integers:
        """Cells that can have one value only; those at the same place of their groups do not depend on each other."""
        found = []
        for at in range(int(place.max()) + 1):
            which = np.flatnonzero(place == at)
            least = np.ceil(_inwards(self._end(which, 1), -1))
            most = np.floor(_inwards(self._end(which, -1, least + 1), 1))
            found.append(which[least >= most])
        return np.concatenate(found)

    def _end(self, which: Integers, sign: int, top: Floats | None = None) -> Floats:
        """The least change of these cells, or (sign -1) the largest up to `top`."""
        from discreet.program import LinearProgram, solve

        goal, upper = np.zeros(len(self.lowest)), np.full(len(self.lowest), np.inf)
        goal[which] = sign
        if top is not None:
            upper[which] = top
        solved = solve(LinearProgram(goal, self.matrix, self.least, self.most, self.lowest, upper))
        values: Floats = solved.values[which]
        return values


def _inwards(values: Floats, sign: int) -> Floats:
    """As far as the solver may be off."""
    moved: Floats = values + sign * SLACK * np.maximum(1.0, np.abs(values))
    return moved


def fixed_cells(structure: Structure, counts: Integers) -> tuple[Integers, bool]:
    """Cells that can have one value only in a table of counts with the same kept sums; and whether all were looked at.

    `counts` may be any table with these sums, even one with negative entries: only its kept sums matter.
    """
    apart: list[Classes] = []
    found: list[Integers] = []
    complete = True
    for part in structure.parts:
        if _takes_long(part):
            complete = False
        elif not part.free:  # every class keeps its own sum
            apart.append(part.classes)
        elif part.grid is None and len(part.classes) > MOST_BOUNDED:
            complete = False
        else:
            found.append(_settled(part, *_bounds(part, counts)))
    found.append(_alone_or_empty(together(apart), counts))
    return np.sort(np.concatenate(found)), complete


def _alone_or_empty(classes: Classes, counts: Integers) -> Integers:
    """The cells of classes that hold one cell, or nobody."""
    return classes.some(np.flatnonzero((classes.sizes == 1) | (classes.sums(counts) == 0))).cells


def _settled(part: Part, least: Integers, most: Integers) -> Integers:
    settled = np.where(part.sizes == 1, least == most, most == 0)
    return part.classes.some(np.flatnonzero(settled)).cells


def _bounds(part: Part, counts: Integers) -> tuple[Integers, Integers]:
    """Least and largest sum of every class of cells."""
    held = part.classes.sums(counts)
    return _programs(part, held) if part.grid is None else _two_way(part.grid, held)


def _two_way(grid: Grid, held: Integers) -> tuple[Integers, Integers]:
    """Frechet's bounds: min(row, column) above, row + column - total below."""
    table = held[grid.place]
    down, across = table.sum(axis=1)[:, None], table.sum(axis=0)[None, :]
    least, most = np.empty_like(held), np.empty_like(held)
    most[grid.place] = np.minimum(down, across)
    least[grid.place] = np.maximum(0, down + across - table.sum())
    return least, most


def _programs(part: Part, held: Integers) -> tuple[Integers, Integers]:
    """Linear programs, two for every class, again and again: what is found to be fixed narrows the rest."""
    steps = part.steps  # class sums are known up to multiples of these
    least, most = np.zeros_like(held), np.full_like(held, -1)
    while True:
        fixed = least == most
        least, most = _narrowed(part, held, np.where(fixed, least, 0), np.where(fixed, most, -1))
        off = steps > 0
        least[off] += (held - least)[off] % steps[off]
        most[off] -= (most - held)[off] % steps[off]
        if np.array_equal(fixed, least == most):
            return least, most


def _narrowed(part: Part, held: Integers, lower: Integers, upper: Integers) -> tuple[Integers, Integers]:
    """The least and the largest sum of every class within these bounds; an upper one of -1 is none."""
    from discreet.program import LinearProgram, solve

    none, classes = np.zeros(part.matrix.shape[0]), len(held)  # changes: their numbers are small, whatever the counts
    below, above = (lower - held).astype(float), np.where(upper < 0, np.inf, upper - held)
    least, most = lower.copy(), upper.copy()
    for c in np.flatnonzero(upper < 0):
        up = (np.arange(classes) == c).astype(float)
        low, high = (solve(LinearProgram(goal, part.matrix, none, none, below, above)).value for goal in (up, -up))
        least[c] = held[c] + math.ceil(low - SLACK * max(1.0, abs(low)))
        most[c] = held[c] + math.floor(-high + SLACK * max(1.0, abs(high)))
    return least, most
