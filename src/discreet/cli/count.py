"""`discreet count`: a table of counts from one row per person."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli import common
from discreet.cli.working import working


def run(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="CSV or Parquet file with one row per person or event")],
    by: Annotated[str, typer.Option("--by", help="columns that make a category, separated by commas")],
    universe: Annotated[str, typer.Option("--universe", help="file with every category, whether it occurs or not")],
    out: Annotated[str, typer.Option("-o", "--out", help="CSV or Parquet file to write: it is NOT private")],
    person: Annotated[str | None, typer.Option("--person", help="column that says whose row it is")] = None,
    bound: Annotated[int | None, typer.Option("--bound", help="most rows of one person that are counted")] = None,
    json: common.Json = False,
) -> None:
    from discreet.count import count
    from discreet.io.counted import write_counted

    with working("counting"):
        counted = count(table, common.names(by) or [], universe, person, bound)
    unlisted = write_counted(counted, out)
    if unlisted is not None:
        common.say(
            f"discreet: the digest of {out} could not be listed ({unlisted}); keep its note beside it, or give "
            f"--contributions {counted.schema.contributions} when it is released"
        )
    value = {"rows": len(counted), "out": out, "bound": counted.schema.contributions}
    line = f"Wrote {len(counted)} counts to {out}: true counts, not private. Publish them with `discreet release`."
    common.emit(json, value, [line])
