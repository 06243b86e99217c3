"""How far a file that is packed may expand: a small one that takes gigabytes is no table that anybody has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.errors import BadInput

ALWAYS = 64 << 20  # bytes that any file may unpack to
ALWAYS_PARQUET = 2 << 30  # the same of Parquet, where a long table of few keys and many zeros takes next to nothing
TIMES = 100  # its own size beyond: tables of people shrink to a fifth or a tenth, and zeros alone to a thousandth
UNPACK = "Unpack it first, if it is what you think"
KEEP_FEWER = "Write it again with the columns that are keys or counts alone, if it is what you think"
TEXT, WIDTH = "BYTE_ARRAY", 8  # bytes of a number, or more than that
WRITTEN_OUT = {"PLAIN", "RLE", "BIT_PACKED", "DELTA_LENGTH_BYTE_ARRAY"}  # encodings that say every text in full
IN_DICTIONARIES = {"RLE_DICTIONARY", "PLAIN_DICTIONARY"}
BATCH = 1 << 8  # rows whose texts are measured at a time


def most_unpacked(packed: int, always: int | None = None) -> int:
    """Bytes that a file of this size may unpack to."""
    return max(always or ALWAYS, TIMES * packed)


def expands(path: Path, do: str = UNPACK, always: int | None = None) -> BadInput:
    found = f"it unpacks to more than {TIMES} times its size, and to more than {(always or ALWAYS) >> 20:,} MiB"
    return BadInput(f"{path} was to be read", found, do)


def require_bounded_parquet(path: Path, head: Any) -> None:
    """By its footer; texts that are repeated are measured, and not written out."""
    most, size = most_unpacked(path.stat().st_size, ALWAYS_PARQUET), 0
    for group in range(head.num_row_groups):
        for place in range(head.num_columns):
            chunk = head.row_group(group).column(place)
            wide = max(WIDTH, head.schema.column(place).length)
            size += wide * chunk.num_values
            if chunk.physical_type == TEXT:
                size += _text_bytes(path, group, chunk, most - size)
            if max(size, WIDTH * head.num_rows) > most:
                raise expands(path, KEEP_FEWER, ALWAYS_PARQUET)


def _text_bytes(path: Path, group: int, chunk: Any, room: int) -> int:
    """Bytes of the texts of a column, or some more; or of as many of them as there is no room for."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    written, encodings, name = chunk.total_uncompressed_size, set(chunk.encodings), chunk.path_in_schema
    if encodings <= WRITTEN_OUT or written * chunk.num_values <= room:
        return int(written if encodings <= WRITTEN_OUT else written * chunk.num_values)
    size, coded = 0, encodings <= WRITTEN_OUT | IN_DICTIONARIES
    with pq.ParquetFile(path, read_dictionary=[name] if coded else None) as file:
        for batch in file.iter_batches(BATCH, row_groups=[group], columns=[name]):
            column = batch.column(0)
            if pa.types.is_nested(column.type):  # no key, no count
                return int(written * chunk.num_values)
            lengths = pc.binary_length(column.dictionary if coded else column)
            most = written + chunk.num_values * (pc.max(lengths).as_py() or 0)
            if coded and most <= room:  # all of the dictionary is known by now
                return int(most)
            size += pc.sum(lengths.take(column.indices) if coded else lengths, min_count=0).as_py()
            if size > room:
                break
    return size
