"""Columns of Arrow, some rows at a time, and in memory of numpy, whose pages are large: to be given small ones takes
longer than to fill them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Flags, Integers
from discreet.errors import Damaged

BLOCK = 1 << 16  # rows at a time, which stay in the cache
WRITTEN_ONCE = 4  # times that a number stands in a batch, at least, if it is worth finding out
UNUSUAL = "a value in it is not a whole number, written in the usual way"
LONGEST_TEXTS = (1 << 31) - 1  # bytes: where a text of Arrow's ends is said in 32 bits
MOST_RESERVED = 1 << 34  # bytes for the columns of a file, each as long as all of it: only what is filled is taken


class Column(Protocol):
    """What becomes a column, piece by piece (arrays of Arrow)."""

    def add(self, piece: Any) -> None: ...

    def array(self) -> Any: ...


class Pieces:
    """Pieces one after the other, as they are."""

    def __init__(self, kind: Any) -> None:
        self._pieces: list[Any] = []
        self._kind = kind

    def add(self, piece: Any) -> None:
        self._pieces.append(piece)

    def array(self) -> Any:
        import pyarrow as pa

        return pa.chunked_array(self._pieces, self._kind)


class WholeNumbers:
    """Whole numbers of 64 bits one after the other; none is missing."""

    def __init__(self, rows: int) -> None:
        """At most so many; what is not filled is not taken."""
        self._values, self._rows = np.empty(rows, dtype=np.int64), 0

    def add(self, piece: Any) -> None:
        self._values[self._rows : self._rows + len(piece)] = piece.to_numpy()
        self._rows += len(piece)

    def array(self) -> Any:
        import pyarrow as pa

        return pa.array(self._values[: self._rows])


class SameAs:
    """What another column is expected to be the same as: it is held a second time only where it is not."""

    def __init__(self, expected: Any, other: Column) -> None:
        self._expected, self._other, self._rows, self._same = expected, other, 0, True

    def add(self, piece: Any) -> None:
        if self._same and self._next(len(piece)).equals(piece):
            self._rows += len(piece)
            return
        for chunk in self._expected.slice(0, self._rows).chunks if self._same else ():
            self._other.add(chunk)
        self._same = False
        self._other.add(piece)

    def _next(self, rows: int) -> Any:
        return self._expected.slice(self._rows, rows).combine_chunks()

    def array(self) -> Any:
        return self._expected.slice(0, self._rows) if self._same else self._other.array()


class Texts:
    """Texts one after the other, as an array of Arrow's; none is missing."""

    def __init__(self, rows: int, size: int) -> None:
        """For at most so many, of so many bytes together; what is not filled is not taken."""
        self._ends, self._letters = np.empty(rows + 1, dtype=np.int32), np.empty(size, dtype=np.uint8)
        self._ends[0] = 0
        self._rows = self._size = 0

    def add(self, piece: Any) -> None:
        """An array of text."""
        rows = len(piece)
        if not rows:
            return
        own, letters = ends_and_letters(piece)
        first, size = int(own[0]), int(own[-1]) - int(own[0])
        np.add(own[1:], self._size - first, out=self._ends[self._rows + 1 : self._rows + rows + 1])
        self._letters[self._size : self._size + size] = letters[first : first + size]
        self._rows, self._size = self._rows + rows, self._size + size

    def array(self) -> Any:
        import pyarrow as pa

        ends, letters = self._ends[: self._rows + 1], self._letters[: self._size]
        return pa.StringArray.from_buffers(self._rows, pa.py_buffer(ends), pa.py_buffer(letters))


