"""What the lines of a ledger say: data sets, what was charged to them, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal

from discreet.ledger.chain import Broken, Line
from discreet.ledger.disclosure import Disclosure
from discreet.ledger.spending import Amount, Spending
from discreet.privacy.price import RELATIONS, Relation

State = Literal["released", "charged, not released"]


@dataclass(frozen=True)
class Outcome:
    """A release was saved: the digest of its release.json, and of the document that holds its kept sums."""

    digest: str
    recorded: str
    sums: str | None = None


@dataclass(frozen=True)
class Entry:
    """One recorded spending, and what became of it."""

    dataset: str
    number: int
    spending: Spending
    charged: Amount
    recorded: str
    hash: str = ""
    disclosure: Disclosure = Disclosure()
    kept: str | None = None  # the digest of the document that holds the kept sums
    outcomes: tuple[Outcome, ...] = ()

    @property
    def state(self) -> State:
        """What was charged and not released may have been seen all the same: it is never given back."""
        return "released" if self.outcomes else "charged, not released"

    @property
    def digests(self) -> tuple[str, ...]:
        """Of the releases it paid for."""
        return tuple(outcome.digest for outcome in self.outcomes)

    def as_json(self) -> dict[str, object]:
        from discreet.record.codec import encode

        spending = self.spending
        return {
            "dataset": self.dataset,
            "number": self.number,
            "recorded": self.recorded,
            "who": spending.who,
            "note": spending.note,
            "state": self.state,
            "digests": list(self.digests),
            "charged": self.charged.as_json(),
            "stated": encode(spending.loss),
            "unit": encode(spending.neighbours),
            "mechanism": spending.mechanism,
            "table": None if spending.table is None else encode(spending.table),
            "discloses": list(spending.discloses),
            "disclosure": encode(self.disclosure),
            "spec": dict(spending.spec),
            "hash": self.hash,
        }


@dataclass(frozen=True)
class Statement:
    """The state of one data set's account."""

    dataset: str
    relation: Relation
    budget: Amount
    spent: Amount
    releases: int
    unreleased: int = 0  # charged, not released
    discloses: tuple[str, ...] = ()
    head: str = ""  # of the chain, whatever data set its last line belongs to

    @property
    def left(self) -> Amount:
        return self.budget.minus(self.spent)

    @property
    def composition(self) -> str:
        from discreet.ledger.words import COMPOSITION

        return COMPOSITION[self.budget.kind]

    @property
    def sentence(self) -> str:
        from discreet.ledger.words import account

        return account(self)

    def __str__(self) -> str:
        return self.sentence

    def as_json(self) -> dict[str, object]:
        return {
            "dataset": self.dataset,
            "relation": self.relation,
            "budget": self.budget.as_json(),
            "spent": self.spent.as_json(),
            "left": self.left.as_json(),
            "head": self.head,
            "kind": self.budget.kind,
            "composition": self.composition,
            "releases": self.releases,
            "unreleased": self.unreleased,
            "discloses": list(self.discloses),
        }


@lru_cache(maxsize=1000)
def _amount(written: tuple[tuple[str, str], ...]) -> Amount:
    """Most releases cost what many others cost: each price is read once."""
    return Amount.of_json(dict(written))


@dataclass(frozen=True)
class Charge:
    """A line that charges an account; it is read in full only where that is asked for."""

    line: str  # its hash
    value: Mapping[str, Any]

    @cached_property
    def price(self) -> Amount:
        return _amount(tuple(self.value["price"].items()))

    def entry(self, outcomes: tuple[Outcome, ...]) -> Entry:
        from discreet.record import values  # noqa: F401  (how losses and kept sums are written)
        from discreet.record.codec import decode

        value = self.value
        return Entry(
            value["dataset"], value["number"], decode(Spending, value["spending"]), self.price, value["at"], self.line,
            decode(Disclosure, value["disclosure"]), value["kept"], outcomes,
        )  # fmt: skip


