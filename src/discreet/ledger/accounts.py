"""What the lines of a ledger say: data sets, what was charged to them, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from discreet.errors import BadInput
from discreet.ledger import names
from discreet.ledger.chain import Broken, Line, compact
from discreet.ledger.disclosure import Disclosure
from discreet.ledger.spending import Amount, Spending, charge
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
def _priced(budget: Amount, relation: Relation, public: str) -> Amount:
    """What a spending must have cost. Most releases are like many others: each is priced once."""
    from discreet.record.codec import decode, encode

    spending: Spending = decode(Spending, json.loads(public))
    again = {name: item for name, item in encode(spending).items() if name not in ("note", "who")}
    if compact(again) != public:
        raise ValueError("a spending is written in one way only")
    return charge(budget, relation, spending)


@lru_cache(maxsize=1000)
def _disclosure(written: str) -> Disclosure:
    from discreet.record.codec import decode

    found: Disclosure = decode(Disclosure, json.loads(written))
    return found


@dataclass(frozen=True)
class Charge:
    """A line that charges an account; it is read in full only where that is asked for."""

    line: str  # its hash
    value: Mapping[str, Any]
    price: Amount

    def entry(self, outcomes: tuple[Outcome, ...]) -> Entry:
        from discreet.record.codec import decode

        value = self.value
        return Entry(
            value["dataset"], value["number"], decode(Spending, value["spending"]), self.price, value["at"], self.line,
            _disclosure(compact(value["disclosure"])), value["kept"], outcomes,
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
        spent, exact = self.budget.zero(), dict[str, None]()
        for _, one in self.charges:
            spent = spent.plus(one.price)
            exact |= dict.fromkeys(one.value["spending"]["discloses"])
        unreleased = len(self.charges) - len(self.outcomes)
        return Statement(
            self.dataset, self.relation, self.budget, spent, len(self.charges), unreleased, tuple(exact), head
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
    reader, last = _Reader(), None
    for last in lines:
        try:
            reader.read(last)
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            raise Broken(last.number, f"cannot be read ({error})") from error
        except (BadInput, AssertionError) as error:
            raise Broken(last.number, f"cannot be right ({error})") from error
    return Accounts(reader.accounts, last)


class _Reader:
    """Reads line after line: each must be what this software would have written after those before it."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.spent: dict[str, Amount] = {}
        self.looks: dict[str, str] = {}  # what every name looks like, with the name

    def read(self, line: Line) -> None:
        value = line.value
        if compact(value) != line.content:
            raise ValueError("it is not in the form in which lines are written")
        kinds = {"opened": self._opened, "charged": self._charged, "released": self._released}
        if value["kind"] not in kinds:
            raise ValueError(f"there is no line of the kind {value['kind']!r}")
        _fields(value, FIELDS[value["kind"]])
        kinds[value["kind"]](line, value)

    def _opened(self, _: Line, value: Mapping[str, Any]) -> None:
        name = names.checked_name(value["dataset"], "a data set was opened")
        if any(look in self.looks for look in names.looks(name)) or value["relation"] not in RELATIONS:
            raise ValueError(
                "a data set is opened once, under a name like no other, for one of the relations there are"
            )
        budget = _amount(value["budget"])
        if not (budget.epsilon or budget.rho):
            raise ValueError("a budget is above zero")
        self.accounts[name] = Account(name, value["relation"], budget, value["at"])
        self.spent[name] = budget.zero()
        self.looks |= dict.fromkeys(names.looks(name), name)

    def _charged(self, line: Line, value: Mapping[str, Any]) -> None:
        account = self.accounts[value["dataset"]]
        if _number(value) != len(account.charges) + 1:
            raise ValueError("the entries of a data set are numbered one after another")
        spending = dict(value["spending"])
        if not all(isinstance(spending.pop(name), str) for name in ("note", "who")):
            raise ValueError("a note, and who spent, are texts")
        price = _priced(account.budget, account.relation, compact(spending))
        if value["price"] != price.as_json():
            raise ValueError(f"its price is {value['price']}, and what it is for costs {price.as_json()}")
        spent = self.spent[account.dataset].plus(price)
        if not (price.sound and account.budget.covers(spent)):
            raise ValueError("it goes over the budget")
        _disclosure(compact(value["disclosure"]))
        self.spent[account.dataset] = spent
        account.charges.append((line.number, Charge(line.hash, value, price)))

    def _released(self, _: Line, value: Mapping[str, Any]) -> None:
        account = self.accounts[value["dataset"]]
        if not 1 <= _number(value) <= len(account.charges):
            raise ValueError("nothing was charged for it")
        outcome = Outcome(value["digest"], value["at"], value["sums"])
        account.outcomes.setdefault(value["number"], []).append(outcome)


FIELDS = {  # of every kind of line; whether a text may be missing (None)
    "opened": {"dataset": False, "relation": False, "at": False, "budget": None},
    "charged": {"dataset": False, "at": False, "kept": True, "number": None, "price": None, "spending": None,
                "disclosure": None},
    "released": {"dataset": False, "at": False, "digest": False, "sums": True, "number": None},
}  # fmt: skip


def _fields(value: Mapping[str, Any], known: Mapping[str, bool | None]) -> None:
    """The fields of a line and no others; those that are texts are texts."""
    if set(value) != {"kind", *known}:
        raise ValueError("it has other fields than such a line has")
    for name, optional in known.items():
        if optional is not None and not (isinstance(value[name], str) or (optional and value[name] is None)):
            raise ValueError(f"its field {name!r} is no text")


def _number(value: Mapping[str, Any]) -> int:
    if type(value["number"]) is not int:
        raise ValueError("its number is none")
    number: int = value["number"]
    return number


def _amount(written: Mapping[str, str]) -> Amount:
    found = Amount.of_json(written)
    if found.as_json() != written or not found.sound:
        raise ValueError(f"{written} is no amount")
    return found
