"""Spark as an engine: it carries numbers of tasks, and brings back what came of them. Rows do not pass through it.

What is done to a part, and the key in it, goes from this process to the workers that ask for it, from memory to memory
(`io/channel.py`): it is in no plan, task, log, checkpoint or file of Spark's. A task that is lost, retried or
speculated on asks again, has the same bits, and writes the same bytes.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from discreet.errors import BadInput
from discreet.io.spark import Seen, session_or_new

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
        from pyspark.errors import PySparkException

        session = self.session or session_or_new("a release was to be made by Spark")
        work = cloudpickle.dumps(function)

        def content(number: int) -> bytes:
            return pickle.dumps((work, tasks[number]))

        if not tasks:
            return
        with Seen(self.host, self.port).offer(session, content) as ticket:

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
            except PySparkException as error:
                raise _failed(error) from error
        for row in found:
            yield pickle.loads(row.summary)


def _failed(error: Exception) -> BadInput:
    """What Spark says of a task that failed, as often as it tried it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = next((line for line in reversed(lines) if "Error" in line.partition(":")[0]), lines[0] if lines else "")
    do = "Workers need discreet and what it needs, the same versions as here, and the folders under the same names"
    return BadInput("a task was run by Spark", told or type(error).__name__, do)


def is_spark_frame(thing: Any) -> bool:
    return type(thing).__module__.startswith("pyspark.") and hasattr(thing, "mapInArrow")
