"""Groups of sums against the slow way: sum by sum, cell by cell."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from discreet.lattice.basis import kernel_basis
from discreet.lattice.invariants import Invariants
from discreet.lattice.neighbours import protected_change
from discreet.lattice.structure import structure_of


def touching(sums: list[frozenset[int]]) -> list[set[int]]:
    """Sums that touch, directly or by way of others."""
    groups: list[set[int]] = []
    for k, one in enumerate(sums):
        near = [group for group in groups if any(one & sums[other] for other in group)]
        groups = [group for group in groups if group not in near] + [{k}.union(*near)]
    return groups


def crossing(one: frozenset[int], other: frozenset[int]) -> bool:
    return bool(one & other) and not one <= other and not other <= one


@given(
    st.integers(1, 7).flatmap(
        lambda cells: st.lists(
            st.lists(st.booleans(), min_size=cells, max_size=cells).filter(any), min_size=1, max_size=6
        )
    )
)
@settings(max_examples=300, deadline=None)
def test_groups_of_sums_are_those_that_touch(rows: list[list[bool]]) -> None:
    matrix = np.array(rows, dtype=np.int64)
    found = structure_of(Invariants(csr_array(matrix), (), (), np.arange(len(rows))))
    sums = [frozenset(np.flatnonzero(row).tolist()) for row in matrix]
    tangled, nested = set(), set()
    for group in touching(sums):
        cells = frozenset().union(*(sums[k] for k in group))
        if any(crossing(sums[i], sums[k]) for i in group for k in group):
            tangled.add(cells)
        else:
            nested |= cells
    parts = {frozenset(np.concatenate(part.classes).tolist()): part for part in found.parts}
    assert {cells for cells, part in parts.items() if not part.laminar} == tangled
    assert [set(cells) for cells, part in parts.items() if part.laminar] == ([nested] if nested else [])
    assert set(found.untouched.tolist()) == set(range(matrix.shape[1])) - frozenset().union(*sums)
    for part in found.parts:
        for members in part.classes:
            assert len({tuple(matrix[:, cell]) for cell in members}) == 1
        columns = [tuple(matrix[:, members[0]]) for members in part.classes]
        assert len(set(columns)) == len(columns)
        kept = {tuple(row) for row in part.matrix.toarray()}
        assert kept == {tuple(row) for row in np.array(columns).T if any(row)}


def test_many_nested_sums_take_no_square_of_memory() -> None:
    """A total over 40,000 blocks: every two of them touch by way of it."""
    blocks = 40_000
    rows = np.concatenate([np.repeat(np.arange(blocks), 2), np.full(2 * blocks, blocks)])
    matrix = csr_array((np.ones(4 * blocks, dtype=np.int64), (rows, np.tile(np.arange(2 * blocks), 2))))
    found = structure_of(Invariants(matrix, (), (), np.arange(blocks + 1)))
    (part,) = found.parts
    assert part.laminar and len(part.classes) == blocks and (part.sizes == 2).all()


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 3, 4), (3, 3, 3)])
def test_what_is_known_of_whole_three_way_tables(shape: tuple[int, int, int]) -> None:
    cells = np.arange(np.prod(shape)).reshape(shape)
    lines = [line for axis in range(3) for line in np.moveaxis(cells, axis, 2).reshape(-1, shape[axis])]
    matrix = np.array([np.isin(cells.ravel(), line) for line in lines]).astype(np.int64)
    found = structure_of(Invariants(csr_array(matrix), (), (), np.arange(len(matrix))))
    (part,), kernel = found.parts, kernel_basis(matrix)
    assert part.dimensions == len(kernel)
    assert np.array_equal(part.steps, np.gcd.reduce(np.abs(kernel), axis=0))
    vectors = np.array(list(itertools.product((-1, 0, 1), repeat=len(kernel)))) @ kernel
    vector = min((one for one in vectors if one.any()), key=lambda one: np.abs(one).sum())
    change = protected_change(found)
    assert (change.distance, change.square, change.proved) == (np.abs(vector).sum(), vector @ vector, True)
    assert (change.more, change.fewer, change.rows) == ((vector > 0).sum(), (vector < 0).sum(), (vector != 0).sum())
