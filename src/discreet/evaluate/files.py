"""Evaluations on disk: the finished table, and the journal of an evaluation that may be interrupted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import BadInput, unread
from discreet.evaluate.study import ErrorRow

SUFFIXES = (".parquet", ".csv", ".json")
Finished = dict[tuple[str, str], list[ErrorRow]]


def check_target(path: Path) -> None:
    """Refuse a file that could not be written, before any work is done."""
    if path.suffix.lower() not in SUFFIXES:
        raise BadInput(f"an evaluation was to be written to {path}", f"the name must end in {', '.join(SUFFIXES)}")
    if not path.absolute().parent.is_dir():
        raise BadInput(f"an evaluation was to be written to {path}", f"there is no folder {path.absolute().parent}")


def save(frame: Any, value: Any, path: Path) -> None:
    check_target(path)
    part = path.with_name(path.name + ".part")
    try:
        if path.suffix.lower() == ".parquet":
            from pyarrow.parquet import write_table

            write_table(frame, part)
        elif path.suffix.lower() == ".csv":
            from pyarrow.csv import write_csv

            write_csv(frame, part)
        else:
            part.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput(f"an evaluation was to be written to {path}", error.strerror or str(error)) from error


@dataclass(frozen=True)
class Journal:
    """One line for each finished job. A line cut off in the middle is forgotten, and its job done again."""

    path: Path
    fingerprint: str
    finished: Finished

    @classmethod
    def open(cls, path: Path, fingerprint: str) -> Journal:
        finished: Finished = {}
        try:
            lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else [""]
            for line in lines[:-1]:
                entry = json.loads(line)
                if entry["fingerprint"] != fingerprint:
                    raise BadInput(
                        f"an evaluation was to be resumed from {path}",
                        "it belongs to another table, seed or setting",
                        "Name another file, or delete it",
                    )
                finished[entry["method"], entry["epsilon"]] = entry["rows"]
            path.write_text("".join(line + "\n" for line in lines[:-1]), encoding="utf-8")
        except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
            raise BadInput(
                f"an evaluation was to be resumed from {path}", f"the file cannot be used: {unread(error)}"
            ) from error
        return cls(path, fingerprint, finished)

    def add(self, method: str, epsilon: str, rows: list[ErrorRow]) -> None:
        entry = {"fingerprint": self.fingerprint, "method": method, "epsilon": epsilon, "rows": rows}
        with open(self.path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(entry) + "\n")
