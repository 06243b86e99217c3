"""Key columns as numbers, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.arrays import Integers

SLOTS_A_ROW = 2  # of whole numbers: more take longer than to look each up


@dataclass(frozen=True, eq=False)
class KeyColumn(Sequence[Any]):
    """The values of one key column, row by row, as they are held by Arrow."""

    values: Any = field(repr=False)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, row: Any) -> Any:
        return self.values[row].as_py()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values.to_pylist())


@dataclass(frozen=True, eq=False)
class Coded:
    """The texts of a key column, each once and sorted (an Arrow array), and of each row the number of its text."""

    texts: Any
    codes: Integers

    def place(self, text: str) -> int | None:
        """The number of a text, if it is there."""
        import pyarrow as pa

        try:
            wanted = pa.scalar(text, self.texts.type)
        except (UnicodeEncodeError, pa.ArrowInvalid):  # what no text of a table can be
            return None
        found = self.texts.index(wanted).as_py()
        return None if found < 0 else int(found)


def key_columns(categories: Any, names: Sequence[str] | None = None) -> dict[str, KeyColumn]:
    """The key columns of a table (Arrow) by their names: these, or all."""
    wanted = categories.column_names if names is None else names
    return {name: KeyColumn(categories.column(name)) for name in wanted}


def coded(column: Any) -> tuple[Integers, Any]:
    """The number of each row's value, and the values, sorted as text: a file holds nothing else."""
    import pyarrow as pa

    codes, values = _numbered(column)
    order, rank = _ranked(values.cast(pa.string()))
    return rank[codes], values.take(pa.array(order))


def _ranked(texts: Any) -> tuple[Integers, Integers]:
    """The places of texts in their order, and of each its place in it."""
    import pyarrow.compute as pc

    order = pc.sort_indices(texts).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return order, rank


def coded_texts(column: Sequence[Any]) -> Coded:
    """The same by the texts of values, as Python writes them: what is written alike is one text."""
    import pyarrow as pa

    if not isinstance(column, KeyColumn):
        return _coded_list([str(value) for value in column])
    codes, values = _numbered(column.values)
    if not (pa.types.is_string(values.type) or pa.types.is_integer(values.type)):
        again, values = _numbered(pa.array([str(value) for value in values.to_pylist()], pa.string()))
        codes = again[codes]
    texts = values.cast(pa.string())  # each once: no two whole numbers are written alike
    order, rank = _ranked(texts)
    return Coded(texts.take(pa.array(order)), rank[codes])


def _coded_list(column: list[str]) -> Coded:
    """Of Python's texts, which may hold what is no character and no column of Arrow can hold."""
    import pyarrow as pa

    texts = sorted(set(column))
    place = {text: number for number, text in enumerate(texts)}
    codes = np.fromiter((place[text] for text in column), dtype=np.int64, count=len(column))
    return Coded(pa.array([text.encode(errors="backslashreplace").decode() for text in texts], pa.string()), codes)


def texts_of(column: Sequence[Any]) -> list[str]:
    """The text of each row."""
    import pyarrow as pa

    if not isinstance(column, KeyColumn):
        return [str(value) for value in column]
    found = coded_texts(column)
    texts: list[str] = found.texts.take(pa.array(found.codes)).to_pylist()
    return texts


def numbers_of(values: Any) -> tuple[Integers, Integers]:
    """Numbers for equal values of a numpy array, in the order in which they are met; and where each is met first."""
    import pyarrow as pa

    if values.dtype.kind in "iu" and (values[1:] >= values[:-1]).all():
        return _in_order(values)
    codes, different = _numbered(pa.array(values))
    first = np.empty(len(different), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    if (first[1:] > first[:-1]).all():
        return codes, first
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place[codes], first[order]


def _in_order(values: Any) -> tuple[Integers, Integers]:
    """The same of numbers that ascend: each begins where it differs from the one before."""
    first = np.flatnonzero(values[1:] != values[:-1]) + 1
    first = np.concatenate([np.zeros(min(1, len(values)), dtype=np.int64), first])
    return np.repeat(np.arange(len(first)), np.diff(first, append=len(values))), first


def _numbered(column: Any) -> tuple[Integers, Any]:
    """The number of each row's value, and the values, each once."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_integer(column.type) and not column.null_count and len(column):
        values = column.to_numpy()
        if (values[1:] >= values[:-1]).all():
            codes, first = _in_order(values)
            return codes, pa.array(values[first], column.type)
        least, most = int(values.min()), int(values.max())
        if most - least < SLOTS_A_ROW * len(values):
            return _by_slots(values, least, most, column.type)
    found = pc.dictionary_encode(column)
    return found.indices.to_numpy().astype(np.int64), found.dictionary


def _by_slots(values: Any, least: int, most: int, kind: Any) -> tuple[Integers, Any]:
    """The same of whole numbers that lie close together: each has a slot, and nothing is looked up."""
    import pyarrow as pa

    wide = values.astype(np.uint64 if least >= 0 else np.int64)  # as wide as any difference
    slot = (wide - wide.dtype.type(least)).astype(np.int64)
    there = np.zeros(most - least + 1, dtype=bool)
    there[slot] = True
    occurring = np.flatnonzero(there).astype(wide.dtype) + wide.dtype.type(least)
    return slot if there.all() else (np.cumsum(there) - 1)[slot], pa.array(occurring.astype(values.dtype), kind)


def labels_of(named: Mapping[str, tuple[Any, Integers]]) -> tuple[str, ...]:
    """'column=text,column=text', for as many things as each column has places in its texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pairs = [
        pc.binary_join_element_wise(f"{name}=", texts.take(pa.array(places)), "")
        for name, (texts, places) in named.items()
    ]
    return tuple(pc.binary_join_element_wise(*pairs, ",").to_pylist())


def picked(columns: Mapping[str, tuple[Any, Integers]]) -> Any:
    """An Arrow table of some values of each column, by their places."""
    import pyarrow as pa

    return pa.table({name: values.take(pa.array(places)) for name, (values, places) in columns.items()})
