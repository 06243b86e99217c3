"""Key columns as numbers, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.arrays import Integers


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
    import pyarrow.compute as pc

    codes, values = _numbered(column)
    order = pc.sort_indices(values.cast(pa.string())).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[codes], values.take(pa.array(order))


def coded_texts(column: Sequence[Any]) -> Coded:
    """The same by the texts of values, as Python writes them: what is written alike is one text."""
    import pyarrow as pa

    if not isinstance(column, KeyColumn):
        return _coded_list([str(value) for value in column])
    codes, values = _numbered(column.values)
    if not (pa.types.is_string(values.type) or pa.types.is_integer(values.type)):
        again, values = _numbered(pa.array([str(value) for value in values.to_pylist()], pa.string()))
        codes = again[codes]
    ranks, texts = coded(values.cast(pa.string()))
    return Coded(texts, ranks[codes])


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

    codes, different = _numbered(pa.array(values))
    first = np.empty(len(different), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return codes, first


def _numbered(column: Any) -> tuple[Integers, Any]:
    """In the order in which values are met."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.dictionary_encode(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
    found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    return found.indices.to_numpy().astype(np.int64), found.dictionary


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
