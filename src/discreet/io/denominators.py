"""Public denominators, such as a population: a file or frame with some of the key columns and one of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.io.answers import places_of
from discreet.io.frames import to_arrow
from discreet.io.layout import read_frame

MOST_NAMED = 3  # rows that lack one, or have a bad one
ASKED = "rates with a denominator were asked for"


def read_denominators(given: Any, categories: Any, rows: Integers) -> tuple[Integers, Floats, str]:
    """Of each row of the table the place of its denominator, all of these, and the names of those that no row has: they
    do no harm. Only the rows asked about need one."""
    frame = read_frame(given) if isinstance(given, (str, Path)) else to_arrow(given)[0]
    keys = [name for name in frame.column_names if name in categories.column_names]
    others = [name for name in frame.column_names if name not in keys]
    if not keys:
        found = f"none of its columns ({', '.join(frame.column_names)}) is a key column of the release"
        raise BadInput(ASKED, found, f"Name one of them {' or '.join(categories.column_names)}")
    if len(others) != 1:
        found = f"beside {', '.join(keys)} it has {len(others)} columns" + (f": {', '.join(others)}" if others else "")
        raise BadInput(ASKED, found, "Give the key columns and one column of numbers")
    numbers, names = _numbers(frame.column(others[0])), frame.select(keys)
    place = places_of(categories.select(keys), names)
    _refuse_twice(names)
    _refuse_missing(categories.select(keys).take(rows), place[rows])
    used = np.unique(place[rows])
    bad = used[~(numbers[used] > 0) | ~np.isfinite(numbers[used])]
    if len(bad):
        found = f"{others[0]} is no number above 0 for {_named(names, bad)}"
        raise BadInput(ASKED, found, "Give a number above 0, or ask for the other rows")
    return place, numbers, _named(names, np.setdiff1d(np.arange(names.num_rows), place))


def _numbers(column: Any) -> Floats:
    """As floats; what is no number is not a number."""
    import pyarrow as pa

    numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)
    if numeric:
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=float)
    return np.array([_number(str(value)) for value in column.to_pylist()], dtype=float)


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "").strip())
    except ValueError:
        return float("nan")


def _refuse_twice(names: Any) -> None:
    places = places_of(names, names)
    twice = np.flatnonzero(places != np.arange(names.num_rows))
    if len(twice):
        raise BadInput(ASKED, f"{_named(names, twice)} stands twice", "Give each once")


def _refuse_missing(keys: Any, place: Integers) -> None:
    missing = np.flatnonzero(place < 0)
    if len(missing):
        found = f"it has no row for {_named(keys, missing)}"
        raise BadInput(ASKED, found, "Give a denominator for every row, written as in the release")


def _named(keys: Any, rows: Integers) -> str:
    """The first few of them, each once."""
    texts = list(dict.fromkeys(", ".join(map(str, one.values())) for one in keys.take(rows[:1000]).to_pylist()))
    more = f" and {len(texts) - MOST_NAMED} more" if len(texts) > MOST_NAMED else ""
    return "; ".join(texts[:MOST_NAMED]) + more
