"""Tables of several releases side by side: names and keys in the one form in which they are compared.

`Ash`, `ASH ` and `ash` are one key to a reader, and so are 1 and 1.0. Where a table holds two keys that would become
one, its column is taken as it is written, in all tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

from discreet.arrays import Integers
from discreet.io.layout import COUNTED
from discreet.lattice.invariants import Kept, Margin, Sums, SumWhere, Total
from discreet.ledger.documents import KeptTable
from discreet.ledger.names import plain

NUMBER = re.compile(r"[+-]?\d{1,50}(\.\d{0,50})?")  # a key of more digits is no number that anybody writes in two ways


@dataclass(frozen=True, eq=False)
class Numbered:
    """The kept sums of one entry, on their rows; None where they are not stored. `sums`: what they came to."""

    number: int
    table: KeptTable | None
    digest: str | None = None  # of the table and what is kept of it
    sums: Integers | None = None
    witness: Integers | None = None  # some table with these sums; nothing but the sums may be seen of it


def about_to_keep(number: int, table: KeptTable, digest: str | None, counts: Integers | None) -> Numbered:
    """What is not published yet."""
    return Numbered(number, table, digest, None if counts is None else table.matrix @ counts, counts)


@dataclass(frozen=True, eq=False)
class Matched:
    """The same, with names and keys as they are compared."""

    number: int
    table: KeptTable  # as it is written
    sums: Integers | None
    names: Mapping[str, str]  # of key columns: as they are compared, as they are written
    as_written: frozenset[str]  # columns whose keys are compared as they are written
    witness: Integers | None = None

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(self.names)

    @cached_property
    def columns(self) -> dict[str, list[str]]:
        return {
            name: [self._key(name, value) for value in self.table.columns[written]]
            for name, written in self.names.items()
        }

    @cached_property
    def values(self) -> dict[str, frozenset[str]]:
        return {name: frozenset(column) for name, column in self.columns.items()}

    @property
    def kept(self) -> Iterable[Kept]:
        """What is kept, in names and keys as they are compared; matrices belong to the rows and are left out."""
        if self.table.count_as_key:
            return
        name = {written: compared for compared, written in self.names.items()}
        for what in self.table.kept:
            if isinstance(what, Margin):
                yield Margin(tuple(name[one] for one in what.columns))
            elif isinstance(what, SumWhere):
                yield SumWhere(tuple((name[one], self._key(name[one], value)) for one, value in what.where))
            elif isinstance(what, Total):
                yield what
            else:
                assert isinstance(what, Sums)

    def described(self, row: int) -> dict[str, str]:
        """A row by its keys, as they are written."""
        return {written: self.table.columns[written][row] for written in sorted(self.names.values())}

    def _key(self, name: str, value: str) -> str:
        return value if name in self.as_written else compared(value)


@lru_cache(maxsize=100_000)
def compared(value: str) -> str:
    """A key, or a name, in the form in which it is compared."""
    text = plain(value)
    if not NUMBER.fullmatch(text):
        return text
    return str(Fraction(text.removesuffix(".")))


def matched(entries: Sequence[Numbered]) -> list[Matched]:
    """All entries whose tables are stored."""
    found = [(one, one.table) for one in entries if one.table is not None]
    same = all(_distinct(table.columns) for _, table in found)
    names = [{compared(name) if same else name: name for name in table.columns} for _, table in found]
    clashing = frozenset(
        name
        for (_, table), known in zip(found, names)
        for name, written in known.items()
        if not _distinct(table.columns[written])
    )
    return [
        Matched(one.number, table, one.sums, known, clashing, one.witness) for (one, table), known in zip(found, names)
    ]  # fmt: skip


def _distinct(values: Iterable[str]) -> bool:
    """Whether different values stay different."""
    different = set(values)
    return len({compared(value) for value in different}) == len(different)


def count_of(table: KeptTable) -> str:
    """What is counted, by the name of the column."""
    return compared(table.count)


def counts_apart(entries: Sequence[Numbered]) -> list[Numbered]:
    """Where one table has several columns of counts, under one another, others with one of these are written alike."""
    several = [one.table for one in entries if one.table is not None and COUNTED in one.table.columns]
    there = {compared(value) for table in several for value in set(table.columns[COUNTED])}
    found = []
    for one in entries:
        table = one.table
        if several and table is not None and COUNTED not in table.columns and count_of(table) in there:
            columns = {**table.columns, COUNTED: [table.count] * table.rows}
            one = replace(one, table=replace(table, count=several[0].count, columns=columns, count_as_key=True))
        found.append(one)
    return found


def strangers(tables: Sequence[Matched]) -> set[int]:
    """Entries with keys that those before them do not have, while these have others: perhaps the same, spelled anew."""
    known: dict[str, frozenset[str]] = {}
    found = set()
    for one in tables:
        for name, values in one.values.items():
            before = known.get(name, values)
            if not (values <= before or before <= values):
                found.add(one.number)
            known[name] = before | values
    return found
