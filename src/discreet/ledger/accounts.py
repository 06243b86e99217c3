"""What the lines of a ledger say: data sets, what was charged to them, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from discreet.ledger.chain import compact
from discreet.ledger.disclosure import Disclosure
from discreet.ledger.spending import RULES, Amount, Spending
from discreet.privacy.price import Relation
from discreet.shown import Shown

State = Literal["released", "charged, not released"]


@dataclass(frozen=True)
class Outcome:
    """A release was saved: the digest of its release.json, and of its noise."""

    digest: str
    recorded: str
    drawn: str = ""  # the same for every folder that one draw is saved in


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
    kept: str | None = None  # the digest of the document that says which sums are kept
    sums: str | None = None  # of the one that says what they come to
    outcomes: tuple[Outcome, ...] = ()

    def __repr__(self) -> str:
        return f"<Entry {self.number} of {self.dataset!r}: {self.charged}, {self.state}>"

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
            "assumes": list(spending.assumes),
            "disclosure": encode(self.disclosure),
            "spec": dict(spending.spec),
            "hash": self.hash,
        }


@dataclass(frozen=True, repr=False)
class Statement(Shown):
    """The state of one data set's account."""

    dataset: str
    relation: Relation
    budget: Amount
    spent: Amount
    releases: int
    unreleased: int = 0  # charged, not released
    discloses: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()  # inequalities that the data were said to meet
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
            "assumes": list(self.assumes),
        }


@lru_cache(maxsize=1000)
def disclosure_of(written: str) -> Disclosure:
    from discreet.record.codec import decode, encode

    found: Disclosure = decode(Disclosure, json.loads(written))
    if compact(encode(found)) != written:
        raise ValueError("what is given away is written in one way only")
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
            disclosure_of(compact(value["disclosure"])), value["kept"], value["sums"], outcomes,
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
        spent, exact, assumed = self.budget.zero(), dict[str, None](), dict[str, None]()
        for _, one in self.charges:
            spent = spent.plus(one.price)
            exact |= dict.fromkeys(one.value["spending"]["discloses"])
            assumed |= dict.fromkeys(one.value["spending"]["assumes"])
        unreleased = len(self.charges) - len(self.outcomes)
        return Statement(
            self.dataset, self.relation, self.budget, spent, len(self.charges), unreleased, tuple(exact),
            tuple(assumed), head,
        )  # fmt: skip

    def entries(self) -> list[Entry]:
        return [self.entry(number) for number in range(1, len(self.charges) + 1)]

    def keeping(self) -> list[Entry]:
        """The entries of releases that published something exactly."""
        values = (charge.value for _, charge in self.charges)
        kept = (value["number"] for value in values if value["kept"] or value["spending"]["discloses"])
        return [self.entry(number) for number in kept]

    def entry(self, number: int) -> Entry:
        return self.charges[number - 1][1].entry(tuple(self.outcomes.get(number, ())))


def opened(dataset: str, relation: Relation, budget: Amount, at: str) -> dict[str, object]:
    """The line that gives a data set its budget."""
    return {"kind": "opened", "dataset": dataset, "relation": relation, "budget": budget.as_json(), "at": at}


def charged(
    dataset: str, number: int, spending: Spending, price: Amount, disclosure: Disclosure, kept: str | None,
    sums: str | None, at: str,
) -> dict[str, object]:  # fmt: skip
    """The line that charges a release. It holds what the kept sums come to: the next charge is compared with it."""
    from discreet.record.codec import encode

    return {
        "kind": "charged", "dataset": dataset, "number": number, "price": price.as_json(), "at": at, "kept": kept,
        "sums": sums, "spending": encode(spending), "disclosure": encode(disclosure), "rules": RULES,
    }  # fmt: skip


def released(
    dataset: str, number: int, digest: str, at: str, *, drawn: str | None = None, token: str = ""
) -> dict[str, object]:
    """The line that says what became of a charge."""
    return {
        "kind": "released", "dataset": dataset, "number": number, "digest": digest, "at": at,
        "drawn": digest if drawn is None else drawn, "token": token,
    }  # fmt: skip
