"""Kept sums from codes of key columns, against the slow way: value by value."""

from __future__ import annotations

import datetime
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.io.coded import KeyColumn, coded_texts, key_columns, numbers_of, texts_of
from discreet.lattice.invariants import invariant_matrix
from discreet.lattice.structure import Classes, together

VALUES = {
    "text": st.sampled_from(["a", "b", "é", "1", "10", "9", "", "a,b", "Ω"]),
    "number": st.integers(-3, 12),
    "flag": st.booleans(),
    "day": st.dates(datetime.date(2020, 1, 1), datetime.date(2020, 1, 9)),
    "part": st.sampled_from([0.5, 1.0, -2.25]),
}
COLUMNS = st.sampled_from(sorted(VALUES)).flatmap(lambda kind: st.lists(VALUES[kind], min_size=1, max_size=20))


def slowly_coded(column: list[object]) -> tuple[list[str], list[int]]:
    texts = sorted({str(value) for value in column})
    return texts, [texts.index(str(value)) for value in column]


@given(COLUMNS, st.integers(1, 4))
@settings(max_examples=200, deadline=None)
def test_columns_are_coded_by_their_texts(column: list[object], pieces: int) -> None:
    array = pa.array(column)
    cuts = np.linspace(0, len(column), pieces + 1).astype(int)
    chunked = pa.chunked_array([array[a:b] for a, b in pairwise(cuts)], array.type)
    for given_ in (column, KeyColumn(array), KeyColumn(chunked)):
        found = coded_texts(given_)
        assert (found.texts.to_pylist(), found.codes.tolist()) == slowly_coded(column)
        assert texts_of(given_) == [str(value) for value in column]
        assert list(given_) == column and len(given_) == len(column) and given_[-1] == column[-1]
    assert [found.place(text) for text in found.texts.to_pylist()] == list(range(len(found.texts)))
    assert found.place("nowhere") is None


@given(st.lists(st.integers(-5, 5), max_size=30))
def test_equal_values_get_one_number_in_the_order_they_are_met(values: list[int]) -> None:
    codes, first = numbers_of(np.array(values, dtype=np.int64))
    met = list(dict.fromkeys(values))
    assert codes.tolist() == [met.index(value) for value in values]
    assert first.tolist() == [values.index(value) for value in met]


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
def test_whole_numbers_of_any_width_to_their_ends(kind: str) -> None:
    """Differences of the narrow ones are wider than they are themselves."""
    ends = np.iinfo(kind)
    for values in (
        range(ends.max - 255, ends.max + 1),
        range(ends.min, ends.min + 256),
        range(ends.min, ends.min + 256, 3),
    ):
        column = [*values, *reversed(values)]
        found = coded_texts(KeyColumn(pa.array(column, pa.from_numpy_dtype(kind))))
        assert (found.texts.to_pylist(), found.codes.tolist()) == slowly_coded(column)
        assert numbers_of(np.array(column, kind))[1].tolist() == list(range(len(values)))


TABLES = st.integers(1, 15).flatmap(
    lambda rows: st.fixed_dictionaries(
        {name: st.lists(VALUES[name], min_size=rows, max_size=rows) for name in ("text", "number", "flag")}
    )
)


@given(TABLES, st.permutations(["text", "number", "flag"]), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_the_sums_of_a_margin_are_those_of_equal_keys(keys: dict[str, list[object]], names: list[str], n: int) -> None:
    columns = names[:n]
    found = invariant_matrix(["total", f"margin:{','.join(columns)}"], key_columns(pa.table(keys)))
    rows = list(zip(*([str(value) for value in keys[name]] for name in columns)))
    groups = sorted(set(rows))
    assert found.labels == ("total", *(",".join(map("=".join, zip(columns, group))) for group in groups))
    expected = [[1] * len(rows), *([int(row == group) for row in rows] for group in groups)]
    assert found.matrix.toarray().tolist() == expected
    counts = np.arange(len(rows)) ** 2 - 7
    assert found.sums(counts).tolist() == (np.array(expected) @ counts).tolist()
    assert found.needed_matrix.toarray().tolist() == expected[1:]


def test_a_margin_of_many_values_that_hardly_meet() -> None:
    """Far more combinations than rows: they are not looked through."""
    place = np.arange(3000)
    keys = key_columns(pa.table({"a": place, "b": place[::-1].copy()}))
    found = invariant_matrix(["margin:a,b"], keys)
    assert found.matrix.shape == (3000, 3000) and (found.matrix.sum(axis=0) == 1).all()
    assert set(found.labels) == {f"a={a},b={2999 - a}" for a in place}


def test_a_value_that_no_row_has_is_named_with_the_nearest() -> None:
    with pytest.raises(BadInput, match="Did you mean 'female'"):
        invariant_matrix(["sum:sex=femal"], key_columns(pa.table({"sex": ["female", "male"]})))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.randoms(use_true_random=False), st.data())
def test_classes_are_lists_of_cells(sizes: list[int], random: object, data: st.DataObject) -> None:
    cells = list(range(sum(sizes)))
    random.shuffle(cells)  # type: ignore[attr-defined]
    ends = np.cumsum(sizes).tolist()
    slow = [cells[end - size : end] for size, end in zip(sizes, ends)]
    found = Classes(np.array(cells), np.array(sizes))
    assert [one.tolist() for one in found] == slow and len(found) == len(slow)
    which = data.draw(st.lists(st.integers(0, len(slow) - 1), max_size=8))
    some = found.some(np.array(which, dtype=np.int64))
    assert [one.tolist() for one in some] == [slow[c] for c in which]
    counts = np.arange(len(cells)) * 3 - 10
    assert some.sums(counts).tolist() == [int(counts[slow[c]].sum()) for c in which]
    both = together([found, some])
    assert [one.tolist() for one in both] == [*slow, *(slow[c] for c in which)]
    assert len(together([])) == 0


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5), max_size=20))
@settings(max_examples=100, deadline=None)
def test_numbers_are_numbered_as_they_are_met_in_any_order(values: list[int]) -> None:
    for some in (values, sorted(values)):
        met = list(dict.fromkeys(some))
        codes, first = numbers_of(np.array(some, dtype=np.int64))
        assert codes.tolist() == [met.index(value) for value in some]
        assert first.tolist() == [some.index(value) for value in met]
