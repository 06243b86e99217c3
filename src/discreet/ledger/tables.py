"""The tables of a ledger, and the triggers that keep them append-only."""

from __future__ import annotations

from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, insert, inspect, select, text

from discreet.ledger.chain import START, Line

VERSION = 4  # of the layout below: checked whenever a ledger is opened
READ_BY = {1: "0.1"}  # which release of the software reads a ledger of another version
APPLICATION = 0x44495343  # 'DISC': how an SQLite file says whose it is

metadata = MetaData()
about = Table("discreet_ledger", metadata, Column("version", Integer, nullable=False))
chain = Table(
    "discreet_chain",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("content", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
)
documents = Table(  # what is too long for a line, by the sha256 that the line names
    "discreet_documents",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("content", Text, nullable=False),
)
TABLES = (about, chain, documents)

REFUSAL = "the ledger is append-only"  # not words but format: the triggers of a ledger hold it, and are compared
CHANGES = ("update", "delete")


def prepare(connection: Connection) -> None:
    """Make the tables where there are none. The caller holds a lock or a write transaction."""
    if inspect(connection).has_table(about.name):
        return
    metadata.create_all(connection)
    connection.execute(insert(about).values(version=VERSION))
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")
    for statement in _guards(connection.dialect.name):
        connection.execute(text(statement))


def found_version(connection: Connection) -> int | None:
    """The version of the ledger in this database, or None where there is no ledger."""
    if not inspect(connection).has_table(about.name):
        return None
    versions = connection.execute(select(about)).scalars().all()
    return versions[0] if len(versions) == 1 and isinstance(versions[0], int) else 0


def foreign(connection: Connection) -> tuple[str, ...]:
    """Tables of somebody else's in an SQLite file. A PostgreSQL database may hold other things beside a ledger."""
    if connection.dialect.name != "sqlite":
        return ()
    own = {table.name for table in TABLES}
    return tuple(name for name in inspect(connection).get_table_names() if name not in own)


def unguarded(connection: Connection) -> tuple[str, ...]:
    """The tables whose triggers are not the ones they were made with: one is gone, does something else, or is new."""
    if connection.dialect.name == "sqlite":
        query = "SELECT tbl_name, sql FROM sqlite_master WHERE type = 'trigger'"
        expected: list[tuple[object, ...]] = [(name, sql) for name in FITS for sql in _sqlite_guards(name)]
    else:
        query = (
            "SELECT c.relname, t.tgtype, t.tgqual IS NULL, t.tgenabled IN ('O', 'A'), p.prosrc FROM pg_trigger t "
            "JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid "
            "WHERE NOT t.tgisinternal AND pg_table_is_visible(c.oid) AND c.relname LIKE 'discreet_%%'"
        )
        expected = [(name, *what) for name in FITS for what in ((ON_CHANGE, True, True, REFUSE),
                                                                (ON_INSERT, True, True, _fits(name)))]  # fmt: skip
    found = [tuple(row) for row in connection.exec_driver_sql(query)]
    return tuple(
        name
        for name in FITS
        if sorted((row for row in found if row[0] == name), key=repr)
        != sorted((row for row in expected if row[0] == name), key=repr)
    )


def lines(connection: Connection) -> list[Line]:
    """Every line, in order."""
    query = select(chain.c.number, chain.c.content, chain.c.previous, chain.c.hash).order_by(chain.c.number)
    return [Line(*row) for row in connection.execute(query)]


def add_line(connection: Connection, line: Line) -> None:
    values = {"number": line.number, "content": line.content, "previous": line.previous, "hash": line.hash}
    connection.execute(insert(chain).values(**values))


def add_document(connection: Connection, digest: str, content: str) -> None:
    """What has the same digest is there already."""
    if connection.execute(select(documents.c.digest).where(documents.c.digest == digest)).first() is None:
        connection.execute(insert(documents).values(digest=digest, content=content))


def document(connection: Connection, digest: str) -> str | None:
    found: str | None = connection.execute(
        select(documents.c.content).where(documents.c.digest == digest)
    ).scalar_one_or_none()
    return found


# what must be true of a row before it goes in: REPLACE takes rows out without a trigger, so nothing may be in its place
FITS = {
    about.name: f"NOT EXISTS (SELECT 1 FROM {about.name})",
    chain.name: f"NEW.number = (SELECT coalesce(max(number), 0) + 1 FROM {chain.name}) AND NEW.previous = "
    f"coalesce((SELECT hash FROM {chain.name} ORDER BY number DESC LIMIT 1), '{START}')",
    documents.name: f"NOT EXISTS (SELECT 1 FROM {documents.name} WHERE digest = NEW.digest)",
}


# PostgreSQL: the bodies of functions, and when they are called, as the catalogue writes it
REFUSE = f" BEGIN RAISE EXCEPTION '{REFUSAL}'; END "
ON_CHANGE = 2 + 8 + 16 + 32  # before; delete, update, truncate
ON_INSERT = 1 + 2 + 4  # for each row; before; insert


def _fits(name: str) -> str:
    return f" BEGIN IF ({FITS[name]}) IS NOT TRUE THEN RAISE EXCEPTION '{REFUSAL}'; END IF; RETURN NEW; END "


def _sqlite_guards(name: str) -> list[str]:
    refuse = f"SELECT RAISE(ABORT, '{REFUSAL}'); END"
    return [
        *(f"CREATE TRIGGER {name}_no_{change} BEFORE {change} ON {name} BEGIN {refuse}" for change in CHANGES),
        f"CREATE TRIGGER {name}_in_order BEFORE INSERT ON {name} WHEN ({FITS[name]}) IS NOT TRUE BEGIN {refuse}",
    ]


def _guards(dialect: str) -> list[str]:
    if dialect == "sqlite":
        return [statement for name in FITS for statement in _sqlite_guards(name)]
    head = "RETURNS trigger LANGUAGE plpgsql AS"
    statements = [f"CREATE FUNCTION discreet_refuse() {head} $${REFUSE}$$"]
    for name in FITS:
        statements += [
            f"CREATE TRIGGER {name}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {name} "
            "FOR EACH STATEMENT EXECUTE FUNCTION discreet_refuse()",
            f"CREATE FUNCTION {name}_fits() {head} $${_fits(name)}$$",
            f"CREATE TRIGGER {name}_in_order BEFORE INSERT ON {name} FOR EACH ROW EXECUTE FUNCTION {name}_fits()",
        ]
    return statements
