"""What is done to one part: look at it, add noise, map. Each is a value that can be called, sent to where the part is.

They hold keys. None is shown, and no engine writes them down.
"""

from __future__ import annotations

import hashlib
import hmac
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, DiscreetError
from discreet.io.made_of_others import FewValues
from discreet.parts.given import FolderNames
from discreet.parts.keyed import PartAddress, Randomness
from discreet.parts.tasks import Failed, Looked, LookTask, Mapped, MapTask, Noised, NoiseTask, Summary, summary_of
from discreet.public_map import SeenValues, seen_of
from discreet.sample.bits import unguessable
from discreet.table import Schema, Table, refuse_large
from discreet.ways import way_named

TaskOf = TypeVar("TaskOf", LookTask, NoiseTask, MapTask)
SummaryOf = TypeVar("SummaryOf", Looked, Noised, Mapped)
CHANGED = "Leave the data alone while they are released, and release again"


@dataclass(frozen=True)
class Reading:
    """How a part is read: what the user says about the rows."""

    count: str
    keys: tuple[str, ...] | str | None
    contributions: int | None = None
    drop_totals: bool = False
    rows_are_disjoint: bool = False
    suppressed_as: int | None = None
    folders: FolderNames = FolderNames()  # columns that stand in the names of folders

    def refuse_totals(self, parts: Sequence[Sequence[FewValues]], bound: int) -> None:
        """Those that only all parts together show. `bound`: in how many rows one person may be counted."""
        from discreet.io.totals import TotalsRule, refuse_totals_across

        paid = self.contributions is not None and bound > 1
        refuse_totals_across(parts, TotalsRule(self.drop_totals, self.rows_are_disjoint, paid))

    def table(self, content: bytes, file: str) -> Table:
        return self.of(self.folders.added(parquet_of(content, file), file))

    def of(self, frame: Any) -> Table:
        from discreet.io.tables import table

        return table(
            frame, self.count, self.keys, contributions=self.contributions, drop_totals=self.drop_totals,
            rows_are_disjoint=self.rows_are_disjoint, suppressed_as=self.suppressed_as,
        )  # fmt: skip


def parquet_of(content: bytes, file: str) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(pa.BufferReader(content))
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise BadInput(f"{file} was to be read as Parquet", str(error).splitlines()[0]) from error


def failed(part: int, file: str, error: DiscreetError) -> Failed:
    """What went wrong with a part; retrying would not help."""
    asked, found, do = error.parts
    return Failed(part, f"part {part + 1} ({Path(file).name}): {asked}", found, do)


def guarded(task: TaskOf, work: Callable[[TaskOf], SummaryOf], key: bytes) -> Summary:
    """What comes of a task, with its proof. Of an error of the software no more is told than where it is: its words may
    have a value in them, and an engine logs them. What has to do with disks and memory may go well another time."""
    found: Looked | Noised | Mapped | Failed
    try:
        found = work(task)
    except DiscreetError as error:
        found = failed(task.part, task.file, error)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"an error of the software: {type(error).__name__} at {Path(at.filename).name}:{at.lineno}"
        found = Failed(task.part, f"part {task.part + 1} ({Path(task.file).name}) was worked on", kind, "Report it")
    return summary_of(found, key)


