"""Directions along which a chain moves: enough of them to reach every table, few enough to mix fast.

Cells whose columns are equal form a class. Every move is a swap inside a class, or a move between classes whose
cells are drawn inside each class. Between classes: all 2 x 2 minors of a two-way table; all 2 x 2 x 2 minors of a
three-way one, or otherwise a lattice basis, which connect the tables only if nothing bounds them; under inequalities
Graver's basis, or, where that is too large, sums of any number of basis vectors.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Integers
from discreet.lattice.basis import kernel_basis
from discreet.lattice.shape import box_of

MOST_MINORS = 200_000  # they are listed, each with an entry for every cell
MOST_PAIRED = 40  # basis vectors; with their pairs these are 1,600 moves
MOST_GRAVER = 200  # a few seconds of completion
WIDEST_GRAVER = 24  # columns: Graver's basis grows exponentially with them


@dataclass(frozen=True)
class Moves:
    """Moves between and inside the classes of equal cells. `connects`: also where inequalities bound the cells."""

    cells: int
    class_start: Integers
    class_cells: Integers
    swaps: Integers  # a class for each of its cells beyond the first
    grid: tuple[int, int]  # classes form this two-way table, and all its minors are moves; or (0, 0)
    classes: Integers  # explicit moves, one a row: the classes moved ...
    steps: Integers  # ... by how much, and ...
    lengths: Integers  # ... how many of the entries count
    jumps: bool  # explicit moves are basis vectors, to be added up at random
    dimension: int
    connects: bool

    def listed(self) -> list[Integers]:
        """Every direction written out, for small tables (jumps: the basis only)."""
        members = [self.class_cells[a:b] for a, b in zip(self.class_start[:-1], self.class_start[1:])]
        directions = [_unit_swap(self.cells, i, j) for group in members for i, j in combinations(group.tolist(), 2)]
        for move in self._between():
            directions += _lifts(move, members, self.cells)
        return directions

    def _between(self) -> list[Integers]:
        if self.grid != (0, 0):
            return minors(*self.grid)
        dense = np.zeros((len(self.lengths), len(self.class_start) - 1), dtype=np.int64)
        for row, length in enumerate(self.lengths):
            dense[row, self.classes[row, :length]] = self.steps[row, :length]
        return list(dense)


def _unit_swap(cells: int, one: int, other: int) -> Integers:
    move = np.zeros(cells, dtype=np.int64)
    move[one], move[other] = 1, -1
    return move


def _lifts(move: Integers, members: list[Integers], cells: int) -> list[Integers]:
    lifted = [np.zeros(cells, dtype=np.int64)]
    for label in np.flatnonzero(move):
        grown = []
        for partial in lifted:
            for cell in members[label]:
                longer = partial.copy()
                longer[cell] = move[label]
                grown.append(longer)
        lifted = grown
    return lifted


def moves_for(matrix: Any, inequalities: Any = None, *, bounded: bool = False) -> Moves:
    """Moves that keep `matrix @ v = 0`; with `bounded`, moves that also connect what inequalities allow.

    `inequalities` is the matrix B of B y >= b: each of its rows becomes a further cell, which holds B v.
    """
    whole = extended(matrix, inequalities)
    labels, distinct = merge_columns(whole)
    places = grid_of(distinct)
    if places is not None:
        shape = (int(places[0].max()) + 1, int(places[1].max()) + 1)
        labels = (places[0] * shape[1] + places[1])[labels]
        between, connects, jumps = Between([], (shape[0] - 1) * (shape[1] - 1)), True, False
    else:
        shape = (0, 0)
        between, connects, jumps = between_classes(distinct, bounded)
    sizes = np.bincount(labels, minlength=distinct.shape[1])
    classes, steps, lengths = _packed(between.moves)
    return Moves(
        cells=whole.shape[1],
        class_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        class_cells=np.argsort(labels, kind="stable").astype(np.int64),
        swaps=np.repeat(np.arange(len(sizes)), sizes - 1).astype(np.int64),
        grid=shape,
        classes=classes,
        steps=steps,
        lengths=lengths,
        jumps=jumps,
        dimension=between.dimension + int((sizes - 1).sum()),
        connects=connects,
    )


def extended(matrix: Any, inequalities: Any = None) -> Any:
    """The invariants as a sparse matrix over the cells and, after them, one slack for each inequality."""
    from scipy.sparse import block_array, csc_array, eye_array

    kept: Any = csc_array(matrix).astype(np.int64)
    if inequalities is None:
        return kept
    limits: Any = csc_array(inequalities).astype(np.int64)
    slack: Any = -eye_array(limits.shape[0], dtype=np.int64)
    return csc_array(block_array([[kept, None], [limits, slack]]))


def merge_columns(matrix: Any) -> tuple[Integers, Any]:
    """For each column the number of its class of equal columns, and the matrix of one column from each class."""
    from scipy.sparse import csc_array

    columns = csc_array(matrix)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    columns.sort_indices()
    seen: dict[tuple[bytes, bytes], int] = {}
    labels = np.empty(columns.shape[1], dtype=np.int64)
    first: list[int] = []
    for cell in range(columns.shape[1]):
        part = slice(columns.indptr[cell], columns.indptr[cell + 1])
        key = (columns.indices[part].tobytes(), columns.data[part].tobytes())
        if key not in seen:
            seen[key] = len(first)
            first.append(cell)
        labels[cell] = seen[key]
    return labels, columns[:, first]


def grid_of(distinct: Any) -> tuple[Integers, Integers] | None:
    """Row and column of every class if the classes form a complete two-way table with both margins kept.

    Seen as a graph with an edge for each class between the two sums it belongs to, it must be complete and bipartite.
    """
    size = distinct.shape[1]
    sums = merge_columns(distinct.T)[1].T.tocsr()
    sums = sums[np.flatnonzero(np.diff(sums.indptr) != size)].tocsc()
    sums.sort_indices()
    if size == 0 or (sums.data != 1).any() or (np.diff(sums.indptr) != 2).any():
        return None
    ends = sums.indices.reshape(size, 2).astype(np.int64)
    across = np.zeros(sums.shape[0], dtype=bool)
    across[ends[ends[:, 0] == ends[0, 0], 1]] = True
    across[ends[ends[:, 1] == ends[0, 0], 0]] = True
    crossing = across[ends]
    if (crossing.sum(axis=1) != 1).any() or across.sum() * (~across).sum() != size:
        return None
    number = np.where(across, np.cumsum(across), np.cumsum(~across)) - 1
    return number[ends[~crossing]], number[ends[crossing]]


def table_of(matrix: Any) -> Integers | None:
    """The cell at each place, if the cells form a complete two-way table with both margins kept, or a three-way one
    with all its two-way margins."""
    kept = extended(matrix)
    labels, distinct = merge_columns(kept)
    if distinct.shape[1] != len(labels):
        return None
    places = grid_of(distinct)
    if places is None:
        return box_of(distinct.tocsr())
    table = np.empty((int(places[0].max()) + 1, int(places[1].max()) + 1), dtype=np.int64)
    table[places] = np.arange(len(labels))
    return table


@dataclass(frozen=True)
class Between:
    """Moves between classes, and the dimension of the lattice they generate."""

    moves: list[Integers]
    dimension: int


def between_classes(distinct: Any, bounded: bool) -> tuple[Between, bool, bool]:
    """The moves, whether they connect under inequalities, and whether they are to be added up at random."""
    from scipy.sparse.csgraph import connected_components

    size = distinct.shape[1]
    _, label = connected_components(abs(distinct.T) @ abs(distinct), directed=False)
    parts = [np.flatnonzero(label == part) for part in np.unique(label)]
    found = [(part, *_moves_of_part(distinct[:, part], bounded)) for part in parts]
    moves = [_placed(move, part, size) for part, between, _ in found for move in between.moves]
    connects = all(known for _, _, known in found)
    return Between(moves, sum(between.dimension for _, between, _ in found)), connects, bounded and not connects


def _moves_of_part(part: Any, bounded: bool) -> tuple[Between, bool]:
    """Moves of one connected set of classes, and whether they are a Markov basis."""
    places = grid_of(part)
    if places is not None:
        shape = (int(places[0].max()) + 1, int(places[1].max()) + 1)
        if shape[0] * (shape[0] - 1) * shape[1] * (shape[1] - 1) // 4 <= MOST_MINORS:
            cell = places[0] * shape[1] + places[1]
            return Between([move[cell] for move in minors(*shape)], (shape[0] - 1) * (shape[1] - 1)), True
    box = None if bounded else box_of(part.tocsr())
    if box is not None and math.prod(side * (side - 1) // 2 for side in box.shape) <= MOST_MINORS:
        return Between(minors_in(box), math.prod(side - 1 for side in box.shape)), False
    basis = kernel_basis(part.toarray())
    if len(basis) <= 1:
        return Between(list(basis), len(basis)), True
    if not bounded:
        return Between(_with_pairs(basis), len(basis)), False
    known = graver(basis) if basis.shape[1] <= WIDEST_GRAVER else None
    return Between(list(basis if known is None else known), len(basis)), known is not None


def _placed(move: Integers, part: Integers, size: int) -> Integers:
    whole = np.zeros(size, dtype=np.int64)
    whole[part] = move
    return whole


def _with_pairs(basis: Integers) -> list[Integers]:
    """A basis and, if there are few, the sums and differences of its pairs: more directions mix faster."""
    if len(basis) > MOST_PAIRED:
        return list(basis)
    return list(basis) + [one + sign * other for one, other in combinations(basis, 2) for sign in (1, -1)]


def minors(rows: int, columns: int) -> list[Integers]:
    """All +1 -1 / -1 +1 patterns of an r x c table, row by row: the Markov basis of two-way margins."""
    return minors_in(np.arange(rows * columns).reshape(rows, columns))


def minors_in(box: Integers) -> list[Integers]:
    """Two places along every side of a table, the signs of its corners alternating; `box` has each place's number."""
    found = []
    for corners in product(*(combinations(range(side), 2) for side in box.shape)):
        move = np.zeros(box.size, dtype=np.int64)
        signs = functools.reduce(np.multiply.outer, [np.array([1, -1])] * box.ndim)
        move[box[np.ix_(*corners)]] = signs
        found.append(move)
    return found


