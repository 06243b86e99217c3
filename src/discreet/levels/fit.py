"""The non-negative table nearest to a target that has given sums of rows and of columns, for many tables at once.

A table is a node of the level above and one combination of the coarser attributes; its rows are the children, its
columns the finer attributes. Nearest means the least sum of (x - target)^2 / spread: cells that are well known stay,
doubtful ones take up the difference. So x = max(0, target + spread (a + b)), a for a row and b for a column, found by
Newton's steps in turn. What these leave is small; it is moved in whole multiples of 1/FINE, so that all sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from discreet.arrays import Flags, Floats, Integers
from discreet.levels.compiled import kernels
from discreet.levels.fixed import FINE, in_fine

SWEEPS = 30  # over rows and columns, at most
TURNS = 3  # Newton's steps in each, at most: one may go too far where most cells are zero, and the others would follow
CLOSE = FINE // 2  # of a sum, in multiples of 1/FINE: the rest is moved exactly
LEAST_SPREAD = 1 / FINE  # the smallest that is not zero in multiples of 1/FINE
SLIGHTLY_LESS = 1 - 2.0**-40  # quotients are rounded: parts in proportion must not add up to more than the whole
TOGETHER = 1 << 16  # cells: so many stay in the cache of a processor
FARTHEST = float(1 << 50)  # a step that goes further is taken back by the next one; it fits into a whole number
WIDEST_SPREAD = float(1 << 40)  # more than any table counts; sums of such stay in range


@dataclass(frozen=True, eq=False)
class TwoSums:
    """What every table is to add up to, in multiples of 1/FINE."""

    parent: Integers  # of each child, its node in the level above; children of a node stand next to each other
    starts: Integers  # where the children of each node begin
    rows: Integers  # [child, coarse]
    columns: Integers  # [node, coarse, fine]

    @property
    def ends(self) -> Integers:
        """Where the children of each node end."""
        return np.append(self.starts[1:], len(self.parent))

    def only(self, nodes: Flags) -> TwoSums:
        """The tables of some nodes."""
        children = nodes[self.parent]
        sizes = (self.ends - self.starts)[nodes]
        parent = np.repeat(np.arange(len(sizes)), sizes)
        return TwoSums(parent, np.cumsum(sizes) - sizes, self.rows[children], self.columns[nodes])

    def parts(self) -> Iterator[tuple[slice, TwoSums]]:
        """Nodes next to each other with few cells together, and where their children are."""
        size, ends = self.columns[0].size, self.ends
        together = TOGETHER if kernels(len(self.parent) * size) is None else len(self.parent) * size + 1
        for first, last in pairwise([*np.flatnonzero(np.diff(ends * size // together, prepend=-1)), len(ends)]):
            children = slice(self.starts[first], ends[last - 1])
            parent, starts = self.parent[children] - first, self.starts[first:last] - self.starts[first]
            yield children, TwoSums(parent, starts, self.rows[children], self.columns[first:last])

    def over_children(self, values: Integers) -> Integers:
        sums: Integers = np.add.reduceat(values, self.starts, axis=0)
        return sums

    def running(self, values: Integers) -> Integers:
        """Sums over the children of the same node up to each child."""
        running: Integers = np.cumsum(values, axis=0)
        before = np.concatenate([np.zeros_like(running[:1]), running])[self.starts]
        running -= before[self.parent]
        return running


def fitted(target: Floats, spread: Floats, sums: TwoSums) -> Integers:
    """In multiples of 1/FINE, never negative, with exactly these sums."""
    fine = _in_turn(target, np.clip(spread, LEAST_SPREAD, WIDEST_SPREAD), sums)
    fine = np.minimum(fine, sums.rows[:, :, None])
    return _columns_exact(_rows_exact(fine, sums), sums)


def _in_turn(target: Floats, spread: Floats, sums: TwoSums) -> Integers:
    """Steps for rows and for columns in turn, until a node's sums are close; then its table is left as it is."""
    if (compiled := kernels(target.size)) is not None:
        tables = (np.ascontiguousarray(table) for table in (target, spread))
        limits = (SWEEPS, TURNS, CLOSE, FARTHEST)
        steps: Integers = compiled.in_turn(*tables, sums.ends, sums.rows, sums.columns, FINE, *limits)
        return steps
    found = np.empty(target.shape, dtype=np.int64)
    part, at = sums, np.arange(len(target))
    by_row, by_column = np.zeros(sums.rows.shape), np.zeros(sums.columns.shape)
    fine = _at(target, spread, by_row, by_column, part)
    for _ in range(SWEEPS):
        left = part.rows - fine.sum(axis=2)
        for turn in range(TURNS):
            by_row = by_row + _step(left, _room(fine, spread).sum(axis=2), turn)
            fine = _at(target, spread, by_row, by_column, part)
            left = part.rows - fine.sum(axis=2)
            if not (np.abs(left) > CLOSE).any():
                break
        found[at] = fine
        gap = part.columns - part.over_children(fine)
        far = np.abs(gap).max(axis=(1, 2)) > CLOSE
        if not far.any():
            break
        if not far.all():
            still = far[part.parent]
            part, at, gap, fine = part.only(far), at[still], gap[far], fine[still]
            target, spread, by_row, by_column = target[still], spread[still], by_row[still], by_column[far]
        for turn in range(TURNS):
            by_column = by_column + _step(gap, part.over_children(_room(fine, spread)), turn)
            fine = _at(target, spread, by_row, by_column, part)
            gap = part.columns - part.over_children(fine)
            if not (np.abs(gap) > CLOSE).any():
                break
    return found


