"""The release folder: it appears whole or not at all, and is read once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.arrays import Integers
from discreet.errors import BadInput, Damaged, choose
from discreet.io import ANALYSIS, EXPLORE, MANIFEST, METADATA, RECORD, REPORT
from discreet.io.bounded import bounded_parquet
from discreet.io.columns import whole_numbers
from discreet.io.formulas import escaped, formula_remarks, is_escaped, refuse_formula_names, unescaped
from discreet.io.frames import arrow_frame, file_kind
from discreet.io.intervals import interval_frame, same_intervals
from discreet.io.place import Place, cannot_be_saved, in_its_place, place_for
from discreet.io.questions import (
    NUMBERS,
    answer_frame,
    answers_of,
    long_frame,
    measured_frame,
    measured_of,
)
from discreet.io.views import MOST_VIEWS, check_views, view_name, view_of
from discreet.io.written_csv import read_written, write_csv, write_text, written
from discreet.io.written_parquet import write_parquet, written_here
from discreet.io.written_xlsx import Workbook, read_workbook, require_fit, write_xlsx
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
from discreet.report import page_names, pages, rendered_by
from discreet.report.prepared import Prepared, prepared
from discreet.table import Schema
from discreet.ways import LongKeys, Way, way_named

if TYPE_CHECKING:
    from discreet.released import Release

FORMATS = ("csv", "parquet", "xlsx")
PAGES = {REPORT, EXPLORE, ANALYSIS, METADATA}
IN_PARTS = {"table", "measurements"}  # the folders of a release in parts
OURS = {
    *PAGES,
    MANIFEST,
    *(f"table.{suffix}" for suffix in FORMATS),
    *(f"{name}.{suffix}" for name in ("measurements", "answers") for suffix in ("csv", "parquet")),
    *(view_name(number, suffix) for number in range(2, MOST_VIEWS + 2) for suffix in FORMATS),
}  # beside the record
# what a stranger's folder may cost whoever checks it
LARGEST_RECORD = 256 << 20  # bytes: a distribution over a million counts, with its map, takes a third of it
LARGEST_PAGE = 64 << 20  # bytes: ours have less than one tenth of it
LARGEST_TABLE = 1 << 30  # bytes: some thirty million rows
LONGEST_ROW = 1 << 16  # bytes on average: no key is a book
LARGEST = {**dict.fromkeys(PAGES, LARGEST_PAGE), MANIFEST: LARGEST_RECORD}
MOST_FILES = 100  # names that are looked at: a release has eight or so


def save(release: Release, folder: str | Path | Place, format: str | None = None, excel_safe: bool = False) -> str:
    """Write table, measurements, report and release.json; returns the digest of release.json."""
    if not isinstance(folder, Place):
        with place_for(folder) as place:
            return save(release, place, format, excel_safe)
    suffix = check_format(format) or format_of(release.kind)
    try:
        digest = _fill(folder.part, release, suffix, excel_safe)
    except OSError as error:
        raise cannot_be_saved(folder.target, error, release.record.ledger) from error
    in_its_place(folder, release.record.ledger)
    return digest


def check_format(format: str | None) -> str | None:
    return None if format is None else choose(format, FORMATS, "format")


def format_of(kind: str) -> str:
    """In which a table of that kind is saved where nothing else is asked for."""
    return kind if kind in FORMATS else "csv"


def require_writable(schema: Schema, format: str | None) -> None:
    """Refuse a table that cannot be saved so; to be called before any budget is spent."""
    if (check_format(format) or format_of(schema.kind)) == "xlsx":
        require_fit(schema.rows, [*schema.keys, schema.count], schema.categories)


def _fill(part: Path, release: Release, suffix: str, excel_safe: bool) -> str:
    """Every file, the record last: it holds the digests of the others."""
    publication, schema = _named(release.publication, suffix, excel_safe), release.schema
    table = publication.record.tables[0]
    if is_escaped(table.remarks):
        schema = replace(schema, categories=escaped(schema.categories, suffix))
    found = prepared(publication)
    rows = arrow_frame(schema, publication.counts)
    if suffix == "xlsx":
        told = _told_frame(publication, found)
        digests = {table.file: written(part / table.file, partial(write_xlsx, told=told), rows)}
    else:
        digests = {table.file: write_frame(part / table.file, rows, suffix)}
    for view in publication.record.tables[1:]:
        digests[view.file] = write_frame(part / view.file, _view_frame(publication, view), suffix)
    for name, frame in _more_frames(publication, schema).items():
        digests[name] = write_frame(part / name, frame, file_kind(name))
    for name, text in pages(publication, found).items():
        digests[name] = written(part / name, write_text, text)
    digests = dict(sorted(digests.items()))
    mark = mark_of(publication.record.private, digests[table.file])
    content = write_record(replace(publication.record, digests=digests, mark=mark)).encode()
    (part / RECORD).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def _named(publication: Publication[Any], suffix: str, excel_safe: bool) -> Publication[Any]:
    """The record with the names of its files, how their keys are written, and what renders the report."""
    table, *views = publication.record.tables
    if excel_safe:
        refuse_formula_names(table.columns)
    remarks = formula_remarks(publication.categories, suffix, excel_safe)
    long = publication.answers is not None
    file, measured, answers = _names(suffix, publication.measured is not None, long)
    first = replace(table, file=file, measurements=measured, answers=answers, remarks=remarks)
    more = (replace(view, file=view_name(number, suffix), remarks=remarks) for number, view in enumerate(views, 2))
    tables = (first, *more)
    return replace(publication, record=replace(publication.record, tables=tables, rendered=rendered_by()))


def _told_frame(publication: Publication[Any], found: Prepared) -> Any:
    """The sheet of intervals beside the table of a workbook, its keys as they stand in the table."""
    frame, table = interval_frame(found, publication.record.schema.keys), publication.record.tables[0]
    if frame is None or not is_escaped(table.remarks):
        return frame
    names, places = frame.column_names, range(1, 1 + len(publication.record.schema.keys))
    keys = frame.select(list(places)).rename_columns(publication.record.schema.keys)
    for place, column in zip(places, _written(keys, table).columns):
        frame = frame.set_column(place, names[place], column)
    return frame


def _view_frame(publication: Publication[Any], view: PublishedTable) -> Any:
    """A further table: sums of the published counts, by its keys."""
    rows, sums = view_of(publication.categories, view.columns[:-1], publication.counts)
    return _written(rows, view).append_column(view.columns[-1], [sums])


def _more_frames(publication: Publication[Any], schema: Schema) -> Mapping[str, Any]:
    """What is published beside the table, by the name of its file."""
    table = publication.record.tables[0]
    measured = publication.measured
    if publication.answers is None:
        return {} if measured is None else {one.file: arrow_frame(schema, measured) for one in table.measurements}
    long = _long_keys(publication.record, publication.categories)
    asked, answered = (_written(long_frame(one, schema.keys), table) for one in (long.measurements, long.answers))
    found = {one.file: measured_frame(asked, schema.count, measured) for one in table.measurements}
    found[str(table.answers)] = answer_frame(answered, schema.count, publication.answers, file_kind(str(table.answers)))
    return found


def _long_keys(record: ReleaseRecord[Any], categories: Any) -> LongKeys:
    keys = way_named(record.way).long_keys
    assert keys is not None, "only such a way answers questions"
    return keys(record, categories)


def write_frame(path: Path, frame: Any, kind: str) -> str:
    """An Arrow table as CSV or Parquet, or as a workbook whose last column are counts; returns its digest."""
    writers: dict[str, Callable[[Any, Any], None]] = {"parquet": write_parquet, "xlsx": write_xlsx}
    return written(path, writers.get(kind, write_csv), frame)


@dataclass(frozen=True, eq=False)
class Folder:
    """A release folder as read, once: its record, the digest of every file, the tables in it, and the pages."""

    publication: Publication[Any]
    columns: tuple[str, ...]  # of the table
    same_rows: bool  # whether the measurements have the keys of the table
    pages: Mapping[str, str]  # what is for people, by the name of the file
    written: bytes  # release.json
    elsewhere: tuple[str, ...] | None = None  # Parquet files of another version of Arrow; None if there are none at all
    wrong_views: tuple[str, ...] = ()  # further tables that are not the sums of the first
    told: Any = None  # the intervals beside the table of a workbook

    @cached_property
    def way(self) -> Way[Any, Any, Any, Any]:
        """The way it went."""
        return way_named(self.publication.record.way)

    @cached_property
    def of_the_way(self) -> Publication[Any]:
        """The publication with the remarks of its way alone: what is said of the rows comes last, and is checked with
        them; and with the grade that ideal bits give it."""
        record = self.publication.record
        own = record.guarantee.remarks[: len(record.guarantee.remarks) - len(record.schema.remarks)]
        grade = record.guarantee.grade if record.parts is None else record.parts.ideal
        record = replace(record, guarantee=replace(record.guarantee, remarks=own, grade=grade))
        return replace(self.publication, record=record)

    @cached_property
    def rendered_here(self) -> dict[str, str]:
        """What a page that is drawn here, now, is drawn by."""
        return rendered_by()

    @cached_property
    def prepared(self) -> Prepared:
        """What the analyst's side answers, for pages that cannot."""
        return prepared(self.publication)

    def tells_the_same(self, *, estimates: bool) -> bool:
        """Whether the intervals in a workbook are those of the release."""
        if file_kind(self.publication.record.tables[0].file) != "xlsx" or self.publication.in_parts is not None:
            return self.told is None
        return same_intervals(_told_frame(self.publication, self.prepared), self.told, estimates=estimates)

    @property
    def as_written(self) -> bool:
        """Whether release.json is written as it is here, blank for blank."""
        return write_record(self.publication.record).encode() == self.written


