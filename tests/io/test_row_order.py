"""Rows in the order of their keys, however they came, and whether they ascend."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput
from discreet.io import row_order
from discreet.io.row_order import _readings, in_order, may_be_ascending, strictly_ascending
from tests.clock import within


def test_rows_are_sorted_unless_their_order_is_public() -> None:
    frame = pa.table({"a": ["y", "x", "x"], "b": [1, 10, 9], "n": [5, 6, 7]})
    table = dc.table(frame, "n", ["a", "b"])
    assert table.schema.column("b") == [9, 10, 1] and table.counts.tolist() == [7, 6, 5]
    assert table.schema.order == "sorted"
    kept = dc.table(frame, "n", ["a", "b"], keep_order=True)
    assert kept.schema.column("b") == [1, 10, 9] and kept.counts.tolist() == [5, 6, 7]
    assert kept.schema.order == "as-given"
    with pytest.raises(BadInput, match="rows 1 and 3 have the same"):
        dc.table(pa.table({"a": ["y", "x", "y"], "n": [5, 6, 7]}), "n", keep_order=True)


KEYS = st.sampled_from(["1", "01", "1.0", "2", "10", "9", "a", "nan", "-1", ""])


@given(st.integers(1, 3).flatmap(lambda k: st.lists(st.lists(KEYS, min_size=k, max_size=k), min_size=1, max_size=4)))
def test_whether_rows_ascend_is_decided_column_by_column(rows: list[list[str]]) -> None:
    """As if every column were read as text and as numbers, in all combinations."""
    for one in (rows, sorted(rows)):
        columns = [pa.chunked_array([[row[k] for row in one]], pa.string()) for k in range(len(one[0]))]
        readings = product(*(list(_readings(column)) for column in columns))
        names = [f"k{k}" for k in range(len(columns))]
        expected = any(strictly_ascending(pa.table(list(reading), names)) for reading in readings)
        assert may_be_ascending(pa.table(columns, names)) is expected


def test_many_columns_of_numbers_cost_little() -> None:
    keys = pa.table({**{f"k{k}": ["1"] * 4 for k in range(60)}, "z": ["2", "1", "4", "3"]})
    with within(5):  # 2^60 combinations would never end
        assert not may_be_ascending(keys)


@pytest.mark.parametrize("names", [(".k", "[0]"), ("place", "row"), ("key 1", "key 0"), ("__row", "__place")])
def test_any_names_of_keys_are_sorted_and_filled(names: tuple[str, str]) -> None:
    """Arrow takes some names for paths, and no name of ours may stand in the way."""
    first, second = names
    rows = pa.table({first: ["b", "a"], second: ["x", "y"], "n": [2, 1]})
    plain = dc.table(rows, "n", keys=list(names))
    assert plain.schema.categories.column(first).to_pylist() == ["a", "b"] and plain.counts.tolist() == [1, 2]
    filled = dc.table(rows, "n", keys=list(names), universe={first: ["a", "b"], second: ["x", "y"]})
    assert filled.counts.tolist() == [0, 1, 2, 0]
    with pytest.raises(dc.BadInput, match="rows 1 and 2 have the same"):
        dc.table(rows.set_column(0, first, pa.array(["b", "b"])), "n", keys=[first])


words, numbers = st.text(st.sampled_from("aZ0 ä-"), max_size=2), st.integers(-3, 3)


@given(
    rows=st.one_of(
        st.lists(st.tuples(words, numbers), min_size=1, unique=True),
        st.lists(st.tuples(words, numbers), min_size=1),
        st.permutations(list(product(["b", "a", "10", "9"], [2, -1, 0]))),
    )
)
def test_rows_in_slots_are_rows_sorted(rows: list[tuple[str, int]]) -> None:
    """The specification: Arrow's sort, and its refusal of rows that are there twice."""
    table = pa.table({"word": [row[0] for row in rows], "number": [row[1] for row in rows]})
    expected = row_order._sorting(table)
    found = row_order._by_slots(table)
    if len(set(rows)) < len(rows):
        assert found is None
        with pytest.raises(BadInput, match="have the same"):
            in_order(table, ["word", "number"])
        return
    assert strictly_ascending(in_order(table, ["word", "number"])[0])
    dense = len({word for word, _ in rows}) * len({number for _, number in rows}) <= 2 * len(rows)
    assert (found is not None) is dense
    assert found is None or found.tolist() == expected.tolist()


def test_floats_are_not_put_into_slots() -> None:
    """Zero and minus zero are equal, and have two slots: the rows would not be seen to be the same."""
    assert row_order._by_slots(pa.table({"x": [0.0, -0.0]})) is None
    assert row_order._by_slots(pa.table({"x": pa.array(["a", None])})) is None


def test_a_large_table_out_of_order_is_sorted(tmp_path: Path) -> None:
    """As CSV: the numbers of the first key are not in the order of their texts."""
    rows = row_order.WORTH_SLOTS
    place = np.arange(rows)
    frame = pd.DataFrame({"a": place // 128, "b": place % 128, "n": place})
    frame.to_csv(tmp_path / "large.csv", index=False)
    found = dc.read_table(tmp_path / "large.csv", "n", ["a", "b"])
    right = frame.astype({"a": str, "b": str}).sort_values(["a", "b"])
    assert found.counts.tolist() == right["n"].tolist()
    assert list(found.schema.column("a")) == right["a"].tolist()
    pd.concat([frame, frame[5:6]]).to_csv(tmp_path / "twice.csv", index=False)
    with pytest.raises(BadInput, match=f"rows 7 and {rows + 2} have the same"):
        dc.read_table(tmp_path / "twice.csv", "n", ["a", "b"])
