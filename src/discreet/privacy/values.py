"""Privacy as values: what may be lost, between which tables, and what is promised.

The meaning of these values never changes: Pure(e) bounds every likelihood ratio by e^e; Approximate(e, d) bounds the
probability of every set of outcomes by e^e times the other one, plus d; Concentrated(r) is zero-concentrated
differential privacy, a bound of r times the order on every Renyi divergence. Facts; words come last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from discreet.errors import BadInput, called
from discreet.numbers import (
    Epsilon,
    Number,
    decimal_above,
    digits_above,
    epsilon_of,
    exact,
    log_bounds,
    positive,
    quoted,
    text,
)
from discreet.options import spelt, spelt_fields
from discreet.shown import Shown

EPSILON, RHO, DELTA = (called(name) for name in ("epsilon", "rho", "delta"))
SHOWN = 6  # digits of a delta in words


def _stated(loss: Loss) -> dict[str, str | None]:
    """As JSON has it: the same four fields, whichever of them a loss has."""
    epsilon: Epsilon | None = loss.epsilon
    ratio = None if epsilon is None else epsilon.ratio
    return {
        "epsilon": None if epsilon is None else str(epsilon),
        "alpha": None if ratio is None else text(1 / ratio),
        "delta": text(loss.delta),
        "rho": None if loss.rho is None else text(loss.rho),
    }


@spelt_fields
@dataclass(frozen=True, init=False)
class Pure:
    """Pure differential privacy: no published table is more than e^epsilon times as likely as under a neighbour."""

    epsilon: Epsilon
    kind: ClassVar[Literal["pure"]] = "pure"
    delta: ClassVar[Fraction] = Fraction(0)
    rho: ClassVar[None] = None
    stated = cached_property(_stated)

    def __init__(self, epsilon: Number | Epsilon) -> None:
        object.__setattr__(self, "epsilon", epsilon if isinstance(epsilon, Epsilon) else epsilon_of(epsilon))

    @classmethod
    @spelt
    def of_alpha(cls, alpha: Number) -> Pure:
        """alpha = e^-epsilon, an exact rational."""
        return cls(epsilon_of(alpha=alpha))

    def times(self, factor: Fraction | int) -> Pure:
        """A share of it, or several together; rounded down where it has no exact form."""
        return pure_of(self.epsilon.times(factor))

    def per_unit(self, contributions: int) -> Pure:
        """Of one unit, where a person may add so many of them to one row."""
        return self if contributions == 1 else self.times(Fraction(1, contributions))

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon}"

    def __repr__(self) -> str:
        return f"Pure({str(self.epsilon)!r})"


@spelt_fields
@dataclass(frozen=True, init=False)
class Approximate:
    """Approximate differential privacy: any set of outcomes is at most e^epsilon times as likely, plus delta."""

    epsilon: Epsilon
    delta: Fraction
    kind: ClassVar[Literal["approximate"]] = "approximate"
    rho: ClassVar[None] = None
    stated = cached_property(_stated)

    def __init__(self, epsilon: Number | Epsilon, delta: Number) -> None:
        number = delta_of(delta)
        if number == 0:
            raise BadInput(
                f"{called('delta', 0)} was asked for", "without a delta the promise is pure", "Use Pure(epsilon)"
            )
        object.__setattr__(self, "epsilon", epsilon if isinstance(epsilon, Epsilon) else epsilon_of(epsilon))
        object.__setattr__(self, "delta", number)

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon}, delta = {self.delta_in_words}"

    @property
    def delta_in_words(self) -> str:
        """For people: exact where it is short, otherwise a few digits, rounded up."""
        exact = text(self.delta)
        return exact if "/" not in exact else digits_above(self.delta, SHOWN)

    def __repr__(self) -> str:
        return f"Approximate({str(self.epsilon)!r}, {text(self.delta)!r})"


@spelt_fields
@dataclass(frozen=True, init=False)
class Concentrated:
    """Zero-concentrated differential privacy: Renyi divergences of order a are at most rho a."""

    rho: Fraction
    kind: ClassVar[Literal["concentrated"]] = "concentrated"
    epsilon: ClassVar[None] = None
    delta: ClassVar[Fraction] = Fraction(0)
    stated = cached_property(_stated)

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", positive(rho, "rho"))

    def times(self, factor: Fraction | int) -> Concentrated:
        """A share of it, or several together."""
        return Concentrated(self.rho * factor)

    def per_unit(self, contributions: int) -> Concentrated:
        """Of one unit, where a person may add so many of them to one row."""
        return self if contributions == 1 else self.times(Fraction(1, contributions**2))

    def __str__(self) -> str:
        return f"rho = {text(self.rho)}"

    def __repr__(self) -> str:
        return f"Concentrated({text(self.rho)!r})"


Loss: TypeAlias = Pure | Approximate | Concentrated
Share: TypeAlias = Pure | Concentrated  # what can be divided among several measurements


def pure_of(epsilon: Epsilon) -> Pure:
    """Of a number that has been read already."""
    made = object.__new__(Pure)
    object.__setattr__(made, "epsilon", epsilon)
    return made


def noise_meant(loss: Loss, named: str | None, pure: str, gaussian: str) -> str:
    """The noise that is named; where none is, noise that is pure, which refuses a delta, but Gaussian noise for rho,
    which no other is calibrated by."""
    return named or (gaussian if isinstance(loss, Concentrated) else pure)


def pure_only(loss: Loss, what: str) -> Pure:
    """For noise that needs no delta: to take one would be to pay for nothing."""
    if isinstance(loss, Approximate):
        found = "its noise is pure: a delta would be spent for nothing"
        do = f"Leave {DELTA} out, or name Gaussian noise"
        raise BadInput(f"{asked_delta(loss.delta)} was asked for with {what}", found, do)
    if isinstance(loss, Concentrated):
        found = "only Gaussian noise is calibrated by rho"
        raise BadInput(f"{RHO} was asked for with {what}", found, f"Give {EPSILON}, or name Gaussian noise")
    return loss


def ratio_alone(loss: Loss, what: str) -> Pure:
    """For noise whose delta is worked out, not asked for."""
    if isinstance(loss, Approximate):
        asked = f"{asked_delta(loss.delta)} was asked for with {what}"
        raise BadInput(asked, "its delta is computed", f"Give {EPSILON}")
    return pure_only(loss, what)


def gaussian_only(loss: Loss, what: str) -> Approximate | Concentrated:
    """For Gaussian noise, which no epsilon alone can bound."""
    if isinstance(loss, Pure):
        found = "Gaussian noise needs a delta above 0, or rho"
        raise BadInput(f"{EPSILON} alone was given for {what}", found, f"Give {RHO}, or {EPSILON} with {DELTA}")
    return loss


def odds_only(loss: Loss, what: str) -> Pure | Approximate:
    """For mechanisms that are judged by likelihood ratios."""
    if isinstance(loss, Concentrated):
        found = "only Gaussian noise is calibrated by rho"
        raise BadInput(f"{RHO} was asked for with {what}", found, f"Give {EPSILON}")
    return loss


def asked_delta(delta: Fraction) -> str:
    """As it stands in an error: exact, and of a tiny one the beginning."""
    return called("delta", quoted(text(delta)))


def delta_of(value: Any) -> Fraction:
    number = exact(value, "delta")
    if not 0 <= number < 1:
        raise BadInput(f"{called('delta', quoted(str(value)))} was asked for", "it must be at least 0 and below 1")
    return number


def together(losses: Iterable[Loss]) -> Loss:
    """What several measurements of the same table cost together: epsilons and deltas add up, or rhos.

    Among concentrated ones a pure loss costs epsilon^2 / 2 of rho.
    """
    parts = list(losses)
    if any(isinstance(part, Concentrated) for part in parts):
        return Concentrated(sum((rho_of(part) for part in parts), Fraction(0)))
    epsilon = reduce(_plus, (part.epsilon for part in parts if part.epsilon is not None))
    delta = sum((part.delta for part in parts), Fraction(0))
    return Approximate(epsilon, delta) if delta else pure_of(epsilon)


def rho_of(loss: Loss) -> Fraction:
    """A pure or concentrated loss, in rho."""
    if isinstance(loss, Concentrated):
        return loss.rho
    if isinstance(loss, Pure):
        return above(loss.epsilon) ** 2 / 2
    raise ValueError("an (epsilon, delta) loss cannot be counted in rho")


def above(epsilon: Epsilon) -> Fraction:
    """Epsilon as a rational, rounded up where it has no exact form."""
    if epsilon.value is not None:
        return epsilon.value
    assert epsilon.ratio is not None
    return Fraction(decimal_above(log_bounds(epsilon.ratio)[1], 15))


def _plus(one: Epsilon, other: Epsilon) -> Epsilon:
    if one.ratio is not None and other.ratio is not None:
        return Epsilon(ratio=one.ratio * other.ratio)
    return Epsilon(value=above(one) + above(other))


Grade = Literal["exact", "enclosed", "computational", "diagnosed", "refuted"]
GRADES = tuple(grade for grade in get_args(Grade) if grade != "refuted")  # of a guarantee that may be published


def grade_of(loss: Loss) -> Literal["exact", "enclosed"]:
    """Of noise calibrated by rho or epsilon alone: only a conversion to epsilon and delta rests on enclosures."""
    return "enclosed" if isinstance(loss, Approximate) else "exact"


Code = Literal["one-person", "free-row", "moved", "rearranged", "swapped", "smallest"]
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
    columns: int | None = field(default=None, metadata={"sometimes": True})  # of counts, each with a share of its own:
    # one person is counted in every one, and the rate is what a unit in each of them costs together

    def __str__(self) -> str:
        from discreet.record.words.promises import unit

        return unit(self)


def one_person(rate: Loss, contributions: int = 1) -> Neighbours:
    """The neighbours where nothing is kept: one person more or less."""
    return Neighbours(ONE_PERSON, rate, contributions, "l2" if isinstance(rate, Concentrated) else "l1")


def priced(shares: list[Share], contributions: int) -> Neighbours:
    """One person more or less; a unit of distance costs its part of every share."""
    whole = together(shares)
    assert not isinstance(whole, Approximate), "shares are pure or concentrated"
    return one_person(whole.per_unit(contributions), contributions)


@dataclass(frozen=True)
class Remark:
    """What a promise does not say by itself: a code, and the numbers that belong to it."""

    code: str
    numbers: tuple[tuple[str, int | str], ...] = ()

    @classmethod
    def of(cls, code: str, **numbers: int | str) -> Remark:
        return cls(code, tuple(numbers.items()))


ROWS_ARE_PUBLIC = Remark("rows-are-public")


def top_coded(max_count: int | None) -> tuple[Remark, ...]:
    """Counts above the largest one are treated as it, whether or not any was."""
    return () if max_count is None else (Remark.of("top-coded", max_count=max_count),)


@dataclass(frozen=True, repr=False)
class Guarantee(Shown):
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
    def cut(self) -> bool:
        """Whether larger counts were treated as a largest one."""
        return any(one.code in ("top-coded", "sized") for one in self.remarks)

    @property
    def raised(self) -> bool:
        """Whether smaller counts were treated as a smallest one."""
        return any(one.code == "bottom-coded" for one in self.remarks)

    @cached_property
    def sentence(self) -> str:
        """The promise in words, for people."""
        from discreet.record.words.promises import guarantee

        return guarantee(self)
