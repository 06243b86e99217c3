"""A full disk: whatever write fails, the release is there as a whole or not at all, and what was spent is on record."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import discreet as dc

from .disk import Disk
from .small import ROWS, asked, charged_before_drawn, complete, entries, prepared

MOST = 200  # operations of one release: far more than there are
NOTE = "n.csv.contributions.json"  # comes before the table it is about, so that no table is without it
FULL = bool(os.environ.get("DISCREET_FULL"))


def parts(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.name.endswith((".part", ".secret"))]


@pytest.mark.parametrize(
    ("format", "way"),
    [("csv", ROWS), ("parquet", ROWS), ("csv", dc.Measure(("total", "cells")))],
    ids=["rows", "rows in Parquet", "margins"],
)
def test_a_disk_that_is_full_at_any_write(format: str, way: Any, tmp_path: Path) -> None:
    spec = prepared(tmp_path, way=way)
    spec = replace(spec, output=replace(spec.output, format=format))
    address = str(tmp_path / "ledger.db")
    for fatal in range(1, MOST):
        before = entries(address)
        with charged_before_drawn(address) as drawn, Disk(tmp_path, fatal) as disk:
            failure = None
            try:
                dc.run(spec)
            except dc.DiscreetError as error:
                failure = error
        spent = entries(address) - before
        assert spent == bool(drawn), "what was drawn is charged, and nothing else is"
        assert not parts(tmp_path)
        if failure is None:
            swept = disk.done[
                fatal - 1 :
            ]  # after the release is there: what is left is moved away, or removed in place
            assert complete(tmp_path) and spent == 1 and swept in ([], ["rename", "rmdir"])
            break
        assert not complete(tmp_path) and "No space left" in str(failure)
        assert ("stays charged" in str(failure)) == bool(spent), "who tries again knows that it costs again"
    assert {"mkdir", "write", "rename"} <= set(disk.done) and fatal > 5


def written_spec(folder: Path) -> None:
    asked(folder, "ledger.db").write(folder / "release.toml")


def designed(folder: Path) -> None:
    from discreet.io.files import write_json

    write_json(folder / "design.json", {"matrix": [[0.5] * 40] * 40})


def counted(folder: Path) -> None:
    people, rows, out = (str(folder / name) for name in ("people.csv", "rows.csv", "n.csv"))
    words = ["count", people, "--by", "place", "--universe", rows, "-o", out]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        from discreet.cli import main

        patch.setattr("sys.argv", ["discreet", *words])
        main()
    if ended.value.code:
        raise dc.BadInput("a file was to be counted", "it could not be written")


@pytest.mark.parametrize("writer", [written_spec, designed, counted])
def test_no_file_is_left_in_part(writer: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("place\na\nb\na\n")
    (tmp_path / "rows.csv").write_text("place\na\nb\n")
    before = {path.name for path in tmp_path.iterdir()}
    for fatal in range(1, MOST):
        with Disk(tmp_path, fatal) as disk:
            try:
                writer(tmp_path)
            except dc.DiscreetError:
                assert {path.name for path in tmp_path.iterdir()} - before <= {NOTE}, disk.done
                continue
        break
    assert len(disk.done) < fatal and fatal > 2
    assert len(list(tmp_path.iterdir())) > len(before)


def test_a_ledger_that_cannot_grow_stops_the_release(tmp_path: Path) -> None:
    """SQLite's own word for a full disk, from its own limit."""
    from sqlalchemy import event

    spec = prepared(tmp_path)
    book = dc.ledger(tmp_path / "ledger.db")
    event.listen(book._engine, "connect", lambda connection, _: connection.execute("PRAGMA max_page_count = 1"))
    for attempt in count():
        before = entries(str(tmp_path / "ledger.db"))
        with charged_before_drawn(str(tmp_path / "ledger.db")) as drawn:
            try:
                dc.release(spec.table.read(), 1, spec.way, ledger=book, dataset="people")
            except dc.BadInput as error:
                assert "full" in str(error) and not drawn
                assert entries(str(tmp_path / "ledger.db")) == before
                return
        assert attempt < 100, "the ledger never filled up"


LIMITED = """
import resource, sys
from tests.faults.small import asked
from pathlib import Path
import discreet as dc
from discreet.cli.common import say
folder, limit = Path(sys.argv[1]), int(sys.argv[2])
import discreet.io.folder, discreet.ledger.database
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
try:
    dc.run(asked(folder, str(folder / "ledger.db"), format="parquet"))
except dc.DiscreetError as error:
    print(error)
    sys.exit(2)
"""


@pytest.mark.parametrize("limit", range(0, 40_000, 1_000) if FULL else [0, 500, 30_000, 10_000_000])
def test_no_file_may_be_larger_than_the_system_allows(limit: int, tmp_path: Path) -> None:
    """The kernel's own refusal, which C code meets too: the ledger and Parquet."""
    prepared(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path), str(limit)], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 2), done.stderr
    spent = entries(str(tmp_path / "ledger.db"))
    assert complete(tmp_path) == (done.returncode == 0) and not parts(tmp_path)
    assert spent >= complete(tmp_path)
    assert (spent, done.returncode) == (1, 0) or limit < 1_000_000


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


if FULL and hasattr(os, "geteuid") and os.geteuid() == 0:  # an extra of the full run, which only root can mount

    @pytest.mark.parametrize("kilobytes", range(32, 128, 4))
    def test_a_small_disk(kilobytes: int, tmp_path: Path) -> None:
        with small_disk(tmp_path, kilobytes) as disk:
            try:
                spec = prepared(disk)
            except dc.DiscreetError:
                return  # not even the ledger has room
            address = str(disk / "ledger.db")
            with charged_before_drawn(address) as drawn:
                try:
                    dc.run(spec)
                except dc.DiscreetError:
                    assert not (disk / "out").exists()
            assert entries(address) == bool(drawn) and not parts(disk)
            assert not (disk / "out").exists() or complete(disk)
