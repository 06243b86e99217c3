"""Tables from files and frames: what is read, what is refused in which words, and what stays secret."""

from __future__ import annotations

import codecs
import gzip
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput
from discreet.io.tables import read_schema

SECRET = "12345677"  # a count that must never be seen in a message


def csv(tmp_path: Path, content: str | bytes, name: str = "table.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


GOOD = "place,n\nb,3\na,4\n"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_common_delimiters(tmp_path: Path, delimiter: str) -> None:
    table = dc.read_table(csv(tmp_path, GOOD.replace(",", delimiter)), "n")
    assert table.schema.column("place") == ["a", "b"] and table.counts.tolist() == [4, 3]


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("cp1252", b""),
    ],
)
def test_common_encodings(tmp_path: Path, encoding: str, mark: bytes) -> None:
    raw = mark + "place,n\nKöln,3\nAachen,4\n".encode(encoding)
    assert dc.read_table(csv(tmp_path, raw), "n").schema.column("place") == ["Aachen", "Köln"]
    assert dc.read_table(csv(tmp_path, gzip.compress(raw), "t.csv.gz"), "n").schema.rows == 2


def test_line_ends_blank_lines_and_quotes(tmp_path: Path) -> None:
    table = dc.read_table(csv(tmp_path, '\r\n"place","n"\r\n"b, ""x""",3\r\n\r\n"line\nbreak",4\r\n'), "n")
    assert table.schema.column("place") == ['b, "x"', "line\nbreak"] and table.counts.tolist() == [3, 4]


def test_a_process_that_ends_right_after_reading_ends_well(tmp_path: Path) -> None:
    """Arrow's threads may still be at work then. With versions up to 20, one in four such processes used to abort."""
    path = csv(tmp_path, "place,n\n" + "".join(f"p{k},{k}\n" for k in range(200_000)))
    code = "import pathlib, sys; from discreet.io.csv_text import read_csv; read_csv(pathlib.Path(sys.argv[1]))"
    done = [subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=False) for _ in range(8)]
    assert [(one.returncode, one.stderr) for one in done] == 8 * [(0, b"")]


def test_text_stays_as_written(tmp_path: Path) -> None:
    path = csv(tmp_path, "fips,year,n\n01003,1996.0,3\n01001,1996.0,4\n")
    out = dc.release(dc.read_table(path, "n", ["fips", "year"]), 1, max_count=5, mechanism="geometric").table
    assert out.column("fips").to_pylist() == ["01001", "01003"] and out.column("year").to_pylist() == ["1996.0"] * 2


BAD_COUNTS = {
    "-3": "is negative",
    "1.5": "is not a whole number",
    "many": "is not a number",
    "": "is missing",
    "NA": "is missing",
    "inf": "is infinite",
    "-Infinity": "is infinite",
    "1,000": "thousands separators",
    "1 000": "thousands separators",
    "1'000": "thousands separators",
    "0x10": "is not a number",
    "1_0": "is not a number",
    "1e30": "larger than 2^62",
    "99999999999999999999": "larger than 2^62",
}


@pytest.mark.parametrize("bad", BAD_COUNTS)
def test_a_bad_count_is_named_by_row_and_column_and_no_other_cell_is_shown(tmp_path: Path, bad: str) -> None:
    path = csv(tmp_path, f'place;n\nsecretville;{SECRET}\nb;"{bad}"\nc;7654321\n')
    with pytest.raises(BadInput) as caught:
        dc.read_table(path, "n")
    message = str(caught.value)
    assert "row 3, column 'n'" in message and BAD_COUNTS[bad] in message
    assert not any(secret in message for secret in (SECRET, "7654321", "secretville"))
    assert caught.value.exit_status == 2
    assert caught.value.values["row"] == 3 and caught.value.values["column"] == "n"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1.0, None], "row 2, column 'n' is missing"),
        ([1.0, float("nan")], "row 2, column 'n' is missing"),
        ([1.0, float("inf")], "row 2, column 'n' is infinite"),
        ([1.0, 0.5], "row 2, column 'n' is not a whole number"),
        ([1, -1], "row 2, column 'n' is negative"),
        ([1, 2**63 - 1], "row 2, column 'n' is larger than 2^62"),
        ([1.0, 1e300], "row 2, column 'n' is larger than 2^62"),
        ([True, False], "true and false"),
        ([1, "x"], "row 2, column 'n' is not a number"),
    ],
)
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_bad_counts_in_frames(values: list[Any], said: str, kind: str) -> None:
    if kind != "pandas" and "x" in values:
        return  # only pandas has columns of mixed kinds
    frame = {"pandas": pd.DataFrame, "polars": lambda data: pl.DataFrame(data, strict=False), "pyarrow": pa.table}[
        kind
    ]({"place": ["a", "b"], "n": values})
    with pytest.raises(BadInput, match=said.replace("^", r"\^")):
        dc.table(frame, "n")


