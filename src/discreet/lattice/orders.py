"""Inequalities said in names: counts that rise in a given order wherever the other keys are the same, and files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, did_you_mean, short
from discreet.io.coded import Coded, coded_texts, numbers_of
from discreet.lattice.inequalities import Inequalities, inequalities_of
from discreet.lattice.invariants import Keys

SPELLING = "Write order:what=households,people, name a file, or in Python give (matrix, least)"


@dataclass(frozen=True)
class Rising:
    """The count at each of these values of a column is at most that at the next, wherever all other keys agree."""

    column: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.values) < 2 or len(set(self.values)) < len(self.values):
            found = "it takes two values at least, each named once"
            raise BadInput(f"{self} was asked for", found, SPELLING)

    def __str__(self) -> str:
        return f"order:{self.column}={','.join(self.values)}"

    def as_json(self) -> str | dict[str, object]:
        """In words where they can be read back."""
        with suppress(BadInput):
            if parse_order(str(self)) == self:
                return str(self)
        return {"order": self.column, "values": list(self.values)}

    @classmethod
    def of_json(cls, value: Any) -> Rising:
        if isinstance(value, str):
            return parse_order(value)
        listed = set(value) == {"order", "values"} and isinstance(value["values"], (list, tuple))
        if not listed or {type(item) for item in (value["order"], *value["values"])} != {str}:
            raise ValueError("an order is a column and a list of values")
        return cls(value["order"], tuple(value["values"]))

    def over(self, keys: Keys, rows: int) -> Inequalities:
        """The same for a table with these keys. Where a value is missing, its neighbours follow each other."""
        from scipy.sparse import csr_array

        if self.column not in keys:
            found = "the table has no such key column"
            raise BadInput(f"{self} was asked for", found, did_you_mean(self.column, keys))
        there = coded_texts(keys[self.column])
        for value in self.values:
            if there.place(value) is None:
                found = f"no row has {self.column} = {value!r}"
                raise BadInput(f"{self} was asked for", found, did_you_mean(value, there.texts.to_pylist()))
        smaller, larger = _pairs(_elsewhere(keys, self.column, rows), _ranks(there, self.values))
        if not len(smaller):
            found = "no two of these rows have the same other keys"
            raise BadInput(f"{self} was asked for", found, "Order values of the column that tells such rows apart")
        size = len(smaller)
        entries = np.repeat(np.array([[-1, 1]]), size, axis=0).ravel()
        places = np.column_stack([smaller, larger]).ravel()
        matrix = csr_array((entries, (np.repeat(np.arange(size), 2), places)), shape=(size, rows))
        return inequalities_of((matrix, np.zeros(size, dtype=np.int64)))


Limit = Rising | Inequalities


def _ranks(there: Coded, values: tuple[str, ...]) -> Integers:
    """Of each row the place of its value in the order; -1: it has none."""
    ranks = np.full(len(there.texts), -1, dtype=np.int64)
    for rank, value in enumerate(values):
        ranks[there.place(value)] = rank
    return ranks[there.codes]


def _elsewhere(keys: Keys, column: str, rows: int) -> Integers:
    """A number for each row, the same where all other keys are."""
    groups = np.zeros(rows, dtype=np.int64)
    for name, values in keys.items():
        if name != column:
            own = coded_texts(values)
            groups = numbers_of(groups * len(own.texts) + own.codes)[0]
    return groups


def _pairs(groups: Integers, ranks: Integers) -> tuple[Integers, Integers]:
    """Rows that follow each other in one group."""
    order = np.lexsort((ranks, groups))
    order = order[ranks[order] >= 0]
    together = groups[order[:-1]] == groups[order[1:]]
    return order[:-1][together], order[1:][together]


def parse_order(text: str) -> Rising:
    """order:COLUMN=VALUE,VALUE,.."""
    kind, colon, rest = text.partition(":")
    column, equals, values = rest.partition("=")
    if kind != "order" or not colon or not equals or not column.strip():
        found = "it is neither order:COLUMN=VALUE,VALUE nor a file"
        raise BadInput(f"the inequality {short(text)} was asked for", found, SPELLING)
    return Rising(column.strip(), tuple(part.strip() for part in values.split(",") if part.strip()))


def parse_limit(text: str, folder: Path | None = None) -> Limit:
    """What the command line takes: an order, or a file with a line per inequality, factors and then the least sum."""
    file = Path(text) if folder is None else folder / text
    if text.startswith("order:") or not os.path.isfile(file):
        return parse_order(text)
    from discreet.io.files import read_matrix

    rows = read_matrix(file)
    if not rows or len({len(row) for row in rows}) > 1 or len(rows[0]) < 2:
        found = "its lines are not equally long: a factor for every row of the table, then the least sum"
        raise BadInput(f"inequalities were to be read from {file.name}", found)
    numbers = [[float(entry) for entry in row] for row in rows]
    return inequalities_of(([row[:-1] for row in numbers], [row[-1] for row in numbers]))


def limits_list(given: Any) -> tuple[Limit, ...]:
    """Whatever was given, as a list: one may stand without one."""
    if given is None:
        return ()
    listed = list(given) if isinstance(given, (list, tuple)) and all(map(_is_one, given)) else [given]
    return tuple(dict.fromkeys(_limit(item) for item in listed))


def _is_one(item: Any) -> bool:
    """Whether it is an inequality or more by itself, and no part of a pair of a matrix and its bounds."""
    if isinstance(item, (str, Rising, Inequalities, Mapping)):
        return True
    if not isinstance(item, tuple) or len(item) != 2:
        return False
    listed = isinstance(item[0], (list, tuple)) and bool(item[0]) and isinstance(item[0][0], (list, tuple))
    return listed or getattr(item[0], "ndim", 0) == 2


def _limit(item: Any) -> Limit:
    if isinstance(item, str):
        return parse_limit(item)
    if isinstance(item, Mapping) and "order" in item:
        try:
            return Rising.of_json(item)
        except (ValueError, TypeError, KeyError) as error:
            raise BadInput("inequalities were asked for", str(error), SPELLING) from error
    return item if isinstance(item, Rising) else inequalities_of(item)


def together(limits: Sequence[Limit], keys: Keys, rows: int) -> Inequalities | None:
    """All of them about the rows of one table."""
    from scipy.sparse import csr_array, vstack

    if not limits:
        return None
    made = [item.over(keys, rows) if isinstance(item, Rising) else item.check(rows) for item in limits]
    if len(made) == 1:
        return made[0]
    matrix = csr_array(vstack([item.matrix for item in made]))
    return inequalities_of((matrix, np.concatenate([item.least for item in made])))
