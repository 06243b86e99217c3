"""Two-way tables that lack cells, of any size: a cell is an edge between its row and its column.

Changes that keep both margins are made of cycles. So a cell can change by one just when it is on a cycle, and cannot
change at all when its removal would cut the table in two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Flags, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def on_cycles(ends: Integers, nodes: int) -> Flags:
    """Which edges of a connected graph are on a cycle; `ends` has a row for each edge.

    Every edge beside a spanning tree has a mark, and a tree's edge the marks of all cycles through it, combined: where
    they are not zero, it is on one. Where they are, it is taken to be on none, which is checked by counting pieces.
    """
    above, tree = _spanning(ends, nodes)
    marks = np.zeros(nodes, dtype=np.int64)
    others = np.flatnonzero(~tree)
    words = np.random.default_rng(0).integers(1, 1 << 62, len(others))
    for side in (0, 1):
        np.bitwise_xor.at(marks, ends[others, side], words)
    for level in reversed(above):
        np.bitwise_xor.at(marks, level[:, 1], marks[level[:, 0]])
    below = np.zeros(len(ends), dtype=np.int64)
    child = np.concatenate(above) if above else np.zeros((0, 3), dtype=np.int64)
    below[child[:, 2]] = marks[child[:, 0]]
    found: Flags = ~tree | (below != 0)
    if _pieces(ends[found], nodes) != 1 + np.count_nonzero(~found):
        raise ArithmeticError("the marks of two cycles cancel")
    return found


def _spanning(ends: Integers, nodes: int) -> tuple[list[Integers], Flags]:
    """A tree, level by level from its root: (node, the one above it, the edge between them); and which edges it has."""
    from scipy.sparse.csgraph import breadth_first_order

    order, before = breadth_first_order(_graph(ends, nodes), 0, directed=False)
    low, high = ends.min(axis=1), ends.max(axis=1)
    codes = low * nodes + high
    sorting = np.argsort(codes)
    child = order[1:].astype(np.int64)
    parent = before[child].astype(np.int64)
    wanted = np.minimum(child, parent) * nodes + np.maximum(child, parent)
    edges = sorting[np.searchsorted(codes[sorting], wanted)]
    tree = np.zeros(len(ends), dtype=bool)
    tree[edges] = True
    links, depth = np.column_stack([child, parent, edges]), _depths(child, parent, nodes)
    return [links[depth[child] == level] for level in range(1, depth.max(initial=0) + 1)], tree


def _depths(child: Integers, parent: Integers, nodes: int) -> Integers:
    """Of every node below the first: by doubling how far up one looks."""
    above, depth = np.arange(nodes), np.zeros(nodes, dtype=np.int64)
    above[child], depth[child] = parent, 1
    while np.any(above != above[above]):
        depth, above = depth + depth[above], above[above]
    return depth


def _graph(ends: Integers, nodes: int) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(ends), dtype=np.int8), (ends[:, 0], ends[:, 1])), shape=(nodes, nodes))


def _pieces(ends: Integers, nodes: int) -> int:
    from scipy.sparse.csgraph import connected_components

    return int(connected_components(_graph(ends, nodes), directed=False)[0])


def has_swap(places: Integers) -> bool:
    """Whether two rows have cells in the same two columns."""
    from scipy.sparse import csr_array

    there = csr_array(places >= 0, dtype=np.int64)
    common = csr_array(there.T @ there)
    common.setdiag(0)
    return bool(common.max() > 1)