def _step(gap: Integers, room: Integers, turn: int) -> Floats:
    """The first one always, others where sums are not yet close."""
    steps: Floats = gap / np.maximum(room, 1)
    return steps if not turn else np.where(np.abs(gap) > CLOSE, steps, 0.0)


def _at(target: Floats, spread: Floats, by_row: Floats, by_column: Floats, sums: TwoSums) -> Integers:
    cells = by_column[sums.parent]
    cells += by_row[:, :, None]
    cells *= spread
    cells += target
    return in_fine(np.clip(cells, 0.0, FARTHEST, out=cells))


def _room(fine: Integers, spread: Floats) -> Integers:
    """How fast cells grow."""
    return np.where(fine > 0, in_fine(spread), 0)


def _rows_exact(fine: Integers, sums: TwoSums) -> Integers:
    """Rows with too much in proportion; what is then missing goes to the largest cell."""
    wanted, found = sums.rows, fine.sum(axis=2)
    factor = np.where(found > wanted, wanted / np.maximum(found, 1) * SLIGHTLY_LESS, 1.0)
    lower = np.floor(fine * factor[:, :, None]).astype(np.int64)
    missing = wanted - lower.sum(axis=2)
    largest = lower.argmax(axis=2)[:, :, None]
    np.put_along_axis(lower, largest, np.take_along_axis(lower, largest, 2) + missing[:, :, None], 2)
    return lower


def _columns_exact(fine: Integers, sums: TwoSums) -> Integers:
    """Take from the columns that hold too much, and give to the others, row by row as much as was taken there.

    What the rows have to give and what the columns lack are laid along one line: where two stretches overlap, that much
    is given.
    """
    gap = sums.columns - sums.over_children(fine)
    if not gap.any():
        return fine
    taken = _taken(fine, np.maximum(-gap, 0), sums)
    freed = taken.sum(axis=2)
    until, reach = sums.running(freed)[:, :, None], np.cumsum(np.maximum(gap, 0), axis=2)
    before, start = until - freed[:, :, None], reach - np.maximum(gap, 0)
    given = np.minimum(until, reach[sums.parent]) - np.maximum(before, start[sums.parent])
    fits: Integers = fine - taken + np.maximum(given, 0)
    return fits


def _taken(fine: Integers, surplus: Integers, sums: TwoSums) -> Integers:
    """From the children in proportion, and the last few units wherever they are found first."""
    factor = surplus / np.maximum(sums.over_children(fine), 1) * SLIGHTLY_LESS
    taken: Integers = np.floor(fine * factor[sums.parent]).astype(np.int64)
    left = (surplus - sums.over_children(taken))[sums.parent]
    rest = fine - taken
    before = sums.running(rest) - rest
    taken += np.clip(left - before, 0, rest)
    return taken
