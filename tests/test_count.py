from __future__ import annotations

import hmac
import json
import signal
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path
from traceback import format_exception
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.count import count
from discreet.errors import BadInput, MissingExtra
from discreet.io import microdata
from discreet.io.counted import bound_of
from discreet.io.layout import read_frame
from discreet.io.microdata import in_duckdb
from discreet.io.microdata.ranks import INNER, OUTER, padded, ranks
from discreet.io.tables import read_table, table
from discreet.io.universe import read_universe
from discreet.table import Table
from tests.shell import Done, shell

UNIVERSE = {"county": ["01001", "01003", "02001"], "sex": ["f", "m"]}
ROWS = [("01001", "f", "a"), ("01001", "f", "b"), ("02001", "m", "a"), ("01001", "m", "a"), ("01001", "f", "a")]
Rows = list[tuple[str, str, str]]
KEY = bytes(range(32))


def frame_of(rows: Rows) -> dict[str, list[str]]:
    return {name: [row[k] for row in rows] for k, name in enumerate(("county", "sex", "person"))}


def as_pandas(rows: Rows, _folder: Path) -> Any:
    return pd.DataFrame(frame_of(rows), columns=["county", "sex", "person"], dtype=str)


def as_polars(rows: Rows, _folder: Path) -> Any:
    return pl.DataFrame(frame_of(rows), schema={"county": pl.String, "sex": pl.String, "person": pl.String})


def as_arrow(rows: Rows, _folder: Path) -> Any:
    return pa.table(frame_of(rows), schema=pa.schema([(name, pa.string()) for name in ("county", "sex", "person")]))


def as_parquet(rows: Rows, folder: Path) -> Any:
    pq.write_table(as_arrow(rows, folder), folder / "people.parquet")
    return folder / "people.parquet"


def as_csv(rows: Rows, folder: Path) -> Any:
    as_pandas(rows, folder).to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


def as_lazy_polars(rows: Rows, folder: Path) -> Any:
    return as_polars(rows, folder).lazy()


def as_relation(rows: Rows, folder: Path) -> Any:
    return duckdb.from_arrow(as_arrow(rows, folder))


def as_ibis(rows: Rows, folder: Path) -> Any:
    return ibis.memtable(as_arrow(rows, folder))


KINDS = {
    "pandas": as_pandas, "polars": as_polars, "pyarrow": as_arrow, "parquet": as_parquet, "csv": as_csv,
    "polars-lazy": as_lazy_polars, "duckdb": as_relation, "ibis": as_ibis,
}  # fmt: skip
COLLECTED = {"polars-lazy": "polars", "duckdb": "pyarrow", "ibis": "pyarrow"}  # what a lazy frame becomes
GIVEN_BACK = {**COLLECTED, "polars-lazy": "polars-lazy", "duckdb": "duckdb"}  # what a release of a table gives back


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def obvious(rows: Rows) -> list[int]:
    """The specification: go through the universe, count the rows that are the same."""
    found = Counter(row[:2] for row in rows)
    return [found[pair] for pair in product(*UNIVERSE.values())]


def counts_of(table: Table) -> list[int]:
    return table.counts.tolist()


def test_every_category_appears(kind: str, tmp_path: Path) -> None:
    table = count(KINDS[kind](ROWS, tmp_path), ["county", "sex"], UNIVERSE)
    assert counts_of(table) == [3, 1, 0, 0, 0, 1]
    assert (table.schema.kind, table.schema.contributions, table.schema.count) == (
        COLLECTED.get(kind, kind),
        1,
        "count",
    )
    assert list(zip(table.schema.column("county"), table.schema.column("sex"))) == list(product(*UNIVERSE.values()))


def under_one_key(data: Any, bound: int, key: bytes = KEY) -> Any:
    """Bounded counts, as they come out under a key that is given."""
    names = ["county", "sex"]
    return microdata.counted(data, names, read_universe(UNIVERSE, names), "person", bound, key)[0]


