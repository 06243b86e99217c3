"""Which columns are public keys: those that are named. They may be left out only where no doubt is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.errors import BadInput, called, did_you_mean, short
from discreet.io.bounded import is_bytes, is_text
from discreet.io.row_order import has_order
from discreet.io.rows import AS_THEY_COME, NAMED, SAVE_IT, UNSAVED, RowNames, together
from discreet.options import listed

Keys = Sequence[str] | str | None

MONTHS = (
    "jan(uary|uar|vier)?|feb(ruary|ruar)?|mar(ch)?|m(ä|ae?)rz|avr(il)?|apr(il)?|may|mai|june?|juni|juin|july?|juli|"
    "juillet|aug(ust)?|ao(u|û)t|sept?(ember)?|o[ck]t(ober)?|nov(ember)?|de[cz](ember)?"
)
WEEKDAYS = "(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?|mo|di|mi|do|fr|sa|so"
CURRENCIES = "usd|eur|gbp|chf|jpy|cny|inr|cad|aud|sek|nok|dkk"
BEFORE = (  # words that people write before a number
    "rs|ca|circa|approx|about|around|under|over|below|above|up to|at least|at most|less than|more than|fewer than|"
    "minus|plus|no|nr|n"
)
NUMBER = (  # a digit that only signs, currencies, brackets and such words precede; a date; a number without digits
    rf"(?i)^\W*(({WEEKDAYS})\b\W*)?((({CURRENCIES})\W*|({BEFORE})\b\W*)?[.,]?\pN|({MONTHS})\b[\W_]*\pN|"
    r"(nan|inf|infinity)\W*$)|\pN{1,4}([-/.])\pN{1,2}([-/.])\pN{1,4}"
)
FLAGS = (  # a column of such words alone says of every person whether something is so
    r"(?i)^[^\pL\pN]*(y|n|t|f|yes|no|true|false|on|off|ja|nein|nee|oui|non|vrai|faux|wahr|falsch|s[ií]|sim|n[aã]o|positive|"
    r"negative|unknown|missing|none|null|n/?a|"
    r"да|нет|так|ні|tak|nie|ano|ne|igen|nem|evet|hay[ıi]r|ναι|όχι|כן|לא|نعم|لا|हाँ|हां|नहीं|是|否|有|无|無|はい|いいえ|예|아니오)?[^\pL\pN]*$"
)
LONGEST_KEYS = (
    1 << 13
)  # bytes of a row, on average: Parquet has a key five times, and `verify` reads files up to 64 KiB a row
LONGEST_COLUMN = 1 << 30  # bytes that are put into one array of text: it could hold twice as many
ENDS = {"string": 4, "large_string": 8}  # bytes that say where the first text begins, which Arrow does not count
CODE = r"^0\pN+$"  # a number has no zero before it: whoever writes one means a code


def key_names(frame: Any, count: str, keys: Keys) -> list[str]:
    """The columns that are named; else the only other one, if none of its values reads as a number."""
    names = [str(name) for name in frame.column_names]
    if len(set(names)) != len(names):
        raise BadInput("a table was to be read", "two of its columns have the same name")
    must_have(count, names, "count column")
    others = [name for name in names if name != count]
    if keys == "all":
        return others
    if keys is not None:
        return _named(keys, names, count)
    if len(others) > 1 or (others and _may_be_data(frame.column(others[0]))):
        raise _not_named(frame, count, others)
    return others


def must_have(name: str, names: list[str], what: str) -> None:
    if name not in names:
        raise BadInput(
            f"the {what} {short(name)} was asked for", "the table has no such column", did_you_mean(name, names)
        )


def _named(keys: Sequence[str] | str, names: list[str], count: str) -> list[str]:
    wanted = listed(keys, (str,))
    for key in wanted:
        must_have(key, names, "key column")
        if key == count:
            raise BadInput(f"{key!r} was named as a key column", "it is the count column")
    if len(set(wanted)) != len(wanted):
        raise BadInput("key columns were named", "one of them was named twice")
    return wanted


def _not_named(frame: Any, count: str, others: list[str]) -> BadInput:
    """The candidates by name; never a value of a cell."""
    told = [repr(name) + (" (looks like a code)" if _looks_like_code(frame.column(name)) else "") for name in others]
    found = (
        f"there are {len(others)} other columns, and any may hold data of persons: {', '.join(told)}"
        if len(others) > 1
        else f"the other column holds numbers, dates, flags or no text, so it may be data of persons: {told[0]}"
    )
    return BadInput(
        f"no key columns were named, and the count is {count!r}",
        found,
        f"Name the columns that are to be published with {called('keys', like='A,B, or all')}; "
        "columns not named stay behind",
        columns=tuple(others),
    )


def _text(column: Any) -> Any:
    """The values as text, the missing left out; None where the column is not text."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    return column.cast(pa.string()).drop_null()


def _may_be_data(column: Any) -> bool:
    """Whether any value is not text or reads as a number (NA, < and units make no name of it), or all are flags."""
    import pyarrow.compute as pc

    text = _text(column)
    if text is None or bool(pc.any(pc.match_substring_regex(text, NUMBER)).as_py()):
        return True
    return len(text) > 0 and bool(pc.all(pc.match_substring_regex(text, FLAGS)).as_py())


