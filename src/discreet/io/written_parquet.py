"""Parquet as a release writes it: the same version of Arrow makes the same bytes of the same table.

A dictionary may list values that no row has, statistics may be about another table, floats may have more digits than
their number. So a file is written again and compared. What another version of Arrow wrote cannot be compared so: its
packing, statistics and lists of values must be those of its table, and it may not be larger than it would be here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO, RawIOBase
from typing import Any

from discreet.errors import Damaged
from discreet.io.frames import stacked

ROWS_IN_A_GROUP = 1 << 20  # every group has statistics of its own, so none may be smaller but the last
WRITER = "parquet-cpp-arrow version "
WRITER_OPTIONS: Mapping[str, Any] = {  # said, since versions of Arrow may differ in what they do unasked
    "version": "2.6", "compression": "snappy", "data_page_version": "1.0",
    "use_dictionary": True, "write_statistics": True, "store_schema": True,
}  # fmt: skip
MORE_A_COLUMN, MORE_BY = 256, 0.02  # bytes, and a part of all: by so much the files of two versions may differ
MORE_IN_A_CHUNK = 64  # bytes of a column's own pages, unpacked: two headers may say a little more of them
ENCODINGS = ("PLAIN", "RLE", "PLAIN_DICTIONARY", "RLE_DICTIONARY")  # names of the same ones in different versions


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
    starts = range(0, frame.num_rows, ROWS_IN_A_GROUP)
    for _ in _written(target, (frame.slice(start, ROWS_IN_A_GROUP) for start in starts), frame.schema):
        pass


def _written(target: Any, groups: Iterable[Any], schema: Any) -> Iterator[Any]:
    """Groups of rows, each as soon as it is written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = _as_it_is_read(schema)
    with pq.ParquetWriter(pa.PythonFile(target, mode="w"), kinds, **WRITER_OPTIONS) as writer:
        for group in groups:
            whole = group.combine_chunks()  # pages may end where chunks do
            writer.write_table(whole.cast(kinds), row_group_size=ROWS_IN_A_GROUP)
            yield whole


def _as_it_is_read(schema: Any) -> Any:
    """With the types that readers will find: Parquet has no seconds, and one kind of days."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), sink, row_group_size=ROWS_IN_A_GROUP, **WRITER_OPTIONS)
    kinds = pq.read_schema(pa.BufferReader(sink.getvalue())).types
    return pa.schema(zip(schema.names, kinds), metadata=schema.metadata)


def written_again(groups: Iterable[Any], schema: Any, content: bytes, name: str) -> Any:
    """The table in a file, read group by group; refused if anything is in it that does not follow from its rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    head = pq.read_metadata(pa.BufferReader(content))
    again = ComparedBytes(content) if written_here(content) else BytesIO()
    frame = stacked(_written(again, groups, schema), schema, head.num_rows)
    if isinstance(again, ComparedBytes):
        if not again.same:
            raise Damaged(name, "it is written in another way than releases are")
        return frame
    if len(content) > again.tell() + MORE_A_COLUMN * frame.num_columns + MORE_BY * again.tell():
        raise Damaged(name, "it is larger than its rows need: something else may be in it")
    _require_alike(frame, content, again.getvalue(), name)
    return frame


def _require_alike(frame: Any, theirs: bytes, ours: bytes, name: str) -> None:
    """What two versions of Arrow write alike: packing, statistics, lists of values, and about as many bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    there, here = (pq.read_metadata(pa.BufferReader(content)) for content in (theirs, ours))
    for group in range(here.num_row_groups):
        if there.row_group(group).sorting_columns:
            raise Damaged(name, "it says of an order what no table of a release says")
        for place in range(here.num_columns):
            one, other = there.row_group(group).column(place), here.row_group(group).column(place)
            if one.compression != other.compression or not set(one.encodings) <= {*other.encodings, *ENCODINGS}:
                raise Damaged(name, "it is packed in another way than releases are")
            if _statistics(one) not in (NO_STATISTICS, _statistics(other)):
                raise Damaged(name, "its statistics are not those of its table")
            sizes = (one.total_uncompressed_size, other.total_uncompressed_size)
            if sizes[0] > sizes[1] + MORE_IN_A_CHUNK + MORE_BY * sizes[1]:
                raise Damaged(name, "a column is larger than its rows need: something else may be in it")
    _require_lists(frame, theirs, name)


NO_STATISTICS = (None, None, None)


def _statistics(column: Any) -> tuple[object, object, object]:
    if not column.is_stats_set:
        return NO_STATISTICS
    told = column.statistics
    if told.has_distinct_count:
        return told.distinct_count, None, None  # which none of ours has
    return (
        told.null_count if told.has_null_count else 0,
        *((told.min, told.max) if told.has_min_max else (None, None)),
    )


def _require_lists(frame: Any, content: bytes, name: str) -> None:
    """Each text that a file lists is that of a row, in the order of the rows."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    texts = [
        field.name for field in frame.schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
    ]
    file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)
    for group in range(file.num_row_groups) if texts else ():
        rows = frame.slice(group * ROWS_IN_A_GROUP, ROWS_IN_A_GROUP)
        packed = file.read_row_group(group, columns=texts)
        for text in texts:
            listed = packed.column(text).chunk(packed.column(text).num_chunks - 1).dictionary
            known = pc.unique(rows.column(text).drop_null())
            if not known.slice(0, len(listed)).equals(listed.cast(known.type)):
                raise Damaged(name, f"the column {text} of it lists values that are not those of its rows")


def written_here(content: bytes) -> bool:
    """Whether the version of Arrow that is here wrote it, as it says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    return bool(pq.read_metadata(pa.BufferReader(content)).created_by == f"{WRITER}{pa.cpp_version}")
