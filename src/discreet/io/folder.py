"""The release folder: it appears whole or not at all, and is read once."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.arrays import Integers
from discreet.errors import BadInput, choose
from discreet.io import RECORD, REPORT
from discreet.io.bounded import bounded_parquet
from discreet.io.formulas import escaped, formula_remarks, is_escaped, unescaped
from discreet.io.tables import arrow_frame, file_kind, frame_of
from discreet.record.codec import Damaged
from discreet.record.release import (
    Measurements,
    Publication,
    PublishedTable,
    ReleaseRecord,
    mark_of,
    parse,
    read_record,
    seal_of,
    write_record,
)  # fmt: skip
from discreet.report import render, rendered_by

if TYPE_CHECKING:
    from discreet.release import Release

FORMATS = ("csv", "parquet")
OURS = {REPORT, *(f"{name}.{suffix}" for name in ("table", "measurements") for suffix in FORMATS)}  # beside the record
# what a stranger's folder may cost whoever checks it
LARGEST_RECORD = 256 << 20  # bytes: a distribution over a million counts, with its map, takes a third of it
LARGEST_REPORT = 64 << 20  # bytes: ours have less than one hundredth of it
LARGEST_TABLE = 1 << 30  # bytes: some thirty million rows
LONGEST_ROW = 1 << 16  # bytes on average: no key is a book
WHOLE = r"^(0|-?[1-9][0-9]*)$"  # how a CSV file of ours has its counts
MOST_FILES = 100  # names that are looked at: a release has five or so


@dataclass(frozen=True)
class Place:
    """Where a release will be: a folder beside it, made already, that takes its name once it is full."""

    target: Path
    part: Path


@contextmanager
def place_for(folder: str | Path) -> Iterator[Place]:
    """Prove that a release can be saved there by making the folder it is written into, before anything is spent."""
    import shutil
    import tempfile

    target = free_target(folder)
    try:
        part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    except OSError as error:
        raise _cannot_be_saved(target, error) from error
    try:
        _try_to_move(target, part.with_suffix(".old"))
        yield Place(target, part)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _try_to_move(target: Path, aside: Path) -> None:
    """An empty folder makes room once the release is full: what cannot be moved away now cannot be then."""
    try:
        if target.exists():
            target.rename(aside)
            aside.rename(target)
    except OSError as error:
        raise _cannot_be_saved(target, error) from error


def save(release: Release, folder: str | Path | Place, format: str | None = None, excel_safe: bool = False) -> str:
    """Write table, measurements, report and release.json; returns the digest of release.json."""
    if not isinstance(folder, Place):
        with place_for(folder) as place:
            return save(release, place, format, excel_safe)
    suffix = check_format(format) or ("parquet" if release.kind == "parquet" else "csv")
    try:
        digest = _fill(folder.part, release, suffix, excel_safe)
        folder.part.chmod(0o755)
        if folder.target.exists():
            folder.target.rmdir()
        folder.part.rename(folder.target)
        return digest
    except OSError as error:
        raise _cannot_be_saved(folder.target, error) from error


def _cannot_be_saved(target: Path, error: OSError) -> BadInput:
    return BadInput(f"the release was to be saved in {target}", error.strerror or str(error))


def check_format(format: str | None) -> str | None:
    return None if format is None else choose(format, FORMATS, "format")


def free_target(folder: str | Path) -> Path:
    """The folder, if a release can be put there; to be called before any budget is spent."""
    target = Path(folder).absolute()
    if target.is_symlink():
        found = "that is a link, which a folder cannot take the place of"
        raise BadInput(
            f"the release was to be saved in {folder}", found, "Name the folder that it leads to, or a new one"
        )
    if os.path.ismount(target):
        found = "something is mounted there, which a folder cannot take the place of"
        raise BadInput(f"the release was to be saved in {folder}", found, "Name a new folder inside it")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BadInput(f"the release was to be saved in {folder}", "that is there already", "Name a new folder")
    parent = target.parent
    if not parent.is_dir():
        raise BadInput(f"the release was to be saved in {folder}", f"there is no folder {parent}", "Make it first")
    if not os.access(parent, os.W_OK):
        raise BadInput(f"the release was to be saved in {folder}", f"the folder {parent} is not writable")
    return target


def _fill(part: Path, release: Release, suffix: str, excel_safe: bool) -> str:
    """Every file, the record last: it holds the digests of the others."""
    publication, schema = _named(release.publication, suffix, excel_safe), release.schema
    (table,) = publication.record.tables
    if is_escaped(table.remarks):
        schema = replace(schema, categories=escaped(schema.categories, suffix))
    write_frame(part / table.file, arrow_frame(schema, publication.counts), suffix)
    for one in table.measurements:
        assert publication.measured is not None
        write_frame(part / one.file, arrow_frame(schema, publication.measured), suffix)
    (part / REPORT).write_text(render(publication), encoding="utf-8")
    digests = {path.name: sha256(path) for path in sorted(part.iterdir())}
    mark = mark_of(publication.record.private, digests[table.file])
    content = write_record(replace(publication.record, digests=digests, mark=mark)).encode()
    (part / RECORD).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def _named(publication: Publication[Any], suffix: str, excel_safe: bool) -> Publication[Any]:
    """The record with the names of its files, how their keys are written, and what renders the report."""
    (table,) = publication.record.tables
    remarks = formula_remarks(publication.categories, suffix, excel_safe)
    file, measured = _names(suffix, publication.measured is not None)
    tables = (replace(table, file=file, measurements=measured, remarks=remarks),)
    return replace(publication, record=replace(publication.record, tables=tables, rendered=rendered_by()))


def write_frame(path: Path, frame: Any, kind: str) -> None:
    """An Arrow table as CSV or Parquet."""
    if kind == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(frame, path)
        return
    from pyarrow import ArrowInvalid

    try:
        _write_csv(path, frame, "none")
    except ArrowInvalid:  # a key holds a comma, a quotation mark or a line break
        _write_csv(path, frame, "needed")


def _write_csv(path: Path, frame: Any, quoting: str) -> None:
    from pyarrow import csv as arrow_csv

    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(frame.column_names)
    with path.open("wb") as file:
        file.write(header.getvalue().encode())
        arrow_csv.write_csv(frame, file, arrow_csv.WriteOptions(include_header=False, quoting_style=quoting))


@dataclass(frozen=True, eq=False)
class Folder:
    """A release folder as read, once: its record, the digest of every file, the tables in it, and the report."""

    publication: Publication[Any]
    columns: tuple[str, ...]  # of the table
    same_rows: bool  # whether the measurements have the keys of the table
    report: str


@dataclass(frozen=True)
class Contents:
    """The files of a folder as bytes, and what they hash to; what is no plain file of the release stays unread."""

    files: dict[str, bytes]
    document: dict[str, object]  # release.json
    foreign: tuple[str, ...] = ()  # what else is there
    unread: dict[str, str] = field(default_factory=dict)  # what is named, but is not read, and why

    @cached_property
    def digests(self) -> dict[str, str]:
        return {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}

    @property
    def sealed(self) -> bool:
        return self.document.get("seal") == seal_of(self.document)


def read_contents(path: str | Path) -> Contents:
    """Every file that the record names, read once; of what else is there only the names."""
    folder = Path(path)
    if not (folder / RECORD).is_file():
        raise BadInput(f"the release in {path} was to be read", f"there is no {RECORD} in it")
    try:
        some = {entry.name for entry in islice(os.scandir(folder), MOST_FILES)}
        files, unread = {RECORD: read_plain(folder / RECORD, LARGEST_RECORD)}, {}
        document = parse(files[RECORD])
        named = document.get("digests")
        expected = set(named) if isinstance(named, dict) else set()
        for name in sorted(expected & OURS):
            if not os.path.lexists(folder / name):
                continue
            try:
                files[name] = read_plain(folder / name, LARGEST_REPORT if name == REPORT else LARGEST_TABLE)
            except Damaged as problem:
                unread[name] = problem.why
    except OSError as error:
        raise BadInput(f"the release in {path} was to be read", error.strerror or str(error)) from error
    return Contents(files, document, tuple(sorted(some - (expected & OURS) - {RECORD})), unread)


def read_plain(path: Path, largest: int) -> bytes:
    """A file of its own, neither a link nor a pipe, and no larger than it may be."""
    if path.is_symlink():
        raise Damaged(path.name, "it is a link to a file elsewhere")
    if not path.is_file():
        raise Damaged(path.name, "it is not a plain file")
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size > largest:
            raise Damaged(path.name, f"it is larger than {largest >> 20:,} MiB")
        return file.read(largest + 1)[:largest]


def folder_of(contents: Contents) -> Folder:
    """The record and the tables in what was read."""
    record = read_record(contents.document)
    (table,) = record.tables
    _check_names(table)
    frame = _frame(contents, table.file, record)
    measured = [_frame(contents, one.file, record) for one in table.measurements]
    marked = is_escaped(table.remarks)
    categories = _keys(frame, record, marked)
    publication = Publication(
        record,
        categories,
        _integers(frame, record),
        _integers(measured[0], record) if measured else None,
    )
    report = contents.files.get(REPORT, b"").decode("utf-8", errors="replace")
    same_rows = all(_keys(values, record, marked).equals(categories) for values in measured)
    return Folder(publication, tuple(frame.column_names), same_rows, report)


def _names(suffix: str, measured: bool) -> tuple[str, tuple[Measurements, ...]]:
    """What the tables of a release are called: these names and no others."""
    return f"table.{suffix}", (Measurements("cells", f"measurements.{suffix}"),) if measured else ()


def _check_names(table: PublishedTable) -> None:
    """A file under another name, or a second one of measurements, is something that nothing else would look at."""
    if not any(
        (table.file, table.measurements) == _names(suffix, measured) for suffix in FORMATS for measured in (False, True)
    ):
        raise Damaged("release.json.tables", "it names other files than a release has")


def read_folder(path: str | Path) -> Publication[Any]:
    """A release as its readers have it. Whether it is sound is for `verify` to say."""
    try:
        return folder_of(read_contents(path)).publication
    except (Damaged, KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        found = f"it is damaged ({error})"
        raise BadInput(f"the release in {path} was to be read", found, "Run discreet verify") from error


def _frame(contents: Contents, name: str, record: ReleaseRecord[Any]) -> Any:
    """The table in a file, which must be the size that the record says before it is unpacked."""
    if name not in contents.files or name == RECORD:
        raise Damaged(RECORD, f"the file {name} that it names is not there")
    content, rows = contents.files[name], record.schema.rows
    if len(content) > LONGEST_ROW * (rows + 1):
        raise Damaged(name, f"it is too large for {rows} rows")
    if file_kind(name) == "parquet":
        return bounded_parquet(content, name, rows, (*record.schema.keys, record.schema.count))
    return frame_of(content, name)


def _keys(frame: Any, record: ReleaseRecord[Any], marked: bool) -> Any:
    """The key columns, without what was written before some keys for the sake of spreadsheets."""
    keys = frame.drop_columns([record.schema.count]) if record.schema.count in frame.column_names else frame
    return unescaped(keys, file_kind(record.tables[0].file)) if marked else keys


def _integers(frame: Any, record: ReleaseRecord[Any]) -> Integers:
    """The counts, if they are written as a release writes them: zeros before a number could say what it hides."""
    import pyarrow as pa
    import pyarrow.compute as pc

    name = record.schema.count
    if name not in frame.column_names:
        raise Damaged(name, "there is no such column in the table")
    column = frame.column(name)
    if pa.types.is_string(column.type) and not pc.all(pc.match_substring_regex(column, WHOLE), min_count=0).as_py():
        raise Damaged(name, "a value in it is not a whole number, written in the usual way")
    try:
        values: Integers = column.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise Damaged(name, "a value in it is not a whole number") from error
    return values


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
