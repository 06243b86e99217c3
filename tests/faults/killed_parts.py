"""A release in parts with words of the operating system, again and again: each in a process that is killed at one more
operation of the disk; or whose workers are, and are started again; or that is killed while it sorts rows and joins them
to a universe.

    python -m tests.faults.killed_parts FOLDER driver|workers|sorting [STEP]

Each attempt has a folder of its own, named after the operation; the last one was not killed. With STEP only every so
many operations are fatal.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import discreet as dc
from discreet.parts import keyed
from tests.forked import child, load, way
from tests.parts.tables import KEYS, frame, in_parts

from .disk import Disk
from .small import BUDGET

MOST = 400  # operations: far more than there are
SIZES = (80, 70, 90)
KEY = "key"  # a file beside, for who looks whether the key is anywhere else


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def prepared(folder: Path) -> None:
    folder.mkdir()
    in_parts(folder / "in", frame(), SIZES)
    (folder / "work").mkdir()
    dc.ledger(str(folder / "ledger.db")).create("people", epsilon=BUDGET)


def released(folder: Path, out: str = "out", given: str = "in", **options: Any) -> Any:
    """The key is told outside of the folder that is looked through."""
    real = keyed.drawn

    def drawn(seed: int | None = None, words: str | None = None) -> keyed.Randomness:
        found = real(seed, words)
        with os.fdopen(os.open(folder / KEY, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as file:
            file.write(found.key)
        return found

    with patch("discreet.parts.release.drawn", drawn):
        return dc.release_parts(
            folder / given, "n", KEYS, 1, out=folder / "work" / out, os_randomness=True,
            ledger=str(folder / "ledger.db"), dataset="people", **options,
        )  # fmt: skip


@dataclass
class Mortal:
    """Every task is run in a process that is killed at one operation, and run again in another one; what both have
    written stays."""

    folder: Path
    fatal: int

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        if getattr(function, "folder", None) is not None:
            for task in tasks:
                with open(self.folder / "status", "a") as told:
                    told.write(f"{child(lambda task=task: self._attempt(function, task))}\n")
        return [function(task) for task in tasks]

    def _attempt(self, function: Callable[[Any], Any], task: Any) -> None:
        with Disk(self.folder / "work", self.fatal, die):
            function(task)


def driver(folder: Path, fatal: int) -> int:
    def attempt() -> None:
        with Disk(folder / "work", fatal, die):
            released(folder)

    return child(attempt)


def workers(folder: Path, fatal: int) -> int:
    def look(name: str) -> None:
        if name == "publish":  # before the drafts go
            (folder / "drafts").mkdir()
            for path in (folder / "work").glob(".*.secret/**/part-*.parquet"):
                (folder / "drafts" / path.name).write_bytes(path.read_bytes())

    status = child(lambda: released(folder, engine=Mortal(folder, fatal), stages=look))
    ended = set((folder / "status").read_text().split())
    return status if ended == {"0"} else -signal.SIGKILL if status == 0 else status


def sorting(folder: Path, fatal: int) -> int:
    """Rows in no order, the universe to be joined; it dies before anything is charged, or not at all."""

    def attempt() -> None:
        import numpy as np

        rows = frame()
        in_parts(folder / "mixed", rows.take(np.random.default_rng(0).permutation(rows.num_rows)), SIZES)
        with Disk(folder / "work", fatal, die) as disk:

            def look(name: str) -> None:
                disk.fatal = 0 if name == "record" else disk.fatal

            released(folder, given="mixed", universe=rows.select(KEYS), part_rows=60, stages=look)

    return child(attempt)


def main(home: Path, how: Callable[[Path, int], int], step: int) -> int:
    for fatal in range(1, MOST, step):
        folder = home / f"{fatal:03d}"
        assert child(lambda place=folder: prepared(place)) == 0
        status = how(folder, fatal)
        if status != -signal.SIGKILL:
            return status
    return 1


if __name__ == "__main__":
    load(*way("keep_distribution"), "discreet.parts.verify", "tests.parts.tables")
    step = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    sys.exit(main(Path(sys.argv[1]), {"driver": driver, "workers": workers, "sorting": sorting}[sys.argv[2]], step))
