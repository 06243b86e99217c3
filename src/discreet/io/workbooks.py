"""A sheet of a workbook as text columns. What is shown counts, not how: cells that are computed are taken as saved."""

from __future__ import annotations

import datetime
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import BadInput, MissingExtra, called, choose
from discreet.io.rows import NAMED, UNSAVED, Listed, RowNames
from discreet.io.unpacked import expands, most_unpacked
from discreet.io.written_xlsx import SHEETS

LARGEST = 2 << 30  # bytes that a workbook may unpack to: the largest sheet, filled, takes half of it
MOST_PARTS = 10_000  # of a workbook: sheets, pictures, styles
MOST_BLANK = 20_000_000  # empty cells before others in their rows: a sheet has a few far to the right by mistake
MOST_ROWS = 1 << 20  # of a sheet: its last is row 1,048,576
SAVE_ALONE = "Save the sheet alone, or as CSV"
LOOKED_AT = 50  # rows in which the header is looked for
FORMULA = re.compile(rb"<(\w+:)?f[\s>/]")  # in a sheet's XML
Cells = list[str | None]  # of a row; None: empty


@dataclass(frozen=True)
class SheetRow:
    """A row of a sheet that is not empty."""

    number: int
    cells: Cells


def sheet_names(path: Path) -> tuple[str, ...]:
    """The sheets that can be seen and hold cells, in their order."""
    with _Opened(path) as book:
        return tuple(sheet.title for sheet in _shown(book))


def read_sheet(path: Path, sheet: str | None = None, header_row: int | None = None) -> tuple[Any, RowNames, int]:
    """An Arrow table of text columns, the numbers of its rows, and that of the header."""
    with _Opened(path) as book:
        chosen = _chosen(book, sheet, path)
        title, rows = chosen.title, list(_filled(chosen))
    if _has_formulas(path):
        rows = _with_unsaved(rows, path, title)
    if not rows:
        raise BadInput(f"{path} was to be read", "the sheet is empty")
    header = _header(rows, header_row, path)
    below = [row for row in rows if row.number > header.number]
    names = _names(header, below, path)
    frame = _frame(names, below)
    return frame, RowNames(Listed(np.array([row.number for row in below], dtype=np.int64))), header.number


def _has_formulas(path: Path) -> bool:
    """Looked for in the bytes: few sheets have any, and to read a sheet twice takes twice the time."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                with archive.open(name) as sheet:
                    if any(FORMULA.search(line) for line in iter(lambda: sheet.read(1 << 20), b"")):
                        return True
    return False


def _with_unsaved(rows: list[SheetRow], path: Path, title: str) -> list[SheetRow]:
    """With a mark in every cell that is computed and whose value was never saved: it looks empty, and is not."""
    cells = {row.number: row.cells for row in rows}
    with _Opened(path) as saved, _Opened(path, values=False) as made:
        sheets = [next(one for one in book.worksheets if one.title == title) for book in (saved, made)]
        for sheet in sheets:
            sheet.reset_dimensions()
        for number, (values, formulas) in enumerate(zip(*(sheet.iter_rows() for sheet in sheets)), start=1):
            for place, (value, formula) in enumerate(zip(values, formulas)):
                if formula.data_type == "f" and value.value is None and value.data_type == "n":  # not an empty text
                    known = cells.setdefault(number, [])
                    known += [None] * (place + 1 - len(known))
                    known[place] = UNSAVED
    return [SheetRow(number, cells[number]) for number in sorted(cells)]


class _Opened:
    """A workbook that is closed again; what is wrong with one comes out as almost any error there is."""

    def __init__(self, path: Path, values: bool = True) -> None:
        self.path, self.values = path, values

    def __enter__(self) -> Any:
        _require_small(self.path)
        try:
            import openpyxl
        except ImportError as error:
            raise MissingExtra(
                f"{self.path} was to be read", "openpyxl is not installed", "Run: pip install 'discreet[excel]'"
            ) from error
        # they quote cells, and what they say is of no use to whoever reads a table
        warnings.filterwarnings("ignore", category=UserWarning, module=r"openpyxl\.")
        try:
            self.book = openpyxl.load_workbook(self.path, read_only=True, data_only=self.values, keep_links=False)
        except Exception:  # its message may quote the file, which is secret
            raise _unreadable(self.path) from None
        return self.book

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.book.close()
        if error is not None and not isinstance(error, BadInput) and isinstance(error, Exception):
            raise _unreadable(self.path) from None


def _unreadable(path: Path) -> BadInput:
    do = "Open it in a spreadsheet program and save it as .xlsx, without a password; or save it as CSV"
    return BadInput(f"{path} was to be read", "it is not a workbook that can be read", do)


def _require_small(path: Path) -> None:
    """What it would unpack to is looked at before it is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except OSError as error:
        raise BadInput(f"{path} was to be read", error.strerror or str(error)) from error
    except Exception:
        raise _unreadable(path) from None
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_PARTS or unpacked > LARGEST:
        found = f"it would unpack to more than {LARGEST >> 30} GiB, or has more than {MOST_PARTS:,} parts"
        raise BadInput(f"{path} was to be read", found, SAVE_ALONE)
    if unpacked > most_unpacked(path.stat().st_size):
        raise expands(path, SAVE_ALONE)


