"""A release in a process of its own that kills itself when it reaches the stage it was told."""

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

url, out, log, fatal = sys.argv[1:]


def reach(stage: str) -> None:
    with Path(log).open("a") as file:
        file.write(stage + "\n")
    if stage == fatal:
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
done = release(people, 1, max_count=9, ledger=url, dataset="people", stages=reach)
done.save(out, stages=reach)
reach("saved")
