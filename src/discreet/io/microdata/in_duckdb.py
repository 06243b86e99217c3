"""Microdata in DuckDB, which spills to disk: files that may be larger than memory, and relations of the user's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from discreet.errors import BadInput, MissingExtra
from discreet.io.frames import file_kind
from discreet.io.microdata import NAMELESS, SIZE, category
from discreet.io.microdata.in_memory import summed
from discreet.io.microdata.ranks import DIGITS, INNER, OUTER, padded

MOST_PASSES = 512  # after 1, 8 and 64: where a 512th of the people does not fit, more passes hardly help
NAME, TEXT = '"', "'"  # marks around a name, and around a text


@contextmanager
def opened_file(path: Path) -> Iterator[InDuckDB]:
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtra(
            f"{path} was to be counted", "DuckDB is not installed", "Run: pip install 'discreet[duckdb]'"
        ) from error
    with TemporaryDirectory(prefix="discreet-") as scratch, duckdb.connect() as database:
        database.execute(f"SET temp_directory = {_quoted(scratch, mark=TEXT)}")
        database.execute("SET preserve_insertion_order = false")
        place = _quoted(str(path), mark=TEXT)
        csv = file_kind(path) == "csv"
        reader = f"read_csv({place}, header = true, all_varchar = true)" if csv else f"read_parquet({place})"
        try:
            yield InDuckDB(database.sql(f"SELECT * FROM {reader}"), file_kind(path))
        except duckdb.Error as error:
            raise BadInput(f"{path} was to be counted", str(error).splitlines()[0]) from error


@dataclass(frozen=True, eq=False)
class InDuckDB:
    """A relation with a row for each row."""

    relation: Any
    kind: str

    @property
    def columns(self) -> list[str]:
        return list(self.relation.columns)

    def grouped(self, names: list[str], person: str | None) -> Any:
        absent = "0" if person is None else f"count(*) FILTER (WHERE {_quoted(person)} IS NULL)"
        columns = f"{_categories(names)}, count(*) AS {SIZE}, CAST({absent} AS BIGINT) AS {NAMELESS}"
        return self.asked(f"SELECT {columns} FROM people GROUP BY ALL")

    def bounded(self, names: list[str], person: str, bound: int, key: bytes) -> Any:
        """All people at once; if that does not fit in memory, a share of the people in each of several passes."""
        import duckdb
        import pyarrow as pa

        passes = 1
        while True:
            try:
                found = [self.one_pass(names, person, bound, key, number, passes) for number in range(passes)]
            except duckdb.OutOfMemoryException:
                if passes >= MOST_PASSES:
                    raise
                passes *= 8
            else:
                return summed(pa.concat_tables(found), len(names), [SIZE])

    def one_pass(self, names: list[str], person: str, bound: int, key: bytes, number: int, passes: int) -> Any:
        """The categories, and what is counted in them, of the people whose hash leaves the remainder `number`."""
        some = "" if passes == 1 else f" WHERE hash({_quoted(person)}) % {passes} = {number}"
        keys = [category(place) for place in range(len(names))]
        return self.asked(
            f"WITH own AS MATERIALIZED (SELECT CAST({_quoted(person)} AS VARCHAR) AS who, {_categories(names)}, "
            f"count(*) AS n FROM people{some} GROUP BY ALL), "
            f"more AS MATERIALIZED (SELECT who FROM own GROUP BY who HAVING sum(n) > {bound}), "
            "each AS (SELECT own.*, unnest(range(n)) AS number FROM own SEMI JOIN more USING (who)), "
            f"kept AS (SELECT {', '.join(keys)}, 1 AS n FROM each QUALIFY row_number() OVER "
            f"(PARTITION BY who ORDER BY {_rank(key, ['who', *keys], 'number')}) <= {bound} "
            f"UNION ALL SELECT {', '.join(keys)}, n FROM own ANTI JOIN more USING (who)) "
            f"SELECT {', '.join(keys)}, CAST(sum(n) AS BIGINT) AS {SIZE} FROM kept GROUP BY ALL"
        )

    def asked(self, query: str) -> Any:
        """The answer to a query about `people`, as an Arrow table."""
        relation = self.relation.query("people", query)
        fetch = getattr(relation, "to_arrow_table", None) or relation.fetch_arrow_table
        return fetch()


def _quoted(name: str, mark: str = NAME) -> str:
    return mark + name.replace(mark, mark * 2) + mark


def _categories(names: list[str]) -> str:
    return ", ".join(
        f"coalesce(CAST({_quoted(name)} AS VARCHAR), '') AS {category(place)}" for place, name in enumerate(names)
    )


def _rank(key: bytes, texts: list[str], number: str) -> str:
    """HMAC-SHA256 as in `ranks`; as many of its hexadecimal digits have the order of the words."""
    message = " || ".join([*(f"strlen({text}) || ':' || {text}" for text in texts), number])
    inner, outer = (f"from_hex('{padded(key, mark).hex()}')" for mark in (INNER, OUTER))
    return f"sha256({outer} || from_hex(sha256({inner} || encode({message}))))[:{DIGITS}]"
