"""What microdata come in, and what counts them there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from discreet.errors import BadInput
from discreet.io.frames import file_kind, lazy_frame, to_arrow
from discreet.io.layout import read_frame
from discreet.io.microdata import People, is_file
from discreet.io.microdata.in_memory import InMemory, Lazily


def opened(data: Any) -> AbstractContextManager[People]:
    """The data as they are, ready to be counted; a file is closed again."""
    if is_file(data):
        return _file(Path(data))
    lazy = lazy_frame(data)
    if lazy is None:
        return nullcontext(InMemory(*to_arrow(data)))
    where = str(lazy.implementation.value)
    kind = "polars" if where == "polars" else "pyarrow"
    if where == "duckdb":
        from discreet.io.microdata.in_duckdb import opened_relation

        return opened_relation(lazy.to_native(), kind)
    if where.startswith("pyspark"):
        from discreet.io.microdata.in_spark import opened_frame

        return opened_frame(lazy.to_native())
    return nullcontext(Lazily(lazy, kind))


@contextmanager
def _file(path: Path) -> Iterator[People]:
    if not path.is_file():
        raise BadInput(f"{path} was to be counted", "there is no such file")
    if file_kind(path) == "xlsx":
        yield InMemory(read_frame(path), "xlsx")
        return
    from discreet.io.microdata.in_duckdb import opened_file

    with opened_file(path) as people:
        yield people
