"""What a release promises: between which tables, how much, and how firmly it is known. Facts; words come last."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Literal, get_args

from discreet.numbers import Epsilon
from discreet.privacy.loss import Approximate, Concentrated, Loss, Pure

Grade = Literal["exact", "enclosed", "computational", "diagnosed", "refuted"]
GRADES = tuple(grade for grade in get_args(Grade) if grade != "refuted")  # of a guarantee that may be published
Code = Literal["one-person", "free-row", "moved", "swapped", "smallest"]
Norm = Literal["l1", "l2"]


@dataclass(frozen=True)
class Change:
    """The smallest difference of two tables that survives what is kept, before one person's contributions count."""

    code: Code
    distance: int = 1  # its l1 length
    square: int = 1  # its squared l2 length
    more: int = 1  # persons more, in the rows that gain
    fewer: int = 0  # persons fewer, in the rows that lose
    rows: int = 1  # how many rows change
    proved: bool = True  # that no smaller change survives

    @property
    def one_person(self) -> bool:
        """Whether one person can move, come or go without touching what is kept."""
        return self.distance <= 2


ONE_PERSON = Change("one-person")


@dataclass(frozen=True)
class Neighbours:
    """Two tables that differ by one person, or by the smallest change that survives what is kept.

    `rate` is what one unit of distance costs (in rho: one unit of squared distance), whatever the change, so that
    releases with different neighbours can be compared and added up.
    """

    change: Change = field(metadata={"flat": True})
    rate: Loss
    contributions: int = 1
    norm: Norm = "l1"
    per_unit: bool = False  # the promise is for one unit of distance, not for the whole change

    def __str__(self) -> str:
        from discreet.record.words import unit

        return unit(self)


def one_person(rate: Loss, contributions: int = 1) -> Neighbours:
    """The neighbours where nothing is kept: one person more or less."""
    return Neighbours(ONE_PERSON, rate, contributions)


@dataclass(frozen=True)
class Remark:
    """What a promise does not say by itself: a code, and the numbers that belong to it."""

    json_schema: ClassVar[Mapping[str, object]] = {
        "type": "object",
        "properties": {"code": {"type": "string"}},
        "required": ["code"],
        "additionalProperties": {"type": ["integer", "string"]},
    }
    code: str
    numbers: tuple[tuple[str, int | str], ...] = ()

    @classmethod
    def of(cls, code: str, **numbers: int | str) -> Remark:
        return cls(code, tuple(numbers.items()))

    def as_json(self) -> dict[str, int | str]:
        return {"code": self.code, **dict(self.numbers)}

    @classmethod
    def of_json(cls, value: Mapping[str, object]) -> Remark:
        numbers = {name: item for name, item in value.items() if name != "code"}
        if not isinstance(value.get("code"), str) or not all(type(item) in (int, str) for item in numbers.values()):
            raise ValueError("a remark is a code with numbers")
        return cls.of(str(value["code"]), **numbers)  # type: ignore[arg-type]


ROWS_ARE_PUBLIC = Remark("rows-are-public")


def top_coded(max_count: int | None) -> tuple[Remark, ...]:
    """Counts above the largest one are treated as it, whether or not any was."""
    return () if max_count is None else (Remark.of("top-coded", max_count=max_count),)


@dataclass(frozen=True)
class Guarantee:
    """A promise of differential privacy."""

    loss: Loss = field(metadata={"flat": True})
    unit: Neighbours
    grade: Grade = "exact"
    remarks: tuple[Remark, ...] = ()
    private: bool = field(default=True, metadata={"elsewhere": True})  # it stands at the head of a record

    @property
    def kind(self) -> str:
        """`pure`, `approximate` or `concentrated`."""
        return self.loss.kind

    @property
    def epsilon(self) -> Epsilon | None:
        return self.loss.epsilon

    @property
    def delta(self) -> Fraction:
        return self.loss.delta

    @property
    def rho(self) -> Fraction | None:
        return self.loss.rho

    @property
    def sentence(self) -> str:
        """The promise in words, for people."""
        from discreet.record.words import guarantee

        return guarantee(self)

    def __repr__(self) -> str:
        return f"<Guarantee {self.kind}, {self.grade}: {self.sentence}>"


def whole_price(promise: Guarantee) -> Loss:
    """What the whole smallest change costs, where the promise is stated per unit of distance."""
    at, loss = promise.unit, promise.loss
    if not at.per_unit:
        return loss
    if isinstance(loss, Concentrated):
        return loss.times(at.change.square)
    if isinstance(at.rate, Concentrated):  # Gaussian noise, promised in epsilon and delta
        from discreet.privacy.convert import approximate, rho_for

        return approximate(rho_for(loss.epsilon.rational(), loss.delta) * at.change.square, loss.delta)
    epsilon = loss.epsilon.times(at.change.distance if at.norm == "l1" else root_above(at.change.square))
    return Approximate(epsilon, loss.delta) if loss.delta else Pure(epsilon)


def root_above(square: int) -> Fraction:
    """The square root, rounded up."""
    return Fraction(math.isqrt(square * 10**24) + 1, 10**12)
