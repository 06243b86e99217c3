"""What every requirement is made of: linear rows over T[input, output], and witnesses of a failure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput, short
from discreet.numbers import exact, probability

Sense = Literal["<=", "=="]
Cell = tuple[int, int]
Coefficient = int | Fraction
Prior = Sequence[Fraction] | None
RESIDUAL = Fraction(1, 10**9)  # laws are written in rounded decimals, and some equalities are met up to rounding only


@dataclass(frozen=True)
class Row:
    """sum of coefficient * T[cell] <= or == bound, in exact numbers."""

    cells: tuple[Cell, ...]
    coefficients: tuple[Coefficient, ...]
    sense: Sense
    bound: Coefficient


@dataclass(frozen=True)
class Breach:
    """Where a requirement fails: the entries concerned, and a sentence about them."""

    cells: tuple[Cell, ...]
    sentence: str


class Requirement(Protocol):
    """A promise about a mechanism, written twice: as linear rows, and as a predicate on integer weights."""

    kind: ClassVar[str]
    alias: ClassVar[str]
    implies: ClassVar[tuple[str, ...]]

    @property
    def name(self) -> str:
        """As a user writes it, with its value."""

    @classmethod
    def read(cls, value: Any, prior: Prior) -> Requirement:
        """From the text after `=`, or from a Python object."""

    def rows(self, size: int) -> list[Row]:
        """The promise as linear rows, for `size` inputs and outputs."""

    def check(self, weights: Any, total: int) -> Breach | None:
        """None if weights / total keep the promise exactly, otherwise where they do not."""


class Plain:
    """What the requirements without a value share."""

    kind: ClassVar[str]
    alias: ClassVar[str]
    implies: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        return self.kind

    @classmethod
    def read(cls, value: Any, prior: Prior) -> Any:
        if value is not None:
            raise BadInput(f"the requirement '{cls.kind}={value}' was asked for", f"'{cls.kind}' takes no value")
        return cls()


def at_most(cell: Cell, other: Cell) -> Row:
    """T[cell] <= T[other]."""
    return Row((cell, other), (1, -1), "<=", 0)


def equal(cell: Cell, other: Cell) -> Row:
    return Row((cell, other), (1, -1), "==", 0)


def square(weights: Any, total: int) -> NDArray[Any]:
    """The weights as a square array: machine integers where they fit, Python's where not."""
    array = np.asarray(weights, dtype=np.int64 if total < 2**62 else object)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise BadInput(
            f"a mechanism of shape {array.shape} was given", "these requirements are about as many outputs as inputs"
        )
    return array


def first_exceeding(small: NDArray[Any], large: NDArray[Any]) -> Cell | None:
    """The first place where `small` is above `large`."""
    places = np.argwhere(np.asarray(small > large, dtype=bool))
    return (int(places[0][0]), int(places[0][1])) if len(places) else None


def exceeds(array: NDArray[Any], total: int, cell: Cell, other: Cell) -> Breach:
    """The witness that T[cell] is above T[other]."""
    return Breach((cell, other), f"{entry(array, total, cell)} exceeds {entry(array, total, other)}")


def entry(array: NDArray[Any], total: int, cell: Cell) -> str:
    return f"T[{cell[0]},{cell[1]}] = {float(Fraction(int(array[cell]), total)):.6g}"


def exact_law(value: Any, what: str) -> tuple[Fraction, ...]:
    """A probability vector in exact numbers, from a file's name or a sequence."""
    if isinstance(value, str):
        from discreet.io.files import read_distribution

        value = read_distribution(value)
    if not isinstance(value, Iterable):
        raise BadInput(f"{what} was given", f"{short(value)} is not a list of numbers", "Give one for every count")
    numbers: list[Fraction] = [exact(number, what) for number in value]
    if not numbers or any(number < 0 for number in numbers) or abs(sum(numbers, Fraction(0)) - 1) > RESIDUAL:
        found = f"its {len(numbers)} numbers sum to {float(sum(numbers)):.12g}"
        raise BadInput(f"{what} was given", f"{found}; they must be non-negative and sum to 1")
    whole = sum(numbers, Fraction(0))
    return tuple(number / whole for number in numbers)


def law_rows(prior: Sequence[Fraction], output_law: Sequence[Fraction], size: int, what: str) -> list[Row]:
    """prior T == output_law."""
    for name, vector in (("prior", prior), (what, output_law)):
        if len(vector) != size:
            raise BadInput(f"{what} was required", f"the {name} has {len(vector)} numbers, {size} are needed")
    support = [i for i in range(size) if prior[i]]
    weights = tuple(prior[i] for i in support)
    return [Row(tuple((i, j) for i in support), weights, "==", output_law[j]) for j in range(size)]


def law_witness(weights: Any, total: int, prior: Sequence[Fraction], output_law: Sequence[Fraction]) -> Breach | None:
    """None if the output law is met up to a total deviation of 1e-9."""
    common = np.lcm.reduce([f.denominator for f in (*prior, *output_law)], dtype=object)
    scaled = np.array([int(p * common) for p in prior], dtype=object)
    wanted = np.array([int(p * common) for p in output_law], dtype=object) * total
    deviation = abs(scaled @ np.asarray(weights, dtype=object) - wanted)
    residual = Fraction(int(deviation.sum()), int(common) * total)
    if residual <= RESIDUAL:
        return None
    worst = int(np.argmax(deviation))
    off = float(Fraction(int(deviation[worst]), int(common) * total))
    return Breach((), f"the probability of output {worst} is off by {off:.3g} (in all {float(residual):.3g})")


def cell_and_chance(value: Any, kind: str) -> tuple[Cell, Fraction]:
    """'I,J,P' or (I, J, P)."""
    parts = value.split(",") if isinstance(value, str) else list(value)
    if len(parts) != 3:
        raise BadInput(f"'{kind}={value}' was asked for", "it takes an input, an output and a probability")
    first, second, chance = (part.strip() if isinstance(part, str) else part for part in parts)
    numbers = [exact(part, f"'{kind}'") for part in (first, second)]
    if any(number.denominator != 1 for number in numbers):
        raise BadInput(f"'{kind}={value}' was asked for", "the input and the output must be whole numbers")
    return (int(numbers[0]), int(numbers[1])), probability(chance, f"the probability of '{kind}'")


def inside(cell: Cell, size: int, name: str) -> None:
    if not (0 <= cell[0] < size and 0 <= cell[1] < size):
        raise BadInput(f"'{name}' was required", f"inputs and outputs run from 0 to {size - 1}")
