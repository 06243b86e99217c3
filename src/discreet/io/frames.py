"""The frame boundary: any data frame as an Arrow table, and an Arrow table as a frame of any kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.io.unpacked import require_bounded_parquet
from discreet.table import Schema

KINDS = {".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx"}
LAZY = {"polars": "polars-lazy", "duckdb": "duckdb"}  # lazy frames that are given back as such


def file_kind(path: str | Path) -> str:
    """By its name: parquet, xlsx, or csv."""
    return KINDS.get(Path(path).suffix.lower(), "csv")


def read_parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            require_bounded_parquet(path, file.metadata)
            groups = map(file.read_row_group, range(file.num_row_groups))
            found = stacked(groups, file.schema_arrow, file.metadata.num_rows)
            assert len(found.column_names) == found.num_columns  # names are read now: they may be no text
            return found
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise BadInput(f"{path} was to be read as Parquet", str(error).splitlines()[0]) from error


def stacked(tables: Iterable[Any], schema: Any, rows: int) -> Any:
    """Tables below each other, with so many rows together, none held longer than it takes to copy its whole numbers.

    These go into memory of numpy, which has large pages: to take small ones takes longer than to read a column.
    """
    import pyarrow as pa

    numbers = [place for place, kind in enumerate(schema.types) if pa.types.is_integer(kind)]
    whole = {place: np.empty(rows, schema.types[place].to_pandas_dtype()) for place in numbers}
    chunks: list[list[Any]] = [[] for _ in schema]
    start = 0
    for table in tables:
        if start + table.num_rows > rows:
            raise pa.ArrowInvalid(f"it has more than the {rows:,} rows that it claims")
        for place, column in enumerate(table.columns):
            if place in whole and column.null_count:
                chunks[place].append(pa.array(whole.pop(place)[:start]))
            if place in whole:
                whole[place][start : start + len(column)] = column.to_numpy()
            else:
                chunks[place] += column.chunks
        start += table.num_rows
    if start < rows:
        raise pa.ArrowInvalid(f"it has {start:,} of the {rows:,} rows that it claims")
    for place, values in whole.items():
        chunks[place].append(pa.array(values))
    return pa.Table.from_arrays([pa.chunked_array(*one) for one in zip(chunks, schema.types)], schema=schema)


def lazy_frame(frame: Any) -> Any:
    """A lazy frame as narwhals has it: of DuckDB, Spark, Ibis, Polars; None where it is another thing."""
    import narwhals as nw

    wrapped = nw.from_native(frame, pass_through=True)
    return wrapped if isinstance(wrapped, nw.LazyFrame) else None


def to_arrow(frame: Any, named: Collection[str] = ()) -> tuple[Any, str]:
    """Any frame narwhals knows, as an Arrow table, with the name of its kind; a lazy one is collected, once."""
    import narwhals as nw
    import pyarrow as pa

    try:
        lazy = lazy_frame(frame)
        wrapped = nw.from_native(_with_levels(frame, named), eager_only=True) if lazy is None else lazy.collect()
    except nw.exceptions.DuplicateError as error:
        raise BadInput("a data frame was given", "two of its columns have the same name") from error
    except TypeError as error:
        raise BadInput(
            f"a {type(frame).__name__} was given as a table",
            "it is not a data frame of pandas, polars, pyarrow, DuckDB, Spark or Ibis",
            "Read a file with read_table, or make a frame of it",
        ) from error
    columns = nw.maybe_reset_index(wrapped)  # an index that nobody named is no column: it stays behind
    kind = str(wrapped.implementation.value)
    if lazy is not None:
        kind = LAZY.get(str(lazy.implementation.value), kind)
    try:
        return columns.to_arrow(), kind
    except pa.ArrowException:  # some column mixes values of different kinds
        return pa.table({name: as_text(columns[name].to_list()) for name in columns.columns}), kind


def _with_levels(frame: Any, named: Collection[str]) -> Any:
    """A frame of pandas with the levels of its MultiIndex as columns; any other index only if it is named, as after
    `groupby`: it may tell people apart, and whoever says 'all' does not see it."""
    levels = getattr(getattr(frame, "index", None), "names", None)
    if levels is None or not hasattr(frame, "columns"):
        return frame
    if len(levels) == 1 and (levels[0] not in named or levels[0] in frame.columns):
        return frame
    asked = "a data frame with a MultiIndex was given"
    if None in levels:
        raise BadInput(asked, "a level of it has no name", "Name all of them: frame.index.names = [...]")
    twice = [name for name in levels if name in frame.columns]
    if twice:
        raise BadInput(asked, f"its level {twice[0]!r} is the name of a column, too", "Rename one of them")
    return frame.reset_index()


def as_text(values: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values, from_pandas=True)
    except pa.ArrowException:
        return pa.array([None if value is None or value != value else str(value) for value in values])


def frame_of(columns: Mapping[str, Any]) -> Any:
    """An Arrow table of columns by their names, each a list or an array."""
    import pyarrow as pa

    return pa.table(dict(columns))


def arrow_frame(schema: Schema, counts: Integers) -> Any:
    """The public key columns and one column of counts, as an Arrow table that shares the counts' memory."""
    import pyarrow as pa

    values = np.ascontiguousarray(counts, dtype=np.int64)
    column = pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])
    return pa.Table.from_arrays([*schema.categories.columns, column], names=[*schema.keys, schema.count])


def to_frame(schema: Schema, counts: Integers) -> Any:
    """The same as a frame of the schema's kind."""
    return to_kind(arrow_frame(schema, counts), schema.kind)


def to_kind(arrow: Any, kind: str) -> Any:
    """An Arrow table as a frame of that kind."""
    import narwhals as nw

    if kind == "pandas":
        return arrow.to_pandas()
    if kind == "duckdb":
        import duckdb

        return duckdb.from_arrow(arrow)
    if kind == "polars-lazy":
        return to_kind(arrow, "polars").lazy()
    if kind in {"pyarrow", "csv", "parquet", "xlsx"}:
        return arrow
    return nw.from_arrow(arrow, backend=cast(Any, kind)).to_native()
