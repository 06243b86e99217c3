"""Every file of every kind of folder, edited, added, taken away, with digests and seal made anew, is refused."""

from __future__ import annotations

import copy
import csv
import gzip
import io
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa
import pytest

import discreet as dc
from discreet.io import RECORD, REPORT
from discreet.io.folder import Contents, read_contents
from discreet.verify import verify_contents
from tests.tampering.folders import FULL, KINDS, Honest, honest
from tests.tampering.forge import passes, reports_uncompared, with_a_report_that_states_it, with_files, written

Rows = list[list[str]]
CSV_KINDS = [kind for kind in KINDS if KINDS[kind].get("format") is None]
MEASURED = ["keep-distribution", "keep-distribution-without-range", "row-by-row", "staircase", "unfixed", "not-refined"]


def others(folder: Honest) -> dict[str, bytes]:
    return {name: content for name, content in folder.contents.files.items() if name != RECORD}


def valid(folder: Honest, contents: Contents) -> bool:
    return passes(contents, folder.seeded)


def rewritten(content: bytes, change: Callable[[Rows], Rows]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(change(list(csv.reader(io.StringIO(content.decode())))))
    return out.getvalue().encode()


def at(row: int, column: int, change: Callable[[str], str]) -> Callable[[Rows], Rows]:
    def edited(rows: Rows) -> Rows:
        rows[row][column] = change(rows[row][column])
        return rows

    return edited


SHAPES: dict[str, Callable[[Rows], Rows]] = {
    "a row less": lambda rows: rows[:-1],
    "a row more": lambda rows: [*rows, ["zz", "zz", *rows[-1][2:]]],
    "a row twice": lambda rows: [*rows[:4], *rows[3:]],
    "rows reversed": lambda rows: [rows[0], *rows[:0:-1]],
    "two rows exchanged": lambda rows: [rows[0], rows[2], rows[1], *rows[3:]],
    "no rows": lambda rows: rows[:1],
    "another name": at(0, -1, lambda name: name + "x"),
    "another key column": at(0, 0, lambda name: name + "x"),
    "a column more": lambda rows: [[*row, "1"] for row in rows],
    "a column less": lambda rows: [row[1:] for row in rows],
    "columns exchanged": lambda rows: [row[::-1] for row in rows],
    "a fraction": at(3, -1, lambda number: number + ".5"),
    "no number": at(3, -1, lambda number: "many"),
    "nothing": at(3, -1, lambda number: ""),
    "beyond 64 bits": at(3, -1, lambda number: "9" * 30),
    "enormous": at(3, -1, lambda number: str(1 << 62)),
}


SPELLINGS = {  # the same number for most readers, and room for one that should not be there
    "zeros": lambda word: f"00{word}" if word[0] != "-" else f"-00{word[1:]}", "minus nothing": lambda word: "-0",
    "a point": lambda word: f"{word}.0", "a blank": lambda word: f" {word}", "a sign": lambda word: f"+{word}",
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", ["table.csv", "measurements.csv"])
def test_nothing_is_hidden_in_how_a_count_is_written(name: str, spelling: str) -> None:
    folder = honest("row-by-row")
    files = others(folder)
    content = rewritten(files[name], at(1, -1, SPELLINGS[spelling]))
    problems = verify_contents(with_files(folder.contents, {**files, name: content})).problems
    assert any("written in the usual way" in problem for problem in problems), problems


def _rows(content: bytes, change: Callable[[list[bytes]], list[bytes]]) -> bytes:
    return b"".join(change(content.splitlines(keepends=True)))


IN_FULL, SHARE = ("row-by-row", "measure", "several-tables"), 3  # of other kinds one writing in so many is tried
LINES = 4  # what a file must have more of for all of these; sums over few rows have not
WRITINGS: dict[
    str, Callable[[bytes], bytes]
] = {  # the same cells for most readers, and room for what should not be there
    "blank lines": lambda old: _rows(old, lambda rows: [*rows[:4], b"\n\n", *rows[4:]]),
    "a blank line first": lambda old: b"\n" + old,
    "a blank line last": lambda old: old + b"\n",
    "no end of the last line": lambda old: old[:-1],
    "a carriage return": lambda old: _rows(old, lambda rows: [*rows[:3], rows[3][:-1] + b"\r\n", *rows[4:]]),
    "carriage returns": lambda old: old.replace(b"\n", b"\r\n"),
    "a carriage return alone": lambda old: _rows(old, lambda rows: [*rows[:3], rows[3][:-1] + b"\r", *rows[4:]]),
    "a quoted key": lambda old: _rows(old, lambda rows: [*rows[:3], quoted(rows[3], 0), *rows[4:]]),
    "a quoted count": lambda old: _rows(old, lambda rows: [*rows[:3], quoted(rows[3], -1), *rows[4:]]),
    "a quoted name": lambda old: _rows(old, lambda rows: [quoted(rows[0], 0), *rows[1:]]),
    "all quoted": lambda old: _rows(old, lambda rows: [b'"' + row[:-1].replace(b",", b'","') + b'"\n' for row in rows]),
    "semicolons": lambda old: old.replace(b",", b";"),
    "UTF-16": lambda old: old.decode().encode("utf-16"),
    "a byte-order mark": lambda old: b"\xef\xbb\xbf" + old,
    "a blank in the header": lambda old: old.replace(b",", b", ", 1),
    "a blank before the header": lambda old: b" " + old,
    "packed": gzip.compress,
}


def quoted(row: bytes, place: int) -> bytes:
    cells = row[:-1].split(b",")
    cells[place] = b'"' + cells[place] + b'"'
    return b",".join(cells) + b"\n"


@pytest.mark.parametrize("kind", CSV_KINDS)
def test_nothing_is_hidden_in_how_a_table_is_written(kind: str) -> None:
    """Table, measurements and answers."""
    folder, files = honest(kind), others(honest(kind))
    long = [name for name, content in files.items() if name.endswith(".csv") and content.count(b"\n") > LINES]
    assert "table.csv" in long
    for name in long:
        for how, change in WRITINGS.items():
            if not (FULL or kind in IN_FULL or crc32(f"{kind} {name} {how}".encode()) % SHARE == 0):
                continue
            found = verify_contents(with_files(folder.contents, {**files, name: change(files[name])}))
            problems = [problem for problem in found.problems if f"{name}: " in problem]
            assert problems, (name, how)


def test_nothing_is_hidden_in_whether_an_apostrophe_stands_before_a_key() -> None:
    """Readers take it away where one belongs: the key would be the same without it."""
    keys = pa.table({"k": ["+1", "-x", "=a", "b"], "n": [1, 2, 3, 4]})
    with tempfile.TemporaryDirectory() as place:
        dc.release(dc.table(keys, "n", keys=["k"]), 1, mechanism="geometric").save(Path(place) / "out", excel_safe=True)
        contents = read_contents(Path(place) / "out")
    folder = Honest("safe", contents, False)
    assert valid(folder, contents)
    for name in ("table.csv", "measurements.csv"):
        for old, new in ((b"\n'=a", b"\n=a"), (b"\nb", b"\n'b")):
            assert old in contents.files[name]
            files = {**others(folder), name: contents.files[name].replace(old, new)}
            assert not valid(folder, with_files(contents, files)), (name, new)


@pytest.mark.parametrize("kind", ["row-by-row", "measure"])
def test_nothing_is_hidden_in_how_the_record_is_written(kind: str) -> None:
    """Blanks and the order of fields need no new seal."""
    folder = honest(kind)
    record, document = folder.contents.files[RECORD], dict(folder.contents.document)
    for how, forged in {
        "a blank": record.replace(b": ", b":  ", 1), "a line": record + b"\n", "a line first": b"\n" + record,
        "a tab": record.replace(b"\n ", b"\n\t", 1), "carriage returns": record.replace(b"\n", b"\r\n"),
        "no indent": json.dumps(document).encode(), "letters": record.replace(b"csv", b"cs\\u0076", 1),
        "order": (json.dumps(dict(reversed(document.items())), indent=1) + "\n").encode(),
    }.items():  # fmt: skip
        found = verify_contents(written(folder.contents, forged))
        assert found.problems == ("release.json is written in another way than releases are.",), how


@pytest.mark.parametrize("kind", CSV_KINDS)
def test_a_table_of_another_shape_is_refused(kind: str) -> None:
    folder, files = honest(kind), others(honest(kind))
    for what, change in SHAPES.items():
        if what == "enormous" and folder.contents.document["schema"]["max_count"] is None:  # type: ignore[index]
            continue  # any count could have come out
        forged = with_files(folder.contents, {**files, "table.csv": rewritten(files["table.csv"], change)})
        assert not valid(folder, forged), what


@pytest.mark.parametrize("kind", MEASURED)
def test_a_count_that_does_not_follow_from_its_measurement_is_refused(kind: str) -> None:
    """Every row of the table, one up and one down."""
    folder, files = honest(kind), others(honest(kind))
    for row in range(1, 31, 3):
        for step in (1, -1):
            changed = rewritten(files["table.csv"], at(row, -1, lambda number, step=step: str(int(number) + step)))  # type: ignore[misc]
            assert not valid(folder, with_files(folder.contents, {**files, "table.csv": changed})), (row, step)


@pytest.mark.parametrize("kind", MEASURED)
def test_a_measurement_that_leads_elsewhere_is_refused(kind: str) -> None:
    folder, files = honest(kind), others(honest(kind))
    shapes = {what: change for what, change in SHAPES.items() if what != "enormous"}  # beyond the range, as may be
    for what, change in {"other": at(5, -1, lambda number: str(50 - int(number))), **shapes}.items():
        changed = rewritten(files["measurements.csv"], change)
        assert not valid(folder, with_files(folder.contents, {**files, "measurements.csv": changed})), what


@pytest.mark.parametrize("kind", ["keep-sums", "keep-sums-gaussian", "two-margins", "one-sum", "own-sums"])
def test_a_table_without_its_kept_sums_is_refused(kind: str) -> None:
    folder, files = honest(kind), others(honest(kind))
    changed = rewritten(files["table.csv"], at(1, -1, lambda number: str(int(number) + 1)))
    assert not valid(folder, with_files(folder.contents, {**files, "table.csv": changed}))


@pytest.mark.parametrize("kind", ["unmeasured", "unmeasured-by-rank"])
def test_a_table_far_from_its_distribution_is_refused_without_measurements(kind: str) -> None:
    folder, files = honest(kind), others(honest(kind))
    all_alike = rewritten(files["table.csv"], lambda rows: [rows[0], *([*row[:-1], "3"] for row in rows[1:])])
    assert not valid(folder, with_files(folder.contents, {**files, "table.csv": all_alike}))


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_are_empty_missing_or_too_many_are_refused(kind: str) -> None:
    folder, files = honest(kind), others(honest(kind))
    for name in files:
        assert not valid(folder, with_files(folder.contents, {**files, name: b""})), name
        assert not valid(folder, with_files(folder.contents, {**files, name: b"\x00\xff" * 50})), name
        left = {other: content for other, content in files.items() if other != name}
        assert not valid(folder, with_files(folder.contents, left)), name
    for extra in ("raw.csv", "table2.csv", "table.parquet", ".hidden", "release.json.bak"):
        assert not valid(folder, with_files(folder.contents, {**files, extra: b"k,n\na,1\n"})), extra
        assert not valid(folder, replace(folder.contents, foreign=(extra,))), extra


SCRIPTS = [
    "<script>alert(1)</script>", "<SCRIPT>alert(1)</SCRIPT>", "<script src=//x.example/a.js></script>", "<script",
    '<img src="http://x.example/a.png">', "<img src=x onerror=alert(1)>", '<svg onload="alert(1)"></svg>',
    "<svg/onload=alert(1)>", '<meta http-equiv="refresh" content="0; url=http://x.example">',
    '<a href="javascript:alert(1)">x</a>', '<a href="http://x.example">x</a>', '<iframe srcdoc="x"></iframe>',
    '<object data="x"></object>', '<embed src="x">', '<link rel="stylesheet" href="x.css">',
    '<base href="//x.example">',
    '<form action="//x.example"></form>', '<style>@import "http://x.example/a.css";</style>',
    "<style>p { background: url(http://x.example/a.png) }</style>", "<style>p { background: u\\72l(//x) }</style>",
    '<p style="background: url(//x.example)">x</p>', '<p style="width: expression(alert(1))">x</p>',
    '<p style="background: image-set(&quot;//x.example&quot;)">x</p>', '<use xlink:href="http://x.example/a.svg#b"/>',
    '<use xlink:href="data:image/svg+xml,x#a"/>', '<use href="#a"/>', '<p onclick="alert(1)">x</p>', "<video autoplay>",
    '<math href="javascript:alert(1)">x</math>', "<!-- a --!><script>alert(1)</script> -->", "<![CDATA[ <script> ]]>",
    "<?xml-stylesheet href='x'?>", '<p title="x">x</p>', "<animate attributeName=href>",
    "<foreignObject></foreignObject>",
    "<style><p>x{} body{background:url(http://x.example/a.png)}</p></style>", "<style>p{}", "<title>x<p></p></title>",
    "<svg><style><g>*{}</g> *{fill:url(http://x.example/a)}</style></svg>", "<style>*{clip-path:url(#a)}</style>",
    '<meta charset="iso-2022-jp">', '<p class="\x1b$B">xx\x1b(B" onmouseover="alert(1)" style="x">x</p>',
    "\x00", "\x85",
    '<g id="a"><path d="M0 0"/></g><use xlink:href="#a"/>', '<use xlink:href="#nowhere"/>',
    '<g id="a"></g><path id="a"/><use xlink:href="#a"/>', '<clipPath id="a"><rect clip-path="url(#a)"/></clipPath>',
    '<path id="a"/><clipPath id="b"><use xlink:href="#a"/></clipPath>', "<style>p{color:var(--x)}</STYLE>",
    '<path clip-path="url(http://x.example)"/>', "<p a=b>", "<p\nx>", "<input>", "<template>", "<noscript>",
]  # fmt: skip


@cache
def drawn_elsewhere() -> Contents:
    """A folder whose report cannot be compared, since something else drew it."""
    contents = honest("row-by-row").contents
    document: dict[str, Any] = dict(contents.document)
    document["rendered"] = {**document["rendered"], "jinja2": "0.0.1"}
    return replace(contents, document=document)


def test_a_report_that_something_else_drew_may_have_other_words() -> None:
    folder, files = honest("row-by-row"), others(honest("row-by-row"))
    page = files[REPORT].decode().replace("What was done", "Done").encode()
    assert page != files[REPORT]
    assert valid(folder, with_files(drawn_elsewhere(), {**files, REPORT: page}))


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_report_that_loads_or_runs_anything_is_refused_whoever_drew_it(script: str) -> None:
    files = others(honest("row-by-row"))
    page = files[REPORT].decode()
    for forged in (page.replace("</body>", f"{script}</body>"), script + page, page + script):
        found = verify_contents(with_files(drawn_elsewhere(), {**files, REPORT: forged.encode()}))
        assert any("active content" in problem for problem in found.problems), forged


def test_the_encoding_of_a_report_is_named_first() -> None:
    """Where none is named, a browser guesses; where another is, letters become marks."""
    files = others(honest("row-by-row"))
    page = files[REPORT].decode()
    for forged in (
        page.replace('<meta charset="utf-8">', ""), page.replace('charset="utf-8"', 'charset="utf-7"'),
        page.replace("<head>", "<head><p>" + "x" * 2000 + "</p>"), "\ufeff" + page,
    ):  # fmt: skip
        found = verify_contents(with_files(drawn_elsewhere(), {**files, REPORT: forged.encode()}))
        assert any("active content" in problem for problem in found.problems), forged[:100]


def test_a_report_in_other_words_is_said_not_to_be_compared() -> None:
    """Words may change at any time, so nobody can say what others would be; that the promise is stated, they can."""
    folder, files = honest("row-by-row"), others(honest("row-by-row"))
    document: dict[str, Any] = dict(folder.contents.document)
    document["rendered"] = {**document["rendered"], "words": "0" * 64}
    contents = replace(folder.contents, document=document)
    found = verify_contents(with_files(contents, files))
    assert found.valid and any("drawn in other words" in what for what in found.not_applicable)
    lie = files[REPORT].replace(b"epsilon = 1;", b"epsilon = 0.001;")
    assert lie != files[REPORT]
    found = verify_contents(with_files(contents, {**files, REPORT: lie}))
    assert found.problems == ("The report does not state the guarantee of release.json.",)


NAMES = ["explore.html", ".htaccess", "table.parquet.csv.exe", "table.CSV", "Table.csv", "raw.csv", "measurements.csv"]


def with_entries(folder: Honest, edit: Callable[[dict[str, Any]], Any], files: dict[str, bytes]) -> Contents:
    """Entry, file, digest, mark and seal, all of them made to agree; and the report."""
    document: dict[str, Any] = copy.deepcopy(dict(folder.contents.document))
    edit(document["tables"][0])
    return with_a_report_that_states_it(with_files(replace(folder.contents, document=document), files))


@pytest.mark.parametrize("kind", KINDS)
def test_no_file_passes_by_being_named_in_the_record(kind: str) -> None:
    """Under another name, a second time, or as measurements where there are none: nothing else would look at it."""
    folder, files = honest(kind), others(honest(kind))
    entry: dict[str, Any] = folder.contents.document["tables"][0]  # type: ignore[index]
    table, suffix = entry["file"], entry["file"].partition(".")[2]
    rest = {name: content for name, content in files.items() if name != table}
    with reports_uncompared():
        for name in NAMES:
            forged = with_entries(folder, lambda e, name=name: e.update(file=name), {**rest, name: files[table]})  # type: ignore[misc]
            assert not valid(folder, forged), name
        for name in (
            *NAMES,
            f"measurements.{suffix}",
            f"measurements2.{suffix}",
            "measurements.parquet",
            "table.parquet",
        ):
            more = {"question": "cells", "file": name}
            if name in files:
                continue
            for listed in ([more], [more, *entry["measurements"]], [*entry["measurements"], more]):
                forged = with_entries(
                    folder, lambda e, listed=listed: e.update(measurements=listed), {**files, name: files[table]}  # type: ignore[misc]
                )  # fmt: skip
                assert not valid(folder, forged), (name, listed)
        for listed in ([{"question": "cells", "file": table}], 2 * entry["measurements"], 2 * [more]):
            assert not listed or not valid(
                folder, with_entries(folder, lambda e, listed=listed: e.update(measurements=listed), files)  # type: ignore[misc]
            ), listed  # fmt: skip


def test_many_other_files_do_not_hide_those_of_the_release(tmp_path: Path) -> None:
    place = saved("row-by-row", tmp_path / "out")
    for i in range(300):
        (place / f"a{i}").write_text("")
    problems = dc.verify(place).problems
    assert len(problems) > 50 and all("is not part of the release" in problem for problem in problems)


@pytest.mark.parametrize("kind", ["keep-distribution", "keep-sums", "row-by-row-own"])
def test_a_report_with_other_content_is_refused(kind: str) -> None:
    folder, files = honest(kind), others(honest(kind))
    page = files[REPORT].decode()
    for forged in (
        page.replace("epsilon = 1", "epsilon = 0.1"), page.replace("<h2>", "<h2>Not ", 1), page + "\n", "",
        page.replace('M 0 0', 'M 0 9', 1), page.replace("</p>", "</p><p>All is well.</p>", 1),
    ):  # fmt: skip
        if forged != page:
            assert not valid(folder, with_files(folder.contents, {**files, REPORT: forged.encode()}))


def saved(kind: str, place: Path) -> Path:
    place.mkdir()
    for name, content in honest(kind).contents.files.items():
        (place / name).write_bytes(content)
    assert dc.verify(place).valid
    return place


def test_links_folders_and_pipes_are_refused(tmp_path: Path) -> None:
    """A link to the very file, too: what it leads to tomorrow is another matter."""
    for name in ("table.csv", "measurements.csv", REPORT, RECORD):
        place, elsewhere = saved("row-by-row", tmp_path / f"linked {name}"), tmp_path / f"elsewhere {name}"
        (place / name).rename(elsewhere)
        (place / name).symlink_to(elsewhere)
        assert any("a link to a file elsewhere" in problem for problem in dc.verify(place).problems), name
    for name, make in (
        ("raw.csv", lambda path: path.symlink_to("/etc/passwd")), ("raw", lambda path: path.mkdir()),
        (".raw", lambda path: path.write_text("x")), ("pipe", lambda path: os.mkfifo(path)),
    ):  # fmt: skip
        place = saved("row-by-row", tmp_path / f"with {name}")
        make(place / name)
        assert f"The file {name} is not part of the release." in dc.verify(place).problems
    place = saved("row-by-row", tmp_path / "piped")
    (place / "table.csv").unlink()
    os.mkfifo(place / "table.csv")
    assert any("not a plain file" in problem for problem in dc.verify(place).problems)
