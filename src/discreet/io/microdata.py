"""Counting microdata: files through DuckDB, which spills to disk; frames in memory.

Where a person has more rows than the bound, which of them are kept depends only on that person's own rows and on the
public universe. So one person more or less changes the counts by no more than the bound.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet.arrays import Integers, Words
from discreet.errors import BadInput, MissingExtra, did_you_mean
from discreet.io.frames import file_kind, to_arrow
from discreet.io.layout import read_frame

MOST_PASSES = 512  # after 1, 8 and 64: where a 512th of the people does not fit, more passes hardly help
NAMED = 3  # how many unknown categories an error names


def count_file(
    path: str | Path, names: list[str], universe: Any, person: str | None, bound: int
) -> tuple[Integers, str]:
    """The counts in the order of the universe, and the kind of the file."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtra(
            f"{path} was to be counted", "DuckDB is not installed", "Run: pip install 'discreet[duckdb]'"
        ) from error
    path = Path(path)
    if not path.is_file():
        raise BadInput(f"{path} was to be counted", "there is no such file")
    with TemporaryDirectory(prefix="discreet-") as scratch, duckdb.connect() as database:
        database.execute(f"SET temp_directory = {_quoted(scratch, mark=_TEXT)}")
        database.execute("SET preserve_insertion_order = false")
        try:
            _open(database, path, [*names, *([person] if person else [])])
            return _count(database, names, universe, person, bound), file_kind(path)
        except duckdb.Error as error:
            raise BadInput(f"{path} was to be counted", str(error).splitlines()[0]) from error


_NAME, _TEXT = '"', "'"


def _quoted(name: str, mark: str = _NAME) -> str:
    return mark + name.replace(mark, mark * 2) + mark


def _open(database: Any, path: Path, wanted: list[str]) -> None:
    """A view `people` of the file."""
    if file_kind(path) == "xlsx":
        database.register("people", read_frame(path))
        return _require(database, wanted)
    place = _quoted(str(path), mark=_TEXT)
    reader = f"read_csv({place}, header = true, all_varchar = true)" if file_kind(path) == "csv" else None
    database.execute(f"CREATE VIEW people AS SELECT * FROM {reader or f'read_parquet({place})'}")
    return _require(database, wanted)


def _require(database: Any, wanted: list[str]) -> None:
    found = [row[0] for row in database.execute("DESCRIBE people").fetchall()]
    for name in wanted:
        _must_have(name, found)


def _must_have(name: str, found: list[str]) -> None:
    if name not in found:
        raise BadInput(
            f"the column {name!r} was asked for", "the microdata have no such column", did_you_mean(name, found)
        )


def _count(database: Any, names: list[str], universe: Any, person: str | None, bound: int) -> Integers:
    _find_categories(database, names, universe, person)
    counts = np.zeros(universe.num_rows, dtype=np.int64)
    if person is None:
        _add(counts, database.execute("SELECT place, sum(n) FROM codes GROUP BY place").fetchall())
        return counts
    return _count_bounded(database, names, person, bound, counts)


def _count_bounded(database: Any, names: list[str], person: str, bound: int, zeros: Integers) -> Integers:
    """All people at once; if that does not fit in memory, a share of the people in each of several passes."""
    import duckdb

    passes = 1
    while True:
        counts = zeros.copy()
        try:
            for number in range(passes):
                _add(counts, _one_pass(database, names, person, bound, number, passes))
            return counts
        except duckdb.OutOfMemoryException:
            if passes >= MOST_PASSES:
                raise
            passes *= 8


def _one_pass(database: Any, names: list[str], person: str, bound: int, number: int, passes: int) -> list[Any]:
    """(place, rows) of the people whose hash leaves the remainder `number`."""
    same = " AND ".join(f"people.{_quoted(name)} IS NOT DISTINCT FROM codes.k{k}" for k, name in enumerate(names))
    who = f"people.{_quoted(person)}"
    some = "" if passes == 1 else f"WHERE hash({who}) % {passes} = {number} "
    query = (
        f"SELECT place, count(*) FROM (SELECT place FROM people JOIN codes ON {same} {some}QUALIFY "
        f"row_number() OVER (PARTITION BY {who} ORDER BY hash(hash({who}, place))) <= {bound}) GROUP BY place"
    )
    found: list[Any] = database.execute(query).fetchall()
    return found


def _add(counts: Integers, found: list[Any]) -> None:
    counts[[row[0] for row in found]] += np.array([int(row[1]) for row in found], dtype=np.int64)


