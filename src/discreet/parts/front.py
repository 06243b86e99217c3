"""What comes before a release in parts: the parts are found, and sorted by their public keys if they are not.

Sorting, joining a universe and counting people are DuckDB's, which spills to disk. What it writes is secret: it stands
in a folder that nobody else may read, beside the release, and is gone when the release is made or refused.
"""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from discreet.errors import BadInput, MissingExtra
from discreet.parts.engine import Engine
from discreet.parts.passes import Look, Reading
from discreet.parts.tasks import MOST_PARTS, Looked, LookTask, accepted

PART_ROWS = 1 << 20  # of a part that is made here: with its keys and a copy or two it takes some hundred megabytes
LARGEST_PART = 1 << 23  # rows of a part that is taken as it comes: it must fit into memory, several times
SORT_MEMORY = "1GB"  # of DuckDB; beyond it spills to disk
PEOPLE = "*"  # in place of the column of counts: every row is a person, and is counted
COUNTED = "count"  # what counts of people are called
BATCH = 1 << 16  # rows that come from DuckDB at a time
NAMED = 3  # keys that an error names
SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class Arranged:
    """Parts in the order of their keys: their files, and what was seen of each."""

    files: tuple[str, ...]
    looked: tuple[Looked, ...]

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.looked)


def listed(parts: Any) -> list[str]:
    """The files that a folder, a pattern or a list means."""
    several = isinstance(parts, (list, tuple))
    if several:
        found = [str(one) for one in parts]
    elif Path(parts).is_dir():
        found = [str(path) for path in Path(parts).rglob("*") if path.suffix.lower() in SUFFIXES]
        found = [path for path in found if not Path(path).name.startswith((".", "_"))]
    else:
        found = glob.glob(str(parts))
    asked = "a table in parts was to be read" if several else f"a table in parts was to be read from {parts}"
    if not found:
        raise BadInput(
            asked, "there is no Parquet file", "Name a folder of Parquet files, or a pattern like in/*.parquet"
        )
    absent = [path for path in found if not Path(path).is_file()]
    if absent:
        raise BadInput(asked, f"there is no file {absent[0]}")
    other = [path for path in found if Path(path).suffix.lower() not in SUFFIXES]
    if other:
        raise BadInput(asked, f"{other[0]} is not a Parquet file", "Write the parts as Parquet")
    base = Path(parts) if not several and Path(parts).is_dir() else None
    if base is not None and any("=" in piece for path in found for piece in Path(path).relative_to(base).parts[:-1]):
        found_names = "its folders are named after values of a column, which stand in no file then"
        raise BadInput(asked, found_names, "Write every key column into the files")
    return sorted(str(Path(path).absolute()) for path in found)


@contextmanager
def secret_folder(beside: Path) -> Iterator[Path]:
    """For what nobody else may read, while the release is made."""
    with tempfile.TemporaryDirectory(prefix=f".{beside.name}.", suffix=".secret", dir=beside.parent) as made:
        yield Path(made)


def arranged(
    files: list[str], first: Look, universe: Any, engine: Engine, scratch: Path, part_rows: int
) -> tuple[Arranged, Reading]:
    """The parts in the order of their keys: as they are if they are so, sorted anew if not."""
    reading = first.reading
    if universe is None and reading.count == PEOPLE:
        found = "no universe says which rows there are, and those that occur would give people away"
        raise BadInput("people were to be counted", found, "Give universe, a public file with every row")
    if universe is None:
        looked = look(files, first, engine)
        order = sorted(range(len(files)), key=lambda place: looked[place].first)
        ready = Arranged(tuple(files[place] for place in order), tuple(looked[place] for place in order))
        if _in_order(ready.looked) and max(one.rows for one in looked) <= LARGEST_PART:
            return _checked(ready), reading
        reading = replace(reading, keys=tuple(name for name, _ in looked[0].columns))
    staged, reading = sorted_parts(files, reading, universe, scratch, part_rows)
    looked = look(staged, replace(first, reading=reading), engine)
    return _checked(Arranged(tuple(staged), tuple(looked))), reading


