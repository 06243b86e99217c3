"""What kept sums give away: cells they determine, remainders of cells, cells fixed since no count is negative.

A cell is free when some integer change that keeps every sum changes it by one. Let g be the greatest common divisor of
what such changes can do to it: 0, and the sums determine the cell; above 1, and they publish its remainder modulo g.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Flags, Floats, Integers
from discreet.lattice.invariants import Invariants
from discreet.lattice.needed import needed_sums
from discreet.lattice.shape import MOST_COLUMNS, Grid
from discreet.lattice.structure import Classes, Part, Structure, structure_of, tied, together

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from discreet.lattice.inequalities import Inequalities

MOST_BOUNDED = 200  # groups of cells whose bounds are looked for one by one: two small programs each, a second in all
MOST_REDUCED = 150  # groups of cells of which a lattice is reduced, which takes a second or so
MOST_ENTRIES = 800_000  # of a matrix of sums: a few seconds
MOST_GLANCES, WORTH_A_GLANCE = 20, 0.9  # programs over all cells, each of which leaves at most this part undecided
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


def given_away(matrix: csr_array, counts: Integers | None = None, limits: Inequalities | None = None) -> GivenAway:
    """Of a 0/1 matrix with a row per kept sum and a column per cell; `counts` is any table with these sums that meets
    these inequalities."""
    matrix = needed_sums(matrix)
    structure = structure_of(Invariants(matrix, (), (), np.arange(matrix.shape[0])))
    found: list[Integers] = []
    residues: list[tuple[int, int]] = []
    examined = True
    for part in structure.alike:
        if _takes_long(part):
            examined = False
            continue
        found.append(part.determined)
        residues += part.residues
    exact = np.sort(np.concatenate(found)) if found else NONE
    if counts is None:
        return GivenAway(exact, tuple(sorted(residues)), NONE, examined)
    fixed, bounded = fixed_cells(structure, counts, MOST_COLUMNS)
    if limits is not None:
        within, all_within = _fixed_within(structure, matrix, limits, counts, np.union1d(fixed, exact))
        fixed, bounded = np.union1d(fixed, within), bounded and all_within
    return GivenAway(exact, tuple(sorted(residues)), np.setdiff1d(fixed, exact), examined and bounded)


def _takes_long(part: Part) -> bool:
    """Whether it would take more than seconds to know what the sums of a part give away."""
    if part.shape.laminar or part.shape.places is not None:
        return False
    if len(part.sizes) > MOST_COLUMNS or math.prod(part.shape.matrix.shape) > MOST_ENTRIES:
        return True
    return part.shape.plain_kernel is None and len(part.sizes) > MOST_REDUCED


def fixed_rows(
    structure: Structure, counts: Integers, kept: csr_array | None = None, limits: Inequalities | None = None
) -> Integers:
    """Rows, counted from 1, that kept sums fix in a table without negative counts, beside those they determine; also in
    one that meets these inequalities."""
    fixed = fixed_cells(structure, counts)[0]
    if kept is not None and limits is not None:
        known = np.union1d(fixed, structure.determined)
        fixed = np.union1d(fixed, _fixed_within(structure, kept, limits, counts, known)[0])
    return np.setdiff1d(fixed, structure.determined) + 1


def _fixed_within(
    structure: Structure, kept: csr_array, limits: Inequalities, counts: Integers, known: Integers
) -> tuple[Integers, bool]:
    """Cells that kept sums and inequalities together leave one value, beside those known to have one; and whether all
    were looked at. Cells that nothing ties to each other are looked at in the same programs: a cell of each group at a
    time."""
    from scipy.sparse import csr_array, vstack

    group = tied(structure, limits.cells)
    about = np.isin(group, group[limits.matrix.indices])
    few = np.bincount(group)[group] <= MOST_BOUNDED
    cells, complete = np.flatnonzero(about & few), bool(few[about].all())
    if not len(cells):
        return NONE, complete
    rows = csr_array(vstack([kept, limits.matrix]))[:, cells]
    exact, room = np.zeros(kept.shape[0]), limits.least - limits.matrix @ counts
    least, most = np.concatenate([exact, room]), np.concatenate([exact, np.full(len(room), np.inf)])
    touched = np.diff(rows.indptr) > 0
    program = _Program(csr_array(rows[touched]), least[touched], most[touched], -counts[cells].astype(float))
    return cells[program.fixed(group[cells], ~np.isin(cells, known))], complete


@dataclass(frozen=True, eq=False)
class _Program:
    """Changes to a table that keep some sums and leave others room: small numbers, whatever the counts are."""

    matrix: csr_array
    least: Floats
    most: Floats
    lowest: Floats  # change of each cell that leaves no count negative

    def fixed(self, group: Integers, asked: Flags) -> Integers:
        """Those of the cells asked about that can have one value only; those of different groups do not depend on each
        other. Every solution is a table that could be: it shows of all cells in which two whole numbers were seen that
        they are not fixed, and most are seen so at a glance."""
        seen = self._glances(asked)
        undecided, found = asked & ~seen.moved, []
        while undecided.any():
            here = np.isin(group, group[undecided])
            part, at = self._some(here), np.flatnonzero(here)
            which = np.unique(group[at][undecided[at]], return_index=True)[1]
            which = np.flatnonzero(undecided[at])[which]
            values = part.solved(which, 1)
            least = np.ceil(_inwards(values[which], -1))
            seen.add(at, values)
            values = part.solved(which, -1, least + 1)
            seen.add(at, values)
            most = np.floor(_inwards(values[which], 1))
            found.append(at[which[least >= most]])
            undecided[at[which]] = False
            undecided &= ~seen.moved
        return np.sort(np.concatenate(found)) if found else NONE

    def _glances(self, asked: Flags) -> _Seen:
        """Tables around one that could be, with half of the cells pushed up and half down, while that decides many."""
        start, number = self.near, np.arange(len(self.lowest))
        seen, before = _Seen(start.copy(), start.copy()), math.inf
        box = np.maximum(self.lowest, start - 1), start + 1
        for bit in range(MOST_GLANCES):
            left = asked & ~seen.moved
            if not left.any() or left.sum() > WORTH_A_GLANCE * before:
                break
            before = left.sum()
            seen.add(slice(None), self._end(np.where(left, 2.0 * (number >> bit & 1) - 1, 0.0), *box))
        return seen

    @cached_property
    def near(self) -> Floats:
        """A change to a table that could be, as small as can be: no cell gets what belongs to many."""
        from scipy.sparse import csr_array, hstack

        from discreet.program import LinearProgram, solve

        size, none = len(self.lowest), np.zeros(len(self.lowest))
        lower = np.concatenate([np.maximum(self.lowest, 0), none])
        upper = np.concatenate([none + np.inf, np.maximum(-self.lowest, 0)])
        both = csr_array(hstack([self.matrix, -self.matrix]))
        values = solve(LinearProgram(np.ones(2 * size), both, self.least, self.most, lower, upper)).values
        return values[:size] - values[size:]

    def _some(self, cells: Flags) -> _Program:
        """The program of these groups alone."""
        rows = self.matrix[:, np.flatnonzero(cells)]
        touched = np.diff(rows.indptr) > 0
        return _Program(rows[touched], self.least[touched], self.most[touched], self.lowest[cells])

    def solved(self, which: Integers, sign: int, top: Floats | None = None) -> Floats:
        """A change in which these cells have the least value, or (sign -1) the largest up to `top`."""
        goal, upper = np.zeros(len(self.lowest)), np.full(len(self.lowest), np.inf)
        goal[which] = sign
        if top is not None:
            upper[which] = top
        return self._end(goal, self.lowest, upper)

    def _end(self, goal: Floats, lower: Floats, upper: Floats) -> Floats:
        from discreet.program import LinearProgram, solve

        return solve(LinearProgram(goal, self.matrix, self.least, self.most, lower, upper)).values


@dataclass
class _Seen:
    """The least and the largest value that each cell had in some table."""

    low: Floats
    high: Floats

    def add(self, at: Any, values: Floats) -> None:
        self.low[at] = np.minimum(self.low[at], values)
        self.high[at] = np.maximum(self.high[at], values)

    @property
    def moved(self) -> Flags:
        """Cells of which more than one whole number was seen."""
        found: Flags = np.ceil(_inwards(self.low, -1)) < np.floor(_inwards(self.high, 1))
        return found


def _inwards(values: Floats, sign: int) -> Floats:
    """As far as the solver may be off."""
    moved: Floats = values + sign * SLACK * np.maximum(1.0, np.abs(values))
    return moved


def fixed_cells(structure: Structure, counts: Integers, most: int = MOST_BOUNDED) -> tuple[Integers, bool]:
    """Cells that can have one value only in a table of counts with the same kept sums; and whether all were looked at:
    groups of up to `most` cells, which above MOST_BOUNDED are looked at together; of others those in a sum of zero.

    `counts` may be any table with these sums, even one with negative entries: only its kept sums matter.
    """
    apart: list[Classes] = []
    found: list[Integers] = []
    complete = True
    for part in structure.alike:
        if _takes_long(part):
            complete = False
            found.append(_in_empty_sums(part, counts))
        elif not part.shape.free:  # every class keeps its own sum
            apart.append(part.classes)
        elif part.shape.grid is not None:
            found.append(_settled(part, *_two_way(part, part.shape.grid, counts)))
        elif len(part.sizes) > most:
            complete = False
            found.append(_in_empty_sums(part, counts))
        elif len(part.sizes) > MOST_BOUNDED or part.shape.places is not None:
            found += [_at_a_glance(one, counts) for one in part.each]  # in places whole numbers reach as far as others
        else:
            found += [_settled(one, *_programs(one, one.classes.sums(counts))) for one in part.each]
    found.append(_alone_or_empty(together(apart), counts))
    return np.sort(np.concatenate(found)), complete


def _alone_or_empty(classes: Classes, counts: Integers) -> Integers:
    """The cells of classes that hold one cell, or nobody."""
    return classes.some(np.flatnonzero((classes.sizes == 1) | (classes.sums(counts) == 0))).cells


def _in_empty_sums(part: Part, counts: Integers) -> Integers:
    """The cells of kept sums that hold nobody: so much is seen of any sums, however entangled."""
    held = part.classes.sums(counts).reshape(part.copies, -1)
    empty = part.shape.matrix @ held.T == 0
    return part.classes.some(np.flatnonzero((part.shape.matrix.T @ empty.astype(np.int64)).T.ravel())).cells


def _at_a_glance(part: Part, counts: Integers) -> Integers:
    """The cells of classes that can have one value only; those with a kept sum of zero are seen without a program."""
    held, none = part.classes.sums(counts), np.zeros(part.shape.matrix.shape[0])
    empty = part.shape.matrix.T @ (part.shape.matrix @ held == 0).astype(np.int64) > 0
    program = _Program(part.shape.matrix, none, none, -held.astype(float))
    fixed = np.union1d(np.flatnonzero(empty), program.fixed(np.zeros(len(held), dtype=np.int64), ~empty))
    value = held + np.rint(program.near)  # of those that are fixed: `held` may be negative, and is then not theirs
    return part.classes.some(fixed[(part.sizes[fixed] == 1) | (value[fixed] == 0)]).cells


def _settled(part: Part, least: Integers, most: Integers) -> Integers:
    settled = np.where(part.classes.sizes == 1, least == most, most == 0)
    return part.classes.some(np.flatnonzero(settled)).cells


def _two_way(part: Part, grid: Grid, counts: Integers) -> tuple[Integers, Integers]:
    """Least and largest sum of every class of cells, by Frechet's bounds: min(row, column) above, row + column - total
    below."""
    held = part.classes.sums(counts).reshape(part.copies, -1)
    table = held[:, grid.place]
    down, across = table.sum(axis=2, keepdims=True), table.sum(axis=1, keepdims=True)
    least, most = np.empty_like(held), np.empty_like(held)
    most[:, grid.place] = np.minimum(down, across)
    least[:, grid.place] = np.maximum(0, down + across - down.sum(axis=1, keepdims=True))
    return least.ravel(), most.ravel()


def _programs(part: Part, held: Integers) -> tuple[Integers, Integers]:
    """Linear programs, two for every class, again and again: what is found to be fixed narrows the rest."""
    steps = part.shape.steps  # class sums are known up to multiples of these
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

    none, classes = (
        np.zeros(part.shape.matrix.shape[0]),
        len(held),
    )  # changes: their numbers are small, whatever the counts
    below, above = (lower - held).astype(float), np.where(upper < 0, np.inf, upper - held)
    least, most = lower.copy(), upper.copy()
    for c in np.flatnonzero(upper < 0):
        up = (np.arange(classes) == c).astype(float)
        low, high = (
            solve(LinearProgram(goal, part.shape.matrix, none, none, below, above)).value for goal in (up, -up)
        )
        least[c] = held[c] + math.ceil(low - SLACK * max(1.0, abs(low)))
        most[c] = held[c] + math.floor(-high + SLACK * max(1.0, abs(high)))
    return least, most
