"""Tables in parts, and engines that misbehave."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet as dc

KEYS = ["area", "age"]
ROWS = 240


def frame(rows: int = ROWS, seed: int = 1) -> Any:
    counts = np.random.default_rng(seed).negative_binomial(1, 0.2, rows)
    places = np.arange(rows)
    areas = [f"a{place // 8:03d}" for place in places.tolist()]
    return pa.table({"area": areas, "age": places % 8, "n": counts})


def in_parts(folder: Path, table: Any, sizes: Sequence[int]) -> Path:
    """Cut into parts of these sizes, in order."""
    folder.mkdir()
    start = 0
    for number, size in enumerate(sizes):
        pq.write_table(table.slice(start, size), folder / f"p{number}.parquet")
        start += size
    assert start == table.num_rows
    return folder


def usual(folder: Path) -> Path:
    return in_parts(folder, frame(), [80, 70, 90])


def published(out: Path, name: str = "table") -> Any:
    """All parts of a release, one after the other."""
    return pa.concat_tables([pq.read_table(path) for path in sorted((out / name).iterdir())])


def content(out: Path) -> dict[str, bytes]:
    """Every file of a folder but those with dates in them."""
    files = [path for path in sorted(out.rglob("*")) if path.is_file() and path.suffix != ".html"]
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files if path.name != "release.json"}


@dataclass
class Shuffled:
    """In the other order."""

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        return [function(task) for task in reversed(tasks)]


def opened(summary: Any) -> Any:
    """What a task found; who has the bytes can read them."""
    return pickle.loads(summary.content)


@dataclass
class Killed:
    """Every task dies after its write, and is run again."""

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        for task in tasks:
            function(task)
            yield function(task)


@dataclass
class Speculative:
    """Every task is run twice, and both copies come back."""

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        return [function(task) for task in [*tasks, *reversed(tasks)]]


@dataclass
class Littering:
    """Leaves files in the folder that tasks write to."""

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        folder = getattr(function, "folder", None)
        if folder is not None:
            (Path(folder) / "part-00000.parquet").write_bytes(b"PAR1 half of a part")
            (Path(folder) / "_temporary").write_text("")
        return [function(task) for task in tasks]


@dataclass
class Losing:
    """Forgets the last summary of a pass that writes."""

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        found = [function(task) for task in tasks]
        return found if getattr(function, "folder", None) is None else found[:-1]


@dataclass
class Meddling:
    """Does something before, or after, the tasks of a pass."""

    before: Callable[[str, Any], None] = lambda name, tasks: None
    after: Callable[[str, list[Any]], None] = lambda name, found: None
    passes: list[str] = field(default_factory=list)

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        name = type(function).__name__
        self.passes.append(name)
        self.before(name, tasks)
        found = [function(task) for task in tasks]
        self.after(name, found)
        return found


@contextlib.contextmanager
def nothing_left(folder: Path) -> Iterator[None]:
    """What is in a folder stays as it was."""
    before = sorted(path.name for path in folder.iterdir())
    yield
    assert sorted(path.name for path in folder.iterdir()) == before


def release(given: Path, out: Path, **options: Any) -> Any:
    return dc.release_parts(given, "n", KEYS, out=out, **{"epsilon": 1, **options})


def changed(folder: Path, name: str, table: Any) -> Path:
    pq.write_table(table, folder / name)
    return folder


def with_column(table: Any, name: str, values: Any) -> Any:
    return table.set_column(table.column_names.index(name), name, pa.array(values))
