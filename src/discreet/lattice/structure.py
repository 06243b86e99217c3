"""What the kept sums look like: cells that no sum tells apart, groups of sums that do not touch, two-way tables.

Cells with equal columns form a class. The kept sums see only the sums of classes, so everything is decided on the
(usually small) matrix of distinct columns; and what does not touch is independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Flags, Integers
from discreet.io.coded import numbers_of
from discreet.lattice.invariants import Invariants
from discreet.lattice.shape import Shape

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NESTED = -1  # the group of all sums that are nested or disjoint


@dataclass(frozen=True, eq=False)
class Classes(Sequence[Integers]):
    """Sets of cells that do not meet: the cells of one after the other, and how many each has."""

    cells: Integers
    sizes: Integers

    @cached_property
    def starts(self) -> Integers:
        return np.cumsum(self.sizes) - self.sizes

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, which: Any) -> Any:
        """The cells of one class."""
        return self.cells[self.starts[which] : self.starts[which] + self.sizes[which]]

    def some(self, which: Integers) -> Classes:
        """These classes alone, in this order."""
        if len(which) == len(self) and (which == np.arange(len(self))).all():
            return self
        sizes = self.sizes[which]
        shift = self.starts[which] - (np.cumsum(sizes) - sizes)
        return Classes(self.cells[np.repeat(shift, sizes) + np.arange(sizes.sum())], sizes)

    def sums(self, counts: Integers) -> Integers:
        """Of the counts of each class."""
        return np.add.reduceat(counts[self.cells], self.starts) if len(self) else np.zeros(0, dtype=np.int64)


def together(several: Sequence[Classes]) -> Classes:
    """The classes of one after those of another."""
    if len(several) == 1:
        return several[0]
    none = np.zeros(0, dtype=np.int64)
    cells, sizes = ([getattr(one, name) for one in several] or [none] for name in ("cells", "sizes"))
    return Classes(np.concatenate(cells), np.concatenate(sizes))


@dataclass(frozen=True, eq=False)
class Part:
    """Sums that touch one another; or several such that are alike, and do not touch: the classes of one after those of
    another."""

    shape: Shape
    classes: Classes

    @property
    def cells(self) -> Integers:
        """Of all classes, one after the other."""
        return self.classes.cells

    @property
    def sizes(self) -> Integers:
        """Of the classes of one."""
        return self.shape.sizes

    @property
    def copies(self) -> int:
        return len(self.classes) // len(self.shape.sizes)

    def some(self, which: Integers) -> Part:
        """These alone."""
        number = len(self.shape.sizes)
        return Part(self.shape, self.classes.some((which[:, None] * number + np.arange(number)).ravel()))

    @property
    def each(self) -> Iterator[Part]:
        """One by one."""
        sizes, width = self.shape.sizes, int(self.shape.sizes.sum())
        return (Part(self.shape, Classes(self.cells[k * width : (k + 1) * width], sizes)) for k in range(self.copies))

    @cached_property
    def determined(self) -> Integers:
        """Cells that the kept sums pin down."""
        return np.sort(self._alone(self.shape.steps == 0))

    @cached_property
    def residues(self) -> tuple[tuple[int, int], ...]:
        """(cell, modulus): cells that can change only by multiples of a number above 1, so their remainder is known."""
        steps = self.shape.steps
        moduli = np.tile(steps[(steps > 1) & (self.sizes == 1)], self.copies)
        return tuple(zip(self._alone(steps > 1).tolist(), moduli.tolist()))

    def _alone(self, which: Flags) -> Integers:
        """The cells of these classes that have no other."""
        return self.classes.some(np.flatnonzero(np.tile(which & (self.sizes == 1), self.copies))).cells


@dataclass(frozen=True, eq=False)
class Structure:
    """Cells in no sum, and the groups of sums that touch."""

    cells: int
    untouched: Integers
    alike: tuple[Part, ...]  # groups of one shape together
    numbers: tuple[Integers, ...]  # of these the places among all groups

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Every group by itself."""
        found = [(place, one) for part, own in zip(self.alike, self.numbers) for place, one in zip(own, part.each)]
        return tuple(one for _, one in sorted(found, key=lambda numbered: numbered[0]))

    @cached_property
    def determined(self) -> Integers:
        found = [part.determined for part in self.alike]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)

    @cached_property
    def residues(self) -> tuple[tuple[int, int], ...]:
        """Cells whose remainder is published, with its modulus."""
        return tuple(sorted(found for part in self.alike for found in part.residues))

    @cached_property
    def dimensions(self) -> int:
        return len(self.untouched) + sum(part.copies * part.shape.dimensions for part in self.alike)

    @cached_property
    def apart(self) -> Classes:
        """The classes whose own sums are kept: of nested and disjoint sums, and where no other sum can change."""
        return together([part.classes for part in self.alike if not part.shape.free])

    @property
    def nothing_free(self) -> bool:
        return len(self.determined) == self.cells


