"""What kept sums give away, against enumeration of every table with the same sums."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import discreet as dc
from discreet.lattice.basis import kernel_basis
from discreet.lattice.disclosure import fixed_cells, fixed_rows, given_away
from discreet.lattice.inequalities import Inequalities, inequalities_of
from discreet.lattice.invariants import Invariants, invariant_matrix
from discreet.lattice.shape import independent_rows
from discreet.lattice.structure import structure_of
from tests.lattice.fibres import margins, nonnegative_tables

PARITY = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1]])


def tables(matrix: np.ndarray, counts: np.ndarray) -> list[tuple[int, ...]]:
    """Every table without negative counts that has the kept sums of `counts`; cells in no sum up to 3."""
    most = [min([int((row * counts).sum()) for row in matrix if row[j]], default=3) for j in range(len(counts))]
    sums = matrix @ counts
    return [x for x in itertools.product(*(range(m + 1) for m in most)) if np.array_equal(matrix @ np.array(x), sums)]


BOX = np.array(list(itertools.product(range(-3, 4), repeat=5)))


def steps_of(matrix: np.ndarray) -> list[int]:
    """By how much changes that keep every sum can change each cell: the greatest common divisor."""
    around = BOX[~(BOX @ matrix.T).any(axis=1)]
    return [math.gcd(*column) for column in around.T.tolist()]


sums_of_five = st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5).filter(any), min_size=1, max_size=4)


@settings(max_examples=80, deadline=None)
@given(sums_of_five, st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_against_enumeration(rows: list[list[int]], counts: list[int]) -> None:
    matrix, table = np.array(rows), np.array(counts)
    found = given_away(csr_array(matrix), table)
    assert found.examined
    steps = steps_of(matrix)
    assert found.exact.tolist() == [j for j in range(5) if steps[j] == 0]
    assert found.residues == tuple((j, steps[j]) for j in range(5) if steps[j] > 1)
    possible = tables(matrix, table)
    held = matrix.any(axis=0)
    settled = [j for j in range(5) if held[j] and len({x[j] for x in possible}) == 1]
    # a linear program may leave room that no whole numbers fill: it never claims too much
    assert set(found.fixed) | set(found.exact) <= set(settled)
    empty = matrix[matrix @ table == 0].any(axis=0)
    assert set(np.flatnonzero(empty)) <= set(found.fixed) | set(found.exact)


def test_parity_gets_out() -> None:
    found = given_away(csr_array(PARITY))
    assert found.residues == ((3, 2),) and not len(found.exact) and found


def test_what_is_fixed_fixes_more() -> None:
    """Rows 1 to 3 are fixed by whole numbers alone, and then the sum of rows 1, 3 and 4 tells row 4."""
    table = np.array([0, 1, 0, 1])
    possible = tables(PARITY, table)
    assert possible == [(0, 1, 0, 1)]
    assert given_away(csr_array(PARITY), table).fixed.tolist() == [0, 1, 2, 3]


def test_two_sums_that_differ_by_a_row() -> None:
    found = given_away(csr_array(np.array([[1, 1, 0, 0], [1, 1, 1, 0]])))
    assert found.exact.tolist() == [2]


@pytest.mark.parametrize(
    "counts", [[[0, 0, 0], [0, 4, 1], [0, 2, 2]], [[5, 0, 0], [0, 0, 0], [0, 0, 0]], [[1, 0, 2], [0, 1, 0], [1, 0, 1]]]
)
def test_two_way_bounds(counts: list[list[int]]) -> None:
    table = np.array(counts).ravel()
    matrix = np.vstack(
        [
            np.kron(np.eye(3, dtype=int), np.ones((1, 3), dtype=int)),
            np.kron(np.ones((1, 3), dtype=int), np.eye(3, dtype=int)),
        ]
    )
    possible = tables(matrix, table)
    settled = [j for j in range(9) if len({x[j] for x in possible}) == 1]
    assert given_away(csr_array(matrix), table).fixed.tolist() == settled


def test_nothing_is_given_away_by_a_total() -> None:
    found = given_away(csr_array(np.ones((1, 4), dtype=int)), np.array([1, 0, 2, 3]))
    assert not found and found.examined


def test_sums_too_entangled_are_not_claimed_to_be_examined() -> None:
    rng = np.random.default_rng(1)
    matrix = csr_array((rng.random((60, 1600)) < 0.2).astype(np.int64))
    assert not given_away(matrix).examined


def frame() -> dc.Table:
    rows = {"r": ["A", "A", "B", "B", "C"], "k": ["1", "2", "1", "2", "1"], "n": [0, 0, 3, 4, 7]}
    import pyarrow as pa

    return dc.table(pa.table(rows), "n", keys=["r", "k"])


@pytest.mark.parametrize("options", [{"epsilon": 1}, {"epsilon": 1, "law": "l2"}, {"rho": "1/2", "law": "gaussian"}])
def test_keeping_less_protects_no_less(options: dict) -> None:
    """One person moved inside A costs the same, whether or not the other sums are kept."""
    less = dc.release(frame(), keep=["sum:r=A"], seed=1, **options).guarantee.unit
    more = dc.release(frame(), keep=["margin:r"], seed=1, **options).guarantee.unit
    assert less.change.code == more.change.code == "moved"
    assert less.rate == more.rate


def test_the_report_says_what_follows_from_a_sum_of_zero(tmp_path) -> None:
    out = dc.release(frame(), 1, keep=["margin:r"], seed=1)
    facts = out.record.facts.invariants
    assert facts.determined.tolist() == [5] and facts.fixed.tolist() == [1, 2]
    out.save(tmp_path / "out")
    assert "because no count is negative" in (tmp_path / "out" / "report.html").read_text()


def test_a_free_row_costs_half_of_a_move() -> None:
    promise = dc.release(frame(), 1, keep=["sum:r=A"], seed=1).record.guarantee
    assert [one.code for one in promise.remarks] == [
        "rows-are-public", "larger-changes-cost-more", "a-free-row-costs-less", "sums-are-kept",
        "counts-may-be-negative",
    ]  # fmt: skip


def test_rows_that_only_exchange_are_named() -> None:
    matrix = np.zeros((4, 6), dtype=int)
    matrix[:, :4] = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    import pyarrow as pa

    table = dc.table(pa.table({"k": list("abcdef"), "n": [1, 2, 3, 4, 5, 6]}), "n", keys=["k"])
    promise = dc.release(table, 1, keep=[dc.sums(matrix)], seed=1).record.guarantee
    assert promise.unit.change.code == "free-row"
    assert {one.code: dict(one.numbers) for one in promise.remarks}["only-exchanges"] == {"rows": 4}


def block(people: int) -> dc.Table:
    import pyarrow as pa

    frame = pa.table({"k": list("abcdef"), "n": [1, 2, 3, 4, 5, 6]})
    return dc.table(frame, "n", keys=["k"], contributions=people)


def test_one_person_counted_twice_can_exchange_places_alone() -> None:
    """In (a, d) now, in (b, c) then: every sum is the same, at distance 4, which costs the headline."""
    matrix = np.zeros((4, 6), dtype=int)
    matrix[:, :4] = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    promise = dc.release(block(2), 1, keep=[dc.sums(matrix)], seed=1).record.guarantee
    assert promise.unit.change.code == "rearranged"
    codes = {one.code for one in promise.remarks}
    assert not codes & {"only-exchanges", "neighbourhood-destroyed"}
    rate = promise.unit.rate.epsilon.bounds()[1]  # e to the price of a unit
    assert float(rate) ** 4 <= np.e


@pytest.mark.parametrize(("people", "said"), [(1, True), (2, False)])
def test_neighbours_are_destroyed_only_where_one_person_can_change_nothing(people: int, said: bool) -> None:
    matrix = [[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1], [1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1], [1, 1, 1, 1, 0, 0]]
    promise = dc.release(block(people), 1, keep=[dc.sums(matrix)], seed=1).record.guarantee
    assert promise.unit.change.distance == 4
    assert ("neighbourhood-destroyed" in {one.code for one in promise.remarks}) is said


def rows_fixed(matrix: np.ndarray, counts: np.ndarray, limits: Inequalities) -> tuple[list[int], list[int]]:
    """Rows that are determined, and rows that are fixed besides, counted from 0."""
    kept = csr_array(matrix)
    structure = structure_of(Invariants(kept, (), (), np.arange(len(matrix))))
    return structure.determined.tolist(), (fixed_rows(structure, counts, kept, limits) - 1).tolist()


@settings(max_examples=80, deadline=None)
@given(
    sums_of_five,
    st.lists(st.integers(0, 2), min_size=5, max_size=5),
    st.lists(st.lists(st.integers(-1, 1), min_size=5, max_size=5).filter(any), min_size=1, max_size=3),
    st.lists(st.integers(0, 1), min_size=3, max_size=3),
)
def test_rows_fixed_by_sums_and_inequalities(
    rows: list[list[int]], counts: list[int], terms: list[list[int]], room: list[int]
) -> None:
    """Never too many; and every row that one of them bounds from both sides."""
    matrix, table, factors = np.array(rows), np.array(counts), np.array(terms)
    least = factors @ table - np.array(room[: len(terms)])
    exact, fixed = rows_fixed(matrix, table, inequalities_of((factors, least)))
    sums = matrix @ table
    everything = np.array(list(itertools.product(range(7), repeat=5)))
    possible = everything[
        (everything @ matrix.T == sums).all(axis=1) & (everything @ factors.T >= least).all(axis=1)
    ]  # fmt: skip
    assert set(fixed) <= {j for j in range(5) if len(set(possible[:, j])) == 1}
    assert set(np.flatnonzero(matrix[sums == 0].any(axis=0))) <= {*exact, *fixed}
    nobody = [
        j for k in range(len(terms)) if (factors[k] <= 0).all() and least[k] == 0 for j in np.flatnonzero(factors[k])
    ]
    assert set(nobody) <= {*exact, *fixed}


def test_many_rows_that_are_tied_together_take_few_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two programs for each of the forty rows of a group would take minutes where there are a thousand groups."""
    from discreet import program

    groups, pairs = 5, 20
    cells = np.arange(groups * pairs * 2).reshape(groups, pairs, 2)
    matrix = np.zeros((groups, cells.size), dtype=int)
    factors = np.zeros((groups * pairs, cells.size), dtype=int)
    for group in range(groups):
        matrix[group, cells[group].ravel()] = 1
    factors[np.arange(groups * pairs), cells[:, :, 0].ravel()] = -1
    factors[np.arange(groups * pairs), cells[:, :, 1].ravel()] = 1
    counts = np.random.default_rng(1).poisson(5, cells.shape)
    counts.sort(axis=2)
    counts[0] = 0
    counts[0, 3] = 0, 1  # the second of some pair is one, and no first one can be
    solved, one = [], program.solve

    def counted(given: program.LinearProgram) -> program.Solution:
        solved.append(len(given.costs))
        return one(given)

    monkeypatch.setattr(program, "solve", counted)
    exact, fixed = rows_fixed(matrix, counts.ravel(), inequalities_of((factors, np.zeros(groups * pairs, dtype=int))))
    assert exact == [] and fixed == cells[0, :, 0].tolist()
    whole = [size for size in solved if size >= cells.size]
    assert len(whole) <= 10, "programs over all groups"


