"""Overlapping tables released together: one price, one number for a cell, every table verified."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import BadInput
from discreet.record.release import mark_of, seal_of

KEYS = ["area", "sex", "age"]
CELLS = pd.DataFrame(
    [(area, sex, age, 3 * i + 5 * j + k)
     for i, area in enumerate("NES") for j, sex in enumerate("fm") for k, age in enumerate(["0-17", "18-64", "65+"])],
    columns=[*KEYS, "people"],
)  # fmt: skip


def table(*keys: str, cells: pd.DataFrame = CELLS, **options: Any) -> dc.Table:
    frame = cells.groupby(list(keys), as_index=False)["people"].sum()
    return dc.table(frame, count="people", keys=list(keys), **options)


def several() -> list[dc.Table]:
    return [table("area"), table(*KEYS), table("sex", "area"), table("age", "sex")]


@pytest.fixture(params=["csv", "parquet"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    dc.release_many(several(), epsilon=1).save(tmp_path / "out", request.param)
    return tmp_path / "out"


def test_every_table_is_the_sums_of_the_cells() -> None:
    out = dc.release_many(several(), epsilon=1)
    cells, *others = out.tables
    assert list(cells.columns) == [*KEYS, "people"] and isinstance(cells, pd.DataFrame)
    for keys, view in zip((["area"], ["sex", "area"], ["age", "sex"]), others):
        assert list(view.columns) == [*keys, "people"]
        expected = cells.groupby(keys, as_index=False)["people"].sum()
        pd.testing.assert_frame_equal(view.reset_index(drop=True), expected, check_dtype=False)


def test_all_are_measured_at_the_price_of_one(tmp_path: Path) -> None:
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("people", epsilon=2)
    out = dc.release_many(several(), epsilon=1, ledger=book, dataset="people", note="all tables")
    out.save(tmp_path / "out")
    (entry,) = book.history("people")
    assert entry.charged.epsilon == 1 and entry.state == "released" and book.check(tmp_path / "out") == ()
    asked = {str(name) for name in out.measurements}
    assert len(asked) == 4, "the cells, and every table"


def test_other_ways_too(tmp_path: Path) -> None:
    for place, options in enumerate(({"mechanism": "geometric"}, {"max_count": 30}, {"keep": "margin:sex"})):
        done = dc.release_many(several(), epsilon=1, **options)
        done.save(tmp_path / str(place))
        assert dc.verify(tmp_path / str(place)).valid
    done = dc.release_many(several(), dc.Pure(1), dc.RowByRow())
    assert len(done.tables) == 4


def test_the_folder_is_verified_table_by_table(folder: Path) -> None:
    assert dc.verify(folder).valid, dc.verify(folder).problems
    suffix = "csv" if (folder / "table.csv").exists() else "parquet"
    names = {path.name for path in folder.iterdir()}
    assert names >= {f"table.{suffix}", f"table-2.{suffix}", f"table-3.{suffix}", f"table-4.{suffix}"}
    assert dc.estimate(str(folder)).total().exact is False


def sealed(folder: Path, change: Any = None) -> None:
    """Write release.json anew with fitting digests, as a forger would."""
    record = json.loads((folder / "release.json").read_text())
    if change is not None:
        change(record)
    record["digests"] = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir()) if path.name != "release.json"
    }  # fmt: skip
    record["mark"] = mark_of(record["private"], record["digests"][record["tables"][0]["file"]])
    record["seal"] = seal_of({name: item for name, item in record.items() if name != "seal"})
    (folder / "release.json").write_text(json.dumps(record, indent=1) + "\n")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    dc.release_many(several(), epsilon=1).save(tmp_path / "out", "csv")
    return tmp_path / "out"


def test_a_number_that_does_not_add_up_is_found(written: Path) -> None:
    rows = list(csv.reader((written / "table-2.csv").read_text().splitlines()))
    rows[1][-1] = str(int(rows[1][-1]) + 1)
    (written / "table-2.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    assert not dc.verify(written).valid
    sealed(written)
    assert dc.verify(written).problems == ("The table table-2.csv is not the sums of the first.",)


def test_rows_taken_away_and_tables_that_are_none_are_found(written: Path) -> None:
    lines = (written / "table-3.csv").read_text().splitlines()
    (written / "table-3.csv").write_text("\n".join(lines[:-1]) + "\n")
    sealed(written)
    assert dc.verify(written).problems == ("The table table-3.csv is not the sums of the first.",)


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["tables"][1].update(file="secret.csv"),
        lambda record: record["tables"][1].update(columns=["area", "sex", "age", "people"]),
        lambda record: record["tables"][1].update(columns=["people"]),
        lambda record: record["tables"][1].update(columns=["nowhere", "people"]),
        lambda record: record["tables"][1].update(columns=["area", "n"]),
        lambda record: record["tables"][1].update(answers="answers.csv"),
        lambda record: record["tables"].append(record["tables"][1]),
    ],
)
def test_a_forged_list_of_tables_is_found(written: Path, change: Any) -> None:
    sealed(written, change)
    assert not dc.verify(written).valid


def test_formulas_in_keys_are_escaped_in_every_table(tmp_path: Path) -> None:
    cells = CELLS.assign(area=CELLS.area.map({"N": "=N", "E": "E", "S": "S"}))
    tables = [table(*KEYS, cells=cells), table("area", cells=cells)]
    dc.release_many(tables, epsilon=1).save(tmp_path / "out", excel_safe=True)
    assert "'=N" in (tmp_path / "out" / "table-2.csv").read_text() and dc.verify(tmp_path / "out").valid


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    other = CELLS.assign(people=CELLS.people + 1)
    cases: list[tuple[Any, str]] = [
        ([table(*KEYS), table("area", cells=other)], "not those of the cells"),
        ([table(*KEYS), table("area", cells=CELLS[CELLS.area != "N"])], "not those of the cells"),
        ([table("area", "sex"), table("sex", "age")], "none of them has all of the key columns age, area, sex"),
        ([table(*KEYS), table("area"), table("area")], "there are two of it"),
        ([table(*KEYS), table(*KEYS)], "there are two of it"),
        ([table(*KEYS, contributions=2), table("area")], "its contributions is 1"),
        ([], "no list of tables"),
        ([CELLS], "no list of tables"),
        ([table(*KEYS)] * 60, "60 are more than 51"),
    ]
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("people", epsilon=2)
    for tables, said in cases:
        with pytest.raises(BadInput) as found:
            dc.release_many(tables, epsilon=1, ledger=book, dataset="people")
        assert said in str(found.value)
    assert book.history("people") == ()


def test_one_table_is_released_as_always(tmp_path: Path) -> None:
    frame = pa.table({"k": ["a", "b"], "n": [1, 2]})
    out = dc.release_many([dc.table(frame, "n")], epsilon=1)
    assert len(out.tables) == 1
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid


def test_the_same_table_twice_is_refused_and_not_left_out() -> None:
    cells = table(*KEYS)
    with pytest.raises(BadInput, match="there are two of it"):
        dc.release_many([cells, cells], epsilon=1)
