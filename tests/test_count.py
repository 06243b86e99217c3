from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.count import count
from discreet.errors import BadInput, MissingExtra
from discreet.io import microdata
from discreet.io.counted import bound_of
from discreet.io.layout import read_frame
from discreet.io.tables import read_table
from discreet.table import Table

UNIVERSE = {"county": ["01001", "01003", "02001"], "sex": ["f", "m"]}
ROWS = [("01001", "f", "a"), ("01001", "f", "b"), ("02001", "m", "a"), ("01001", "m", "a"), ("01001", "f", "a")]
Rows = list[tuple[str, str, str]]


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


KINDS = {"pandas": as_pandas, "polars": as_polars, "pyarrow": as_arrow, "parquet": as_parquet, "csv": as_csv}


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
    assert (table.schema.kind, table.schema.contributions, table.schema.count) == (kind, 1, "count")
    assert list(zip(table.schema.column("county"), table.schema.column("sex"))) == list(product(*UNIVERSE.values()))


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
        return count(KINDS[engine](some, folder), ["county", "sex"], UNIVERSE, "person", bound).counts

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
    at_once = count(data, ["county", "sex"], UNIVERSE, "person", 2)
    one_pass, asked = microdata._one_pass, []

    def small_memory(*arguments: Any) -> list[Any]:
        asked.append(arguments[-2:])
        if arguments[-1] < 64:
            raise duckdb.OutOfMemoryException("too much")
        return one_pass(*arguments)

    monkeypatch.setattr(microdata, "_one_pass", small_memory)
    in_parts = count(data, ["county", "sex"], UNIVERSE, "person", 2)
    np.testing.assert_array_equal(in_parts.counts, at_once.counts)
    assert asked == [(0, 1), (0, 8), *((number, 64) for number in range(64))]
    monkeypatch.setattr(microdata, "MOST_PASSES", 8)
    with pytest.raises(BadInput, match=r"was to be counted.*too much"):
        count(data, ["county", "sex"], UNIVERSE, "person", 2)


def test_which_rows_are_kept_favours_no_category(tmp_path: Path) -> None:
    """Everyone is in all six categories and one row is kept: about a sixth of the people in each."""
    rows = [(*pair, f"p{who}") for who in range(3000) for pair in product(*UNIVERSE.values())]
    for kind in ("pyarrow", "parquet"):
        counts = count(KINDS[kind](rows, tmp_path), ["county", "sex"], UNIVERSE, "person", 1).counts
        assert np.abs(counts - 500).max() < 140  # seven standard deviations


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


def test_without_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[duckdb\]'"):
        count(as_csv(ROWS, tmp_path), ["county", "sex"], UNIVERSE)


def run_count(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = ["count", "people.csv", "--by", "county,sex", "--universe", "universe.json", *options]
    command = [sys.executable, "-c", "from discreet.cli import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


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
