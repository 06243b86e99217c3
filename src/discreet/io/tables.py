"""The frame boundary: files and data frames in, tables of counts; private counts out, in a frame of the same kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.io.bounded import is_bytes
from discreet.io.counts import Writing
from discreet.io.key_columns import Keys, must_have
from discreet.io.layout import Arrangement, Laid, Read, laid_out, read_given
from discreet.io.rows import AS_THEY_COME, NAMED, RowNames, together
from discreet.io.totals import TotalsRule, without_totals
from discreet.numbers import whole
from discreet.options import spelt
from discreet.table import Schema, Table

Order = Integers | None

LONGEST_COLUMN = 1 << 30  # bytes that are put into one array of text: it could hold twice as many
KINDS = {".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx"}
WHOLE = r"^(0|-?[1-9][0-9]*)$"  # how a CSV file of ours has its counts


@spelt
def read_table(
    path: str | Path,
    count: str | Sequence[str],
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
    in each of them. `wide` names the key whose values the names of the columns are, in a crosstab. `sheet` and
    `header_row` say where a table stands, `thousands` what stands between thousands, `suppressed_as` up to which count
    a public rule suppressed counts.
    """
    layout = _layout(sheet, header_row, thousands, wide, suppressed_as)
    said = _Said(contributions, drop_totals, rows_are_disjoint, keep_order, suppressed_as)
    return _table(read_given(path, layout), count, keys, universe, layout, said, file_kind(path), path)


@spelt
def table(
    frame: Any,
    count: str | Sequence[str],
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
) -> Table:
    """A table of counts from a pandas, polars or pyarrow frame; the rest as in `read_table`."""
    arrow, kind = to_arrow(frame)
    layout = _layout(None, None, thousands, wide, suppressed_as)
    said = _Said(contributions, drop_totals, rows_are_disjoint, keep_order, suppressed_as)
    return _table(Read(arrow), count, keys, universe, layout, said, kind, None)


def read_schema(
    path: str | Path,
    count: str | Sequence[str],
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
        categories, fewer = _universe_of(universe, categories, taken.rule)
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
    given: Read, count: str | Sequence[str], keys: Keys, layout: Arrangement, said: _Said, path: str | Path | None
) -> _Taken:
    from discreet.io.counted import bound_of

    laid = laid_out(given, count, keys, layout)
    names = list(laid.keys)
    read = given.frame if laid.rows.column_of is not None else laid.frame
    known = [name for name in (*names, laid.count, *laid.rows.columns) if name in read.column_names]
    bound = bound_of(path, read, said.contributions, known) * laid.times
    paid = said.contributions is not None and (said.contributions if path is not None else bound) > 1
    rule = TotalsRule(said.drop_totals, said.rows_are_disjoint, paid=paid)
    problems: list[BadInput] = []
    laid, dropped = replace(laid, frame=_with_texts(laid.frame, names)), 0
    try:
        stays = without_totals(laid.frame, names, rule, laid.rows)
        if stays is not None:
            laid, dropped = laid.filtered(stays), int((~stays).sum())
    except BadInput as error:
        problems.append(error)
    categories, comparable = laid.frame.select(names), True
    try:
        categories = _plain(categories, laid.rows)
    except BadInput as error:
        problems.append(error)
        comparable = False
    return _Taken(laid, categories, bound, rule, dropped, problems, comparable)


def _table(
    given: Read, count: str | Sequence[str], keys: Keys, universe: Any, layout: Arrangement, said: _Said, kind: str,
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
    if universe is not None and not taken.problems:
        every, fewer = _universe_of(universe, categories, taken.rule)
        categories, counts = _filled(categories, counts, every, list(categories.column_names), taken.laid.rows)
        dropped = max(dropped, fewer)
    schema, order = _published(taken, categories, len(counts), dropped, said, kind)
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
        suppressed_as=said.suppressed_as, notes=taken.laid.notes,
    )  # fmt: skip
    return schema, order


def file_kind(path: str | Path) -> str:
    """By its name: parquet, xlsx, or csv."""
    return KINDS.get(Path(path).suffix.lower(), "csv")


def read_frame(path: str | Path) -> Any:
    """A file as an Arrow table. Columns of CSV and of workbooks are text."""
    return read_given(path).frame


def read_parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise BadInput(f"{path} was to be read as Parquet", str(error).splitlines()[0]) from error


def lazy_frame(frame: Any) -> Any:
    """A lazy frame as narwhals has it: of DuckDB, Spark, Ibis, Polars; None where it is another thing."""
    import narwhals as nw

    wrapped = nw.from_native(frame, pass_through=True)
    return wrapped if isinstance(wrapped, nw.LazyFrame) else None


