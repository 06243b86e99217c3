"""table.csv-metadata.json against the rules of the standard (Metadata Vocabulary for Tabular Data), and the files."""

from __future__ import annotations

import csv
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.report.csvw import column_names, render
from tests.report.test_explore import FOLDERS, HOSTILE, two_keys

GROUP = {"@context", "@id", "@type", "dialect", "notes", "tableDirection", "tableSchema", "tables", "transformations"}
TABLE = {
    "@id",
    "@type",
    "dialect",
    "notes",
    "suppressOutput",
    "tableDirection",
    "tableSchema",
    "transformations",
    "url",
}
SCHEMA = {"@id", "@type", "columns", "foreignKeys", "primaryKey", "rowTitles"}
COLUMN = {"@id", "@type", "name", "suppressOutput", "titles", "virtual", "datatype", "required", "null", "default"}
DIALECT = {
    "@id", "@type", "commentPrefix", "delimiter", "doubleQuote", "encoding", "header", "headerRowCount",
    "lineTerminators", "quoteChar", "skipBlankRows", "skipColumns", "skipInitialSpace", "skipRows", "trim",
}  # fmt: skip
COMMON = re.compile(r"(dc|dcat):[A-Za-z]+")  # prefixes of the context that every reader knows
NAME = re.compile(r"([A-Za-z0-9]|%[0-9A-F]{2})(\.?([A-Za-z0-9_]|%[0-9A-F]{2}))*")  # a variable of RFC 6570, no _ first


def only(value: dict[str, Any], allowed: set[str]) -> None:
    assert not {name for name in value if name not in allowed and not COMMON.fullmatch(name)}


def checked(value: dict[str, Any]) -> dict[str, Any]:
    """By the rules; returns the tables by their files."""
    only(value, GROUP)
    assert value["@context"] == ["http://www.w3.org/ns/csvw", {"@language": "en"}] and value["tables"]
    only(value["dialect"], DIALECT)
    for table in value["tables"]:
        only(table, TABLE)
        only(table["tableSchema"], SCHEMA)
        names = [column["name"] for column in table["tableSchema"]["columns"]]
        assert len(set(names)) == len(names) and all(NAME.fullmatch(name) for name in names), names
        for column in table["tableSchema"]["columns"]:
            only(column, COLUMN)
            assert column["datatype"] in ("string", "integer", "decimal")
        assert set(table["tableSchema"].get("primaryKey", ())) <= set(names)
    return {table["url"]: table for table in value["tables"]}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_every_file_is_as_the_metadata_says(folder: Path) -> None:
    tables = checked(json.loads((folder / "table.csv-metadata.json").read_text()))
    assert set(tables) == {path.name for path in folder.glob("*.csv")}
    for name, table in tables.items():
        with (folder / name).open(encoding="utf-8", newline="") as file:
            head, *rows = list(csv.reader(file))
        columns = table["tableSchema"]["columns"]
        assert head == [column["titles"] for column in columns]
        for column, cells in zip(columns, zip(*rows), strict=True):
            if column["datatype"] == "integer":
                assert all(str(int(cell)) == cell for cell in cells)
            elif column["datatype"] == "decimal":
                assert all(Decimal(cell).is_finite() for cell in cells)
            assert not column.get("required") or all(cells)
        keys = [k for k, column in enumerate(columns) if column["name"] in table["tableSchema"]["primaryKey"]]
        assert len({tuple(row[k] for k in keys) for row in rows}) == len(rows)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(HOSTILE), max_size=6, unique=True))
def test_any_columns_get_names_that_are_allowed_and_differ(titles: list[str]) -> None:
    names = column_names(tuple(titles))
    assert len(set(names)) == len(titles) and all(NAME.fullmatch(name) for name in names)


def test_who_publishes_what_is_in_it() -> None:
    about = dc.About("People", "a register", "office@example.org", "https://example.org/licence", "<b>note</b>")
    value = json.loads(render(dc.release(two_keys(["a", "b"], ["c"]), 1, mechanism="geometric", about=about).record))
    checked(value)
    said = value["dc:title"], value["dc:source"], value["dcat:contactPoint"], value["dc:description"]
    assert said == ("People", "a register", "office@example.org", "<b>note</b>")
    assert value["dc:license"] == {"@id": "https://example.org/licence"}
    plain = dc.release(two_keys(["a", "b"], ["c"]), 1, mechanism="geometric", about=dc.About(licence="CC BY 4.0"))
    assert json.loads(render(plain.record))["dc:license"] == "CC BY 4.0"


@pytest.mark.parametrize("format", ["parquet", "xlsx"])
def test_there_is_none_beside_another_format(format: str, tmp_path: Path) -> None:
    dc.release(dc.example(), 1, max_count=20).save(tmp_path / "out", format)
    assert not (tmp_path / "out" / "table.csv-metadata.json").exists() and dc.verify(tmp_path / "out").valid