def _looks_like_code(column: Any) -> bool:
    """Digits of one width, some with a zero before them: 01001."""
    import pyarrow.compute as pc

    text = _text(column)
    if text is None or len(text) == 0:
        return False
    text = pc.utf8_trim_whitespace(text)
    widths = pc.min_max(pc.utf8_length(text)).as_py()
    digits = pc.all(pc.match_substring_regex(text, r"^\pN+$")).as_py()
    return bool(digits and widths["min"] == widths["max"] and pc.any(pc.match_substring_regex(text, CODE)).as_py())


def with_texts(frame: Any, names: Sequence[str]) -> Any:
    """Key columns of text as text of one kind; bytes, and what only some readers know, are refused: nobody says which
    letters they mean."""
    import pyarrow as pa

    for name in names:
        column = frame.column(name)
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_string_view(kind):
            frame = frame.set_column(frame.column_names.index(name), name, column.cast(pa.string()))
        elif is_bytes(kind) or isinstance(kind, pa.BaseExtensionType):
            raise BadInput(
                f"{name!r} is a key column", f"its values are of type {kind}", "Write them as text", column=name
            )
    return frame


def refuse_no_text(frame: Any) -> None:
    """Letters that are said to be text, and are not: a file may hold any bytes."""
    import pyarrow as pa

    for name, column in zip(frame.column_names, frame.columns):
        if is_text(column.type.value_type if pa.types.is_dictionary(column.type) else column.type):
            try:
                column.validate(full=True)
            except pa.ArrowException:
                found = "some of its values are no text (UTF-8)"
                raise BadInput(f"column {name!r} was to be read", found, "Write the file anew", column=name) from None


def plain(categories: Any, rows: RowNames = AS_THEY_COME) -> Any:
    """Key columns with nothing hidden in them: no metadata, no dictionary that lists values which do not occur."""
    import pyarrow as pa

    columns, problems = {}, list[BadInput]()
    for name in categories.column_names:
        try:
            columns[name] = _cut_off(_as_files_hold_it(_filled(name, categories.column(name), rows)))
        except BadInput as problem:
            problems.append(problem)
    if problems:
        raise together(problems)
    if sum(column.nbytes for column in columns.values()) > LONGEST_KEYS * (categories.num_rows + 1):
        found = f"they take more than {LONGEST_KEYS >> 10} KiB a row, and nobody could verify such a release"
        raise BadInput("key columns were to be published", found, "Use short names")
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def _filled(name: str, column: Any, rows: RowNames) -> Any:
    """A column of values that have an order, none of them missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    strange = pa.types.is_nested(column.type) or isinstance(column.type, pa.BaseExtensionType)
    if len(column) and (strange or not has_order(column)):
        found = f"its values are of type {column.type}"
        raise BadInput(f"{name!r} is a key column", found, "Write them as text", column=name)
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        _refuse_no_times(column, name)
    may_miss = column.null_count or pa.types.is_floating(column.type)
    if may_miss and (missing := column.is_null(nan_is_null=True).to_numpy()).any():
        raise _missing(name, [rows.number(row) for row in np.flatnonzero(missing)[: NAMED + 1].tolist()])
    if pa.types.is_string(column.type) and (unsaved := pc.equal(column, UNSAVED).to_numpy()).any():
        number = rows.number(int(unsaved.argmax()))
        found = f"row {number}, column {name!r} is a formula, and its value is not in the file"
        raise BadInput(f"{name!r} is a key column", found, SAVE_IT, row=number, column=name)
    return column


def _refuse_no_times(column: Any, name: str) -> None:
    """What no calendar has, and zones that nobody knows: other programs could not read them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    zone = getattr(column.type, "tz", None)
    try:
        times = column.cast(pa.timestamp("us", zone), safe=False) if pa.types.is_timestamp(column.type) else column
        ends = pc.min_max(times)
        ends.as_py(), column.slice(0, 1).cast(pa.string())
    except (pa.ArrowException, ValueError, OverflowError, LookupError):
        found = "its times are not all between the years 1 and 9999, or in a zone that is not known"
        raise BadInput(f"{name!r} is a key column", found, "Write them as text", column=name) from None


def _as_files_hold_it(column: Any) -> Any:
    """Times by the second in milliseconds: Parquet has no others, and the same time must read the same before and
    after."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.unit == "s":
        return column.cast(pa.timestamp("ms", column.type.tz))
    return column.cast(pa.time32("ms")) if column.type == pa.time32("s") else column


def _cut_off(column: Any) -> Any:
    """The column in memory of its own: a slice keeps the rows that were cut off."""
    import pyarrow as pa

    if column.num_chunks > 1 and column.nbytes < LONGEST_COLUMN:
        return pa.chunked_array([column.combine_chunks()])  # which copies
    needed = column.nbytes + ENDS.get(str(column.type), 0) * column.num_chunks
    return column.take(pa.array(np.arange(len(column)))) if column.get_total_buffer_size() > needed else column


def _missing(name: str, numbers: list[int]) -> BadInput:
    told = [f"row {number}, column {name!r} is missing" for number in numbers[:NAMED]]
    more = ["more"] if len(numbers) > NAMED else []
    do = "Write every key in its row; of merged cells a file has only the first"
    found = "; ".join([*told, *more])
    return BadInput(f"{name!r} is a key column", found, do, row=numbers[0], column=name)
