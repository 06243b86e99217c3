"""Only public columns leave: they are named, unless there is one other column and it holds names alone."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput

NUMBERS = (
    "12", "1,234", "1 234", "1.234,5", "<5", "≥ 5", "> 10", "-3", "−3", "12.5 kg", "45%", "45 %", "(12)", "$5", "€ 7",
    "EUR 12", "USD12", ".5", ",5", "~7", "#4", "1e5", "01001", "2020-01-31", "31.12.1999", "12/31/99", "Mar 3, 1970",
    "March 1970", "3rd", "n=5", "up to 5", "Over 65", "nan", "inf", "-Infinity", "１２", "٣",
    " nan ", "Monday 3 May 1980", "Mon, 3 May", "Born 1980-02-03", "b. 3/2/1980", "minus 5",
)  # fmt: skip
NAMES = (
    "Ash",
    "place 0001",
    "p000",
    "NA",
    "-",
    "Mayfield 3",
    "Infant",
    "Nancy",
    "A12",
    "November",
    "Nobel 5",
    "<",
    "Ö",
)


def refused(frame: Any, *columns: str) -> str:
    with pytest.raises(BadInput, match=r"--keys A,B, or all") as caught:
        dc.table(frame, "n")
    assert caught.value.values["columns"] == columns
    return str(caught.value)


@pytest.mark.parametrize("number", NUMBERS)
def test_one_value_that_reads_as_a_number_demands_keys(number: str) -> None:
    message = refused(pa.table({"deaths": ["NA", number, "Ash"], "n": [1, 2, 3]}), "deaths")
    assert "'deaths'" in message and number not in message.replace("--keys A,B", "")
    assert dc.table(pa.table({"deaths": ["NA", number, "Ash"], "n": [1, 2, 3]}), "n", "deaths").schema.keys == (
        "deaths",
    )


def test_names_alone_may_be_left_unnamed() -> None:
    assert dc.table(pa.table({"place": NAMES, "n": range(len(NAMES))}), "n").schema.keys == ("place",)


@pytest.mark.parametrize("values", [[True, False], [date(1970, 1, 1), date(1980, 1, 1)], [1, 2], [0.5, 1.5]])
def test_flags_dates_and_numbers_are_no_names(values: list[Any]) -> None:
    refused(pa.table({"k": values, "n": [1, 2]}), "k")
    refused(pd.DataFrame({"k": values, "n": [1, 2]}), "k")
    assert dc.table(pa.table({"k": values, "n": [1, 2]}), "n", "all").schema.keys == ("k",)


FLAGS = (["yes", "no"], ["TRUE", "FALSE"], ["Y", "N"], ["ja", "Nein"], ["oui", "non", "NA"], ["positive", "negative"],
         ["Да", "нет"], ["是", "否"], ["ΝΑΙ", "όχι"], ["हाँ", "नहीं"])  # fmt: skip


@pytest.mark.parametrize("values", [["Ö", "Å"], ["Москва", "Тверь"], ["Αθήνα", "Πάτρα"], ["東京", "京都"]])
def test_names_in_any_alphabet_are_names(values: list[str]) -> None:
    assert dc.table(pa.table({"place": values, "n": [1, 2]}), "n").schema.keys == ("place",)


@pytest.mark.parametrize("values", FLAGS)
def test_flags_that_are_written_as_text_are_no_names(values: list[str]) -> None:
    counts = list(range(len(values)))
    refused(pa.table({"k": values, "n": counts}), "k")
    assert dc.table(pa.table({"k": values, "n": counts}), "n", "k").schema.keys == ("k",)
    assert dc.table(pa.table({"k": [*values, "Ash"], "n": [*counts, 1]}), "n").schema.keys == ("k",)


@pytest.mark.parametrize("kind", [getattr(pa, name)() for name in ("uuid", "json_") if hasattr(pa, name)])
def test_keys_that_only_some_readers_know_are_refused(kind: Any) -> None:
    """What is stored as text under another name could mean a total, and nobody would see it."""
    text = pa.types.is_string(kind.storage_type)
    stored = pa.array(["Total", "x"]) if text else pa.array([b"a" * 16, b"b" * 16], pa.binary(16))
    held = pa.ExtensionArray.from_storage(kind, stored)
    with pytest.raises(BadInput, match="'k' is a key column: its values are of type"):
        dc.table(pa.table({"k": held, "n": [1, 2]}), "n", "k")


def test_more_than_one_other_column_demands_keys_whatever_they_hold() -> None:
    frame = pa.table({"place": ["a", "b"], "born": ["x", "secretly"], "n": [1, 2]})
    message = refused(frame, "place", "born")
    assert "secretly" not in message and "'place', 'born'" in message
    assert dc.table(frame, "n", "place").schema.keys == ("place",)


def test_a_code_is_offered_as_one() -> None:
    frame = pa.table({"fips": ["01001", "36061"], "deaths": ["3", "17"], "year": ["1996", "1997"], "n": [1, 2]})
    message = refused(frame, "fips", "deaths", "year")
    assert "'fips' (looks like a code)" in message and message.count("looks like a code") == 1
    assert "'zip' (looks like a code)" in refused(pa.table({"zip": ["01001", "01002"], "n": [1, 2]}), "zip")


@given(st.text(min_size=1, max_size=12), st.integers(-(10**12), 10**12))
def test_no_cell_is_shown(secret: str, number: int) -> None:
    marked = f"{secret}zqzq"
    frame = pa.table({"a": [marked, "b"], "b": [str(number), "c"], "n": [1, 2]})
    message = refused(frame, "a", "b")
    assert "zqzq" not in message and (len(str(number)) < 3 or str(number) not in message)


def test_the_columns_are_told_before_anything_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.run import run
    from discreet.spec.values import ReleaseSpec, TableSpec
    from discreet.ways.keep_distribution.spec import KeepDistribution

    (tmp_path / "t.csv").write_text("place,note,n\na,x,3\nb,y,4\n")
    spec = ReleaseSpec(TableSpec(str(tmp_path / "t.csv"), "n", ("place",)), dc.Pure(1), KeepDistribution())
    told: list[tuple[str, ...]] = []

    def refuse(schema: Any) -> None:
        told.append(schema.keys)
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["discreet.release"], "source", lambda seed: pytest.fail("noise was asked for"))
    with pytest.raises(KeyboardInterrupt):
        run(spec, tmp_path / "out", before=refuse)
    assert told == [("place",)] and not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", [pd.Index, pd.Series, np.array, tuple, iter])
def test_names_may_stand_in_whatever_holds_names(kind: Any) -> None:
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "n": [1, 2]})
    assert dc.table(frame, "n", keys=kind(["a", "b"])).schema.keys == ("a", "b")
    assert dc.table(frame, kind(["n"]), keys=["a", "b"]).schema.count == "n"


@pytest.mark.parametrize("other", [3, object(), dc.Pure(1), np.array(1)])
def test_what_is_no_name_is_refused_in_words(other: Any) -> None:
    frame = pd.DataFrame({"a": ["x", "y"], "n": [1, 2]})
    with pytest.raises(BadInput, match="the table has no such column"):
        dc.table(frame, "n", keys=other)
    with pytest.raises(BadInput, match="the table has no such column"):
        dc.table(frame, other, keys=["a"])
