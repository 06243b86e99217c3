"""One way in and out of the database: a read, or a locked write, with errors a person can use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os.path import exists
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from discreet.errors import BadInput
from discreet.ledger.address import Address
from discreet.ledger.chain import Broken, checked
from discreet.ledger.reading import Accounts, UnknownRules
from discreet.ledger.tables import READ_BY, VERSION, foreign, found_version, lines, unguarded

CONNECT_SECONDS = 10  # a server that has not answered by then is taken to be down
SEES_THE_LATEST = "READ COMMITTED"  # whatever the server is set to: who waited for the lock must see what was written


def engine_for(address: Address, wait: float) -> Engine:
    """`wait`: how many seconds to wait for another writer."""
    if address.url.get_backend_name() != "sqlite":
        options = {"connect_timeout": CONNECT_SECONDS}
        engine = create_engine(
            address.url, poolclass=NullPool, connect_args=options, hide_parameters=True, isolation_level=SEES_THE_LATEST
        )
        event.listen(engine, "begin", lambda connection: _begin_postgresql(connection, wait))
        return engine
    engine = create_engine(address.url, poolclass=NullPool, connect_args={"timeout": wait}, hide_parameters=True)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver must not open transactions of its own
    connection.execute("PRAGMA synchronous = FULL")


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes the one write lock before it reads, so that what it reads stays true until it commits."""
    connection.exec_driver_sql("BEGIN IMMEDIATE" if _is_write(connection) else "BEGIN")


def _begin_postgresql(connection: Connection, wait: float) -> None:
    if _is_write(connection):
        connection.exec_driver_sql("SET LOCAL synchronous_commit = on")
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, round(wait * 1000))}")
        # one writer at a time, whatever the data set: every line follows from the one before it
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('discreet_ledger'))")


def _is_write(connection: Connection) -> bool:
    return bool(connection.get_execution_options().get("discreet_write"))


@contextmanager
def transaction(engine: Engine, address: Address, asked: str, *, write: bool = False) -> Iterator[Connection]:
    """All or nothing. Errors of the database come out in plain words, with no password in them or behind them."""
    _refuse_other_names(address, asked)
    try:
        with engine.connect().execution_options(discreet_write=write) as connection, connection.begin():
            yield connection
    except SQLAlchemyError as error:
        raise _explained(error, address, asked) from None


def _refuse_other_names(address: Address, asked: str) -> None:
    """SQLite keeps what is not yet in the file beside it, by its name: by another name a spending would not be seen."""
    try:
        names = 1 if address.file is None else address.file.stat().st_nlink
    except (OSError, ValueError):  # SQLite will say what is wrong with it
        return
    if names < 2:
        return
    found = f"the file {address.shown} has another name (a hard link), by which writers would not see each other"
    raise BadInput(asked, found, "Remove the other name, or copy the file while nobody writes")


def check_format(connection: Connection, address: Address, asked: str) -> None:
    """Refuse what is no ledger, a ledger of another format, and one whose guards are gone."""
    version = found_version(connection)
    if version is None:
        raise _another_database(connection, address, asked) or no_ledger(address, asked)
    if version != VERSION:
        reader = READ_BY.get(version)
        found = f"the ledger {address.shown} has format {version}; this discreet reads format {VERSION}"
        do = f"Use discreet {reader}, and begin a new ledger" if reader else "Use the discreet that made it"
        raise BadInput(asked, found, do, version=version)
    bare = unguarded(connection)
    if bare:
        found = f"the ledger {address.shown} has lost the triggers that guard {', '.join(bare)}"
        raise BadInput(asked, found, "Somebody changed the database: find out who, and restore a backup")


def refuse_another_database(connection: Connection, address: Address, asked: str) -> None:
    """Before a ledger is made: an SQLite file of another program's is not a place for one."""
    if found_version(connection) is None:
        problem = _another_database(connection, address, asked)
        if problem is not None:
            raise problem


def _another_database(connection: Connection, address: Address, asked: str) -> BadInput | None:
    tables = foreign(connection)
    if not tables:
        return None
    found = f"the file {address.shown} is a database of another program (it holds {tables[0]!r})"
    return BadInput(asked, f"there is no ledger at {address.shown}: {found}", "Give a file of its own")


def read_accounts(connection: Connection, address: Address, asked: str) -> Accounts:
    """Everything the ledger says, once every line of it is checked."""
    try:
        return Accounts(checked(lines(connection)))
    except UnknownRules as other:
        found = f"line {other.number} of the ledger {address.shown} {other.why}, which this discreet does not know"
        raise BadInput(asked, found, "Use the discreet that wrote it", line=other.number) from other
    except Broken as broken:
        raise BadInput(
            asked,
            f"the ledger {address.shown} was changed: its {broken}",
            "Nothing can be spent from it; restore a backup",
            line=broken.number,
        ) from broken


def no_ledger(address: Address, asked: str) -> BadInput:
    return BadInput(asked, f"there is no ledger at {address.shown}", "Make one with `discreet ledger create`")


def _explained(error: SQLAlchemyError, address: Address, asked: str) -> BadInput:
    cause = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    lines = [line.strip() for line in address.scrub(cause).splitlines() if line.strip()]
    message = lines[0] if lines else type(error).__name__
    lower, shown = cause.lower(), address.shown
    if "unable to open" in lower:
        if address.file is not None and not exists(address.file):  # no name is too long for it
            return no_ledger(address, asked)
        return BadInput(asked, f"the file {shown} cannot be opened", "Check that it and its folder can be written")
    if "is locked" in lower or "lock timeout" in lower:
        return BadInput(asked, f"another process holds the ledger {shown}", "Nothing was recorded; try again")
    if "readonly" in lower or "read-only" in lower or "permission denied" in lower:
        return BadInput(asked, f"the ledger {shown} cannot be written: {message}", "Ask for write access")
    if "not a database" in lower or "malformed" in lower:
        return BadInput(asked, f"the file {shown} is not a ledger: {message}", "Check the path, or restore a backup")
    if "connection" in lower or "connect" in lower or "resolve" in lower:
        return BadInput(asked, f"the ledger {shown} cannot be reached: {message}", "Check the address and the server")
    return BadInput(asked, f"the ledger {shown} answered: {message}")
