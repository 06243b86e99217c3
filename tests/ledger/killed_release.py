"""The same release again and again, each in a process that kills itself when it reaches the stage it was told.

    python -m tests.ledger.killed_release FOLDER...

The name of each folder says the stage; what was reached is written into its file `log`, how it ended into `status`.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.io import folder
from discreet.io.tables import table
from discreet.release import release
from tests.forked import child, load, way


def released(home: Path) -> None:
    def reach(stage: str) -> None:
        with (home / "log").open("a") as file:
            file.write(stage + "\n")
        if stage == home.name:
            os.kill(os.getpid(), signal.SIGKILL)

    def reaching(stage: str, function: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            reach(stage)
            return function(*arguments, **options)

        return call

    folder.write_frame = reaching("write the table", folder.write_frame)  # type: ignore[assignment]
    folder.pages = reaching("write the report", folder.pages)  # type: ignore[assignment]
    folder.write_record = reaching("write release.json", folder.write_record)  # type: ignore[assignment]
    people = table(pa.table({"county": ["a", "b", "c"], "people": [0, 2, 5]}), "people")
    done = release(people, 1, max_count=9, ledger=str(home / "ledger.db"), dataset="people", stages=reach)
    done.save(home / "out", stages=reach)
    reach("saved")


if __name__ == "__main__":
    load(*way("keep_distribution"))
    for home in map(Path, sys.argv[1:]):
        status = child(lambda place=home: released(place))
        (home / "status").write_text(str(status))
