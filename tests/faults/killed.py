"""The same small release again and again, each in a process that is killed at one more operation of the disk.

    python -m tests.faults.killed FOLDER

Each attempt has a folder of its own, named after the operation at which it ended; the last one was not killed.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from discreet.run import run
from tests.forked import child, load, way

from .disk import Disk
from .small import asked, prepared

MOST = 200  # operations: far more than there are


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def attempt(folder: Path, fatal: int) -> None:
    with Disk(folder, fatal, die):
        run(asked(folder, str(folder / "ledger.db")))


def main() -> int:
    home = Path(sys.argv[1])
    for fatal in range(1, MOST):
        folder = home / f"{fatal:03d}"
        assert child(lambda place=folder: prepared(place)) == 0
        status = child(lambda place=folder, last=fatal: attempt(place, last))
        if status != -signal.SIGKILL:
            return status
    return 1


if __name__ == "__main__":
    load(*way("row_by_row"))
    sys.exit(main())
