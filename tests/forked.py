"""Processes that may be killed, forked from one that has loaded what they need."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from importlib import import_module

LOADED = (
    "discreet.io.folder", "discreet.ledger.database", "discreet.report.figures", "discreet.report.prepared",
    "matplotlib.backends.backend_svg", "matplotlib.figure", "scipy.sparse", "scipy.special", "scipy.signal",
)  # fmt: skip


def load(*more: str) -> None:
    for module in (*LOADED, *more):
        import_module(module)


def child(work: Callable[[], object]) -> int:
    """The status of a process of its own that does `work`; Arrow's threads never start in the parent."""
    number = os.fork()
    if number == 0:
        try:
            work()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def way(name: str) -> Iterable[str]:
    return (f"discreet.ways.{name}.way", f"discreet.ways.{name}.evidence")
