"""The cells that commands on the private side work on, a table's or those of a shape, and the noise they ask for."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.common import names
from discreet.cli.flags import Given, flags_of, parameter, said, some
from discreet.cli.release_options import PRIVACY, TABLE
from discreet.ways.keep_sums.spec import KeepSums

KEPT = some(flags_of(KeepSums), "keep", "law", "nonnegative", "per_unit")  # what a chain can do, too
CELLS = {**TABLE, **KEPT}
File = Annotated[str | None, typer.Argument(help="CSV, CSV.gz or Parquet file")]
Shape = Annotated[
    str | None, typer.Option("--shape", metavar="R,C", help="instead of a table: key columns 'row' and 'column'")
]
BEFORE = (parameter("table", File, None), parameter("shape", Shape, None), *PRIVACY)


def kept_from(given: Given, flags: Any = KEPT) -> KeepSums:
    """What is kept, and how; noise alone can only be conditioned, since there is nothing to project."""
    asked = said(given, flags)
    return KeepSums(**asked, nonnegative_by="condition" if asked.get("nonnegative") else None)


def cells_of(given: Given) -> tuple[dict[str, list[Any]], Any, int]:
    """Key columns; of a table also its counts, and in how many rows one person may be counted."""
    from discreet.errors import BadInput
    from discreet.lattice.kept_chain import keys_of_shape
    from discreet.numbers import whole_of

    table, shape = given["table"], given["shape"]
    if (table is None) == (shape is None):
        raise BadInput("the cells of a table were needed", "exactly one of TABLE and --shape must be given")
    if shape is not None:
        words = names(shape) or []
        sizes = [size for word in words if (size := whole_of(word)) is not None]
        if not words or len(sizes) < len(words):
            raise BadInput(f"--shape {shape} was given", "a shape is whole numbers", "Write --shape 4,4")
        return dict(keys_of_shape(sizes)), None, 1
    from dataclasses import replace

    from discreet.cli.release_options import table_of

    # sums of a file are about its rows as they stand; nothing is promised here, so a total among them does no harm
    source = replace(table_of(given), keep_order=True, rows_are_disjoint=True).read()
    columns = {name: source.schema.column(name) for name in source.schema.keys}
    return columns, source.counts, source.schema.contributions
