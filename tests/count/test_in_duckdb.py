"""Counting by DuckDB: nothing secret is left, shown or brought here."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from traceback import format_exception
from typing import Any

import duckdb
import pytest

from discreet.count import count
from discreet.errors import BadInput, MissingExtra
from discreet.io.microdata import in_duckdb
from discreet.io.microdata.ranks import INNER, OUTER, padded
from tests.count.people import (
    KEY,
    ROWS,
    UNIVERSE,
    as_arrow,
    as_csv,
    as_relation,
    counts_of,
    obvious,
    under_one_key,
)


def test_tables_of_the_users_own(tmp_path: Path) -> None:
    """Whatever they are called, they are not counted by mistake, and stay what they are."""
    with duckdb.connect() as own:
        own.register("rows", as_arrow(ROWS, tmp_path))
        for name in ("people", "own", "more"):
            own.execute(f"CREATE TEMP VIEW {name} AS SELECT 42 AS mine")
        assert counts_of(count(own.sql("SELECT * FROM rows"), ["county", "sex"], UNIVERSE, "person", 9)) == obvious(
            ROWS
        )
        assert own.sql("SELECT * FROM people").fetchall() == [(42,)]
        assert "discreet_people" not in str(own.sql("SELECT view_name FROM duckdb_views()").fetchall())


def test_a_connection_that_looks_nothing_up_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with duckdb.connect() as own:
        rows = own.from_arrow(as_arrow(ROWS, tmp_path))
        own.execute("SET python_enable_replacements = false")
        with pytest.raises(BadInput, match="Run: SET python_enable_replacements = true"):
            count(rows, ["county", "sex"], UNIVERSE, "person", 9)


def test_a_database_of_the_users_own_stays_what_it_is(tmp_path: Path) -> None:
    """No view is left in its file, and one that may only be read can be counted."""
    rows = as_arrow(ROWS, tmp_path)
    with duckdb.connect(tmp_path / "own.db") as own:
        own.register("given", rows)
        own.execute("CREATE TABLE rows AS SELECT * FROM given")
    before = (tmp_path / "own.db").read_bytes()
    for read_only in (False, True):
        with duckdb.connect(tmp_path / "own.db", read_only=read_only) as own:
            found = count(own.table("rows"), ["county", "sex"], UNIVERSE, "person", 9)
            assert counts_of(found) == obvious(ROWS)
        assert (tmp_path / "own.db").read_bytes() == before


@pytest.mark.parametrize("name", ["discreet_people", "Discreet_Key"])
def test_a_table_that_would_be_taken_for_ours_is_refused(name: str, tmp_path: Path) -> None:
    with duckdb.connect() as own:
        own.register("rows", as_arrow(ROWS, tmp_path))
        own.execute(f"CREATE TABLE {name} AS SELECT 42 AS mine")
        with pytest.raises(BadInput, match=f"a table or view named {name}"):
            count(own.sql("SELECT * FROM rows"), ["county", "sex"], UNIVERSE, "person", 9)


def test_the_key_is_in_no_text_of_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which the user's own connection may log, and an error would show."""
    asked, seen = in_duckdb.InDuckDB.asked, []

    def watched(self: Any, query: str, *others: Any) -> Any:
        seen.append(query)
        return asked(self, query, *others)

    monkeypatch.setattr(in_duckdb.InDuckDB, "asked", watched)
    assert under_one_key(as_relation(ROWS, Path()), 1).sum() == 2
    for mark in (0, INNER, OUTER):
        assert padded(KEY, mark)[:8].hex() not in " ".join(seen).lower()


def test_an_error_of_duckdb_shows_no_value(tmp_path: Path) -> None:
    frame = duckdb.from_arrow(as_arrow([("01001", "f", "ann")], tmp_path)).project("county, sex, person::INT AS person")
    with pytest.raises(BadInput, match="a value is not of the type of its column") as caught:
        count(frame, ["county", "sex"], UNIVERSE, "person", 1)
    assert "ann" not in "".join(format_exception(caught.value)).replace("channel", "")


KILLED = """
import os, signal, sys
from pathlib import Path
from discreet.io.microdata.in_duckdb import opened_file

with opened_file(Path(sys.argv[1])) as opened:
    [[place]] = opened.relation.query("t", "SELECT current_setting('temp_directory')").fetchall()
    (Path(place) / "rows").write_text("of people")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_count_has_written_aside_is_swept_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB puts rows of people there when memory is short."""
    aside, people = tmp_path / "aside", tmp_path / "people.csv"
    aside.mkdir()
    people.write_text("clinic\nNorth\n")
    monkeypatch.setenv("TMPDIR", str(aside))
    monkeypatch.setattr("tempfile.tempdir", None)
    done = subprocess.run([sys.executable, "-c", KILLED, str(people)], check=False)
    assert done.returncode == -signal.SIGKILL
    [left] = aside.iterdir()
    assert left.stat().st_mode & 0o077 == 0 and (left / "rows").exists()
    assert count(people, "clinic", {"clinic": ["North"]}).counts.tolist() == [1]
    assert list(aside.iterdir()) == []


def test_without_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[duckdb\]'"):
        count(as_csv(ROWS, tmp_path), ["county", "sex"], UNIVERSE)


def test_a_lazy_frame_is_not_brought_here_to_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a thousand rows, only the categories come out of DuckDB."""
    seen = []
    asked = in_duckdb.InDuckDB.asked

    def watched(self: Any, query: str, *others: Any) -> Any:
        seen.append(asked(self, query, *others).num_rows)
        return asked(self, query, *others)

    monkeypatch.setattr(in_duckdb.InDuckDB, "asked", watched)
    frame = as_relation(ROWS * 200, Path())
    assert sum(counts_of(count(frame, ["county", "sex"], UNIVERSE, "person", 3))) == 6
    assert max(seen) <= 6
