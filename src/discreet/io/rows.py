"""What rows and cells are called, so that a person finds them in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput

NAMED = 5  # cells or rows that an error names: enough to see what is meant
UNSAVED = "#formula without a value"  # the text of a cell whose value was never computed
SAVE_IT = "Open the file in a spreadsheet program and save it, so that it holds the values of its formulas"


class Numbering(Protocol):
    """What rows are called in the file that they were read from."""

    def number(self, place: int) -> int:
        """Of the row that was read at this place, from zero on."""


class FromOne:
    """Of rows without a file, or without a header above them."""

    def number(self, place: int) -> int:
        return place + 1


@dataclass(frozen=True, eq=False)
class Listed:
    """One by one."""

    numbers: Integers

    def number(self, place: int) -> int:
        return int(self.numbers[place])


@dataclass(frozen=True, eq=False)
class RowNames:
    """Of each row of a frame its number in the file, and the column that its count stood in."""

    numbering: Numbering = field(default_factory=FromOne)
    places: Integers | None = None  # of the rows that are left among those that were read; None: all of them
    columns: tuple[str, ...] = ()  # where counts of several columns were put below each other: these
    column_of: Integers | None = None  # and of each row, the place of its own among them

    def number(self, row: int) -> int:
        return self.numbering.number(row if self.places is None else int(self.places[row]))

    def column(self, row: int, usual: str) -> str:
        return usual if self.column_of is None else self.columns[int(self.column_of[row])]

    def kept(self, flags: Any, rows: int) -> RowNames:
        """Of the rows that stay; they keep their numbers."""
        column_of = None if self.column_of is None else self.column_of[flags]
        return replace(self, places=self._placed(rows)[flags], column_of=column_of)

    def repeated(self, columns: Sequence[str], rows: int) -> RowNames:
        """Of the rows for every column anew."""
        places = np.tile(self._placed(rows), len(columns))
        return replace(self, places=places, columns=tuple(columns), column_of=np.repeat(np.arange(len(columns)), rows))

    def _placed(self, rows: int) -> Integers:
        return np.arange(rows) if self.places is None else self.places


AS_THEY_COME = RowNames()


def together(problems: Sequence[BadInput], asked: str = "") -> BadInput:
    """All problems of a file in one error, so that it is mended once."""
    first = problems[0]
    if len(problems) == 1:
        return first
    found = "; and ".join(found for _, found, _ in (problem.parts for problem in problems))
    advice = dict.fromkeys(do.rstrip(".") for *_, do in (problem.parts for problem in problems) if do)
    values: dict[str, object] = {}
    for problem in reversed(problems):
        values |= problem.values
    values["problems"] = tuple(problems)  # each by itself, for who has room for a list
    return BadInput(asked or first.parts[0], found, ". ".join(advice), **values)
