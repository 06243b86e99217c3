"""A workbook is written in one way, read again as it was, and refused in any other: whatever else it may carry."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import Damaged
from discreet.io.columns import whole_numbers
from discreet.io.folder import require_writable
from discreet.io.written_xlsx import MOST_ROWS, SHEET, TOLD, read_workbook, workbook

letters = st.characters(exclude_categories=["Cs"], exclude_characters=[*map(chr, range(32)), "\ufffe", "\uffff"])
words = st.text(st.one_of(letters, st.sampled_from("<>&\"'=_x\t\n ")), max_size=6)
FRAME = pa.table({"place": ["a<b", "01001", "=1+1"], "sex": ["f", "m", ""], "n": [3, -1, 2**60]})


def cells(content: bytes) -> list[tuple[object, ...]]:
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    assert sheet is not None
    return list(sheet.iter_rows(values_only=True))


@given(st.lists(st.tuples(words, words, st.integers(-(2**62), 2**62)), max_size=9))
def test_any_keys_come_back_and_are_what_a_spreadsheet_shows(rows: list[tuple[str, str, int]]) -> None:
    columns = [pa.array(column) for column in zip(*rows)] or [pa.array([], pa.string())] * 2 + [
        pa.array([], pa.int64())
    ]
    frame = pa.table(columns, names=["k", "l & <m>", "n"])
    content = workbook(frame)
    again = read_workbook(content, "table.xlsx", frame.column_names).table
    assert again.select(["k", "l & <m>"]).equals(frame.select(["k", "l & <m>"]))
    assert [int(count) for count in again.column("n").to_pylist()] == [count for _, _, count in rows]
    assert cells(content) == [("k", "l & <m>", "n"), *rows]


def test_a_key_that_looks_like_a_formula_is_text() -> None:
    sheet = openpyxl.load_workbook(io.BytesIO(workbook(FRAME))).active
    assert sheet is not None
    assert [cell.data_type for cell in sheet["A"]] == ["s"] * 4  # "f" would be a formula
    assert sheet["A3"].value == "01001"


def parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files: Mapping[str, bytes], how: int = zipfile.ZIP_STORED, comment: bytes = b"") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.compress_type = 3, how
            archive.writestr(entry, content)
        archive.comment = comment
    return out.getvalue()


def in_sheet(old: bytes, new: bytes) -> Callable[[dict[str, bytes]], bytes]:
    def changed(files: dict[str, bytes]) -> bytes:
        assert old in files[SHEET]
        return packed({**files, SHEET: files[SHEET].replace(old, new, 1)})

    return changed


def in_part(name: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes]], bytes]:
    def changed(files: dict[str, bytes]) -> bytes:
        assert old in files[name]
        return packed({**files, name: files[name].replace(old, new, 1)})

    return changed


HOSTILE: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "a formula": in_sheet(b"<v>3</v>", b"<f>1+2</f><v>3</v>"),
    "a formula for a key": in_sheet(b"<c t=", b"<c><f>1</f></c><c t="),
    "a hidden row": in_sheet(b"</row><row>", b'</row><row hidden="1">'),
    "a row more": in_sheet(b"</sheetData>", b"<row><c><v>7</v></c></row></sheetData>"),
    "a link": in_sheet(b"</sheetData>", b'</sheetData><hyperlinks><hyperlink ref="A1"/></hyperlinks>'),
    "a comment in XML": in_sheet(b"<row>", b"<!-- the true count is 12 --><row>"),
    "a document type": in_sheet(b"<worksheet", b'<!DOCTYPE x [<!ENTITY a "b">]><worksheet'),
    "a zero before a count": in_sheet(b"<v>3</v>", b"<v>03</v>"),
    "a blank after a count": in_sheet(b"<v>3</v>", b"<v>3 </v>"),
    "a count as text": in_sheet(b"<c><v>3</v></c>", b'<c t="str"><v>3</v></c>'),
    "another mark for a letter": in_sheet(b"01001", b"0100&#49;"),
    "no text": in_sheet(b"01001", b"\xff\xfe"),
    "a column less": in_sheet(b"<c><v>3</v></c>", b""),
    "another header": in_sheet(b"place", b"plaza"),
    "a hidden sheet": in_part(
        "xl/workbook.xml", b"</sheets>", b'<sheet name="s" sheetId="2" state="hidden"/></sheets>'
    ),
    "macros": lambda files: packed({**files, "xl/vbaProject.bin": b"Sub Auto_Open()"}),
    "links to other files": lambda files: packed({**files, "xl/externalLinks/externalLink1.xml": b"<x/>"}),
    "properties": lambda files: packed({**files, "docProps/core.xml": b"<creator>somebody</creator>"}),
    "parts in another order": lambda files: packed(dict(reversed(files.items()))),
    "a part less": lambda files: packed({name: files[name] for name in list(files)[1:]}),
    "a packed archive": lambda files: packed(files, zipfile.ZIP_DEFLATED),
    "a comment on the archive": lambda files: packed(files, comment=b"3"),
    "something before it": lambda files: b"3" + packed(files),
    "something after it": lambda files: packed(files) + b"3",
    "no archive": lambda files: b"place,sex,n\n",
    "half an archive": lambda files: packed(files)[:900],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_else_a_workbook_may_carry_is_refused(what: str) -> None:
    honest = workbook(FRAME)
    assert packed(parts(honest)) == honest  # so that the change alone makes the difference
    with pytest.raises(Damaged):
        whole_numbers(read_workbook(HOSTILE[what](parts(honest)), "table.xlsx", FRAME.column_names).table, "n")


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    files = parts(workbook(FRAME))
    bomb = packed({**files, SHEET: b" " * (1 << 24)}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 1 << 16
    with pytest.raises(Damaged, match="packed in another way"):
        read_workbook(bomb, "table.xlsx", FRAME.column_names)


@pytest.mark.parametrize("name", ["a\rb", "a\x01b", "a\ufffe", "_x0041_", "x" * 40_000])
def test_what_a_sheet_cannot_hold_is_refused_before_anything_is_spent(tmp_path: Path, name: str) -> None:
    table = dc.table(pa.table({"k": [name, *"bcdefg"], "n": range(7)}), "n", keys=["k"])
    with pytest.raises(dc.BadInput, match="Choose another format"):
        require_writable(table.schema, "xlsx")
    require_writable(table.schema, "csv")
    with pytest.raises(dc.BadInput, match="Choose another format"):
        dc.release(table, 1).save(tmp_path / "out", "xlsx")
    assert not list(tmp_path.iterdir())


def test_a_table_longer_than_a_sheet_is_refused() -> None:
    long = pa.table({"k": pa.array(range(MOST_ROWS + 1)), "n": pa.array([0] * (MOST_ROWS + 1))})
    with pytest.raises(dc.BadInput, match="1,048,576 rows"):
        require_writable(dc.table(long, "n", keys=["k"]).schema, "xlsx")


@pytest.mark.parametrize("options", [{}, {"measure": "auto"}, {"keep": "margin:sex"}], ids=str)
def test_a_release_in_a_workbook_verifies_and_can_be_used(tmp_path: Path, options: dict[str, str]) -> None:
    frame = pa.table({"place": [1, 1, 2, 2], "sex": ["=f", "m", "=f", "m"], "n": [5, 6, 7, 800]})
    done = dc.release(dc.table(frame, "n", keys=["place", "sex"]), 1, **options)
    for safe in (False, True):
        out = tmp_path / str(safe)
        done.save(out, "xlsx", excel_safe=safe)
        assert dc.verify(out).valid
        names = {path.name for path in out.iterdir()}
        assert "table.xlsx" in names
        assert {name for name in names if name.startswith(("meas", "answ"))} <= {"measurements.csv", "answers.csv"}
        rows = cells((out / "table.xlsx").read_bytes())
        assert [row[2] for row in rows[1:]] == done.counts.tolist()
        assert rows[1][:2] == ("1", "'=f" if safe else "=f")
        assert dc.estimate(out).total().estimate is not None


def test_a_changed_count_does_not_verify(tmp_path: Path) -> None:
    done = dc.release(dc.table(pa.table({"k": ["a", "b"], "n": [5, 6]}), "n", keys=["k"]), 1, mechanism="geometric")
    done.save(tmp_path / "out", "xlsx")
    place = tmp_path / "out" / "table.xlsx"
    book = openpyxl.load_workbook(place)
    book.active["B2"] = 77  # type: ignore[index]
    book.save(place)
    assert not dc.verify(tmp_path / "out").valid


def told_release(folder: Path, **options: Any) -> None:
    frame = pa.table({"place": ["Ash", "Ash", "=Elm", "=Elm"], "sex": ["f", "m"] * 2, "n": [3, 0, 12, 5]})
    dc.release(dc.table(frame, "n", keys=["place", "sex"]), 1, seed=1, **options).save(
        folder, format="xlsx", excel_safe=True
    )


@pytest.mark.parametrize("options", [{}, {"keep": "margin:place"}, {"measure": ["cells", "total"]}], ids=str)
def test_a_workbook_has_the_answers_with_their_intervals(options: dict[str, Any], tmp_path: Path) -> None:
    told_release(tmp_path / "out", **options)
    book = openpyxl.load_workbook(tmp_path / "out" / "table.xlsx")
    assert book.sheetnames == ["table", "intervals"]
    header, *rows = book["intervals"].iter_rows(values_only=True)
    assert header == ("question", "place", "sex", "exact", "estimate", "low", "high")
    found = {(row[0], *(text or "" for text in row[1:3])): (row[3] or "", *row[4:]) for row in rows}
    view = dc.estimate(tmp_path / "out")
    asked = {("total", "", ""): view.total()}
    asked |= {("by place", {"=Elm": "'=Elm"}.get(name, name), ""): one for name, one in view.by("place").items()}
    asked |= {("by sex", "", name): one for name, one in view.by("sex").items()}
    asked |= {("row", {"=Elm": "'=Elm"}.get(a, a), b): one for (a, b), one in view.rows().items()}
    assert found.keys() == asked.keys()
    for name, one in asked.items():
        assert found[name][0] == ("exact" if one.exact else "")
        assert found[name][1:] == pytest.approx((one.estimate, *one.interval), abs=1e-4)
    if not options:  # without negative counts it is a table again
        assert dc.read_table(tmp_path / "out" / "table.xlsx", count="n", keys=["place", "sex"]).schema.rows == 4


def test_what_was_cut_is_said_in_a_workbook(tmp_path: Path) -> None:
    told_release(tmp_path / "out", max_count=4, top_code=True)
    book = openpyxl.load_workbook(tmp_path / "out" / "table.xlsx")
    questions = {row[0] for row in book["intervals"].iter_rows(min_row=2, values_only=True)}
    assert questions == {f"{what}, of counts cut at 4" for what in ("total", "by place", "by sex", "row")}


def test_other_intervals_in_a_workbook_are_refused(tmp_path: Path) -> None:
    from discreet.io.intervals import same_intervals

    told_release(tmp_path / "out")
    content = (tmp_path / "out" / "table.xlsx").read_bytes()
    honest = read_workbook(content, "table.xlsx", ["place", "sex", "n"]).told
    assert same_intervals(honest, honest, estimates=True)
    files = parts(content)
    number = re.search(rb"<v>([0-9.]+)</v></c></row>", files[TOLD])
    assert number is not None
    for new, allowed in ((b"77", True), (b"=1+1", False), (b"7.00001", False), (b"nan", False), (b"007", False)):
        changed = packed({**files, TOLD: files[TOLD].replace(number[0], b"<v>" + new + b"</v></c></row>", 1)})
        told = read_workbook(changed, "table.xlsx", ["place", "sex", "n"]).told
        assert not same_intervals(honest, told, estimates=True)
        assert same_intervals(honest, told, estimates=False) == allowed  # another version may know better
    for old, new in ((b"total", b"secret"), (b'preserve"></t>', b'preserve">12</t>')):
        told = read_workbook(
            packed({**files, TOLD: files[TOLD].replace(old, new, 1)}), "table.xlsx", ["place", "sex", "n"]
        ).told
        assert not same_intervals(honest, told, estimates=False)


def test_verify_compares_the_intervals_of_a_workbook(tmp_path: Path) -> None:
    from discreet.io.folder import folder_of, read_contents

    frame = pa.table({"place": ["Ash", "Elm"], "n": [3, 12]})
    dc.release(dc.table(frame, "n", keys=["place"]), 1).save(tmp_path / "out", format="xlsx")
    assert dc.verify(tmp_path / "out").valid
    contents = read_contents(tmp_path / "out")
    files = parts(contents.files["table.xlsx"])
    bare = workbook(read_workbook(contents.files["table.xlsx"], "table.xlsx", ["place", "n"]).table)
    for content in (bare, packed({**files, TOLD: files[TOLD].replace(b"</v>", b"1</v>", 1)})):
        folder = folder_of(replace(contents, files={**contents.files, "table.xlsx": content}))
        assert not folder.tells_the_same(estimates=True)
