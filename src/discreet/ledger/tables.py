"""The tables of a ledger, and the triggers that keep them append-only."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
    text,
)

VERSION = 1  # of the layout below: checked whenever a ledger is opened

metadata = MetaData()
about = Table("discreet_ledger", metadata, Column("version", Integer, nullable=False))
datasets = Table(
    "discreet_datasets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("epsilon", Text),
    Column("delta", Text, nullable=False),
    Column("rho", Text),
    Column("created", Text, nullable=False),
)
spendings = Table(
    "discreet_spendings",
    metadata,
    Column("dataset", Text, ForeignKey("discreet_datasets.name"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("epsilon", Text),
    Column("delta", Text, nullable=False),
    Column("rho", Text),
    Column("digest", Text, nullable=False),
    Column("discloses", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("recorded", Text, nullable=False),
    UniqueConstraint("dataset", "number"),
)

REFUSAL = "the ledger is append-only"


def prepare(connection: Connection) -> None:
    """Make the tables where there are none. The caller holds a lock or a write transaction."""
    if inspect(connection).has_table(about.name):
        return
    metadata.create_all(connection)
    connection.execute(insert(about).values(version=VERSION))
    for statement in _guards(connection.dialect.name):
        connection.execute(text(statement))


def found_version(connection: Connection) -> int | None:
    """The version of the ledger in this database, or None where there is no ledger."""
    if not inspect(connection).has_table(about.name):
        return None
    version: int = connection.execute(select(about.c.version)).scalar_one()
    return version


def _guards(dialect: str) -> list[str]:
    names = [table.name for table in (about, datasets, spendings)]
    if dialect == "sqlite":
        return [
            f"CREATE TRIGGER {name}_no_{change} BEFORE {change} ON {name} BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
            for name in names
            for change in ("update", "delete")
        ]
    function = (
        "CREATE FUNCTION discreet_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$"
    )
    return [function] + [
        f"CREATE TRIGGER {name}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {name} "
        "FOR EACH STATEMENT EXECUTE FUNCTION discreet_refuse()"
        for name in names
    ]
