"""What sums that touch look like, wherever their cells are: a two-way table, a three-way one, or neither."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.lattice.gaps import on_cycles

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_COLUMNS = 1500  # distinct columns of one group of touching sums, when it has no shape we know
MOST_REDUCED = 400  # of which a basis is found from nothing: with more it takes many minutes
MOST_VECTORS = 150  # of a basis that is read off, and then reduced
MOST_PLACES = 1 << 24  # of a two-way table that lacks cells, written out


@dataclass(frozen=True, eq=False)
class Grid:
    """A group of sums that is a two-way table: `place[i, j]` is the class in row i and column j."""

    place: Integers


@dataclass(frozen=True, eq=False)
class Shape:
    """Sums that touch one another: `sizes[c]` is how many cells are in class c, `matrix` has a column per class."""

    matrix: csr_array
    sizes: Integers
    laminar: bool

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
        if len(self.sizes) > MOST_COLUMNS:
            raise self._shapeless()
        return self.matrix.toarray().astype(np.int64)

    def _shapeless(self) -> BadInput:
        """A refusal that offers what is drawn: less than two margins, where these are two with gaps."""
        two = bool(np.all(np.diff(self.matrix.tocsc().indptr) == 2))
        return BadInput(
            "sums that overlap were to be kept",
            f"they tell {len(self.sizes)} groups of cells apart and form no shape with a known sampler",
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
            return np.zeros((0, len(self.sizes)), dtype=np.int64)
        if len(self.sizes) <= MOST_REDUCED:
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
            return np.zeros(len(self.sizes), dtype=np.int64)
        if self.whole is not None:
            return np.ones(len(self.sizes), dtype=np.int64)
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
        within = int(self.sizes.sum()) - len(self.sizes)
        if self.laminar:
            return within
        if self.whole is not None:
            return within + math.prod(int(side) - 1 for side in self.whole.shape)
        if self.places is not None:
            return within + len(self.sizes) - self.matrix.shape[0] + 1
        kernel = self.kernel if self.plain_kernel is None else self.plain_kernel
        return within + len(kernel)


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
