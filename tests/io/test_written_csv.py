"""A table is written in one way, read again as it was, and refused in any other."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import Damaged
from discreet.io import written_csv
from discreet.io.folder import write_frame
from discreet.io.layout import read_frame
from discreet.io.written_csv import read_written
from tests.releases import sha256

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
marked = st.one_of(words, st.text("a, \"\r\n'=;\t", max_size=5))


def written(frame: pa.Table, place: Path) -> bytes:
    assert write_frame(place, frame, "csv") == sha256(place)
    return place.read_bytes()


@given(
    st.lists(st.tuples(marked, marked), min_size=1, max_size=9),
    st.lists(marked.filter(lambda name: name != "n"), min_size=2, max_size=2, unique=True),
)
def test_any_keys_and_names_come_back(tmp_path_factory: pytest.TempPathFactory, rows: list, names: list[str]) -> None:  # type: ignore[type-arg]
    place = tmp_path_factory.getbasetemp() / "any.csv"
    texts = pa.table({"n": [str(i) for i in range(len(rows))]})
    for name, column in zip(names, zip(*rows)):
        texts = texts.append_column(pa.field(name, pa.string()), [list(column)])
    content = written(texts, place)
    expected = texts.set_column(0, "n", [range(len(rows))])
    for piece in (written_csv.PIECE, 8):  # a few rows at a time, too
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(written_csv, "PIECE", piece)
            assert read_written(content, "any.csv", texts.column_names, "n").equals(expected)
    seen = list(csv.reader(io.StringIO(content.decode(), newline="")))
    assert seen == [texts.column_names, *([str(i), *row] for i, row in enumerate(rows))]


def test_only_the_cells_that_need_it_are_quoted(tmp_path: Path) -> None:
    frame = pa.table({"a,b": ["x", 'y "z"', None, "u\nv"], "year": [1, 2, 3, 4], "n": [0, -1, 2, 3]})
    assert written(frame, tmp_path / "t.csv") == b'"a,b",year,n\nx,1,0\n"y ""z""",2,-1\n,3,2\n"u\nv",4,3\n'


PLAIN = b"k,l,n\na,b,1\nc,d,2\n"
OTHERS = {
    "a blank line": b"k,l,n\na,b,1\n\nc,d,2\n", "a blank line at the end": PLAIN + b"\n",
    "one before": b"\n" + PLAIN, "no line break at the end": PLAIN[:-1],
    "a carriage return": b"k,l,n\na,b,1\r\nc,d,2\n", "a carriage return for a line feed": b"k,l,n\na,b,1\rc,d,2\n",
    "a quoted cell": b'k,l,n\na,"b",1\nc,d,2\n', "a quoted number": b'k,l,n\na,b,"1"\nc,d,2\n',
    "a quoted name": b'"k",l,n\na,b,1\nc,d,2\n', "a blank in the header": b"k, l,n\na,b,1\nc,d,2\n",
    "semicolons": PLAIN.replace(b",", b";"), "tabs": PLAIN.replace(b",", b"\t"),
    "a byte-order mark": b"\xef\xbb\xbf" + PLAIN, "UTF-16": PLAIN.decode().encode("utf-16"),
    "another header": PLAIN.replace(b"k,l,n", b"l,k,n"), "nothing": b"", "not UTF-8": PLAIN + b"\xff,e,3\n",
    "a cell more": b"k,l,n\na,b,1\nc,d,2,3\n", "an open quotation mark": b'k,l,n\na,b,1\n"c,d,2\n',
}  # fmt: skip


@pytest.mark.parametrize("how", OTHERS)
def test_any_other_way_of_writing_it_is_refused(how: str) -> None:
    assert len(read_written(PLAIN, "t.csv", ["k", "l", "n"], "n")) == 2
    with pytest.raises(Damaged, match=r"t\.csv"):
        read_written(OTHERS[how], "t.csv", ["k", "l", "n"], "n")


