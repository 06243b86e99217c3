"""Further tables of a release: sums of its counts by some of its key columns. The same cell has one number in all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import Damaged
from discreet.io.frames import file_kind

if TYPE_CHECKING:
    from discreet.record.release import ReleaseRecord

MOST_VIEWS = 50  # tables beside the first: whoever checks a folder adds up every one of them


def view_of(categories: Any, keys: tuple[str, ...], counts: Integers) -> tuple[Any, Integers]:
    """The rows of a margin, sorted by their keys, and its counts."""
    import pyarrow as pa

    plain = categories.select(list(keys))
    grouped = plain.append_column(" counts", pa.array(counts)).group_by(list(keys)).aggregate([(" counts", "sum")])
    ordered = grouped.sort_by([(name, "ascending") for name in keys])
    sums: Integers = np.asarray(ordered.column(" counts_sum"), dtype=np.int64)
    return ordered.select(list(keys)), sums


def view_name(number: int, suffix: str) -> str:
    """What the file of a further table is called."""
    return f"table-{number}.{suffix}"


def check_views(record: ReleaseRecord[Any]) -> None:
    """Further tables have names of their own, in order, and some of the key columns of the first, in any order."""
    first, *views = record.tables
    for number, view in enumerate(views, 2):
        keys, suffix = view.columns[:-1], file_kind(first.file)
        named = number <= MOST_VIEWS + 1 and view.file == view_name(number, suffix)
        plain = not view.measurements and view.answers is None and view.remarks == first.remarks
        fits = set(keys) < set(record.schema.keys) and len(set(keys)) == len(keys) > 0
        if not (named and plain and fits and view.columns[-1] == record.schema.count):
            raise Damaged("release.json.tables", f"the table {view.file!r} is none that a release has")
