"""In which order rows stand: sorted by their keys, each of which is there once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.io.columns import BLOCK, blocks, taken
from discreet.io.rows import AS_THEY_COME, NAMED, RowNames

SLOTS_A_ROW = 2  # where rows are put into slots: more of them take longer than sorting
LOOKED_AT = 1000  # rows like the one before them: of a crosstab every pair is there for every column
WORTH_SLOTS = 1 << 14  # rows: of fewer, sorting takes no time


def has_order(column: Any) -> bool:
    """Whether Arrow can compare such values: of half floats and some spans of time it cannot."""
    import pyarrow as pa

    try:
        _compared(column.slice(0, 0))
    except pa.ArrowNotImplementedError:
        return False
    return True


def in_order(categories: Any, names: list[str], rows: RowNames = AS_THEY_COME) -> tuple[Any, Any]:
    """The rows in the order of their keys, and their places before; refused if two have the same."""
    order = _by_slots(categories) if categories.num_rows >= WORTH_SLOTS else None
    if order is not None:
        return _taken(categories, order), order
    order = _sorting(categories)
    ordered = _taken(categories, order)
    _refuse_duplicates(ordered, order, names, rows)
    return ordered, order


def _taken(categories: Any, order: Any) -> Any:
    columns = [taken(column, order) for column in categories.columns]
    return type(categories).from_arrays(columns, names=categories.column_names)


def _sorting(categories: Any) -> Any:
    import pyarrow.compute as pc

    keys = numbered(categories)
    return pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names]).to_numpy()


def _by_slots(categories: Any) -> Any:
    """Without sorting rows, where keys are dense: every combination of values has a slot, every row goes into its own.
    None where there are too many slots, where two rows meet in one, or where values may be alike and not the same."""
    import pyarrow.compute as pc

    short = SLOTS_A_ROW * categories.num_rows < 1 << 31  # half the memory
    slots, where = 1, np.zeros(categories.num_rows, dtype=np.int32 if short else np.int64)
    for column in categories.columns:
        if not _is_exact(column):
            return None
        coded = column.dictionary_encode().unify_dictionaries()
        values = coded.chunk(0).dictionary
        if slots * len(values) > SLOTS_A_ROW * len(where):
            return None
        places = np.empty(len(values), dtype=where.dtype)
        places[pc.sort_indices(values).to_numpy()] = np.arange(len(values))
        where *= len(values)
        _add_places(where, places, coded.chunks)
        slots *= len(values)
        del coded
    rows = np.full(slots, -1, dtype=where.dtype)
    rows[where] = np.arange(len(where), dtype=where.dtype)
    found = rows if slots == len(where) and rows.min() >= 0 else rows[rows >= 0]
    return found if len(found) == len(where) else None


def _add_places(where: Any, places: Any, chunks: list[Any]) -> None:
    """To each row the place of its value: some at a time, without memory for all of them."""
    start = 0
    for piece in (piece for chunk in chunks for piece in blocks(chunk.indices)):
        where[start : start + len(piece)] += places[piece.to_numpy()]
        start += len(piece)


def _is_exact(column: Any) -> bool:
    """Whether values are the same if they are equal: of floats, zero is minus zero."""
    import pyarrow as pa

    return not column.null_count and bool(pa.types.is_string(column.type) or pa.types.is_integer(column.type))


def numbered(categories: Any) -> Any:
    """With names of our own: Arrow takes a name that begins with a point or a bracket for a path."""
    return categories.rename_columns([f"key {place}" for place in range(categories.num_columns)])


def _adjacent(categories: Any) -> tuple[Any, Any]:
    """For neighbouring rows: whether the first is less, and whether they are equal."""
    less = np.zeros(categories.num_rows - 1, dtype=bool)
    equal = np.ones(categories.num_rows - 1, dtype=bool)
    for name in categories.column_names:
        smaller, same = _compared(categories.column(name))
        less |= equal & smaller
        equal &= same
    return less, equal


def _compared(column: Any) -> tuple[Any, Any]:
    """The same of one column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    first, second = column.slice(0, max(len(column) - 1, 0)), column.slice(1)
    if pa.types.is_integer(column.type) and not column.null_count:  # which numpy has at once, without copying them
        one, other = first.to_numpy(), second.to_numpy()
        return one < other, one == other
    return pc.less(first, second).to_numpy(), pc.equal(first, second).to_numpy()


def strictly_ascending(categories: Any) -> bool:
    """Some rows at a time, which stay in the cache."""
    blocks = (categories.slice(start, BLOCK + 1) for start in range(0, max(categories.num_rows - 1, 1), BLOCK))
    return all(map(_ascends, blocks))


def _ascends(categories: Any) -> bool:
    open_ = np.ones(max(categories.num_rows - 1, 0), dtype=bool)  # neighbours that are equal so far
    for column in categories.columns:
        less, equal = _compared(column)
        if not (less | equal | ~open_).all():
            return False
        open_ &= equal
    return not open_.any()


def may_be_ascending(categories: Any) -> bool:
    """Whether rows read from a file ascend: CSV does not tell numbers from text, so either order of them will do.

    A column that ascends as text is taken as text: what is equal then is equal as numbers too, so that no more pairs
    of rows are left for the next columns to tell apart than if it had been taken as numbers.
    """
    open_ = np.ones(max(categories.num_rows - 1, 0), dtype=bool)  # neighbours that are equal so far
    for column in categories.columns:
        for reading in _readings(column):
            less, equal = _compared(reading)
            if (less | equal)[open_].all():
                open_ &= equal
                break
        else:
            return False
    return not open_.any()


def _readings(column: Any) -> Iterator[Any]:
    """A column as it is; then, if somebody asks for more, as the numbers that it may hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    yield column
    for kind in (pa.int64(), pa.float64()) if pa.types.is_string(column.type) else ():
        try:
            yield pc.cast(column, kind)
            return
        except pa.ArrowInvalid:
            continue


def _refuse_duplicates(ordered: Any, order: Any, names: list[str], rows: RowNames) -> None:
    if ordered.num_rows < 2:
        return
    _, equal = _adjacent(ordered)
    if not equal.any():
        return
    places = np.flatnonzero(equal)[:LOOKED_AT].tolist()
    pairs = list(dict.fromkeys(tuple(sorted(rows.number(int(order[one + side])) for side in (0, 1))) for one in places))
    told = [f"rows {one} and {other} have the same keys" for one, other in pairs[:NAMED]]
    raise BadInput(
        f"every row must have its own keys ({', '.join(names)})",
        "; ".join([*told, *(["and others"] if len(pairs) > NAMED else [])]),
        "Add up the counts of such rows, or name more key columns",
        rows=pairs[0],
    )
