"""What can be asked of a table: a tree of levels, times attributes, and questions about both. Public facts only.

A design has levels (level 0 is everything, the last one the leaves) and attributes, and a cell for every leaf and
every combination of attributes. A question is a level and some attributes: one count for every node of that level and
every combination of those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput


class Question(NamedTuple):
    """A level of the tree, and some attributes by their place."""

    level: int
    attributes: tuple[int, ...] = ()

    def gives(self, other: Question) -> bool:
        """Whether its answers add up to those of the other one."""
        return other.level <= self.level and set(other.attributes) <= set(self.attributes)


@dataclass(frozen=True, eq=False)
class LevelDesign:
    """A tree of nodes, level by level, times attributes of so many values each.

    `parents[l][g]` is the node of level l - 1 above node g of level l; children of a node stand next to each other.
    """

    parents: tuple[Integers, ...]
    shape: tuple[int, ...] = ()
    place: Integers | None = field(default=None, repr=False)  # of each row of the table, its cell; None: in order

    @property
    def completed(self) -> LevelDesign:
        """With all rows, as it is."""
        return self

    @cached_property
    def worked_out(self) -> dict[Any, Any]:
        """What takes long and is the same whatever was measured, by the variances of the noise."""
        return {}

    @property
    def last(self) -> int:
        """The level of the leaves."""
        return len(self.parents) - 1

    @property
    def attributes(self) -> tuple[int, ...]:
        return tuple(range(len(self.shape)))

    @property
    def cells(self) -> Question:
        """The finest question."""
        return Question(self.last, self.attributes)

    @cached_property
    def starts(self) -> tuple[Integers, ...]:
        """Of each level: where the children of each node of the level above begin."""
        return tuple(np.flatnonzero(np.diff(parents, prepend=-1)) for parents in self.parents)

    def nodes(self, level: int) -> int:
        return len(self.parents[level])

    def size(self, attributes: Sequence[int]) -> int:
        """How many combinations of values these attributes have."""
        return prod(self.shape[a] for a in attributes)

    def entries(self, question: Question) -> int:
        return self.nodes(question.level) * self.size(question.attributes)

    def table_shape(self, question: Question) -> tuple[int, ...]:
        return self.nodes(question.level), *(self.shape[a] for a in question.attributes)

    def plain(self, question: Question) -> Question:
        """The coarsest question with the same entries: without attributes of one value, and above nodes that are only
        children, each of them."""
        level = question.level
        while level and self.nodes(level) == self.nodes(level - 1):
            level -= 1
        return Question(level, tuple(a for a in question.attributes if self.shape[a] > 1))

    def tells(self, one: Question, other: Question) -> bool:
        """Whether the answers to one add up to those of the other, by whatever columns these are named."""
        return self.plain(one).gives(self.plain(other))

    def by_entry(self, values: Any, question: Question) -> Any:
        """What is known of each node of a question's level, and is the same for all its entries, for each of these."""
        return np.repeat(values, self.size(question.attributes))

    def above(self, values: Any, level: int) -> Any:
        """Sums over the children: of one value a node of a level, one for every node of the level above."""
        return np.add.reduceat(values, self.starts[level], axis=0)

    def in_cells(self, rows: Any) -> Any:
        """Values of the table's rows, by leaf and attributes."""
        if self.place is None:
            return rows.reshape(self.table_shape(self.cells))
        cells = np.empty(len(rows), dtype=rows.dtype)
        cells[self.place] = rows
        return cells.reshape(self.table_shape(self.cells))

    def in_rows(self, cells: Any) -> Any:
        """Values of the cells, in the order of the table's rows."""
        flat = np.asarray(cells).reshape(-1)
        return flat if self.place is None else flat[self.place]

    def answer(self, cells: Integers, question: Question) -> Integers:
        """The true answer, of cells as `in_cells` gives them."""
        out: Integers = cells.sum(axis=tuple(1 + a for a in self.attributes if a not in question.attributes))
        for level in range(self.last, question.level, -1):
            out = self.above(out, level)
        return out

    def spread_out(self, table: Any, question: Question, finer: Question) -> Any:
        """The entry of a question that each entry of a finer one belongs to."""
        out = np.expand_dims(
            table, tuple(1 + i for i, a in enumerate(finer.attributes) if a not in question.attributes)
        )
        for level in range(question.level + 1, finer.level + 1):
            out = out[self.parents[level]]
        return np.broadcast_to(out, self.table_shape(finer))

    def questions(self) -> Iterator[Question]:
        """Every question there is, coarse ones first."""
        for level in range(self.last + 1):
            for attributes in subsets(self.attributes):
                yield Question(level, attributes)


def subsets(items: Sequence[int]) -> list[tuple[int, ...]]:
    """All of them, small ones first."""
    return [some for size in range(len(items) + 1) for some in combinations(items, size)]


def tree_of(codes: Sequence[Integers]) -> tuple[tuple[Integers, ...], Integers]:
    """Parents level by level, and the leaf of each row, from the number of each row's value in nested columns."""
    parents: list[Integers] = [np.zeros(1, dtype=np.int64)]
    node = np.zeros(len(codes[0]) if codes else 1, dtype=np.int64)
    for column in codes:
        both = node * (int(column.max()) + 1) + column
        _, first, new = np.unique(both, return_index=True, return_inverse=True)
        parents.append(node[first])
        node = new
    return tuple(parents), node


def require_nested(name: str, below: str, coarse: Integers, fine: Integers, values: Sequence[Any]) -> None:
    """Refuse levels that are no tree, with the value that shows it."""
    pairs = np.unique(fine * (int(coarse.max()) + 1) + coarse)
    of, above = np.divmod(pairs, int(coarse.max()) + 1)
    twice = of[1:][of[1:] == of[:-1]]
    if len(twice):
        worst = int(twice[0])
        advice = f"Give {below} values that belong to one {name} each, or do not name it as a level"
        if len(np.unique(above)) == len(above):
            advice = f"Name {below} before {name}: coarse levels come first"
        found = f"{below} {values[worst]!r} is in {int((of == worst).sum())} values of {name}"
        raise BadInput(f"{below} was to be a level below {name}", found, advice)
