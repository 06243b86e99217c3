"""Microdata in DuckDB, which spills to disk: files that may be larger than memory, and relations of the user's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from discreet.errors import BadInput, MissingExtra
from discreet.io.frames import file_kind
from discreet.io.microdata import NAMELESS, SIZE, category, refuse_nested
from discreet.io.microdata.in_memory import summed
from discreet.io.microdata.ranks import DIGITS, INNER, OUTER, padded
from discreet.io.place import secret_folder

MOST_PASSES = 512  # after 1, 8 and 64: where a 512th of the people does not fit, more passes hardly help
NAME, TEXT = '"', "'"  # marks around a name, and around a text
PEOPLE, KEY = "discreet_people", "discreet_key"  # in a query. A table of that name would be taken for ours: refused
LOOKED_UP = "python_enable_replacements"  # DuckDB's setting: whether names in a query are looked up in Python
FLOATS = ("FLOAT", "DOUBLE")
NESTED = ("STRUCT", "MAP", "UNION")  # their texts may be alike where they are not; so may those of lists, KIND[]
SPAN = "INTERVAL"  # whose texts may differ where it is the same: a month, and thirty days


@contextmanager
def opened_file(path: Path) -> Iterator[InDuckDB]:
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtra(
            f"{path} was to be counted", "DuckDB is not installed", "Run: pip install 'discreet[duckdb]'"
        ) from error
    with secret_folder(Path(gettempdir()) / "discreet") as scratch, duckdb.connect() as database:
        database.execute(f"SET temp_directory = {_quoted(str(scratch), mark=TEXT)}")
        database.execute("SET preserve_insertion_order = false")
        place = _quoted(str(path), mark=TEXT)
        csv = file_kind(path) == "csv"
        reader = f"read_csv({place}, header = true, all_varchar = true)" if csv else f"read_parquet({place})"
        with _explained(f"{path} was to be counted"):
            yield InDuckDB(database.sql(f"SELECT * FROM {reader}"), file_kind(path))


@contextmanager
def opened_relation(relation: Any, kind: str) -> Iterator[InDuckDB]:
    asked = "a relation of DuckDB was to be counted"
    with _explained(asked):
        found = InDuckDB(relation, kind)
        if taken := found.taken():
            raise BadInput(asked, f"its database has a table or view named {taken}", "Rename it, or drop it")
        if not found.looks_up:
            raise BadInput(asked, f"its connection has {LOOKED_UP} = false", f"Run: SET {LOOKED_UP} = true")
        yield found


@contextmanager
def _explained(asked: str) -> Iterator[None]:
    """DuckDB's errors as ours. One that would show a value does not: it may be a person's."""
    import duckdb

    try:
        yield
    except duckdb.ConversionException:
        raise BadInput(asked, "a value is not of the type of its column", "Read the column as text") from None
    except duckdb.Error as error:
        raise BadInput(asked, str(error).splitlines()[0]) from error


@dataclass(frozen=True, eq=False)
class InDuckDB:
    """A relation with a row for each row."""

    relation: Any
    kind: str

    @property
    def columns(self) -> list[str]:
        return list(self.relation.columns)

    @property
    def tells_capitals(self) -> bool:
        return False

    @property
    def types(self) -> dict[str, str]:
        return dict(zip(self.columns, map(str, self.relation.types)))

    def grouped(self, names: list[str], person: str | None) -> Any:
        types = self.types
        for name in [*names, *([person] if person else [])]:
            if types[name].startswith((*NESTED, SPAN)) or types[name].endswith("]"):
                raise refuse_nested(name, types[name])
        absent = "0" if person is None else f"count(*) FILTER (WHERE {_nameless(person, types[person])})"
        columns = f"{self._categories(names)}, count(*) AS {SIZE}, CAST({absent} AS BIGINT) AS {NAMELESS}"
        return self.asked(f"SELECT {columns} FROM {PEOPLE} GROUP BY ALL")

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
        who = _text(person, self.types[person])
        some = f" WHERE {_quoted(person)} IS NOT NULL"
        some += "" if passes == 1 else f" AND {_hash(who)} % {passes} = {number}"
        keys = [category(place) for place in range(len(names))]
        return self.asked(
            f"WITH own AS MATERIALIZED (SELECT {who} AS who, {self._categories(names)}, "
            f"count(*) AS n FROM {PEOPLE}{some} GROUP BY ALL), "
            f"more AS MATERIALIZED (SELECT who FROM own GROUP BY who HAVING sum(n) > {bound}), "
            "each AS (SELECT own.*, unnest(range(n)) AS number FROM own SEMI JOIN more USING (who)), "
            f"kept AS (SELECT {', '.join(keys)}, 1 AS n FROM each QUALIFY row_number() OVER "
            f"(PARTITION BY who ORDER BY {_rank(['who', *keys], 'number')}) <= {bound} "
            f"UNION ALL SELECT {', '.join(keys)}, n FROM own ANTI JOIN more USING (who)) "
            f"SELECT {', '.join(keys)}, CAST(sum(n) AS BIGINT) AS {SIZE} FROM kept GROUP BY ALL",
            _blocks(key),
        )

    def _categories(self, names: list[str]) -> str:
        texts = [_text(name, self.types[name]) for name in names]
        return ", ".join(f"coalesce({text}, '') AS {category(place)}" for place, text in enumerate(texts))

    def taken(self) -> str:
        """A name of ours that the user's database has, or nothing."""
        names = "SELECT table_name AS name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views()"
        found = f"SELECT min(name) FROM ({names}) WHERE lower(name) IN ('{PEOPLE}', '{KEY}')"
        return self.one_row.project(f"({found})").fetchall()[0][0] or ""

    @property
    def looks_up(self) -> bool:
        """Whether the connection finds the people and the key by their names; versions without the setting do."""
        found = f"SELECT min(value) FROM duckdb_settings() WHERE name = '{LOOKED_UP}'"
        return bool(self.one_row.project(f"({found})").fetchall()[0][0] != "false")

    def asked(self, query: str, discreet_key: Any = None) -> Any:
        """The answer to a query about the people, as an Arrow table. DuckDB finds the people and the key here, by the
        names that they have in the query: so the key stands in no text of a query, which the user's connection may
        log; and no view has to be made, which older versions would keep in the user's database."""
        assert discreet_key is None or discreet_key.num_rows == 1, "one key"
        discreet_people = self.relation
        found = self.one_row.project(f"unnest((SELECT list(answer) FROM ({query}) AS answer), max_depth := 2)")
        fetch = getattr(found, "to_arrow_table", None) or found.fetch_arrow_table
        answer = fetch()
        del discreet_people  # looked up until here
        return answer

    @property
    def one_row(self) -> Any:
        """A relation to ask something of the same connection, which a relation does not tell."""
        return self.relation.limit(0).aggregate("count(*)")


