"""Counts out of a column: whole numbers that are not negative, or an error that names the row and the column."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput, called
from discreet.io.columns import blocks
from discreet.io.rows import AS_THEY_COME, NAMED, SAVE_IT, UNSAVED, RowNames
from discreet.numbers import whole

LARGEST = 1 << 62  # leaves room for the noise in 64 bits
MOST_DIGITS = 18  # of a number that surely fits into 64 bits
COUNTS_ARE = "Counts are whole numbers, zero or more"
MISSING = f"{COUNTS_ARE}; write 0 where nobody was counted"
BLANKS = " \u00a0\u2009\u202f"  # that stand between thousands, where one does
SUPPRESSED = (
    r"^(\*+|\([xcsd]\)|\[[xcsd]\]|\.\.+|…|:|suppressed|(<|<=|≤)\s*[0-9]{1,9})$"  # instead of a count that was small
)
FEWER, AT_MOST = r"^<\s*([0-9]+)$", r"^(?:<=|≤)\s*([0-9]+)$"
WAYS_OUT = (
    "Release the table as it was before counts were suppressed; or, where a public rule says that counts up to N were, "
    f"and no others, say so with {called('suppressed_as', like='N')}: they are then read as N"
)


@dataclass(frozen=True)
class Writing:
    """How counts are written, beside in digits alone."""

    thousands: str | None = None  # what stands between thousands
    suppressed_as: int | None = None  # counts up to this were suppressed, by a public rule, and are read as this

    def __post_init__(self) -> None:
        if self.suppressed_as is not None:
            whole(self.suppressed_as, "suppressed_as", 0)
        if self.thousands is not None and (len(self.thousands) != 1 or self.thousands.isalnum()):
            found = "it is not one mark, such as a comma or a blank"
            raise BadInput(f"{called('thousands')} was given as {self.thousands!r}", found, "Give the mark alone")


DIGITS = Writing()


def whole_counts(column: Any, name: str, rows: RowNames = AS_THEY_COME, writing: Writing = DIGITS) -> NDArray[np.int64]:
    """The column (Arrow) as int64, or BadInput naming bad rows; never the value of any cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    bad, kind = _Named(name, rows), column.type
    if pa.types.is_boolean(kind):
        raise BadInput(
            f"counts were to be read from column {name!r}", "it holds true and false, not counts", column=name
        )
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = _numbers(column.to_numpy(), bad)
    elif pa.types.is_decimal(kind):
        values = _parsed(["" if value is None else str(value) for value in column.to_pylist()], None, bad)
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        values = _text(pc.fill_null(column, ""), writing, bad)
    else:
        raise BadInput(f"counts were to be read from column {name!r}", f"its type is {kind}, not a number", column=name)
    return np.ascontiguousarray(values, dtype=np.int64)


@dataclass(frozen=True)
class _Named:
    """An error about a row of a column, as they are called in the file."""

    name: str
    rows: RowNames

    def __call__(self, row: int, how: str, do: str = COUNTS_ARE) -> BadInput:
        number, column = self.rows.number(row), self.rows.column(row, self.name)
        asked = f"counts were to be read from column {self.name!r}"
        return BadInput(asked, f"row {number}, column {column!r} {how}", do, row=number, column=column)


def _numbers(values: NDArray[Any], named: _Named) -> NDArray[np.int64]:
    """Counts that came as numbers; with a missing one among them they came as floats."""
    if not len(values) or (values.dtype.kind in "iu" and values.min() >= 0 and values.max() <= LARGEST):
        return values.astype(np.int64, copy=False)
    with np.errstate(invalid="ignore"):
        wrong = {
            _Unread("is missing", MISSING): np.isnan(values),
            _Unread("is infinite"): np.isinf(values),
            _Unread("is not a whole number"): np.isfinite(values) & (values != np.floor(values)),
            _Unread("is negative"): np.isfinite(values) & (values < 0) & (values == np.floor(values)),
            _Unread("is larger than 2^62"): np.isfinite(values) & (values > LARGEST),
        }
    bad = {kind: np.flatnonzero(flags).tolist() for kind, flags in wrong.items() if flags.any()}
    if bad:
        raise _together(bad, named)
    return values.astype(np.int64)


def _text(column: Any, writing: Writing, bad: _Named) -> NDArray[np.int64]:
    import pyarrow.compute as pc

    values = _in_digits(column)
    if values is None:
        column = _plainly(pc.utf8_trim_whitespace(column), writing)
        values = _in_digits(column)
    return _parsed(column.to_pylist(), writing.suppressed_as, bad) if values is None else values