@dataclass
class Account:
    """A data set, as its lines are read one after another."""

    dataset: str
    relation: Relation
    budget: Amount
    opened: str
    charges: list[tuple[int, Charge]] = field(default_factory=list)  # with the number of the line, for the order
    outcomes: dict[int, list[Outcome]] = field(default_factory=dict)

    def statement(self, head: str) -> Statement:
        spent, names = self.budget.zero(), dict[str, None]()
        for _, charge in self.charges:
            spent = spent.plus(charge.price)
            names |= dict.fromkeys(charge.value["spending"]["discloses"])
        unreleased = len(self.charges) - len(self.outcomes)
        return Statement(
            self.dataset, self.relation, self.budget, spent, len(self.charges), unreleased, tuple(names), head
        )  # fmt: skip

    def entries(self) -> list[Entry]:
        return [self.entry(number) for number in range(1, len(self.charges) + 1)]

    def keeping(self) -> list[Entry]:
        """The entries of releases that published something exactly."""
        kept = (place for place, (_, charge) in enumerate(self.charges) if charge.value["spending"]["discloses"])
        return [self.entry(place + 1) for place in kept]

    def entry(self, number: int) -> Entry:
        return self.charges[number - 1][1].entry(tuple(self.outcomes.get(number, ())))


@dataclass(frozen=True)
class Accounts:
    """Everything in a ledger, at one moment."""

    by_name: Mapping[str, Account]
    last: Line | None

    @property
    def head(self) -> str:
        return "" if self.last is None else self.last.hash

    def entries(self) -> tuple[Entry, ...]:
        """Of all data sets, in the order of the chain: clocks may run backwards, lines do not."""
        found = [
            (line, account, place + 1)
            for account in self.by_name.values()
            for place, (line, _) in enumerate(account.charges)
        ]
        return tuple(account.entry(number) for _, account, number in sorted(found, key=lambda one: one[0]))


def opened(dataset: str, relation: Relation, budget: Amount, at: str) -> dict[str, object]:
    """The line that gives a data set its budget."""
    return {"kind": "opened", "dataset": dataset, "relation": relation, "budget": budget.as_json(), "at": at}


def charged(
    dataset: str, number: int, spending: Spending, price: Amount, disclosure: Disclosure, kept: str | None, at: str
) -> dict[str, object]:
    """The line that charges a release."""
    from discreet.record import values  # noqa: F401  (how losses and kept sums are written)
    from discreet.record.codec import encode

    return {
        "kind": "charged", "dataset": dataset, "number": number, "price": price.as_json(), "at": at, "kept": kept,
        "spending": encode(spending), "disclosure": encode(disclosure),
    }  # fmt: skip


def released(dataset: str, number: int, digest: str, sums: str | None, at: str) -> dict[str, object]:
    """The line that says what became of a charge."""
    return {"kind": "released", "dataset": dataset, "number": number, "digest": digest, "sums": sums, "at": at}


def accounts_of(lines: Iterable[Line]) -> Accounts:
    """What a chain says. Its hashes are checked before; what nobody could have written breaks it too."""
    accounts: dict[str, Account] = {}
    last = None
    for last in lines:
        try:
            _read(accounts, last)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Broken(last.number, f"cannot be read ({error})") from error
    return Accounts(accounts, last)


def _read(accounts: dict[str, Account], line: Line) -> None:
    value = line.value
    name, kind = value["dataset"], value["kind"]
    if kind == "opened":
        if name in accounts or value["relation"] not in RELATIONS:
            raise ValueError("a data set is opened once, for one of the relations there are")
        accounts[name] = Account(name, value["relation"], Amount.of_json(value["budget"]), value["at"])
        return
    account = accounts[name]
    if kind == "charged":
        if value["number"] != len(account.charges) + 1:
            raise ValueError("the entries of a data set are numbered one after another")
        account.charges.append((line.number, Charge(line.hash, value)))
    elif kind == "released":
        if not 1 <= value["number"] <= len(account.charges):
            raise ValueError("nothing was charged for it")
        outcome = Outcome(value["digest"], value["at"], value["sums"])
        account.outcomes.setdefault(value["number"], []).append(outcome)
    else:
        raise ValueError(f"there is no line of the kind {kind!r}")
