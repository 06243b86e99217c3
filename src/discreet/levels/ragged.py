"""The design of a table that lacks some rows: a tree of levels, and attributes of which not all combinations are rows.

Which rows there are is public; one that is missing is zero by its nature. So a question parts the rows into groups,
and has an entry for every group that has a row: by node, then by combination of attributes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.levels.design import LevelDesign, Question


@dataclass(frozen=True, eq=False)
class Groups:
    """The entries of a question."""

    of: Integers  # each row's entry, rows in the order of cells
    order: Integers  # rows, entry by entry
    starts: Integers  # where the rows of each entry begin in that order
    node: Integers  # of each entry

    @property
    def sizes(self) -> Integers:
        """How many rows each entry has."""
        return np.diff(np.append(self.starts, len(self.order)))

    def sums(self, values: Any) -> Any:
        return np.add.reduceat(values[self.order], self.starts, axis=0)


@dataclass(frozen=True, eq=False)
class RaggedDesign:
    """Some cells of a design that has all; rows are taken in the order of these cells."""

    completed: LevelDesign  # with the missing rows
    place: Integers = field(repr=False)  # of each row of the table, its cell there

    @property
    def last(self) -> int:
        return self.completed.last

    @property
    def attributes(self) -> tuple[int, ...]:
        return self.completed.attributes

    @property
    def shape(self) -> tuple[int, ...]:
        return self.completed.shape

    @property
    def parents(self) -> tuple[Integers, ...]:
        return self.completed.parents

    @property
    def cells(self) -> Question:
        return self.completed.cells

    def nodes(self, level: int) -> int:
        return self.completed.nodes(level)

    def questions(self) -> Iterator[Question]:
        return self.completed.questions()

    def plain(self, question: Question) -> Question:
        return self.completed.plain(question)

    def tells(self, one: Question, other: Question) -> bool:
        return self.completed.tells(one, other)

    def entries(self, question: Question) -> int:
        if question not in self._entries:
            self._entries[question] = len(np.unique(self._codes(question)))
        return self._entries[question]

    def table_shape(self, question: Question) -> tuple[int, ...]:
        return (self.entries(question),)

    def by_entry(self, values: Any, question: Question) -> Any:
        """What is known of the entries is told for each."""
        return values

    def in_cells(self, rows: Any) -> Any:
        return rows[self._order]

    def in_rows(self, cells: Any) -> Any:
        rows = np.empty_like(cells)
        rows[self._order] = cells
        return rows

    def answer(self, cells: Any, question: Question) -> Any:
        """The true answer, of cells as `in_cells` gives them."""
        return self.groups(question).sums(cells)

    def first_rows(self, question: Question) -> Integers:
        """A row of the table that each entry counts."""
        groups = self.groups(question)
        return self._order[groups.order[groups.starts]]

    def groups(self, question: Question) -> Groups:
        if question not in self._found:
            self._found[question] = self._grouped(question)
        return self._found[question]

    @cached_property
    def worked_out(self) -> dict[Any, Any]:
        """What takes long and is the same whatever was measured, by the variances of the noise."""
        return {}

    @cached_property
    def _entries(self) -> dict[Question, int]:
        return {}

    @cached_property
    def _found(self) -> dict[Question, Groups]:
        return {}

    @cached_property
    def _order(self) -> Integers:
        return np.argsort(self.place, kind="stable")

    @cached_property
    def _places(self) -> tuple[tuple[Integers, ...], tuple[Integers, ...]]:
        """Of each row its node at every level, and its value of every attribute."""
        combination = self.place[self._order]
        values = []
        for size in reversed(self.shape):
            values.append(combination % size)
            combination = combination // size
        nodes = [combination]
        for level in range(self.last, 0, -1):
            nodes.append(self.parents[level][nodes[-1]])
        return tuple(reversed(nodes)), tuple(reversed(values))

    def _codes(self, question: Question) -> Integers:
        """Of each row the place that its entry would have if no row were missing."""
        nodes, values = self._places
        code = nodes[question.level]
        for a in question.attributes:
            code = code * self.shape[a] + values[a]
        return code

    def _grouped(self, question: Question) -> Groups:
        there, of = np.unique(self._codes(question), return_inverse=True)
        order = np.argsort(of, kind="stable")
        starts = np.searchsorted(of[order], np.arange(len(there)))
        return Groups(of, order, starts, there // self.completed.size(question.attributes))
