"""Budgets of data sets, what each release took from them, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from os.path import exists
from pathlib import Path
from typing import TYPE_CHECKING, overload

from discreet.errors import BadInput, Discloses, OverBudget, choose
from discreet.ledger import names, words
from discreet.ledger.accounts import Account, Entry, Statement, charged, opened, released
from discreet.ledger.address import Address
from discreet.ledger.chain import Line
from discreet.ledger.disclosure import Disclosure, all_given, newly_given
from discreet.ledger.documents import KeptTable, read_kept, read_sums, written_kept, written_sums
from discreet.ledger.matching import Numbered, about_to_keep
from discreet.ledger.reading import Accounts, digest_of_token
from discreet.ledger.spending import Amount, Spending, amount_of, charge, check_spending
from discreet.numbers import Number
from discreet.options import spelt
from discreet.privacy.parse import loss_of
from discreet.privacy.price import RELATIONS, Relation
from discreet.privacy.values import Loss

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from discreet.ledger.exactly import ExactSpending
    from discreet.record.release import LedgerEntry

TRIES = 3  # to find out what a release gives away before others add to it; then they wait


@dataclass(frozen=True)
class Ledger:
    """Holds only an address: the truth is in the database, and every call reads and checks it afresh."""

    address: Address
    wait: float = 30.0
    _engine: Engine = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        from discreet.ledger.database import engine_for

        object.__setattr__(self, "_engine", engine_for(self.address, self.wait))

    @spelt
    def create(
        self,
        dataset: str,
        *,
        epsilon: Number | Loss | None = None,
        alpha: Number | None = None,
        delta: Number = 0,
        rho: Number | None = None,
        relation: Relation = "added-or-removed",
    ) -> Statement:
        """Give a data set its budget, once and for all; the ledger itself is made if there is none.

        relation: what one person may do to the data, and what the budget is for: be added or removed, or move.
        """
        from discreet.ledger.database import refuse_another_database
        from discreet.ledger.tables import prepare

        asked = f"a budget for {dataset!r} was to be set"
        names.checked_name(dataset, asked)
        choose(relation, RELATIONS, "relation")
        budget = amount_of(loss_of(epsilon, alpha=alpha, rho=rho, delta=delta))
        made = self._make_file()
        try:
            with self._transaction(asked, write=True) as connection:
                refuse_another_database(connection, self.address, asked)
                prepare(connection)
                accounts = self._read(connection, asked)
                names.refuse_another(dataset, accounts.by_name, asked)
                names.refuse_mixed(dataset, asked)
                line = _add(connection, accounts, opened(dataset, relation, budget, _now()), asked)
        except BaseException:
            if made and self.address.file is not None and self.address.file.stat().st_size == 0:
                self.address.file.unlink()
            raise
        return Account(dataset, relation, budget, "").statement(line.hash)

    def spend(self, dataset: str, spending: Spending) -> Statement:
        """Record a spending, or refuse it. When this returns, the record is durable and noise may be drawn."""
        self.spend_all(dataset, [spending])
        return self.status(dataset)

    def spend_all(self, dataset: str, spendings: Sequence[Spending]) -> tuple[Entry, ...]:
        """Record several spendings, as of a release of several tables: all of them, or none."""
        asked = f"a release of {dataset!r} was to be recorded"
        for spending in spendings:
            check_spending(spending, asked)
        for _ in range(TRIES):  # what takes long is found out before the lock is taken
            with self._accounts(asked) as (connection, accounts):
                seen, earlier = self._seen(connection, accounts, dataset, asked)
            costs = _costs(seen, earlier, spendings)
            with self._accounts(asked, write=True) as (connection, accounts):
                account = _account(accounts, dataset, asked)
                if len(account.charges) == len(seen.charges):
                    return self._charged(connection, accounts, account, spendings, costs, asked)
        with self._accounts(asked, write=True) as (connection, accounts):
            account, earlier = self._seen(connection, accounts, dataset, asked)
            costs = _costs(account, earlier, spendings)
            return self._charged(connection, accounts, account, spendings, costs, asked)

    def recorder(self, dataset: str) -> Callable[[Spending], LedgerEntry]:
        """What a release calls before it draws. The ledger and the data set are looked up now, to fail early."""
        from discreet.record.release import LedgerEntry
        from discreet.sample.bits import unguessable

        self.status(dataset)

        def record(spending: Spending) -> LedgerEntry:
            token = unguessable()
            (entry,) = self.spend_all(dataset, [replace(spending, token_digest=digest_of_token(token))])
            return LedgerEntry(dataset, entry.number, entry.hash, token)

        return record

    def released(self, dataset: str, number: int, digest: str, *, drawn: str | None = None, token: str = "") -> None:
        """Record that a charged release was published; `digest` is that of its release.json.

        `drawn`: a digest of its noise, by which several folders of one release are known; one charge pays for one draw.
        `token`: what the release shows in release.json, where it was charged by one.
        """
        asked = f"the release #{number} of {dataset!r} was to be recorded as published"
        with self._accounts(asked, write=True) as (connection, accounts):
            account = _account(accounts, dataset, asked)
            if type(number) is not int or not 1 <= number <= len(account.charges):
                raise BadInput(asked, f"the ledger holds {len(account.charges)} entries for it", "Check the number")
            if digest in account.entry(number).digests:
                return
            line = released(dataset, number, digest, _now(), drawn=drawn, token=token)
            _add(connection, accounts, line, asked)

    def check(self, folder: str | Path, *, record: bool = False) -> tuple[str, ...]:
        """Problems with a release folder that says it was paid for here: none, if its entry is there and fits.

        record: where the entry fits but was never told that its release was saved, tell it now.
        """
        from discreet.ledger.checking import paid_release

        paid = paid_release(self, folder)
        if record and not paid.problems and not paid.told:
            self.released(paid.dataset, paid.number, paid.digest, drawn=paid.drawn, token=paid.token)
            return ()
        return paid.problems if paid.told else (*paid.problems, words.NOT_TOLD)

    def holds(self, head: str) -> bool:
        """Whether a head that was seen once is still part of the chain, with all that came before it."""
        from discreet.ledger.tables import lines

        with self._accounts("a head of the ledger was to be checked") as (connection, _):
            return any(line.hash == head for line in lines(connection))

    @overload
    def status(self, dataset: str) -> Statement: ...
    @overload
    def status(self, dataset: None = None) -> tuple[Statement, ...]: ...
    def status(self, dataset: str | None = None) -> Statement | tuple[Statement, ...]:
        """Budget, spent and left: of one data set, or of all."""
        which = "the ledger" if dataset is None else repr(dataset)
        asked = f"the state of {which} was asked for"
        with self._accounts(asked) as (_, accounts):
            if dataset is not None:
                return _account(accounts, dataset, asked).statement(accounts.head)
            return tuple(account.statement(accounts.head) for account in accounts.by_name.values())

    def history(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """Every recorded spending, oldest first."""
        asked = "the history of the ledger was asked for"
        with self._accounts(asked) as (_, accounts):
            if dataset is None:
                return accounts.entries()
            return tuple(_account(accounts, dataset, asked).entries())

    def statement(self, dataset: str, at_delta: Number | None = None) -> str:
        """The account of a data set as a page for people: what is protected, what is not, and every release.

        at_delta: also say what all releases cost together at this delta, from the noise of each.
        """
        asked = f"a statement of {dataset!r} was asked for"
        with self._accounts(asked) as (connection, accounts):
            account, kept = self._seen(connection, accounts, dataset, asked)
        return words.page(
            account.statement(accounts.head), account.entries(), all_given(kept), address=self.address.shown,
            opened=account.opened, lines=0 if accounts.last is None else accounts.last.number,
            exact=None if at_delta is None else _exactly(account, at_delta),
        )  # fmt: skip

    def exactly(self, dataset: str, at_delta: Number = "1e-6") -> ExactSpending:
        """What all releases of a data set cost one person together at this delta, from the noise of each.

        Never below the truth, and never enforced: a budget is kept by the sum of prices.
        """
        asked = f"the exact price of all releases of {dataset!r} was asked for"
        with self._accounts(asked) as (_, accounts):
            return _exactly(_account(accounts, dataset, asked), at_delta)

    def export(self) -> dict[str, object]:
        """Everything in the ledger, as plain values."""
        from discreet.ledger.tables import VERSION

        with self._accounts("the ledger was to be exported") as (_, accounts):
            return {
                "ledger": self.address.shown,
                "version": VERSION,
                "head": accounts.head,
                "datasets": [account.statement(accounts.head).as_json() for account in accounts.by_name.values()],
                "history": [entry.as_json() for entry in accounts.entries()],
            }

    def _seen(
        self, connection: Connection, accounts: Accounts, dataset: str, asked: str
    ) -> tuple[Account, list[Numbered]]:
        """An account, and the sums that were kept so far."""
        account = _account(accounts, dataset, asked)
        return account, _kept_so_far(connection, account.keeping(), asked)

    def _charged(
        self, connection: Connection, accounts: Accounts, account: Account, spendings: Sequence[Spending],
        costs: Sequence[_Cost], asked: str,
    ) -> tuple[Entry, ...]:  # fmt: skip
        from discreet.ledger.tables import add_document

        for spending, cost in zip(spendings, costs):
            for document in (cost.kept, cost.sums):
                if document is not None:
                    add_document(connection, *document)
            number, kept, sums = len(account.charges) + 1, cost.kept and cost.kept[0], cost.sums and cost.sums[0]
            value = charged(account.dataset, number, spending, cost.price, cost.disclosure, kept, sums, _now())
            _add(connection, accounts, value, asked)
        first = len(account.charges) - len(spendings) + 1
        return tuple(account.entry(number) for number in range(first, len(account.charges) + 1))

    @contextmanager
    def _accounts(self, asked: str, *, write: bool = False) -> Iterator[tuple[Connection, Accounts]]:
        with self._transaction(asked, write=write) as connection:
            yield connection, self._read(connection, asked)

    def _transaction(self, asked: str, *, write: bool = False) -> AbstractContextManager[Connection]:
        from discreet.ledger.database import transaction

        return transaction(self._engine, self.address, asked, write=write)

    def _read(self, connection: Connection, asked: str) -> Accounts:
        from discreet.ledger.database import check_format, read_accounts

        check_format(connection, self.address, asked)
        return read_accounts(connection, self.address, asked)

    def _make_file(self) -> bool:
        """An empty file is an empty SQLite database; only `create` may bring one into being."""
        if self.address.file is None or exists(self.address.file):  # no name is too long for it
            return False
        try:
            self.address.file.touch()
        except OSError as error:
            raise BadInput(f"the ledger {self.address.shown} was to be made", error.strerror or str(error)) from error
        return True


@dataclass(frozen=True)
class _Cost:
    price: Amount
    disclosure: Disclosure
    kept: tuple[str, str] | None = None  # which sums are kept, as it is stored
    sums: tuple[str, str] | None = None  # and what they come to


def _account(accounts: Accounts, dataset: str, asked: str) -> Account:
    names.known_name(dataset, accounts.by_name, asked)
    return accounts.by_name[dataset]


def _exactly(account: Account, at_delta: Number) -> ExactSpending:
    from discreet.ledger.exactly import exactly

    return exactly(account.entries(), account.statement("").spent, account.relation, at_delta)


def _add(connection: Connection, accounts: Accounts, value: dict[str, object], asked: str) -> Line:
    from discreet.ledger.tables import add_line

    line = accounts.add(value, asked)
    add_line(connection, line)
    return line


def _costs(account: Account, earlier: Sequence[Numbered], spendings: Sequence[Spending]) -> list[_Cost]:
    """What spendings take and give away, one after another, or a refusal."""
    before, known, costs = account.statement(""), list(earlier), list[_Cost]()
    for place, spending in enumerate(spendings):
        price = charge(account.budget, account.relation, spending)
        if not before.left.covers(price):
            raise _over_budget(before, price)
        before = replace(before, spent=before.spent.plus(price))
        given, kept, sums = Disclosure(examined=not spending.discloses), None, None
        if spending.kept is not None:
            kept = written_kept(spending.kept)
            new = about_to_keep(len(account.charges) + place + 1, spending.kept, kept and kept[0], spending.counts)
            sums = None if new.sums is None else written_sums(new.sums)
            given = newly_given(known, new)
            known.append(new)
            if sums is None and new.sums is not None:  # of sums that are too many, nobody can say later what they are
                kept = None
        if given.refused and not spending.accept_disclosure:
            raise _discloses(account.dataset, given, len(known) - (spending.kept is not None))
        costs.append(_Cost(price, given, kept, sums if kept else None))
    return costs


def _kept_so_far(connection: Connection, entries: Sequence[Entry], asked: str) -> list[Numbered]:
    """The kept sums of entries that kept any, and what they come to, where that is known."""
    from discreet.ledger.tables import document

    def stored(digest: str) -> str:
        found = document(connection, digest)
        if found is None:
            raise ValueError("it is not there")
        return found

    tables: dict[str, KeptTable] = {}
    out = []
    for entry in entries:
        try:
            if entry.kept is not None and entry.kept not in tables:
                tables[entry.kept] = read_kept(stored(entry.kept), entry.kept)
            table = None if entry.kept is None else tables[entry.kept]
            sums = read_sums(stored(entry.sums), entry.sums, table) if entry.sums and table else None
        except ValueError as error:
            found = f"the kept sums of its entry #{entry.number} cannot be read: {error}"
            raise BadInput(asked, f"the ledger was changed: {found}", "Restore a backup") from error
        out.append(Numbered(entry.number, table, entry.kept, sums))
    return out


def _over_budget(before: Statement, cost: Amount) -> OverBudget:
    return OverBudget(
        f"a release of {before.dataset!r} that costs {cost} for {words.RELATIONS[before.relation]} was asked for",
        f"of the budget {before.budget}, {before.spent} is spent and {before.left} is left",
        "Nothing was drawn or recorded; ask for less",
        cost=cost.as_json(),
        spent=before.spent.as_json(),
        left=before.left.as_json(),
        budget=before.budget.as_json(),
    )


def _discloses(dataset: str, given: Disclosure, earlier: int) -> Discloses:
    others = f"together with {earlier} earlier release(s), " if earlier else ""
    return Discloses(
        f"a release of {dataset!r} that keeps sums was asked for",
        f"{others}they would give away {words.given_away(given)}" if given.anything else f"{others}{words.UNKNOWN}",
        words.ACCEPT,
        cells=tuple(one.keys for one in given.cells),
        exact=given.exact,
        remainders=given.remainders,
        fixed=given.fixed,
        examined=given.examined,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
