"""How many rows of one person a file of counts may hold: the bound travels with the table that `count` wrote.

It stands in the metadata of a Parquet file; in a note beside the file, with a digest of the table it is about; and,
for a table whose note was lost on the way, its digest stands in a list of this user's. Digests are of names and values,
so that copying, compressing, sorting and quoting in another way do not change them.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.io.files import create_secret, write_secret
from discreet.numbers import MOST_CONTRIBUTIONS, whole
from discreet.table import Table

METADATA = b"discreet.contributions"  # of a Parquet file
LIST = "counted"  # one line for each table: its digest, and the bound


def write_counted(counted: Table, out: str | Path) -> str | None:
    """The true counts as CSV or Parquet, for their owner's eyes; returns why they could not be listed, if so."""
    from discreet.io.folder import write_frame
    from discreet.io.tables import arrow_frame, file_kind

    out, bound = Path(out), counted.schema.contributions
    frame = arrow_frame(counted.schema, counted.counts)
    frame = frame.replace_schema_metadata({METADATA: str(bound).encode()})
    digest, part = digest_of(frame), out.with_name(out.name + ".part")
    try:
        create_secret(part)
        write_frame(part, frame, file_kind(out))
        write_secret(_beside(out), json.dumps({"contributions": bound, "digest": digest}) + "\n")
        part.replace(out)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput(f"{out} was to be written", error.strerror or str(error)) from error
    return None if bound == 1 else _list(digest, bound)


def digest_of(frame: Any) -> str:
    """Of the names of the columns and of their values as text, whatever the order of rows and columns."""
    import pyarrow as pa

    try:
        texts = pa.table({name: _trimmed(frame.column(name)) for name in sorted(frame.column_names)})
    except pa.ArrowException:  # no text can be made of it: no table of `count` has such a column
        return ""
    if texts.num_columns:
        texts = texts.take(_sorting(texts))
    found = hashlib.sha256()
    for name, column in zip(texts.column_names, texts.columns):
        found.update(json.dumps([name.strip(), len(column)]).encode())
        parts = [_lengths_and_letters(chunk) for chunk in column.chunks if len(chunk)]
        for side in (0, 1):  # how a column is cut into chunks must not matter
            for part in parts:
                found.update(part[side])
    return found.hexdigest()


def _trimmed(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return pc.utf8_trim_whitespace(column.cast(pa.large_string()).fill_null(""))


def _sorting(texts: Any) -> Any:
    """The permutation that sorts rows by their values."""
    import pyarrow.compute as pc

    return pc.sort_indices(texts, sort_keys=[(name, "ascending") for name in texts.column_names])


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


def bound_of(path: str | Path, frame: Any, given: int | None) -> int:
    """The bound that holds for a file: as it was written, or as the user says, who may not say less."""
    asked = None if given is None else whole(given, "contributions", 1, MOST_CONTRIBUTIONS)
    known = _known(Path(path), frame)
    if asked is not None and asked < known.bound:
        raise BadInput(
            f"contributions = {asked} was asked for", f"one person may be counted {known.bound} times in {path}",
            f"Say contributions {known.bound} or more (--contributions {known.bound}), or count again with a "
            "smaller bound", bound=known.bound,
        )  # fmt: skip
    if asked is None and not known.sure:
        raise BadInput(
            f"{path} was to be read", known.why,
            f"Say in how many rows one person may be counted: contributions {known.bound} or more "
            f"(--contributions {known.bound})", bound=known.bound,
        )  # fmt: skip
    return asked or known.bound


def _known(path: Path, frame: Any) -> KnownBound:
    """Inside the file, beside it, or in the list; where nothing is known, every person is in one row."""
    inside = (frame.schema.metadata or {}).get(METADATA)
    if inside is not None:
        try:
            return KnownBound(whole(int(inside), "contributions", 1), True)
        except ValueError as error:
            raise BadInput(f"{path} was to be read", "its metadata hold no number of contributions") from error
    note = _beside(path)
    if note.exists():
        return _noted(note, frame)
    listed = _listed(frame)
    why = f"`discreet count` made this table with up to {listed} rows of one person, and its note {note.name} is gone"
    return KnownBound(listed, listed == 1, why)


def _noted(note: Path, frame: Any) -> KnownBound:
    try:
        value = json.loads(note.read_text(encoding="utf-8"))
        bound, digest = whole(value["contributions"], "contributions", 1), value.get("digest")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, BadInput) as error:
        raise BadInput(f"{note} was to be read", "it does not say how many rows one person may have") from error
    same = digest == digest_of(frame)
    about = "about other counts" if digest is not None else "about no counts in particular: it has no digest of them"
    return KnownBound(max(bound, 1 if same else _listed(frame)), same, f"the note {note.name} beside it is {about}")


def _beside(out: Path) -> Path:
    return out.with_name(out.name + ".contributions.json")


def _state() -> Path | None:
    """The list of this user's, where the system keeps such things; None where there is no home."""
    try:
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return Path(base) / "discreet" / LIST


def _list(digest: str, bound: int) -> str | None:
    place = _state()
    if place is None:
        return "there is no home folder"
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(f"{digest} {bound}\n".encode())
    except OSError as error:
        return f"{place}: {error.strerror or error}"
    return None


def _listed(frame: Any) -> int:
    """The largest bound with which a table of these values was counted by this user, or 1."""
    place = _state()
    try:
        lines = [] if place is None else place.read_text(encoding="ascii", errors="replace").split("\n")
    except OSError:
        return 1
    if not any(lines):
        return 1
    digest = digest_of(frame)
    own = [line.removeprefix(digest).strip() for line in lines if digest and line.startswith(digest)]
    return max([1, *(int(bound[:9]) for bound in own if bound.isdecimal())])
