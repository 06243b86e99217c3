"""Inequalities as values, and many areas each with its own."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

import discreet as dc
from discreet.errors import BadInput
from discreet.lattice.inequalities import Inequalities, inequalities_of
from tests.clock import within


@given(
    st.integers(1, 5).flatmap(
        lambda width: st.lists(st.lists(st.integers(-3, 3), min_size=width, max_size=width), min_size=1, max_size=4)
    ),
    st.data(),
)
@settings(max_examples=100, deadline=None)
def test_they_are_what_the_matrix_says(rows: list[list[int]], data: st.DataObject) -> None:
    matrix = np.array(rows)
    least = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=len(rows), max_size=len(rows))))
    table = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=matrix.shape[1], max_size=matrix.shape[1])))
    made = inequalities_of((rows, least.tolist()))
    assert made.violated(table).tolist() == np.flatnonzero(matrix @ table < least).tolist()
    assert [cells.tolist() for cells in made.cells] == [np.flatnonzero(row).tolist() for row in matrix]
    assert made.widest == np.count_nonzero(matrix, axis=1).max()
    some = np.array(data.draw(st.lists(st.booleans(), min_size=matrix.shape[1], max_size=matrix.shape[1])))
    about = (matrix[:, some] != 0).any(axis=1)
    assert np.array_equal(made.about(some).matrix.toarray(), matrix[about])
    assert np.array_equal(made.about(some).least, least[about])
    again = Inequalities.of_json(json.loads(json.dumps(made.as_json())))
    assert again == made and hash(again) == hash(made)
    order = np.array(data.draw(st.permutations(range(matrix.shape[1]))))
    assert np.array_equal(made.in_order(order).matrix.toarray(), matrix[:, order])


def test_what_is_written_twice_is_added_up() -> None:
    twice = coo_array(([1, 1, -1, 1], ([0, 0, 0, 0], [0, 0, 1, 1])), shape=(1, 2))
    assert inequalities_of((twice, [0])).as_json() == {"rows": 2, "terms": [[[0, 2]]], "least": [0]}


GOOD = {"rows": 3, "terms": [[[0, 1], [2, -1]]], "least": [0]}


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 2}, {"rows": "3"}, {"terms": []}, {"least": []}, {"least": [0.5]}, {"terms": [[[2, -1], [0, 1]]]},
        {"terms": [[[0, 1], [0, 1]]]}, {"terms": [[[0, 0]]]}, {"terms": [[[0, 1, 2]]]}, {"terms": [[[-1, 1]]]},
        {"more": 1},
    ],
)  # fmt: skip
def test_a_damaged_record_is_refused(change: dict[str, Any]) -> None:
    assert Inequalities.of_json(GOOD).as_json() == GOOD
    with pytest.raises((ValueError, TypeError)):
        Inequalities.of_json(GOOD | change)


WRONG: list[Any] = [
    ([[1, 2]], [0, 0]), ([[0.5, 1]], [0]), 7, ([[1, 1]], [0.5]), ([], []), ([["a", 1]], [0]), ([[1, 1]], ["b"]),
    ([[1], [1, 2]], [0, 0]), (None, None), (np.zeros((2, 2, 2)), [0, 0]), ([[1, 1]], [float("inf")]), ([[1j, 1]], [0]),
    ([[1e30, 1]], [0]), ([[1 << 62, 1]], [0]),
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_what_makes_no_inequalities_is_told(wrong: Any) -> None:
    with pytest.raises(BadInput, match=r"nequalities were asked for"):
        inequalities_of(wrong)


@pytest.mark.parametrize(("least", "most", "pinned"), [(3, 3, True), (4, 3, True), (2, 3, False)])
def test_bounds_that_leave_one_value_are_refused(least: int, most: int, pinned: bool) -> None:
    """2 y >= 2 least - 1, and -3 y >= -3 most - 2: the same after rounding."""
    limits = ([[0, 2, 0, 0], [0, -3, 0, 0]], [2 * least - 1, -3 * most - 2])
    made = inequalities_of(limits)
    assert made.pinned().tolist() == ([1] if pinned else [])
    table = dc.table(pa.table({"k": list("abcd"), "n": [3, 3, 1, 5]}), "n")
    if pinned:
        with pytest.raises(BadInput, match=r"k=b.*no more than one value|contradict each other.*k=b"):
            dc.release(table, 1, keep="total", inequalities=limits)
    else:
        assert dc.release(table, 1, keep="total", inequalities=limits).counts[1] in (2, 3)


def test_what_one_draw_would_have_to_meet_at_once_is_refused_before_it_is_paid_for() -> None:
    table = dc.table(pa.table({"k": [f"r{k:02d}" for k in range(12)], "n": [5] * 12}), "n")
    chain = -np.eye(11, 12, dtype=int) + np.eye(11, 12, 1, dtype=int)
    with pytest.raises(BadInput, match="11 of them are tied together"):
        dc.release(table, 1, keep="total", inequalities=(chain, np.zeros(11)), nonnegative=True)
    with pytest.raises(BadInput, match="few draws are such"):
        dc.release(table, 1, keep="total", law="l2", nonnegative="condition")


def test_twenty_thousand_areas_each_in_order() -> None:
    """Families <= households <= people in every area: each is drawn by itself."""
    areas, names = 20_000, ("families", "households", "people")
    rng = np.random.default_rng(0)
    people = rng.poisson(20, areas)
    households = rng.binomial(people, 0.4)
    counts = np.column_stack([rng.binomial(households, 0.5), households, people])
    frame = pa.table(
        {
            "area": np.repeat([f"a{k:05d}" for k in range(areas)], 3),
            "what": list(names) * areas,
            "n": counts.ravel(),
        }
    )
    rows, first = np.arange(2 * areas), np.repeat(3 * np.arange(areas), 2) + np.tile([0, 1], areas)
    matrix = csr_array(
        (np.tile([-1, 1], 2 * areas), (np.repeat(rows, 2), np.column_stack([first, first + 1]).ravel())),
        shape=(2 * areas, 3 * areas),
    )
    table, kept = dc.table(frame, "n", keys=["area", "what"]), [dc.sum_where(area="a00000")]
    with within(60):
        out = dc.release(table, 1, keep=kept, inequalities=(matrix, np.zeros(2 * areas)), nonnegative=True)
    published = np.asarray(out.counts).reshape(areas, 3)
    assert published.min() >= 0 and (np.diff(published, axis=1) >= 0).all()
    assert published[0].sum() == counts[0].sum() and (published != counts).mean() > 0.5
