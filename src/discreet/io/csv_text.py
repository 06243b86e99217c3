"""CSV as it comes: any common delimiter, encoding and byte-order mark, compressed or not. Every column stays text."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.errors import BadInput

STRAY = 'Look for a quotation mark (") that is not closed'
DELIMITERS = ",;\t|"
LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")  # as Arrow has it: no other mark ends one
BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

WINDOWS = {  # cp1252; its five bytes without a meaning stay five different letters
    byte: bytes([byte]).decode("cp1252") for byte in range(0x80, 0xA0) if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}


def read_csv(path: Path) -> Any:
    """An Arrow table of text columns."""
    text = _decoded(_raw(path), path).lstrip("\r\n")
    if not text or text.isspace():
        raise BadInput(f"{path} was to be read", "the file is empty")
    try:
        delimiter = max(DELIMITERS, key=lambda mark: len(header_of(text, mark)[0]))
        header, lines = header_of(text, delimiter)
    except csv.Error as error:
        raise BadInput(f"{path} was to be read", "its first line holds no column names", STRAY) from error
    header = [re.sub("\r\n?", "\n", name.strip()) for name in header]
    _check_header(header, path)
    return arrow_text(text.encode(), header, path, delimiter=delimiter, skipped=lines)


def header_of(text: str, delimiter: str = ",") -> tuple[list[str], int]:
    """The first row, and how many lines it takes: a name in quotation marks may hold line breaks."""
    reader = csv.reader(_lines(text), delimiter=delimiter)
    return next(reader), reader.line_num


def _lines(text: str) -> Iterator[str]:
    return (found[0] for found in LINE.finditer(text))


def _raw(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{path} was to be read", getattr(error, "strerror", None) or str(error)) from error


def _decoded(raw: bytes, path: Path) -> str:
    encoding = next((name for mark, name in BYTE_ORDER_MARKS.items() if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        text = raw.decode("latin-1").translate(WINDOWS)
    if "\0" in text:
        raise BadInput(f"{path} was to be read as CSV", "it is not a text file", "Give a CSV, CSV.gz or Parquet file")
    return text


def _check_header(header: list[str], path: Path) -> None:
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise BadInput(
                f"{path} was to be read", f"the column name {name!r} stands twice in the header", column=name
            )
        seen.add(name)


def arrow_text(content: bytes, header: list[str], path: Path, *, delimiter: str = ",", skipped: int) -> Any:
    """Every column as text; as many lines as the header takes are skipped."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    try:
        return arrow_csv.read_csv(
            pa.BufferReader(_owned_by_arrow(content)),
            arrow_csv.ReadOptions(column_names=header, skip_rows=skipped),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False),
        )
    except pa.ArrowInvalid:  # its message may quote the file, which is secret
        raise _ragged(content, header, delimiter, path) from None


def _owned_by_arrow(content: bytes) -> Any:
    """A copy outside Python: a thread of Arrow that lets go of Python's memory while Python ends aborts the process."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    sink.write(content)
    return sink.getvalue()


def _ragged(content: bytes, header: list[str], delimiter: str, path: Path) -> BadInput:
    """Name the first row with too many or too few cells, and none of its contents."""
    rows = csv.reader(io.StringIO(content.decode(errors="replace"), newline=None), delimiter=delimiter)
    number = -1  # the header
    try:
        for number, row in enumerate(rows):
            if number and row and len(row) != len(header):
                found = f"row {number} has {len(row)} cells where the header has {len(header)}"
                return BadInput(f"{path} was to be read", found, row=number)
    except csv.Error:
        found = f"row {number + 1} has no end"
        return BadInput(
            f"{path} was to be read", found, 'Look for a quotation mark (") that is not closed', row=number + 1
        )
    return BadInput(f"{path} was to be read", "some rows have more or fewer cells than the header")