@dataclass(frozen=True)
class Contents:
    """The files of a folder as bytes, and what they hash to; what is no plain file of the release stays unread."""

    files: dict[str, bytes]
    document: dict[str, object]  # release.json
    foreign: tuple[str, ...] = ()  # what else is there
    unread: dict[str, str] = field(default_factory=dict)  # what is named, but is not read, and why
    place: Path = field(default=Path(), repr=False, compare=False)  # where a release in parts has them

    @cached_property
    def digests(self) -> dict[str, str]:
        return {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}

    @cached_property
    def seal(self) -> str:
        """What the seal should be."""
        return seal_of(self.document)

    @property
    def sealed(self) -> bool:
        return self.document.get("seal") == self.seal

    @property
    def without_tables(self) -> Contents:
        """For whoever has read the tables in them, and needs the room."""
        others = {name: held for name, held in self.files.items() if name.rpartition(".")[2] not in FORMATS}
        return replace(self, files=others)


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
                files[name] = read_plain(folder / name, LARGEST.get(name, LARGEST_TABLE))
            except Damaged as problem:
                unread[name] = problem.why
    except OSError as error:
        raise BadInput(f"the release in {path} was to be read", error.strerror or str(error)) from error
    foreign = some - (expected & OURS) - {RECORD} - (IN_PARTS if "parts" in document else set())
    return Contents(files, document, tuple(sorted(foreign)), unread, folder)


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
    record = read_record(contents.document, contents.seal)
    if record.parts is not None:
        from discreet.parts.verify import whole_folder

        return whole_folder(contents, record)
    table, *views = record.tables
    several = way_named(record.way).long_keys is not None
    _check_names(table, several)
    if views:
        check_views(record)
    columns = (*record.schema.keys, record.schema.count)
    frame = _frame(contents, table.file, record.schema.rows, columns, columns[-1])
    categories = _keys(frame, record)
    publication = Publication(record, categories, _integers(frame, record), None)
    texts = {name: _text(contents.files.get(name, b""), name) for name in page_names(record)}
    written = contents.files[RECORD]
    wrong = tuple(view.file for view in views if not _is_view(contents, publication, view))
    if several:
        publication, same_rows = _with_answers(contents, publication), True
    else:
        known = frame.drop_columns([columns[-1]])
        measured = [
            _frame(contents, one.file, record.schema.rows, columns, columns[-1], known) for one in table.measurements
        ]
        same_rows = all(_keys(values, record).equals(categories) for values in measured)
        publication = replace(publication, measured=_integers(measured[0], record) if measured else None)
    names = tuple(frame.column_names)
    told = _workbook(contents, table.file, columns).told if file_kind(table.file) == "xlsx" else None
    return Folder(publication, names, same_rows, texts, written, _elsewhere(contents), wrong, told)


