"""How far a table walks: which files of the package a release, a save, a verify and an estimate enter, and how often
the walk goes from one file to another. Fewer is easier to follow. `python tools/walk.py [--steps] [--checks]`, after
`make setup`: the files of every step, and how many changes of file each check of a verify makes.

A file is entered when one of its functions is called; calls made by other packages, and code that dataclasses write
for themselves, do not count. The search for a distribution goes to and fro between its own files and its helpers as
often as there are fits to compare; nobody follows it there, so it counts as one stay. What is asked of the analyst's
side, for the pages, is a walk of its own and counted as such: inside a save and a verify it is one stay.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import discreet as dc

SOURCE = Path(dc.__file__).parent
ASIDE = ("report/prepared.py", "distribution/evidence/")  # walks of their own
WAYS: dict[str, dict[str, Any]] = {
    "keep-distribution": {"epsilon": 1, "max_count": 50},
    "row-by-row": {"epsilon": 1, "max_count": 50, "mechanism": "geometric"},
    "keep-sums": {"epsilon": 1, "keep": ["margin:sex"]},
}


def walked(run: Callable[[], object]) -> list[str]:
    """The files entered, in order, a file once for every stay in it."""
    stays: list[str] = []

    def enter(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(SOURCE)):
            name = _aside(frame) or Path(frame.f_code.co_filename).relative_to(SOURCE).as_posix()
            if not stays or stays[-1] != name:
                stays.append(name)

    sys.setprofile(enter)
    try:
        run()
    finally:
        sys.setprofile(None)
    return stays


def _aside(frame: FrameType | None) -> str | None:
    """The walk of its own that a call was made in, directly or not: the outermost, if any."""
    found = None
    while frame is not None:
        name = frame.f_code.co_filename.removeprefix(f"{SOURCE}/")
        found = next((one for one in ASIDE if name.startswith(one)), found)
        frame = frame.f_back
    return found


def walks(options: dict[str, Any], table: dc.Table) -> dict[str, list[str]]:
    """Of every step of one release; the first, unwatched, round loads and compiles what is loaded when needed."""
    with tempfile.TemporaryDirectory() as place:
        _watched(options, table, Path(place) / "first")
        return _watched(options, table, Path(place) / "second")


def checks(options: dict[str, Any], table: dc.Table) -> list[tuple[str, int]]:
    """Of every check of a verify: its name, and how often it goes from one file to another."""
    account_kind = import_module("discreet.verify")._Account
    found, add = [], account_kind.add

    def counted(account: Any, what: str, run: Callable[[], list[str]]) -> None:
        found.append((what, len(walked(lambda: add(account, what, run))) - 1))

    with tempfile.TemporaryDirectory() as place:
        dc.release(table, **options).save(Path(place) / "out")
        dc.verify(Path(place) / "out")  # what is loaded when it is needed is loaded
        account_kind.add = counted
        try:
            dc.verify(Path(place) / "out")
        finally:
            account_kind.add = add
    return found


def _watched(options: dict[str, Any], table: dc.Table, folder: Path) -> dict[str, list[str]]:
    made: list[dc.Release] = []
    steps: dict[str, Callable[[], object]] = {
        "release": lambda: made.append(dc.release(table, **options)),
        "save": lambda: made[0].save(folder),
        "verify": lambda: dc.verify(folder),
        "estimate": lambda: dc.estimate(folder).total(),
    }
    return {name: walked(run) for name, run in steps.items()}


def table() -> dc.Table:
    import pyarrow as pa

    rows = range(500)
    columns = {"place": [f"p{i:03d}" for i in rows], "sex": ["fm"[i % 2] for i in rows], "n": [i * i % 7 for i in rows]}
    return dc.table(pa.table(columns), "n", keys=["place", "sex"])


def main(words: list[str]) -> None:
    for way, options in WAYS.items():
        for step, stays in walks(options, table()).items():
            print(f"{way:<18} {step:<9} {len(set(stays)):3d} files {len(stays) - 1:4d} switches")
            if "--steps" in words:
                for name, times in Counter(stays).most_common():
                    print(f"    {times:4d} {name}")
        for what, switches in checks(options, table()) if "--checks" in words else ():
            print(f"    {switches:4d} {what}")


if __name__ == "__main__":
    main(sys.argv[1:])
