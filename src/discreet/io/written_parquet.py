"""Parquet as a release writes it: the same version of Arrow makes the same bytes of the same table.

A dictionary may list values that no row has, statistics may be about another table, floats may have more digits than
their number. So a file is written again and compared. What another version of Arrow wrote cannot be compared, and may
only not be larger than it would be here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.record.codec import Damaged

ROWS_IN_A_GROUP = 1 << 20  # every group has statistics of its own, so none may be smaller but the last
WRITER = "parquet-cpp-arrow version "
OPTIONS: Mapping[str, Any] = {  # said, since versions of Arrow may differ in what they do unasked
    "row_group_size": ROWS_IN_A_GROUP, "version": "2.6", "compression": "snappy", "data_page_version": "1.0",
    "use_dictionary": True, "write_statistics": True, "store_schema": True,
}  # fmt: skip
MORE_A_COLUMN, MORE_BY = 256, 0.02  # bytes, and a part of all: by so much the files of two versions may differ


def write_parquet(target: Any, frame: Any) -> None:
    """To a path or a stream of Arrow."""
    import pyarrow.parquet as pq

    whole = frame.combine_chunks()  # pages may end where chunks do
    pq.write_table(_as_it_is_read(whole), target, **OPTIONS)


def _as_it_is_read(frame: Any) -> Any:
    """With the types that readers will find: Parquet has no seconds, and one kind of days."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(frame.schema.empty_table(), sink, **OPTIONS)
    kinds = pq.read_schema(pa.BufferReader(sink.getvalue())).types
    return frame.cast(pa.schema(zip(frame.column_names, kinds), metadata=frame.schema.metadata))


def require_written(frame: Any, content: bytes, name: str) -> None:
    """Refuse a file that has anything in it that does not follow from its table."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    write_parquet(sink, frame)
    again = sink.getvalue()
    if not written_here(content):
        more = MORE_A_COLUMN * frame.num_columns + MORE_BY * again.size
        if len(content) > again.size + more:
            raise Damaged(name, "it is larger than its rows need: something else may be in it")
    elif not again.equals(pa.py_buffer(content)):
        raise Damaged(name, "it is written in another way than releases are")


def written_here(content: bytes) -> bool:
    """Whether the version of Arrow that is here wrote it, as it says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    return bool(pq.read_metadata(pa.BufferReader(content)).created_by == f"{WRITER}{pa.cpp_version}")
