"""Files and data frames in, tables of counts out: keys chosen, totals refused, rows in public order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Flags, FrameT, Integers
from discreet.errors import BadInput, called, true_or_false
from discreet.io.bounded import is_text
from discreet.io.counts import Writing
from discreet.io.frames import file_kind, to_arrow
from discreet.io.key_columns import Keys, plain, with_texts
from discreet.io.layout import Arrangement, Counts, Laid, Read, laid_out, read_given
from discreet.io.row_order import in_order, strictly_ascending
from discreet.io.rows import AS_THEY_COME, RowNames, together
from discreet.io.totals import TotalsRule, seeming_totals, without_totals
from discreet.io.universe import filled_from, universe_of
from discreet.numbers import whole
from discreet.options import listed, spelt
from discreet.table import Schema, Table

Order = Integers | None


@spelt
def read_table(
    path: str | Path,
    count: Counts,
    keys: Keys = None,
    universe: Any = None,
    *,
    keep_order: bool = False,
    contributions: int | None = None,
    drop_totals: bool = False,
    rows_are_disjoint: bool = False,
    sheet: str | None = None,
    header_row: int | None = None,
    thousands: str | None = None,
    wide: str | None = None,
    suppressed_as: int | None = None,
) -> Table:
    """A table of counts from a CSV, CSV.gz, Parquet or Excel (.xlsx) file.

    `keys` names the public columns, `universe` the public set of rows (missing ones count zero), `contributions` in
    how many rows one person may be counted: 1 unless said, or as `discreet count` wrote it into the file. Rows whose
    keys mean a total are refused: `drop_totals` leaves them out, `rows_are_disjoint` says that they are none. Rows are
    sorted by their keys unless their order is declared public.

    Several columns of counts, named together, become rows with a key column `counted`, and one person may be counted
    in each of them. They share the budget equally, or as is said: `count="births@3/4,deaths@1/4"`, or a mapping.
    `wide` names the key whose values the names of the columns are, in a crosstab. `sheet` and
    `header_row` say where a table stands, `thousands` what stands between thousands, `suppressed_as` up to which count
    a public rule suppressed counts.
    """
    layout = _layout(sheet, header_row, thousands, wide, suppressed_as)
    said = _Said(contributions, drop_totals, rows_are_disjoint, keep_order, suppressed_as)
    return _table(read_given(path, layout), count, keys, universe, layout, said, file_kind(path), path)


@spelt
def table(
    frame: FrameT,
    count: Counts,
    keys: Keys = None,
    universe: Any = None,
    *,
    keep_order: bool = False,
    contributions: int | None = None,
    drop_totals: bool = False,
    rows_are_disjoint: bool = False,
    thousands: str | None = None,
    wide: str | None = None,
    suppressed_as: int | None = None,
) -> Table[FrameT]:
    """A table of counts from a frame of pandas, polars or pyarrow, or a lazy one of polars, DuckDB, Spark or Ibis.

    A lazy frame is collected. The levels of a MultiIndex of pandas are columns like others; any other index stays
    behind, unless it is named as a key. What is released is a frame of the same kind: for DuckDB a relation, for Spark
    and Ibis an Arrow table. The rest as in `read_table`.
    """
    keys = keys if keys is None or isinstance(keys, str) else listed(keys)  # which may be read only once
    arrow, kind = to_arrow(frame, [] if keys is None else listed(keys, (str,)))
    layout = _layout(None, None, thousands, wide, suppressed_as)
    said = _Said(contributions, drop_totals, rows_are_disjoint, keep_order, suppressed_as)
    return _table(Read(arrow), count, keys, universe, layout, said, kind, None)


def read_schema(
    path: str | Path,
    count: Counts,
    keys: Keys = None,
    universe: Any = None,
    *,
    keep_order: bool = False,
    contributions: int | None = None,
    drop_totals: bool = False,
    rows_are_disjoint: bool = False,
    sheet: str | None = None,
    header_row: int | None = None,
    thousands: str | None = None,
    wide: str | None = None,
    suppressed_as: int | None = None,
) -> tuple[Schema, Order]:
    """The public part of a file, with its counts unread, and where each row stood in it (None: in place)."""
    layout = _layout(sheet, header_row, thousands, wide, suppressed_as)
    said = _Said(contributions, drop_totals, rows_are_disjoint, keep_order, suppressed_as)
    taken = _taken_in(read_given(path, layout), count, keys, layout, said, path)
    categories, dropped = taken.categories, taken.dropped
    if universe is not None and not taken.problems:
        categories, fewer = universe_of(universe, categories, taken.rule)
        dropped = max(dropped, fewer)
    rows = categories.num_rows if categories.num_columns else taken.laid.frame.num_rows
    return _published(taken, categories, rows, dropped, said, file_kind(path))


@dataclass(frozen=True)
class _Said:
    """What the user says about the rows of a table."""

    contributions: int | None
    drop_totals: bool
    rows_are_disjoint: bool
    keep_order: bool
    suppressed_as: int | None

    def __post_init__(self) -> None:
        for name in ("drop_totals", "rows_are_disjoint", "keep_order"):
            true_or_false(getattr(self, name), name)


@dataclass(frozen=True, eq=False)
class _Taken:
    """A table as it was taken in, its counts unread, with all that is wrong with its keys."""

    laid: Laid
    categories: Any
    bound: int
    rule: TotalsRule
    dropped: int
    problems: list[BadInput]
    comparable: bool  # whether every row has keys, of a kind that has an order


def _layout(
    sheet: str | None, header_row: int | None, thousands: str | None, wide: str | None, suppressed_as: int | None
) -> Arrangement:
    if header_row is not None:
        whole(header_row, "header_row", 1)
    return Arrangement(sheet, header_row, wide, Writing(thousands, suppressed_as))


def _taken_in(
    given: Read, count: Counts, keys: Keys, layout: Arrangement, said: _Said, path: str | Path | None
) -> _Taken:
    from discreet.io.counted import bound_of, contributions_of

    laid = laid_out(given, count, keys, layout)
    names, asked = list(laid.keys), contributions_of(said.contributions)
    paid = asked is not None and (asked if path is not None else asked * laid.times) > 1
    rule = TotalsRule(said.drop_totals, said.rows_are_disjoint, paid=paid)
    read = given.frame if laid.rows.column_of is not None else laid.frame
    laid, dropped, others = replace(laid, frame=with_texts(laid.frame, names)), 0, None
    problems: list[BadInput] = []
    try:
        stays = without_totals(laid.frame, names, rule, laid.rows)
        if stays is not None:
            laid, dropped = laid.filtered(stays), int((~stays).sum())
    except BadInput as error:
        problems.append(error)
        others = np.logical_not(seeming_totals(laid.frame.select(names)))
    try:
        bound = bound_of(path, read, asked, _readings(read, laid)) * laid.times
    except BadInput as error:  # told with what else is wrong: whoever answers it answers for totals, too
        bound = 1
        problems.insert(0, error)
    categories, comparable = laid.frame.select(names), True
    try:
        categories = plain(categories, laid.rows)
    except BadInput as error:
        problems += [error] if others is None else _wrong_among(others, categories, laid.rows)
        problems += _the_same_among_complete(categories, laid.rows)
        comparable = False
    return _Taken(laid, categories, bound, rule, dropped, problems, comparable)


def _readings(read: Any, laid: Laid) -> list[Any]:
    """What is taken of a table, where that is not all of it as it came: the columns that are named; a row for each
    count, without totals, and without marks between thousands."""
    import pyarrow.compute as pc

    columns = [name for name in (*laid.keys, laid.count, *laid.rows.columns) if name in read.column_names]
    found = [] if set(columns) == set(read.column_names) else [read.select(columns)]
    if laid.frame.num_rows == read.num_rows and laid.rows.column_of is None and laid.writing.thousands is None:
        return found
    rows, thousands = laid.frame.select([*laid.keys, laid.count]), laid.writing.thousands
    if thousands is not None and is_text(rows.column(laid.count).type):
        digits = pc.replace_substring(rows.column(laid.count), thousands, "")
        rows = rows.set_column(len(laid.keys), laid.count, digits)
    return [*found, rows]


def _wrong_among(others: Flags, categories: Any, rows: RowNames) -> list[BadInput]:
    """What is wrong with the keys of rows that are no totals: what a total lacks goes when it goes."""
    try:
        plain(categories.filter(others), rows.kept(others, categories.num_rows))
    except BadInput as error:
        return [error]
    return []


def _the_same_among_complete(categories: Any, rows: RowNames) -> list[BadInput]:
    """Of rows that have all their keys, that two have the same, where other rows have some missing."""
    whole = np.ones(categories.num_rows, dtype=bool)
    for column in categories.columns:
        whole &= column.is_valid().to_numpy()
    if whole.all():
        return []
    try:
        names = list(categories.column_names)
        in_order(plain(categories.filter(whole)), names, rows.kept(whole, categories.num_rows))
    except BadInput as error:
        return [error] if "rows" in error.values else []
    return []


def _table(
    given: Read, count: Counts, keys: Keys, universe: Any, layout: Arrangement, said: _Said, kind: str,
    path: str | Path | None,
) -> Table:  # fmt: skip
    if given.frame.num_rows == 0:
        raise BadInput("a table of counts was to be read", "it has no rows")
    taken = _taken_in(given, count, keys, layout, said, path)
    categories, dropped = taken.categories, taken.dropped
    try:
        counts = taken.laid.counts()
    except BadInput as error:
        taken.problems.append(error)
        counts = np.zeros(taken.laid.frame.num_rows, dtype=np.int64)
    del given
    taken = replace(taken, laid=replace(taken.laid, frame=None))  # read: there is room for what is to be sorted
    if universe is not None and not taken.problems:
        every, fewer = universe_of(universe, categories, taken.rule)
        categories, counts = filled_from(categories, counts, every, list(categories.column_names), taken.laid.rows)
        dropped = max(dropped, fewer)
    if said.suppressed_as is not None:  # counts up to it are shown, too, where zeros are: all are one count to us
        counts = np.maximum(counts, said.suppressed_as)
    schema, order = _published(taken, categories, len(counts), dropped, said, kind)
    del taken, categories  # as they came
    return Table(schema, counts if order is None else counts[order], order)


def _published(taken: _Taken, categories: Any, rows: int, dropped: int, said: _Said, kind: str) -> tuple[Schema, Order]:
    """The schema, or all problems in one error: whoever mends a file would rather know all of them."""
    problems = taken.problems
    schema, order = Schema((), taken.laid.count, 0, categories), None
    try:
        if taken.comparable:
            schema, order = _ordered(categories, rows, taken.laid.count, said.keep_order, kind, taken.laid.rows)
    except BadInput as error:
        problems.append(error)
    if problems:
        raise together(problems)
    schema = replace(
        schema, contributions=taken.bound, rows_are_disjoint=taken.rule.disjoint, dropped_totals=dropped,
        suppressed_as=said.suppressed_as, shares=taken.laid.shares, notes=taken.laid.notes,
    )  # fmt: skip
    return schema, order


def _ordered(
    categories: Any, rows: int, count: str, keep_order: bool, kind: str, named: RowNames = AS_THEY_COME
) -> tuple[Schema, Order]:
    """The schema in published order, and the permutation that leads there (None: as it came)."""
    names = list(categories.column_names)
    order: Order = None
    if not names and not keep_order and rows > 1:
        raise BadInput(
            "a table was to be read",
            "it has no key column, so nothing public tells its rows apart",
            f"Name the key columns, or say {called('keep_order')} if the order of the rows is public",
        )
    if names and not strictly_ascending(categories):
        ordered = in_order(categories, names, named)
        categories, order = (categories, None) if keep_order else ordered
    sorted_by_keys = bool(names) and (not keep_order or strictly_ascending(categories))
    return Schema(tuple(names), count, rows, categories, kind, order="sorted" if sorted_by_keys else "as-given"), order
