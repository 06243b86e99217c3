"""The public set of rows: read, and filled with the counts of a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, unread
from discreet.io.frames import as_text, to_arrow
from discreet.io.key_columns import must_have, plain, with_texts
from discreet.io.layout import Read, read_given
from discreet.io.row_order import in_order, numbered
from discreet.io.rows import AS_THEY_COME, RowNames
from discreet.io.totals import TotalsRule, without_totals


def universe_of(universe: Any, categories: Any, rule: TotalsRule) -> tuple[Any, int]:
    names = list(categories.column_names)
    every = read_universe(universe, names)
    stays = without_totals(every, names, rule)
    return (every, 0) if stays is None else (every.filter(stays), int((~stays).sum()))


def read_universe(universe: Any, names: Sequence[str]) -> Any:
    """The public set of rows: a frame or file with the key columns, or lists of values whose combinations are meant."""
    import pyarrow as pa

    named = AS_THEY_COME
    if isinstance(universe, (str, Path)) and Path(universe).suffix.lower() == ".json":
        try:
            universe = json.loads(Path(universe).read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            raise BadInput(f"the universe was to be read from {universe}", unread(error)) from error
    if isinstance(universe, dict):
        missing = next((name for name in names if name not in universe), None)
        if missing is not None:
            raise BadInput("a universe was given", f"it has no list of values for the key column {missing!r}")
        wrong = next((name for name in names if not isinstance(universe[name], (list, tuple))), None)
        if wrong is not None:
            raise BadInput("a universe was given", f"the values of the key column {wrong!r} are not a list")
        rows = list(product(*(universe[name] for name in names)))
        frame = pa.table({name: as_text([row[k] for row in rows]) for k, name in enumerate(names)})
    else:
        given = read_given(universe) if isinstance(universe, (str, Path)) else Read(to_arrow(universe)[0])
        frame, named = given.frame, given.rows
    for name in names:
        must_have(name, frame.column_names, "key column of the universe")
    try:
        categories = plain(with_texts(frame, names).select(list(names)), named)
        in_order(categories, list(names), named)  # which refuses a row that is there twice
    except BadInput as error:
        _, found, do = error.parts
        raise BadInput("a universe was given", found, do, **error.values) from error
    return categories


def filled_from(
    categories: Any, counts: Integers, universe: Any, names: list[str], named: RowNames = AS_THEY_COME
) -> tuple[Any, Integers]:
    """The rows of the universe with their counts, zero where the table has none; rows outside it are refused."""
    import pyarrow as pa

    try:
        universe = universe.cast(categories.schema)
        known = numbered(universe).append_column("place", pa.array(np.arange(universe.num_rows)))
        rows = numbered(categories).append_column("row", pa.array(np.arange(len(counts))))
        found = rows.join(known, rows.column_names[:-1], join_type="left outer")
    except pa.ArrowException as error:
        raise BadInput("a universe was given", "its key columns are of another type than the table's") from error
    found = found.sort_by("row")
    places = found.column("place")
    if places.null_count:
        row = named.number(int(places.is_null().to_numpy().argmax()))
        raise BadInput(
            "a universe was given", f"row {row} of the table is not in it", "Add it, or correct its keys", row=row
        )
    if found.num_rows != len(counts) or len(np.unique(places.to_numpy())) != len(counts):
        in_order(categories, names, named)
    filled = np.zeros(universe.num_rows, dtype=np.int64)
    filled[places.to_numpy()] = counts
    return universe, filled