def to_arrow(frame: Any) -> tuple[Any, str]:
    """Any frame narwhals knows, as an Arrow table, with the name of its kind; a lazy one is collected, once."""
    import narwhals as nw
    import pyarrow as pa

    try:
        lazy = lazy_frame(frame)
        wrapped = nw.from_native(frame, eager_only=True) if lazy is None else lazy.collect()
    except nw.exceptions.DuplicateError as error:
        raise BadInput("a data frame was given", "two of its columns have the same name") from error
    except TypeError as error:
        raise BadInput(
            f"a {type(frame).__name__} was given as a table",
            "it is not a data frame of pandas, polars, pyarrow, DuckDB, Spark or Ibis",
            "Read a file with read_table, or make a frame of it",
        ) from error
    columns = nw.maybe_reset_index(wrapped)  # an index is no column: it stays behind
    kind = str(wrapped.implementation.value)
    try:
        return columns.to_arrow(), kind
    except pa.ArrowException:  # some column mixes values of different kinds
        return pa.table({name: _as_text(columns[name].to_list()) for name in columns.columns}), kind


def _as_text(values: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values, from_pandas=True)
    except pa.ArrowException:
        return pa.array([None if value is None or value != value else str(value) for value in values])


def arrow_frame(schema: Schema, counts: Integers) -> Any:
    """The public key columns and one column of counts, as an Arrow table that shares the counts' memory."""
    import pyarrow as pa

    values = np.ascontiguousarray(counts, dtype=np.int64)
    column = pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])
    return pa.Table.from_arrays([*schema.categories.columns, column], names=[*schema.keys, schema.count])


def whole_numbers(frame: Any, name: str) -> Integers:
    """A column of whole numbers, if they are written as a release writes them: zeros before a number could say what
    it hides."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from discreet.errors import Damaged

    column, usual = frame.column(name), True
    if pa.types.is_string(column.type):
        usual = pc.all(pc.match_substring_regex(column, WHOLE), min_count=0).as_py()
    elif not pa.types.is_int64(column.type):
        usual = False
    if not usual or column.null_count:
        raise Damaged(name, "a value in it is not a whole number, written in the usual way")
    try:
        values: Integers = column.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid as error:
        raise Damaged(name, "a value in it is not a whole number") from error
    return values


def to_frame(schema: Schema, counts: Integers) -> Any:
    """The same as a frame of the schema's kind."""
    return to_kind(arrow_frame(schema, counts), schema.kind)


def to_kind(arrow: Any, kind: str) -> Any:
    """An Arrow table as a frame of that kind."""
    import narwhals as nw

    if kind == "pandas":
        return arrow.to_pandas()
    if kind in {"pyarrow", "csv", "parquet", "xlsx"}:
        return arrow
    return nw.from_arrow(arrow, backend=cast(Any, kind)).to_native()


def _universe_of(universe: Any, categories: Any, rule: TotalsRule) -> tuple[Any, int]:
    names = list(categories.column_names)
    every = read_universe(universe, names)
    stays = without_totals(every, names, rule)
    return (every, 0) if stays is None else (every.filter(stays), int((~stays).sum()))


def _with_texts(frame: Any, names: Sequence[str]) -> Any:
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


def _plain(categories: Any, rows: RowNames = AS_THEY_COME) -> Any:
    """Key columns with nothing hidden in them: no metadata, no dictionary that lists values which do not occur."""
    import pyarrow as pa

    columns = {}
    for name in categories.column_names:
        column = categories.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        strange = pa.types.is_nested(column.type) or isinstance(column.type, pa.BaseExtensionType)
        if len(column) and (strange or not _has_order(column)):
            found = f"its values are of type {column.type}"
            raise BadInput(f"{name!r} is a key column", found, "Write them as text", column=name)
        may_miss = column.null_count or pa.types.is_floating(column.type)
        if may_miss and (missing := column.is_null(nan_is_null=True).to_numpy()).any():
            raise _missing(name, [rows.number(row) for row in np.flatnonzero(missing)[: NAMED + 1].tolist()])
        columns[name] = _cut_off(column)
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def _cut_off(column: Any) -> Any:
    """The column in memory of its own: a slice keeps the rows that were cut off."""
    import pyarrow as pa

    if column.num_chunks > 1 and column.nbytes < LONGEST_COLUMN:
        column = pa.chunked_array([column.combine_chunks()])
    return column.take(pa.array(np.arange(len(column)))) if column.get_total_buffer_size() > column.nbytes else column


def _missing(name: str, numbers: list[int]) -> BadInput:
    told = [f"row {number}, column {name!r} is missing" for number in numbers[:NAMED]]
    more = ["more"] if len(numbers) > NAMED else []
    do = "Write every key in its row; of merged cells a file has only the first"
    found = "; ".join([*told, *more])
    return BadInput(f"{name!r} is a key column", found, do, row=numbers[0], column=name)


def _has_order(column: Any) -> bool:
    """Whether Arrow can compare such values: of half floats and some spans of time it cannot."""
    import pyarrow as pa

    try:
        _compared(column.slice(0, 0))
    except pa.ArrowNotImplementedError:
        return False
    return True


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
            "Name the key columns, or say keep_order if the order of the rows is public",
        )
    if names and not strictly_ascending(categories):
        order = _sorting(categories)
        _refuse_duplicates(categories.take(order), order, names, named)
        if keep_order:
            order = None
        else:
            categories = categories.take(order)
    sorted_by_keys = bool(names) and (not keep_order or strictly_ascending(categories))
    return Schema(tuple(names), count, rows, categories, kind, order="sorted" if sorted_by_keys else "as-given"), order


