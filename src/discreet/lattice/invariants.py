"""What is to be kept, said in names, and turned into a sparse 0/1 matrix: a row per kept sum, a column per cell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Flags, Integers
from discreet.errors import BadInput, called, did_you_mean, short
from discreet.io.coded import Coded, coded_texts, labels_of, numbers_of
from discreet.options import known_only, listed, spelt

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Keys = Mapping[str, Sequence[Any]]
WRITTEN = 'Write "total", {margin = ["county"]} or {sum = {sex = "f"}}, texts all'  # in a file
MOST_EMPTY = 8  # combinations of values for every cell that may be looked through, to number those that occur


@dataclass(frozen=True)
class Total:
    """The sum of all cells."""

    def __str__(self) -> str:
        return "total"


@dataclass(frozen=True)
class Margin:
    """One sum for every combination of values of these columns."""

    columns: tuple[str, ...]

    def __str__(self) -> str:
        return "margin:" + ",".join(self.columns)


@dataclass(frozen=True)
class SumWhere:
    """The sum of the cells in which every named column has the given value."""

    where: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "sum:" + ",".join(f"{column}={value}" for column, value in self.where)


@dataclass(frozen=True)
class Sums:
    """Any sums: a 0/1 matrix, a row per sum and a column per cell."""

    rows: tuple[tuple[int, ...], ...]
    name: str = "matrix"

    def __str__(self) -> str:
        return self.name


Kept = Total | Margin | SumWhere | Sums


@spelt
def total() -> Total:
    """Keep the sum of all cells."""
    return Total()


def margin(*columns: str, **named: str) -> Margin:
    """Keep the sum for every combination of values of these columns; they are given one after the other."""
    if named:
        known_only(named, (), "the option")
    if not columns:
        raise BadInput("a margin was asked for", "no column is named", 'Write margin("county"), or total()')
    if len(set(columns)) < len(columns):
        raise BadInput(f"a margin over {', '.join(columns)} was asked for", "a column is named twice")
    return Margin(tuple(columns))


def sum_where(**where: object) -> SumWhere:
    """Keep one sum: `sum_where(sex="female", age="old")`."""
    if not where:
        raise BadInput("a sum was asked for", "no column is named", 'Write sum_where(sex="female"), or total()')
    return SumWhere(tuple((column, str(value)) for column, value in where.items()))


@spelt
def sums(matrix: Any, name: str = "matrix") -> Sums:
    """Keep any sums, given as a 0/1 matrix with a row per sum and a column per cell."""
    dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    try:
        rows = [list(row) for row in dense]
    except TypeError as error:
        found = f"{short(matrix)} is no matrix"
        raise BadInput(f"the sums of {name} were to be kept", found, "Give rows of 0 and 1") from error
    if not rows or not rows[0]:
        raise BadInput(f"the sums of {name} were to be kept", "the matrix is empty")
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise BadInput(
                f"the sums of {name} were to be kept", f"row {i + 1} has {len(row)} entries, row 1 {len(rows[0])}"
            )
        for j, entry in enumerate(row):
            if entry not in (0, 1):
                raise BadInput(
                    f"the sums of {name} were to be kept",
                    f"row {i + 1}, column {j + 1} is {entry}",
                    "An invariant is a plain sum of cells: every entry must be 0 or 1",
                )
        if not any(row):
            raise BadInput(f"the sums of {name} were to be kept", f"row {i + 1} is the sum of no cell")
    return Sums(tuple(tuple(int(entry) for entry in row) for row in rows), name)


def parse_keep(text: str, folder: Path | None = None) -> Kept:
    """What the command line calls `WHAT`: total, margin:A,B, sum:COL=VALUE,.. or a file with a 0/1 matrix."""
    file = Path(text) if folder is None else folder / text
    if (
        text != "total" and not text.startswith(("margin:", "sum:")) and os.path.isfile(file)
    ):  # no name is too odd for it
        from discreet.io.files import read_matrix

        return sums(read_matrix(file), file.name)
    return parse_name(text)


def kept_list(given: Any) -> tuple[Kept, ...]:
    """Whatever was given to keep, as a list: one value may stand without one, and words are understood."""
    items = listed(given, (str, Total, Margin, SumWhere, Sums))
    return tuple(dict.fromkeys(_kept(item) for item in items))


def _kept(item: Any) -> Kept:
    if isinstance(item, str):
        return parse_keep(item)
    if not isinstance(item, (Total, Margin, SumWhere, Sums)):
        raise BadInput(
            f"a {type(item).__name__} was to be kept",
            "it names no sum",
            'Write total(), margin("county"), sum_where(sex="f"), sums(matrix), or the same in words',
        )
    return item


def parse_name(text: str) -> Kept:
    """total, margin:A,B or sum:COL=VALUE,.."""
    kind, colon, rest = text.partition(":")
    if text == "total":
        return total()
    if kind == "margin" and colon:
        return margin(*(part.strip() for part in rest.split(",") if part.strip()))
    if kind == "sum" and colon:
        pairs = [part.partition("=") for part in rest.split(",") if part.strip()]
        if not pairs or not all(equals and column.strip() for column, equals, _ in pairs):
            raise BadInput(
                f"{called('keep')} {short(text)} was asked for",
                "a sum is named by COLUMN=VALUE",
                "Write sum:sex=female,age=old",
            )
        return SumWhere(tuple((column.strip(), value.strip()) for column, _, value in pairs))
    raise BadInput(
        f"{called('keep')} {short(text)} was asked for",
        "it is neither total, margin:COLUMN, sum:COLUMN=VALUE nor a file",
        did_you_mean(kind, ["total", "margin", "sum"]),
    )


def kept_json(what: Kept) -> str | dict[str, object]:
    """A name where it can be read back, otherwise what it stands for."""
    if isinstance(what, Sums):
        return {"name": what.name, "matrix": [list(row) for row in what.rows]}
    with suppress(BadInput):
        if parse_name(str(what)) == what:
            return str(what)
    assert not isinstance(what, Total)
    return {"margin": list(what.columns)} if isinstance(what, Margin) else {"sum": dict(what.where)}


def kept_of(value: Any) -> Kept:
    """What `kept_json` wrote; nothing is read from a file."""
    if isinstance(value, str):
        return parse_name(value)
    named = set(value) if isinstance(value, Mapping) else set()
    if named == {"margin"} and isinstance(value["margin"], list) and _all_text(value["margin"]):
        return margin(*value["margin"])
    if named == {"sum"} and isinstance(value["sum"], Mapping) and value["sum"] and _all_text(value["sum"].values()):
        return SumWhere(tuple(value["sum"].items()))
    if named == {"name", "matrix"}:
        return sums(value["matrix"], value["name"])
    raise BadInput(f"{short(value)} was to be kept", "it names no sum", WRITTEN)


def _all_text(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


@dataclass(frozen=True, eq=False)
class Invariants:
    """Kept sums as a matrix. `needed` are the rows that the others do not imply by their names alone."""

    matrix: csr_array
    labels: tuple[str, ...]
    kept: tuple[Kept, ...]
    needed: Integers

    @property
    def cells(self) -> int:
        return int(self.matrix.shape[1])

    @property
    def needed_matrix(self) -> csr_array:
        """The rows of the matrix that are needed."""
        everything = len(self.needed) == self.matrix.shape[0]
        return self.matrix if everything else self.matrix[self.needed]

    def sums(self, counts: Integers) -> Integers:
        """What the table publishes exactly."""
        return np.asarray(self.matrix @ counts, dtype=np.int64)


def two_rows_each(kept: tuple[Kept, ...], labels: tuple[str, ...]) -> Invariants:
    """Sums that do not meet, of two rows each: of rows in parts no promise depends on more than that."""
    from scipy.sparse import csr_array, eye_array, hstack

    unit = eye_array(len(labels), dtype=np.int64, format="csr")
    return Invariants(csr_array(hstack([unit, unit])), labels, kept, np.arange(len(labels)))


def invariant_matrix(
    keep: Iterable[Kept | str], key_columns: Keys, rows: int | None = None, *, some: bool = True
) -> Invariants:
    """The kept sums of a table whose row i has the keys key_columns[..][i], in the order they were asked for. There
    must be some, unless it is said that there need not be."""
    from scipy.sparse import csr_array, vstack

    cells = _cells(key_columns, rows)
    kept = kept_list(keep)
    if not kept and some:
        raise BadInput(
            "invariants were asked for", "nothing to keep is named", "Keep total, margin:COLUMN or sum:COLUMN=VALUE"
        )
    if not kept:
        return Invariants(csr_array((0, cells), dtype=np.int64), (), (), np.zeros(0, dtype=np.int64))
    keys = _named(kept, key_columns)
    labels: list[str] = []
    blocks, needed, start = [], [], 0
    for item in kept:
        block, names = _block(item, keys, cells)
        blocks.append(csr_array(block))
        labels += names
        if not _implied(item, kept):
            needed.append(np.arange(start, start + len(names)))
        start += len(names)
    matrix = blocks[0] if len(blocks) == 1 else csr_array(vstack(blocks))
    return Invariants(matrix, tuple(labels), kept, np.concatenate(needed))


def _named(kept: tuple[Kept, ...], key_columns: Keys) -> dict[str, Coded]:
    """The columns that are named, coded."""
    names = [name for item in kept if isinstance(item, Margin) for name in item.columns]
    names += [name for item in kept if isinstance(item, SumWhere) for name, _ in item.where]
    for name in names:
        if name not in key_columns:
            raise BadInput(
                f"something kept names the column {name!r}",
                "the table has no such key column",
                did_you_mean(name, key_columns),
            )
    return {name: coded_texts(key_columns[name]) for name in dict.fromkeys(names)}


def _cells(keys: Keys, rows: int | None) -> int:
    lengths = {len(column) for column in keys.values()} | ({rows} if rows is not None else set())
    if len(lengths) != 1:
        raise BadInput(
            "invariants of a table were asked for", f"its key columns have different lengths: {sorted(lengths)}"
        )
    (cells,) = lengths
    if cells == 0:
        raise BadInput("invariants of a table were asked for", "the table has no rows")
    return cells


def _block(item: Kept, keys: dict[str, Coded], cells: int) -> tuple[Any, Sequence[str]]:
    """The rows of one thing kept, and the name of each."""
    from scipy.sparse import csr_array

    if isinstance(item, Total):
        return csr_array(np.ones((1, cells), dtype=np.int64)), ["total"]
    if isinstance(item, Margin):
        columns = [keys[name] for name in item.columns]
        groups, places = _groups(columns)
        named = {name: (column.texts, own) for name, column, own in zip(item.columns, columns, places)}
        return _disjoint(groups, len(places[0])), labels_of(named)
    if isinstance(item, SumWhere):
        chosen = rows_where(item, keys, cells, "kept")
        return csr_array(chosen.astype(np.int64)[None, :]), [str(item)[4:]]
    width = len(item.rows[0])
    if width != cells:
        raise BadInput(f"the sums of {item.name} were to be kept", f"they have {width} columns, the table {cells} rows")
    block = csr_array(np.array(item.rows, dtype=np.int64))
    return block, [f"{item.name} row {i + 1}" for i in range(len(item.rows))]


def rows_where(item: SumWhere, keys: Mapping[str, Coded], cells: int, to_be: str) -> Flags:
    """Which cells a sum adds up; refused where there are none."""
    chosen: Flags = np.ones(cells, dtype=bool)
    for name, value in item.where:
        known = keys[name]
        place = known.place(value)
        if place is None:
            near = did_you_mean(value, known.texts.to_pylist())
            raise BadInput(f"{item} was to be {to_be}", f"no row has {name} = {value!r}", near)
        chosen &= known.codes == place
    if not chosen.any():
        found = "no row of the table has all of these values: it is the sum of no cell"
        raise BadInput(f"{item} was to be {to_be}", found)
    return chosen


def _disjoint(groups: Integers, number: int) -> csr_array:
    """A row per group, a column per cell."""
    from scipy.sparse import csc_array, csr_array

    cells = len(groups)
    first = np.concatenate([[0], np.flatnonzero(groups[1:] != groups[:-1]) + 1])
    starts, sizes = np.zeros((2, number), dtype=np.int32)
    if len(first) == number:
        starts[groups[first]], sizes[groups[first]] = first, np.diff(first, append=cells)
    if number and sizes.sum() == cells:  # the cells of each stand together
        ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        own = np.arange(cells, dtype=np.int32)
        own += np.repeat(starts - ends[:-1], sizes)
        return csr_array((np.ones(cells, dtype=np.int64), own, ends), (number, cells))
    places = groups.astype(np.int32), np.arange(cells + 1, dtype=np.int32)
    return csc_array((np.ones(cells, dtype=np.int64), *places), shape=(number, cells)).tocsr()


def _groups(columns: list[Coded]) -> tuple[Integers, list[Integers]]:
    """A group number for every cell; and for every column the number of each group's text."""
    groups, places = columns[0].codes, [np.arange(len(columns[0].texts))]
    for column in columns[1:]:
        size = len(column.texts)
        groups, there = _occurring(groups * size + column.codes, len(places[0]) * size)
        places = [*(own[there // size] for own in places), there % size]
    return groups, places


def _occurring(codes: Integers, number: int) -> tuple[Integers, Integers]:
    """Numbers below `number` as places among those that occur, and those, ascending."""
    if number > MOST_EMPTY * len(codes):
        groups, first = numbers_of(codes)
        order = np.argsort(codes[first])
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return place[groups], codes[first[order]]
    occurs = np.bincount(codes, minlength=number) > 0
    return (np.cumsum(occurs) - 1)[codes], np.flatnonzero(occurs)


def _implied(item: Kept, kept: tuple[Kept, ...]) -> bool:
    """Whether another thing kept gives it away: a finer margin, or the same margin named before."""
    if isinstance(item, Sums):
        return False
    columns = (
        set(item.columns)
        if isinstance(item, Margin)
        else set(dict(item.where))
        if isinstance(item, SumWhere)
        else set()
    )
    margins = [(set(other.columns), other) for other in kept if isinstance(other, Margin) and other != item]
    if isinstance(item, Margin):
        before = kept[: kept.index(item)]
        return any(columns < other or (columns == other and margin in before) for other, margin in margins)
    return any(columns <= other for other, _ in margins)
