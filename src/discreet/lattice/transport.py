"""The nearest non-negative two-way table with the same margins, in whole numbers: shortest paths between columns.

Rows are blocks, so a table that is nearest given its row sums alone is found at once; it is nearest, too, among all
tables that have its own column sums. Units are then moved inside rows from columns that hold too much to columns that
hold too little, always along a cheapest path: so the table stays nearest among those with its sums, and when the
columns fit it is the one looked for. To add a weight to a column changes nothing of this, and brings the start close.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from discreet.arrays import Integers, Words
from discreet.errors import Infeasible, SolverFailed
from discreet.lattice.blocks import nearest_in_blocks

FAR = 1 << 60  # more than any path costs
WIDEST = 1 << 40  # of a signed value: no noise that can be drawn comes near it, and costs of paths stay far from FAR
ROUNDS = 100  # of bringing the start close: only speed depends on them
MOST_MOVES = 20  # for each cell: honest tables take less than one


@dataclass(frozen=True, eq=False)
class TwoWayCells:
    """Cells of a two-way table, row by row and column by column within a row; a place may hold several cells."""

    signed: Integers
    sizes: Integers  # cells[row, column]: how many cells a place holds
    words: Words  # that decide among equals

    @cached_property
    def starts(self) -> Integers:
        starts: Integers = np.cumsum(self.sizes.ravel()) - self.sizes.ravel()
        return starts

    @cached_property
    def column(self) -> Integers:
        """The column of every cell."""
        rows, columns = self.sizes.shape
        return np.repeat(np.tile(np.arange(columns), rows), self.sizes.ravel())

    def column_sums(self, values: Integers) -> Integers:
        sums: Integers = np.add.reduceat(values, self.starts).reshape(self.sizes.shape).sum(axis=0)
        return sums

    def cells(self, values: Integers, best: Integers, rows: Integers, column: int) -> Integers:
        """In these rows of a column, the cell whose value is the best of its place; of several the first by words."""
        starts = self.starts.reshape(self.sizes.shape)[rows, column]
        sizes = self.sizes[rows, column]
        if np.all(sizes == 1):
            alone: Integers = starts
            return alone
        found = []
        for start, size, value in zip(starts.tolist(), sizes.tolist(), best[rows, column].tolist()):
            able = start + np.flatnonzero(values[start : start + size] == value)
            found.append(able[np.argmin(self.words[able])])
        return np.array(found, dtype=np.int64)


def nearest_two_way(signed: Integers, sizes: Integers, words: Words) -> Integers:
    """The counts nearest to these signed values, by least squares, with the same sums of rows and of columns."""
    if signed.min() >= 0:
        return signed.copy()
    if int(signed.max()) > WIDEST or int(signed.min()) < -WIDEST:
        raise _absurd()
    grid = TwoWayCells(signed, sizes, words)
    wanted = grid.column_sums(signed)
    counts = _start(grid, wanted)
    surplus = grid.column_sums(counts) - wanted
    for _ in range(MOST_MOVES * len(signed)):
        if not surplus.any():
            return counts
        counts, surplus = _moved(grid, counts, surplus)
    raise _absurd()


def _absurd() -> SolverFailed:
    return SolverFailed("counts with the margins of a signed table were asked for", "its values are absurdly far apart")


def _start(grid: TwoWayCells, wanted: Integers) -> Integers:
    """Nearest for weights of columns that make them fit nearly: steps by what each cell of a column is off, and half
    of that where the bound that weights give (on the least squared distance) does not rise."""
    in_row, column = grid.sizes.sum(axis=1), grid.column
    sums = np.add.reduceat(grid.signed, np.cumsum(in_row) - in_row)
    weights, step, damping = np.zeros_like(wanted), np.zeros_like(wanted), 1
    best: int | None = None
    for _ in range(ROUNDS):
        tried = weights - step
        counts = nearest_in_blocks(grid.signed + tried[column], in_row, sums, grid.words)
        off = grid.column_sums(counts) - wanted
        value = int(((counts - grid.signed) ** 2).sum() - 2 * (tried @ off))
        if best is None or value > best:
            weights, nearest, surplus, best, damping = tried, counts, off, value, max(1, damping // 2)
        else:
            damping *= 2
        held = np.maximum(grid.column_sums((nearest > 0).astype(np.int64)), 1)
        step = np.sign(surplus) * (np.abs(surplus) // (damping * held))
        if not step.any():
            break
    return nearest


def _moved(grid: TwoWayCells, counts: Integers, surplus: Integers) -> tuple[Integers, Integers]:
    """As many units as can go the same cheapest way, each in another row.

    No row serves two hops of a way one after the other: it could make both in one, for less.
    """
    off = counts - grid.signed
    up, down = 2 * off + 1, np.where(counts > 0, 2 * off - 1, -FAR)
    more = np.minimum.reduceat(up, grid.starts).reshape(grid.sizes.shape)
    less = np.maximum.reduceat(down, grid.starts).reshape(grid.sizes.shape)
    cost = np.stack([(more - less[:, [j]]).min(axis=0) for j in range(len(surplus))])
    path = _cheapest(cost, surplus)
    hops = list(pairwise(path))
    rows = [np.flatnonzero(more[:, k] - less[:, j] == cost[j, k]) for j, k in hops]
    many = int(min(surplus[path[0]], -surplus[path[-1]], *(len(able) for able in rows)))
    counts, surplus = counts.copy(), surplus.copy()
    for (j, k), able in zip(hops, rows):
        gives = grid.cells(down, less, able, j)
        first = np.argsort(grid.words[gives], kind="stable")[:many]
        counts[gives[first]] -= 1
        counts[grid.cells(up, more, able[first], k)] += 1
    surplus[path[0]] -= many
    surplus[path[-1]] += many
    return counts, surplus


def _cheapest(cost: Integers, surplus: Integers) -> list[int]:
    """The columns on a cheapest way from one that holds too much to one that holds too little."""
    reach = np.where(surplus > 0, 0, FAR)
    before = np.full(len(surplus), -1)
    for _ in range(len(surplus) + 1):  # no way passes a column twice
        through = reach[:, None] + cost
        best = through.argmin(axis=0)
        shorter = through[best, np.arange(len(reach))] < reach
        if not shorter.any():
            break
        before = np.where(shorter, best, before)
        reach = np.where(shorter, through[best, np.arange(len(reach))], reach)
    path = [int(np.where(surplus < 0, reach, 2 * FAR).argmin())]
    if reach[path[0]] >= FAR:
        raise Infeasible("counts with the margins of a signed table were asked for", "a margin is negative")
    while before[path[0]] >= 0:
        path.insert(0, int(before[path[0]]))
    return path