def ends_and_letters(texts: Any) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Of an array of text: where the first begins and each ends, among the bytes of all."""
    _, ends, letters = texts.buffers()
    found = np.frombuffer(ends, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return found, np.frombuffer(b"" if letters is None else letters, np.uint8)


def blocks(column: Any) -> Iterator[Any]:
    """A column, some rows at a time."""
    return (column.slice(start, BLOCK) for start in range(0, len(column), BLOCK))


def taken(column: Any, order: Integers) -> Any:
    """The rows of a column (Arrow) in another order."""
    import pyarrow as pa

    if column.null_count or column.num_chunks != 1 or not len(order):
        return column.take(pa.array(order))
    if pa.types.is_integer(column.type):
        return pa.chunked_array([column.to_numpy()[order]], column.type)
    if not pa.types.is_string(column.type) or len(order) != len(column):
        return column.take(pa.array(order))
    found, values = Texts(len(order), column.nbytes), column.chunk(0)
    for start in range(0, len(order), BLOCK):
        found.add(values.take(pa.array(order[start : start + BLOCK])))
    return pa.chunked_array([found.array()])


def most_rows(size: int, header: Sequence[str]) -> int:
    """Of a text of so many bytes: a mark stands after every cell, but perhaps the last."""
    return size // len(header) + 1


def text_columns(size: int, names: Sequence[str]) -> dict[str, Column]:
    """For the cells of a text of so many bytes, all of which may be in any one column."""
    import pyarrow as pa

    if size * len(names) > MOST_RESERVED or size > LONGEST_TEXTS:
        return {name: Pieces(pa.string()) for name in names}
    return {name: Texts(most_rows(size, names), size) for name in names}


def stacked_columns(batches: Iterable[Any], columns: Mapping[str, Column]) -> Any:
    """Batches of rows one below the other."""
    import pyarrow as pa

    for batch in batches:
        for column, piece in zip(columns.values(), batch.columns):
            column.add(piece)
    return pa.table([column.array() for column in columns.values()], names=list(columns))


def beginning_with(texts: Any, bytes_meant: Flags) -> Any:
    """Those of a column of text whose first byte is one of these: cheap to find."""
    import pyarrow as pa

    return pa.chunked_array(
        [_beginning(piece, bytes_meant) for chunk in texts.chunks for piece in blocks(chunk)], texts.type
    )


def _beginning(texts: Any, bytes_meant: Flags) -> Any:
    import pyarrow as pa

    ends, letters = ends_and_letters(texts)
    if not len(letters):
        return texts.slice(0, 0)
    first = letters[np.minimum(ends[:-1], len(letters) - 1)]  # of an empty text, that of the next
    return texts.filter(pa.array(bytes_meant[first]))


def all_as_texts(batch: Any) -> Any:
    """A batch of rows (Arrow) as a table of texts."""
    import pyarrow as pa

    return pa.table([as_texts(column) for column in batch.columns], names=batch.schema.names)


def as_texts(column: Any) -> Any:
    """An array (Arrow) as text. Of whole numbers that lie close together each is written once."""
    import pyarrow as pa

    if not pa.types.is_integer(column.type) or column.null_count or not len(column):
        return column.cast(pa.string())
    values = column.to_numpy()
    least = values.min()
    if int(values.max()) - int(least) > len(values) // WRITTEN_ONCE:
        return column.cast(pa.string())
    places = (values - least).astype(np.int32)
    return pa.array(least + np.arange(places.max() + 1, dtype=values.dtype)).cast(pa.string()).take(pa.array(places))


def numbers_in(texts: Any, name: str) -> Any:
    """The whole numbers that texts are, however they are written."""
    import pyarrow as pa

    try:
        return texts.cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise Damaged(name, UNUSUAL) from error


def whole_numbers(frame: Any, name: str) -> Integers:
    """A column of whole numbers, if they are written as a release writes them: zeros before a number could say what
    it hides."""
    import pyarrow as pa

    column = frame.column(name)
    if not (pa.types.is_int64(column.type) or pa.types.is_string(column.type)) or column.null_count:
        raise Damaged(name, UNUSUAL)
    if pa.types.is_int64(column.type):
        return np.asarray(column.to_numpy())
    values, start = np.empty(len(column), dtype=np.int64), 0
    for piece in (piece for chunk in column.chunks for piece in blocks(chunk)):
        numbers = numbers_in(piece, name)
        if not as_texts(numbers).equals(piece):
            raise Damaged(name, UNUSUAL)
        values[start : start + len(piece)] = numbers.to_numpy()
        start += len(piece)
    return values
