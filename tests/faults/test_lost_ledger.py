"""A connection that is lost at any statement, and a clock that runs backwards: nothing lost, nothing unrecorded."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

import discreet as dc
from discreet.ledger import book as book_module

from ..ledger.conftest import postgresql_url, socket_folder
from .small import charged_before_drawn, complete, entries, prepared

__all__ = ["postgresql_url", "socket_folder"]

MOST = 100  # statements of one release: far more than there are


class Lost:
    """Loses the connection before its n-th statement, or at a commit, before or after it has taken effect."""

    def __init__(self, book: dc.Ledger, fatal: int, when: str) -> None:
        self.fatal, self.when, self.seen = fatal, when, 0
        self.dialect = book._engine.dialect
        self.real_commit = self.dialect.do_commit
        self.dialect.do_commit = self.commit  # type: ignore[method-assign]
        event.listen(book._engine, "do_execute", self.statement)

    def statement(self, cursor: Any, *_: Any) -> None:
        if self.when == "statement" and self._now():
            self.lose(cursor.connection)

    def commit(self, connection: Any) -> None:
        if self.when == "statement" or not self._now():
            self.real_commit(connection)
            return
        if self.when == "after commit":
            self.real_commit(connection)
        self.lose(connection.dbapi_connection)
        if self.when == "before commit":
            self.real_commit(connection)  # on a connection that is no more
        raise self.dialect.loaded_dbapi.OperationalError("the answer never arrived")

    def lose(self, raw: Any) -> None:
        if isinstance(raw, sqlite3.Connection):
            raise sqlite3.OperationalError("disk I/O error")
        import psycopg

        with psycopg.connect(raw.info.dsn, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [raw.info.backend_pid])

    def _now(self) -> bool:
        self.seen += 1
        return self.seen == self.fatal


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    return str(request.getfixturevalue("postgresql_url"))


def attempts(url: str, folder: Path, when: str) -> Iterator[tuple[int, bool, bool]]:
    """For each place where it is lost: what was spent, whether noise was drawn, whether there is a release."""
    spec = prepared(folder, url)
    for fatal in range(1, MOST):
        book, before = dc.ledger(url), entries(url)
        lost = Lost(book, fatal, when)
        made = None
        with charged_before_drawn(url) as drawn:
            try:
                made = dc.release(spec.table.read(), spec.privacy, spec.way, ledger=book, dataset="people")
            except dc.BadInput as error:
                assert "geheim" not in str(error)
        yield entries(url) - before, bool(drawn), made is not None
        if made is not None:
            assert lost.seen < fatal
            return
    raise AssertionError("it never succeeded")


@pytest.mark.parametrize("when", ["statement", "before commit"])
def test_lost_before_it_was_written(when: str, url: str, tmp_path: Path) -> None:
    *failed, last = attempts(url, tmp_path, when)
    assert set(failed) == {(0, False, False)} and last == (1, True, True)
    assert len(failed) >= (5 if when == "statement" else 1)


def test_lost_after_it_was_written(url: str, tmp_path: Path) -> None:
    """Charged, and nothing drawn: nobody can tell whether the record was made, so it is taken to be."""
    *failed, last = attempts(url, tmp_path, "after commit")
    assert (1, False, False) in failed and last == (1, True, True)
    assert {(drawn, made) for _, drawn, made in failed} == {(False, False)}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at it shows an hour earlier."""

    class Backwards(datetime):
        hours = 0

        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            cls.hours += 1
            return datetime(2030, 1, 1, tzinfo=UTC) - timedelta(hours=cls.hours)

    monkeypatch.setattr(book_module, "datetime", Backwards)


@pytest.mark.usefixtures("clock")
def test_a_clock_that_runs_backwards(url: str, tmp_path: Path) -> None:
    """The order of a ledger is that of its entries, whatever time they say."""
    spec = prepared(tmp_path, url)
    book = dc.ledger(url)
    for number in range(1, 4):
        dc.run(spec, out=tmp_path / f"out {number}")
        assert entries(url) == number
    book.create("others", epsilon=1)
    history = book.history("people")
    assert [entry.number for entry in history] == [1, 2, 3]
    assert sorted((entry.recorded for entry in history), reverse=True) == [entry.recorded for entry in history]
    assert book.status("people").left.epsilon == 97
    dc.run(spec)
    assert complete(tmp_path)
