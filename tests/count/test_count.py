"""Rows about people into a table of counts, the same from every kind of data and in the shell."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from discreet.count import count
from discreet.errors import BadInput
from discreet.io.counted import bound_of
from discreet.io.layout import read_frame
from discreet.io.tables import read_table, table
from tests.count.people import (
    COLLECTED,
    GIVEN_BACK,
    KINDS,
    ROWS,
    UNIVERSE,
    Rows,
    as_csv,
    counts_of,
    obvious,
    people,
)
from tests.shell import Done, shell


def test_every_category_appears(kind: str, tmp_path: Path) -> None:
    table = count(KINDS[kind](ROWS, tmp_path), ["county", "sex"], UNIVERSE)
    assert counts_of(table) == [3, 1, 0, 0, 0, 1]
    assert (table.schema.kind, table.schema.contributions, table.schema.count) == (
        COLLECTED.get(kind, kind),
        1,
        "count",
    )
    assert list(zip(table.schema.column("county"), table.schema.column("sex"))) == list(product(*UNIVERSE.values()))


@settings(max_examples=20, deadline=None)
@given(rows=people)
def test_agrees_with_the_obvious_count(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> None:
    for kind in ("polars", "csv"):
        data = KINDS[kind](rows, tmp_path_factory.mktemp("people"))
        assert counts_of(count(data, ["county", "sex"], UNIVERSE)) == obvious(rows)


def test_categories_outside_the_universe_are_refused(kind: str, tmp_path: Path) -> None:
    data = KINDS[kind]([*ROWS, ("09009", "f", "c"), ("01001", "x", "c")], tmp_path)
    with pytest.raises(
        BadInput, match=r"2 of the categories .* county = '01001', sex = 'x'; county = '09009', sex = 'f'"
    ) as caught:
        count(data, ["county", "sex"], UNIVERSE)
    assert caught.value.values == {"categories": 2}
    with pytest.raises(BadInput, match="2 of the categories"):
        count(data, ["county", "sex"], UNIVERSE, "person", 1)


def test_leading_zeros_are_not_lost(tmp_path: Path) -> None:
    numbers = pa.table({"county": [1001, 1001], "sex": ["f", "f"]})
    with pytest.raises(BadInput, match="county = '1001'"):
        count(numbers, ["county", "sex"], UNIVERSE)
    pq.write_table(numbers, tmp_path / "numbers.parquet")
    with pytest.raises(BadInput, match="county = '1001'"):
        count(tmp_path / "numbers.parquet", ["county", "sex"], UNIVERSE)
    assert counts_of(count(tmp_path / "numbers.parquet", "county", {"county": [1001, 1003]})) == [2, 0]
    assert counts_of(count(numbers, "county", {"county": [1001, 1003]})) == [2, 0]


def test_missing_values(kind: str, tmp_path: Path) -> None:
    data = KINDS[kind]([*ROWS, ("01001", None, "c")], tmp_path)  # type: ignore[list-item]
    with pytest.raises(BadInput, match=r"1 of the categories .* sex = ''"):
        count(data, ["county", "sex"], UNIVERSE)
    nameless = KINDS[kind]([*ROWS, ("01001", "f", None)], tmp_path)  # type: ignore[list-item]
    with pytest.raises(BadInput, match=r"'person' says whose row it is.*t is empty in 1 row"):
        count(nameless, ["county", "sex"], UNIVERSE, "person", 1)


@pytest.mark.parametrize("person", [["", "", "a", "b"], [float("nan"), float("nan"), 1.5, 2.5]])
def test_who_has_no_name_is_nobody(person: list[Any], kind: str, tmp_path: Path) -> None:
    """All who have none would be bounded as one, and each would decide what is kept of the others."""
    frame = pa.table({"sex": ["f", "m", "f", "m"], "person": person})
    pq.write_table(frame, tmp_path / "people.parquet")
    pacsv.write_csv(frame, tmp_path / "people.csv")
    given: dict[str, Any] = {
        "pandas": frame.to_pandas(), "polars": pl.from_arrow(frame), "pyarrow": frame, "csv": tmp_path / "people.csv",
        "parquet": tmp_path / "people.parquet", "polars-lazy": pl.DataFrame(frame).lazy(),
        "duckdb": duckdb.from_arrow(frame), "ibis": ibis.memtable(frame),
    }  # fmt: skip
    if kind == "csv" and person[0] != "":
        return  # of a CSV file, nan is a text: somebody may be called so
    with pytest.raises(BadInput, match=r"'person' says whose row it is.*t is empty in 2 row"):
        count(given[kind], "sex", {"sex": ["f", "m"]}, "person", 1)


@pytest.mark.parametrize("wide", [pa.float32(), pa.float64()])
def test_zero_and_minus_zero_are_one_person(wide: Any, tmp_path: Path) -> None:
    frame = pa.table({"sex": ["f"] * 4, "person": pa.array([0.0, -0.0, 0.0, -0.0], wide)})
    pq.write_table(frame, tmp_path / "people.parquet")
    for data in (frame, tmp_path / "people.parquet", pl.DataFrame(frame).lazy(), duckdb.from_arrow(frame)):
        assert count(data, "sex", {"sex": ["f", "m"]}, "person", 1).counts.tolist() == [1, 0]


def test_spans_of_time_are_nobody() -> None:
    """A month and thirty days are the same to DuckDB, and other texts."""
    with duckdb.connect() as database:
        spans = database.sql("SELECT 'f' AS sex, unnest([INTERVAL 1 MONTH, INTERVAL 30 DAY]) AS person")
        with pytest.raises(BadInput, match="of the type INTERVAL"):
            count(spans, "sex", {"sex": ["f", "m"]}, "person", 1)


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}, {"a": 2}]])
def test_what_is_no_text_is_refused(values: list[Any], tmp_path: Path) -> None:
    """Lists may be alike as texts: ["a, b"] and ["a", "b"]."""
    frame = pa.table({"sex": ["f", "m"], "person": values})
    pq.write_table(frame, tmp_path / "people.parquet")
    for data in (frame, tmp_path / "people.parquet", duckdb.from_arrow(frame), ibis.memtable(frame)):
        with pytest.raises(BadInput, match="no texts or numbers"):
            count(data, "sex", {"sex": ["f", "m"]}, "person", 1)
    with pytest.raises(BadInput, match="no texts or numbers"):
        count(pa.table({"sex": ["f"], "person": [b"\xff"]}), "sex", {"sex": ["f", "m"]}, "person", 1)


def test_columns_that_differ_in_capitals_only() -> None:
    """DuckDB, and Ibis over it, take one for the other: all would be counted by the wrong persons."""
    frame = pa.table({"person": ["f", "m", "f"], "Person": ["a", "a", "b"]})
    assert counts_of(count(frame, "person", {"person": ["f", "m"]}, "Person", 2)) == [2, 1]
    with pytest.raises(BadInput, match="2 columns of that name: person, Person"):
        count(ibis.memtable(frame), "person", {"person": ["f", "m"]}, "Person", 2)


def test_no_rows_at_all(kind: str, tmp_path: Path) -> None:
    data = KINDS[kind]([], tmp_path)
    assert counts_of(count(data, ["county", "sex"], UNIVERSE)) == [0] * 6
    assert counts_of(count(data, ["county", "sex"], UNIVERSE, "person", 2)) == [0] * 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"by": ["county", "sexx"], "universe": {"county": ["1"], "sexx": ["f"]}}, "Did you mean 'sex'"),
        ({"by": ["county", "county"]}, "each once"),
        ({"by": []}, "by nothing"),
        ({"by": ["count"]}, "name of the result"),
        ({"person": "person"}, "belong together"),
        ({"bound": 1}, "belong together"),
        ({"person": "sex", "bound": 1}, "also a column to count by"),
        ({"person": "person", "bound": 0}, "at least 1"),
        ({"person": "persn", "bound": 1}, "Did you mean 'person'"),
        ({"universe": {"county": ["1"]}}, "no list of values for the key column 'sex'"),
        ({"universe": {"county": [], "sex": []}}, "no categories"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], words: str, tmp_path: Path) -> None:
    for kind in ("pandas", "csv"):
        with pytest.raises(BadInput, match=words):
            count(KINDS[kind](ROWS, tmp_path), **{"by": ["county", "sex"], "universe": UNIVERSE, **arguments})


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file"):
        count(tmp_path / "none.csv", "sex", UNIVERSE)
    (tmp_path / "bad.parquet").write_text("no parquet")
    with pytest.raises(BadInput, match=r"bad\.parquet was to be counted"):
        count(tmp_path / "bad.parquet", "sex", UNIVERSE)


@pytest.mark.parametrize("lazy", COLLECTED)
def test_a_lazy_frame_is_collected_where_a_table_is_meant(lazy: str, tmp_path: Path) -> None:
    counted = [("01001", "f", "3"), ("01001", "m", "0"), ("02001", "m", "7")]
    found = table(KINDS[lazy](counted, tmp_path), count="person", keys=["county", "sex"])
    assert found.counts.tolist() == [3, 0, 7]
    assert found.schema.kind == GIVEN_BACK[lazy]
    assert list(found.schema.column("county")) == ["01001", "01001", "02001"]


def run_count(folder: Path, *options: str) -> Done:
    words = ["count", "people.csv", "--by", "county,sex", "--universe", "universe.json", *options]
    return shell(*words, cwd=folder)


@pytest.mark.parametrize("out", ["counts.csv", "counts.parquet"])
def test_from_the_shell(out: str, tmp_path: Path) -> None:
    as_csv(ROWS, tmp_path)
    (tmp_path / "universe.json").write_text(json.dumps(UNIVERSE))
    done = run_count(tmp_path, "--person", "person", "--bound", "2", "--json", "-o", out)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"rows": 6, "out": out, "bound": 2}
    frame = pd.read_csv(tmp_path / out, dtype=str) if out.endswith("csv") else pd.read_parquet(tmp_path / out)
    assert frame["county"].tolist() == ["01001", "01001", "01003", "01003", "02001", "02001"]
    assert frame["count"].astype(int).sum() == 3
    assert bound_of(tmp_path / "people.csv", read_frame(tmp_path / "people.csv"), None) == 1
    assert read_table(tmp_path / out, "count", ["county", "sex"]).schema.contributions == 2
    assert read_table(tmp_path / out, "count", ["county", "sex"], contributions=5).schema.contributions == 5
    if out.endswith("parquet"):
        return  # what a Parquet file says itself needs no note
    (tmp_path / f"{out}.contributions.json").write_text("{}")
    with pytest.raises(BadInput, match="does not say how many rows one person may have"):
        read_table(tmp_path / out, "count", ["county", "sex"])


def test_a_refusal_leaves_no_file(tmp_path: Path) -> None:
    as_csv([*ROWS, ("x", "y", "z")], tmp_path)
    (tmp_path / "universe.json").write_text(json.dumps(UNIVERSE))
    before = sorted(tmp_path.iterdir())
    assert run_count(tmp_path, "-o", "counts.csv").returncode == 2
    assert sorted(tmp_path.iterdir()) == before
