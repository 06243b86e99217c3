"""What the analyst's side answers about a folder, asked in the plainest way: total, by every set of keys, rows."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pyarrow as pa

import discreet as dc

Key = tuple[str, ...]
Answered = dict[Key, tuple[float, float, float, bool]]


def by_every_set(view: Any, keys: list[str]) -> dict[Key, Answered]:
    """Estimate, ends and whether it is exact, by the names of columns and the values of a group."""
    found: dict[Key, Answered] = {}
    for size in range(len(keys) + 1):
        for columns in combinations(keys, size):
            try:
                answers = view.by(*columns) if columns else {(): view.total()}
            except dc.BadInput:
                continue
            found[columns] = {
                tuple(map(str, name if isinstance(name, tuple) else (name,))): (one.estimate, *one.interval, one.exact)
                for name, one in answers.items()
            }
    return found


def by_row(view: Any, keys: list[str]) -> Answered:
    """The same of every row, where rows are estimated."""
    try:
        rows = view.rows()
    except (AttributeError, dc.BadInput):
        return {}
    frame = rows if isinstance(rows, pa.Table) else rows.table()
    middle = "mean" if "mean" in frame.column_names else "estimate"
    exact = frame.column("exact").to_pylist() if "exact" in frame.column_names else [False] * len(frame)
    names = zip(*(map(str, frame.column(name).to_pylist()) for name in keys))
    numbers = (frame.column(name).to_pylist() for name in (middle, "low", "high"))
    return {name: (*of, known) for name, of, known in zip(names, zip(*numbers), exact)}  # type: ignore[misc]


def can_be_asked(place: Any) -> Any:
    """The analyst's view, or None where there is none."""
    try:
        view = dc.estimate(place)
        view.total()
    except dc.BadInput:
        return None
    return view