def test_a_person_is_counted_up_to_the_bound(kind: str, tmp_path: Path) -> None:
    data = KINDS[kind](ROWS, tmp_path)
    for bound, total in ((1, 2), (2, 3), (3, 4), (4, 5), (9, 5)):
        table = count(data, ["county", "sex"], UNIVERSE, person="person", bound=bound)
        assert sum(counts_of(table)) == total
        assert table.schema.contributions == bound
    assert counts_of(table) == obvious(ROWS)


categories = st.tuples(st.sampled_from(UNIVERSE["county"]), st.sampled_from(UNIVERSE["sex"]))
people = st.lists(st.tuples(categories, st.sampled_from("abcde")).map(lambda pair: (*pair[0], pair[1])), max_size=25)


@pytest.mark.parametrize("engine", ["pyarrow", "parquet"])
@settings(max_examples=12, deadline=None)
@given(rows=people, bound=st.integers(1, 4), shuffle=st.randoms(use_true_random=False))
def test_each_person_counts_on_their_own(
    engine: str, rows: Rows, bound: int, shuffle: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What is kept of a person depends on nobody else, so it adds up, and one person changes no more than `bound`."""
    folder = tmp_path_factory.mktemp("people")

    def counted(some: Rows) -> Any:
        return under_one_key(KINDS[engine](some, folder), bound)

    alone = {who: counted([row for row in rows if row[2] == who]) for who in "abcde"}
    np.testing.assert_array_equal(counted(rows), sum(alone.values()))
    for who, part in alone.items():
        own = obvious([row for row in rows if row[2] == who])
        assert part.sum() == min(bound, sum(own))
        assert (part <= own).all()
    mixed = list(rows)
    shuffle.shuffle(mixed)
    np.testing.assert_array_equal(counted(mixed), counted(rows))


def test_several_passes_where_memory_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(*pair, f"p{who}") for who in range(500) for pair in list(product(*UNIVERSE.values()))[who % 4 :]]
    data = as_parquet(rows, tmp_path)
    at_once = under_one_key(data, 2)
    one_pass, asked = in_duckdb.InDuckDB.one_pass, []

    def small_memory(*arguments: Any) -> Any:
        asked.append(arguments[-2:])
        if arguments[-1] < 64:
            raise duckdb.OutOfMemoryException("too much")
        return one_pass(*arguments)

    monkeypatch.setattr(in_duckdb.InDuckDB, "one_pass", small_memory)
    np.testing.assert_array_equal(under_one_key(data, 2), at_once)
    assert asked == [(0, 1), (0, 8), *((number, 64) for number in range(64))]
    monkeypatch.setattr(in_duckdb, "MOST_PASSES", 8)
    with pytest.raises(BadInput, match=r"was to be counted.*too much"):
        count(data, ["county", "sex"], UNIVERSE, "person", 2)


def test_texts_that_a_column_takes_for_the_same_are_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """In several passes each would be somebody, and one person be counted above the bound."""
    with duckdb.connect() as database:
        database.execute("CREATE TABLE people (sex VARCHAR, person VARCHAR COLLATE NOCASE.NOACCENT)")
        database.execute("INSERT INTO people SELECT 'f', unnest(['Zoë', 'zoe', 'ZOE', 'zoË'])")
        one_pass = in_duckdb.InDuckDB.one_pass

        def small_memory(*arguments: Any) -> Any:
            if arguments[-1] < 8:
                raise duckdb.OutOfMemoryException("too much")
            return one_pass(*arguments)

        monkeypatch.setattr(in_duckdb.InDuckDB, "one_pass", small_memory)
        assert count(database.sql("FROM people"), "sex", {"sex": ["f", "m"]}, "person", 1).counts.tolist() == [1, 0]


def by_rank(key: bytes, rows: Rows, bound: int) -> list[int]:
    """The specification: HMAC of every row, by Python's own; the rows that come first."""
    seen: Counter[tuple[str, ...]] = Counter()
    ranked = []
    for place, (county, sex, who) in enumerate(rows):
        number = seen[county, sex, who]
        seen[county, sex, who] += 1
        message = "".join(f"{len(text.encode())}:{text}" for text in (who, county, sex)) + str(number)
        ranked.append((who, hmac.digest(key, message.encode(), "sha256")[:8], place))
    kept: Counter[str] = Counter()
    found = []
    for who, _, place in sorted(ranked):
        kept[who] += 1
        if kept[who] <= bound:
            found.append(place)
    return found


names_of_people = st.sampled_from(["a", "b", "c", "ä", "1:x", " ", "nan", "p" * 70])


@pytest.mark.parametrize("engine", ["pyarrow", "polars-lazy", "duckdb", "parquet"])
@settings(max_examples=15, deadline=None)
@given(
    rows=st.lists(st.tuples(categories, names_of_people).map(lambda pair: (*pair[0], pair[1])), max_size=25),
    bound=st.integers(1, 4),
    key=st.binary(min_size=32, max_size=32),
)
def test_ranks_choose_the_same_rows_everywhere(
    engine: str, rows: Rows, bound: int, key: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = KINDS[engine](rows, tmp_path_factory.mktemp("people"))
    expected = obvious([rows[place] for place in by_rank(key, rows, bound)])
    assert under_one_key(data, bound, key).tolist() == expected


FIVE: Rows = [("01001", "f", ""), ("01001", "f", ""), ("01003", "m", ""), ("02001", "f", ""), ("02001", "m", "")]
PEOPLE = 6000


def pairs_kept(words: Any) -> Any:
    """How often each pair of the five rows has the two smallest words, of people in rows and their rows in columns."""
    smallest = np.sort(np.argsort(words, axis=1)[:, :2], axis=1)
    return np.bincount(smallest[:, 0] * 5 + smallest[:, 1], minlength=25)[
        [k * 5 + j for k in range(5) for j in range(k + 1, 5)]
    ]


def five_ranks(key: bytes, numbers: list[int]) -> Any:
    """The ranks of FIVE, for many people; `numbers` tells rows of one category apart."""
    people = [str(who) for who in range(PEOPLE)]
    columns = [pa.array(np.repeat(people, 5))] + [pa.array([row[k] for row in FIVE] * PEOPLE) for k in (0, 1)]
    return ranks(key, columns, np.array(numbers * PEOPLE)).reshape(PEOPLE, 5)


def test_every_choice_of_rows_is_equally_likely() -> None:
    """Two of five rows, two of which are alike: each of the ten pairs of rows equally often. Where rows of one category
    go together, as they did when they were told apart by their category only, that is refuted."""
    assert chisquare(pairs_kept(five_ranks(KEY, [0, 1, 0, 0, 0]))).pvalue > 1e-6
    assert chisquare(pairs_kept(five_ranks(KEY, [0, 0, 0, 0, 0]))).pvalue < 1e-20
    doubled = five_ranks(KEY, [0, 1, 0, 0, 0]).astype(float) * [1, 1, 1, 1, 0.8]
    assert chisquare(pairs_kept(doubled)).pvalue < 1e-20


@pytest.mark.parametrize("engine", ["pyarrow", "parquet"])
def test_what_is_counted_follows_that_law(engine: str, tmp_path: Path) -> None:
    """The same through the whole of it: a category with two of the five rows has two fifths of what is kept."""
    rows = [(county, sex, str(who)) for who in range(PEOPLE) for county, sex, _ in FIVE]
    counts = under_one_key(KINDS[engine](rows, tmp_path), 2)
    expected = np.array([4, 0, 0, 2, 2, 2]) * PEOPLE / 5
    assert counts.sum() == 2 * PEOPLE
    assert (counts[[1, 2]] == 0).all()
    wide = np.sqrt(PEOPLE * 0.24)  # of one row's count; 0.4 is the chance of each
    assert np.abs(counts - expected).max() < 6 * 2 * wide
    assert np.abs(counts - 2 * PEOPLE / 4 * np.array([1, 0, 0, 1, 1, 1])).max() > 6 * 2 * wide  # categories, not rows


@pytest.mark.parametrize("engine", ["pyarrow", "parquet"])
def test_every_set_of_rows_is_kept_as_often(engine: str, tmp_path: Path) -> None:
    """Through the whole of it, where categories are a person's own, so that the counts tell which rows were kept: two
    of a, a, b, c, d. Refuted: that every set of categories is as likely, and every pair of categories."""
    own = ["a", "a", "b", "c", "d"]
    rows = pa.table(
        {"where": [f"{who}{k}" for who in range(PEOPLE) for k in own], "who": np.repeat(np.arange(PEOPLE), 5)}
    )
    pq.write_table(rows, tmp_path / "rows.parquet")
    every = read_universe({"where": [f"{who}{k}" for who in range(PEOPLE) for k in "abcd"]}, ["where"])
    data = rows if engine == "pyarrow" else tmp_path / "rows.parquet"
    kept = microdata.counted(data, ["where"], every, "who", 2, KEY)[0].reshape(PEOPLE, 4)
    found = Counter(map(tuple, kept.tolist()))
    sets = [(2, 0, 0, 0), (1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 1), (0, 1, 1, 0), (0, 1, 0, 1), (0, 0, 1, 1)]
    assert set(found) == set(sets)
    seen = [found[one] for one in sets]
    assert chisquare(seen, np.array([1, 2, 2, 2, 1, 1, 1]) * PEOPLE / 10).pvalue > 1e-6
    assert chisquare(seen).pvalue < 1e-20
    assert chisquare(seen, np.array([4, 4, 4, 4, 2, 2, 2]) * PEOPLE / 22).pvalue < 1e-20


def test_a_fresh_key_every_time() -> None:
    rows = [(*pair, f"p{who}") for who in range(50) for pair in product(*UNIVERSE.values())]
    frame = as_arrow(rows, Path())
    assert len({tuple(count(frame, ["county", "sex"], UNIVERSE, "person", 1).counts) for _ in range(5)}) > 1


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


def test_tables_of_the_users_own(tmp_path: Path) -> None:
    """Whatever they are called, they are not counted by mistake, and stay what they are."""
    with duckdb.connect() as own:
        own.register("rows", as_arrow(ROWS, tmp_path))
        for name in ("people", "own", "more"):
            own.execute(f"CREATE TEMP VIEW {name} AS SELECT 42 AS mine")
        assert counts_of(count(own.sql("SELECT * FROM rows"), ["county", "sex"], UNIVERSE, "person", 9)) == obvious(
            ROWS
        )
        assert own.sql("SELECT * FROM people").fetchall() == [(42,)]
        assert "discreet_people" not in str(own.sql("SELECT view_name FROM duckdb_views()").fetchall())


def test_a_connection_that_looks_nothing_up_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with duckdb.connect() as own:
        rows = own.from_arrow(as_arrow(ROWS, tmp_path))
        own.execute("SET python_enable_replacements = false")
        with pytest.raises(BadInput, match="Run: SET python_enable_replacements = true"):
            count(rows, ["county", "sex"], UNIVERSE, "person", 9)


def test_a_database_of_the_users_own_stays_what_it_is(tmp_path: Path) -> None:
    """No view is left in its file, and one that may only be read can be counted."""
    rows = as_arrow(ROWS, tmp_path)
    with duckdb.connect(tmp_path / "own.db") as own:
        own.register("given", rows)
        own.execute("CREATE TABLE rows AS SELECT * FROM given")
    before = (tmp_path / "own.db").read_bytes()
    for read_only in (False, True):
        with duckdb.connect(tmp_path / "own.db", read_only=read_only) as own:
            found = count(own.table("rows"), ["county", "sex"], UNIVERSE, "person", 9)
            assert counts_of(found) == obvious(ROWS)
        assert (tmp_path / "own.db").read_bytes() == before


@pytest.mark.parametrize("name", ["discreet_people", "Discreet_Key"])
def test_a_table_that_would_be_taken_for_ours_is_refused(name: str, tmp_path: Path) -> None:
    with duckdb.connect() as own:
        own.register("rows", as_arrow(ROWS, tmp_path))
        own.execute(f"CREATE TABLE {name} AS SELECT 42 AS mine")
        with pytest.raises(BadInput, match=f"a table or view named {name}"):
            count(own.sql("SELECT * FROM rows"), ["county", "sex"], UNIVERSE, "person", 9)


def test_the_key_is_in_no_text_of_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which the user's own connection may log, and an error would show."""
    asked, seen = in_duckdb.InDuckDB.asked, []

    def watched(self: Any, query: str, *others: Any) -> Any:
        seen.append(query)
        return asked(self, query, *others)

    monkeypatch.setattr(in_duckdb.InDuckDB, "asked", watched)
    assert under_one_key(as_relation(ROWS, Path()), 1).sum() == 2
    for mark in (0, INNER, OUTER):
        assert padded(KEY, mark)[:8].hex() not in " ".join(seen).lower()


def test_an_error_of_duckdb_shows_no_value(tmp_path: Path) -> None:
    frame = duckdb.from_arrow(as_arrow([("01001", "f", "ann")], tmp_path)).project("county, sex, person::INT AS person")
    with pytest.raises(BadInput, match="a value is not of the type of its column") as caught:
        count(frame, ["county", "sex"], UNIVERSE, "person", 1)
    assert "ann" not in "".join(format_exception(caught.value)).replace("channel", "")


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


KILLED = """
import os, signal, sys
from pathlib import Path
from discreet.io.microdata.in_duckdb import opened_file

with opened_file(Path(sys.argv[1])) as opened:
    [[place]] = opened.relation.query("t", "SELECT current_setting('temp_directory')").fetchall()
    (Path(place) / "rows").write_text("of people")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_count_has_written_aside_is_swept_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB puts rows of people there when memory is short."""
    aside, people = tmp_path / "aside", tmp_path / "people.csv"
    aside.mkdir()
    people.write_text("clinic\nNorth\n")
    monkeypatch.setenv("TMPDIR", str(aside))
    monkeypatch.setattr("tempfile.tempdir", None)
    done = subprocess.run([sys.executable, "-c", KILLED, str(people)], check=False)
    assert done.returncode == -signal.SIGKILL
    [left] = aside.iterdir()
    assert left.stat().st_mode & 0o077 == 0 and (left / "rows").exists()
    assert count(people, "clinic", {"clinic": ["North"]}).counts.tolist() == [1]
    assert list(aside.iterdir()) == []


def test_without_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[duckdb\]'"):
        count(as_csv(ROWS, tmp_path), ["county", "sex"], UNIVERSE)


@pytest.mark.parametrize("lazy", COLLECTED)
def test_a_lazy_frame_is_collected_where_a_table_is_meant(lazy: str, tmp_path: Path) -> None:
    counted = [("01001", "f", "3"), ("01001", "m", "0"), ("02001", "m", "7")]
    found = table(KINDS[lazy](counted, tmp_path), count="person", keys=["county", "sex"])
    assert found.counts.tolist() == [3, 0, 7]
    assert found.schema.kind == GIVEN_BACK[lazy]
    assert list(found.schema.column("county")) == ["01001", "01001", "02001"]


def test_a_lazy_frame_is_not_brought_here_to_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a thousand rows, only the categories come out of DuckDB."""
    seen = []
    asked = in_duckdb.InDuckDB.asked

    def watched(self: Any, query: str, *others: Any) -> Any:
        seen.append(asked(self, query, *others).num_rows)
        return asked(self, query, *others)

    monkeypatch.setattr(in_duckdb.InDuckDB, "asked", watched)
    frame = as_relation(ROWS * 200, Path())
    assert sum(counts_of(count(frame, ["county", "sex"], UNIVERSE, "person", 3))) == 6
    assert max(seen) <= 6


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