@given(st.lists(st.integers(0, 2**62 // 6), min_size=1, max_size=6) | st.just([2**62]))
def test_counts_are_read_exactly_from_every_kind_of_column(values: list[int]) -> None:
    keys = [f"k{i}" for i in range(len(values))]
    columns = {
        "int64": pa.array(values, pa.int64()),
        "uint64": pa.array(values, pa.uint64()),
        "text": pa.array([str(v) for v in values]),
        "with a point": pa.array([f"{v}.0" for v in values]),
        "decimal": pa.array(list(map(Decimal, values)), pa.decimal128(22, 2)),
        "float": pa.array([float(v % 2**53) for v in values]),
        "large": pa.array([f" +{v} " for v in values], pa.large_string()),
        "dictionary": pa.array([str(v) for v in values]).dictionary_encode(),
    }
    for kind, column in columns.items():
        found = dc.table(pa.table({"k": keys, "n": column}), "n").counts
        assert found.dtype == np.int64
        assert found.tolist() == [v % 2**53 if kind == "float" else v for v in values]


@pytest.mark.parametrize(
    ("content", "count", "said"),
    [
        (GOOD, "m", "the table has no such column. Did you mean 'n'|There is: place, n"),
        ("place,murders\na,1\n", "murdres", "Did you mean 'murders'"),
        ("place,n\n", "n", "no rows"),
        ("", "n", "the file is empty"),
        ("\n\n", "n", "the file is empty"),
        ("n,n\n1,2\n", "n", "'n' stands twice in the header"),
        ("place,n\na,1,2\n", "n", "row 2 has 3 cells where the header has 2"),
        ("place,n\na,1\nb\n", "n", "row 3 has 1 cells where the header has 2"),
        ("place,n\na,1\na,2\n", "n", "rows 2 and 3 have the same"),
        ("place,age,n\na,30,1\nb,31,2\n", "n", "2 other columns.*'place', 'age'.*--keys"),
        ("place,n,m\na,1,2\n", "n,m", "several columns.*--keys A,B"),
        ("n\n1\n2\n", "n", "no key column"),
    ],
)
def test_a_bad_table_is_refused(tmp_path: Path, content: str, count: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        dc.read_table(csv(tmp_path, content), count)
    assert caught.value.exit_status == 2


@pytest.mark.parametrize("name", ["missing.csv", "missing.parquet", "missing.csv.gz"])
def test_an_unreadable_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="was to be read"):
        dc.read_table(tmp_path / name, "n")
    csv(tmp_path, b"\x00\x01\x02\x89PNG", name)
    with pytest.raises(BadInput, match="was to be read"):
        dc.read_table(tmp_path / name, "n")
    csv(tmp_path, gzip.compress(b"place,n\na,1\n")[:-9], "broken.csv.gz")
    with pytest.raises(BadInput, match="was to be read"):
        dc.read_table(tmp_path / "broken.csv.gz", "n")
    with pytest.raises(BadInput, match="it is a folder"):
        dc.read_table(tmp_path, "n")


def test_keys_are_those_named() -> None:
    frame = pa.table({"place": ["a", "b"], "age": [1, 2], "n": [3, 4], "name": ["x", "y"]})
    assert dc.table(frame, "n", ["place", "age"]).schema.keys == ("place", "age")
    assert dc.table(frame, "n", "all").schema.keys == ("place", "age", "name")
    assert dc.table(frame, "n", "place").schema.keys == ("place",)
    for keys, said in ([["plaec"], "Did you mean 'place'"], [["n"], "is the count column"], [["age", "age"], "twice"]):
        with pytest.raises(BadInput, match=said):
            dc.table(frame, "n", keys)


FRAMES: dict[str, Any] = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("kind", FRAMES)
def test_the_frame_that_comes_out_is_of_the_kind_that_went_in(kind: str) -> None:
    frame = FRAMES[kind]({"place": ["b", "a"], "n": [1, 2]})
    out = dc.release(dc.table(frame, "n"), 1, max_count=5, mechanism="geometric")
    assert type(out.table) is type(frame) and type(out.measurements) is type(frame)
    assert list(pd.DataFrame({"c": out.table["place"]})["c"].astype(str)) == ["a", "b"]
    counts = np.asarray(out.table["n"])
    assert counts.dtype == np.int64 and counts.min() >= 0 and counts.max() <= 5


def test_other_things_are_no_frames() -> None:
    for thing in ({"n": [1]}, [1, 2], "text"):
        with pytest.raises(BadInput, match="not a data frame of pandas, polars, pyarrow"):
            dc.table(thing, "n")
    with pytest.raises(BadInput, match="two of its columns have the same name"):
        dc.table(pd.DataFrame([[1, 2]], columns=["n", "n"]), "n")


def test_nothing_hidden_leaves() -> None:
    levels = pd.Categorical(["b", "a"], categories=["a", "b", "secret patient"])
    frame = pd.DataFrame({"place": levels, "n": [1, 2], "note": ["x", "y"]}, index=[99, 77])
    frame.attrs["author"] = "secret author"
    arrow = pa.Table.from_pandas(frame).replace_schema_metadata({"secret": "metadata"})
    for given_frame in (frame, arrow, pl.from_arrow(arrow.drop_columns(["__index_level_0__"]))):
        table = dc.table(given_frame, "n", ["place"])
        assert table.schema.categories.column_names == ["place"]
        assert table.schema.categories.schema.metadata is None
        assert not pa.types.is_dictionary(table.schema.categories.column("place").type)
        out = dc.release(table, 1, max_count=3, mechanism="geometric").table
        shown = str(out) + str(getattr(out, "attrs", "")) + str(getattr(out, "schema", ""))
        assert "secret" not in shown and "note" not in shown and "index_level" not in shown
        if isinstance(out, pd.DataFrame):
            assert list(out.index) == [0, 1] and list(out["place"]) == ["a", "b"]


def test_parquet_metadata_stays_behind(tmp_path: Path) -> None:
    frame = pa.table({"place": pa.array(["b", "a"]).dictionary_encode(), "n": [1, 2]})
    pq.write_table(frame.replace_schema_metadata({"secret": "x"}), tmp_path / "t.parquet")
    release = dc.release(dc.read_table(tmp_path / "t.parquet", "n"), 1, max_count=3, mechanism="geometric")
    release.save(tmp_path / "out")
    saved = pq.read_table(tmp_path / "out" / "table.parquet")
    assert saved.schema.metadata is None and saved.schema.types == [pa.string(), pa.int64()]
    assert b"secret" not in (tmp_path / "out" / "table.parquet").read_bytes()


def test_a_table_without_keys() -> None:
    table = dc.table(pa.table({"n": [5, 6, 7]}), "n", keep_order=True)
    assert table.schema.rows == 3 and len(table) == 3
    assert dc.release(table, 1, max_count=9).table.num_rows == 3


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ([["x"], ["y"]], "type list"),
        ([None, "a"], "row 1, column 'k' is missing"),
        ([1.5, float("nan")], "row 2, column 'k' is missing"),
    ],
)
def test_keys_that_are_none(keys: list[Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        dc.table(pa.table({"k": keys, "n": [1, 2]}), "n", "all")


def test_the_counts_are_shown_nowhere() -> None:
    table = dc.table(pa.table({"place": ["a", "b"], "n": [12345677, 7654321]}), "n")
    for shown in (repr(table), str(table), repr(table.schema), str(vars(table.schema))):
        assert "12345677" not in shown and "7654321" not in shown
    assert "2 secret counts 'n' by place" in repr(table)
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0] = 1


def test_the_public_part_can_be_read_alone(tmp_path: Path) -> None:
    path = csv(tmp_path, "place,n\nb,not yet counted\na,\n")
    schema, given_rows = read_schema(path, "n")
    assert schema.keys == ("place",) and schema.column("place") == ["a", "b"] and schema.rows == 2
    assert given_rows is not None and given_rows.tolist() == [1, 0]
    with pytest.raises(BadInput, match="Did you mean 'place'"):
        schema.column("plaec")


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30), st.integers(1, 20))
def test_the_histogram_treats_larger_counts_as_the_largest(values: list[int], top: int) -> None:
    table = dc.table(pa.table({"k": [f"k{i:03d}" for i in range(len(values))], "n": values}), "n")
    histogram = table.histogram(top).tolist()
    assert histogram == [sum(min(v, top) == c for v in values) for c in range(top + 1)]