def _shown(book: Any) -> list[Any]:
    visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    return [sheet for sheet in visible if next(_filled(sheet), None) is not None] if len(visible) > 1 else visible


def _chosen(book: Any, sheet: str | None, path: Path) -> Any:
    """The sheet that is named, hidden or not; else the only one that there is to see."""
    if sheet is not None:
        names = [one.title for one in book.worksheets]
        return book.worksheets[names.index(choose(sheet, names, "sheet"))]
    shown = _shown(book)
    if tuple(one.title for one in shown) == SHEETS:  # a release: intervals are no counts
        return shown[0]
    if len(shown) != 1:
        names = [one.title for one in shown]
        found = f"it has {len(shown)} sheets: {', '.join(map(repr, names))}" if shown else "it has no sheet to be seen"
        raise BadInput(
            f"{path} was to be read", found, f"Say which with {called('sheet', like='NAME')}", sheets=tuple(names)
        )
    return shown[0]


def _filled(sheet: Any) -> Iterator[SheetRow]:
    """The rows that hold anything."""
    sheet.reset_dimensions()  # what a file says of its size may be wrong
    blank = 0
    for number, row in enumerate(sheet.iter_rows(), start=1):
        cells = [_text(cell) for cell in row]
        filled = len(cells) - cells.count(None)
        blank += len(cells) - filled
        if number > MOST_ROWS or blank > MOST_BLANK:
            raise _too_wide(sheet.title, number, len(cells))
        if filled:
            yield SheetRow(number, cells)


def _too_wide(title: str, number: int, width: int) -> BadInput:
    far = f", up to the column {_letters(width - 1)}" if width else ""
    found = f"it goes on beyond row {number - 1:,}{far}, and nearly all of it is empty"
    do = "Delete what stands far to the right of the table or far below it, or save the table alone"
    return BadInput(f"the sheet {title!r} was to be read", found, do)


def _text(cell: Any) -> str | None:
    """A cell as a person sees it: whole numbers without a point, codes with the zeros before them, shares in percent,
    dates as ISO."""
    value = cell.value
    if value is None:
        return None
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float) and "%" in str(cell.number_format):
        return f"{100 * value:g}%"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:  # beyond it a sheet is not exact
        value = int(value)
    if isinstance(value, int) and re.fullmatch("0+", str(cell.number_format)):
        return f"{value:0{len(cell.number_format)}d}"
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    return str(value).strip() or None


def _header(rows: Sequence[SheetRow], asked: int | None, path: Path) -> SheetRow:
    if asked is None:
        return likely_header(rows[:LOOKED_AT])
    found = next((row for row in rows if row.number == asked), None)
    if found is None:
        raise BadInput(f"row {asked} was to be the header of {path}", "it is empty", "Name the row of column names")
    return found


def likely_header(rows: Sequence[SheetRow]) -> SheetRow:
    """The first row that is about as wide as the table: a title stands in one cell."""
    widest = max(_width(row) for row in rows)
    return next(row for row in rows if _width(row) >= max(widest / 2, min(2, widest)))


def _width(row: SheetRow) -> int:
    return sum(cell is not None for cell in row.cells)


def _names(header: SheetRow, below: Sequence[SheetRow], path: Path) -> list[tuple[int, str]]:
    """Place and name of every column; all that is wrong with them at once."""
    width = max(len(row.cells) for row in (header, *below))
    titles = [" ".join(cell.split()) if cell else "" for cell in header.cells] + [""] * (width - len(header.cells))
    used = [any(place < len(row.cells) and row.cells[place] is not None for row in below) for place in range(width)]
    unnamed = [_letters(place) for place in range(width) if used[place] and not titles[place]]
    names = [(place, title) for place, title in enumerate(titles) if title]
    seen = [title for _, title in names]
    twice = sorted({title for title in seen if seen.count(title) > 1})
    problems = [f"the column {letters} has no name in row {header.number}" for letters in unnamed[:NAMED]]
    computed = [_letters(place) for place, title in names if title == UNSAVED]
    problems += [f"the name of the column {one} is a formula, and its value is not in the file" for one in computed]
    problems += [
        f"the column name {title!r} stands twice in row {header.number}" for title in twice[:NAMED] if title != UNSAVED
    ]
    if problems:
        do = (
            "Give every column a name of its own; where the names stand in another row, say which with "
            f"{called('header_row', like='N')}"
        )
        raise BadInput(f"{path} was to be read", "; ".join(problems), do, header_row=header.number)
    if not below:
        raise BadInput(f"{path} was to be read", f"there is no row below row {header.number}, which has the names")
    return names


def _letters(place: int) -> str:
    """What a spreadsheet calls its column."""
    text = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def _frame(names: Sequence[tuple[int, str]], below: Sequence[SheetRow]) -> Any:
    import pyarrow as pa

    columns = {
        name: pa.array([row.cells[place] if place < len(row.cells) else None for row in below], pa.string())
        for place, name in names
    }
    return pa.table(columns)
