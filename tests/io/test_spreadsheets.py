"""Tables as people lay them out: workbooks, titles, notes, thousands, suppressed counts, crosstabs, several counts."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput
from discreet.io.workbooks import read_sheet, sheet_names
from discreet.spec.read import read_spec
from discreet.spec.values import TableSpec

Row = Sequence[object]


def book(path: Path, *rows: Row, sheet: str = "Sheet1", more: dict[str, list[Row]] | None = None) -> Path:
    made = openpyxl.Workbook()
    first = made.active
    assert first is not None
    first.title = sheet
    for row in rows:
        first.append(list(row))
    for name, others in (more or {}).items():
        other = made.create_sheet(name)
        for row in others:
            other.append(list(row))
    made.save(path)
    return path


def values(table: dc.Table) -> dict[tuple[Any, ...], int]:
    return dict(zip(zip(*(table.schema.column(key) for key in table.schema.keys)), table.counts.tolist()))


def test_a_plain_sheet_is_read_as_its_csv_would_be(tmp_path: Path) -> None:
    rows = [("county", "n"), ("Ash", 3), ("Elm", 0), ("Oak", 12)]
    (tmp_path / "t.csv").write_text("\n".join(f"{a},{b}" for a, b in rows) + "\n")
    sheet = dc.read_table(book(tmp_path / "t.xlsx", *rows), "n")
    plain = dc.read_table(tmp_path / "t.csv", "n")
    assert values(sheet) == values(plain) == {("Ash",): 3, ("Elm",): 0, ("Oak",): 12}
    assert sheet.schema.kind == "xlsx"


def test_cells_are_taken_as_they_are_shown(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = made.active
    assert sheet is not None
    sheet.append(["code", "day", "flag", "size", "n"])
    sheet.append([1001, datetime.datetime(2020, 3, 1), True, 2.5, 4.0])
    sheet["A2"].number_format = "00000"
    made.save(tmp_path / "t.xlsx")
    table = dc.read_table(tmp_path / "t.xlsx", "n", ["code", "day", "flag", "size"])
    assert values(table) == {("01001", "2020-03-01", "TRUE", "2.5"): 4}


def test_titles_blank_rows_and_notes_are_left_out(tmp_path: Path) -> None:
    rows: list[Row] = [
        ["Table 4: deaths by county"], [], ["county", "number\nof deaths"], ["Ash", 3], [], ["Elm", 5], [],
        ["Provisional figures", None], ["Source: the register"],
    ]  # fmt: skip
    table = dc.read_table(book(tmp_path / "t.xlsx", *rows), "number of deaths")
    assert values(table) == {("Ash",): 3, ("Elm",): 5}
    assert table.schema.notes == (8, 9)


def test_notes_of_a_csv_file_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("A title,\ncounty,n\nAsh,3\n,\nElm,5\nSource: the register,\n")
    table = dc.read_table(tmp_path / "t.csv", "n", header_row=2)
    assert values(table) == {("Ash",): 3, ("Elm",): 5} and table.schema.notes == (6,)


AS_A_SPREADSHEET_SHOWS_THEM = {
    "plain": ("k,n\na,1\nb,-1\n", {}, 3),
    "blank lines": ("k,n\na,1\n\n\nb,-1\n", {}, 5),
    "empty cells": ("k,n\na,1\n,\nb,-1\n", {}, 4),
    "blank lines first": ("\n\nk,n\na,1\nb,-1\n", {}, 5),
    "line breaks in cells": ('k,n\n"a\n\nz",1\nb,-1\n', {}, 3),
    "carriage returns": ('\rk,n\r"a\rz",1\r\rb,-1\r', {}, 5),
    "both": ('\r\nk,n\r\n"a\r\nz",1\r\n\r\nb,-1\r\n', {}, 5),
    "a title": ("A title\n\nk;n\na;1\nb;-1\n", {"header_row": 3}, 5),
    "semicolons": ('Source;"an office,\nof two lines"\nk;n\na;1\n\nb;-1\n', {"header_row": 2}, 5),
    "a stray mark": ('Size,"12\nk;n\na;1\nb;-1\n', {"header_row": 2}, 4),
    "a title of two lines": ('"A title\nof two lines",\nk,n\na,1\n\nb,-1\n', {"header_row": 2}, 5),
    "a long cell": ("k,n\n" + "a" * 200_000 + ",1\nb,-1\n", {}, 3),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("case", AS_A_SPREADSHEET_SHOWS_THEM)
def test_rows_of_a_csv_file_are_numbered_as_a_spreadsheet_shows_them(case: str, encoding: str, tmp_path: Path) -> None:
    text, options, row = AS_A_SPREADSHEET_SHOWS_THEM[case]
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    with pytest.raises(BadInput, match=f"row {row}, column 'n' is negative") as caught:
        dc.read_table(tmp_path / "t.csv", "n", ["k"], **options)
    assert caught.value.values["row"] == row
    (tmp_path / "t.csv").write_bytes((text + "c").encode(encoding))
    with pytest.raises(BadInput, match=f"row {row + 1} has 1 cells" if "long" not in case else "has no end"):
        dc.read_table(tmp_path / "t.csv", "n", ["k"], **options)


def test_rows_of_a_universe_are_numbered_so_too(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("k,n\na,1\n")
    (tmp_path / "u.csv").write_text("k,l\na,1\n\nb,2\na,3\n")
    with pytest.raises(BadInput, match=r"A universe was given: rows 2 and 5 have the same keys"):
        dc.read_table(tmp_path / "t.csv", "n", ["k"], tmp_path / "u.csv")
    (tmp_path / "u.csv").write_text("k\nb\n")
    with pytest.raises(BadInput, match=r"row 2 of the table is not in it"):
        dc.read_table(tmp_path / "t.csv", "n", ["k"], tmp_path / "u.csv")


def test_a_last_row_without_its_count_is_no_note(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="row 3, column 'n' is missing"):
        dc.read_table(book(tmp_path / "t.xlsx", ["county", "n"], ["Ash", 3], ["Elm", None]), "n")


def test_a_heading_between_rows_is_told(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", ["county", "n"], ["North"], ["Ash", 3], ["South"], ["Elm", 2])
    with pytest.raises(BadInput, match=r"row 2, column 'n' is missing; row 4, column 'n' is missing\."):
        dc.read_table(path, "n")


def test_all_problems_are_told_at_once_with_the_numbers_of_the_sheet(tmp_path: Path) -> None:
    rows: list[Row] = [
        ["A title"], ["county", "sex", "n"], ["Ash", "f", 3], [], ["Ash", "m", -1], ["Ash", "m", "<5"],
        ["Elm", None, 2], ["Elm", "f", "1,234"], ["Elm", "m", 1.5], ["Total", "f", 9],
    ]  # fmt: skip
    with pytest.raises(BadInput) as caught:
        dc.read_table(book(tmp_path / "t.xlsx", *rows), "n", ["county", "sex"])
    told = str(caught.value)
    for part in (
        "row 5, column 'n' is negative", "row 6, column 'n' was suppressed", "row 8, column 'n' is text with thousands",
        "row 9, column 'n' is not a whole number", "row 7, column 'sex' is missing", "row 10 (county = 'Total')",
        "--suppressed-as", "--thousands", "--drop-totals", "merged cells",
    ):  # fmt: skip
        assert part in told, part
    for secret in ("-1", "1,234", "1.5"):
        assert secret not in told
    twice = book(tmp_path / "u.xlsx", ["county", "n"], ["Ash", "x"], ["Ash", 1])
    with pytest.raises(BadInput, match="row 2, column 'n' is not a number; and rows 2 and 3 have the same"):
        dc.read_table(twice, "n")


def test_names_of_columns_are_looked_at_first(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", ["county", "n", "n", None], ["Ash", 1, 2, 3])
    with pytest.raises(BadInput, match=r"column D has no name in row 1; .* 'n' stands twice.*--header-row"):
        dc.read_table(path, "n")


def test_the_sheet_is_chosen(tmp_path: Path) -> None:
    rows: list[Row] = [["county", "n"], ["Ash", 3]]
    path = book(tmp_path / "t.xlsx", *rows, sheet="men", more={"women": [["county", "n"], ["Ash", 9]], "empty": []})
    assert sheet_names(path) == ("men", "women")
    with pytest.raises(BadInput, match=r"2 sheets: 'men', 'women'.*--sheet NAME"):
        dc.read_table(path, "n")
    assert values(dc.read_table(path, "n", sheet="women")) == {("Ash",): 9}
    with pytest.raises(BadInput, match="Did you mean 'women'"):
        dc.read_table(path, "n", sheet="woman")
    with pytest.raises(BadInput, match="no workbook"):
        (tmp_path / "t.csv").write_text("county,n\nAsh,3\n")
        dc.read_table(tmp_path / "t.csv", "n", sheet="men")


def test_hidden_sheets_are_not_taken_unless_named(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", ["county", "n"], ["Ash", 3], more={"old": [["county", "n"], ["Ash", 9]]})
    made = openpyxl.load_workbook(path)
    made["old"].sheet_state = "hidden"
    made.save(path)
    assert sheet_names(path) == ("Sheet1",)
    assert values(dc.read_table(path, "n")) == {("Ash",): 3}


@pytest.mark.parametrize(("mark", "text"), [(",", "1,234"), (".", "1.234"), ("'", "1'234"), (" ", "1\u202f234")])
def test_thousands(tmp_path: Path, mark: str, text: str) -> None:
    path = book(tmp_path / "t.xlsx", ["county", "n"], ["Ash", text], ["Elm", "12"])
    assert values(dc.read_table(path, "n", thousands=mark)) == {("Ash",): 1234, ("Elm",): 12}
    with pytest.raises(BadInput, match="thousands"):
        dc.read_table(path, "n")
    with pytest.raises(BadInput, match="row 2, column 'n'"):
        dc.read_table(book(tmp_path / "u.xlsx", ["county", "n"], ["Ash", f"12{mark}34"]), "n", thousands=mark)


@pytest.mark.parametrize("mark", ["*", "<5", "< 5", "<=4", "≤4", "..", "(d)", "[c]", "suppressed"])
def test_suppressed_counts_are_refused_or_read_by_the_rule(tmp_path: Path, mark: str) -> None:
    path = book(tmp_path / "t.xlsx", ["county", "n"], ["Ash", mark], ["Elm", 7])
    with pytest.raises(BadInput, match=r"row 2, column 'n' was suppressed.*--suppressed-as N"):
        dc.read_table(path, "n")
    table = dc.read_table(path, "n", suppressed_as=4)
    assert values(table) == {("Ash",): 4, ("Elm",): 7}
    assert "Counts up to 4 had been suppressed" in dc.release(table, 1).guarantee.sentence
    assert "Counts up to 4 had been suppressed" in dc.plan(table, 1).guarantee


@given(st.integers(0, 9), st.integers(0, 9))
def test_only_the_rule_that_the_mark_says_is_taken(limit: int, said: int) -> None:
    """Otherwise one person, at the limit, would move the count by more than one."""
    frame = pa.table({"k": ["a", "b"], "n": [f"<{limit}", "3"]})
    if said == limit - 1:
        assert dc.table(frame, "n", suppressed_as=said).counts.tolist() == [said, max(3, said)]
    else:
        with pytest.raises(BadInput, match="suppressed by another rule"):
            dc.table(frame, "n", suppressed_as=said)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=8), st.integers(0, 8), st.data())
def test_one_person_moves_a_suppressed_table_by_one_at_most(true: list[int], most: int, data: st.DataObject) -> None:
    """Whether zeros are suppressed, shown, or left out of the file."""
    row, zeros = data.draw(st.integers(0, len(true) - 1)), data.draw(st.sampled_from(["hidden", "shown", "missing"]))
    more = [count + (place == row) for place, count in enumerate(true)]

    def read(counts: list[int]) -> Any:
        names = [f"k{i}" for i in range(len(counts))]
        shown = [f"<{most + 1}" if (zeros == "hidden" or count) and count <= most else str(count) for count in counts]
        there = [place for place, count in enumerate(counts) if count or zeros != "missing"] or [0]
        frame = pa.table({"k": [names[place] for place in there], "n": [shown[place] for place in there]})
        return dc.table(frame, "n", "k", pa.table({"k": names}), suppressed_as=most).counts

    assert abs(read(true) - read(more)).sum() <= 1


def test_a_crosstab_becomes_rows(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", ["county", "men", "women"], ["Elm", 1, 2], ["Ash", 3, 4])
    expected = {("Ash", "men"): 3, ("Ash", "women"): 4, ("Elm", "men"): 1, ("Elm", "women"): 2}
    for count, called in (("persons", "persons"), ("men,women", "count")):
        table = dc.read_table(path, count, ["county"], wide="sex")
        assert values(table) == expected
        assert table.schema.keys == ("county", "sex") and table.schema.count == called
        assert table.schema.contributions == 1
    with pytest.raises(BadInput, match="Name the key columns"):
        dc.read_table(path, "persons", wide="sex")
    with pytest.raises(BadInput, match="name of another column"):
        dc.read_table(path, "persons", ["county"], wide="county")
    with_total = book(tmp_path / "u.xlsx", ["county", "men", "women", "Total"], ["Elm", 1, 2, 3])
    with pytest.raises(BadInput, match=r"row 2 \(sex = 'Total'\)"):
        dc.read_table(with_total, "persons", ["county"], wide="sex")
    assert len(dc.read_table(with_total, "persons", ["county"], wide="sex", drop_totals=True)) == 2


def test_bad_cells_of_a_crosstab_are_named_by_their_own_column(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", ["county", "men", "women"], ["Elm", 1, "?"], ["Ash", -3, 4])
    with pytest.raises(BadInput) as caught:
        dc.read_table(path, "persons", ["county"], wide="sex")
    assert "row 3, column 'men' is negative" in str(caught.value)
    assert "row 2, column 'women' is not a number" in str(caught.value)


def test_several_counts_are_released_together_and_paid_for_each(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", ["county", "cases", "deaths"], ["Elm", 10, 2], ["Ash", 30, 4])
    table = dc.read_table(path, "cases,deaths", ["county"])
    assert values(table) == {("Ash", "cases"): 30, ("Ash", "deaths"): 4, ("Elm", "cases"): 10, ("Elm", "deaths"): 2}
    assert table.schema.contributions == 2 and table.schema.keys == ("county", "counted")
    assert dc.read_table(path, ["cases", "deaths"], ["county"], contributions=3).schema.contributions == 6
    book_ = dc.ledger(tmp_path / "ledger.db")
    book_.create("health", epsilon=1)
    out = dc.release(table, 1, mechanism="geometric", ledger=book_, dataset="health")
    (entry,) = book_.history("health")
    assert entry.charged.epsilon == 1
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid


def test_each_count_gets_its_share() -> None:
    """Two columns at epsilon 1 have the noise of one at a half, exactly."""
    frame = pa.table({"k": ["a", "b"], "x": [1, 2], "y": [3, 4]})
    both = dc.release(dc.table(frame, ["x", "y"], "k"), 1, mechanism="signed-geometric")
    one = dc.release(dc.table(frame, "x", "k"), "1/2", mechanism="signed-geometric")
    more = dc.release(dc.table(frame, "x", "k"), 1, mechanism="signed-geometric")
    assert both.mechanism.form.noise == one.mechanism.form.noise != more.mechanism.form.noise


def test_planning_reads_no_count(tmp_path: Path) -> None:
    spec = TableSpec(str(book(tmp_path / "t.xlsx", ["county", "n"], ["Ash", "?"], ["Elm", "<5"], [], ["a note"])), "n")
    schema, _ = spec.read_schema()
    assert schema.rows == 2 and schema.notes == (5,)
    with pytest.raises(BadInput, match="not a number"):
        spec.read()


def test_options_are_the_same_in_a_file(tmp_path: Path) -> None:
    book(tmp_path / "t.xlsx", ["x"], ["county", "men", "women"], ["Elm", "1.000", "<5"], more={"other": [["y", "z"]]})
    (tmp_path / "r.toml").write_text(
        '[table]\nfile = "t.xlsx"\ncount = "persons"\nkeys = ["county"]\nsheet = "Sheet1"\nheader_row = 2\n'
        'thousands = "."\nwide = "sex"\nsuppressed_as = 4\n\n[privacy]\nepsilon = 1\n'
    )
    spec = read_spec(tmp_path / "r.toml")
    assert values(spec.table.read()) == {("Elm", "men"): 1000, ("Elm", "women"): 4}
    spec.write(tmp_path / "again.toml")
    assert read_spec(tmp_path / "again.toml") == spec
    dc.run(spec, tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid and (tmp_path / "out" / "table.xlsx").is_file()


@pytest.mark.parametrize("name", ["t.xls", "t.xlsm", "t.ods"])
def test_other_spreadsheets_are_told_what_to_do(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(BadInput, match=r"save it as \.xlsx"):
        dc.read_table(tmp_path / name, "n")


def test_what_is_no_workbook_is_refused_without_a_word_of_it(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_text("county,n\nSecretville,3\n")
    with pytest.raises(BadInput, match="not a workbook") as caught:
        dc.read_table(tmp_path / "t.xlsx", "n")
    assert "Secretville" not in str(caught.value)
    good = book(tmp_path / "u.xlsx", ["county", "n"], ["Secretville", 3])
    with zipfile.ZipFile(good) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "v.xlsx", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content[: len(content) // 2] if "sheet1" in name else content)
    with pytest.raises(BadInput, match="not a workbook") as caught:
        dc.read_table(tmp_path / "v.xlsx", "n")
    assert "Secretville" not in str(caught.value)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = book(tmp_path / "t.xlsx", ["county", "n"], ["Ash", 3])
    monkeypatch.setattr("discreet.io.workbooks.LARGEST", 1000)
    with pytest.raises(BadInput, match="would unpack"):
        read_sheet(path)


def test_without_openpyxl_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = book(tmp_path / "t.xlsx", ["county", "n"], ["Ash", 3])
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(dc.MissingExtra, match=r"discreet\[excel\]"):
        dc.read_table(path, "n")


def test_a_formula_without_a_saved_value_is_no_missing_count(tmp_path: Path) -> None:
    """Which would be written as 0: files of programs hold formulas that no spreadsheet has computed yet."""
    rows = [["place", "n"], ["Ash", "=1+2"], ["Elm", 4], ["Oak", "=SUM(B2:B3)"]]
    with pytest.raises(BadInput, match=r"row 2, column 'n' is a formula.*row 4, column 'n' is a formula") as found:
        dc.read_table(book(tmp_path / "t.xlsx", *rows), "n")
    assert "save it" in found.value.do and "write 0" not in found.value.do
    with pytest.raises(BadInput, match="row 3, column 'place' is a formula"):
        dc.read_table(book(tmp_path / "t.xlsx", *[["place", "n"], ["Ash", 1], ["=A2", 4]]), "n", keys=["place"])
    aside = book(tmp_path / "t.xlsx", *[["place", "n", "more"], ["Ash", 1, "=B2"], ["Elm", 4, None]])
    assert dc.read_table(aside, "n", keys=["place"]).counts.tolist() == [1, 4]


def test_a_name_that_is_a_formula_and_a_share_in_percent_are_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the name of the column B is a formula"):
        dc.read_table(book(tmp_path / "t.xlsx", ("place", "=1+2"), ("a", 1), ("b", 2)), "n", "place")
    made = openpyxl.load_workbook(book(tmp_path / "u.xlsx", ("place", "n"), ("a", 1), ("b", 0)))
    assert made.active is not None
    made.active["B2"].number_format = "0.0%"
    made.save(tmp_path / "u.xlsx")
    with pytest.raises(BadInput, match="row 2, column 'n' is not a number"):
        dc.read_table(tmp_path / "u.xlsx", "n", "place")


def test_a_formula_that_gave_an_empty_text_leaves_its_row_empty(tmp_path: Path) -> None:
    """As where formulas were filled down a sheet beyond its rows."""
    file = book(tmp_path / "t.xlsx", *[["place", "n"], ["Ash", 1], ["Elm", 4], ['=IF(C4="","",C4)', '=IF(C4="","",1)']])
    computed(file, "A4", "B4")
    assert dc.read_table(file, "n", keys=["place"]).counts.tolist() == [1, 4]


def computed(file: Path, *cells: str) -> None:
    """As a spreadsheet program writes a formula whose value is an empty text."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    for cell in cells:
        parts[sheet] = parts[sheet].replace(f'<c r="{cell}">'.encode(), f'<c r="{cell}" t="str">'.encode())
    assert all(f'r="{cell}" t="str"'.encode() in parts[sheet] for cell in cells)
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_every_kind_of_problem_is_told_however_many_there_are_of_one(tmp_path: Path) -> None:
    many = [[f"p{i}", "<5"] for i in range(9)]
    rows = [["place", "n"], *many, ["q", -1], ["r", 2.5], ["s", None], ["t", "<7"], ["q", 3]]
    with pytest.raises(BadInput) as found:
        dc.read_table(book(tmp_path / "t.xlsx", *rows), "n", keys=["place"])
    for part in ("row 6, column 'n' was suppressed; and 5 more", "row 11, column 'n' is negative", "row 12", "row 13",
                 "rows 11 and 15 have the same keys"):  # fmt: skip
        assert part in str(found.value)
    with pytest.raises(BadInput, match=r"row 11.*row 14, column 'n' was suppressed by another rule") as found:
        dc.read_table(book(tmp_path / "t.xlsx", *rows), "n", keys=["place"], suppressed_as=4)
    assert "row 6" not in str(found.value)


