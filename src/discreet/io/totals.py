"""Rows that are sums of other rows: a person in one of them is counted twice, so that a promise about one row is false.

They are known by a key value that means a total, or by one that names all the others of its column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Flags
from discreet.errors import BadInput, called
from discreet.io.bounded import is_text
from discreet.io.formulas import LOOKED_AT, distinct
from discreet.io.made_of_others import MOST_VALUES, FewValues, naming_all_others
from discreet.io.rows import AS_THEY_COME, NAMED, RowNames
from discreet.io.total_texts import meaning_totals, one_after_another

MOST_OF_A_CROSSTAB = 100  # rows that are looked at to name a few
ONE_ROW_EACH = "every person must be counted in one row alone"


@dataclass(frozen=True)
class TotalsRule:
    """What the user says about rows that seem to be totals."""

    drop: bool = False  # leave them out
    disjoint: bool = False  # they are none: the user's word
    paid: bool = False  # one person may be in several rows: the user's word, not a bound that came with the file


def rows_of_totals(categories: Any) -> Flags:
    """Of each row, whether one of its key values means a total. Every value is looked at once, and all of them
    together: it takes longer to read what is looked for than to look through a thousand values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = np.zeros(categories.num_rows, dtype=bool)
    texts = [column.cast(pa.string()) for column in categories.columns if is_text(_kind(column))]
    if texts and len(meant := meaning_totals(one_after_another(map(distinct, texts)))):
        for text in texts:
            found |= pc.is_in(text, value_set=meant).to_numpy()
    return found


def seeming_totals(categories: Any) -> Flags:
    """Of each row of a whole table, whether one of its key values means a total, or names all others of its column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = rows_of_totals(categories)
    for one in few_texts(categories):
        if made := _made_of_others(one.values):
            text = categories.column(one.column).cast(pa.string())
            found = found | pc.is_in(text, value_set=pa.array(made, pa.string())).to_numpy()
    return found


def few_texts(categories: Any) -> tuple[FewValues, ...]:
    """The different values of each column of text that has few."""
    import pyarrow as pa

    columns = zip(categories.column_names, categories.columns)
    found = [FewValues(name, _few(column.cast(pa.string()))) for name, column in columns if is_text(_kind(column))]
    return tuple(one for one in found if one.values)


def _made_of_others(values: Sequence[str]) -> list[str]:
    """Those that name all the others, of which none means a total."""
    import pyarrow as pa

    words = meaning_totals(pa.array(values, pa.string())).to_pylist()
    return naming_all_others([value for value in values if value not in words])


def refuse_totals_across(parts: Sequence[Sequence[FewValues]], rule: TotalsRule) -> None:
    """Refuse a key that names all the others of its column, where they are in different parts of a table.

    parts: of each what `few_texts` says. Nobody drops such rows here: their part was read by then.
    """
    if rule.disjoint or rule.paid:
        return
    for name in dict.fromkeys(one.column for part in parts for one in part):
        found = [one.values for part in parts for one in part if one.column == name]
        values = dict.fromkeys(value for some in found for value in some)
        if len(found) == len(parts) and (made := _made_of_others(tuple(values))):
            told = f"{name} = {made[0]!r} names all other values of its column, and so means a total"
            others = "" if rule.drop else f"; or, {_ways_out()}"
            raise BadInput(ONE_ROW_EACH, told, f"Leave such rows out of the parts{others}")


def _few(text: Any) -> tuple[str, ...]:
    """The different values of a column of text; none, where they are many."""
    import pyarrow.compute as pc

    first = pc.unique(text.slice(0, LOOKED_AT).drop_null())
    values = pc.unique(text.drop_null()) if len(first) <= MOST_VALUES else first
    return tuple(values.to_pylist()) if len(values) <= MOST_VALUES else ()


def _kind(column: Any) -> Any:
    import pyarrow as pa

    return column.type.value_type if pa.types.is_dictionary(column.type) else column.type


def without_totals(frame: Any, names: list[str], rule: TotalsRule, rows: RowNames = AS_THEY_COME) -> Flags | None:
    """Of each row, whether it stays, as those do that count different people (None: all); or BadInput and ways out."""
    keys = frame.select(names)
    flags = seeming_totals(keys)
    if rule.drop:
        for column in keys.columns:
            flags = flags | column.is_null(nan_is_null=True).to_numpy()
    if not flags.any():
        return None
    if rule.drop:
        if flags.all():
            raise BadInput("rows that are totals were to be left out", "no other row is there")
        return np.logical_not(flags)
    if rule.disjoint or rule.paid:
        return None
    raise _refused(frame, names, flags, rows)


def _as_total(frame: Any, row: int, named: RowNames, by_column: dict[str, Flags]) -> str:
    """One row, and the key that says that it is a total."""
    name = next(name for name, flags in by_column.items() if flags[row])
    return f"row {named.number(row)} ({name} = {frame.column(name)[row].as_py()!r})"


def _refused(frame: Any, names: list[str], flags: Flags, named: RowNames) -> BadInput:
    """Key values are public, so they may be shown."""
    rows = np.flatnonzero(flags)
    some = rows[:NAMED] if named.column_of is None else rows[:MOST_OF_A_CROSSTAB]  # where one row stands several times
    by_column = {name: seeming_totals(frame.select([name])) for name in names}
    told = list(dict.fromkeys(_as_total(frame, row, named, by_column) for row in some.tolist()))
    number = f" ({len(rows):,} in all)" if named.column_of is None else ""
    more = f", ...{number}" if len(rows) > len(some) or len(told) > NAMED else ""
    found = f"these rows have keys that mean a total: {', '.join(told[:NAMED])}{more}"
    do = f"Leave them out with {called('drop_totals', like='')}; or, {_ways_out()}"
    return BadInput(ONE_ROW_EACH, found, do, rows=tuple(named.number(row) for row in rows[:NAMED].tolist()))


def _ways_out() -> str:
    return (
        f"if one person may be counted in K rows, say so with {called('contributions', like='K')}; or, if they are "
        f"rows like the others, such as a place of that name, say {called('rows_are_disjoint', like='')}"
    )
