"""A table's keys as a design: which columns are levels and which are attributes, and the names of every entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, did_you_mean
from discreet.io.coded import coded, picked
from discreet.lattice.invariants import Kept, Margin, Total
from discreet.levels.asked import Cells, What
from discreet.levels.design import LevelDesign, Question, require_nested, tree_of
from discreet.levels.either import Design
from discreet.levels.ragged import RaggedDesign
from discreet.table import Schema

MOST_WAYS = 2  # of the margins that are measured where nobody says which
MOST_ATTRIBUTES = 10  # every one doubles the components of a table
MOST_COMBINATIONS = 1 << 62  # they are numbered


@dataclass(frozen=True, eq=False)
class Layout:
    """A design, and what its levels, attributes and entries are called."""

    design: Design
    levels: tuple[str, ...]  # coarse to fine; level 0, everything, has no name
    attributes: tuple[str, ...]
    categories: Any = field(repr=False)  # the key columns, as an Arrow table
    leaf: Integers = field(repr=False)  # of each row

    def question(self, what: What | Kept) -> Question:
        """What is meant by its name."""
        if isinstance(what, Cells):
            return self.design.cells
        if isinstance(what, Total):
            return Question(0)
        assert isinstance(what, Margin)
        known = (*self.levels, *self.attributes)
        for name in what.columns:
            if name not in known:
                raise BadInput(f"{what} was asked for", f"there is no key column {name!r}", did_you_mean(name, known))
        level = max((1 + self.levels.index(name) for name in what.columns if name in self.levels), default=0)
        return Question(level, tuple(a for a, name in enumerate(self.attributes) if name in what.columns))

    def name(self, question: Question) -> What:
        """The one name that a question has in a record: a level stands for all above it."""
        if question == Question(0):
            return Total()
        if question == self.design.cells:
            return Cells()
        finest = self.levels[question.level - 1 : question.level]
        return Margin((*finest, *(self.attributes[a] for a in question.attributes)))

    def automatic(self) -> tuple[Question, ...]:
        """Every level and every margin up to two ways, a level counting as one; and the cells of a table that is so
        small that it has no more of them than those have entries."""
        design = self.design
        found = [one for one in design.questions() if len(one.attributes) + (one.level > 0) <= MOST_WAYS]
        small = design.entries(design.cells) <= sum(map(design.entries, found))
        return tuple(dict.fromkeys([*found, design.cells] if small else found))

    def columns(self, question: Question) -> tuple[str, ...]:
        """The key columns that name its entries."""
        return (*self.levels[: question.level], *(self.attributes[a] for a in question.attributes))

    def missing(self) -> str:
        """How many rows are, of which combinations."""
        design = self.design.completed
        there = " x ".join([
            *(f"{design.nodes(design.last):,} {name}" for name in self.levels[-1:]),
            *(f"{n} {name}" for n, name in zip(design.shape, self.attributes)),
        ])  # fmt: skip
        return f"{design.entries(design.cells) - len(self.leaf):,} of {there} rows are missing"

    def frame(self, question: Question) -> Any:
        """The keys of every entry, as an Arrow table."""
        if isinstance(self.design, RaggedDesign):
            first = self.design.first_rows(question)
            return picked({name: (self.categories.column(name), first) for name in self.columns(question)})
        shape = self.design.table_shape(question)
        rows = np.repeat(self._first_rows(question.level), prod(shape[1:]))
        places = np.indices(shape).reshape(len(shape), -1)
        named = {name: (self.categories.column(name), rows) for name in self.levels[: question.level]}
        for axis, a in enumerate(question.attributes, start=1):
            named[self.attributes[a]] = self._values[self.attributes[a]], places[axis]
        return picked(named)

    @cached_property
    def _values(self) -> dict[str, Any]:
        return {name: coded(self.categories.column(name))[1] for name in self.attributes}

    def _first_rows(self, level: int) -> Integers:
        """A row of the table below each node of a level."""
        node = self.leaf
        for at in range(self.design.last, level, -1):
            node = self.design.parents[at][node]
        return np.unique(node, return_index=True)[1]


def layout_of(schema: Schema, levels: Sequence[str]) -> Layout:
    """The design of a table's keys; refused where levels are no tree."""
    for name in levels:
        if name not in schema.keys:
            found = "the table has no such key column"
            raise BadInput(f"the level {name!r} was asked for", found, did_you_mean(name, schema.keys))
    if len(set(levels)) < len(levels):
        raise BadInput(f"the levels {', '.join(levels)} were asked for", "one is named twice", "Name it once")
    if not schema.keys:
        raise BadInput("margins were to be measured", "the table has no key columns", "Name the keys")
    codes = {name: coded(schema.categories.column(name)) for name in schema.keys}
    chain = tuple(levels) or _nested(schema, codes)
    for coarse, fine in pairwise(chain):
        require_nested(coarse, fine, codes[coarse][0], codes[fine][0], codes[fine][1].to_pylist())
    attributes = tuple(name for name in schema.keys if name not in chain)
    if len(attributes) > MOST_ATTRIBUTES:
        found = f"there are {len(attributes)} attributes, and at most {MOST_ATTRIBUTES} are combined"
        raise BadInput("margins were to be measured", found, "Name levels, or release fewer key columns")
    parents, leaf = tree_of([codes[name][0] for name in chain])
    leaf = leaf if chain else np.zeros(schema.rows, dtype=np.int64)
    shape = tuple(len(codes[name][1]) for name in attributes)
    if len(parents[-1]) * prod(shape) > MOST_COMBINATIONS:
        found = f"there are more than {MOST_COMBINATIONS:,} combinations of their values"
        raise BadInput("margins were to be measured", found, "Name levels, or release fewer key columns")
    place = leaf
    for name, size in zip(attributes, shape):
        place = place * size + codes[name][0]
    if len(parents[-1]) * prod(shape) > schema.rows:
        design = RaggedDesign(LevelDesign(parents, shape), place)
        return Layout(design, chain, attributes, schema.categories, leaf)
    ordered = np.array_equal(place, np.arange(schema.rows))
    return Layout(LevelDesign(parents, shape, None if ordered else place), chain, attributes, schema.categories, leaf)


def _nested(schema: Schema, codes: dict[str, tuple[Integers, Any]]) -> tuple[str, ...]:
    """Columns that are levels by themselves, where rows are not all combinations: each value of one belongs to one
    value of the one before. The longest chain that ends in the column with most values."""
    if prod(len(values) for _, values in codes.values()) == schema.rows:
        return ()
    by_size = sorted(schema.keys, key=lambda name: (len(codes[name][1]), schema.keys.index(name)))
    chain = [by_size[-1]]
    for name in reversed(by_size[:-1]):
        if _belongs(codes[name][0], codes[chain[0]][0], len(codes[chain[0]][1])):
            chain.insert(0, name)
    return tuple(chain) if len(chain) > 1 else ()


def _belongs(coarse: Integers, fine: Integers, values: int) -> bool:
    """Whether every value of the fine column goes with one of the coarse one."""
    some = np.zeros(values, dtype=np.int64)
    some[fine] = coarse
    return bool(np.array_equal(some[fine], coarse))


def kept_questions(layout: Layout, keep: Sequence[Kept]) -> tuple[Question, ...]:
    """Kept sums as questions."""
    for what in keep:
        if not isinstance(what, (Total, Margin)):
            found = "beside measured margins only total and margins can be kept"
            raise BadInput(f"{what} was to be kept", found, "Keep the margin that it is part of")
    return tuple(dict.fromkeys(layout.question(what) for what in keep))
