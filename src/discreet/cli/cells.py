"""The cells that commands on the private side work on: a table's, or those of a shape."""

from __future__ import annotations

from typing import Any

from discreet.cli.common import names


def cells_of(
    table: str | None, shape: str | None, count: str | None, keys: str | None
) -> tuple[dict[str, list[Any]], Any, int]:
    """Key columns; of a table also its counts, and in how many rows one person may be counted."""
    from discreet.errors import BadInput
    from discreet.lattice.kept_chain import keys_of_shape

    if (table is None) == (shape is None):
        raise BadInput("the cells of a table were needed", "exactly one of TABLE and --shape must be given")
    if shape is not None:
        sizes = names(shape) or []
        if not sizes or not all(size.isdigit() for size in sizes):
            raise BadInput(f"--shape {shape} was given", "a shape is whole numbers", "Write --shape 4,4")
        return dict(keys_of_shape(map(int, sizes))), None, 1
    if count is None or table is None:
        raise BadInput(
            f"the table {table} was given", "which column holds the counts is not said", "Add --count COLUMN"
        )
    from discreet.io.tables import read_table

    # sums of a file are about its rows as they stand; nothing is promised here, so a total among them does no harm
    source = read_table(table, count, names(keys), keep_order=True, rows_are_disjoint=True)
    columns = {name: source.schema.column(name) for name in source.schema.keys}
    return columns, source.counts, source.schema.contributions
