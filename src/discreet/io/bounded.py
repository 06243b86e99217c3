"""A Parquet file of a stranger: what it would unpack to is looked at before it is unpacked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from discreet.errors import Damaged
from discreet.io.written_parquet import ROWS_IN_A_GROUP, WRITER, written_again

MOST_ROWS = 1 << 27  # a table of numbers that long takes a gigabyte for each column
MOST_TEXT = 1 << 30  # bytes of all keys, written out: a dictionary can say a long word a million times
BATCH = 1 << 16  # rows that are unpacked at a time
PACKED = ("SNAPPY", "UNCOMPRESSED")  # as it is written here; others shrink zeros to a thousandth
TEXT = "BYTE_ARRAY"
KINDS = ("INT32", "INT64", "BOOLEAN", "FLOAT", "DOUBLE", TEXT, "FIXED_LEN_BYTE_ARRAY")  # of a key or a count
SCHEMA, FIELD = b"ARROW:schema", b"PARQUET:field_id"  # what is written of the types of columns
WIDEST_VALUE = 32  # bytes of a decimal number
VERSION = r"[0-9.]{1,20}(-SNAPSHOT)?"  # of Arrow
MAGIC, TAIL = 4, 8  # bytes before the first column, and after the footer: its length, and the mark again


def bounded_parquet(content: bytes, name: str, rows: int, columns: tuple[str, ...]) -> Any:
    """The table, if it has these columns, plain ones, that many rows, and nothing else is in the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        _check_head(file.metadata, name, rows, columns)
        _check_filled(file.metadata, name, len(content))
        _check_schema(file, name)
        texts = [name for name, kind in _kinds(file.metadata).items() if kind == TEXT]
        packed = pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)
        groups = _unpacked(packed, name, texts, file.schema_arrow)
        return written_again(groups, _plain(file.schema_arrow.empty_table(), file.schema_arrow).schema, content, name)
    except (OSError, pa.ArrowException) as error:
        raise Damaged(name, f"it is not a Parquet file ({str(error).splitlines()[0]})") from error


def _check_head(head: Any, name: str, rows: int, columns: tuple[str, ...]) -> None:
    if head.num_rows != rows or rows > MOST_ROWS:
        raise Damaged(name, f"it says that it has {head.num_rows:,} rows; the record says {rows:,}")
    if tuple(_kinds(head)) != columns:
        raise Damaged(name, "its columns are not those of the schema")
    wide = any(head.schema.column(i).length > WIDEST_VALUE for i in range(head.num_columns))
    if wide or not set(_kinds(head).values()) <= set(KINDS):
        raise Damaged(name, "a column of it is neither text nor a number")
    for group in range(head.num_row_groups):
        if any(head.row_group(group).column(i).compression not in PACKED for i in range(head.num_columns)):
            raise Damaged(name, "it is packed in another way than releases are")


def _check_filled(head: Any, name: str, size: int) -> None:
    """The columns fill the file, one after the other: between them could be anything."""
    groups = [head.row_group(i) for i in range(head.num_row_groups)]
    columns = [group.column(i) for group in groups for i in range(head.num_columns)]
    end = MAGIC
    for column in columns:
        start = column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset
        if start != end or column.has_offset_index or column.has_column_index:
            raise Damaged(name, "there is something between its columns")
        end = start + column.total_compressed_size
    full = all(group.num_rows == ROWS_IN_A_GROUP for group in groups[:-1])
    if end + head.serialized_size + TAIL != size or not full:
        raise Damaged(name, "it is divided in another way than releases are, or there is something beside its columns")
    if not re.fullmatch(WRITER + VERSION, head.created_by):
        raise Damaged(name, "it was written by something else than releases are")


def _check_schema(file: Any, name: str) -> None:
    """Text is text, and nothing is written where no reader of tables looks."""
    schema, more = file.schema_arrow, set(file.metadata.metadata or {}) - {SCHEMA}
    apart = [key for field in schema for key in field.metadata or {} if key != FIELD]
    if more or apart or schema.metadata:
        raise Damaged(name, "it has metadata, which no table of a release has")
    if any(is_bytes(field.type) for field in schema):
        raise Damaged(name, "a column of it is neither text nor a number")


def is_bytes(kind: Any) -> bool:
    """Of an Arrow type: bytes of which nobody says that they are text."""
    import pyarrow as pa

    is_ = pa.types
    return bool(
        is_.is_binary(kind) or is_.is_large_binary(kind) or is_.is_fixed_size_binary(kind) or is_.is_binary_view(kind)
    )


def _kinds(head: Any) -> dict[str, str]:
    """The physical type of each column, by its path: a nested one has a longer path than its name."""
    columns = (head.schema.column(i) for i in range(head.num_columns))
    return {column.path: column.physical_type for column in columns}


def _unpacked(file: Any, name: str, texts: list[str], schema: Any) -> Iterator[Any]:
    """Group by group; texts as places in a dictionary, until it is known how long they are when written out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    size = 0
    for group in range(file.num_row_groups):
        if not texts:
            yield _plain(file.read_row_group(group), schema)
            continue
        batches = []
        for batch in file.iter_batches(BATCH, row_groups=[group]):
            for text in texts:
                column = batch.column(text)
                if not pa.types.is_dictionary(column.type):
                    raise Damaged(name, f"the column {text} of it is neither text nor a number")
                lengths = pc.binary_length(column.dictionary).take(column.indices)
                size += pc.sum(lengths, min_count=0).as_py() or 0
            if size > MOST_TEXT:
                raise Damaged(name, f"its keys would take more than {MOST_TEXT >> 20:,} MiB")
            batches.append(_plain(batch, schema))
        yield pa.Table.from_batches(batches) if batches else _plain(schema.empty_table(), schema)


def _plain(part: Any, schema: Any) -> Any:
    """Columns of the types that the file says, each value written out."""
    import pyarrow as pa

    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in schema.types]
    columns = [column.cast(kind) for column, kind in zip(part.columns, kinds)]
    return type(part).from_arrays(columns, names=list(part.schema.names))


def is_text(kind: Any) -> bool:
    """Of an Arrow type."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
