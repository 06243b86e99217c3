"""From a file as people lay it out to one row for each count: blank rows and notes left out, columns put below each
other where several hold counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import BadInput, called
from discreet.io.counts import Writing, whole_counts
from discreet.io.frames import file_kind, read_parquet
from discreet.io.key_columns import Keys, key_names, must_have, refuse_no_text
from discreet.io.rows import AS_THEY_COME, RowNames, together
from discreet.numbers import share_of
from discreet.options import listed

Counts = str | Sequence[str] | Mapping[str, Any]  # a column, several, or several with their shares of the budget
OTHER_BOOKS = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")  # that people have tables in
COUNTED, COUNT = "counted", "count"  # columns of a table of several counts: which one, and how many
NOTE = (  # how people begin what they write below a table
    r"(?i)^\W*(sources?|notes?|n\.?b|footnotes?|remarks?|legend|copyright|last updated?|quellen?|anmerkung(en)?|"
    r"hinweise?|stand|source|remarque|fuentes?|notas?|bron)\b|^[*†‡§©¹²³⁴-⁹(\[]"
)
AFTER_BLANKS = "!"  # the first text that does not begin with a space, a line break or the like


@dataclass(frozen=True)
class Arrangement:
    """How a table stands in its file."""

    sheet: str | None = None
    header_row: int | None = None
    wide: str | None = None  # the name of the key that the names of columns are values of
    writing: Writing = Writing()


AS_A_TABLE = Arrangement()


@dataclass(frozen=True, eq=False)
class Read:
    """A file or a frame as it came: its columns, and what its rows are called."""

    frame: Any
    rows: RowNames = AS_THEY_COME
    source: str = "the table"


@dataclass(frozen=True, eq=False)
class Laid:
    """A row for each count: key columns, and the counts, unread."""

    frame: Any
    keys: tuple[str, ...]
    count: str
    rows: RowNames
    shares: tuple[tuple[str, Fraction], ...] = ()  # of columns, where they are not all alike
    times: int = 1  # in so many columns one person may be counted, and so in so many times as many rows
    notes: tuple[int, ...] = ()  # rows that were taken for notes and left out
    writing: Writing = Writing()

    def filtered(self, flags: Any) -> Laid:
        return replace(self, frame=self.frame.filter(flags), rows=self.rows.kept(flags, self.frame.num_rows))

    def counts(self) -> Any:
        """Read now; all that is wrong with them at once, column by column."""
        if self.rows.column_of is None:
            return whole_counts(self.frame.column(self.count), self.count, self.rows, self.writing)
        found, problems = np.zeros(self.frame.num_rows, dtype=np.int64), []
        for place, name in enumerate(self.rows.columns):
            own = self.rows.column_of == place
            part = self.filtered(own)
            try:
                found[own] = whole_counts(part.frame.column(self.count), name, part.rows, self.writing)
            except BadInput as error:
                problems.append(error)
        if problems:
            raise together(problems, "counts were to be read")
        return found


def laid_out(given: Read, count: Counts, keys: Keys, layout: Arrangement = AS_A_TABLE) -> Laid:
    """The table as one row for each count; which columns are meant is looked up, and no count is read."""
    refuse_no_text(given.frame)
    frame, rows = _without_blank_rows(given.frame, given.rows)
    names = [str(name) for name in frame.column_names]
    keys = keys if keys is None or isinstance(keys, str) else [str(key) for key in listed(keys)]
    columns, shares = _count_columns(count, names)
    if layout.wide is None and len(columns) == 1:
        chosen = key_names(frame, columns[0], keys)
        laid = Laid(frame, tuple(chosen), columns[0], rows, writing=layout.writing)
        return _without_notes(laid, columns)
    if keys is None or keys == "all":
        found = "which columns are keys is not said, and every other one would be taken for counts"
        raise BadInput(
            "counts in several columns were to be read",
            found,
            f"Name the key columns with {called('keys', like='A,B')}",
        )
    wanted = listed(keys, (str,))
    columns, titled = _wide_columns(columns, wanted, names, layout.wide)
    if shares and layout.wide is not None:
        found = "in a crosstab one person is in one column only, and each has the whole budget"
        raise BadInput("columns of counts were given shares of their own", found, "Leave the shares out")
    chosen = key_names(frame.drop_columns(columns[1:]), columns[0], wanted)
    laid = _without_notes(Laid(frame, tuple(chosen), columns[0], rows, writing=layout.writing), columns)
    return replace(_below_each_other(laid, columns, layout.wide, titled), shares=shares)


def _count_columns(count: Counts, names: Sequence[str]) -> tuple[list[str], tuple[tuple[str, Fraction], ...]]:
    """The columns that hold counts, and the share of each, unless these are all alike."""
    if isinstance(count, Mapping):
        given = {str(name): None if share is None else share_of(share, name) for name, share in count.items()}
    else:
        words = [str(word) for word in listed(count)] if not isinstance(count, str) else _words(count, names)
        parts = [(word, "", "") if word in names else word.rpartition("@") for word in words]
        given = {name: share_of(share, name) for name, at, share in parts if at}
        named = [name if at else word for word, (name, at, _) in zip(words, parts)]
        if len(set(named)) != len(named):
            raise BadInput("counts in several columns were to be read", "a column is named twice, or none is left")
        given = {name: given.get(name) for name in named}
    return list(given), _shares(given)


def _words(count: str, names: Sequence[str]) -> list[str]:
    """Columns separated by commas; where the name of one has a comma itself, the longest name that there is."""
    if count in names or "," not in count:
        return [count]
    pieces, words = count.split(","), []
    while pieces:
        lengths = range(len(pieces), 0, -1)
        length = next(size for size in lengths if size == 1 or _is_column(",".join(pieces[:size]).strip(), names))
        words.append(",".join(pieces[:length]).strip())
        pieces = pieces[length:]
    return [word for word in words if word] or [count]


def _is_column(word: str, names: Sequence[str]) -> bool:
    name, _, share = word.rpartition("@")
    return word in names or (name in names and "," not in share)


def _shares(given: Mapping[str, Fraction | None]) -> tuple[tuple[str, Fraction], ...]:
    """What is not given away is for the others, in equal parts."""
    if not any(given.values()):
        return ()
    left = 1 - sum((share for share in given.values() if share), Fraction(0))
    others = [name for name in given if not given[name]]
    if left < 0 or (left > 0) != bool(others):
        found = "they do not add up to 1" if not others else "they leave nothing for the other columns"
        do = "Give shares that add up to 1; a column without one has its part of what is left"
        raise BadInput("columns of counts were given shares of the budget", found, do)
    found_all = tuple((name, share or left / len(others)) for name, share in given.items())
    return found_all if len({share for _, share in found_all}) > 1 else ()


def _wide_columns(columns: list[str], keys: list[str], names: list[str], wide: str | None) -> tuple[list[str], str]:
    """The columns that hold counts, and what the counts are called."""
    titled = COUNT
    if wide is not None and len(columns) == 1 and columns[0] not in names:
        titled = columns[0]
        columns = [name for name in names if name not in keys]
    for name in columns:
        must_have(name, names, "count column")
    if len(set(columns)) != len(columns) or not columns:
        raise BadInput("counts in several columns were to be read", "a column is named twice, or none is left")
    _check_made(COUNTED if wide is None else wide, titled, keys)
    return columns, titled


def _check_made(apart: str, titled: str, keys: Sequence[str]) -> None:
    """Columns that are made here have names that can be read, and told from the others in every program."""
    taken = {key.strip().casefold(): key for key in keys}
    for name in (apart, titled):
        asked, same = f"a column {name!r} was to be made", name.strip().casefold()
        if name != name.strip() or not name.isprintable() or not name:
            raise BadInput(asked, "that is no name that can be read", "Choose other names with wide and count")
        if same in taken:
            found = f"{taken[same]!r} is the name of another column, too"
            raise BadInput(asked, found, "Choose other names with wide and count")
        taken[same] = name


def _below_each_other(laid: Laid, columns: list[str], wide: str | None, titled: str) -> Laid:
    """Keys again for every column, the name of the column beside them."""
    import pyarrow as pa

    apart, rows = COUNTED if wide is None else wide, laid.frame.num_rows
    parts = []
    for name in columns:
        part = laid.frame.select(list(laid.keys)).append_column(apart, pa.array([name] * rows, pa.string()))
        parts.append(part.append_column(titled, laid.frame.column(name)))
    try:
        frame = pa.concat_tables(parts)
    except pa.ArrowException:  # one column holds text, another numbers
        cast = [part.set_column(part.num_columns - 1, titled, part.column(titled).cast(pa.string())) for part in parts]
        frame = pa.concat_tables(cast)
    numbered = laid.rows.repeated(columns, rows)
    times = len(columns) if wide is None else 1
    return replace(laid, frame=frame, keys=(*laid.keys, apart), count=titled, rows=numbered, times=times)


def _is_text(frame: Any) -> bool:
    import pyarrow as pa

    return all(pa.types.is_string(kind) for kind in frame.schema.types)


def _blank(frame: Any, names: Sequence[str]) -> Any:
    """Of each row, whether all of these columns are empty; most often one look at the first of them is enough."""
    import pyarrow as pa
    import pyarrow.compute as pc

    empty = np.ones(frame.num_rows, dtype=bool)
    for name in names:
        column = pc.fill_null(frame.column(name), "")
        empty &= pc.less(column, AFTER_BLANKS).to_numpy()
        some = np.flatnonzero(empty)
        if not len(some):
            break
        empty[some] = pc.match_substring_regex(column.take(pa.array(some)), r"^\s*$").to_numpy()
    return empty


def _without_blank_rows(frame: Any, rows: RowNames) -> tuple[Any, RowNames]:
    """Files of text only: elsewhere a row is a row."""
    if not frame.num_columns or not frame.num_rows or not _is_text(frame):
        return frame, rows
    empty = _blank(frame, frame.column_names)
    return (frame.filter(~empty), rows.kept(~empty, frame.num_rows)) if empty.any() else (frame, rows)


def _without_notes(laid: Laid, columns: Sequence[str]) -> Laid:
    """Rows below the table, without any count, that are set apart by a blank row or read like notes."""
    frame, rows = laid.frame, laid.rows
    if frame.num_rows < 2 or not _is_text(frame):
        return laid
    empty = _blank(frame.slice(frame.num_rows - 1), columns)
    if not empty[0]:
        return laid
    empty = _blank(frame, columns)
    start = frame.num_rows - int((~empty[::-1]).argmax()) if not empty.all() else 0
    if start == 0:
        return laid
    texts = [str(cell or "").strip() for cell in frame.slice(start, 1).to_pylist()[0].values()]
    apart = rows.number(start) - rows.number(start - 1) > 1
    if not (apart or re.search(NOTE, next(filter(None, texts)))):
        return laid
    stays = np.arange(frame.num_rows) < start
    notes = tuple(rows.number(row) for row in range(start, frame.num_rows))
    return replace(laid.filtered(stays), notes=notes)


def read_given(path: str | Path, layout: Arrangement = AS_A_TABLE) -> Read:
    """A file as it stands there."""
    from discreet.io.csv_text import read_csv

    path = Path(path)
    if path.is_dir():
        raise BadInput(f"{path} was to be read", "it is a folder")
    kind = file_kind(path)
    if kind == "xlsx":
        from discreet.io.workbooks import read_sheet

        frame, rows, _ = read_sheet(path, layout.sheet, layout.header_row)
        return Read(frame, rows, str(path))
    if layout.sheet is not None or (kind == "parquet" and layout.header_row is not None):
        asked = "sheet" if layout.sheet is not None else "header_row"
        raise BadInput(f"{asked} was given", f"{path} is no workbook", "Leave it out")
    if path.suffix.lower() in OTHER_BOOKS:
        do = "Open it in a spreadsheet program and save it as .xlsx, or as CSV"
        raise BadInput(f"{path} was to be read", f"{path.suffix} is no format that is read here", do)
    if kind == "parquet":
        return Read(read_parquet(path), source=str(path))
    frame, numbering = read_csv(path, layout.header_row)
    return Read(frame, RowNames(numbering), str(path))


def read_frame(path: str | Path) -> Any:
    """A file as an Arrow table. Columns of CSV and of workbooks are text."""
    return read_given(path).frame
