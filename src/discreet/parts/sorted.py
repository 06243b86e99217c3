"""Parts sorted by their public keys, joined to a universe, or counted from people: by DuckDB, which spills to disk.

What it writes is secret: it stands in a folder that nobody else may read, and is gone when the release is made or
refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import BadInput, MissingExtra
from discreet.parts.given import SUFFIXES, FolderNames, Given
from discreet.parts.passes import Reading

if TYPE_CHECKING:
    import pyarrow as pa

ColumnTypes: TypeAlias = "dict[str, pa.DataType | None]"  # of keys; None: it stands in the names of folders

SORT_MEMORY = "1GB"  # of DuckDB; beyond it spills to disk
PEOPLE = "*"  # in place of the column of counts: every row is a person, and is counted
COUNTED = "count"  # what counts of people are called
BATCH = 1 << 16  # rows that come from DuckDB at a time
FILE = "discreet: file of the row"  # a column that no table has
NAMED = 3  # keys that an error names
SORTED = "sorted"  # a folder of secrets: rows with their true counts
ASKED = "the parts of a table were to be sorted"


def sorted_parts(
    given: Given, reading: Reading, universe: Any, scratch: Path, part_rows: int
) -> tuple[list[str], Reading]:
    """The rows sorted by their keys and cut into parts, in a folder of secrets; out of core."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtra(ASKED, "DuckDB is not installed", "Run: pip install 'discreet[duckdb]'") from error
    folder = scratch / SORTED
    folder.mkdir()
    with duckdb.connect() as database:
        database.execute(f"SET temp_directory = {_text(str(scratch / 'spilled'))}")
        database.execute(f"SET memory_limit = '{SORT_MEMORY}'")
        try:
            _view(database, given)
            keys, reading = _named(database, reading)
            types = same_types(given, keys, reading.count)
            query = _joined(database, keys, reading, universe) if universe is not None else _plain(keys, reading.count)
            if reading.count == PEOPLE:
                reading = replace(reading, count=COUNTED, contributions=reading.contributions or 1)
            found = database.sql(f"{query} ORDER BY {', '.join(map(_name, keys))}")
            rows = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader  # what DuckDB 1 calls it
            made = [str(path) for path in _written(rows(BATCH), types, folder, part_rows)]
        except _Repeated as repeated:
            raise _named_files(given, keys, repeated) from repeated
        except duckdb.ConversionException as error:  # which would show a value, and it may be a count
            found = "values of one column are of several kinds"
            raise BadInput(ASKED, found, "Give every column the same type in all parts") from error
        except duckdb.Error as error:
            raise BadInput(ASKED, str(error).splitlines()[0]) from error
    return made, replace(reading, folders=FolderNames())


def _view(database: Any, given: Given) -> None:
    """The rows of all parts, as `given`: with the file of each, and the columns that stand in the names of folders."""
    import pyarrow as pa

    columns = {name: [given.folders.values(file)[name] for file in given.files] for name, _ in given.folders.columns}
    database.register("folders", pa.table({FILE: pa.array(given.files), **columns}))
    files = ", ".join(map(_text, given.files))
    rows = f"read_parquet([{files}], hive_partitioning = false, filename = {_text(FILE)})"
    joined = f" JOIN folders USING ({_name(FILE)})" if columns else ""
    database.execute(f"CREATE VIEW given AS SELECT * FROM {rows}{joined}")


def same_types(given: Given, keys: Sequence[str], count: str) -> ColumnTypes:
    """The types of the key columns, if they are the same in all parts: nothing is to be made another value by being
    cast. Nor may a part be empty."""
    import pyarrow.parquet as pq

    first: ColumnTypes = {}
    for file in given.files:
        head = pq.read_metadata(file)
        found = head.schema.to_arrow_schema()
        if head.num_rows == 0:
            raise BadInput(ASKED, f"{Path(file).name} has no rows", "Leave it out")
        own = {name: _plain_type(found.field(name).type) for name in [*keys, count] if name in found.names}
        first = first or own
        for name, kind in own.items():
            if _kind(kind, name == count) != _kind(first[name], name == count):
                told = f"{name} is {kind} in {Path(file).name}, and {first[name]} in {Path(given.files[0]).name}"
                raise BadInput(ASKED, told, "Give every column the same type in all parts")
    return {name: first.get(name) for name in keys}


def _plain_type(kind: Any) -> Any:
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind


def _kind(kind: Any, is_count: bool) -> str:
    """Counts may be whole numbers of any width."""
    import pyarrow as pa

    return "whole" if is_count and pa.types.is_integer(kind) else str(kind)


def _named(database: Any, reading: Reading) -> tuple[list[str], Reading]:
    """The key columns by their names."""
    from discreet.io.key_columns import must_have

    found = [row[0] for row in database.execute("DESCRIBE given").fetchall() if row[0] != FILE]
    if reading.count != PEOPLE:
        must_have(reading.count, found, "column of counts")
    elif PEOPLE in found:
        asked = f"people were to be counted, which {PEOPLE!r} means as the column of counts"
        raise BadInput(asked, "there is a column of that name", "Give the column another name")
    others = [name for name in found if name != reading.count]
    keys = others if reading.keys == "all" else [reading.keys] if isinstance(reading.keys, str) else reading.keys
    if keys is None:
        do = f"Name the key columns, some of {', '.join(others[:10])}, or 'all'"
        raise BadInput("a table in parts was to be sorted", "its key columns are not named", do)
    for name in keys:
        must_have(name, found, "key column")
    return list(keys), replace(reading, keys=tuple(keys))