def _workbook(contents: Contents, name: str, columns: tuple[str, ...]) -> Workbook:
    """Only beside the first table are there intervals."""
    found = read_workbook(contents.files[name], name, columns)
    if found.told is not None and name != _names("xlsx", False, False)[0]:
        raise Damaged(name, "it has a sheet more than it needs")
    return found


def _elsewhere(contents: Contents) -> tuple[str, ...] | None:
    packed = [name for name in sorted(contents.files) if file_kind(name) == "parquet"]
    return tuple(name for name in packed if not written_here(contents.files[name])) if packed else None


def _is_view(contents: Contents, publication: Publication[Any], view: PublishedTable) -> bool:
    """Whether a further table is the sums of the first, letter by letter."""
    expected = _view_frame(publication, view)
    found = _frame(contents, view.file, len(expected), view.columns, view.columns[-1])
    if tuple(found.column_names) != view.columns or len(found) != len(expected):
        return False
    counts = whole_numbers(found, view.columns[-1])
    same_keys = found.select(list(view.columns[:-1])).equals(expected.select(list(view.columns[:-1])))
    return bool(same_keys and (counts == expected.column(view.columns[-1]).to_numpy()).all())


def _text(page: bytes, name: str) -> str:
    try:
        return page.decode()
    except UnicodeDecodeError as error:
        raise Damaged(name, "it is not text in UTF-8") from error


