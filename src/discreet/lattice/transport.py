"""The nearest non-negative two-way table with the same margins, in whole numbers: shortest paths between columns.

Rows are blocks, so a table that is nearest given its row sums alone is found at once; it is nearest, too, among all
tables that have its own column sums. Units are then moved inside rows from columns that hold too much to columns that
hold too little, always along a cheapest path: so the table stays nearest among those with its sums, and when the
columns fit it is the one looked for. To add a weight to a column changes nothing of this, and brings the start close.
Tables of one shape take their steps together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Flags, Integers, Words
from discreet.errors import Infeasible, SolverFailed
from discreet.lattice.blocks import nearest_in_blocks

FAR = 1 << 60  # more than any path costs
WIDEST = 1 << 40  # of a signed value: no noise that can be drawn comes near it, and costs of paths stay far from FAR
ROUNDS = 100  # of bringing the start close: only speed depends on them
MOST_MOVES = 20  # for each cell: honest tables take less than one
TOGETHER = 1 << 18  # cells of tables that take their steps together: a step holds some twenty numbers for each


@dataclass(frozen=True, eq=False)
class TwoWayCells:
    """Cells of two-way tables, a table a row of each array: row by row of it, and column by column within a row; a
    place may hold several cells."""

    signed: Integers
    sizes: Integers  # cells[row, column]: how many cells a place holds, in every table
    words: Words  # that decide among equals

    def some(self, tables: Integers) -> TwoWayCells:
        return TwoWayCells(self.signed[tables], self.sizes, self.words[tables])

    @cached_property
    def starts(self) -> Integers:
        """Of the cells of a place, by row and column."""
        return (np.cumsum(self.sizes.ravel()) - self.sizes.ravel()).reshape(self.sizes.shape)

    @cached_property
    def column(self) -> Integers:
        """The column of every cell."""
        rows, columns = self.sizes.shape
        return np.repeat(np.tile(np.arange(columns), rows), self.sizes.ravel())

    def places(self, of_each: np.ufunc, values: Integers) -> Integers:
        """Of the cells of every place the sum, the least or the largest: by table, row and column."""
        found: Integers = of_each.reduceat(values, self.starts.ravel(), axis=1)
        return found.reshape(-1, *self.sizes.shape)

    def column_sums(self, values: Integers) -> Integers:
        sums: Integers = self.places(np.add, values).sum(axis=1)
        return sums

    def cells(self, values: Integers, best: Integers, tables: Integers, columns: Integers, able: Flags) -> Integers:
        """Of the able rows of these tables, in a column of each, the cell whose value is the best of its place; of
        several the first by words."""
        found: Integers = self.starts[:, columns].T.copy()
        for place in np.argwhere(able & (self.sizes[:, columns].T > 1)):
            table, row, column = tables[place[0]], place[1], columns[place[0]]
            start, size = self.starts[row, column], self.sizes[row, column]
            able = start + np.flatnonzero(values[table, start : start + size] == best[table, row, column])
            found[tuple(place)] = able[np.argmin(self.words[table, able])]
        return found


def nearest_two_way(signed: Integers, sizes: Integers, words: Words) -> Integers:
    """Of tables of one shape, a row each, the counts nearest to these signed values, by least squares, with the same
    sums of rows and of columns."""
    counts = signed.copy()
    negative = np.flatnonzero(signed.min(axis=1) < 0)
    step = max(1, TOGETHER // signed.shape[1])
    for start in range(0, len(negative), step):
        some = negative[start : start + step]
        counts[some] = _nearest(TwoWayCells(signed[some], sizes, words[some]))
    return counts


def _nearest(grid: TwoWayCells) -> Integers:
    if int(grid.signed.max()) > WIDEST or int(grid.signed.min()) < -WIDEST:
        raise _absurd()
    wanted = grid.column_sums(grid.signed)
    counts = _start(grid, wanted)
    surplus = grid.column_sums(counts) - wanted
    for _ in range(MOST_MOVES * grid.signed.shape[1]):
        left = np.flatnonzero(surplus.any(axis=1))
        if not len(left):
            return counts
        counts[left], surplus[left] = _moved(grid.some(left), counts[left], surplus[left])
    raise _absurd()


def _absurd() -> SolverFailed:
    return SolverFailed("counts with the margins of a signed table were asked for", "its values are absurdly far apart")


def _start(grid: TwoWayCells, wanted: Integers) -> Integers:
    """Nearest for weights of columns that make them fit nearly: steps by what each cell of a column is off, and half
    of that where the bound that weights give (on the least squared distance) does not rise."""
    in_row, tables = grid.sizes.sum(axis=1), len(wanted)
    sums = np.add.reduceat(grid.signed, np.cumsum(in_row) - in_row, axis=1).ravel()
    weights, step, damping = np.zeros_like(wanted), np.zeros_like(wanted), np.ones((tables, 1), dtype=np.int64)
    nearest, surplus, best = grid.signed, wanted, np.zeros(tables, dtype=np.int64)
    for number in range(ROUNDS):
        tried = weights - step
        values, sizes = grid.signed + tried[:, grid.column], np.tile(in_row, tables)
        counts = nearest_in_blocks(values.ravel(), sizes, sums, grid.words.ravel()).reshape(values.shape)
        off = grid.column_sums(counts) - wanted
        value = ((counts - grid.signed) ** 2).sum(axis=1) - 2 * (tried * off).sum(axis=1)
        better = (value > best)[:, None] | (number == 0)
        weights, nearest, surplus = (
            np.where(better, new, old) for new, old in ((tried, weights), (counts, nearest), (off, surplus))
        )
        best = np.where(better[:, 0], value, best)
        damping = np.where(better, np.maximum(1, damping // 2), np.minimum(2 * damping, WIDEST))
        held = np.maximum(grid.column_sums((nearest > 0).astype(np.int64)), 1)
        step = np.sign(surplus) * (np.abs(surplus) // (damping * held))
        if not step.any():
            break
    return nearest


def _moved(grid: TwoWayCells, counts: Integers, surplus: Integers) -> tuple[Integers, Integers]:
    """In every table as many units as can go the same cheapest way, each in another row.

    No row serves two hops of a way one after the other: it could make both in one, for less.
    """
    off = counts - grid.signed
    up, down = 2 * off + 1, np.where(counts > 0, 2 * off - 1, -FAR)
    more, less = grid.places(np.minimum, up), grid.places(np.maximum, down)
    cost = np.stack([(more - less[:, :, [j]]).min(axis=1) for j in range(surplus.shape[1])], axis=1)
    before, first, last = _cheapest(cost, surplus)
    those = np.arange(len(surplus))
    many, hops = np.minimum(surplus[those, first], -surplus[those, last]), []
    at, tables = last, those
    while (on := np.flatnonzero(before[tables, at] >= 0)).size:
        tables, gets = tables[on], at[on]
        at = gives = before[tables, gets]
        able = more[tables, :, gets] - less[tables, :, gives] == cost[tables, gives, gets][:, None]
        many[tables] = np.minimum(many[tables], able.sum(axis=1))
        hops.append((tables, gives, gets, able))
    counts, surplus = counts.copy(), surplus.copy()
    for tables, gives, gets, able in hops:
        giving = grid.cells(down, less, tables, gives, able)
        getting = grid.cells(up, more, tables, gets, able)
        order = np.lexsort((grid.words[tables[:, None], giving], ~able))
        hop, place = np.nonzero(np.arange(able.shape[1]) < many[tables, None])
        rows = order[hop, place]
        counts[tables[hop], giving[hop, rows]] -= 1
        counts[tables[hop], getting[hop, rows]] += 1
    surplus[those, first] -= many
    surplus[those, last] += many
    return counts, surplus


def _cheapest(cost: Integers, surplus: Integers) -> tuple[Integers, Integers, Integers]:
    """In every table a cheapest way from a column that holds too much to one that holds too little: the column before
    each on its way, or -1; and the first and the last."""
    tables, columns = surplus.shape
    reach, before = np.where(surplus > 0, 0, FAR), np.full(surplus.shape, -1)
    for _ in range(columns + 1):  # no way passes a column twice
        through = reach[:, :, None] + cost
        best, length = through.argmin(axis=1), through.min(axis=1)
        shorter = length < reach
        if not shorter.any():
            break
        before, reach = np.where(shorter, best, before), np.where(shorter, length, reach)
    last = np.where(surplus < 0, reach, 2 * FAR).argmin(axis=1)
    those = np.arange(tables)
    if (reach[those, last] >= FAR).any():
        raise Infeasible("counts with the margins of a signed table were asked for", "a margin is negative")
    first = last
    for _ in range(columns):
        earlier = before[those, first]
        first = np.where(earlier >= 0, earlier, first)
    return before, first, last
