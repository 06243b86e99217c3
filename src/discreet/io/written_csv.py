"""CSV as a release writes it: every table in one way only, so that nothing can be said by how it is written.

UTF-8, commas, a line feed after every row, quotation marks around the cells that need them and no others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from io import RawIOBase
from pathlib import Path
from typing import Any

from discreet.errors import Damaged
from discreet.io.columns import (
    UNUSUAL,
    SameAs,
    WholeNumbers,
    all_as_texts,
    as_texts,
    most_rows,
    numbers_in,
    stacked_columns,
    text_columns,
)
from discreet.io.csv_text import batches_of_text, owned_by_arrow, ragged

NEEDS_QUOTES = r'[",\r\n]'
BATCH = 1 << 16  # rows that are written at a time
PIECE = 1 << 20  # bytes that are read at a time
TRIES = 100  # ends of lines that may be inside of quotation marks, before all that is left is read at once
OTHERWISE = "it is written in another way than releases are"


def write_csv(target: Any, frame: Any) -> None:
    """To something that can be written to."""
    target.write(header_line(frame.column_names))
    for piece in _rows(frame):
        target.write(piece)


def read_written(content: bytes, name: str, columns: Sequence[str], count: str, like: Any = None) -> Any:
    """The table in a file of a release: text columns, and counts; refused if it has others than these, or is written
    otherwise. Columns that are those of another table (`like`) are not held twice."""
    head = header_line(columns)
    if not content.startswith(head):
        raise Damaged(name, "its columns are not those of the schema")
    into = text_columns(len(content), columns)
    into[count] = WholeNumbers(most_rows(len(content), columns))
    for one in () if like is None else like.column_names:
        into[one] = SameAs(like.column(one), into[one])
    return stacked_columns(_batches(content, len(head), name, columns, count), into)


def _batches(content: bytes, start: int, name: str, columns: Sequence[str], count: str) -> Iterator[Any]:
    """Some rows at a time, counts as numbers, if writing these again gives the same bytes."""
    import pyarrow as pa

    there, place = pa.py_buffer(content), columns.index(count)
    try:
        for end in _cuts(content, start):
            for batch in batches_of_text(owned_by_arrow(memoryview(content)[start:end]), columns):
                given = batch.column(place)
                found = batch.set_column(place, count, numbers_in(given, count))
                again = _batch(all_as_texts(found))
                if not there.slice(start, min(again.size, there.size - start)).equals(again):
                    unusual = not as_texts(found.column(place)).equals(given)
                    raise Damaged(count, UNUSUAL) if unusual else Damaged(name, OTHERWISE)
                start += again.size
                yield found
            if start != end:
                raise Damaged(name, OTHERWISE)
    except pa.ArrowInvalid:
        wrong = ragged(content, columns, ",", Path(name))
        raise Damaged(name, str(wrong)) from wrong


def _cuts(content: bytes, start: int) -> Iterator[int]:
    """Where pieces end that are not long. A cut at a wrong place is found out: every piece has to be written as it
    is."""
    while start < len(content):
        start = _cut(content, start)
        yield start


def _cut(content: bytes, start: int) -> int:
    """The end of a line, outside of quotation marks; or of all, where none is found soon."""
    end = start + PIECE
    marks = content.count(b'"', start, end)
    for _ in range(TRIES) if end < len(content) else ():
        before = content.rfind(b"\n", start, end - 1) + 1
        if not before:
            break
        marks -= content.count(b'"', before, end)
        if marks % 2 == 0:
            return before
        end = before
    return len(content)


def header_line(names: Sequence[str]) -> bytes:
    return (",".join(map(_quoted, names)) + "\n").encode()


def _quoted(name: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    return quoted if name == "" or any(mark in name for mark in '",\r\n') else name


def _rows(frame: Any) -> Iterator[Any]:
    """The rows as Arrow buffers."""
    return (_batch(all_as_texts(batch)) for batch in frame.to_batches(BATCH))


def _batch(texts: Any) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    out = pa.BufferOutputStream()
    try:
        how = arrow_csv.WriteOptions(include_header=False, quoting_style="none", batch_size=BATCH)
        arrow_csv.write_csv(texts, out, how)
    except pa.ArrowInvalid:  # a cell needs quotation marks; which cells get them must not depend on Arrow's version
        return _joined(texts)
    return out.getvalue()


def _joined(texts: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    lines = pc.binary_join_element_wise(*map(_cells, texts.columns), ",").combine_chunks()
    whole = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines), "\n")
    return pa.py_buffer(whole[0].as_buffer().to_pybytes() + b"\n")


def _cells(column: Any) -> Any:
    """The cells of a column of text as they are written."""
    import pyarrow.compute as pc

    text = pc.fill_null(column, "")
    needed = pc.match_substring_regex(text, NEEDS_QUOTES)
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
    return pc.if_else(needed, quoted, text)


class Hashed(RawIOBase):
    """A file, and the sha256 of what was written to it."""

    def __init__(self, file: Any) -> None:
        self._file, self._hash, self._size = file, hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        view = memoryview(content).cast("B")
        self._hash.update(view)
        self._file.write(view)
        self._size += len(view)
        return len(view)

    def tell(self) -> int:
        return self._size

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()


def written(path: Path, write: Callable[..., object], *what: Any) -> str:
    """The digest of a file that something is written to."""
    with path.open("wb") as file:
        hashed = Hashed(file)
        write(hashed, *what)
    return hashed.digest


def write_text(target: Any, text: str) -> None:
    target.write(text.encode())