@pytest.mark.parametrize(
    ("terms", "least"),
    [
        ([[-1, 0, 0, 0], [0, -1, 0, 0]], [-3, -3]),
        ([[1, 0, 0, 0], [0, 1, 0, 0]], [3, 3]),
        ([[1, -1, 0, 0], [-1, 1, 0, 0]], [0, -1]),
    ],
    ids=["each at most 3", "each at least 3", "equal but for one"],
)
def test_rows_that_inequalities_publish_are_listed(terms: list[list[int]], least: list[int], tmp_path: Path) -> None:
    """Two rows with a kept sum of 6: every release has 3 and 3, and says so; a record that does not is refused."""
    table = dc.table(pa.table({"g": list("ppqq"), "k": list("abab"), "n": [3, 3, 2, 9]}), "n", keys=["g", "k"])
    out = dc.release(table, epsilon=1, keep="margin:g", inequalities=(np.array(terms), np.array(least)))
    assert out.counts[:2].tolist() == [3, 3] and out.record.facts.invariants.fixed.tolist() == [1, 2]
    silent = replace(out.record.facts.invariants, fixed=np.zeros(0, dtype=np.int64))
    facts = replace(out.record.facts, invariants=silent)
    out.save(tmp_path / "told")
    forged = replace(out, publication=replace(out.publication, record=replace(out.record, facts=facts)))
    forged.save(tmp_path / "silent")
    assert dc.verify(tmp_path / "told")
    assert any("fix" in problem for problem in dc.verify(tmp_path / "silent").problems)