def _quoted(name: str, mark: str = NAME) -> str:
    return mark + name.replace(mark, mark * 2) + mark


def _text(name: str, kind: str) -> str:
    """A value as text; minus zero is zero."""
    return f"CAST({_quoted(name)}{' + 0' if kind in FLOATS else ''} AS VARCHAR)"


def _hash(text: str) -> str:
    """The same for texts that a column may take for the same: by its collation, with other capitals or accents."""
    return f"hash(lower(strip_accents({text})))"


def _nameless(person: str, kind: str) -> str:
    name = _quoted(person)
    return f"{name} IS NULL OR CAST({name} AS VARCHAR) = ''" + (f" OR isnan({name})" if kind in FLOATS else "")


def _blocks(key: bytes) -> Any:
    """What HMAC's two hashes begin with, as a table of one row."""
    import pyarrow as pa

    return pa.table({name: [padded(key, mark)] for name, mark in (("inward", INNER), ("outward", OUTER))})


def _rank(texts: list[str], number: str) -> str:
    """HMAC-SHA256 as in `ranks`; as many of its hexadecimal digits have the order of the words."""
    message = " || ".join([*(f"strlen({text}) || ':' || {text}" for text in texts), number])
    inner, outer = (f"(SELECT {name} FROM discreet_key)" for name in ("inward", "outward"))
    return f"sha256({outer} || from_hex(sha256({inner} || encode({message}))))[:{DIGITS}]"
