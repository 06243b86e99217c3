"""The parts that are given: which files they are, what their heads say, and what the names of their folders say.

A folder that is named after a value, `county=17`, holds that value of the column for every row in it, and the files
do not. Such values are text unless all of a column are whole numbers.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from discreet.errors import BadInput
from discreet.io.counted import rows_said
from discreet.parts.tasks import MOST_PARTS

SUFFIXES = (".parquet", ".pq")
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # of 64 bits, and written as numbers are: 01001 is a code
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what Spark and Hive call a folder of rows without one
TEXT, NUMBER = "text", "number"


@dataclass(frozen=True)
class FolderNames:
    """Columns whose values stand in the names of folders, below `base`: whether text or a number."""

    base: str = ""
    columns: tuple[tuple[str, str], ...] = ()

    def values(self, file: str) -> dict[str, int | str]:
        said = values_of(Path(file).parent, Path(self.base)) if self.columns else {}
        return {name: int(said[name]) if kind == NUMBER else said[name] for name, kind in self.columns}

    def added(self, frame: Any, file: str) -> Any:
        """The rows of a file with what the names of its folders say of them."""
        import pyarrow as pa

        for place, (name, value) in enumerate(self.values(file).items()):
            kind = pa.int64() if isinstance(value, int) else pa.string()
            column = pa.repeat(pa.scalar(value, kind), frame.num_rows)
            frame = frame.add_column(place, pa.field(name, kind), column)
        return frame


@dataclass(frozen=True)
class Given:
    """Files, in the order of their names, what the names of their folders say, and how many rows there are."""

    files: tuple[str, ...]
    folders: FolderNames
    rows: int
    folder: str | None = None  # where every file is one of them
    counted: int | None = None  # rows of the table that files are said to be of, where one is


def given_parts(parts: Any) -> Given:
    """The parts that a folder, a pattern or a list means; refused if their heads are not alike."""
    asked, base, found = _found(parts)
    if not found:
        raise BadInput(
            asked, "there is no Parquet file", "Name a folder of Parquet files, or a pattern like in/*.parquet"
        )
    for path in found:
        if not path.is_file():
            raise BadInput(asked, f"there is no file {path}")
        if path.suffix.lower() not in SUFFIXES:
            raise BadInput(asked, f"{path} is not a Parquet file", "Write the parts as Parquet")
    if len(found) > MOST_PARTS:
        raise BadInput(asked, f"it has {len(found):,} parts", f"Use {MOST_PARTS:,} at most")
    files = sorted(str(path.absolute()) for path in found)
    folders = FolderNames() if base is None else _folder_names(files, base.absolute(), asked)
    whole = str(base.absolute()) if base is not None and base.is_dir() and base == _path(parts) else None
    rows, counted = _rows(files, folders, asked)
    return Given(tuple(files), folders, rows, whole, counted)


def _path(part: Any) -> Path:
    if not isinstance(part, (str, Path)):
        found = f"a {type(part).__name__} is no name of a file or folder"
        raise BadInput("a table in parts was to be read", found, "Name a folder, a pattern, or a list of files")
    return Path(part)


def _found(parts: Any) -> tuple[str, Path | None, list[Path]]:
    """What was asked for, below which folder names say something, and the files."""
    if isinstance(parts, (list, tuple)):
        return "a table in parts was to be read", None, [_path(one) for one in parts]
    base = _path(parts)
    asked = f"a table in parts was to be read from {parts}"
    if base.is_dir():
        every = (path for path in base.rglob("*") if path.suffix.lower() in SUFFIXES)
        return asked, base, [path for path in every if not _is_hidden(path.relative_to(base))]
    return asked, Path(*_before_marks(base.parts)), [Path(path) for path in glob.glob(str(parts))]


def _before_marks(pieces: Iterable[str]) -> Iterable[str]:
    for piece in pieces:
        if any(mark in piece for mark in "*?["):
            return
        yield piece


def _is_hidden(path: Path) -> bool:
    """What begins with a point or a line is of who writes the data: drafts of tasks, marks of success."""
    return any(piece.startswith((".", "_")) and "=" not in piece for piece in path.parts)


def values_of(folder: Path, base: Path) -> dict[str, str]:
    """What the names of folders say, as text."""
    pieces = [piece.partition("=") for piece in folder.relative_to(base).parts]
    return {unquote(name): unquote(value) for name, mark, value in pieces if mark and name}


def _folder_names(files: list[str], base: Path, asked: str) -> FolderNames:
    said = {folder: values_of(folder, base) for folder in {Path(file).parent for file in files}}
    names = list(next(iter(said.values())))
    found: dict[str, list[str]] = {name: [] for name in names}
    for folder, values in said.items():
        if list(values) != names:
            told = f"{folder} says {', '.join(values) or 'nothing'}, and others say {', '.join(names) or 'nothing'}"
            raise BadInput(asked, f"its folders are named after other columns: {told}", "Name all after the same")
        for name, value in values.items():
            if value in ("", NO_VALUE):
                raise BadInput(asked, f"the folder {folder} has no value of {name}", "Give every row its keys")
            found[name].append(value)
    kinds = ((name, NUMBER if all(map(WHOLE.fullmatch, found[name])) else TEXT) for name in names)
    return FolderNames(str(base), tuple(kinds))


def _rows(files: list[str], folders: FolderNames, asked: str) -> tuple[int, int | None]:
    """As the heads of the files say, whose columns must have the same names in all of them; and of what table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, first = 0, None
    counted: list[int] = []
    for file in files:
        try:
            head = pq.read_metadata(file)
            names = head.schema.to_arrow_schema().names
        except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
            raise BadInput(asked, f"{Path(file).name}: {str(error).splitlines()[0]}") from error
        first = names if first is None else first
        if sorted(names) != sorted(first):
            found = f"{Path(file).name} has {', '.join(names)}, and {Path(files[0]).name} has {', '.join(first)}"
            raise BadInput(asked, found, "Give all parts the same columns")
        rows += head.num_rows
        said = rows_said(head.metadata)
        counted += [] if said is None else [said]
    both = [name for name, _ in folders.columns if name in (first or ())]
    if both:
        found = f"the column {both[0]} stands in the files and in the names of their folders"
        raise BadInput(asked, found, "Leave it out of one of them")
    return rows, min(counted, default=None)