def test_many_rows_are_compared_to_the_last(tmp_path: Path) -> None:
    keys = [f"{i:06d}" + ", x" * (i % 40_000 == 7) for i in range(150_000)]
    content = written(pa.table({"k": keys, "n": range(len(keys))}), tmp_path / "t.csv")
    assert read_written(content, "t.csv", ["k", "n"], "n").column("k").to_pylist() == keys
    with pytest.raises(Damaged, match="another way"):
        read_written(content + b"\r\n", "t.csv", ["k", "n"], "n")


@pytest.mark.parametrize("how", OTHERS)
def test_it_is_refused_wherever_the_text_is_cut(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is overlooked where one piece ends and the next begins."""
    for piece in range(2, 16):
        monkeypatch.setattr(written_csv, "PIECE", piece)
        assert read_written(PLAIN, "t.csv", ["k", "l", "n"], "n").column("l").to_pylist() == ["b", "d"]
        with pytest.raises(Damaged, match=r"t\.csv"):
            read_written(OTHERS[how], "t.csv", ["k", "l", "n"], "n")


def test_keys_that_another_table_has_are_not_held_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written_csv, "PIECE", 8)
    letters = "abcdefgh"
    content = b"k,n\n" + "".join(f"{letter},{place}\n" for place, letter in enumerate(letters)).encode()
    known = read_written(content, "t.csv", ["k", "n"], "n").drop_columns(["n"])
    before = pa.total_allocated_bytes()
    again = read_written(content, "t.csv", ["k", "n"], "n", known)
    addresses = [frame.column("k").chunk(0).buffers()[2].address for frame in (known, again)]
    assert addresses[0] == addresses[1] and pa.total_allocated_bytes() - before < 4 * len(content)
    others = [known.slice(0, 5), known.slice(1), pa.table({"k": [*letters, "i"]})]
    others += [pa.table({"k": [*letters[:place], "x", *letters[place + 1 :]]}) for place in range(len(letters))]
    for other in others:
        assert read_written(content, "t.csv", ["k", "n"], "n", other).equals(again)


HEADERS = {
    '"County\nname",2020\nAsh,3\nElm,4\n': "County\nname",
    '"County\r\nname",2020\r\nAsh,3\r\nElm,4\r\n': "County\nname",
    '"County\rname\n\n(as of 2020)";2020\nAsh;3\nElm;4\n': "County\nname\n\n(as of 2020)",
    '\n\n"A ""county"", or\nsuch"\t2020\nAsh\t3\nElm\t4\n': 'A "county", or\nsuch',
    "County\u2028name\t2020\nAsh\t3\nElm\t4\n": "County\u2028name",
}


@pytest.mark.parametrize("text", HEADERS)
def test_a_header_may_take_several_lines(text: str, tmp_path: Path) -> None:
    """No phantom row, and the release verifies."""
    (tmp_path / "h.csv").write_bytes(text.encode())
    name = HEADERS[text]
    assert read_frame(tmp_path / "h.csv").to_pydict() == {name: ["Ash", "Elm"], "2020": ["3", "4"]}
    for keys in (None, [name]):
        out = dc.release(dc.read_table(tmp_path / "h.csv", "2020", keys=keys), 5)
        out.save(tmp_path / f"out {keys}")
        found = dc.verify(tmp_path / f"out {keys}")
        assert found.valid and len(out.counts) == 2, found.problems


@pytest.mark.parametrize("names", [("a\nb", "c\r\nd"), ("a\rb", "n"), (" a ", " n "), ("a,b", '"'), ("", "n")])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_any_names_of_columns_can_be_saved(names: tuple[str, str], format: str, tmp_path: Path) -> None:
    frame = pa.table({names[0]: ["Ash", "Elm", "Oak, red"], names[1]: [1, 2, 3]})
    dc.release(dc.table(frame, names[1], keys=[names[0]]), 5).save(tmp_path / "out", format)
    found = dc.verify(tmp_path / "out")
    assert found.valid, found.problems
