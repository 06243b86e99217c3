"""Amounts of privacy: what a release costs, what a budget allows, and how costs add up. All exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, called
from discreet.ledger.documents import KeptTable
from discreet.numbers import exact, text
from discreet.privacy.price import Relation, price, price_in_rho
from discreet.privacy.values import Approximate, Concentrated, Loss, Neighbours, above, one_person
from discreet.table import refuse_large

LONGEST_TEXT = 500  # letters of a note: a few lines of a page


@dataclass(frozen=True)
class Amount:
    """A budget, or a part of one: epsilon and delta, or rho."""

    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    @property
    def kind(self) -> str:
        """`pure`, `approximate` or `concentrated`."""
        if self.rho is not None:
            return "concentrated"
        return "approximate" if self.delta else "pure"

    def plus(self, other: Amount) -> Amount:
        return self._each(other, 1)

    def minus(self, other: Amount) -> Amount:
        return self._each(other, -1)

    def covers(self, other: Amount) -> bool:
        return self.minus(other).sound

    @property
    def sound(self) -> bool:
        """Whether no part of it is below zero."""
        return all(part is None or part >= 0 for part in (self.epsilon, self.delta, self.rho))

    def zero(self) -> Amount:
        return self.minus(self)

    def as_json(self) -> dict[str, str]:
        if self.rho is not None:
            return {"rho": text(self.rho)}
        return {"epsilon": text(self.epsilon or Fraction(0)), "delta": text(self.delta)}

    @classmethod
    def of_json(cls, value: Mapping[str, str]) -> Amount:
        if set(value) == {"rho"}:
            return cls(rho=exact(value["rho"]))
        if set(value) != {"epsilon", "delta"}:
            raise ValueError("an amount is epsilon and delta, or rho")
        return cls(exact(value["epsilon"]), exact(value["delta"]))

    def __str__(self) -> str:
        parts = self.as_json()
        return ", ".join(f"{name} = {value}" for name, value in parts.items() if name != "delta" or value != "0")

    def _each(self, other: Amount, sign: int) -> Amount:
        if self.rho is not None:
            return Amount(rho=self.rho + sign * (other.rho or 0))
        return Amount((self.epsilon or 0) + sign * (other.epsilon or Fraction(0)), self.delta + sign * other.delta)


@dataclass(frozen=True)
class PublicTable:
    """The public side of what was released: its columns, and a digest of its rows."""

    keys: tuple[str, ...]
    count: str
    rows: int
    digest: str  # sha256 of the public rows


@dataclass(frozen=True)
class Spending:
    """What one release is about to cost, in the terms it will be published with. All that is written of it is public,
    or is about to be.

    `unit` says for whom `loss` is promised, and what a unit of distance costs; left out, it is one person more or less.
    `discloses` names what is published exactly, without noise, `assumes` inequalities that the table is said to meet;
    `kept` says both on the rows. `counts` are of these rows:
    never written but for what the kept sums come to, which is compared with the sums of other releases.
    """

    loss: Loss
    unit: Neighbours | None = None
    apart: bool = True  # what is measured of one row does not depend on other rows
    mechanism: str = ""
    table: PublicTable | None = None
    discloses: tuple[str, ...] = ()
    spec: Mapping[str, Any] = field(default_factory=dict)  # the release as it was asked for
    note: str = ""  # what it is for
    who: str = ""
    accept_disclosure: bool = False
    token_digest: str = ""  # sha256 of what the release will show, so that no other can take its place
    assumes: tuple[str, ...] = ()
    kept: KeptTable | None = field(default=None, repr=False, metadata={"elsewhere": True})
    counts: Integers | None = field(default=None, repr=False, compare=False, metadata={"elsewhere": True})

    @property
    def neighbours(self) -> Neighbours:
        return one_person(self.loss) if self.unit is None else self.unit


def check_spending(spending: object, asked: str) -> None:
    """Refuse what could not be written, or what a page could not show in its place: the ledger keeps it for ever."""
    from discreet.record.codec import decode, encode

    if not isinstance(spending, Spending):
        raise BadInput(asked, f"a {type(spending).__name__} was given", "Give a Spending")
    for name, words in (("note", spending.note), ("who", spending.who)):
        check_text(name, words, asked)
    if not isinstance(spending.accept_disclosure, bool):
        found = f"{called('accept_disclosure')} is {spending.accept_disclosure!r}, which is neither true nor false"
        raise BadInput(asked, found, "Give True or False")
    try:
        decode(Spending, encode(spending))
    except (TypeError, ValueError, AttributeError) as error:
        raise BadInput(asked, f"the spending cannot be written: {error}", "Give what its fields say") from error
    if not isinstance(spending.kept, KeptTable | None):
        raise BadInput(asked, f"kept was given as a {type(spending.kept).__name__}", "Give a KeptTable, or nothing")
    if spending.counts is not None and (spending.kept is None or np.shape(spending.counts) != (spending.kept.rows,)):
        raise BadInput(asked, "the counts given are not those of the rows that sums are kept of", "Leave them out")
    if spending.counts is not None:
        refuse_large(spending.counts)


def check_text(name: str, words: object, asked: str) -> None:
    if not isinstance(words, str):
        raise BadInput(asked, f"{name} was given as {words!r}, which is not text", "Give text")
    if len(words) > LONGEST_TEXT:
        raise BadInput(asked, f"{name} has {len(words):,} letters", f"Use {LONGEST_TEXT} at most")
    if not words.isprintable():
        raise BadInput(asked, f"{name} has a line break, or a letter that cannot be seen", "Write it in one line")


def amount_of(loss: Loss) -> Amount:
    """A loss as a balance that can be added up: epsilon as a rational, rounded up where it has no exact form."""
    if isinstance(loss, Concentrated):
        return Amount(rho=loss.rho)
    return Amount(above(loss.epsilon), loss.delta)


def charge(budget: Amount, relation: Relation, spending: Spending) -> Amount:
    """What `spending` costs one person, in the units of `budget`; refused where no sound conversion is made."""
    loss, unit = spending.loss, spending.neighbours
    if budget.kind == "concentrated":
        in_rho = price_in_rho(loss, unit, relation, apart=spending.apart)
        if in_rho is None:
            raise _other_units(budget, loss, "the budget is in rho, and a delta cannot be counted in rho")
        return amount_of(in_rho)
    if isinstance(loss, Concentrated):
        raise _other_units(budget, loss, "the budget is in epsilon, and the release is counted in rho")
    if isinstance(loss, Approximate) and budget.kind == "pure":
        raise _other_units(budget, loss, "the budget is pure (delta = 0), and the release has a delta")
    return amount_of(price(loss, unit, relation, apart=spending.apart))


RULES = 1  # a change of `charge` gets the next number; what priced the lines of old ledgers stays beside it
PRICING: Mapping[int, Callable[[Amount, Relation, Spending], Amount]] = {1: charge}


def _other_units(budget: Amount, loss: Loss, found: str) -> BadInput:
    return BadInput(
        f"a release with {amount_of(loss)} was to be recorded",
        found,
        "Ask for the release in the units of the budget",
        budget=budget.as_json(),
        cost=amount_of(loss).as_json(),
    )
