"""What the kept sums look like: cells that no sum tells apart, groups of sums that do not touch, two-way tables.

Cells with equal columns form a class. The kept sums see only the sums of classes, so everything is decided on the
(usually small) matrix of distinct columns; and what does not touch is independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.io.coded import numbers_of
from discreet.lattice.gaps import on_cycles
from discreet.lattice.invariants import Invariants

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NESTED = -1  # the group of all sums that are nested or disjoint
MOST_COLUMNS = 1500  # distinct columns of one group of touching sums, when it has no shape we know
MOST_REDUCED = 400  # of which a basis is found from nothing: with more it takes many minutes
MOST_VECTORS = 150  # of a basis that is read off, and then reduced
MOST_PLACES = 1 << 24  # of a two-way table that lacks cells, written out


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
class Grid:
    """A group of sums that is a two-way table: `place[i, j]` is the class in row i and column j."""

    place: Integers


@dataclass(frozen=True, eq=False)
class Part:
    """Sums that touch one another. `classes[c]` are the cells of class c, `matrix` has a column per class."""

    classes: Classes
    matrix: csr_array
    laminar: bool

    @property
    def cells(self) -> Integers:
        """Of all classes, one after the other."""
        return self.classes.cells

    @property
    def sizes(self) -> Integers:
        return self.classes.sizes

    @cached_property
    def single(self) -> bool:
        """Whether every class is one cell."""
        return bool(np.all(self.sizes == 1))

    @cached_property
    def grid(self) -> Grid | None:
        return None if self.laminar else _grid(self.matrix)

    @cached_property
    def places(self) -> Integers | None:
        """The class in row i and column j of a two-way table that may lack cells (-1), if these are its margins."""
        if self.grid is not None:
            return self.grid.place
        return None if self.laminar else _places(self.matrix)

    @cached_property
    def box(self) -> Integers | None:
        """The class at each place of a three-way table whose two-way margins these are, if they are."""
        return None if self.laminar else box_of(self.matrix)

    @property
    def whole(self) -> Integers | None:
        """The class at each place of a two-way table whose margins these are, or of a three-way one whose two-way
        margins they are, if they are. Sides are two at least, so that every class can change by one."""
        return self.box if self.grid is None else self.grid.place

    @cached_property
    def full(self) -> Integers:
        """The distinct columns, written out."""
        if len(self.classes) > MOST_COLUMNS:
            raise self._shapeless()
        return self.matrix.toarray().astype(np.int64)

    def _shapeless(self) -> BadInput:
        """A refusal that offers what is drawn: less than two margins, where these are two with gaps."""
        two = bool(np.all(np.diff(self.matrix.tocsc().indptr) == 2))
        return BadInput(
            "sums that overlap were to be kept",
            f"they tell {len(self.classes)} groups of cells apart and form no shape with a known sampler",
            f"Keep {'one margin alone' if two else 'two margins at most'}, or sums that are nested or disjoint",
        )

    @cached_property
    def dense(self) -> Integers:
        """The same, redundant rows left out."""
        return self.full[independent_rows(self.full)]

    @cached_property
    def kernel(self) -> Integers:
        """A reduced basis of the class sums that change no kept sum: a row per vector."""
        from discreet.lattice.basis import kernel_basis, reduced

        if self.laminar:
            return np.zeros((0, len(self.classes)), dtype=np.int64)
        if len(self.classes) <= MOST_REDUCED:
            return kernel_basis(self.dense)
        if self.plain_kernel is None or len(self.plain_kernel) > MOST_VECTORS:
            raise self._shapeless()
        return reduced(self.plain_kernel)

    @cached_property
    def plain_kernel(self) -> Integers | None:
        """The same lattice in a basis that is read off at once, where there is one: of everyday tables."""
        from discreet.lattice.basis import integral_kernel

        return integral_kernel(np.unique(self.full, axis=0))

    @cached_property
    def steps(self) -> Integers:
        """The greatest common divisor of what the sum of each class can change by; 0: it cannot change."""
        if self.laminar:
            return np.zeros(len(self.classes), dtype=np.int64)
        if self.whole is not None:
            return np.ones(len(self.classes), dtype=np.int64)
        if self.places is not None:
            ends = self.matrix.tocsc().indices.reshape(-1, 2).astype(np.int64)
            return on_cycles(ends, self.matrix.shape[0]).astype(np.int64)
        kernel = self.kernel if self.plain_kernel is None else self.plain_kernel
        steps: Integers = np.gcd.reduce(np.abs(kernel), axis=0, initial=0)
        return steps

    @cached_property
    def free(self) -> bool:
        """Whether class sums can change at all; if not, every class keeps its own sum."""
        return bool(self.steps.any())

    @property
    def dimensions(self) -> int:
        """Of the lattice of changes: what the sizes of its classes leave, and the class sums that can change."""
        within = int(self.sizes.sum()) - len(self.classes)
        if self.laminar:
            return within
        if self.whole is not None:
            return within + math.prod(int(side) - 1 for side in self.whole.shape)
        if self.places is not None:
            return within + len(self.classes) - self.matrix.shape[0] + 1
        kernel = self.kernel if self.plain_kernel is None else self.plain_kernel
        return within + len(kernel)

    @cached_property
    def determined(self) -> Integers:
        """Cells that the kept sums pin down."""
        return np.sort(self.classes.some(np.flatnonzero((self.steps == 0) & (self.sizes == 1))).cells)

    @cached_property
    def residues(self) -> tuple[tuple[int, int], ...]:
        """(cell, modulus): cells that can change only by multiples of a number above 1, so their remainder is known."""
        alone = np.flatnonzero((self.steps > 1) & (self.sizes == 1))
        return tuple((int(self.classes[c][0]), int(self.steps[c])) for c in alone)


@dataclass(frozen=True, eq=False)
class Structure:
    """Cells in no sum, and the groups of sums that touch."""

    cells: int
    untouched: Integers
    parts: tuple[Part, ...]

    @cached_property
    def determined(self) -> Integers:
        found = [part.determined for part in self.parts]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)

    @cached_property
    def residues(self) -> tuple[tuple[int, int], ...]:
        """Cells whose remainder is published, with its modulus."""
        return tuple(sorted(found for part in self.parts for found in part.residues))

    @cached_property
    def dimensions(self) -> int:
        return len(self.untouched) + sum(part.dimensions for part in self.parts)

    @cached_property
    def apart(self) -> Classes:
        """The classes whose own sums are kept: of nested and disjoint sums, and where no other sum can change."""
        return together([part.classes for part in self.parts if not part.free])

    @property
    def nothing_free(self) -> bool:
        return len(self.determined) == self.cells


def tied(structure: Structure, others: Sequence[Integers]) -> Integers:
    """A number for every cell, the same for cells that touching sums, or these other sets of cells, tie together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sets = list(others)
    for part in structure.parts:
        sets += [part.cells] if part.free else list(part.classes)
    ends = [(one[:-1], one[1:]) for one in sets if len(one) > 1]
    if not ends:
        return np.arange(structure.cells)
    here, there = (np.concatenate([pair[k] for pair in ends]) for k in (0, 1))
    links = coo_array((np.ones(len(here)), (here, there)), shape=(structure.cells, structure.cells))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)


