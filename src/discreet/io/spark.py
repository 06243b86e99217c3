"""Spark: the session, and work sent to its workers. What is secret in the work never passes through Spark."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import MissingExtra
from discreet.io.channel import Contents, Ticket, offered

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


def is_spark_frame(thing: Any) -> bool:
    """Without loading Spark, which whoever has such a frame has done."""
    return type(thing).__module__.startswith("pyspark.") and hasattr(thing, "mapInArrow")


def column(name: str) -> Any:
    """A column whatever stands in its name."""
    from pyspark.sql import functions

    return functions.col("`" + name.replace("`", "``") + "`")


def address(path: Path) -> str:
    """A file as Spark names it, whatever file system it uses otherwise. It wants spaces and the like as they are."""
    return f"file://{path.absolute()}"


def pattern(path: Path) -> str:
    """The same where Spark takes a name for a pattern, as it does when it reads."""
    return re.sub(r"([\\\[\]{}*?])", r"\\\1", address(path))


def spark_error() -> type[Exception]:
    from pyspark.errors import PySparkException

    found: type[Exception] = PySparkException
    return found


LACKING = "No module named 'discreet'"
OTHER_PYTHON = (
    "its workers run a Python that has no discreet. Set PYSPARK_PYTHON to the path of this Python before Spark is "
    "started, or install discreet for theirs"
)


def said_by_spark(error: Exception) -> str:
    """The line of it that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = next((line for line in reversed(lines) if "Error" in line.partition(":")[0]), lines[0] if lines else "")
    return OTHER_PYTHON if LACKING in told else told or type(error).__name__


def session_of(frame: Any) -> Any:
    return frame.sparkSession


@dataclass(frozen=True)
class SeenFrom:
    """Under which address workers see this process, and where it waits for them; as Spark's driver, unless said."""

    host: str | None = None
    port: int = 0  # any that is free

    def offer(self, session: Any, content: Contents) -> AbstractContextManager[Ticket]:
        host = self.host or str(session.conf.get("spark.driver.host", LOOPBACK))
        bind = self.host or str(session.conf.get("spark.driver.bindAddress", host))
        return offered(content, host, bind, self.port)


@contextmanager
def sent(
    function: Callable[[Batches], Batches], session: Any, seen: SeenFrom = SeenFrom()
) -> Iterator[Callable[[Batches], Batches]]:
    """The same function, for mapInArrow: Spark carries a ticket, by which its workers ask this process for it.

    So nothing that the function holds, and least of all a key, is in a plan, a task, a log or a file of Spark's."""
    from pyspark import cloudpickle

    written = cloudpickle.dumps(function)
    with seen.offer(session, lambda _: written) as ticket:

        def fetched(batches: Batches) -> Batches:
            yield from pickle.loads(ticket.content())(batches)

        yield fetched