def _in_digits(column: Any) -> NDArray[np.int64] | None:
    """The numbers, if every text is one that a machine word holds, in digits alone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values, start = np.empty(len(column), dtype=np.int64), 0
    for piece in blocks(column):
        longest = pc.max(pc.binary_length(piece)).as_py()
        if longest > MOST_DIGITS or not pc.all(pc.ascii_is_decimal(piece)).as_py():
            return None
        values[start : start + len(piece)] = pc.cast(piece, pa.int64()).to_numpy()
        start += len(piece)
    return values


def _plainly(texts: Any, writing: Writing) -> Any:
    """Counts in digits alone, where they are written as was said."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if writing.thousands is not None:
        mark = f"[{BLANKS}]" if writing.thousands in BLANKS else re.escape(writing.thousands)
        meant = pc.match_substring_regex(texts, f"^[0-9]{{1,3}}({mark}[0-9]{{3}})+$")
        texts = pc.if_else(meant, pc.replace_substring_regex(texts, mark, ""), texts)
    if writing.suppressed_as is not None:
        most, hidden = writing.suppressed_as, pc.match_substring_regex(texts, SUPPRESSED, ignore_case=True)
        meant = pc.and_not(hidden, _by_another_rule(texts, most))
        texts = pc.if_else(meant, pa.scalar(str(most), texts.type), texts)
    return texts


def _by_another_rule(texts: Any, most: int) -> Any:
    """'<5' hides 0 to 4: read as another number than 4, one person could move a count by more than one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    other = np.zeros(len(texts), dtype=bool)
    for pattern, below in ((FEWER, 1), (AT_MOST, 0)):
        said = pc.match_substring_regex(texts, pattern)
        limits = pc.replace_substring_regex(texts.filter(said), pattern, r"\1").cast(pa.int64()).to_numpy() - below
        other[np.flatnonzero(said.to_numpy(zero_copy_only=False))[limits != most]] = True
    return pa.array(other)


def _parsed(texts: list[str], suppressed_as: int | None, named: _Named) -> NDArray[np.int64]:
    found, bad = np.zeros(len(texts), dtype=np.int64), dict[_Unread, list[int]]()
    for row, entry in enumerate(texts):
        read = _parse(entry, suppressed_as)
        if isinstance(read, int):
            found[row] = read
        else:
            bad.setdefault(read, []).append(row)
    if bad:
        raise _together(bad, named)
    return found


@dataclass(frozen=True)
class _Unread:
    """Why a text is no count, and what to do."""

    how: str
    do: str = COUNTS_ARE


def _together(bad: dict[_Unread, list[int]], named: _Named) -> BadInput:
    """Every kind of bad cells in one error, with the first of each."""
    told = []
    for kind, rows in bad.items():
        told += [named(row, kind.how).parts[1] for row in rows[:NAMED]]
        told += [f"and {len(rows) - NAMED:,} more"] if len(rows) > NAMED else []
    said = list(dict.fromkeys(kind.do for kind in bad))
    said = [one for one in said if not any(other != one and other.startswith(one) for other in said)]
    where = named(next(iter(bad.values()))[0], "")
    return BadInput(where.parts[0], "; ".join(told), ". ".join(said), **where.values)


def _parse(entry: str, suppressed_as: int | None) -> int | _Unread:
    if entry == "" or entry.lower() in {"na", "n/a", "nan", "null", "none", "."}:
        return _Unread("is missing", MISSING)
    if entry == UNSAVED:
        return _Unread("is a formula, and its value is not in the file", SAVE_IT)
    if entry.startswith("#"):
        return _Unread("is an error of a formula")
    if re.fullmatch(SUPPRESSED, entry, re.IGNORECASE):
        if suppressed_as is None:
            return _Unread("was suppressed", WAYS_OUT)
        how = f"was suppressed by another rule than that of counts up to {suppressed_as}"
        return _Unread(how, "Give the largest count that the rule suppresses: 4 for <5")
    if re.fullmatch(rf"[+-]?[0-9]{{1,3}}([,.'’_{BLANKS}][0-9]{{3}})+", entry):
        do = f"Write it with digits only, or say what stands between the digits with {called('thousands', like='MARK')}"
        return _Unread("is text with thousands separators, or not a whole number", do)
    if re.fullmatch(r"[+-]?inf(inity)?", entry, re.IGNORECASE):
        return _Unread("is infinite")
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,4})?", entry, re.IGNORECASE):
        return _Unread("is not a number")
    number = Fraction(entry)
    if number < 0:
        return _Unread("is negative")
    if number.denominator != 1:
        return _Unread("is not a whole number")
    if number > LARGEST:
        return _Unread("is larger than 2^62")
    return int(number)
