"""CSV as a release writes it: every table in one way only, so that nothing can be said by how it is written.

UTF-8, commas, a line feed after every row, quotation marks around the cells that need them and no others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from io import RawIOBase
from pathlib import Path
from typing import Any

from discreet.errors import BadInput, Damaged
from discreet.io.columns import all_as_texts
from discreet.io.csv_text import arrow_text, header_of, owned_by_arrow

NEEDS_QUOTES = r'[",\r\n]'
BATCH = 1 << 16  # rows that are written at a time


def write_csv(target: Any, frame: Any) -> None:
    """To something that can be written to."""
    target.write(header_line(frame.column_names))
    for piece in _rows(frame):
        target.write(piece)


def read_written(content: bytes, name: str, columns: Sequence[str]) -> Any:
    """The table in a file of a release: text columns; refused if it has others than these, or is written otherwise."""
    head = header_line(columns)
    if not content.startswith(head):
        raise Damaged(name, "its columns are not those of the schema")
    try:
        held = owned_by_arrow(content)
        frame = arrow_text(held, list(columns), Path(name), skipped=header_of(head.decode())[1])
    except BadInput as error:
        raise Damaged(name, str(error)) from error
    if not _is_written(frame, content, len(head)):
        raise Damaged(name, "it is written in another way than releases are")
    return frame


def header_line(names: Sequence[str]) -> bytes:
    return (",".join(map(_quoted, names)) + "\n").encode()


def _quoted(name: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    return quoted if name == "" or any(mark in name for mark in '",\r\n') else name


def _is_written(frame: Any, content: bytes, start: int) -> bool:
    """Whether writing the rows again gives the same bytes."""
    import pyarrow as pa

    there = pa.py_buffer(content)
    for piece in _rows(frame):
        if start + piece.size > there.size or not there.slice(start, piece.size).equals(piece):
            return False
        start += piece.size
    return bool(start == there.size)


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
