"""Parquet as a release writes it: the same version of Arrow makes the same bytes of the same table.

A dictionary may list values that no row has, statistics may be about another table, floats may have more digits than
their number. So a file is written again and compared. What another version of Arrow wrote cannot be compared, and may
only not be larger than it would be here.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import RawIOBase
from typing import Any

from discreet.errors import Damaged

ROWS_IN_A_GROUP = 1 << 20  # every group has statistics of its own, so none may be smaller but the last
WRITER = "parquet-cpp-arrow version "
WRITER_OPTIONS: Mapping[str, Any] = {  # said, since versions of Arrow may differ in what they do unasked
    "version": "2.6", "compression": "snappy", "data_page_version": "1.0",
    "use_dictionary": True, "write_statistics": True, "store_schema": True,
}  # fmt: skip
MORE_A_COLUMN, MORE_BY = 256, 0.02  # bytes, and a part of all: by so much the files of two versions may differ


class ComparedBytes(RawIOBase):
    """Nothing is kept: only whether the same was written as is there."""

    def __init__(self, there: bytes) -> None:
        self._there, self._size, self._same = memoryview(there), 0, True

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        view = memoryview(content).cast("B")
        self._same = self._same and self._there[self._size : self._size + len(view)] == view
        self._size += len(view)
        return len(view)

    def tell(self) -> int:
        return self._size

    @property
    def same(self) -> bool:
        """Whether all that is there was written, and nothing else."""
        return self._same and self._size == len(self._there)


def write_parquet(target: Any, frame: Any) -> None:
    """To something that can be written to, a group of rows at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _as_it_is_read(frame.schema)
    with pq.ParquetWriter(pa.PythonFile(target, mode="w"), schema, **WRITER_OPTIONS) as writer:
        for start in range(0, frame.num_rows, ROWS_IN_A_GROUP):
            group = frame.slice(start, ROWS_IN_A_GROUP).combine_chunks()  # pages may end where chunks do
            writer.write_table(group.cast(schema), row_group_size=ROWS_IN_A_GROUP)


def _as_it_is_read(schema: Any) -> Any:
    """With the types that readers will find: Parquet has no seconds, and one kind of days."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), sink, row_group_size=ROWS_IN_A_GROUP, **WRITER_OPTIONS)
    kinds = pq.read_schema(pa.BufferReader(sink.getvalue())).types
    return pa.schema(zip(schema.names, kinds), metadata=schema.metadata)


def require_written(frame: Any, content: bytes, name: str) -> None:
    """Refuse a file that has anything in it that does not follow from its table."""
    again = ComparedBytes(content)
    write_parquet(again, frame)
    if not written_here(content):
        more = MORE_A_COLUMN * frame.num_columns + MORE_BY * again.tell()
        if len(content) > again.tell() + more:
            raise Damaged(name, "it is larger than its rows need: something else may be in it")
    elif not again.same:
        raise Damaged(name, "it is written in another way than releases are")


def written_here(content: bytes) -> bool:
    """Whether the version of Arrow that is here wrote it, as it says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    return bool(pq.read_metadata(pa.BufferReader(content)).created_by == f"{WRITER}{pa.cpp_version}")
