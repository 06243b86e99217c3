"""The release folder: it appears whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.arrays import Integers
from discreet.document import document
from discreet.errors import BadInput, choose
from discreet.io.tables import arrow_frame, read_frame
from discreet.report import render

if TYPE_CHECKING:
    from discreet.release import Release

FORMATS = ("csv", "parquet")


def save(release: Release, folder: str | Path, format: str | None = None) -> str:
    """Write table, measurements, report and release.json; returns the digest of release.json."""
    import shutil
    import tempfile

    target = free_target(folder)
    suffix = check_format(format) or ("parquet" if release.schema.kind == "parquet" else "csv")
    part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    try:
        digest = _fill(part, release, suffix)
        part.chmod(0o755)
        if target.exists():
            target.rmdir()
        part.rename(target)
        return digest
    except OSError as error:
        raise BadInput(f"the release was to be saved in {target}", error.strerror or str(error)) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def check_format(format: str | None) -> str | None:
    return None if format is None else choose(format, FORMATS, "format")


def free_target(folder: str | Path) -> Path:
    """The folder, if a release can be put there; to be called before any budget is spent."""
    target = Path(folder).absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BadInput(f"the release was to be saved in {folder}", "that is there already", "Name a new folder")
    parent = target.parent
    if not parent.is_dir():
        raise BadInput(f"the release was to be saved in {folder}", f"there is no folder {parent}", "Make it first")
    if not os.access(parent, os.W_OK):
        raise BadInput(f"the release was to be saved in {folder}", f"the folder {parent} is not writable")
    return target


def _fill(part: Path, release: Release, suffix: str) -> str:
    write_frame(part / f"table.{suffix}", arrow_frame(release.schema, release.published.counts), suffix)
    if release.measured is not None:
        write_frame(part / f"measurements.{suffix}", arrow_frame(release.schema, release.measured.rows), suffix)
    (part / "report.html").write_text(render(release), encoding="utf-8")
    digests = {path.name: sha256(path) for path in sorted(part.iterdir())}
    (part / "release.json").write_text(json.dumps(document(release, digests), indent=1) + "\n", encoding="utf-8")
    return sha256(part / "release.json")


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
    """A release folder as read."""

    path: Path
    document: dict[str, Any]
    columns: tuple[str, ...]
    categories: Any
    counts: Integers
    measurements: Integers | None


def read_folder(path: str | Path) -> Folder:
    """The files of a release, parsed."""
    path = Path(path)
    try:
        document = json.loads((path / "release.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"the release in {path} was to be read", f"release.json cannot be read: {error}") from error
    count = document["schema"]["count"]
    frame = read_frame(_file(path, "table"))
    measured = _file(path, "measurements", optional=True)
    return Folder(
        path,
        document,
        tuple(frame.column_names),
        frame.drop_columns([count]),
        _integers(frame, count),
        None if measured is None else _integers(read_frame(measured), count),
    )


def _file(path: Path, stem: str, optional: bool = False) -> Any:
    for suffix in FORMATS:
        if (path / f"{stem}.{suffix}").is_file():
            return path / f"{stem}.{suffix}"
    if optional:
        return None
    raise BadInput(f"the release in {path} was to be read", f"there is no {stem} file in it")


def _integers(frame: Any, count: str) -> Integers:
    import pyarrow as pa

    return frame.column(count).cast(pa.int64()).to_numpy()


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
