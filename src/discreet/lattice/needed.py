"""Of kept sums those that say something: not a sum that is kept twice, nor one that others add up to.

The rest has the same lattice of changes, and often a shape that is known: the total of a table beside its two margins,
kept by another release, hides that they are two margins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Flags, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_FAMILIES = 32  # of disjoint sums, each of which is compared with all: releases keep a few margins


def needed_sums(matrix: csr_array) -> csr_array:
    """The rows of a 0/1 matrix, without those that are there before, and those that other rows add up to which follow
    one another, as the sums of a margin do."""
    rows = matrix.sorted_indices()
    rows = rows[_first_of_each(rows)]
    starts = disjoint_runs(rows)
    if len(starts) < 2 or len(starts) > MOST_FAMILIES:
        return rows
    needed = np.ones(rows.shape[0], dtype=bool)
    for first, last in zip(starts, [*starts[1:], rows.shape[0]]):
        needed &= ~_added_up(rows, first, last)
    return rows[np.flatnonzero(needed)]


def _first_of_each(rows: csr_array) -> Integers:
    """Which rows are not the same as an earlier one; empty ones are left out."""
    held = np.flatnonzero(np.diff(rows.indptr))
    seen: dict[bytes, int] = {}
    for row in held.tolist():
        seen.setdefault(rows.indices[rows.indptr[row] : rows.indptr[row + 1]].tobytes(), row)
    return np.array(list(seen.values()), dtype=np.int64)


def disjoint_runs(rows: csr_array) -> list[int]:
    """Where rows begin that follow one another and are disjoint: as of one margin."""
    of_row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.argsort(rows.indices, kind="stable")  # by cell, and for each in the order of rows
    again = rows.indices[order][1:] == rows.indices[order][:-1]
    before = np.full(rows.shape[0], -1, dtype=np.int64)  # the last earlier row that has a cell of this one
    np.maximum.at(before, of_row[order][1:][again], of_row[order][:-1][again])
    starts = [0] if rows.shape[0] else []
    for row, earlier in enumerate(before.tolist()):
        if earlier >= starts[-1]:
            starts.append(row)
    return starts


def _added_up(rows: csr_array, first: int, last: int) -> Flags:
    """Of every row, whether it is some of a family of disjoint ones, added up, and not of the family."""
    sizes, starts = np.diff(rows.indptr).astype(np.int64), rows.indptr[:-1]
    of_cell = np.full(rows.shape[1], -1, dtype=np.int64)
    inside = slice(rows.indptr[first], rows.indptr[last])
    of_cell[rows.indices[inside]] = np.repeat(np.arange(first, last), sizes[first:last])
    begun = np.where(of_cell < 0, -1, 0)  # for each cell: the size of the one that begins with it; outside of all, -1
    begun[rows.indices[starts[first:last]]] = sizes[first:last]
    held = begun[rows.indices]
    likely: Flags = (np.add.reduceat(held, starts) == sizes) & (np.minimum.reduceat(held, starts) >= 0)
    likely[first:last] = False  # each of them is itself
    found = np.flatnonzero(likely)
    likely[found] = _covered(rows[found], of_cell, sizes) == sizes[found]
    return likely


def _covered(rows: csr_array, of_cell: Integers, sizes: Integers) -> Integers:
    """For every row, how many cells those have together that have one in common with it."""
    of_row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    pairs = np.unique(of_row * len(sizes) + of_cell[rows.indices])
    return np.bincount(pairs // len(sizes), sizes[pairs % len(sizes)], rows.shape[0]).astype(np.int64)