def _plain(keys: Sequence[str], count: str) -> str:
    return f"SELECT {', '.join(map(_name, [*keys, count]))} FROM given"


def _joined(database: Any, keys: Sequence[str], reading: Reading, universe: Any) -> str:
    """The rows of the universe with their counts, zero where there are none; rows outside it are refused."""
    kinds = {row[0]: row[1] for row in database.execute("DESCRIBE given").fetchall()}
    if isinstance(universe, (str, Path)) and Path(universe).suffix.lower() in SUFFIXES and Path(universe).is_file():
        database.execute(f"CREATE VIEW said AS SELECT * FROM read_parquet({_text(str(universe))})")
    else:
        from discreet.io.universe import read_universe

        database.register("said", read_universe(universe, list(keys)))
    cast = ", ".join(f"CAST({_name(name)} AS {kinds[name]}) AS {_name(name)}" for name in keys)
    database.execute(f"CREATE VIEW every AS SELECT {cast} FROM said")
    listed_keys = ", ".join(map(_name, keys))
    if reading.count == PEOPLE:
        database.execute(
            f"CREATE VIEW counted AS SELECT {listed_keys}, count(*) AS n FROM given GROUP BY {listed_keys}"
        )
    else:
        database.execute(f"CREATE VIEW counted AS SELECT {listed_keys}, {_name(reading.count)} AS n FROM given")
    same = " AND ".join(f"counted.{_name(name)} = every.{_name(name)}" for name in keys)
    theirs = ", ".join(f"counted.{_name(name)}" for name in keys)
    outside = database.execute(f"SELECT {theirs} FROM counted ANTI JOIN every ON {same} LIMIT {NAMED}").fetchall()
    if outside:
        told = "; ".join(_told(keys, row) for row in outside)
        raise BadInput("a universe was given", f"rows are not in it: {told}", "Add them, or correct their keys")
    count = COUNTED if reading.count == PEOPLE else reading.count
    chosen = ", ".join(f"every.{_name(name)}" for name in keys)
    zero = f"CAST(0 AS {kinds.get(reading.count, 'BIGINT')})"  # counts may be text, where some are suppressed
    joined = f"SELECT {chosen}, coalesce(n, {zero}) AS {_name(count)} FROM every LEFT JOIN counted ON {same}"
    return f"SELECT * FROM ({joined})"  # so that an order by its names is not ambiguous to older versions


class _Repeated(Exception):
    """Keys that stand in two rows."""


def _written(batches: Any, types: ColumnTypes, folder: Path, part_rows: int) -> Iterator[Path]:
    """Sorted rows, cut into parts; two with the same keys stand next to each other."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number, last, keys = 0, None, list(types)
    waiting: list[Any] = []

    def full() -> int:
        return sum(batch.num_rows for batch in waiting)

    def put() -> Path:
        nonlocal number
        frame = pa.Table.from_batches(waiting)
        path = folder / f"{number:05d}.parquet"
        pq.write_table(_in_their_zone(frame.slice(0, part_rows), types), path)
        waiting[:] = frame.slice(part_rows).to_batches()
        number += 1
        return path

    for batch in batches:
        last = _require_different(batch, keys, last)
        waiting.append(batch)
        while full() >= part_rows:
            yield put()
    if full():
        yield put()


def _in_their_zone(frame: Any, types: ColumnTypes) -> Any:
    """Times as they were: DuckDB gives them back in the zone of its session."""
    import pyarrow as pa

    for place, name in enumerate(frame.column_names):
        kind = types.get(name)
        if kind is not None and pa.types.is_timestamp(kind) and kind.tz is not None:
            frame = frame.set_column(place, name, frame.column(name).cast(pa.timestamp("us", kind.tz)))
    return frame


def _require_different(batch: Any, keys: Sequence[str], last: Any) -> Any:
    """The last row of keys, if no two rows have the same."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    frame = pa.Table.from_batches([batch]).select(list(keys))
    if last is not None:
        frame = pa.concat_tables([last, frame])
    equal = np.ones(max(0, frame.num_rows - 1), dtype=bool)
    for column in frame.columns:
        equal &= pc.fill_null(pc.equal(column.slice(0, len(equal)), column.slice(1)), False).to_numpy()
    if equal.any():
        row = int(equal.argmax())
        raise _Repeated(tuple(column[row].as_py() for column in frame.columns))
    return frame.slice(frame.num_rows - 1)


def _named_files(given: Given, keys: Sequence[str], repeated: _Repeated) -> BadInput:
    """Keys are public, so they may be shown; with the parts that they stand in."""
    import duckdb

    row = repeated.args[0]
    same = " AND ".join(f"{_name(name)} = ?" for name in keys)
    with duckdb.connect() as database:  # the other one is in the middle of an answer
        try:
            _view(database, given)
            query = f"SELECT {_name(FILE)} FROM given WHERE {same} LIMIT {NAMED}"
            found = [Path(one[0]).name for one in database.execute(query, list(row)).fetchall()]
        except duckdb.Error:  # a value that cannot be compared so
            found = []
    where = f", in {' and '.join(dict.fromkeys(found))}" if found else ""
    return BadInput(
        "every row must have keys of its own",
        f"two rows have the same: {_told(keys, row)}{where}",
        "Merge them into one row, or name the key columns that tell them apart",
        keys=row,
    )


def _told(keys: Sequence[str], row: Sequence[Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in zip(keys, row))


def _text(words: str) -> str:
    return "'" + words.replace("'", "''") + "'"


def _name(words: str) -> str:
    return '"' + words.replace('"', '""') + '"'
