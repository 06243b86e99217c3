"""CSV as it comes: any common delimiter, encoding and byte-order mark, compressed or not. Every column stays text."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from discreet.errors import BadInput
from discreet.io.columns import stacked_columns, text_columns
from discreet.io.rows import NAMED
from discreet.io.unpacked import expands, most_unpacked

STRAY = 'Look for a quotation mark (") that is not closed'
DELIMITERS = ",;\t|"
GZIP = b"\x1f\x8b"
PIECE = 1 << 24  # bytes that are unpacked at a time
MOST_COLUMNS = 1 << 14  # as many as a spreadsheet has
HEAD = 1 << 16  # bytes that hold any usual header
LONGEST_LINE = 1 << 24  # letters of a line that is looked at for what is wrong with it
LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")  # as Arrow has it: no other mark ends one
LINE_BYTES, EMPTY_LINES = re.compile(rb"[^\r\n]*(?:\r\n?|\n|\Z)"), re.compile(rb"[\r\n]*")
LINE_END = re.compile(rb"\r\n?|\n")
BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

WINDOWS = {  # cp1252; its five bytes without a meaning stay five different letters
    byte: bytes([byte]).decode("cp1252") for byte in range(0x80, 0xA0) if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}


def read_csv(path: Path, header_row: int | None = None) -> tuple[Any, CsvRows]:
    """An Arrow table of text columns, and what its rows are called. Arrow reads the file; Python looks at its head
    alone, if it is UTF-8."""
    whole = _in_utf8(_content(path), path)
    begun = {mark: _from_header(whole, header_row, mark) for mark in DELIMITERS}
    begun = {mark: found for mark, found in begun.items() if found[0].size} or begun
    heads = {mark: _head(content, path) for mark, (content, _) in begun.items()}
    try:
        delimiter = max(heads, key=lambda mark: (_width(heads[mark], mark), -begun[mark][0].size))
        header, lines = header_of(heads[delimiter], delimiter)
    except csv.Error as error:
        raise BadInput(f"{path} was to be read", "its first line holds no column names", STRAY) from error
    header = [re.sub("\r\n?", "\n", name.strip()) for name in header]
    _check_header(header, path)
    content, first = begun[delimiter]
    frame = arrow_text(content, header, path, delimiter=delimiter, skipped=lines, first=first)
    return frame, CsvRows(path, header_row, delimiter)


@dataclass(frozen=True)
class CsvRows:
    """The rows of a file as a spreadsheet numbers them: with the header, what stands before it, and blank lines. They
    are counted when somebody asks, which is where something is wrong with one."""

    path: Path
    header_row: int | None
    delimiter: str

    def number(self, place: int) -> int:
        found = self._numbers
        return found[place] if place < len(found) else (self.header_row or 1) + 1 + place

    @cached_property
    def _numbers(self) -> Sequence[int]:
        """Of the rows below the header, as far as Python can read them."""
        found = array("q")
        try:
            whole = _in_utf8(_content(self.path), self.path)
            content, first = _from_header(whole, self.header_row, self.delimiter)
            found.extend(number for number, row in enumerate(_records(content, self.delimiter), start=first) if row)
        except (csv.Error, BadInput):
            pass
        return found[1:]


def header_of(text: str, delimiter: str = ",") -> tuple[list[str], int]:
    """The first row, and how many lines it takes: a name in quotation marks may hold line breaks."""
    reader = csv.reader(_lines(text), delimiter=delimiter)
    return next(reader), reader.line_num


def _width(text: str, delimiter: str) -> int:
    """Names in the first row; what takes all of a long one for a single name is not its delimiter."""
    try:
        return len(header_of(text, delimiter)[0])
    except csv.Error:
        return 0


def _lines(text: str) -> Iterator[str]:
    return (found[0] for found in LINE.finditer(text))


def _content(path: Path) -> Any:
    """The file in memory of Arrow, unpacked."""
    import pyarrow as pa

    try:
        with pa.OSFile(str(path)) as file:
            if file.read(2) != GZIP:
                file.seek(0)
                return file.read_buffer()
        return _unpacked(path)
    except (OSError, pa.ArrowException) as error:
        found = str(error).splitlines()[0] if error.args else type(error).__name__
        raise BadInput(f"{path} was to be read", os.strerror(error.errno) if error.errno else found) from error


def _unpacked(path: Path) -> Any:
    """Piece by piece, as far as it may expand."""
    import pyarrow as pa

    most, out = most_unpacked(path.stat().st_size), pa.BufferOutputStream()
    with pa.OSFile(str(path)) as file, pa.CompressedInputStream(file, "gzip") as stream:
        while piece := stream.read(PIECE):
            out.write(piece)
            if out.tell() > most:
                raise expands(path)
    return out.getvalue()


def _in_utf8(content: Any, path: Path) -> Any:
    """UTF-8 without a byte-order mark."""
    import pyarrow as pa

    first = content.slice(0, min(content.size, 4)).to_pybytes()
    encoding = next((name for mark, name in BYTE_ORDER_MARKS.items() if first.startswith(mark)), "utf-8")
    if encoding == "utf-16" or not _is_utf8(content):
        content = pa.py_buffer(_decoded(content.to_pybytes(), encoding).encode())
        content = owned_by_arrow(content)
    elif encoding == "utf-8-sig":
        content = content.slice(len(codecs.BOM_UTF8))
    if content.size and _has_zero(content):
        raise BadInput(f"{path} was to be read as CSV", "it is not a text file", "Give a CSV, CSV.gz or Parquet file")
    return content


def _from_header(content: Any, header_row: int | None, delimiter: str) -> tuple[Any, int]:
    """Without what stands before the header, blank lines or as many rows as was said; and the row of the header. It
    depends on the delimiter where a cell of those rows holds line breaks."""
    if header_row is None:
        blank = EMPTY_LINES.match(content).end()  # type: ignore[union-attr]
        return content.slice(blank), 1 + len(LINE_END.findall(content.slice(0, blank)))
    lines = (found[0] for found in LINE_BYTES.finditer(content))
    rows = csv.reader((line.decode(errors="replace") for line in lines), delimiter=delimiter)
    try:
        deque(islice(rows, header_row - 1), maxlen=0)
    except csv.Error:
        return content.slice(content.size), header_row
    ends = [one.end() for one in islice(LINE_BYTES.finditer(content), rows.line_num)]
    return content.slice(ends[-1] if ends else 0), header_row


def _is_utf8(content: Any) -> bool:
    import pyarrow as pa

    ends = pa.array([0, content.size], pa.int64()).buffers()[1]
    try:
        pa.LargeStringArray.from_buffers(1, ends, content).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _has_zero(content: Any) -> bool:
    import numpy as np

    return not np.frombuffer(content, np.uint8).all()


def _decoded(raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        return raw.decode("latin-1").translate(WINDOWS)


def _head(content: Any, path: Path) -> str:
    """The beginning of the text, as much of it as holds the header; everything, where that is long."""
    for size in (HEAD, content.size):
        text: str = content.slice(0, min(content.size, size)).to_pybytes().decode(errors="ignore")
        whole = size >= content.size
        if whole and (not text or text.isspace()):
            raise BadInput(f"{path} was to be read", "the file is empty")
        if whole or all(_ends_early(text, mark) for mark in DELIMITERS):
            return text
    raise AssertionError("the whole text is its own beginning")


def _ends_early(text: str, delimiter: str) -> bool:
    """Whether the first row ends before the text does."""
    try:
        lines = header_of(text, delimiter)[1]
    except (csv.Error, StopIteration):
        return False
    return sum(len(line) for line in islice(_lines(text), lines)) < len(text)


def _check_header(header: list[str], path: Path) -> None:
    if len(header) > MOST_COLUMNS:
        found = f"its first line has {len(header):,} names; {MOST_COLUMNS:,} columns are the most"
        raise BadInput(f"{path} was to be read", found, "Keep the columns that are keys or counts")
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise BadInput(
                f"{path} was to be read", f"the column name {name!r} stands twice in the header", column=name
            )
        seen.add(name)


def arrow_text(
    content: Any, header: list[str], path: Path, *, delimiter: str = ",", skipped: int, first: int = 1
) -> Any:
    """Every column as text, out of a buffer of Arrow's; as many lines as the header takes are skipped, and it is row
    `first` of the file."""
    import pyarrow as pa

    try:
        batches = batches_of_text(content, header, delimiter=delimiter, skipped=skipped)
        return stacked_columns(batches, text_columns(content.size, header))
    except pa.ArrowInvalid:  # its message may quote the file, which is secret
        raise ragged(content.to_pybytes(), header, delimiter, path, first) from None


def batches_of_text(content: Any, header: Sequence[str], *, delimiter: str = ",", skipped: int = 0) -> Any:
    """Some rows at a time, and by one thread: rows that may hold line breaks are found one after the other, and more
    threads take twice the time of processors, most of it for memory, and no less by the clock."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    how = (
        arrow_csv.ReadOptions(column_names=header, skip_rows=skipped, use_threads=False),
        arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        arrow_csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False),
    )
    return arrow_csv.open_csv(pa.BufferReader(content), *how)