def _sorting(categories: Any) -> Any:
    import pyarrow.compute as pc

    numbered = _numbered(categories)
    return pc.sort_indices(numbered, sort_keys=[(name, "ascending") for name in numbered.column_names]).to_numpy()


def _numbered(categories: Any) -> Any:
    """With names of our own: Arrow takes a name that begins with a point or a bracket for a path."""
    return categories.rename_columns([f"key {place}" for place in range(categories.num_columns)])


def _adjacent(categories: Any) -> tuple[Any, Any]:
    """For neighbouring rows: whether the first is less, and whether they are equal."""
    less = np.zeros(categories.num_rows - 1, dtype=bool)
    equal = np.ones(categories.num_rows - 1, dtype=bool)
    for name in categories.column_names:
        smaller, same = _compared(categories.column(name))
        less |= equal & smaller
        equal &= same
    return less, equal


def _compared(column: Any) -> tuple[Any, Any]:
    """The same of one column."""
    import pyarrow.compute as pc

    first, second = column.slice(0, max(len(column) - 1, 0)), column.slice(1)
    return pc.less(first, second).to_numpy(), pc.equal(first, second).to_numpy()


def strictly_ascending(categories: Any) -> bool:
    return categories.num_rows < 2 or bool(_adjacent(categories)[0].all())


def may_be_ascending(categories: Any) -> bool:
    """Whether rows read from a file ascend: CSV does not tell numbers from text, so either order of them will do.

    A column that ascends as text is taken as text: what is equal then is equal as numbers too, so that no more pairs
    of rows are left for the next columns to tell apart than if it had been taken as numbers.
    """
    open_ = np.ones(max(categories.num_rows - 1, 0), dtype=bool)  # neighbours that are equal so far
    for column in categories.columns:
        for reading in (column, *_as_numbers(column)):
            less, equal = _compared(reading)
            if (less | equal)[open_].all():
                open_ &= equal
                break
        else:
            return False
    return not open_.any()


def _as_numbers(column: Any) -> list[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return []
    for kind in (pa.int64(), pa.float64()):
        try:
            return [pc.cast(column, kind)]
        except pa.ArrowInvalid:
            continue
    return []


def _refuse_duplicates(ordered: Any, order: Any, names: list[str], rows: RowNames = AS_THEY_COME) -> None:
    if ordered.num_rows < 2:
        return
    _, equal = _adjacent(ordered)
    if equal.any():
        place = int(equal.argmax())
        one, other = sorted(rows.number(int(order[place + side])) for side in (0, 1))
        raise BadInput(
            f"every row must have its own keys ({', '.join(names)})",
            f"rows {one} and {other} have the same",
            "Add up the counts of such rows, or name more key columns",
            rows=(one, other),
        )


def read_universe(universe: Any, names: Sequence[str]) -> Any:
    """The public set of rows: a frame or file with the key columns, or lists of values whose combinations are meant."""
    import pyarrow as pa

    if isinstance(universe, (str, Path)) and Path(universe).suffix.lower() == ".json":
        try:
            universe = json.loads(Path(universe).read_text(encoding="utf-8-sig"))
        except (OSError, ValueError) as error:
            raise BadInput(f"the universe was to be read from {universe}", str(error)) from error
    if isinstance(universe, dict):
        missing = next((name for name in names if name not in universe), None)
        if missing is not None:
            raise BadInput("a universe was given", f"it has no list of values for the key column {missing!r}")
        wrong = next((name for name in names if not isinstance(universe[name], (list, tuple))), None)
        if wrong is not None:
            raise BadInput("a universe was given", f"the values of the key column {wrong!r} are not a list")
        rows = list(product(*(universe[name] for name in names)))
        frame = pa.table({name: _as_text([row[k] for row in rows]) for k, name in enumerate(names)})
    else:
        frame = read_frame(universe) if isinstance(universe, (str, Path)) else to_arrow(universe)[0]
    for name in names:
        must_have(name, frame.column_names, "key column of the universe")
    categories = _plain(_with_texts(frame, names).select(list(names)))
    order = _sorting(categories)
    _refuse_duplicates(categories.take(order), order, list(names))
    return categories


def _filled(
    categories: Any, counts: Integers, universe: Any, names: list[str], named: RowNames = AS_THEY_COME
) -> tuple[Any, Integers]:
    """The rows of the universe with their counts, zero where the table has none; rows outside it are refused."""
    import pyarrow as pa

    try:
        universe = universe.cast(categories.schema)
        known = _numbered(universe).append_column("place", pa.array(np.arange(universe.num_rows)))
        rows = _numbered(categories).append_column("row", pa.array(np.arange(len(counts))))
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
        order = _sorting(categories)
        _refuse_duplicates(categories.take(order), order, names, named)
    filled = np.zeros(universe.num_rows, dtype=np.int64)
    filled[places.to_numpy()] = counts
    return universe, filled