def look(files: Sequence[str], function: Look, engine: Engine) -> list[Looked]:
    """Every part, and that all have the same columns."""
    if len(files) > MOST_PARTS:
        raise BadInput("a table in parts was to be read", f"it has {len(files):,} parts", f"Use {MOST_PARTS:,} at most")
    tasks = [LookTask(number, file) for number, file in enumerate(files)]
    looked = accepted(engine.run(function, tasks), tasks)
    first = looked[0]
    for one, file in zip(looked, files):
        if one.columns != first.columns:
            found = f"{Path(file).name} has {_columns(one)}, and {Path(files[0]).name} has {_columns(first)}"
            raise BadInput("a table in parts was to be read", found, "Give all parts the same columns", part=one.part)
    return looked


def _columns(one: Looked) -> str:
    return ", ".join(f"{name} ({kind})" for name, kind in one.columns)


def _in_order(looked: Sequence[Looked]) -> bool:
    apart = all(one.last < other.first for one, other in pairwise(looked))
    return apart and not any(one.unsorted for one in looked)


def _checked(ready: Arranged) -> Arranged:
    """Numbered by their order; what is said of the rows holds for all parts."""
    if len({one.contributions for one in ready.looked}) > 1:
        found = "their files say different bounds on the rows of one person"
        raise BadInput("a table in parts was to be read", found, "Give contributions")
    return replace(ready, looked=tuple(replace(one, part=number) for number, one in enumerate(ready.looked)))


def sorted_parts(
    files: Sequence[str], reading: Reading, universe: Any, scratch: Path, part_rows: int
) -> tuple[list[str], Reading]:
    """The rows sorted by their keys and cut into parts, in a folder of secrets; out of core."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtra(
            "the parts of a table were to be sorted", "DuckDB is not installed", "Run: pip install 'discreet[duckdb]'"
        ) from error
    folder = scratch / "sorted"
    folder.mkdir()
    with duckdb.connect() as database:
        database.execute(f"SET temp_directory = {_text(str(scratch / 'spilled'))}")
        database.execute(f"SET memory_limit = '{SORT_MEMORY}'")
        try:
            database.execute(f"CREATE VIEW given AS SELECT * FROM read_parquet([{', '.join(map(_text, files))}])")
            keys, reading = _named(database, reading)
            query = _joined(database, keys, reading, universe) if universe is not None else _plain(keys, reading.count)
            if reading.count == PEOPLE:
                reading = replace(reading, count=COUNTED, contributions=reading.contributions or 1)
            found = database.sql(f"{query} ORDER BY {', '.join(map(_name, keys))}")
            rows = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader  # what DuckDB 1 calls it
            made = [str(path) for path in _written(rows(BATCH), keys, folder, part_rows)]
        except _Repeated as repeated:
            raise _named_files(files, keys, repeated) from repeated
        except duckdb.Error as error:
            raise BadInput("the parts of a table were to be sorted", str(error).splitlines()[0]) from error
    return made, reading


def _named(database: Any, reading: Reading) -> tuple[list[str], Reading]:
    """The key columns by their names."""
    from discreet.io.key_columns import must_have

    found = [row[0] for row in database.execute("DESCRIBE given").fetchall()]
    if reading.count != PEOPLE:
        must_have(reading.count, found, "column of counts")
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
    return f"SELECT {chosen}, coalesce(n, 0) AS {_name(count)} FROM every LEFT JOIN counted ON {same}"


class _Repeated(Exception):
    """Keys that stand in two rows."""


def _written(batches: Any, keys: Sequence[str], folder: Path, part_rows: int) -> Iterator[Path]:
    """Sorted rows, cut into parts; two with the same keys stand next to each other."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number, last = 0, None
    waiting: list[Any] = []

    def full() -> int:
        return sum(batch.num_rows for batch in waiting)

    def put() -> Path:
        nonlocal number
        frame = pa.Table.from_batches(waiting)
        path = folder / f"{number:05d}.parquet"
        pq.write_table(frame.slice(0, part_rows), path)
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


def _named_files(files: Sequence[str], keys: Sequence[str], repeated: _Repeated) -> BadInput:
    """Keys are public, so they may be shown; with the parts that they stand in."""
    import duckdb

    row = repeated.args[0]
    with duckdb.connect() as database:
        same = " AND ".join(f"{_name(name)} = ?" for name in keys)
        names = ", ".join(map(_text, files))
        query = f"SELECT filename FROM read_parquet([{names}], filename = true) WHERE {same} LIMIT {NAMED}"
        try:
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