def _find_categories(database: Any, names: list[str], universe: Any, person: str | None) -> None:
    """A table `codes`: every category of the data, its number of rows, and its place in the universe."""
    columns = ", ".join(f"{_quoted(name)} AS k{k}" for k, name in enumerate(names))
    nameless = "0" if person is None else f"count(*) FILTER (WHERE {_quoted(person)} IS NULL)"
    database.execute(
        f"CREATE TEMP TABLE groups AS SELECT {columns}, count(*) AS n, {nameless} AS nameless FROM people GROUP BY ALL"
    )
    database.register("universe", _as_text(universe))
    texts = [f"coalesce(CAST(k{k} AS VARCHAR), '')" for k in range(len(names))]
    same = " AND ".join(f"{text} = u{k}" for k, text in enumerate(texts))
    database.execute(f"CREATE TEMP TABLE codes AS SELECT groups.*, place FROM groups LEFT JOIN universe ON {same}")
    missing, without_person = database.execute(
        "SELECT count(*) FILTER (WHERE place IS NULL), coalesce(sum(nameless), 0) FROM codes"
    ).fetchone()
    if missing:
        chosen = f"SELECT {', '.join(texts)} FROM codes WHERE place IS NULL ORDER BY ALL LIMIT {NAMED}"
        raise _outside(names, missing, database.execute(chosen).fetchall())
    if without_person:
        raise _without_person(person, int(without_person))


def _as_text(universe: Any) -> Any:
    import pyarrow as pa

    columns = {f"u{k}": universe.column(k).cast(pa.string()) for k in range(universe.num_columns)}
    return pa.table({**columns, "place": pa.array(np.arange(universe.num_rows))})


def _outside(names: list[str], number: int, some: list[tuple[Any, ...]]) -> BadInput:
    listed = "; ".join(", ".join(f"{name} = {value!r}" for name, value in zip(names, row)) for row in some)
    return BadInput(
        "microdata were to be counted over a public universe",
        f"{number} of the categories in the data are not in it: {listed}{'; ...' if number > len(some) else ''}",
        "Correct the data or, if the category is publicly known to exist, add it to the universe. Nothing was written",
        categories=number,
    )


def _without_person(person: str | None, number: int) -> BadInput:
    return BadInput(f"the column {person!r} says whose row it is", f"it is empty in {number} row(s)")


def count_frame(frame: Any, names: list[str], universe: Any, person: str | None, bound: int) -> tuple[Integers, str]:
    """The counts in the order of the universe, and the kind of the frame."""
    people, kind = to_arrow(frame)
    for name in [*names, *([person] if person else [])]:
        _must_have(name, people.column_names)
    places = _places(people, names, universe)
    if person is not None:
        places = _bounded(places, people.column(person), person, bound)
    return np.bincount(places, minlength=universe.num_rows).astype(np.int64), kind


def _places(people: Any, names: list[str], universe: Any) -> Integers:
    """For every row, the place of its category in the universe."""
    codes = np.zeros(people.num_rows, dtype=np.int64)
    texts: list[tuple[str, ...]] = [()]
    for name in names:
        column, values = _encoded(people.column(name))
        found, codes = np.unique(codes * len(values) + column, return_inverse=True)
        texts = [(*texts[code // len(values)], values[code % len(values)]) for code in found.tolist()]
    known = _as_text(universe).drop_columns(["place"]).to_pylist()
    place = {tuple(row.values()): k for k, row in enumerate(known)}
    outside = sorted(text for text in texts if text not in place) if people.num_rows else []
    if outside:
        raise _outside(names, len(outside), outside[:NAMED])
    return np.array([place.get(text, 0) for text in texts], dtype=np.int64)[codes]


def _encoded(column: Any) -> tuple[Integers, list[str]]:
    """A column as numbers into a list of texts; a missing value is the empty text."""
    import pyarrow as pa

    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    if not pa.types.is_string(coded.dictionary.type):
        values = coded.dictionary.cast(pa.string()).to_pylist()
    else:
        values = coded.dictionary.to_pylist()
    return coded.indices.to_numpy().astype(np.int64), ["" if value is None else value for value in values] or [""]


def _bounded(places: Integers, column: Any, person: str, bound: int) -> Integers:
    """At most `bound` places for each person: those that come first in an order of that person's own."""
    if column.null_count:
        raise _without_person(person, column.null_count)
    owners, values = _encoded(column)
    own = np.array([zlib.crc32(value.encode()) for value in values], dtype=np.uint64)
    order = np.lexsort((_mixed(_mixed(own)[owners] + places.astype(np.uint64)), owners))
    owners = owners[order]
    starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]]) if len(owners) else np.zeros(0, dtype=np.int64)
    rank = np.arange(len(owners)) - np.repeat(starts, np.diff(np.r_[starts, len(owners)]))
    return places[order[rank < bound]]


def _mixed(words: Words) -> Words:
    """Words scattered over 64 bits (the finalizer of splitmix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
