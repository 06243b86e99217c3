"""Groups of sums against the slow way: sum by sum, cell by cell."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag
from scipy.sparse import csr_array

from discreet.lattice import sampler
from discreet.lattice.basis import kernel_basis
from discreet.lattice.disclosure import fixed_cells
from discreet.lattice.inequalities import Inequalities
from discreet.lattice.invariants import Invariants
from discreet.lattice.neighbours import protected_change
from discreet.lattice.plan import plan_lattice
from discreet.lattice.structure import Part, structure_of, tied
from discreet.sample.bits import seeded


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
    assert {cells for cells, part in parts.items() if not part.shape.laminar} == tangled
    assert [set(cells) for cells, part in parts.items() if part.shape.laminar] == ([nested] if nested else [])
    assert set(found.untouched.tolist()) == set(range(matrix.shape[1])) - frozenset().union(*sums)
    for part in found.parts:
        for members in part.classes:
            assert len({tuple(matrix[:, cell]) for cell in members}) == 1
        columns = [tuple(matrix[:, members[0]]) for members in part.classes]
        assert len(set(columns)) == len(columns)
        kept = {tuple(row) for row in part.shape.matrix.toarray()}
        assert kept == {tuple(row) for row in np.array(columns).T if any(row)}


def test_many_nested_sums_take_no_square_of_memory() -> None:
    """A total over 40,000 blocks: every two of them touch by way of it."""
    blocks = 40_000
    rows = np.concatenate([np.repeat(np.arange(blocks), 2), np.full(2 * blocks, blocks)])
    matrix = csr_array((np.ones(4 * blocks, dtype=np.int64), (rows, np.tile(np.arange(2 * blocks), 2))))
    found = structure_of(Invariants(matrix, (), (), np.arange(blocks + 1)))
    (part,) = found.parts
    assert part.shape.laminar and len(part.classes) == blocks and (part.sizes == 2).all()


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 3, 4), (3, 3, 3)])
def test_what_is_known_of_whole_three_way_tables(shape: tuple[int, int, int]) -> None:
    cells = np.arange(np.prod(shape)).reshape(shape)
    lines = [line for axis in range(3) for line in np.moveaxis(cells, axis, 2).reshape(-1, shape[axis])]
    matrix = np.array([np.isin(cells.ravel(), line) for line in lines]).astype(np.int64)
    found = structure_of(Invariants(csr_array(matrix), (), (), np.arange(len(matrix))))
    (part,), kernel = found.parts, kernel_basis(matrix)
    assert part.shape.dimensions == len(kernel)
    assert np.array_equal(part.shape.steps, np.gcd.reduce(np.abs(kernel), axis=0))
    vectors = np.array(list(itertools.product((-1, 0, 1), repeat=len(kernel)))) @ kernel
    vector = min((one for one in vectors if one.any()), key=lambda one: np.abs(one).sum())
    change = protected_change(found)
    assert (change.distance, change.square, change.proved) == (np.abs(vector).sum(), vector @ vector, True)
    assert (change.more, change.fewer, change.rows) == ((vector > 0).sum(), (vector < 0).sum(), (vector != 0).sum())


def crossing_tables(rng: np.random.Generator, shapes: list[tuple[int, int, int]]) -> csr_array:
    """Two-way tables, each with both margins and as many cells in every place, their cells and sums mixed."""
    tables = []
    for down, across, cells in shapes:
        rows = np.kron(np.eye(down, dtype=np.int64), np.ones((1, across), dtype=np.int64))
        columns = np.kron(np.ones((1, down), dtype=np.int64), np.eye(across, dtype=np.int64))
        tables.append(np.repeat(np.vstack([rows, columns]), cells, axis=1))
    matrix = np.asarray(block_diag(*tables))
    return csr_array(matrix[rng.permutation(len(matrix))][:, rng.permutation(matrix.shape[1])])


@pytest.mark.parametrize("seed", range(5))
def test_groups_that_are_alike_are_the_groups_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = [(2, 2, 1), (2, 3, 1), (2, 2, 1), (2, 2, 2), (2, 2, 1), (3, 3, 1), (2, 3, 1)]
    matrix = crossing_tables(rng, shapes)
    found = structure_of(Invariants(matrix, (), (), np.arange(matrix.shape[0])))
    assert sum(part.copies for part in found.alike) == len(found.parts) == len(shapes)
    assert sorted(np.concatenate(found.numbers).tolist()) == list(range(len(shapes)))
    firsts = [np.flatnonzero(matrix[:, [part.cells[0]]].toarray())[0] for part in found.parts]
    assert len(set(firsts)) == len(shapes)
    for part in found.parts:
        sums = matrix[:, part.cells].toarray()
        held = sums[sums.any(axis=1)]  # in the order of the sums
        assert np.array_equal(held, np.repeat(part.shape.matrix.toarray(), part.sizes, axis=1))
    assert np.array_equal(found.determined, np.sort(np.concatenate([part.determined for part in found.parts])))
    assert found.dimensions == sum(part.shape.dimensions for part in found.parts)
    one_by_one = sorted(sorted(part.cells.tolist()) for part in found.parts)
    ties = tied(found, [])
    assert one_by_one == sorted(np.flatnonzero(ties == number).tolist() for number in np.unique(ties))


def test_of_many_groups_that_are_alike_one_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand tables took forty seconds, when each was looked at by itself."""
    tables, looked = 1_000, list[Part]()
    places = np.arange(4 * tables)
    overlapping = sampler._overlapping
    monkeypatch.setattr(sampler, "_overlapping", lambda part, *more: looked.append(part) or overlapping(part, *more))
    monkeypatch.setattr(Part, "each", property(lambda part: pytest.fail("one by one")))
    region = np.random.default_rng(1).permutation(tables)[places % tables]
    keys = {"region": region, "a": places // (2 * tables), "b": places // tables % 2}
    plan = plan_lattice(
        {name: column.tolist() for name, column in keys.items()}, ["margin:region,a", "margin:region,b"], 1
    )
    assert len(looked) == len(plan.pieces) == len(plan.structure.alike) == 1
    assert np.array_equal(np.sort(plan.pieces[0].cells), places)
    by_region = np.zeros((tables, 4), dtype=np.int64)
    by_region[region, 2 * keys["a"] + keys["b"]] = plan.draw(seeded(0)) * (1 - 2 * ((keys["a"] + keys["b"]) % 2))
    assert (by_region == by_region[:, :1]).all() and len(np.unique(by_region)) > 3
    fixed = fixed_cells(plan.structure, np.zeros(len(places), dtype=np.int64))
    assert np.array_equal(fixed[0], places) and fixed[1]


def test_noise_of_groups_that_are_alike_is_drawn_under_inequalities() -> None:
    """Only those that must be are drawn again."""
    columns = {"region": ["x"] * 4 + ["y"] * 4 + ["z"] * 4, "a": ["p", "p", "q", "q"] * 3, "b": ["s", "t"] * 6}
    limits = Inequalities(
        csr_array((np.array([1, -1]), (np.arange(2), np.array([0, 4]))), shape=(2, 12)), np.array([1, -9])
    )
    plan = plan_lattice(columns, ["margin:region,a", "margin:region,b"], 1, inequalities=limits)
    table = np.tile([3, 1, 2, 5], 3)
    drawn = plan.draws(400, seeded(0), table) + table
    assert (drawn[:, 0] >= 1).all() and (drawn[:, 4] <= 9).all() and (drawn[:, 8] < 1).any()
    assert (drawn.reshape(400, 3, 2, 2).sum(axis=3) == table.reshape(3, 2, 2).sum(axis=2)).all()


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20))
@settings(max_examples=100, deadline=None)
def test_where_every_cell_is_in_one_sum_the_classes_stand_as_they_are_met(groups: list[int]) -> None:
    matrix = csr_array(np.array([[int(group == row) for group in groups] for row in range(7)]))
    structure = structure_of(Invariants(matrix, (), (), np.arange(7)))
    met = [[cell for cell, other in enumerate(groups) if other == group] for group in dict.fromkeys(groups)]
    assert [block.tolist() for block in structure.apart] == met
    assert structure.determined.tolist() == sorted(block[0] for block in met if len(block) == 1)
