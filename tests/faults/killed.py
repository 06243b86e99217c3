"""The same small release again and again, each in a process that is killed at one more operation of the disk.

    python -m tests.faults.killed FOLDER

Each attempt has a folder of its own, named after the operation at which it ended; the last one was not killed.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from pathlib import Path

from discreet.run import run

from .disk import Disk
from .small import asked, prepared

MOST = 200  # operations: far more than there are
LOADED = (
    "discreet.io.folder", "discreet.ledger.database", "discreet.report.figures", "discreet.report.prepared",
    "discreet.ways.row_by_row.way", "discreet.ways.row_by_row.evidence", "matplotlib.backends.backend_svg",
    "matplotlib.figure", "scipy.sparse", "scipy.special", "scipy.signal",
)  # fmt: skip


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def attempt(folder: Path, fatal: int) -> None:
    with Disk(folder, fatal, die):
        run(asked(folder, str(folder / "ledger.db")))


def child(work: object) -> int:
    """The status of a process of its own that does `work`; Arrow's threads never start in the parent."""
    number = os.fork()
    if number == 0:
        try:
            work()  # type: ignore[operator]
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


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
    for module in LOADED:  # once, for all the children
        import_module(module)
    sys.exit(main())