def owned_by_arrow(content: Any) -> Any:
    """A copy outside Python: a thread of Arrow that lets go of Python's memory while Python ends aborts the process."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    sink.write(content)
    return sink.getvalue()


def _records(content: bytes, delimiter: str) -> Iterator[list[str]]:
    """Row by row, blank ones too."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", errors="replace", newline=None)
    return csv.reader(iter(lambda: _short_line(text), ""), delimiter=delimiter)


def _short_line(text: io.TextIOBase) -> str:
    line = text.readline(LONGEST_LINE)
    if len(line) == LONGEST_LINE:
        raise csv.Error("a line without an end")
    return line


def ragged(content: bytes, header: Sequence[str], delimiter: str, path: Path, first: int = 1) -> BadInput:
    """Name the rows with too many or too few cells, and none of their contents; the header is row `first`."""
    asked, number, wrong = f"{path} was to be read", first - 1, list[tuple[int, int]]()
    try:
        for number, row in enumerate(_records(content, delimiter), start=first):
            if number > first and row and len(row) != len(header):
                wrong.append((number, len(row)))
    except csv.Error:
        return BadInput(asked, f"row {number + 1} has no end", STRAY, row=number + 1)
    if not wrong:
        return BadInput(asked, "some rows have more or fewer cells than the header")
    told = [f"row {number} has {cells} cells where the header has {len(header)}" for number, cells in wrong[:NAMED]]
    told += [f"and {len(wrong) - NAMED:,} more"] if len(wrong) > NAMED else []
    return BadInput(
        asked, "; ".join(told), f"Give every row as many cells as there are names. {STRAY}", row=wrong[0][0]
    )