def structure_of(invariants: Invariants) -> Structure:
    """Classes, and the groups of needed sums that touch. All nested and disjoint sums are one group: whichever touch,
    each of their classes keeps its own sum."""
    from scipy.sparse import csr_array

    classes, distinct = _classes(invariants.needed_matrix)
    heights = np.asarray(distinct.sum(axis=0)).ravel()
    group = _groups(distinct, heights)
    held = np.flatnonzero(heights > 0)
    order = held[np.argsort(group[held], kind="stable")]
    columns, parts = distinct.tocsc()[:, order], []
    ends = np.flatnonzero(np.diff(group[order])) + 1
    for first, last in zip([0, *ends], [*ends, len(order)]) if len(order) else []:
        inside = columns[:, first:last].tocsr()
        inside = csr_array(inside[np.flatnonzero(np.diff(inside.indptr))])
        parts.append(Part(classes.some(order[first:last]), inside, bool(group[order[first]] == NESTED)))
    untouched = np.sort(classes.some(np.flatnonzero(heights == 0)).cells)
    return Structure(invariants.cells, untouched, tuple(parts))


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

    columns = matrix.tocsc()
    columns.sort_indices()
    lengths = np.diff(columns.indptr)
    if lengths.min(initial=1) == lengths.max(initial=1) == 1:  # every cell is in one sum: that is its class
        which, first = numbers_of(columns.indices)
    else:
        marks = np.random.default_rng(0).integers(1, 1 << 62, matrix.shape[0], dtype=np.int64).astype(np.uint64)
        running = np.concatenate([[np.uint64(0)], np.cumsum(marks[columns.indices], dtype=np.uint64)])
        which, first = numbers_of(running[columns.indptr[1:]] - running[columns.indptr[:-1]])
        _check_equal(columns, first[which])
    return Classes(_sorting(which, len(first)), np.bincount(which)), csr_array(columns[:, first])


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