def test_large_counts_are_fixed_like_small_ones() -> None:
    """Floats of large numbers are off by more than one: bounds are looked for among changes."""
    matrix = csr_array(np.array([[1, 1, 0], [0, 1, 1]]))
    for most in (7, 10**7, 10**14):
        assert given_away(matrix, np.array([most, 0, 0])).fixed.tolist() == [0, 1, 2]


GAPS = np.delete(margins(3, 4), [1, 6, 11], axis=1)


@pytest.mark.parametrize("sizes", [[1] * 9, [1, 1, 2, 1, 1, 1, 2, 1, 1]])
@pytest.mark.parametrize("seed", range(12))
def test_tables_that_lack_cells_fix_what_enumeration_says(sizes: list[int], seed: int) -> None:
    """Also where the table at hand has the right sums and negative entries, and where a place holds two rows."""
    rng, matrix = np.random.default_rng(seed), np.repeat(GAPS, sizes, axis=1)
    counts = rng.poisson(0.6, matrix.shape[1])
    every = nonnegative_tables(matrix, counts)
    directions = kernel_basis(matrix[independent_rows(matrix)])
    expected = np.flatnonzero((every == every[0]).all(axis=0))
    structure = structure_of(invariant_matrix([dc.sums(matrix)], {}, matrix.shape[1]))
    for signed in (counts, counts + rng.integers(-2, 3, len(directions)) @ directions):
        assert np.array_equal(np.union1d(fixed_cells(structure, signed)[0], structure.determined), expected)


def test_a_table_that_lacks_cells_takes_few_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two for every cell take a second for four tables of ten by ten."""
    from discreet import program

    rng = np.random.default_rng(2)
    matrix, solved, one = margins(10, 10)[:, rng.random(100) < 0.9], [], program.solve
    structure = structure_of(invariant_matrix([dc.sums(matrix)], {}, matrix.shape[1]))
    monkeypatch.setattr(program, "solve", lambda given: solved.append(given) or one(given))
    assert len(fixed_cells(structure, rng.poisson(5, matrix.shape[1]))[0]) == 0
    assert 0 < len(solved) < 20