@pytest.mark.parametrize("bad", [0, -1, 1.5])
def test_contributions_are_counted(bad: Any) -> None:
    with pytest.raises(BadInput, match=r"(?i)contributions"):
        dc.table(pa.table({"k": ["a"], "n": [1]}), "n", contributions=bad)


def test_more_rows_of_one_person_than_any_table_has_are_refused(tmp_path: Path) -> None:
    for many in (10**12 + 1, 10**400):
        with pytest.raises(BadInput, match="at most 1,000,000,000,000"):
            dc.table(pa.table({"k": ["a"], "n": [1]}), "n", contributions=many)
        with pytest.raises(BadInput, match="at most 1,000,000,000,000"):
            dc.read_table(csv(tmp_path, GOOD), "n", contributions=many)


def test_bytes_that_no_encoding_knows_stay_different(tmp_path: Path) -> None:
    raw = b"place,n\nx\x81,3\nx\x8d,4\nx\x93\xe4,5\n"
    assert set(dc.read_table(csv(tmp_path, raw), "n").schema.column("place")) == {"x\x81", "x\x8d", "x\u201cä"}


def test_all_wrong_counts_are_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("k,n\nTotal,x\na,-1\nb,1.5\nc,\nd,2\n")
    with pytest.raises(BadInput) as error:
        dc.read_table(tmp_path / "t.csv", "n")
    found = error.value.found
    for words in ("mean a total", "row 2, column 'n' is not a number", "row 3, column 'n' is negative"):
        assert words in found
    assert "row 4, column 'n' is not a whole number" in found and "row 5, column 'n' is missing" in found


def test_all_that_is_wrong_with_numbers_is_told_at_once() -> None:
    counts = [1.0, None, 2.5, float("inf"), -3.0, 1e30, -0.5]
    with pytest.raises(BadInput) as told:
        dc.table(pa.table({"k": list("abcdefg"), "n": counts}), "n", ["k"])
    for part in (
        "row 2, column 'n' is missing", "row 3, column 'n' is not a whole number; row 7, column 'n' is not a whole",
        "row 4, column 'n' is infinite", "row 5, column 'n' is negative", "row 6, column 'n' is larger than 2^62",
        "write 0 where nobody was counted",
    ):  # fmt: skip
        assert part in str(told.value)
    with pytest.raises(BadInput, match="row 1, column 'n' is negative; row 3, column 'n' is negative"):
        dc.table(pa.table({"k": list("abc"), "n": [-1, 2, -3]}), "n", ["k"])


def test_rows_of_other_lengths_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("k,n\na,1\nb,2,3\nc\nd,4\n")
    with pytest.raises(BadInput, match="row 3 has 3 cells where the header has 2; row 4 has 1 cells") as told:
        dc.read_table(tmp_path / "t.csv", "n", ["k"])
    assert "that is not closed" in told.value.do