def graver(basis: Integers, most: int = MOST_GRAVER) -> Integers | None:
    """Graver's basis, one of each pair of signs, by Pottier's completion; None if it has more than `most` vectors.

    Every lattice vector is a sum of its elements without cancellation, so they connect whatever inequalities
    on single cells allow.
    """
    found = np.concatenate([basis, -basis])
    pair = [(i, j) for i in range(len(found)) for j in range(i)]
    while pair:
        i, j = pair.pop()
        rest = _reduced(found[i] + found[j], found)
        if rest.any():
            size = len(found)
            found = np.concatenate([found, [rest, -rest]])
            if len(found) > 2 * most:
                return None
            pair += [(size + side, other) for side in (0, 1) for other in range(size)]
    kept = [v for i, v in enumerate(found) if not _conformal(np.delete(found, i, axis=0), v).any() and _leads(v)]
    return np.array(kept, dtype=np.int64).reshape(-1, basis.shape[1])


def _conformal(candidates: Integers, vector: Integers) -> NDArray[np.bool_]:
    """Which candidates lie, cell by cell, between 0 and the vector."""
    return np.asarray(((candidates * vector >= 0) & (abs(candidates) <= abs(vector))).all(axis=1))


def _reduced(vector: Integers, found: Integers) -> Integers:
    """The vector less conformal elements of `found`, until there is none left."""
    while vector.any() and (below := np.flatnonzero(_conformal(found, vector))).size:
        vector = vector - found[below[0]]
    return vector


def _leads(vector: Integers) -> bool:
    return bool(vector[np.flatnonzero(vector)[0]] > 0)


def _packed(moves: list[Integers]) -> tuple[Integers, Integers, Integers]:
    """Moves as three arrays: the entries that are not zero, their values, and how many there are."""
    supports = [np.flatnonzero(move) for move in moves]
    lengths = np.array([len(support) for support in supports], dtype=np.int64)
    width = int(lengths.max()) if len(moves) else 1
    places, steps = np.zeros((len(moves), width), dtype=np.int64), np.zeros((len(moves), width), dtype=np.int64)
    for row, (move, support) in enumerate(zip(moves, supports)):
        places[row, : len(support)] = support
        steps[row, : len(support)] = move[support]
    return places, steps, lengths
