"""In which order rows stand: sorted by their keys, each of which is there once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.errors import BadInput
from discreet.io.rows import AS_THEY_COME, RowNames


def has_order(column: Any) -> bool:
    """Whether Arrow can compare such values: of half floats and some spans of time it cannot."""
    import pyarrow as pa

    try:
        _compared(column.slice(0, 0))
    except pa.ArrowNotImplementedError:
        return False
    return True


def sorting(categories: Any) -> Any:
    import pyarrow.compute as pc

    keys = numbered(categories)
    return pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names]).to_numpy()


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
    import pyarrow.compute as pc

    first, second = column.slice(0, max(len(column) - 1, 0)), column.slice(1)
    return pc.less(first, second).to_numpy(), pc.equal(first, second).to_numpy()


def strictly_ascending(categories: Any) -> bool:
    return categories.num_rows < 2 or bool(_adjacent(categories)[0].all())


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


def refuse_duplicates(ordered: Any, order: Any, names: list[str], rows: RowNames = AS_THEY_COME) -> None:
    if ordered.num_rows < 2:
        return
    _, equal = _adjacent(ordered)
    if equal.any():
        place = int(equal.argmax())
        one, other = sorted(rows.number(int(order[place + side])) for side in (0, 1))
        raise BadInput(
            f"every row must have its own keys ({', '.join(names)})",
            f"rows {one} and {other} have the same",
            "Add up the counts of such rows, or name more key columns",
            rows=(one, other),
        )