def _grid(matrix: csr_array) -> Grid | None:
    """The two-way table whose margins these are, if they are one: every row sum meets every column sum once."""
    from scipy.sparse.csgraph import connected_components

    columns = matrix.tocsc()
    if np.any(np.diff(columns.indptr) != 2):
        return None
    ends = columns.indices.reshape(-1, 2)
    # the sums that do not meet the first one are on its side
    side = np.zeros(matrix.shape[0], dtype=bool)
    side[ends[(ends == ends[0, 0]).any(axis=1)].ravel()] = True
    side[ends[0, 0]] = False
    across, along = np.flatnonzero(side), np.flatnonzero(~side)
    if len(across) * len(along) != len(ends) or np.any(side[ends[:, 0]] == side[ends[:, 1]]):
        return None
    numbers = np.zeros(matrix.shape[0], dtype=np.int64)
    numbers[across], numbers[along] = np.arange(len(across)), np.arange(len(along))
    row = np.where(side[ends[:, 0]], numbers[ends[:, 1]], numbers[ends[:, 0]])
    column = np.where(side[ends[:, 0]], numbers[ends[:, 0]], numbers[ends[:, 1]])
    place = np.full((len(along), len(across)), -1, dtype=np.int64)
    place[row, column] = np.arange(len(ends))
    if np.any(place < 0) or connected_components(matrix @ matrix.T, directed=False)[0] != 1:
        return None
    return Grid(place if len(along) >= len(across) else place.T)


def _places(matrix: csr_array) -> Integers | None:
    """Of a two-way table that lacks cells: every class is in one row sum and one column sum."""
    from scipy.sparse.csgraph import shortest_path

    columns = matrix.tocsc()
    if np.any(np.diff(columns.indptr) != 2):
        return None
    ends = columns.indices.reshape(-1, 2)
    # sums of one side meet only those of the other
    side = shortest_path(matrix @ matrix.T, unweighted=True, indices=0) % 2 == 1
    if np.any(side[ends[:, 0]] == side[ends[:, 1]]):
        return None
    numbers = np.where(side, np.cumsum(side), np.cumsum(~side)) - 1
    crossed = side[ends[:, 0]]
    row, column = (np.where(crossed, ends[:, k], ends[:, 1 - k]) for k in (1, 0))
    shape = int((~side).sum()), int(side.sum())
    if math.prod(shape) > MOST_PLACES:
        return None
    place = np.full(shape, -1, dtype=np.int64)
    place[numbers[row], numbers[column]] = np.arange(len(ends))
    return place if place.shape[0] >= place.shape[1] else place.T


def box_of(matrix: csr_array) -> Integers | None:
    """Three-way: every class is on three lines. Places are found from the lines through one corner, then checked."""
    columns = matrix.tocsc()
    if np.any(np.diff(columns.indptr) != 3):
        return None
    lines = [frozenset(line.tolist()) for line in np.split(matrix.indices, matrix.indptr[1:-1])]
    through = columns.indices.reshape(-1, 3)
    edges = [[0, *sorted(lines[line] - {0})] for line in through[0].tolist()]
    if min(map(len, edges)) < 2 or math.prod(len(edge) for edge in edges) != len(through):
        return None
    place = np.full([len(edge) for edge in edges], -1, dtype=np.int64)
    near = [frozenset().union(*(lines[line] for line in three)) for three in through.tolist()]
    for axis, edge in enumerate(edges):
        place[tuple(slice(None) if axis == other else 0 for other in range(3))] = edge
    for at in sorted(np.ndindex(place.shape), key=np.count_nonzero):
        if np.count_nonzero(at) > 1:
            behind = [tuple(0 if k == axis else i for k, i in enumerate(at)) for axis in np.flatnonzero(at)]
            found = frozenset.intersection(*(near[place[one]] for one in behind)) - {0}
            if len(found) != 1:
                return None
            (place[at],) = found
    expected = {
        frozenset(line.tolist())
        for axis in range(3)
        for line in np.moveaxis(place, axis, 2).reshape(-1, place.shape[axis])
    }
    return place if expected == set(lines) else None


def independent_rows(matrix: Integers) -> Integers:
    """The first rows that span all others."""
    from flint import fmpq_mat, fmpz_mat

    reduced = fmpq_mat(fmpz_mat(matrix.T.tolist())).rref()[0]
    leads = []
    for i in range(reduced.nrows()):
        lead = next((j for j in range(reduced.ncols()) if reduced[i, j] != 0), None)
        if lead is None:
            break
        leads.append(lead)
    return np.array(leads, dtype=np.int64)
