"""Many independent jobs over the cores of the machine, with a bar on stderr where somebody watches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

Job = TypeVar("Job")
Outcome = TypeVar("Outcome")


def outcomes(
    run: Callable[[Job], Outcome], jobs: Sequence[Job], what: str, workers: int | None = None
) -> Iterator[tuple[Job, Outcome]]:
    """(job, run(job)) as they finish. One worker, or one job, stays in this process."""
    crowd = min(len(jobs), workers or os.cpu_count() or 1)
    if crowd <= 1:
        with _bar(what, len(jobs)) as advance:
            for job in jobs:
                yield job, run(job)
                advance()
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    # a forked worker needs no guarded main module; workers start before the bar's thread does
    with ProcessPoolExecutor(crowd, mp_context=get_context("fork" if sys.platform == "linux" else "spawn")) as pool:
        waiting = {pool.submit(run, job): job for job in jobs}
        with _bar(what, len(jobs)) as advance:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
                advance()


@contextmanager
def _bar(what: str, total: int) -> Iterator[Callable[[], Any]]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:  # before version 15 rich ends even a bar that is not shown with a line
        yield lambda: None
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)