def _with_answers(contents: Contents, publication: Publication[Any]) -> Publication[Any]:
    """Answers and measurements, whose keys must be those of the questions, in their order."""
    record = publication.record
    table = record.tables[0]
    if len(publication.counts) != record.schema.rows:
        raise Damaged(table.file, f"it has {len(publication.counts)} rows, the record says {record.schema.rows}")
    long, count = _long_keys(record, publication.categories), record.schema.count
    measured = None
    for one in table.measurements:
        keys = _written(long_frame(long.measurements, record.schema.keys), table)
        found = _frame(contents, one.file, len(keys), (*keys.column_names, count), count)
        measured = measured_of(found, keys, count, one.file)
    keys = _written(long_frame(long.answers, record.schema.keys), table)
    file = str(table.answers)
    found = _frame(contents, file, len(keys), (*keys.column_names, count, *NUMBERS), count)
    sizes = [one.number for one in long.answers.values()]
    return replace(publication, measured=measured, answers=answers_of(found, keys, sizes, count, file))


def _written(keys: Any, table: PublishedTable) -> Any:
    """Keys as they stand in a file."""
    return escaped(keys, file_kind(table.file)) if is_escaped(table.remarks) else keys


def _names(suffix: str, measured: bool, answers: bool) -> tuple[str, tuple[Measurements, ...], str | None]:
    """What the tables of a release are called: these names and no others. What is for software is in no workbook."""
    beside = "csv" if suffix == "xlsx" else suffix
    found = (Measurements("several" if answers else "cells", f"measurements.{beside}"),) if measured else ()
    return f"table.{suffix}", found, f"answers.{beside}" if answers else None


def _check_names(table: PublishedTable, answers: bool) -> None:
    """A file under another name, or a second one of measurements, is something that nothing else would look at."""
    found = table.file, table.measurements, table.answers
    if not any(found == _names(suffix, measured, answers) for suffix in FORMATS for measured in (False, True)):
        raise Damaged("release.json.tables", "it names other files than a release has")


def read_folder(path: str | Path) -> Publication[Any]:
    """A release as its readers have it. Whether it is sound is for `verify` to say."""
    try:
        return folder_of(read_contents(path)).publication
    except (Damaged, KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        found = f"it is damaged ({error})"
        raise BadInput(f"the release in {path} was to be read", found, "Run discreet verify") from error


def _frame(contents: Contents, name: str, rows: int, columns: tuple[str, ...], count: str, like: Any = None) -> Any:
    """The table in a file, which must be the size that the record says before it is unpacked; with the keys of another
    one, as far as they are the same."""
    if name not in contents.files or name == RECORD:
        raise Damaged(RECORD, f"the file {name} that it names is not there")
    content = contents.files[name]
    if len(content) > LONGEST_ROW * (rows + 1):
        raise Damaged(name, f"it is too large for {rows} rows")
    if file_kind(name) == "parquet":
        return bounded_parquet(content, name, rows, columns)
    if file_kind(name) == "xlsx":
        return _workbook(contents, name, columns).table
    return read_written(content, name, columns, count, like)


def _keys(frame: Any, record: ReleaseRecord[Any]) -> Any:
    """The key columns, without what was written before some keys for the sake of spreadsheets."""
    marked = is_escaped(record.tables[0].remarks)
    keys = frame.drop_columns([record.schema.count]) if record.schema.count in frame.column_names else frame
    if not marked:
        return keys
    kind = file_kind(record.tables[0].file)
    bare = unescaped(keys, kind)
    if not escaped(bare, kind).equals(keys):
        raise Damaged(record.tables[0].file, "an apostrophe before a key is missing, or one too many")
    return bare


def _integers(frame: Any, record: ReleaseRecord[Any]) -> Integers:
    """The counts, if they are written as a release writes them: zeros before a number could say what it hides."""
    if record.schema.count not in frame.column_names:
        raise Damaged(record.schema.count, "there is no such column in the table")
    return whole_numbers(frame, record.schema.count)
