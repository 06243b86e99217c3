"""What is to be kept, in names; and what shape it has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput, Infeasible
from discreet.lattice.basis import kernel_basis, shortest
from discreet.lattice.invariants import invariant_matrix, margin, parse_keep, sum_where, sums, total
from discreet.lattice.neighbours import protected_change
from discreet.lattice.shape import independent_rows
from discreet.lattice.structure import structure_of
from tests.clock import within
from tests.lattice.enumeration import THREE_SETS, margins, points

KEYS = {
    "county": ["a", "a", "b", "b", "c", "c"],
    "sex": ["f", "m", "f", "m", "f", "m"],
    "year": [2019, 2019, 2020, 2020, 2020, 2020],
}


HEXAGON = np.array(
    [
        [1, 1, 0, 0, 0, 0],
        [0, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 1, 1],
        [1, 0, 0, 0, 0, 1],
        [0, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 1, 0],
    ]
)


def rows(keep: list[object], keys: dict[str, list[object]] = KEYS) -> list[list[int]]:
    return invariant_matrix(keep, keys).matrix.toarray().tolist()  # type: ignore[arg-type]


def test_names_become_rows() -> None:
    assert rows([total()]) == [[1] * 6]
    assert rows([margin("sex")]) == [[1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1]]
    assert rows([margin("year", "sex")]) == [
        [1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 0, 1, 0, 1, 0],
        [0, 0, 0, 1, 0, 1],
    ]
    assert rows([sum_where(sex="f", year=2020)]) == [[0, 0, 1, 0, 1, 0]]
    assert rows([sums([[1, 0, 0, 0, 0, 1]])]) == [[1, 0, 0, 0, 0, 1]]


def test_the_shell_says_the_same(tmp_path: Path) -> None:
    assert parse_keep("total") == total()
    assert parse_keep("margin:county, sex") == margin("county", "sex")
    assert parse_keep("sum:sex=f,year=2020") == sum_where(sex="f", year=2020)
    file = tmp_path / "kept.csv"
    file.write_text("1,1,0\n0,0,1\n")
    assert parse_keep(str(file)).rows == ((1, 1, 0), (0, 0, 1))  # type: ignore[union-attr]
    assert str(parse_keep("margin:a,b")) == "margin:a,b"


def test_labels_name_the_sums() -> None:
    kept = invariant_matrix(["total", "margin:sex", "sum:county=a,sex=f"], KEYS)
    assert kept.labels == ("total", "sex=f", "sex=m", "county=a,sex=f")
    assert kept.sums(np.arange(6)).tolist() == [15, 6, 9, 0]


@pytest.mark.parametrize(
    ("keep", "words"),
    [
        (["margin:count"], "Did you mean 'county'?"),
        (["sum:sex=female"], "no row has sex = 'female'"),
        (["sum:county=a,year=2020"], "the sum of no cell"),
        (["sum:sex"], "COLUMN=VALUE"),
        (["totals"], "Did you mean 'total'?"),
        (["margin:"], "no column is named"),
        (["margin:sex,sex"], "named twice"),
        ([], "nothing to keep"),
        ([sums([[1, 1, 1]])], "3 columns, the table 6 rows"),
    ],
)
def test_errors_say_what_to_do(keep: list[object], words: str) -> None:
    with pytest.raises(BadInput, match=words.replace("?", r"\?")):
        rows(keep)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[1, 0.5]], "row 1, column 2 is 0.5"),
        ([[1, 2]], "every entry must be 0 or 1"),
        ([[1, -1]], "every entry must be 0 or 1"),
        ([[1, 1], [0, 0]], "row 2 is the sum of no cell"),
        ([[1, 1], [1]], "row 2 has 1 entries"),
        ([], "empty"),
    ],
)
def test_sums_must_be_plain_sums(matrix: list[list[float]], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        sums(matrix)


def test_what_finer_margins_imply_is_not_needed_but_stays_published() -> None:
    kept = invariant_matrix(["total", "margin:sex", "margin:county,sex", "sum:sex=f", "margin:sex,county"], KEYS)
    assert len(kept.labels) == 1 + 2 + 6 + 1 + 6
    assert kept.needed.tolist() == list(range(3, 9))


def test_a_margin_over_a_thousand_levels_of_a_million_cells() -> None:
    cells = np.arange(1_000_000)
    with within(20):
        kept = invariant_matrix(["total", "margin:county"], {"county": cells % 1000, "cell": cells})
        shape = structure_of(kept)
    assert kept.matrix.shape == (1001, 1_000_000)
    assert kept.matrix.nnz == 2_000_000
    assert [len(members) for part in shape.parts for members in part.classes] == [1000] * 1000


def structure(matrix: np.ndarray):  # type: ignore[no-untyped-def]
    return structure_of(invariant_matrix([sums(matrix)], {"cell": range(matrix.shape[1])}))


def test_shapes() -> None:
    nested = structure(np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]]))
    assert nested.untouched.tolist() == [4]
    assert [sorted(map(list, part.classes)) for part in nested.parts] == [[[0, 1], [2, 3]]]
    assert not nested.parts[0].shape.free
    (table,) = structure(margins(5, 3)).parts
    assert table.shape.grid is not None and table.shape.grid.place.shape == (5, 3)
    (merged,) = structure(np.repeat(margins(3, 4), 2, axis=1)).parts
    assert merged.shape.grid is not None and merged.shape.grid.place.shape == (4, 3) and set(merged.sizes) == {2}
    holes = margins(3, 3)[:, 1:]
    (part,) = structure(holes).parts
    assert part.shape.grid is None and len(part.shape.kernel) == 3
    assert len(structure(np.kron(np.eye(4, dtype=int), margins(2, 2))).parts) == 4


def test_determined_cells() -> None:
    assert structure(np.array([[1, 0, 0, 0], [1, 1, 1, 0]])).determined.tolist() == [0]
    # sums a+b, b+c, a+c fix all three
    assert structure(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])).determined.tolist() == [0, 1, 2]
    assert structure(margins(3, 3)).determined.tolist() == []
    # a 2 x 2 table with one more kept cell
    assert structure(np.vstack([margins(2, 2), [[1, 0, 0, 0]]])).determined.tolist() == [0, 1, 2, 3]


def test_everything_determined_is_refused() -> None:
    with pytest.raises(Infeasible, match="determine every single cell"):
        protected_change(structure(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])))


@pytest.mark.parametrize(
    ("matrix", "length"),
    [
        (np.ones((1, 4), dtype=int), 2),
        (np.array([[1, 0, 0]]), 1),
        (margins(4, 4), 4),
        (np.array([[1, 1, 0], [0, 1, 1]]), 3),
        (THREE_SETS, 2),
        (THREE_SETS[:, :7], 3),
        # a hexagon of six rows and columns without the diagonals: the only loop has length 6
        (HEXAGON, 6),
    ],
)  # fmt: skip
def test_the_protected_change(matrix: np.ndarray, length: int) -> None:
    change = protected_change(structure(matrix))
    assert change.distance == length
    reach = 3 if matrix.shape[1] < 8 else 1
    assert min(sum(map(abs, v)) for v in points(matrix, reach) if any(v)) == length


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5).filter(any), min_size=1, max_size=4))
def test_any_sums(matrix: list[list[int]]) -> None:
    """Parts, kernels, determined cells and the smallest change against enumeration."""
    array = np.array(matrix)
    shape = structure(array)
    found = points(array, 3)
    moving = {cell for v in found for cell, entry in enumerate(v) if entry}
    assert set(shape.determined.tolist()) == set(range(5)) - moving
    assert sum(len(c) for part in shape.parts for c in part.classes) + len(shape.untouched) == 5
    if moving:
        change = protected_change(shape)
        expected = protected_length(array, found)
        assert change.distance >= expected
        assert change.distance == expected or not change.proved


def protected_length(matrix: np.ndarray, found: list[tuple[int, ...]]) -> int:
    """One person moved inside a sum; else one more or less in a row of none; else the smallest change."""
    lengths = [sum(map(abs, v)) for v in found if any(v)]
    held = matrix.any(axis=0)
    inside = [v for v in found if sorted(v)[0] == -1 and sum(map(abs, v)) == 2 and (matrix[:, np.nonzero(v)[0]]).any()]
    assert all(held[np.nonzero(v)[0]].all() for v in inside)
    return 2 if inside else min(lengths)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), min_size=6, max_size=6), min_size=1, max_size=4))
def test_kernel_bases_are_saturated(matrix: list[list[int]]) -> None:
    array = np.array(matrix)
    basis = kernel_basis(array)
    assert len(basis) == 6 - np.linalg.matrix_rank(array)
    assert not (array @ basis.T).any()
    for vector in points(array[independent_rows(array)], 1) if array.any() else []:
        combination = np.linalg.lstsq(basis.T.astype(float), np.array(vector), rcond=None)[0]
        assert np.allclose(combination, np.rint(combination), atol=1e-8)


def test_short_vectors_need_no_search_when_they_are_in_the_basis() -> None:
    vector, proved = shortest(np.array([[1, 1, -1]]), np.array([[1, 0, 1], [0, 1, 1]]))
    assert proved and np.abs(vector).sum() == 3
