"""What noise on a lattice promises: the smallest change that survives what is kept, its price, what is given away."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.errors import BadInput, Infeasible
from discreet.guarantee import Guarantee, rho_for, zcdp_epsilon
from discreet.lattice.basis import shortest
from discreet.lattice.invariants import Invariants
from discreet.lattice.structure import Part, Structure
from discreet.numbers import Epsilon, simplest_between

SHOWN = 5


@dataclass(frozen=True)
class Change:
    """The smallest change of a table that keeps every kept sum: its l1 length and squared l2 length."""

    length: int
    square: int
    words: str
    proved: bool

    @property
    def one_person(self) -> bool:
        """Whether one person can move, come or go without touching what is kept."""
        return self.length <= 2

    @property
    def root(self) -> Fraction:
        """Its l2 length, rounded up."""
        return Fraction(math.isqrt(self.square * 10**24) + 1, 10**12)


@dataclass(frozen=True)
class Asked:
    """The privacy parameters, in exact numbers."""

    epsilon: Epsilon | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    sigma: Fraction | None = None
    law: str = "l1"
    per_unit: bool = False
    restricted: bool = False  # conditioned on inequalities
    contributions: int = 1


@dataclass(frozen=True)
class Noise:
    """The law's own parameter: odds for l1, a rate for l2, a variance for gaussian; and what it promises."""

    odds: Fraction | None
    rate: Fraction | None
    variance: Fraction | None
    guarantee: Guarantee


def smallest_change(structure: Structure) -> Change:
    """Found on the distinct columns; refused when nothing can change at all."""
    if structure.nothing_free:
        raise Infeasible(
            "sums were to be kept",
            "they determine every single cell: the whole table would be published exactly",
            "Keep less",
            determined=structure.determined.tolist(),
        )
    if len(structure.untouched):
        return Change(1, 1, "one person more or less in a row that no kept sum contains (distance 1)", True)
    if any(np.any(part.sizes > 1) for part in structure.parts):
        words = "one person moved between two rows that every kept sum contains both or neither of (distance 2)"
        return Change(2, 2, words, True)
    if all(part.grid is not None for part in structure.parts if part.free):
        words = "the smallest exchange that keeps every kept sum: two persons swap one of their values (distance 4)"
        return Change(4, 4, words, True)
    return min((_general(part) for part in structure.parts if part.free), key=lambda change: change.length)


def _general(part: Part) -> Change:
    if part.grid is not None:
        return Change(4, 4, "two persons swap one of their values (distance 4)", True)
    vector, proved = shortest(part.kernel, part.dense)
    length, square = int(np.abs(vector).sum()), int(vector @ vector)
    up, down = int(vector[vector > 0].sum()), int(-vector[vector < 0].sum())
    most = "the smallest change" if proved else "the smallest change that was found"
    words = f"{most} that keeps every kept sum: {up} more and {down} fewer persons in {np.count_nonzero(vector)} rows"
    return Change(length, square, f"{words} (distance {length})", proved)


def calibrate(asked: Asked, change: Change) -> Noise:
    """Noise that meets what was asked, every rounding towards privacy."""
    if asked.law == "gaussian":
        return _gaussian(asked, change)
    if asked.epsilon is None or asked.sigma is not None:
        raise BadInput(
            f"{asked.law} noise was asked for",
            "it is calibrated by epsilon, not by rho or sigma",
            "Give epsilon, or law gaussian",
        )
    # conditioning on inequalities makes the normaliser depend on the table, which may cost as much again
    factor = asked.contributions * (2 if asked.restricted else 1)
    guarantee = Guarantee(asked.epsilon, asked.delta, unit=unit(asked, change))
    if asked.law == "l1":
        each = asked.epsilon.times(Fraction(1, factor * (1 if asked.per_unit else change.length)))
        return Noise(each.odds(), None, None, guarantee)
    rate = asked.epsilon.rational() / (factor * (1 if asked.per_unit else change.root))
    return Noise(None, simplest_between(rate * (1 - Fraction(1, 1 << 24)), rate), None, guarantee)


