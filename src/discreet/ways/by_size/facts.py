"""What the record of such a release holds, and what follows from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.certify.prove import Proof
from discreet.errors import BadInput
from discreet.mechanism import Form, form_parameters
from discreet.privacy.values import ROWS_ARE_PUBLIC, Remark
from discreet.record.release import Publication
from discreet.shown.terse import Terse
from discreet.ways.row_by_row.facts import RowFacts, RowMechanism, remarks

WRITTEN = re.compile(r"([0-9]{1,18})(?:\.0+)?")  # a size as text; columns of pandas with a gap elsewhere are floats
LARGEST = 10**18  # counts are of 64 bits
MOST_SHOWN = 20  # letters of a value in an error


@dataclass(frozen=True, eq=False)
class Sized:
    """The mechanism for groups of one size, and its proof."""

    max_count: int
    certificate: Proof | None
    form: Form = field(metadata={"flat": True})


@dataclass(frozen=True, eq=False, repr=False)
class SizedMechanism(Terse):
    """A mechanism for every size that there is, in order; the column says which rows have it."""

    name: str
    column: str
    sizes: tuple[Sized, ...]


@dataclass(frozen=True, eq=False, repr=False)
class SizedFacts(Terse):
    """All of it."""

    mechanism: SizedMechanism


def sizes_of(categories: Any, column: str) -> Integers:
    """The size of every row's group, from the public key column."""
    names = [] if categories is None else categories.column_names
    if column not in names:
        known = f"the public key columns are: {', '.join(names) or 'none'}"
        do = "The sizes of groups are published; name their column among the keys, if they are public"
        raise BadInput(f"the sizes of groups were asked for from the column {column!r}", known, do, column=column)
    values = categories.column(column).to_pylist()
    sizes = [_size(value) for value in values]
    if None in sizes:
        row = sizes.index(None)
        raise _no_size(values[row], categories.slice(row, 1).to_pylist()[0], column)
    return np.array(sizes, dtype=np.int64)


def _size(value: Any) -> int | None:
    """A whole number above 0, as a number or as text, also as floats are written; None for anything else."""
    found = WRITTEN.fullmatch(value.strip()) if isinstance(value, str) else None
    number = int(found[1]) if found else int(value) if isinstance(value, float) and value.is_integer() else value
    return None if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number < LARGEST else number


def _no_size(value: Any, keys: Mapping[str, object], column: str) -> BadInput:
    """The row by its keys: its place among the sorted ones is not that in the file."""
    shown = "missing" if value is None or value == "" else f"{str(value)[:MOST_SHOWN]!r}"
    others = [f"{name} is {str(key)[:MOST_SHOWN]!r}" for name, key in keys.items() if name != column]
    found = f"in the column {column!r} it is {shown}" + (f" where {' and '.join(others)}" if others else "")
    do = "A size is a whole number, 1 or more: leave out groups of nobody"
    return BadInput("the sizes of groups were to be read", found, do, column=column)


def remarks_of(column: str) -> tuple[Remark, ...]:
    """What the promise does not say by itself."""
    return ROWS_ARE_PUBLIC, Remark.of("sized", column=column)


def of_one_size(publication: Publication[SizedFacts], sized: Sized, rows: Integers) -> Publication[RowFacts]:
    """The part of a release that groups of one size are: a release row by row, with its own largest count."""
    record, measured = publication.record, publication.measured
    mechanism = RowMechanism(record.facts.mechanism.name, form_parameters(sized.form), sized.form)
    whole: Any = record  # whose facts are of another way
    inner = replace(
        whole,
        schema=replace(record.schema, rows=len(rows), max_count=sized.max_count),
        guarantee=replace(record.guarantee, remarks=remarks(sized.form)),
        certificate=sized.certificate,
        facts=RowFacts(mechanism),
    )
    part = None if measured is None else measured[rows]
    return Publication(inner, publication.categories.take(rows), publication.counts[rows], part)
