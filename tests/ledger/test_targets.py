"""A place that no folder can take is refused before anything is charged."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.ledger import ledger
from discreet.run import run
from discreet.spec.values import LedgerSpec, Output, ReleaseSpec, TableSpec
from discreet.ways.row_by_row.spec import RowByRow


@pytest.fixture
def spec(tmp_path: Path) -> ReleaseSpec:
    (tmp_path / "t.csv").write_text("town,n\na,3\nb,1\nc,4\n")
    ledger(tmp_path / "l.db").create("d", epsilon=9)
    table = TableSpec(str(tmp_path / "t.csv"), "n", ("town",))
    return ReleaseSpec(
        table, dc.Pure(1), RowByRow("geometric", 9), LedgerSpec("d", str(tmp_path / "l.db")),
        Output(str(tmp_path / "out")),
    )  # fmt: skip


def refused(spec: ReleaseSpec, tmp_path: Path, words: str) -> None:
    before = sorted(tmp_path.iterdir())
    with pytest.raises(dc.BadInput, match=words):
        run(spec)
    assert ledger(tmp_path / "l.db").status("d").releases == 0
    assert sorted(tmp_path.iterdir()) == before, "nothing is left behind"


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_refused(spec: ReleaseSpec, tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    refused(spec, tmp_path, "that is a link")


def test_a_mount_point_is_refused(spec: ReleaseSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == tmp_path / "out")
    refused(spec, tmp_path, "something is mounted there")


def test_what_cannot_be_moved_away_is_refused(
    spec: ReleaseSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder mounted on one of the same disk does not look like a mount point: only renaming tells."""
    real = Path.rename
    (tmp_path / "out").mkdir()

    def busy(self: Path, target: Any) -> Path:
        if tmp_path / "out" in (self, Path(target)):
            raise OSError(errno.EBUSY, "Device or resource busy")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", busy)
    refused(spec, tmp_path, "Device or resource busy")


def test_an_empty_folder_is_taken_and_stays_itself_where_the_release_is_refused(
    spec: ReleaseSpec, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    node = (tmp_path / "out").stat().st_ino
    (tmp_path / "t.csv").write_text("town,n\na,-3\n")
    refused(spec, tmp_path, "negative")
    assert (tmp_path / "out").stat().st_ino == node
    (tmp_path / "t.csv").write_text("town,n\na,3\n")
    run(spec)
    assert dc.verify(tmp_path / "out") and ledger(tmp_path / "l.db").status("d").releases == 1