def tied(structure: Structure, others: Sequence[Integers]) -> Integers:
    """A number for every cell, the same for cells that touching sums, or these other sets of cells, tie together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sets = [Classes(one, np.array([len(one)])) for one in others]
    for part in structure.alike:
        whole = Classes(part.cells, np.repeat(part.sizes.sum(), part.copies))
        sets.append(whole if part.shape.free else part.classes)
    if not sets:
        return np.arange(structure.cells)
    every = together(sets)
    of = np.repeat(np.arange(len(every)), every.sizes)
    inside = of[1:] == of[:-1]
    ends = every.cells[:-1][inside], every.cells[1:][inside]
    links = coo_array((np.ones(len(ends[0])), ends), shape=(structure.cells, structure.cells))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)


def structure_of(invariants: Invariants) -> Structure:
    """Classes, and the groups of needed sums that touch. All nested and disjoint sums are one group: whichever touch,
    each of their classes keeps its own sum."""
    classes, distinct = _classes(invariants.needed_matrix)
    heights = np.asarray(distinct.sum(axis=0)).ravel()
    group = _groups(distinct, heights)
    held = np.flatnonzero(heights > 0)
    order = held[np.argsort(group[held], kind="stable")]
    columns, parts, numbers = distinct.tocsc()[:, order], [], []
    starts = np.flatnonzero(np.diff(group[order], prepend=NESTED - 1))
    sizes = np.diff(starts, append=len(order))
    for alike in _alike(columns, classes.sizes[order], starts, sizes):
        first, width = starts[alike[0]], sizes[alike[0]]
        inside = _without_other_sums(columns, first, first + width)
        own = classes.some(order[(starts[alike][:, None] + np.arange(width)).ravel()])
        parts.append(Part(Shape(inside, own.sizes[:width], bool(group[order[first]] == NESTED)), own))
        numbers.append(alike)
    untouched = np.sort(classes.some(np.flatnonzero(heights == 0)).cells)
    return Structure(invariants.cells, untouched, tuple(parts), tuple(numbers))


def _without_other_sums(columns: Any, first: int, last: int) -> csr_array:
    """These columns alone, and the sums they are in. There may be as many groups as sums: none of them looks at all."""
    from scipy.sparse import csc_array, csr_array

    ends = columns.indptr[first : last + 1] - columns.indptr[first]
    entries = slice(columns.indptr[first], columns.indptr[last])
    sums, place = np.unique(columns.indices[entries], return_inverse=True)
    return csr_array(csc_array((columns.data[entries], place, ends), shape=(len(sums), last - first)))


def _alike(columns: Any, sizes: Integers, starts: Integers, widths: Integers) -> list[Integers]:
    """Groups that have the same sums, when these and the classes are numbered in each as they stand: which are alike,
    the first of each kind in order. Groups begin at these columns, and have so many."""
    lengths, number = np.diff(columns.indptr), len(starts)
    if number < 2:
        return [np.arange(number)] * number
    of_column = np.repeat(np.arange(number), widths)
    of_entry = np.repeat(of_column, lengths)
    of_sum = np.full(columns.shape[0], number)
    of_sum[columns.indices] = of_entry
    sums = np.bincount(of_sum, minlength=number + 1)[:number]
    place = np.empty(columns.shape[0], dtype=np.int64)
    place[np.argsort(of_sum, kind="stable")] = np.arange(columns.shape[0])
    own = place[columns.indices] - (np.cumsum(sums) - sums)[of_entry]
    entries = columns.indptr[starts].astype(np.int64)
    measures = np.stack([widths, sums, np.bincount(of_entry, minlength=number)], axis=1)
    found: list[Integers] = []
    for kind, (width, _, filled) in zip(*_by_rows(measures)):
        columns_of, entries_of = (
            start[kind][:, None] + np.arange(size) for start, size in ((starts, width), (entries, filled))
        )
        told = np.hstack([lengths[columns_of], sizes[columns_of], own[entries_of]]) if len(kind) > 1 else measures[kind]
        found += [kind[some] for some in _by_rows(told)[0]]
    return sorted(found, key=lambda some: int(some[0]))


def _by_rows(matrix: Integers) -> tuple[list[Integers], list[Integers]]:
    """Which rows are the same, and one of each kind."""
    held = np.ascontiguousarray(matrix, dtype=np.int64)
    whole = held.view(np.dtype((np.void, held.shape[1] * held.itemsize))).ravel()
    _, first, which = np.unique(whole, return_index=True, return_inverse=True)
    kinds = np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1])
    return kinds, list(held[first])


def _groups(distinct: csr_array, heights: Integers) -> Integers:
    """Of each class, the group of sums it is in: those that overlap without being nested, each with all it touches."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if heights.max(initial=0) <= 1:  # no sum meets another
        return np.full(len(heights), NESTED)
    (rows, columns), pairs = distinct.shape, distinct.tocoo()
    ends = pairs.row, rows + pairs.col
    graph = csr_array((np.ones(len(pairs.row), dtype=np.int8), ends), shape=(rows + columns, rows + columns))
    number, joined = connected_components(graph, directed=False)
    sizes, common = np.diff(distinct.indptr), (distinct @ distinct.T).tocoo()
    crossing = common.data != np.minimum(sizes[common.row], sizes[common.col])
    tangled = np.zeros(number, dtype=bool)
    tangled[joined[:rows][common.row[crossing]]] = True
    of_class = joined[rows:]
    return np.where(tangled[of_class], of_class, NESTED)


