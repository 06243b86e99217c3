"""Re-check a release in parts: what all parts have together from the manifest, then part by part; or one part alone."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, Damaged
from discreet.io import MANIFEST, RECORD
from discreet.io.bounded import bounded_parquet
from discreet.io.columns import whole_numbers
from discreet.io.folder import LARGEST_TABLE, LONGEST_ROW, Contents, Folder, folder_of, read_contents, read_plain
from discreet.io.formulas import formula_columns, formulas_in
from discreet.io.row_order import strictly_ascending
from discreet.io.totals import rows_of_totals
from discreet.io.written_parquet import written_here
from discreet.numbers import whole_of
from discreet.parts.engine import IN_THIS_PROCESS
from discreet.parts.manifest import MEASUREMENTS, TABLE, Manifest, read_manifest
from discreet.parts.tasks import NAME
from discreet.public_map import SeenValues, seen_of
from discreet.record.release import Measurements, Publication, ReleaseRecord
from discreet.report import page_names
from discreet.ways import way_named

ItemOf = TypeVar("ItemOf")
FoundOf = TypeVar("FoundOf")
MOST_WORKERS = 8  # each holds a part, and the disk has to keep up
MOST_READ = 20_000_000  # rows: with their keys they take a gigabyte or two


def whole_folder(contents: Contents, record: ReleaseRecord[Any]) -> Folder:
    """A release in parts as read: its record, and what its manifest says of the rows."""
    if MANIFEST not in contents.files:
        raise Damaged(RECORD, f"the file {MANIFEST} that it names is not there")
    table, manifest = record.tables[0], read_manifest(contents.files[MANIFEST])
    measured = (Measurements("cells", MEASUREMENTS),)
    named = table.file, table.answers, table.measurements
    if len(record.tables) > 1 or named not in ((TABLE, None, ()), (TABLE, None, measured)):
        raise Damaged("release.json.tables", "it names other files than a release in parts has")
    if any((part.measured is not None) != bool(table.measurements) for part in manifest.parts):
        raise Damaged(MANIFEST, "it has noisy values that release.json does not name, or lacks them")
    whole = manifest.whole
    noisy = None if whole.measured is None else whole.measured.values
    publication = Publication(record, None, whole.counts.values, noisy, in_parts=whole)
    pages = {name: contents.files.get(name, b"").decode(errors="replace") for name in page_names(record)}
    return Folder(publication, table.columns, True, pages, contents.files[RECORD])


def part_meant(path: Path) -> tuple[Path, int] | None:
    """The folder and the number of the part that a path leads to, if it does."""
    folder, name = path.parent.parent, path.name
    if path.parent.name not in (TABLE, MEASUREMENTS) or not (folder / RECORD).is_file():
        return None
    number = whole_of(name.removeprefix("part-").removesuffix(".parquet"))
    if number is None or name != NAME.format(number):
        raise BadInput(f"{path} was to be verified", "that is no part of the release beside it")
    return folder, number


def wrong_files(contents: Contents, part: int | None) -> Iterator[str]:
    """The folders of parts hold the parts and nothing else."""
    manifest = read_manifest(contents.files[MANIFEST])
    numbers = range(len(manifest.parts)) if part is None else [part]
    if part is not None and part >= len(manifest.parts):
        yield f"The release has no part {NAME.format(part)}."
        return
    named = {name for number in numbers for name in manifest.files(number)}
    there = {name for name in named if os.path.lexists(contents.place / name)}
    yield from (f"The file {name} is missing." for name in sorted(named - there))
    if part is None:
        yield from (f"The file {name} is not part of the release." for name in _foreign(contents.place, named))


def _foreign(place: Path, named: set[str]) -> list[str]:
    found = []
    for folder in (TABLE, MEASUREMENTS):
        if (place / folder).is_symlink() or ((place / folder).exists() and not (place / folder).is_dir()):
            found.append(folder)
        elif (place / folder).is_dir():
            with os.scandir(place / folder) as entries:
                some = {f"{folder}/{entry.name}" for entry in islice(entries, len(named) + 1)}
            found += sorted(some - named) or ([] if some else [folder])
    return found


@dataclass(frozen=True, eq=False)
class _Rows:
    """One part as read, and how many rows of each noisy value are in earlier ones."""

    number: int
    publication: Publication[Any]
    before: Integers
    here: bool  # whether the version of Arrow that is here wrote its files


def check_head(folder: Folder, contents: Contents) -> list[str]:
    """What release.json and the manifest say of the whole."""
    record, manifest = folder.publication.record, read_manifest(contents.files[MANIFEST])
    parts, problems = record.parts, []
    assert parts is not None
    if not folder.as_written:
        problems.append("release.json is written in another way than releases are.")
    if folder.columns != (*record.schema.keys, record.schema.count):
        problems.append("The columns of the table are not those of the schema.")
    if {MANIFEST, *folder.pages} != set(record.digests):
        problems.append("The files that release.json names are not those it has digests of.")
    if manifest.rows != record.schema.rows or len(manifest.parts) != parts.number:
        problems.append("The manifest has not as many rows, or parts, as release.json says.")
    if record.schema.order != "sorted" or not record.schema.keys:
        problems.append("The rows of a release in parts are sorted by their keys, and this one says otherwise.")
    grade = "computational" if parts.randomness == "keyed" else parts.ideal
    if record.guarantee.grade != grade or parts.ideal not in ("exact", "enclosed"):
        problems.append("The grade of the guarantee is not the one that its random bits give it.")
    return problems


def check_whole(folder: Folder) -> list[str]:
    """As far as the histograms of all parts tell it."""
    in_parts = way_named(folder.publication.record.way).in_parts
    if in_parts is None:
        return ["A release that went this way cannot be in parts."]
    return in_parts.replay(folder.of_the_way)


@dataclass(frozen=True, eq=False)
class _Checked:
    """What was found of one part by itself: what is wrong with it, and its rows, if they could be read."""

    number: int
    problems: list[str]
    rows: _Rows | None = None
    formulas: tuple[str, ...] = ()


def check_parts(folder: Folder, contents: Contents, part: int | None, elsewhere: Callable[[str], None]) -> list[str]:
    """Every part, some at a time; or one alone."""
    manifest, whole = read_manifest(contents.files[MANIFEST]), folder.of_the_way
    in_parts = way_named(whole.record.way).in_parts
    assert in_parts is not None, "which has been seen"

    def checked(numbered: tuple[int, Integers]) -> _Checked:
        number, before = numbered
        try:
            rows = _read(contents, manifest, number, before, whole)
        except Damaged as error:
            return _Checked(number, [f"{error}."])
        found = [*_row_problems(rows), *in_parts.replay_part(rows.publication, whole, before)]
        told = [f"Part {number + 1}: {what}" for what in found]
        return _Checked(number, told, rows, formula_columns(rows.publication.categories, "parquet"))

    problems: list[str] = []
    formulas: set[str] = set()
    last: Any = None
    gathered = None if in_parts.gathered is None or part is not None else in_parts.gathered(whole.record)
    asked = ((number, before) for number, before in enumerate(manifest.before()) if part in (None, number))
    for one in ahead(checked, asked, _workers(manifest.rows)):
        problems += one.problems
        if one.rows is None:
            continue
        if not one.rows.here:
            elsewhere(NAME.format(one.number))
        categories = one.rows.publication.categories
        problems += [f"Part {one.number + 1}: {what}" for what in _after(last, categories)]
        if gathered is not None:
            gathered.add(one.rows.publication)
        formulas |= set(one.formulas)
        last = categories.slice(categories.num_rows - 1)
    problems += [] if gathered is None or problems else gathered.problems()
    record = folder.publication.record
    said = formulas_in([name for name in record.schema.keys if name in formulas], False)
    if part is None and not problems and record.tables[0].remarks != said:
        problems.append("The record does not say of the keys how they are written.")
    return problems


def _workers(rows: int) -> int:
    """As many as there are processors; each holds a part."""
    return 1 if rows < IN_THIS_PROCESS else min(MOST_WORKERS, os.cpu_count() or 1)


def ahead(function: Callable[[ItemOf], FoundOf], items: Iterable[ItemOf], workers: int) -> Iterator[FoundOf]:
    """As map, in order, with as many at a time: by threads, since what takes long is Arrow's and the digests'."""
    if workers == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[FoundOf]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _read(contents: Contents, manifest: Manifest, number: int, before: Integers, whole: Publication[Any]) -> _Rows:
    """The files of a part, each read once, held against the manifest before anything else is believed of them."""
    record, one, here = whole.record, manifest.parts[number], True
    columns = (*record.schema.keys, record.schema.count)
    frames = []
    for name, digest in manifest.files(number).items():
        content = read_plain(contents.place / name, LARGEST_TABLE)
        if hashlib.sha256(content).hexdigest() != digest:
            raise Damaged(name, "it was changed: its digest is not the one in the manifest")
        if len(content) > LONGEST_ROW * (one.rows + 1):
            raise Damaged(name, f"it is too large for {one.rows} rows")
        frames.append(bounded_parquet(content, name, one.rows, columns))
        here = here and written_here(content)
    values = [whole_numbers(frame, record.schema.count) for frame in frames]
    for name, numbers, said in zip(manifest.files(number), values, (one.counts, one.measured)):
        if said is None or not _same(seen_of(numbers), said):
            raise Damaged(name, "its values are not those of its histogram in the manifest")
    categories = frames[0].drop_columns([record.schema.count])
    if any(not frame.drop_columns([record.schema.count]).equals(categories) for frame in frames[1:]):
        raise Damaged(NAME.format(number), "the rows of the measurements are not those of the table")
    measured = values[1] if len(values) > 1 else None
    return _Rows(number, Publication(record, categories, values[0], measured), before, here)


def rows_of_all(folder: str | Path) -> Publication[Any]:
    """The release as if it were in one piece, for what needs its rows; its parts are held against the manifest."""
    import pyarrow as pa

    contents = read_contents(folder)
    whole = folder_of(contents).publication
    if whole.record.schema.rows > MOST_READ:
        found = f"it has {whole.record.schema.rows:,} rows in parts, and {MOST_READ:,} at most are read into memory"
        raise BadInput("the rows of a release were asked for", found, "Ask for what all rows have together")
    manifest = read_manifest(contents.files[MANIFEST])
    try:
        parts = [
            _read(contents, manifest, number, before, whole).publication
            for number, before in enumerate(manifest.before())
        ]
    except Damaged as error:
        raise BadInput(f"the release in {folder} was to be read", str(error), "Run discreet verify") from error
    categories = pa.concat_tables([part.categories for part in parts]).combine_chunks()
    measured = [part.measured for part in parts if part.measured is not None]
    counts = np.concatenate([part.counts for part in parts])
    return Publication(whole.record, categories, counts, np.concatenate(measured) if measured else None)


def _same(one: SeenValues, other: SeenValues) -> bool:
    return np.array_equal(one.values, other.values) and np.array_equal(one.numbers, other.numbers)


def _row_problems(rows: _Rows) -> Iterable[str]:
    """The order of the keys; and that no person is counted twice."""
    categories, schema = rows.publication.categories, rows.publication.record.schema
    if not strictly_ascending(categories):
        yield "its rows are not sorted by their keys, or two have the same."
    answered = schema.rows_are_disjoint or schema.contributions > 1
    if not answered and rows_of_totals(categories).any():
        yield "some of its keys mean a total, so that one person may be counted in several rows."


def _after(last: Any, categories: Any) -> Iterable[str]:
    """That a part begins after the one before it ended."""
    import pyarrow as pa

    if last is None:
        return
    if last.schema != categories.schema:
        yield "its key columns are of other types than those of the part before."
    elif not strictly_ascending(pa.concat_tables([last, categories.slice(0, 1)]).combine_chunks()):
        yield "its keys do not come after those of the part before."
