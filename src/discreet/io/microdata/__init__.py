"""Counting microdata where they are: files and DuckDB's relations in DuckDB, Spark's frames in Spark, others in memory.

Values are compared as text. Where a person has more rows than the bound, which of them are kept depends on that
person's own rows and on the key, and on nothing else: one person more or less changes the counts by no more than the
bound.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, did_you_mean

NAMED = 3  # how many unknown categories an error names
SIZE, NAMELESS = "n", "nameless"  # columns beside those of a category: its rows, and those of them without a person


class People(Protocol):
    """Microdata, wherever they are. Tables that come back are Arrow's, categories in columns k0, k1, ... of text."""

    @property
    def kind(self) -> str:
        """Of the frame that a table of their counts becomes."""

    @property
    def columns(self) -> list[str]:
        """Their names."""

    @property
    def tells_capitals(self) -> bool:
        """Whether columns whose names differ in capitals only are told apart."""

    def grouped(self, names: list[str], person: str | None) -> Any:
        """Every category, its rows, and how many of these have no person."""

    def bounded(self, names: list[str], person: str, bound: int, key: bytes) -> Any:
        """Every category, and how many rows are counted in it if at most `bound` of each person are."""


def counted(
    data: Any, names: list[str], universe: Any, person: str | None, bound: int, key: bytes
) -> tuple[Integers, str]:
    """The counts in the order of the universe, and the kind of the data."""
    from discreet.io.microdata.opened import opened

    with opened(data) as people:
        for name in [*names, *([person] if person else [])]:
            _must_have(name, people)
        groups = people.grouped(names, person)
        counts = _placed(groups, names, universe)
        nameless = int(np.sum(groups.column(NAMELESS).to_numpy(), dtype=np.int64))
        if nameless:
            rows = "1 row" if nameless == 1 else f"{nameless:,} rows"
            raise BadInput(f"the column {person!r} says whose row it is", f"it is empty in {rows}")
        if person is not None:
            counts = _placed(people.bounded(names, person, bound, key), names, universe)
        return counts, people.kind


def category(place: int) -> str:
    """The name that the column of a category has here, whatever it has there."""
    return f"k{place}"


def _must_have(name: str, people: People) -> None:
    asked, found = f"the column {name!r} was asked for", people.columns
    if name not in found:
        raise BadInput(asked, "the microdata have no such column", did_you_mean(name, found))
    alike = [other for other in found if other == name or (not people.tells_capitals and same_column(name, other))]
    if len(alike) > 1:
        told = f"the microdata have {len(alike)} columns of that name: {', '.join(alike)}"
        raise BadInput(asked, told, "Rename or drop the others")


def same_column(one: str, other: str) -> bool:
    """As databases have it, for which capitals make no difference."""
    return one.casefold() == other.casefold()


def refuse_nested(name: str, kind: str) -> BadInput:
    return BadInput(
        f"the column {name!r} was asked for", f"its values are of the type {kind}, which are no texts or numbers",
        "Make a text of each, of which no two are alike",
    )  # fmt: skip


def _placed(groups: Any, names: list[str], universe: Any) -> Integers:
    """The rows of every category, in the order of the universe; categories that are not in it are refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = [category(place) for place in range(len(names))]
    known = pa.table(
        {
            **{key: universe.column(place).cast(pa.string()) for place, key in enumerate(keys)},
            "place": np.arange(universe.num_rows),
        }
    )
    found = groups.join(known, keys, join_type="left outer")
    missing = found.filter(pc.is_null(found["place"])).select(keys)
    if missing.num_rows:
        some = missing.sort_by([(key, "ascending") for key in keys]).slice(0, NAMED)
        raise _outside(names, missing.num_rows, list(zip(*(column.to_pylist() for column in some.columns))))
    counts = np.zeros(universe.num_rows, dtype=np.int64)
    counts[found["place"].to_numpy()] = found[SIZE].cast(pa.int64()).to_numpy()
    return counts


def _outside(names: list[str], number: int, some: list[tuple[str, ...]]) -> BadInput:
    listed = "; ".join(", ".join(f"{name} = {value!r}" for name, value in zip(names, row)) for row in some)
    return BadInput(
        "microdata were to be counted over a public universe",
        f"{number} of the categories in the data are not in it: {listed}{'; ...' if number > len(some) else ''}",
        "Correct the data or, if the category is publicly known to exist, add it to the universe. Nothing was written",
        categories=number,
    )


def is_file(data: Any) -> bool:
    return isinstance(data, (str, Path))
