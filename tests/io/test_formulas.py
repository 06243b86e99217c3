"""Keys that a spreadsheet takes for formulas: told of, or written with an apostrophe that readers take away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.io.folder import read_folder
from discreet.io.formulas import escaped, formula_remarks, unescaped
from discreet.io.layout import read_frame
from discreet.record.release import seal_of

KEYS = [
    *("=cmd|' /C calc'!A0", "+1", "-x", "@home", "\ttab", "\rreturn", "'=twice", "\n=feed", "＝wide", "－1"),
    *("'s-Gravenhage", "Ash", "a=b"),
]  # the first ten are taken for formulas
marks = st.lists(st.text("'=+-@\t\r\n＝＋－＠ab", max_size=5), min_size=1, max_size=8)


def table() -> dc.Table:
    return dc.table(pa.table({"place": KEYS, "kind": ["x"] * len(KEYS), "n": range(len(KEYS))}), "n", "all")


def written(folder: Path, file: str) -> list[str]:
    return read_frame(folder / file).column("place").to_pylist()


@given(marks)
def test_what_is_escaped_holds_no_formula_and_comes_back(values: list[str]) -> None:
    keys = pa.table({"k": pa.array(values)})
    safe = escaped(keys, "csv").column("k").to_pylist()
    assert not any(value[:1] and value[0] in "=+-@\t\r\n＝＋－＠" for value in safe)
    assert unescaped(escaped(keys, "csv"), "csv").equals(keys)
    assert all(new in (old, "'" + old) for old, new in zip(values, safe))


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("options", [{"max_count": 9}, {"keep": ["total", "sum:place==cmd|' /C calc'!A0"]}])
def test_as_they_are_or_safe_and_verified_either_way(format: str, options: dict[str, Any], tmp_path: Path) -> None:
    out = dc.release(table(), 1, **options)
    out.save(tmp_path / "plain", format)
    out.save(tmp_path / "safe", format, excel_safe=True)
    plain, safe = (written(tmp_path / name, f"table.{format}") for name in ("plain", "safe"))
    assert sorted(plain) == sorted(KEYS)
    assert {key for key in KEYS if key not in safe} == {*KEYS[:10]}
    for name, said in (("plain", "import such columns as text"), ("safe", "an apostrophe before them")):
        assert dc.verify(tmp_path / name).problems == ()
        assert sorted(read_folder(tmp_path / name).categories.column("place").to_pylist()) == sorted(KEYS)
        report = (tmp_path / name / "report.html").read_text()
        assert said in report and "' /C calc" not in report  # keys stand there as text
        (one,) = json.loads((tmp_path / name / "release.json").read_text())["tables"][0]["remarks"]
        assert one["columns"] == "place"
    assert dc.estimate(str(tmp_path / "safe")).total().estimate == dc.estimate(str(tmp_path / "plain")).total().estimate


def test_without_such_keys_nothing_is_said(tmp_path: Path) -> None:
    dc.release(dc.table(pa.table({"k": ["a", "b"], "n": [1, 2]}), "n"), 1).save(tmp_path / "out", excel_safe=True)
    assert json.loads((tmp_path / "out" / "release.json").read_text())["tables"][0]["remarks"] == []
    assert dc.verify(tmp_path / "out")


def test_verify_compares_what_is_said_with_the_keys(tmp_path: Path) -> None:
    dc.release(table(), 1, max_count=9).save(tmp_path / "out")
    document = json.loads((tmp_path / "out" / "release.json").read_text())
    document["tables"][0]["remarks"] = []
    document["seal"] = seal_of(document)
    (tmp_path / "out" / "release.json").write_text(json.dumps(document, indent=1) + "\n")
    assert any("how they are written" in problem for problem in dc.verify(tmp_path / "out").problems)


def test_numbers_are_judged_as_they_are_written() -> None:
    ages = pa.table({"age": [-1, 2]})
    assert formula_remarks(ages, "parquet", False) == ()
    assert [one.code for one in formula_remarks(ages, "csv", True)] == ["formula-keys-escaped"]


@pytest.mark.parametrize("header", ["=place,n", "place,@n", "'=place,n"])
def test_a_column_whose_name_is_a_formula_is_not_safe_and_nothing_is_charged(header: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"{header}\nAsh,1\nElm,2\n")
    key, count = header.split(",")
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("d", epsilon=1)
    spec = (
        f'[table]\nfile = "t.csv"\ncount = "{count}"\nkeys = ["{key}"]\n[privacy]\nepsilon = 1\n[keep-distribution]\n'
        '[ledger]\nurl = "ledger.db"\ndataset = "d"\n[output]\nfolder = "out"\nexcel_safe = true\n'
    )
    (tmp_path / "s.toml").write_text(spec)
    with pytest.raises(dc.BadInput, match="begins as a formula does"):
        dc.run(tmp_path / "s.toml")
    assert not book.history("d") and not (tmp_path / "out").exists()
    made = dc.release(dc.read_table(tmp_path / "t.csv", count, key), 1)
    with pytest.raises(dc.BadInput, match="begins as a formula does"):
        made.save(tmp_path / "saved", excel_safe=True)
    assert not (tmp_path / "saved").exists()
