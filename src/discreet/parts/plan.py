"""Before spending: what a release in parts would do, and how well. Its keys are read, and no count."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import BadInput
from discreet.io.counted import saying_the_bound_alone
from discreet.io.totals import few_texts
from discreet.parts.front import bound_of_all
from discreet.parts.given import Given, given_parts
from discreet.parts.passes import Reading, blocks_of
from discreet.parts.release import not_in_parts
from discreet.parts.sorted import COUNTED, PEOPLE
from discreet.plan import Plan, plan
from discreet.privacy.values import Loss
from discreet.ways import PartBlocks, WaySpec, way_named

if TYPE_CHECKING:
    from discreet.spec.values import TableSpec
    from discreet.table import Schema

MOST_ROWS = 2_000_000  # of which the keys are held in memory, where a plan needs them


def plan_parts(table: TableSpec, loss: Loss, way: WaySpec, prior: Any = None) -> Plan:
    """What `release_parts`, with the same options, would do; refused if it could not."""
    hooks = way_named(way.name).in_parts
    if hooks is None:
        raise not_in_parts(way)
    way = way if hooks.narrowed is None else hooks.narrowed(way)
    kept = None if hooks.by is None else hooks.by(way)
    schema = parts_schema(table, needs_rows=kept is not None)
    if kept is None or hooks.plan is None:
        hooks.require(way_named(way.name).plan(schema, loss, way))
    else:
        block, labels = blocks_of(way.name, kept, schema.categories)
        hooks.plan(schema, loss, way, PartBlocks(labels, (np.arange(len(labels)),), (np.bincount(block),)))
    made = plan(schema, loss, way, prior=prior)
    return replace(made, promise=replace(made.promise, grade="computational"))


def parts_schema(table: TableSpec, needs_rows: bool) -> Schema:
    """The public part of a table in parts, one part after the other; the keys themselves only if they are needed."""
    import pyarrow as pa

    people = table.count == PEOPLE
    keys = table.keys if table.keys is None or isinstance(table.keys, str) else tuple(table.keys)
    reading = Reading(
        COUNTED if people else table.count, keys, table.contributions, table.drop_totals, table.rows_are_disjoint,
        table.suppressed_as,
    )  # fmt: skip
    given = given_parts(table.file)
    if needs_rows and given.rows > MOST_ROWS:
        found = f"it has {given.rows:,} rows, and a plan for kept sums holds the keys of {MOST_ROWS:,} at most"
        raise BadInput("a table in parts was to be planned for", found, "Plan for some of its parts")
    found_parts = [_schema(reading, frame) for frame in _without_counts(table, given, reading.count)]
    first = found_parts[0]
    bound_of_all((one.contributions for one in found_parts), given, reading.contributions)
    reading.refuse_totals([few_texts(one.categories) for one in found_parts], first.contributions)
    return replace(
        first,
        rows=sum(one.rows for one in found_parts),
        dropped_totals=sum(one.dropped_totals for one in found_parts),
        categories=pa.concat_tables([one.categories for one in found_parts]) if needs_rows else None,
    )


def _without_counts(table: TableSpec, given: Given, count: str) -> Any:
    """The parts, or the universe in their place, with zeros where counts would be."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def zeros(frame: Any) -> Any:
        return frame.append_column(count, pa.array(np.zeros(frame.num_rows, dtype=np.int64)))

    if table.universe is not None:
        from discreet.io.universe import read_universe

        if not table.keys or isinstance(table.keys, str):
            raise BadInput(
                "a table with a universe was to be planned for", "its key columns are not named", "Give keys"
            )
        yield zeros(read_universe(table.universe, list(table.keys)))
        return
    for file in given.files:
        with pq.ParquetFile(file) as part:
            columns = part.schema_arrow.names
            if count not in columns:
                raise BadInput(f"the count column {count!r} was asked for", "the table has no such column")
            frame = part.read(columns=[name for name in columns if name != count])
        yield zeros(given.folders.added(saying_the_bound_alone(frame), file))


def _schema(reading: Reading, frame: Any) -> Schema:
    return reading.of(frame).schema
