"""Answers and measurements of several questions: frames by question in memory, one frame in long form in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import Damaged
from discreet.io.columns import whole_numbers
from discreet.io.frames import file_kind, to_kind
from discreet.levels.fixed import UNIT
from discreet.record.release import AnswerTable
from discreet.table import Schema
from discreet.ways import Entries, LongKeys

QUESTION = "question"
Frames = Mapping[str, Any]  # by the name of the question, each of the kind that came in
NUMBERS = ("estimate", "sd", "low", "high")
LARGEST = 1 << 50  # of a number in units: floats hold all of them


def measured_frames(schema: Schema, long: LongKeys, measured: Integers) -> Frames:
    """The noisy answers, a frame for every question."""
    sizes = np.cumsum([entries.number for entries in long.measurements.values()])
    parts = np.split(measured, sizes[:-1])
    return {
        name: to_kind(_with(entries.keys, {schema.count: part}), schema.kind)
        for (name, entries), part in zip(long.measurements.items(), parts)
    }


def answer_frames(schema: Schema, long: LongKeys, answers: Sequence[AnswerTable]) -> Frames:
    """The answers, a frame for every question."""
    return {
        name: to_kind(_with(entries.keys, _numbers(schema.count, one)), schema.kind)
        for (name, entries), one in zip(long.answers.items(), answers)
    }


def long_frame(by_question: Mapping[str, Entries], keys: Sequence[str]) -> Any:
    """One question below the other, each with its name; a key that it does not have is left empty."""
    import pyarrow as pa

    kinds = {field.name: field.type for entries in by_question.values() for field in entries.keys.schema}
    parts = []
    for name, entries in by_question.items():
        columns, named = {QUESTION: pa.array([name] * entries.number, pa.string())}, entries.keys.column_names
        for key in keys:
            empty = pa.nulls(entries.number, kinds.get(key, pa.string()))
            columns[key] = entries.keys.column(key) if key in named else empty
        parts.append(pa.table(columns))
    return pa.concat_tables(parts).combine_chunks()


def measured_frame(keys: Any, count: str, measured: Integers | None) -> Any:
    """The noisy answers in long form."""
    return _with(keys, {count: measured})


def answer_frame(keys: Any, count: str, answers: Sequence[AnswerTable], kind: str) -> Any:
    """The answers in long form; in a CSV file with four decimals each."""
    names = [item.name for item in fields(AnswerTable)]
    whole = AnswerTable(*(np.concatenate([getattr(one, name) for one in answers]) for name in names))
    numbers = _numbers(count, whole)
    if kind == "csv":
        numbers |= {name: _decimals(values) for name, values in zip(NUMBERS, _units_of(whole))}
    return _with(keys, numbers)


def _decimals(units: Integers) -> Any:
    """Units as text, exactly: no float is written."""
    import pyarrow as pa

    words = np.stack([units, units >> 63], axis=1).astype("<i8")  # 128 bits each, the sign in all of the upper half
    numbers = pa.Array.from_buffers(pa.decimal128(19, 4), len(units), [None, pa.py_buffer(words)])
    return numbers.cast(pa.string())


def _units_of(one: AnswerTable) -> tuple[Integers, ...]:
    return one.estimates, one.deviations, one.low, one.high


def _numbers(count: str, one: AnswerTable) -> dict[str, Integers | Floats]:
    return {count: one.counts, **{name: _floats(values) for name, values in zip(NUMBERS, _units_of(one))}}


def _floats(units: Integers) -> Floats:
    return units / UNIT


def _with(keys: Any, columns: Mapping[str, Any]) -> Any:
    """Keys and more columns."""
    import pyarrow as pa

    return pa.table({**{name: keys.column(name) for name in keys.column_names}, **columns})


def measured_of(frame: Any, keys: Any, count: str, file: str) -> Integers:
    """The noisy answers in a file, if it has these keys."""
    _require_keys(frame, keys, file, [count])
    return whole_numbers(frame, count)


def answers_of(frame: Any, keys: Any, sizes: Sequence[int], count: str, file: str) -> tuple[AnswerTable, ...]:
    """The answers in a file, if it has these keys; `sizes` are the numbers of entries of the questions."""
    _require_keys(frame, keys, file, [count, *NUMBERS])
    ends = np.cumsum(sizes)[:-1]
    columns = [whole_numbers(frame, count), *(_units(frame, name, file) for name in NUMBERS)]
    parts = [np.split(column, ends) for column in columns]
    return tuple(AnswerTable(*(part[i] for part in parts)) for i in range(len(sizes)))


def _require_keys(frame: Any, keys: Any, file: str, more: Sequence[str]) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    csv = file_kind(file) == "csv"
    if tuple(frame.column_names) != (*keys.column_names, *more):
        raise Damaged(file, "its columns are not those of its questions")
    if len(frame) != len(keys):
        raise Damaged(file, f"it has {len(frame)} rows, and its questions have {len(keys)} entries")
    for name in keys.column_names:
        wanted, found = keys.column(name), frame.column(name)
        if csv:
            wanted = pc.fill_null(wanted.cast(pa.string()), "")
        if not found.equals(wanted):
            raise Damaged(file, f"its keys in the column {name!r} are not those of its questions")


def _units(frame: Any, name: str, file: str) -> Integers:
    """A column of numbers with four decimals, in units: further digits, or a minus before nothing, could say more."""
    import pyarrow as pa

    column = frame.column(name)
    try:
        numbers: Floats = column.cast(pa.float64()).to_numpy() * UNIT
    except pa.ArrowInvalid as error:
        raise Damaged(file, f"a value of {name} is not a number") from error
    if not (np.abs(numbers) <= LARGEST).all():
        raise Damaged(file, f"a value of {name} is not a number that answers have")
    units = np.rint(numbers).astype(np.int64)
    written = _decimals(units) if pa.types.is_string(column.type) else pa.array(_floats(units))
    if not _same(column.combine_chunks(), written):
        raise Damaged(file, f"a value of {name} is not a number with four decimals")
    return units


def _same(one: Any, other: Any) -> bool:
    """Bit for bit: nought and minus nought are two numbers."""
    import pyarrow as pa

    if one.type == other.type and pa.types.is_floating(one.type):
        return bool(one.to_numpy(zero_copy_only=False).tobytes() == other.to_numpy().tobytes())
    return bool(one.equals(other))
