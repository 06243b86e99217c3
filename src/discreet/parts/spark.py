"""Spark as an engine: it carries numbers of tasks, and brings back what came of them. Rows do not pass through it.

What is done to a part, and the key in it, goes from this process to the workers that ask for it, from memory to memory
(`io/channel.py`): it is in no plan, task, log, checkpoint or file of Spark's. A task that is lost, retried or
speculated on asks again, has the same bits, and writes the same bytes.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from discreet.errors import BadInput
from discreet.io.key_columns import must_have
from discreet.io.place import free_target, secret_folder
from discreet.io.spark import (
    SeenFrom,
    address,
    column,
    pattern,
    said_by_spark,
    session_of,
    session_or_new,
    spark_error,
)
from discreet.parts.front import PART_ROWS
from discreet.parts.manifest import MEASUREMENTS, TABLE
from discreet.parts.release import BESIDE, release_parts
from discreet.parts.work import PartsRelease
from discreet.release import asked

TIMES = "spark.sql.parquet.outputTimestampType"
PRICES: dict[str, int | None] = {"alpha": None, "rho": None, "delta": 0}

TaskOf = TypeVar("TaskOf")
SummaryOf = TypeVar("SummaryOf")


@dataclass(frozen=True)
class Spark:
    """An engine of Spark's, over the session that there is.

    session: another one. host, port: how workers reach this process; as they reach Spark's driver, unless said."""

    session: Any = field(default=None, repr=False)
    host: str | None = None
    port: int = 0

    def run(self, function: Callable[[TaskOf], SummaryOf], tasks: Sequence[TaskOf]) -> Iterator[SummaryOf]:
        from pyspark import cloudpickle

        session = self.session or session_or_new("a release was to be made by Spark")
        work = cloudpickle.dumps(function)

        def content(number: int) -> bytes:
            return pickle.dumps((work, tasks[number]))

        if not tasks:
            return
        with SeenFrom(self.host, self.port).offer(session, content) as ticket:

            def done(batches: Iterator[Any]) -> Iterator[Any]:
                import pyarrow as pa

                for batch in batches:
                    for number in batch.column(0).to_pylist():
                        work, task = pickle.loads(ticket.content(number))
                        summary = pickle.dumps(pickle.loads(work)(task))
                        yield pa.RecordBatch.from_pydict({"summary": pa.array([summary], pa.binary())})

            numbers = session.range(0, len(tasks), 1, len(tasks))
            try:
                found = numbers.mapInArrow(done, "summary binary").collect()
            except spark_error() as error:
                raise _failed(error) from error
        for row in found:
            yield pickle.loads(row.summary)


def _columns(frame: Any, count: Any, keys: Any) -> list[str]:
    """The key columns, of those that the frame has."""
    asked_for = "a Spark data frame was to be released"
    if not isinstance(count, str) or keys is None:
        raise BadInput(asked_for, "its column of counts and its key columns are not named", "Give count and keys")
    found = [str(name) for name in frame.columns]
    if len(set(found)) != len(found):
        raise BadInput(asked_for, "two of its columns have the same name")
    must_have(count, found, "count column")
    others = [name for name in found if name != count]
    names = others if keys == "all" else [keys] if isinstance(keys, str) else [str(name) for name in keys]
    if not names or len(set(names)) != len(names) or count in names:
        raise BadInput(asked_for, f"the keys are {', '.join(names) or 'none'}", "Name each key column once")
    for name in names:
        must_have(name, found, "key column")
    return names


@contextmanager
def _times_that_spark_reads(session: Any) -> Iterator[None]:
    """Times in millionths of a second: as Spark writes them if nothing is said they come out in billionths, which are
    in no file that it reads."""
    before = session.conf.get(TIMES)
    session.conf.set(TIMES, "TIMESTAMP_MICROS")
    try:
        yield
    finally:
        session.conf.set(TIMES, before)


def _failed(error: Exception) -> BadInput:
    """What Spark says of a task that failed, as often as it tried it."""
    do = "Workers need discreet and what it needs, the same versions as here, and the folders under the same names"
    return BadInput("a task was run by Spark", said_by_spark(error), do)


@dataclass(frozen=True, eq=False)
class SparkRelease(PartsRelease):
    """A finished release in parts, whose tables are Spark's data frames. They are read from the parts that were
    committed: however often one is looked at, nothing is drawn again."""

    session: Any = field(default=None, repr=False)

    @property
    def table(self) -> Any:
        """The public key columns and the private counts."""
        return self._frame(TABLE)

    @property
    def measurements(self) -> Any:
        """The noisy signed values before any mapping, or None where they are not published."""
        return None if self.manifest.whole.measured is None else self._frame(MEASUREMENTS)

    def _frame(self, folder: str) -> Any:
        return self.session.read.parquet(*(pattern(self.folder / folder / path.name) for path in self.parts))


def release_frame(
    frame: Any, epsilon: Any = None, way: Any = None, *, count: Any = None, keys: Any = None, out: Any = None,
    part_rows: int = PART_ROWS, host: str | None = None, port: int = 0, **options: Any,
) -> SparkRelease:  # fmt: skip
    """Release a Spark data frame: its rows are written once, sorted by their public keys, and released in parts.

    What is written stands beside `out`, in a folder that nobody else may read, and is gone afterwards. `out` is on
    storage that the workers have under the same name."""
    names = _columns(frame, count, keys)
    if out is None:
        raise BadInput("a Spark data frame was to be released", "no folder to write is named", "Give out")
    if "engine" in options:
        raise BadInput("an engine was given", "a Spark data frame is released by Spark", "Leave it out")
    ways = {name: value for name, value in options.items() if name not in BESIDE}
    asked(epsilon, way, ways, BESIDE, **{name: options.get(name, usual) for name, usual in PRICES.items()})
    target = free_target(out)
    session = session_of(frame)
    with secret_folder(target) as secret:
        staged = secret / "rows"
        try:
            ordered = frame.select(*map(column, [*names, count])).repartitionByRange(*map(column, names))
            writer = ordered.sortWithinPartitions(*map(column, names)).write.option("maxRecordsPerFile", part_rows)
        except spark_error() as error:
            do = "Give keys that have an order, under names that differ in more than their case"
            raise BadInput("a Spark data frame was to be released", said_by_spark(error), do) from error
        try:
            with _times_that_spark_reads(session):
                writer.parquet(address(staged))
        except spark_error() as error:
            raise _failed(error) from error
        if not any(staged.glob("*.parquet")):
            found = f"what Spark wrote is not beside {target} on this machine"
            raise BadInput("a Spark data frame was to be released", found, "Use storage that all machines share")
        made = release_parts(
            staged, count, names, epsilon, way, out=target, engine=Spark(session, host, port), part_rows=part_rows,
            **options,
        )  # fmt: skip
    return SparkRelease(made.folder.absolute(), made.publication, made.manifest, made.digest, session)
