"""How many rows of one person a file of counts may hold: the bound travels with the table that `count` wrote.

It stands in the metadata of a Parquet file; in a note beside the file, with a digest of the table it is about; and,
for a table whose note was lost on the way, its digest stands in a list of this user's. Digests are of values alone, so
that copying, compressing, sorting, quoting in another way, other names, and 3.0 in place of 3 or 1001 in place
of 01001, do not change them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import BadInput, called
from discreet.io.files import create_secret, write_secret
from discreet.numbers import MOST_CONTRIBUTIONS, whole, whole_of
from discreet.table import Table

METADATA, ROWS = b"discreet.contributions", b"discreet.rows"  # of a Parquet file
AS_WRITTEN, IN_ANY_ORDER = b"discreet.as-written", b"discreet.digest"  # of its values: the first is quick to compare
WHICH = {ROWS, AS_WRITTEN, IN_ANY_ORDER}
PUT_TOGETHER = "it is not the table that was counted, and may hold rows of several, with one person in all of them"
OTHERS = "than were counted at once, and one person may be in some of the others, too"
LIST = "counted"  # one line for each table: its digest, the bound, and how many rows it has


def write_counted(counted: Table, out: str | Path) -> str | None:
    """The true counts as CSV or Parquet, for their owner's eyes; returns why they could not be listed, if so."""
    from discreet.io.folder import write_frame
    from discreet.io.frames import arrow_frame, file_kind

    out, bound = Path(out), counted.schema.contributions
    frame = arrow_frame(counted.schema, counted.counts)
    digest, part = digest_of(frame), out.with_name(out.name + ".part")
    frame = saying(frame, bound, digest)
    try:
        create_secret(part)
        write_frame(part, frame, file_kind(out))
        write_secret(_beside(out), json.dumps({"contributions": bound, "digest": digest}) + "\n")
        part.replace(out)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput(f"{out} was to be written", error.strerror or str(error)) from error
    return None if bound == 1 else _list(digest, bound, frame.num_rows)


def saying(frame: Any, bound: int, digest: str = "") -> Any:
    """A table of counts whose metadata say the bound, and of which rows."""
    said = {METADATA: str(bound), ROWS: str(frame.num_rows), AS_WRITTEN: _as_written(frame), IN_ANY_ORDER: digest}
    return frame.replace_schema_metadata({name: value for name, value in said.items() if value})


def saying_the_bound_alone(frame: Any) -> Any:
    """Where counts are not read, nobody can say whether they are those that were counted."""
    inside = frame.schema.metadata or {}
    return frame.replace_schema_metadata({name: value for name, value in inside.items() if name not in WHICH})


def rows_said(metadata: Mapping[bytes, bytes] | None) -> int | None:
    """Of the table that was counted, by metadata that say it."""
    return None if metadata is None or ROWS not in metadata else whole_of(metadata[ROWS].decode("ascii", "replace"))


def copied(path: Path, folder: Path) -> Path:
    """The file in another folder, and the note beside it: what is known of the one is known of the other."""
    for one in (_beside(path), path):
        if one == path or one.is_file():
            shutil.copyfile(one, folder / one.name)
    return folder / path.name


def _as_written(frame: Any) -> str:
    """A digest of the values in their order: a tenth of the time that `digest_of` takes."""
    import pyarrow as pa

    try:
        return _of_columns([frame.column(name).cast(pa.large_string()).fill_null("") for name in frame.column_names])
    except pa.ArrowException:
        return ""


def digest_of(frame: Any) -> str:
    """Of the values as text, whatever the order of rows and columns, and whatever the columns are called."""
    import pyarrow as pa

    try:
        texts = [(name, _trimmed(frame.column(name))) for name in frame.column_names]
    except pa.ArrowException:  # no text can be made of it: no table of `count` has such a column
        return ""
    texts.sort(key=lambda one: (_of_columns([one[1].take(_sorting([one[1]]))]), one[0]))  # by what is in them
    columns = [column for _, column in texts]
    return _of_columns([column.take(_sorting(columns)) for column in columns]) if columns else ""


def _of_columns(columns: list[Any]) -> str:
    found = hashlib.sha256()
    for column in columns:
        found.update(f"{len(column)}\n".encode())
        parts = [_lengths_and_letters(chunk) for chunk in column.chunks if len(chunk)]
        for side in (0, 1):  # how a column is cut into chunks must not matter
            for part in parts:
                found.update(part[side])
    return found.hexdigest()


