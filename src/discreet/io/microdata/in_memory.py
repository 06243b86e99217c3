"""Microdata in memory, and those of a lazy frame whose categories are counted before they come here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.io.microdata import NAMELESS, SIZE, category, refuse_nested
from discreet.io.microdata.ranks import ranked_rows


@dataclass(frozen=True, eq=False)
class InMemory:
    """An Arrow table with a row for each row."""

    table: Any
    kind: str

    @property
    def columns(self) -> list[str]:
        return list(self.table.column_names)

    @property
    def tells_capitals(self) -> bool:
        return True

    def grouped(self, names: list[str], person: str | None) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        found = _texts(self._chosen(names), names)
        absent = pa.array(np.zeros(found.num_rows, dtype=np.int64))
        if person is not None:
            column = self.table.column(person)
            empty = pc.equal(_text(column, person), "")
            absent = pc.or_(pc.is_null(column, nan_is_null=True), empty).cast(pa.int64())
        return summed(found.append_column(NAMELESS, absent), len(names), [SIZE, NAMELESS])

    def bounded(self, names: list[str], person: str, bound: int, key: bytes) -> Any:
        return bounded(_texts(self._chosen([person, *names]), [person, *names]), bound, key)

    def _chosen(self, names: list[str]) -> Any:
        import pyarrow as pa

        ones = pa.array(np.ones(self.table.num_rows, dtype=np.int64))
        columns = [self.table.column(name) for name in names]
        return pa.table([*columns, ones], names=[*(category(place) for place in range(len(names))), SIZE])


@dataclass(frozen=True, eq=False)
class Lazily:
    """A lazy frame that narwhals knows: it counts each category, or each category of each person, in its own way."""

    frame: Any
    kind: str

    @property
    def columns(self) -> list[str]:
        return list(self.frame.collect_schema().names())

    @property
    def tells_capitals(self) -> bool:
        return self.kind == "polars"

    def grouped(self, names: list[str], person: str | None) -> Any:
        import narwhals as nw

        absent = nw.lit(0) if person is None else nw.when(self._nameless(person)).then(1).otherwise(0)
        return summed(self._counted(names, absent), len(names), [SIZE, NAMELESS])

    def bounded(self, names: list[str], person: str, bound: int, key: bytes) -> Any:
        import narwhals as nw

        return bounded(self._counted([person, *names], nw.lit(0)).drop_columns([NAMELESS]), bound, key)

    def _nameless(self, person: str) -> Any:
        import narwhals as nw

        kind, column = self.frame.collect_schema()[person], nw.col(person)
        if kind == nw.String:
            return column.is_null() | (column == "")
        return column.is_null() | column.is_nan() if kind.is_float() else column.is_null()

    def _counted(self, names: list[str], absent: Any) -> Any:
        import narwhals as nw
        import pyarrow as pa

        keys = [category(place) for place in range(len(names))]
        chosen = [nw.col(name).alias(key) for name, key in zip(names, keys)]
        totals = [nw.len().alias(SIZE), nw.col(NAMELESS).sum()]
        groups = self.frame.select(*chosen, absent.alias(NAMELESS)).group_by(keys).agg(*totals)
        found = _texts(groups.collect(backend="pyarrow").to_native(), names)
        whole = [found[name].cast(pa.int64()) for name in (SIZE, NAMELESS)]
        return pa.table([*(found[key] for key in keys), *whole], names=[*keys, SIZE, NAMELESS])


def bounded(rows: Any, bound: int, key: bytes) -> Any:
    """From the rows of every person in every category to those that are counted; the person stands in column 0."""
    import pyarrow as pa

    if rows.num_rows == 0:
        return rows.drop_columns([category(0)]).rename_columns(_without_person(rows.num_columns - 2))
    keys = rows.num_columns - 1
    rows = summed(rows, keys, [SIZE])
    sizes = rows[SIZE].to_numpy()
    owners = rows[category(0)].combine_chunks().dictionary_encode().indices.to_numpy()
    over = np.flatnonzero(np.bincount(owners, weights=sizes)[owners] > bound)
    counts = sizes.copy()
    counts[over] = _smallest(rows.take(pa.array(over)), keys, owners[over], sizes[over], bound, key)
    categories = [rows[category(place)] for place in range(1, keys)]
    return summed(pa.table([*categories, pa.array(counts)], names=_without_person(keys - 1)), keys - 1, [SIZE])


def _without_person(keys: int) -> list[str]:
    return [*(category(place) for place in range(keys)), SIZE]


def _smallest(rows: Any, keys: int, owners: Integers, sizes: Integers, bound: int, key: bytes) -> Integers:
    """How many of each group's rows are among the `bound` of smallest rank of their person."""
    place, words = ranked_rows(key, [rows[category(k)] for k in range(keys)], sizes)
    order = np.lexsort((words, owners[place]))
    sorted_owners = owners[place][order]
    starts = np.flatnonzero(np.r_[True, sorted_owners[1:] != sorted_owners[:-1]]) if len(order) else order
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    return np.bincount(place[order[rank < bound]], minlength=len(sizes))


def _texts(found: Any, names: list[str]) -> Any:
    """With the first columns, which the user calls by these names, as text."""
    for place, name in enumerate(names):
        found = found.set_column(place, category(place), _text(found.column(place), name))
    return found


def _text(column: Any, name: str) -> Any:
    """As text; a missing value is the empty text, and minus zero is zero."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0, column.type))
    try:
        return column.cast(pa.string()).fill_null("")
    except pa.ArrowException as error:  # lists, or bytes that are no text
        raise refuse_nested(name, str(column.type)) from error


def summed(found: Any, keys: int, sums: list[str]) -> Any:
    """Rows of equal texts put together."""
    names = [category(place) for place in range(keys)]
    groups = found.group_by(names).aggregate([(name, "sum") for name in sums])
    return groups.select([*names, *(f"{name}_sum" for name in sums)]).rename_columns([*names, *sums])