def read_part(part: int, file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise BadInput(f"{Path(file).name} was to be read", error.strerror or str(error)) from error


@dataclass(frozen=True)
class Look:
    """What can be said of a part before anything is spent; its counts are checked and not told."""

    reading: Reading
    key: bytes = field(repr=False)  # of tags, and of what proves summaries
    way: str = ""
    kept: Any = None  # what makes the blocks whose sums are kept, where some are
    parts: int = 1  # how many there are

    def __call__(self, task: LookTask) -> Summary:
        return guarded(task, self.looked, self.key)

    def looked(self, task: LookTask) -> Looked:
        from discreet.io.formulas import formula_columns
        from discreet.io.totals import few_texts

        content = read_part(task.part, task.file)
        found = self.reading.table(content, task.file)
        refuse_large(found.counts, self.parts)
        blocks, sizes = (None, None) if self.kept is None else self._blocks(found)
        schema = found.schema
        categories = schema.categories
        first, last = (tuple(column[row].as_py() for column in categories.columns) for row in (0, -1))
        return Looked(
            task.part, schema.rows, tag_of(content, self.key),
            tuple((name, str(categories.column(name).type)) for name in schema.keys),
            first, last, keys_digest(categories), schema.contributions, schema.dropped_totals,
            schema.rows_are_disjoint, formula_columns(categories, "parquet"), blocks, sizes,
            few_texts(categories), found.given_rows is not None, task.file,
        )  # fmt: skip

    def _blocks(self, table: Table[Any]) -> tuple[Any, Integers]:
        """The key columns of one row of every block, and how many rows it has."""
        block = blocks_of(self.way, self.kept, table.schema.categories)[0]
        _, first, sizes = np.unique(block, return_index=True, return_counts=True)
        return table.schema.categories.take(first), sizes.astype(np.int64)


def blocks_of(way: str, kept: Any, categories: Any) -> tuple[Integers, tuple[str, ...]]:
    """The block of every row, and the names of the blocks."""
    hooks = way_named(way).in_parts
    assert hooks is not None and hooks.numbered is not None
    return hooks.numbered(kept, categories, categories.num_rows)


def tag_of(content: bytes, key: bytes) -> bytes:
    """By which data are known again: a digest under a key, of which nothing can be told without the key."""
    return hmac.digest(key, content, "sha256")


def keys_digest(categories: Any) -> str:
    """Of public keys, as they are written."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, categories.schema) as writer:
        writer.write_table(categories.combine_chunks())
    return hashlib.sha256(sink.getvalue()).hexdigest()


@dataclass(frozen=True)
class AddNoise:
    """The only pass that touches the secret counts, and the only one with secret randomness."""

    way: str
    plan: Any = field(repr=False)
    digest: bytes  # of the plan
    version: str
    reading: Reading
    folder: str  # of drafts: files are written there, each under a name of its own
    key: bytes = field(repr=False)  # of tags, and of what proves summaries
    randomness: Randomness = field(repr=False)
    asks: int | None = None  # up to which count the plan asks how often each occurs
    kept: Any = None  # what makes the blocks whose sums are kept, where some are

    def address(self, task: NoiseTask, purpose: str = "rows") -> PartAddress:
        return PartAddress(task.tag, self.digest, self.version, task.part, purpose)

    def __call__(self, task: NoiseTask) -> Summary:
        return guarded(task, self.noised, self.key)

    def noised(self, task: NoiseTask) -> Noised:
        require_version(self.version, "noise was to be drawn")
        content = read_part(task.part, task.file)
        if not hmac.compare_digest(tag_of(content, self.key), task.tag):
            name = Path(task.file).name
            raise BadInput(f"{name} was to be released", "it was changed since it was looked at", CHANGED)
        table = self.reading.table(content, task.file)
        in_parts = way_named(self.way).in_parts
        assert in_parts is not None
        given = self.randomness.sealed(task.sealed, self.address(task, "given"))
        rows = in_parts.draw(self.plan, table, self.randomness.bits(self.address(task)), given)
        file, digest = write_part(self.folder, task.part, table.schema, rows)
        told, sums = b"", None
        if self.asks is not None:
            told = self.randomness.sealed(histogram(table.counts, self.asks), self.address(task, "told"))
        if self.kept is not None:
            block = blocks_of(self.way, self.kept, table.schema.categories)[0]
            sums = np.zeros(int(block.max()) + 1, dtype=np.int64)
            np.add.at(sums, block, rows)
        return Noised(task.part, file, len(rows), digest, seen_of(rows), told, sums, task.tag)


def require_version(version: str, asked: str) -> None:
    """Two versions are two functions of the same bits, and what both make of a count could give it away; nor need they
    map alike."""
    from discreet import __version__

    if __version__ != version:
        found = f"a worker has discreet {__version__}, and the release is made by {version}"
        raise BadInput(asked, found, "Install the same version everywhere")


def histogram(counts: Integers, most: int) -> bytes:
    """How many rows have each count 0..most; always as long, so that its length tells nothing."""
    return np.bincount(np.minimum(counts, most), minlength=most + 1).astype("<i8").tobytes()


def histogram_of(content: bytes) -> SeenValues:
    numbers = np.frombuffer(content, dtype="<i8").astype(np.int64)
    there = np.flatnonzero(numbers)
    return SeenValues(there, numbers[there])


@dataclass(frozen=True, eq=False)
class ToCounts:
    """Noisy values become counts. All of it is public, but for the key: anybody can do it again."""

    way: str
    facts: Any = field(repr=False)
    version: str
    count: str
    seen: SeenValues = field(repr=False)  # the noisy values of all parts
    folder: str
    key: bytes = field(repr=False)  # of what proves summaries

    def __call__(self, task: MapTask) -> Summary:
        return guarded(task, self.mapped, self.key)

    def mapped(self, task: MapTask) -> Mapped:
        from discreet.io.columns import whole_numbers

        require_version(self.version, "noisy values were to be mapped")
        content = read_part(task.part, task.file)
        if hashlib.sha256(content).hexdigest() != task.digest:
            found = "its noisy values were changed since they were drawn"
            raise BadInput(f"{Path(task.file).name} was to be mapped", found, CHANGED)
        in_parts, frame = way_named(self.way).in_parts, parquet_of(content, task.file)
        assert in_parts is not None
        categories = frame.drop_columns([self.count])
        counts = in_parts.counts(self.facts, whole_numbers(frame, self.count), self.seen, task.before)
        schema = Schema(tuple(categories.column_names), self.count, len(counts), categories)
        file, digest = write_part(self.folder, task.part, schema, counts)
        return Mapped(task.part, file, len(counts), digest, seen_of(counts), task.digest)


def write_part(folder: str, part: int, schema: Schema, values: Integers) -> tuple[str, str]:
    """A part in a file of its own: two copies of a task never write to one. Its name, and its digest."""
    from discreet.io.frames import arrow_frame
    from discreet.io.written_csv import written
    from discreet.io.written_parquet import write_parquet

    place = Path(folder) / f"part-{part:05d}.{unguessable()}.parquet"
    return str(place), written(place, write_parquet, arrow_frame(schema, values))