def test_all_that_is_wrong_with_keys_and_counts_is_told_at_once(tmp_path: Path) -> None:
    rows = [["Ash", "m", 1], ["Ash", "m", 2], [None, "f", -3], ["Elm", None, 2.5], ["Elm", "m", "x"], ["Elm", "m", 7]]
    path = book(tmp_path / "t.xlsx", ["county", "sex", "n"], *rows)
    with pytest.raises(BadInput) as told:
        dc.read_table(path, "n", ["county", "sex"])
    for part in (
        "row 4, column 'county' is missing", "row 5, column 'sex' is missing", "rows 2 and 3 have the same keys",
        "rows 6 and 7 have the same keys", "row 4, column 'n' is negative", "row 5, column 'n' is not a whole number",
        "row 6, column 'n' is not a number",
    ):  # fmt: skip
        assert part in str(told.value)


def test_of_a_crosstab_two_rows_alike_are_told_once(tmp_path: Path) -> None:
    path = book(tmp_path / "t.xlsx", ["county", "m", "f"], ["Ash", 1, 2], ["Ash", 3, 4])
    with pytest.raises(BadInput, match=r"rows 2 and 3 have the same keys\. Add"):
        dc.read_table(path, "n", ["county"], wide="sex")


@pytest.mark.parametrize("mark", [" ", "\u00a0", "\u2009", "\u202f", "'", "\u2019"])
def test_what_stands_between_thousands_is_asked_for(tmp_path: Path, mark: str) -> None:
    path = book(tmp_path / "t.xlsx", ["county", "n"], ["Ash", f"1{mark}234"], ["Elm", 5])
    with pytest.raises(BadInput, match="say what stands between the digits with thousands"):
        dc.read_table(path, "n", ["county"])
    assert dc.read_table(path, "n", ["county"], thousands=mark).counts.tolist() == [1234, 5]


@pytest.mark.parametrize("name", ["area", "Area", " area", "", "  ", "N", "n", "a\nb", "\u200barea"])
def test_a_column_that_is_made_can_be_told_from_the_others(name: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("area,f,m\na,1,2\nb,3,4\n")
    with pytest.raises(BadInput, match=r"is the name of another column, too|no name that can be read"):
        dc.read_table(tmp_path / "t.csv", "n", ["area"], wide=name)
    (tmp_path / "t.csv").write_text("Counted,f,m\na,1,2\nb,3,4\n")
    with pytest.raises(BadInput, match="'Counted' is the name of another column, too"):
        dc.read_table(tmp_path / "t.csv", ["f", "m"], ["Counted"])
