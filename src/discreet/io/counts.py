"""Counts out of a column: whole numbers that are not negative, or an error that names the row and the column."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput

LARGEST = 1 << 62  # leaves room for the noise in 64 bits
NAMED = 5  # bad cells that an error names: enough to see what is meant


def whole_counts(column: Any, name: str) -> NDArray[np.int64]:
    """The column (Arrow) as int64, or BadInput naming the first bad row; never the value of any other cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if column.null_count:
        raise _bad(name, _first(pc.is_null(column)), "is missing")
    if pa.types.is_boolean(kind):
        raise BadInput(
            f"counts were to be read from column {name!r}", "it holds true and false, not counts", column=name
        )
    if pa.types.is_integer(kind):
        values = column.to_numpy()
    elif pa.types.is_floating(kind):
        values = _whole_floats(column.to_numpy(), name)
    elif pa.types.is_decimal(kind):
        values = _parsed([str(value) for value in column.to_pylist()], name)
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        values = _text(column, name)
    else:
        raise BadInput(f"counts were to be read from column {name!r}", f"its type is {kind}, not a number", column=name)
    if len(values) and values.min() < 0:
        raise _bad(name, int((values < 0).argmax()), "is negative")
    if len(values) and values.max() > LARGEST:
        raise _bad(name, int((values > LARGEST).argmax()), "is larger than 2^62")
    return np.ascontiguousarray(values, dtype=np.int64)


def _bad(name: str, row: int, how: str, do: str = "Counts are whole numbers, zero or more") -> BadInput:
    return BadInput(
        f"counts were to be read from column {name!r}",
        f"row {row + 1}, column {name!r} {how}",
        do,
        row=row + 1,
        column=name,
    )


def _first(mask: Any) -> int:
    return int(mask.to_numpy(zero_copy_only=False).argmax())


def _whole_floats(values: NDArray[np.float64], name: str) -> NDArray[np.int64]:
    if np.isnan(values).any():
        raise _bad(name, int(np.isnan(values).argmax()), "is missing (not a number)")
    if np.isinf(values).any():
        raise _bad(name, int(np.isinf(values).argmax()), "is infinite")
    if (fractional := values != np.floor(values)).any():
        raise _bad(name, int(fractional.argmax()), "is not a whole number")
    if (large := np.abs(values) > LARGEST).any():
        raise _bad(name, int(large.argmax()), "is larger than 2^62")
    return values.astype(np.int64)


def _text(column: Any, name: str) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    if pc.all(pc.match_substring_regex(trimmed, "^[0-9]{1,18}$")).as_py():
        values: NDArray[np.int64] = pc.cast(trimmed, pa.int64()).to_numpy()
        return values
    return _parsed(trimmed.to_pylist(), name)


def _parsed(texts: list[str], name: str) -> NDArray[np.int64]:
    found, bad = np.zeros(len(texts), dtype=np.int64), []
    for row, entry in enumerate(texts):
        try:
            found[row] = _parse(entry, name, row)
        except BadInput as error:
            bad.append(error)
            if len(bad) > NAMED:
                break
    if bad:
        raise _together(bad)
    return found


def _together(bad: list[BadInput]) -> BadInput:
    """The first bad cells in one error."""
    first, more = bad[0], ["more" for _ in bad[NAMED:]]
    found = "; ".join([*(error.found for error in bad[:NAMED]), *more])
    return BadInput(first.asked, found, first.do, **first.values)


def _parse(entry: str, name: str, row: int) -> int:
    if entry == "" or entry.lower() in {"na", "n/a", "nan", "null", "none", "."}:
        raise _bad(name, row, "is missing")
    if re.fullmatch(r"[+-]?[0-9]{1,3}([,.' _\u00a0\u202f][0-9]{3})+", entry):
        raise _bad(name, row, "is text with thousands separators, or not a whole number", "Write it with digits only")
    if re.fullmatch(r"[+-]?inf(inity)?", entry, re.IGNORECASE):
        raise _bad(name, row, "is infinite")
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,4})?", entry, re.IGNORECASE):
        raise _bad(name, row, "is not a number")
    number = Fraction(entry)
    if number < 0:
        raise _bad(name, row, "is negative")
    if number.denominator != 1:
        raise _bad(name, row, "is not a whole number")
    if number > LARGEST:
        raise _bad(name, row, "is larger than 2^62")
    return int(number)