def whole_price(promise: Guarantee, asked: Asked, change: Change) -> Guarantee:
    """The promise for the smallest change, where it is stated per unit of distance."""
    if not asked.per_unit:
        return promise
    if promise.rho is not None:
        return replace(promise, rho=promise.rho * change.square)
    assert promise.epsilon is not None
    if asked.law == "gaussian":
        rho = rho_for(promise.epsilon.rational(), promise.delta) * change.square
        return replace(promise, epsilon=Epsilon(value=zcdp_epsilon(rho, promise.delta)))
    return replace(promise, epsilon=promise.epsilon.times(change.length if asked.law == "l1" else change.root))


def _gaussian(asked: Asked, change: Change) -> Noise:
    if asked.restricted:
        raise BadInput(
            "Gaussian noise was asked for under inequalities",
            "the law conditioned on them has no proven guarantee",
            "Use law l1, or allow negative counts",
        )
    square = (1 if asked.per_unit else change.square) * asked.contributions**2
    words = unit(asked, change)
    if asked.sigma is not None:
        variance = asked.sigma**2
        return Noise(None, None, variance, Guarantee(None, Fraction(0), square / (2 * variance), words))
    if asked.rho is not None:
        return Noise(None, None, _variance(square, asked.rho), Guarantee(None, Fraction(0), asked.rho, words))
    if asked.epsilon is None or not asked.delta:
        raise BadInput(
            "Gaussian noise was asked for", "it needs rho, or epsilon together with a delta above 0", "Give rho"
        )
    rho = rho_for(asked.epsilon.rational(), asked.delta)
    return Noise(None, None, _variance(square, rho), Guarantee(asked.epsilon, asked.delta, None, words))


def _variance(square: int, rho: Fraction) -> Fraction:
    least = square / (2 * rho)
    return simplest_between(least, least * (1 + Fraction(1, 1 << 20)))


def unit(asked: Asked, change: Change) -> str:
    norm = {"l1": "l1 distance", "l2": "l2 distance", "gaussian": "squared l2 distance"}[asked.law]
    words = f"one unit of {norm}, with all kept sums the same" if asked.per_unit else change.words
    if asked.contributions > 1:
        words += f", for a person counted in up to {asked.contributions} rows"
    return words


def remarks(asked: Asked, change: Change, structure: Structure, invariants: Invariants) -> tuple[str, ...]:
    """What the promise does not say by itself."""
    said = [_scaling(asked, change), _kept(invariants)]
    if len(structure.determined):
        many = len(structure.determined)
        shown = ", ".join(str(cell + 1) for cell in structure.determined[: 2 * SHOWN]) + (
            ", ..." if many > 2 * SHOWN else ""
        )
        rows = "1 row is" if many == 1 else f"{many} rows are"
        said.append(f"{rows} determined by what is kept and published exactly: row {shown}.")
    if not change.one_person:
        said.append(
            "Neighbourhood destroyed: no table in which one person alone moved, came or went has the same kept sums, "
            "so nothing is promised about such a change; what is kept may already tell the two apart."
        )
    if asked.restricted:
        said.append(
            "Inequalities such as counts not below zero were met by conditioning. The law then depends on the table, "
            "so the promise counts the noise twice (gamma = 1), and counts near the bounds are biased away from them."
        )
    else:
        said.append(
            "Counts may be negative: the noise is unbiased. Forbidding negative counts would bias small ones upwards "
            "and need twice the noise for the same promise."
        )
    return tuple(said)


def _scaling(asked: Asked, change: Change) -> str:
    name = "rho" if asked.law == "gaussian" else "epsilon"
    if asked.per_unit:
        least = change.square if asked.law == "gaussian" else change.length
        size = f"the square root of {change.square}" if asked.law == "l2" else str(least)
        return f"The smallest change that keeps every kept sum costs {size} times {name}: {change.words}."
    if change.length == 1:
        return (
            f"One person moved between two rows of a kept sum is twice as large a change, and costs {_double(asked)}."
        )
    if asked.law == "gaussian":
        return "Larger changes are protected less: their rho grows with the square of the distance."
    return "Larger changes cost more, in proportion to the distance."


def _double(asked: Asked) -> str:
    if asked.law == "gaussian":
        return "twice the rho"
    return "twice the epsilon" if asked.law == "l1" else "1.42 times the epsilon"


def _kept(invariants: Invariants) -> str:
    names = [str(item) for item in invariants.kept]
    shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    many = len(invariants.labels)
    sums = "1 sum is" if many == 1 else f"{many:,} sums are"
    return f"{sums} published exactly and not protected ({shown}); a sum of zero shows that every count in it is zero."
