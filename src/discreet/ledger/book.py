"""`ledger(url)`: budgets of data sets, and what each release took from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, overload

from discreet.errors import BadInput, OverBudget, did_you_mean
from discreet.ledger.address import Address, address_of
from discreet.ledger.spending import COMPOSITION, Amount, Spending, amount_of, charge
from discreet.numbers import Number, text
from discreet.privacy.values import Loss, loss_of

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from discreet.record.release import LedgerEntry


@dataclass(frozen=True)
class Entry:
    """One recorded spending."""

    dataset: str
    number: int
    spending: Spending
    charged: Amount
    recorded: str

    def as_json(self) -> dict[str, object]:
        stated = self.spending.amount
        return {
            "dataset": self.dataset,
            "number": self.number,
            "recorded": self.recorded,
            "stated": stated.as_json(),
            "charged": self.charged.as_json(),
            "digest": self.spending.digest,
            "discloses": list(self.spending.discloses),
            "note": self.spending.note,
        }


@dataclass(frozen=True)
class Statement:
    """The account of one data set."""

    dataset: str
    budget: Amount
    spent: Amount
    releases: int
    discloses: tuple[str, ...] = ()

    @property
    def left(self) -> Amount:
        return self.budget.minus(self.spent)

    @property
    def composition(self) -> str:
        return COMPOSITION[self.budget.kind]

    @property
    def sentence(self) -> str:
        disclosed = "; published exactly: " + ", ".join(self.discloses) if self.discloses else ""
        return (
            f"{self.dataset}: budget {self.budget}; spent {self.spent} in {self.releases} release(s); "
            f"left {self.left} ({self.composition}){disclosed}."
        )

    def __str__(self) -> str:
        return self.sentence

    def as_json(self) -> dict[str, object]:
        return {
            "dataset": self.dataset,
            "budget": self.budget.as_json(),
            "spent": self.spent.as_json(),
            "left": self.left.as_json(),
            "kind": self.budget.kind,
            "composition": self.composition,
            "releases": self.releases,
            "discloses": list(self.discloses),
        }


@dataclass(frozen=True)
class Ledger:
    """Holds only an address: the truth is in the database, and every call reads it afresh."""

    address: Address
    wait: float = 30.0
    _engine: Engine = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        from discreet.ledger.database import engine_for

        object.__setattr__(self, "_engine", engine_for(self.address, self.wait))

    def create(
        self, dataset: str, *, epsilon: Number | Loss | None = None, delta: Number = 0, rho: Number | None = None
    ) -> Statement:
        """Give a data set its budget, once and for all; the ledger itself is made if there is none."""
        from sqlalchemy import insert

        from discreet.ledger.tables import datasets, prepare

        asked = f"a budget for {dataset!r} was to be set"
        if not dataset.strip():
            raise BadInput(asked, "the data set needs a name")
        budget = amount_of(loss_of(epsilon, rho=rho, delta=delta))
        self._make_file()
        with self._transaction(asked, write=True) as connection:
            _lock_everything(connection)
            prepare(connection)
            self._check(connection, asked)
            if dataset in _budgets(connection):
                raise BadInput(asked, "it already has one, and a budget is never changed", "Use another name")
            connection.execute(insert(datasets).values(name=dataset, created=_now(), **_columns(budget)))
        return Statement(dataset, budget, budget.zero(), 0)

    def spend(self, dataset: str, spending: Spending) -> Statement:
        """Record a spending, or refuse it. When this returns, the record is durable and noise may be drawn."""
        from sqlalchemy import insert

        from discreet.ledger.tables import spendings

        asked = f"a release of {dataset!r} was to be recorded"
        with self._transaction(asked, write=True) as connection:
            self._check(connection, asked)
            _lock_dataset(connection, dataset)
            before = _statement(connection, dataset, asked)
            cost = charge(before.budget, spending)
            if not before.left.covers(cost):
                raise _over_budget(before, cost)
            values = {
                "dataset": dataset,
                "number": before.releases + 1,
                **_columns(spending.amount),
                "digest": spending.digest,
                "discloses": json.dumps(spending.discloses),
                "note": spending.note,
                "recorded": _now(),
            }
            connection.execute(insert(spendings).values(**values))
            return _statement(connection, dataset, asked)

    def recorder(self, dataset: str) -> Callable[[Spending], LedgerEntry]:
        """What a release calls before it draws. The ledger and the data set are looked up now, to fail early."""
        from discreet.record.release import LedgerEntry

        self.status(dataset)

        def record(spending: Spending) -> LedgerEntry:
            return LedgerEntry(dataset, self.spend(dataset, spending).releases)

        return record

    @overload
    def status(self, dataset: str) -> Statement: ...
    @overload
    def status(self, dataset: None = None) -> tuple[Statement, ...]: ...
    def status(self, dataset: str | None = None) -> Statement | tuple[Statement, ...]:
        """Budget, spent and left: of one data set, or of all."""
        asked = (
            "the state of the ledger was asked for" if dataset is None else f"the state of {dataset!r} was asked for"
        )
        with self._transaction(asked) as connection:
            self._check(connection, asked)
            if dataset is not None:
                return _statement(connection, dataset, asked)
            return tuple(_statement(connection, name, asked) for name in _budgets(connection))

    def history(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """Every recorded spending, oldest first."""
        asked = "the history of the ledger was asked for"
        with self._transaction(asked) as connection:
            self._check(connection, asked)
            budgets = _budgets(connection)
            if dataset is not None:
                _known(dataset, budgets, asked)
            return _entries(connection, budgets, dataset)

    def export(self) -> dict[str, object]:
        """Everything in the ledger, as plain values."""
        from discreet.ledger.tables import VERSION

        return {
            "ledger": self.address.shown,
            "version": VERSION,
            "datasets": [statement.as_json() for statement in self.status()],
            "history": [entry.as_json() for entry in self.history()],
        }

    def _transaction(self, asked: str, *, write: bool = False) -> AbstractContextManager[Connection]:
        from discreet.ledger.database import transaction

        return transaction(self._engine, self.address, asked, write=write)

    def _check(self, connection: Connection, asked: str) -> None:
        from discreet.ledger.database import check_version

        check_version(connection, self.address, asked)

    def _make_file(self) -> None:
        """An empty file is an empty SQLite database; only `create` may bring one into being."""
        if self.address.file is None or self.address.file.exists():
            return
        try:
            self.address.file.touch()
        except OSError as error:
            raise BadInput(f"the ledger {self.address.shown} was to be made", error.strerror or str(error)) from error


def ledger(url: str | Path, *, wait: float = 30.0) -> Ledger:
    """The ledger in an SQLite file (a path) or on a PostgreSQL server (a URL).

    `wait` is how many seconds to wait for another process that is writing.
    """
    return Ledger(address_of(url), wait)


def _statement(connection: Connection, dataset: str, asked: str) -> Statement:
    budgets = _budgets(connection)
    _known(dataset, budgets, asked)
    budget = budgets[dataset]
    entries = _entries(connection, {dataset: budget}, dataset)
    spent = budget.zero()
    for entry in entries:
        spent = spent.plus(entry.charged)
    discloses = dict.fromkeys(fact for entry in entries for fact in entry.spending.discloses)
    return Statement(dataset, budget, spent, len(entries), tuple(discloses))


def _budgets(connection: Connection) -> dict[str, Amount]:
    from sqlalchemy import select

    from discreet.ledger.tables import datasets

    rows = connection.execute(select(datasets).order_by(datasets.c.created, datasets.c.name))
    return {row.name: Amount(_number(row.epsilon), Fraction(row.delta), _number(row.rho)) for row in rows}


def _entries(connection: Connection, budgets: dict[str, Amount], dataset: str | None) -> tuple[Entry, ...]:
    from sqlalchemy import select

    from discreet.ledger.tables import spendings

    query = select(spendings).order_by(spendings.c.recorded, spendings.c.dataset, spendings.c.number)
    if dataset is not None:  # in the order in which they were made, even where a clock ran backwards
        query = select(spendings).order_by(spendings.c.number).where(spendings.c.dataset == dataset)
    entries = []
    for row in connection.execute(query):
        loss = loss_of(_number(row.epsilon), rho=_number(row.rho), delta=Fraction(row.delta))
        spending = Spending(loss, row.digest, tuple(json.loads(row.discloses)), row.note)
        entries.append(Entry(row.dataset, row.number, spending, charge(budgets[row.dataset], spending), row.recorded))
    return tuple(entries)


def _lock_dataset(connection: Connection, dataset: str) -> None:
    """On PostgreSQL the row of the data set is the lock; on SQLite the whole file is locked already."""
    from sqlalchemy import select

    from discreet.ledger.tables import datasets

    if connection.dialect.name == "postgresql":
        connection.execute(select(datasets.c.name).where(datasets.c.name == dataset).with_for_update())


def _lock_everything(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('discreet_ledger'))")


def _known(dataset: str, budgets: dict[str, Amount], asked: str) -> None:
    if dataset not in budgets:
        raise BadInput(asked, f"the ledger knows no data set {dataset!r}", did_you_mean(dataset, budgets))


def _over_budget(before: Statement, cost: Amount) -> OverBudget:
    return OverBudget(
        f"a release of {before.dataset!r} that costs {cost} was asked for",
        f"of the budget {before.budget}, {before.spent} is spent and {before.left} is left",
        "Nothing was drawn or recorded; ask for less",
        cost=cost.as_json(),
        spent=before.spent.as_json(),
        left=before.left.as_json(),
        budget=before.budget.as_json(),
    )


def _columns(amount: Amount) -> dict[str, str | None]:
    return {
        "epsilon": None if amount.epsilon is None else text(amount.epsilon),
        "delta": text(amount.delta),
        "rho": None if amount.rho is None else text(amount.rho),
    }


def _number(written: str | None) -> Fraction | None:
    return None if written is None else Fraction(written)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
