"""What a release promises: between which tables, how much, and how firmly it is known. Facts; words come last."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from discreet.numbers import Epsilon
from discreet.privacy.loss import Approximate, Concentrated, Loss, Pure

Grade = Literal["exact", "enclosed", "computational", "diagnosed", "refuted"]
GRADES = tuple(grade for grade in get_args(Grade) if grade != "refuted")  # of a guarantee that may be published
Change = Literal["one-person", "free-row", "moved", "swapped", "smallest"]
Norm = Literal["l1", "l2"]


@dataclass(frozen=True)
class Neighbours:
    """Two tables that differ by one person, or by the smallest change that survives what is kept.

    `distance` and `square` are the l1 length and the squared l2 length of that change, before `contributions` of one
    person are counted; `rate` is what one unit of distance costs (in rho: one unit of squared distance), whatever the
    change, so that releases with different neighbours can be compared and added up.
    """

    change: Change
    rate: Loss
    contributions: int = 1
    distance: int = 1
    square: int = 1
    more: int = 1  # persons more, in the rows that gain
    fewer: int = 0  # persons fewer, in the rows that lose
    rows: int = 1  # how many rows change
    proved: bool = True  # that no smaller change survives
    norm: Norm = "l1"
    per_unit: bool = False  # the promise is for one unit of distance, not for the whole change

    @property
    def one_person(self) -> bool:
        """Whether one person can move, come or go without touching what is kept."""
        return self.distance <= 2


def one_person(rate: Loss, contributions: int = 1) -> Neighbours:
    """The neighbours where nothing is kept: one person more or less."""
    return Neighbours("one-person", rate, contributions)


@dataclass(frozen=True)
class Remark:
    """What a promise does not say by itself: a code, and the numbers that belong to it."""

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

    loss: Loss
    neighbours: Neighbours
    grade: Grade = "exact"
    private: bool = True
    remarks: tuple[Remark, ...] = ()

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
    at, loss = promise.neighbours, promise.loss
    if not at.per_unit:
        return loss
    if isinstance(loss, Concentrated):
        return loss.times(at.square)
    if isinstance(at.rate, Concentrated):  # Gaussian noise, promised in epsilon and delta
        from discreet.privacy.convert import approximate, rho_for

        return approximate(rho_for(loss.epsilon.rational(), loss.delta) * at.square, loss.delta)
    epsilon = loss.epsilon.times(at.distance if at.norm == "l1" else root_above(at.square))
    return Approximate(epsilon, loss.delta) if loss.delta else Pure(epsilon)


def root_above(square: int) -> Fraction:
    """The square root, rounded up."""
    return Fraction(math.isqrt(square * 10**24) + 1, 10**12)