def _classes(matrix: csr_array) -> tuple[Classes, csr_array]:
    """Cells by equal columns, and the matrix of distinct columns."""
    from scipy.sparse import csr_array

    if (standing := _standing_together(matrix)) is not None:
        return standing
    if matrix.nnz == matrix.shape[1] and (np.bincount(matrix.indices, minlength=1) == 1).all():
        return _disjoint(matrix)
    columns = matrix.tocsc()
    columns.sort_indices()
    marks = np.random.default_rng(0).integers(1, 1 << 62, matrix.shape[0], dtype=np.int64).astype(np.uint64)
    running = np.concatenate([[np.uint64(0)], np.cumsum(marks[columns.indices], dtype=np.uint64)])
    which, first = numbers_of(running[columns.indptr[1:]] - running[columns.indptr[:-1]])
    _check_equal(columns, first[which])
    return Classes(_sorting(which, len(first)), np.bincount(which)), csr_array(columns[:, first])


def _disjoint(matrix: csr_array) -> tuple[Classes, csr_array]:
    """The same where every cell is in one sum: that is its class. They stand as their first cells do."""
    rows = matrix.sorted_indices()
    sums = Classes(rows.indices.astype(np.int64), np.diff(rows.indptr).astype(np.int64))
    held = np.flatnonzero(sums.sizes)
    order = held[np.argsort(sums.cells[sums.starts[held]])]
    return sums.some(order), _one_each(matrix, order)


def _standing_together(matrix: csr_array) -> tuple[Classes, csr_array] | None:
    """The same where the cells of every sum follow one another, and every cell is in one; None where they do not."""
    sizes = np.diff(matrix.indptr).astype(np.int64)
    if matrix.nnz != matrix.shape[1] or not len(sizes) or sizes.min() < 1 or not matrix.has_sorted_indices:
        return None
    first, last = matrix.indices[matrix.indptr[:-1]], matrix.indices[matrix.indptr[1:] - 1]
    order = np.argsort(first)
    if (last - first + 1 != sizes).any() or (first[order][1:] != last[order][:-1] + 1).any():
        return None
    return Classes(np.arange(matrix.shape[1]), sizes[order]), _one_each(matrix, order)


def _one_each(matrix: csr_array, order: Integers) -> csr_array:
    """The distinct columns, where each class is a sum: these, in this order."""
    from scipy.sparse import csr_array

    ones, places = np.ones(len(order), dtype=matrix.dtype), np.arange(len(order))
    return csr_array((ones, (order, places)), shape=(matrix.shape[0], len(order)))


def _sorting(numbers: Integers, most: int) -> Integers:
    """The places of numbers below `most` in ascending order, equal ones as they stand: by counting."""
    from scipy.sparse import csc_array

    size = len(numbers)
    if (numbers[1:] >= numbers[:-1]).all():
        return np.arange(size)
    places = numbers.astype(np.int32), np.arange(size + 1, dtype=np.int32)
    counted = csc_array((np.ones(size, dtype=np.int8), *places), shape=(most, size)).tocsr()
    return np.asarray(counted.indices, dtype=np.int64)


def _check_equal(columns: Any, alike: Integers) -> None:
    """Hashes only propose: every column must equal the first of its class."""
    lengths = np.diff(columns.indptr)
    same = np.array_equal(lengths, lengths[alike])
    if same:
        shift = np.repeat(columns.indptr[alike] - columns.indptr[:-1], lengths)
        same = np.array_equal(columns.indices, columns.indices[np.arange(len(columns.indices)) + shift])
    if not same:
        raise ArithmeticError("two different columns have the same 64-bit hash")
