"""The prepared answers as a sheet of a workbook: the total, the totals by each key column, and the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.io.written_xlsx import INTERVALS, told_columns
from discreet.report.prepared import DIGITS, Numbers, Prepared

WRITTEN = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]{1,4})?$"  # a number of it: nothing else can stand there
CLOSE = 2 * 10.0**-DIGITS  # another machine may round a last digit in another way
EXACT = "exact"  # beside what has no error; else nothing


def interval_frame(found: Prepared, keys: Sequence[str]) -> Any:
    """Text columns, and numbers as text; None where nothing is estimated."""
    import pyarrow as pa

    cut = f", {found.cut}" if found.cut else ""
    parts = [
        _part(
            ("total" if not one.by else f"by {keys[one.by[0]]}") + cut,
            found,
            one.by,
            one.groups,
            one.numbers,
            len(keys),
        )
        for one in found.asked
        if len(one.by) < 2
    ]
    if found.rows is not None and found.rows.numbers is not None:
        parts.append(_part("row" + cut, found, range(len(keys)), found.rows.groups, found.rows.numbers, len(keys)))
    if not parts:
        return None
    columns = [pa.array([text for part in parts for text in part[k]], pa.string()) for k in range(len(parts[0]))]
    return pa.table(columns, names=list(told_columns((*keys, ""))))


def _part(
    question: str, found: Prepared, by: Sequence[int], groups: Sequence[Any], numbers: Numbers, keys: int
) -> list[list[str]]:
    """One question, column by column; keys that it is not asked by stay empty."""
    size = len(numbers.estimate)
    named = {place: [found.values[place][k] for k in group] for place, group in zip(by, groups)}
    exact = [EXACT if one else "" for one in np.broadcast_to(numbers.exact, size)]
    told = [[_number(one) for one in getattr(numbers, name)] for name in INTERVALS]
    return [[question] * size, *(named.get(k, [""] * size) for k in range(keys)), exact, *told]


def _number(value: float) -> str:
    """As a page has it, without a zero that says nothing."""
    text = f"{round(float(value), DIGITS) + 0.0:.{DIGITS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def same_intervals(ours: Any, told: Any, *, estimates: bool) -> bool:
    """Whether a sheet asks what ours does and has its numbers, but for last digits; other versions of ours may have
    made estimates better, but not put anything else there."""
    import pyarrow.compute as pc

    if ours is None or told is None:
        return ours is None and told is None
    texts = list(range(len(ours.column_names) - len(INTERVALS) - 1))
    if len(ours) != len(told) or not ours.select(texts).equals(told.select(texts)):
        return False
    if not set(told.column(len(texts)).to_pylist()) <= {EXACT, ""}:
        return False
    for place in range(len(texts) + 1, len(ours.column_names)):
        if not pc.all(pc.match_substring_regex(told.column(place), WRITTEN), min_count=0).as_py():
            return False
    if not estimates:
        return True
    same_exact = ours.column(len(texts)).equals(told.column(len(texts)))
    pairs = ((_numbers(ours, name), _numbers(told, name)) for name in INTERVALS)
    return bool(same_exact and all((np.abs(a - b) <= CLOSE + 1e-9 * np.abs(a)).all() for a, b in pairs))


def _numbers(frame: Any, name: str) -> Any:
    place = len(frame.column_names) - len(INTERVALS) + INTERVALS.index(name)
    return np.array([float(text) for text in frame.column(place).to_pylist()])
