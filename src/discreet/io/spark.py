"""Spark: the session, and work sent to its workers. What is secret in the work never passes through Spark."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from discreet.errors import MissingExtra
from discreet.io.channel import offered

Batches = Iterator[Any]
LOOPBACK = "127.0.0.1"


def session_or_new(asked: str) -> Any:
    """The session that there is, or a new one as Spark is configured; or what is missing for it."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtra(asked, "pyspark is not installed", "Run: pip install 'discreet[spark]'") from error
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if not os.environ.get("SPARK_REMOTE") and not has_java():
        raise MissingExtra(
            asked,
            "there is no Java on this machine, and Spark runs in it",
            "Install Java 17 (Debian: apt-get install openjdk-17-jre-headless), or say in JAVA_HOME where it is",
        )
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark's own guess is the first python3 on the path
    return SparkSession.builder.getOrCreate()


def has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java") is not None or (
        home is not None and shutil.which(os.path.join(home, "bin", "java")) is not None
    )


def session_of(frame: Any) -> Any:
    return frame.sparkSession


def driver_host(session: Any) -> str:
    """The address under which workers see this process: that of Spark's driver, which it is, unless said otherwise."""
    return str(session.conf.get("spark.driver.host", LOOPBACK))


@contextmanager
def sent(function: Callable[[Batches], Batches], host: str) -> Iterator[Callable[[Batches], Batches]]:
    """The same function, for mapInArrow: Spark carries a ticket, by which its workers ask this process for it.

    So nothing that the function holds, and least of all a key, is in a plan, a task, a log or a file of Spark's."""
    from pyspark import cloudpickle

    with offered(cloudpickle.dumps(function), host) as ticket:

        def fetched(batches: Batches) -> Batches:
            yield from pickle.loads(ticket.content())(batches)

        yield fetched