def _trimmed(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    column = _whole(column) if pa.types.is_floating(column.type) else column
    text = pc.utf8_trim_whitespace(column.cast(pa.large_string()).fill_null(""))
    return pc.replace_substring_regex(text, r"^0*([0-9]+)(\.0*)?$", r"\1")  # as spreadsheets and frames write numbers


def _whole(column: Any) -> Any:
    """Numbers of a frame as whole ones, where they are: as text a million would be 1e+06."""
    import pyarrow as pa

    try:
        return column.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column


def _sorting(columns: list[Any]) -> Any:
    """The permutation that sorts rows by their values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [str(place) for place in range(len(columns))]
    return pc.sort_indices(pa.table(columns, names=names), sort_keys=[(name, "ascending") for name in names])


def _lengths_and_letters(chunk: Any) -> tuple[bytes, Any]:
    _, offsets, letters = chunk.buffers()
    places = np.frombuffer(offsets, np.int64, len(chunk) + 1, 8 * chunk.offset)
    return np.diff(places).tobytes(), memoryview(letters or b"")[places[0] : places[-1]]


@dataclass(frozen=True)
class KnownBound:
    """What is known of a file: the bound, and whether it surely belongs to it."""

    bound: int
    sure: bool
    why: str = ""


def contributions_of(given: Any) -> int | None:
    """As the user says it."""
    return None if given is None else whole(given, "contributions", 1, MOST_CONTRIBUTIONS)


def bound_of(path: str | Path | None, frame: Any, given: int | None, readings: Sequence[Any] = ()) -> int:
    """The bound that holds for a file, or (no path) a frame: as was written, or as the user says, who may not say less.

    `readings`: what is taken of it, by which a table to which something was added is recognised.
    """
    asked = contributions_of(given)
    known = _known(None if path is None else Path(path), (frame, *readings))
    shown = "the frame" if path is None else path
    if asked is not None and asked < known.bound:
        raise BadInput(
            f"{called('contributions', asked)} was asked for",
            f"one person may be counted {known.bound} times in {shown}",
            f"Say {known.bound} or more with {called('contributions', like=str(known.bound))}, or count again with a "
            "smaller bound", bound=known.bound,
        )  # fmt: skip
    if asked is None and not known.sure:
        raise BadInput(
            f"{shown} was to be read", known.why,
            f"Say in how many rows one person may be counted, {known.bound} or more, with "
            f"{called('contributions', like=str(known.bound))}", bound=known.bound,
        )  # fmt: skip
    return asked or known.bound


def _known(path: Path | None, readings: Sequence[Any]) -> KnownBound:
    """Inside the file, beside it, or in the list; where nothing is known, every person is in one row."""
    frame, inside = readings[0], readings[0].schema.metadata or {}
    if METADATA in inside:
        try:
            bound, rows = whole(int(inside[METADATA]), "contributions", 1, MOST_CONTRIBUTIONS), rows_said(inside)
        except ValueError as error:
            asked = f"{path or 'a frame'} was to be read"
            raise BadInput(asked, "its metadata hold no number of contributions") from error
        of_any = not WHICH & set(inside)  # somebody's own word, about whatever is in the file
        same = [one for one in readings if one.num_rows == rows]
        why = f"it has more rows {OTHERS}" if rows is not None and frame.num_rows > rows else PUT_TOGETHER
        return KnownBound(bound, of_any or _is_that(same, inside), why)
    note = None if path is None else _beside(path)
    if note is not None and note.exists():
        return _noted(note, readings)
    listed = _listed(readings)
    why = f"`discreet count` made this table with up to {listed} rows of one person"
    return KnownBound(listed, listed == 1, why if note is None else f"{why}, and its note {note.name} is gone")


def _is_that(readings: Sequence[Any], said: Mapping[bytes, bytes]) -> bool:
    """Whether it holds the values that its metadata are about. Some of its rows do not: nobody could tell them from
    some rows of several tables."""
    written, digest = (said.get(name, b"").decode("ascii", "replace") for name in (AS_WRITTEN, IN_ANY_ORDER))
    if written and written in map(_as_written, readings):
        return True
    return bool(digest) and digest in _digests(readings)


def _noted(note: Path, readings: Sequence[Any]) -> KnownBound:
    try:
        value = json.loads(note.read_text(encoding="utf-8"))
        bound, digest = whole(value["contributions"], "contributions", 1, MOST_CONTRIBUTIONS), value.get("digest")
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError, BadInput) as error:
        raise BadInput(f"{note} was to be read", "it does not say how many rows one person may have") from error
    same = digest in _digests(readings)
    about = "about other counts" if digest is not None else "about no counts in particular: it has no digest of them"
    most = bound if same else max(bound, _listed(readings))
    return KnownBound(most, same, f"the note {note.name} beside it is {about}")


def _digests(readings: Sequence[Any]) -> set[str]:
    return set(map(digest_of, readings)) - {""}


def _beside(out: Path) -> Path:
    return out.with_name(out.name + ".contributions.json")


def _state() -> Path | None:
    """The list of this user's, where the system keeps such things; None where there is no home."""
    try:
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return Path(base) / "discreet" / LIST


def _list(digest: str, bound: int, rows: int) -> str | None:
    place = _state()
    if place is None:
        return "there is no home folder"
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(f"{digest} {bound} {rows}\n".encode())
    except OSError as error:
        return f"{place}: {error.strerror or error}"
    return None


def _listed(readings: Sequence[Any]) -> int:
    """The largest bound with which a table of these values was counted by this user, or 1."""
    place = _state()
    try:
        lines = [] if place is None else place.read_text(encoding="ascii", errors="replace").split("\n")
    except OSError:
        return 1
    sizes = {str(one.num_rows) for one in readings}
    words = [line.split() for line in lines if line.rpartition(" ")[2] in sizes]
    tables = [(one[0], int(one[1][:9])) for one in words if len(one) == 3 and one[1].isdecimal()]
    if not tables:
        return 1  # of tables with that many rows: most are known to be others without a digest
    own = _digests(readings)
    return max([1, *(bound for digest, bound in tables if digest in own)])
