"""Which rows are asked about: those with some values in key columns, together or group by group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput, called, did_you_mean
from discreet.io.coded import coded, coded_texts, key_columns, numbers_of, picked

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Groups of rows that do not meet: the group of each of these rows, and the keys of every group."""

    keys: Any = field(repr=False)  # an Arrow table
    rows: Integers
    of: Integers

    def __len__(self) -> int:
        return int(self.keys.num_rows)

    def weights(self, number: int) -> csr_array:
        """A row for each group, 1 for each of its rows, of so many."""
        from scipy.sparse import csr_array

        ones, shape = np.ones(len(self.rows)), (len(self), number)
        if len(self) == 1:
            return csr_array((ones, self.rows.astype(np.int32), np.array([0, len(self.rows)], np.int32)), shape=shape)
        return csr_array((ones, (self.of, self.rows)), shape=shape)


def require_columns(columns: Sequence[str], known: Sequence[str]) -> None:
    """Refuse columns that the release does not have, or that are named twice."""
    if not columns:
        raise BadInput("totals by groups were asked for", "no key column is named", f"Name one of {', '.join(known)}")
    for name in columns:
        if not isinstance(name, str):
            do = f"Name columns one by one: {', '.join(map(repr, known))}"
            raise BadInput(f"totals by {name!r} were asked for", f"a {type(name).__name__} is not the name of one", do)
        if name not in known:
            raise BadInput(f"totals by {name!r} were asked for", "no such key column", did_you_mean(name, known))
    if len(set(columns)) < len(columns):
        raise BadInput(f"totals by {', '.join(columns)} were asked for", "a column is named twice", "Name it once")


def groups_of(categories: Any, columns: Sequence[str], rows: Integers) -> RowGroups:
    """Of these rows, by the values of some key columns; groups stand as their first rows do."""
    require_columns(columns, categories.column_names)
    code = np.zeros(len(rows), dtype=np.int64)
    for name in columns:
        own, values = coded(categories.column(name))
        code = numbers_of(code * len(values) + own[rows])[0]
    of, first = numbers_of(code)
    return RowGroups(picked({name: (categories.column(name), rows[first]) for name in columns}), rows, of)


def one_by_one(categories: Any, rows: Integers) -> RowGroups:
    """Every row by itself."""
    names = categories.column_names
    return RowGroups(picked({name: (categories.column(name), rows) for name in names}), rows, np.arange(len(rows)))


def sums_of(of: Integers, values: Floats, number: int) -> Floats:
    """The sum of the values of each of so many groups."""
    return np.bincount(of, weights=values, minlength=number).astype(float)


def rows_where(categories: Any, rows: Integers, wanted: Mapping[str, Any]) -> Integers:
    """Those of the rows that have the wanted value in every named column, or one of several values."""
    known = categories.column_names
    if not isinstance(wanted, Mapping):
        found = f"a {type(wanted).__name__} does not say which column has which value"
        raise BadInput("some rows were asked for", found, f"Write where({known[0]}=...)")
    wanted = {name: _several(values) for name, values in wanted.items()}
    asked = _said(wanted)
    if not wanted:
        raise BadInput("some rows were asked for", "no column is named", f"Name one of {', '.join(known)}")
    inside = np.ones(len(rows), dtype=bool)
    for name, values in wanted.items():
        if name not in known:
            found = f"no key column {name!r}"
            raise BadInput(f"rows where {asked} were asked for", found, did_you_mean(str(name), known))
        if not values:
            raise BadInput("some rows were asked for", f"no value of {name!r} is named", "Name one or more")
        column = coded_texts(key_columns(categories, [name])[name])
        places = [_place(column, one, name, asked) for one in values]
        inside &= np.isin(column.codes[rows], places)
    if not inside.any():
        raise BadInput(f"rows where {asked} were asked for", "there are none", "Ask for values that occur together")
    return rows[inside]


def _several(values: Any) -> list[Any]:
    """One value, or as many as there are in a list, an array, a column."""
    return list(values) if isinstance(values, Iterable) and not isinstance(values, (str, bytes)) else [values]


def _place(column: Any, value: Any, name: str, asked: str) -> int:
    place: int | None = column.place(str(value))
    if place is None:
        found = f"no row has {value!r} in the column {name!r}"
        raise BadInput(f"rows where {asked} were asked for", found, did_you_mean(str(value), column.texts.to_pylist()))
    return place


def _said(wanted: Mapping[str, list[Any]]) -> str:
    return " and ".join(f"{name} is {' or '.join(map(str, values))}" for name, values in wanted.items())


def read_where(words: Sequence[str]) -> dict[str, list[str]]:
    """'COL=VALUE' as written on the command line; a column that stands several times may have any of the values."""
    found: dict[str, list[str]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise BadInput(
                f"rows where {word!r} were asked for", "it is not COL=VALUE", f"Write {called('where', like='sex=f')}"
            )
        found.setdefault(name.strip(), []).append(value.strip())
    return found
