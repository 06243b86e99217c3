"""Columns that are copied into memory of numpy are the same columns."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import Damaged
from discreet.io.columns import Texts, as_texts, taken, whole_numbers
from discreet.io.csv_text import read_csv
from discreet.io.formulas import FORMULA, formula_columns
from discreet.io.key_columns import plain

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
marked = st.one_of(words, st.text("'=+-@\t\ra1 ü", max_size=3))


@given(st.lists(st.tuples(st.lists(words, max_size=5), st.integers(0, 2)), max_size=5))
def test_texts_one_after_the_other(pieces: list[tuple[list[str], int]]) -> None:
    slices = [pa.array(texts, pa.string()).slice(cut) for texts, cut in pieces]
    every = [text for piece in slices for text in piece.to_pylist()]
    found = Texts(len(every) + 3, sum(len(text.encode()) for text in every) + 7)
    for piece in slices:
        found.add(piece)
    made = found.array()
    made.validate(full=True)
    assert made.to_pylist() == every
    assert made.get_total_buffer_size() == 4 * (len(every) + 1) + len("".join(every).encode())


@given(st.data())
def test_rows_in_another_order(data: st.DataObject) -> None:
    texts = data.draw(st.lists(st.one_of(words, st.none()), min_size=1, max_size=9))
    order = np.array(data.draw(st.permutations(range(len(texts)))))
    some = order[: data.draw(st.integers(0, len(order)))]
    for column in (pa.array(texts, pa.string()), pa.array(range(len(texts))), pa.array([0.5] * len(texts))):
        whole = pa.chunked_array([column])
        for rows in (order, some):
            assert taken(whole, rows).to_pylist() == [column[int(row)].as_py() for row in rows]
            assert taken(whole, rows).type == column.type


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), st.integers(0, 9), st.sampled_from([1, 40]))
def test_whole_numbers_as_texts(numbers: list[int], reach: int, times: int) -> None:
    near = [min(number + step, 2**63 - 1) for number in numbers[:1] for step in range(reach)]
    for values in (numbers * times, near * times):
        texts = as_texts(pa.array(values, pa.int64()))
        assert texts.to_pylist() == [str(value) for value in values]
        assert whole_numbers(pa.table({"n": texts}), "n").tolist() == values


@given(st.lists(st.one_of(st.text("-+0129x .", max_size=4), st.integers(-9, 9).map(str)), min_size=1, max_size=4))
def test_a_number_in_any_other_spelling_is_refused(texts: list[str]) -> None:
    frame = pa.table({"n": pa.array(texts, pa.string())})
    if all(re.fullmatch(r"0|-?[1-9][0-9]*", text) for text in texts):
        assert whole_numbers(frame, "n").tolist() == [int(text) for text in texts]
    else:
        with pytest.raises(Damaged, match="not a whole number"):
            whole_numbers(frame, "n")


@given(st.lists(st.one_of(marked, st.none()), max_size=6), st.integers(0, 2))
def test_keys_that_read_as_formulas(texts: list[str | None], cut: int) -> None:
    keys = pa.table({"k": pa.chunked_array([pa.array(texts, pa.string()).slice(cut)])})
    found = any(text is not None and re.match(FORMULA, text) for text in texts[cut:])
    assert formula_columns(keys, "csv") == (("k",) if found else ())


def test_a_column_is_copied_only_if_it_holds_more_than_its_rows() -> None:
    whole = pa.array(["a", "bc", ""])
    for kind in (pa.string(), pa.large_string()):
        column = whole.cast(kind)
        assert plain(pa.table({"k": column})).column("k").chunk(0).buffers()[2].address == column.buffers()[2].address
        for cut in (column.slice(0, 2), column.slice(1), column.slice(2)):
            kept = plain(pa.table({"k": cut})).column("k")
            assert kept.to_pylist() == cut.to_pylist()
            assert (
                b"bc" not in b"".join(bytes(one) for one in kept.chunk(0).buffers() if one) or "bc" in kept.to_pylist()
            )


def test_rows_of_many_blocks_of_a_file(tmp_path: Path) -> None:
    rows = [(f"{number:07d}", 'a\n"b"' if number % 50_000 == 7 else "", number % 7) for number in range(150_000)]
    lines = (
        f'{key},"{text.replace(chr(34), chr(34) * 2)}",{count}\n' if text else f"{key},,{count}\n"
        for key, text, count in rows
    )
    path = tmp_path / "many.csv"
    path.write_text("k,l,n\n" + "".join(lines))
    assert path.stat().st_size > 1 << 20  # more than Arrow takes at a time
    found, _ = read_csv(path)
    assert list(zip(*(found.column(name).to_pylist() for name in "kl"))) == [row[:2] for row in rows]
    assert whole_numbers(found, "n").tolist() == [row[2] for row in rows]
