"""A kill at any moment can waste budget, but leaves no half release, nothing unrecorded, and nothing in the way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import discreet as dc

from .disk import Disk
from .small import asked, complete, entries, prepared

ROOT = Path(__file__).parents[2]


def only_secret_folders_are_left(root: Path) -> None:
    """With a dot before their name, which only their owner can open."""
    left = [path for folder in root.iterdir() for path in folder.glob(".*")]
    assert left and all(path.name.startswith(".") and path.name.endswith(".secret") for path in left)
    assert all(path.stat().st_mode & 0o077 == 0 for path in left)


def test_killed_at_every_operation(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.faults.killed", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    only_secret_folders_are_left(tmp_path)
    *killed, last = sorted(tmp_path.iterdir())
    assert complete(last) and entries(str(last / "ledger.db")) == 1
    assert len(killed) >= 6
    for folder in killed:
        address = str(folder / "ledger.db")
        spent = entries(address)
        assert spent <= 1 and spent >= complete(folder)
        retried = folder / "out" if not complete(folder) else folder / "again"
        dc.run(asked(folder, address), out=retried)  # what was left behind is in nobody's way
        assert dc.verify(retried) and entries(address) == spent + 1
        left = [inside for path in folder.glob(".*") for inside in path.iterdir()]
        assert not left or [path.name.partition(".")[0] for path in left] == ["owner"], "the next one sweeps it away"


def test_the_operations_at_which_it_was_killed_are_all_there_are(tmp_path: Path) -> None:
    spec = prepared(tmp_path)
    with Disk(tmp_path, 0) as disk:
        dc.run(spec)
    assert disk.done.count("open") == 7 and disk.done.count("rename") == 3, disk.done  # lock, release, what is left
    assert complete(tmp_path)
