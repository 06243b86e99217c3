"""Which of several kept sums say something: the rest follow, and the lattice stays the same."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, vstack

from discreet.lattice.basis import kernel_basis
from discreet.lattice.disclosure import given_away
from discreet.lattice.needed import needed_sums


def of(*sums: str) -> csr_array:
    return csr_array(np.array([[int(one) for one in row] for row in sums], dtype=np.int64))


def written(matrix: csr_array) -> list[str]:
    return ["".join(map(str, row)) for row in matrix.toarray().tolist()]


@pytest.mark.parametrize("sums, left", [
    (["1111", "1100", "0011"], ["1100", "0011"]),  # the total of a margin
    (["1100", "0011", "1100"], ["1100", "0011"]),  # twice
    (["1111", "1100", "0011", "1010", "0101", "1111"], ["1100", "0011", "1010", "0101"]),
    (["1110", "1100"], ["1110", "1100"]),  # nothing adds up to a difference
    (["1110", "1100", "0010"], ["1100", "0010"]),
    (["1111", "1110", "1100", "0010", "0001"], ["1100", "0010", "0001"]),  # by sums that are themselves left out
    (["0000", "1000"], ["1000"]),
    (["1111"], ["1111"]),
    (["110000", "001100", "000011", "101101"],) * 2,  # as large as two of them, and with the first cells of two
])  # fmt: skip
def test_what_follows_from_other_sums_is_left_out(sums: list[str], left: list[str]) -> None:
    assert written(needed_sums(of(*sums))) == left


@given(st.lists(st.text("01", min_size=5, max_size=5), min_size=1, max_size=7))
def test_the_rest_leaves_the_same_changes(sums: list[str]) -> None:
    before, after = of(*sums), needed_sums(of(*sums))
    assert set(written(after)) <= set(sums)
    if after.shape[0] == 0:
        assert not before.toarray().any()
        return
    for matrix, basis in ((before, kernel_basis(after.toarray())), (after, kernel_basis(before.toarray()))):
        assert not (matrix.toarray() @ basis.T).any()


def two_margins(rows: int, columns: int) -> csr_array:
    down = np.repeat(np.eye(rows, dtype=np.int64), columns, axis=1)
    return csr_array(np.vstack([down, np.tile(np.eye(columns, dtype=np.int64), rows)]))


@pytest.mark.parametrize("more", ["total", "a margin again", "one of its sums"])
def test_two_margins_of_a_long_table_are_known_beside_what_was_kept_before(more: str) -> None:
    """What they give away is found by a formula, however long it is."""
    rows, columns = 1000, 3
    margins = two_margins(rows, columns).toarray()
    total = np.ones((1, rows * columns), dtype=np.int64)
    earlier = {"total": total, "a margin again": margins[rows:], "one of its sums": margins[7:8]}[more]
    counts = np.arange(rows * columns) % 5 + 1
    counts[:3] = 0
    found = given_away(csr_array(np.vstack([earlier, margins])), counts)
    assert found.examined and found.fixed.tolist() == [0, 1, 2] and not len(found.exact) and found.residues == ()


def test_all_small_tables_give_away_the_same_with_sums_that_follow() -> None:
    margins = two_margins(2, 3).toarray()
    more = csr_array(np.vstack([np.ones((1, 6), dtype=np.int64), margins, margins[:2]]))
    for counts in product(range(2), repeat=6):
        one, other = (given_away(matrix, np.array(counts)) for matrix in (csr_array(margins), more))
        assert one.fixed.tolist() == other.fixed.tolist() and one.exact.tolist() == other.exact.tolist()


def three_margins(sides: tuple[int, int, int]) -> csr_array:
    """All two-way margins of a three-way table in which some cells are missing: no shape that is known."""
    cells = np.array([cell for cell in product(*map(range, sides)) if sum(cell) % 7])
    rows = [cells[:, [a, b]] for a, b in ((0, 1), (0, 2), (1, 2))]
    which = [np.unique(pairs, axis=0, return_inverse=True)[1].ravel() for pairs in rows]
    return csr_array(np.vstack([np.eye(one.max() + 1, dtype=np.int64)[one].T for one in which]))


def test_many_sums_of_a_long_table_are_compared_at_once() -> None:
    """Each with each: as many families as sums."""
    rng = np.random.default_rng(1)
    apart = csr_array((rng.random((29, 200_000)) < 0.3).astype(np.int64))
    total = csr_array(np.ones((1, 200_000), dtype=np.int64))
    rest = csr_array(total - apart[[28]])
    begun = time.process_time()
    assert needed_sums(csr_array(vstack([total, apart, rest]))).shape[0] == 30  # all but the total
    assert time.process_time() - begun < 20


def test_a_sum_of_zero_is_seen_where_nothing_else_is() -> None:
    """Of sums that are too entangled, the rows that are surely known are named all the same."""
    matrix = three_margins((14, 14, 14))
    counts = np.ones(matrix.shape[1], dtype=np.int64)
    empty = matrix[[5]].indices
    counts[empty] = 0
    found = given_away(matrix, counts)
    assert not found.examined and matrix.shape[1] > 1500
    assert set(empty.tolist()) <= set(found.fixed.tolist())
    zero = np.flatnonzero(matrix @ counts == 0)
    assert found.fixed.tolist() == sorted({cell for row in zero for cell in matrix[[row]].indices.tolist()})
