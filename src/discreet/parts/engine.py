"""What runs the tasks of a release in parts: this process, several of them, a cluster, or anything of one's own.

An engine has one method, `run(function, tasks)`. It calls the function on every task, in any order, anywhere, as often
as it likes, and gives back what comes out. Tasks and what comes out name files; rows do not pass through it. The
function may hold the key of the release: it is to be sent over a wire or a pipe, and never written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from discreet.errors import BadInput, choose
from discreet.spec.values import ENGINES

TaskOf = TypeVar("TaskOf")
SummaryOf = TypeVar("SummaryOf")
IN_THIS_PROCESS = 1 << 22  # rows: starting others takes longer than working through fewer


@runtime_checkable
class Engine(Protocol):
    """What a release in parts needs of a cluster."""

    def run(self, function: Callable[[TaskOf], SummaryOf], tasks: Sequence[TaskOf]) -> Iterable[SummaryOf]:
        """function(task) of every task; in any order, and no harm if one comes twice."""


@dataclass(frozen=True)
class Serial:
    """One task after the other, in this process."""

    def run(self, function: Callable[[TaskOf], SummaryOf], tasks: Sequence[TaskOf]) -> Iterator[SummaryOf]:
        return map(function, tasks)


@dataclass(frozen=True)
class Processes:
    """Several processes on this machine; as many as it has processors, unless said otherwise."""

    workers: int | None = None

    def run(self, function: Callable[[TaskOf], SummaryOf], tasks: Sequence[TaskOf]) -> Iterator[SummaryOf]:
        from concurrent.futures import ProcessPoolExecutor, as_completed
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import get_context

        with ProcessPoolExecutor(self.workers, mp_context=get_context("spawn")) as pool:
            running = [pool.submit(function, task) for task in tasks]
            try:
                for done in as_completed(running):
                    yield done.result()
            except BrokenProcessPool as error:
                found = "a process that worked on it died: it was killed, or memory ran out"
                raise BadInput("a release was made in parts", found, "Use fewer workers, and release again") from error
            finally:
                for one in running:
                    one.cancel()


def engine_of(engine: Any, rows: int) -> Engine:
    """An engine by name, or the user's own."""
    if isinstance(engine, str):
        if choose(engine, ENGINES, "engine") == "spark":
            from discreet.parts.spark import Spark  # type: ignore[import-not-found, unused-ignore]

            found: Engine = Spark()
            return found
        return Serial() if rows < IN_THIS_PROCESS else Processes()
    if isinstance(engine, type):
        found_kind = f"{engine.__name__} is a class"
        raise BadInput("an engine was given", found_kind, f"Give an object of it: {engine.__name__}()")
    if not isinstance(engine, Engine):
        found_kind = f"a {type(engine).__name__} has no method run(function, tasks)"
        raise BadInput("an engine was given", found_kind, f"Use {' or '.join(ENGINES)}, or an object with that method")
    return engine
