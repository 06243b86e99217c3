"""Inequalities that a published table must meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.arrays import Flags, Integers
from discreet.errors import BadInput

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LARGEST = 1 << 40  # of coefficients and bounds: times a count, they stay inside 64 bits in any table one could publish
NUMBER = {"type": "integer", "minimum": -LARGEST, "maximum": LARGEST}
TERM = {"type": "array", "prefixItems": [{**NUMBER, "minimum": 0}, NUMBER], "items": False, "minItems": 2}


@dataclass(frozen=True, eq=False)
class Inequalities:
    """B y >= b for the published table y. Most entries of B are zero: an inequality is about few rows."""

    json_schema: ClassVar[Mapping[str, object]] = {
        "type": "object",
        "properties": {
            "rows": {**NUMBER, "minimum": 1},
            "terms": {"type": "array", "items": {"type": "array", "items": TERM}, "minItems": 1},
            "least": {"type": "array", "items": NUMBER, "minItems": 1},
        },
        "required": ["rows", "terms", "least"],
        "additionalProperties": False,
    }
    matrix: csr_array
    least: Integers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Inequalities) and self.as_json() == other.as_json()

    def __hash__(self) -> int:
        return hash((self.matrix.shape, tuple(self.matrix.indices.tolist()), tuple(self.least.tolist())))

    def __str__(self) -> str:
        return f"{len(self.least)} {'inequality' if len(self.least) == 1 else 'inequalities'} of a matrix"

    def as_json(self) -> dict[str, object]:
        """Of each inequality its terms: rows, counted from 0, each with its factor."""
        pairs = np.column_stack([self.matrix.indices, self.matrix.data])
        terms = [part.tolist() for part in np.split(pairs, self.matrix.indptr[1:-1])]
        return {"rows": self.matrix.shape[1], "terms": terms, "least": self.least.tolist()}

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Inequalities:
        """What `as_json` wrote, and nothing else."""
        from scipy.sparse import csr_array

        if set(value) != {"rows", "terms", "least"} or not value["least"] or len(value["terms"]) != len(value["least"]):
            raise ValueError("inequalities are terms and what they must at least sum to")
        pairs = [pair for terms in value["terms"] for pair in terms]
        numbers = [value["rows"], *value["least"], *(number for pair in pairs for number in pair)]
        if {type(number) for number in numbers} != {int} or {len(pair) for pair in pairs} - {2}:
            raise ValueError("inequalities are whole numbers, two for each term")
        ends = np.cumsum([0, *(len(terms) for terms in value["terms"])])
        places, factors = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        if any(abs(number) > LARGEST for number in numbers):
            raise ValueError("a number of an inequality is absurd")
        if len(places) and (places.min() < 0 or places.max() >= value["rows"]):
            raise ValueError("an inequality is about a row that is not there")
        made = cls(
            csr_array((factors, places, ends), shape=(len(value["least"]), value["rows"])), np.array(value["least"])
        )
        if not made.matrix.has_canonical_format or np.any(factors == 0):
            raise ValueError("the terms of an inequality come in the order of their rows, each once")
        return made

    def in_order(self, given_rows: Integers) -> Inequalities:
        """The same about rows in published order; one whose size does not fit is left for the plan to refuse."""
        if self.matrix.shape[1] != len(given_rows):
            return self
        return Inequalities(_canonical(self.matrix[:, given_rows]), self.least)

    def check(self, cells: int) -> Inequalities:
        """Refuse what is not about tables of this many rows."""
        if self.matrix.shape[1] != cells:
            size = f"a {self.matrix.shape[0]} x {self.matrix.shape[1]} matrix, {len(self.least)} bounds"
            raise BadInput("inequalities were asked for", f"{size} and {cells} rows do not fit")
        idle = np.flatnonzero((np.diff(self.matrix.indptr) == 0) & (self.least <= 0))
        if len(idle):
            found = f"number {idle[0] + 1} of them is about no row, so that it always holds"
            raise BadInput("inequalities were asked for", found, "Leave it out, or give it factors other than zero")
        return self

    def violated(self, table: Integers) -> Integers:
        """The inequalities that do not hold."""
        return np.flatnonzero(self.matrix @ table < self.least)

    def told(self, one: int, named: Callable[[int], str]) -> str:
        """It in names, as what is at most what: households <= people."""
        part = slice(self.matrix.indptr[one], self.matrix.indptr[one + 1])
        least = int(self.least[one])
        sides: dict[bool, list[str]] = {True: [], False: []}
        for place, factor in zip(self.matrix.indices[part].tolist(), self.matrix.data[part].tolist()):
            sides[factor > 0].append(named(place) if abs(factor) == 1 else f"{abs(factor)} x {named(place)}")
        if least:
            sides[least < 0].append(f"{abs(least):,}")
        return " <= ".join(" + ".join(sides[side]) or "0" for side in (False, True))

    def hold(self, table: Integers) -> bool:
        return not len(self.violated(table))

    def about(self, some: Flags) -> Inequalities:
        """Those about rows of which some are among these."""
        widths = np.diff(self.matrix.indptr)
        among = np.zeros(len(widths), dtype=bool)
        among[np.repeat(np.arange(len(widths)), widths)[some[self.matrix.indices]]] = True
        return Inequalities(self.matrix[among], self.least[among])

    def pinned(self) -> Integers:
        """Rows that inequalities about themselves alone leave one value, or none."""
        alone = np.flatnonzero(np.diff(self.matrix.indptr) == 1)
        places, factors = self.matrix.indices[self.matrix.indptr[alone]], self.matrix.data[self.matrix.indptr[alone]]
        size = self.matrix.shape[1]
        lowest, highest = np.full(size, -LARGEST - 1), np.full(size, LARGEST + 1)
        ups = factors > 0
        np.maximum.at(lowest, places[ups], -(-self.least[alone][ups] // factors[ups]))
        np.minimum.at(highest, places[~ups], self.least[alone][~ups] // factors[~ups])
        return np.flatnonzero(lowest >= highest)

    @property
    def cells(self) -> list[Integers]:
        """What each is about."""
        return np.split(self.matrix.indices, self.matrix.indptr[1:-1])

    @property
    def widest(self) -> int:
        """The most rows that one is about."""
        return int(np.diff(self.matrix.indptr).max())


def inequalities_of(given: Any) -> Inequalities:
    """What a user writes: a matrix (dense or sparse) and what its rows must at least sum to."""
    from scipy.sparse import csr_array

    if isinstance(given, Inequalities):
        return given
    try:
        matrix, least = (given["matrix"], given["least"]) if isinstance(given, Mapping) else given
    except (TypeError, ValueError, KeyError) as error:
        raise BadInput("inequalities were asked for", "they are not a matrix and a list of bounds") from error
    try:
        rows = csr_array(matrix) if hasattr(matrix, "tocsr") else csr_array(np.atleast_2d(np.asarray(matrix)))
        bounds = np.atleast_1d(np.asarray(least))
    except (TypeError, ValueError) as error:
        raise BadInput("inequalities were asked for", "their matrix is not one of numbers") from error
    if bounds.ndim != 1 or rows.shape[0] != len(bounds) or not len(bounds):
        found = f"{rows.shape[0]} rows of a matrix and {bounds.size} bounds do not fit"
        raise BadInput("inequalities were asked for", found)
    for numbers in (rows.data, bounds):
        _require_whole(numbers)
    return Inequalities(_canonical(rows.astype(np.int64)), bounds.astype(np.int64))


def _require_whole(numbers: Any) -> None:
    """Whole numbers that are far from the end of 64 bits, so that sums over a table are what they should be."""
    if numbers.dtype.kind not in "iufb" or not np.array_equal(numbers, np.round(numbers)):
        found = "a coefficient or bound is not a whole number"
        raise BadInput("inequalities were asked for", found, "Multiply them up")
    if numbers.size and float(np.abs(numbers).max()) > LARGEST:
        found = f"a coefficient or bound is beyond {LARGEST:,}"
        raise BadInput("inequalities were asked for", found, "Give smaller ones")


def _canonical(matrix: csr_array) -> csr_array:
    """Each row's entries in order, each once, none of them zero."""
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
