"""discreet plan TABLE"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.common import Json, emit
from discreet.cli.flags import command, parameter
from discreet.cli.release_options import PRIVACY, TABLE, WAY, loss_from, table_argument, table_of, way_from

if TYPE_CHECKING:
    from discreet.plan import Plan

Prior = Annotated[
    str | None, typer.Option("--prior", help="file with a public guess of the distribution", metavar="FILE")
]


def planned(**given: Any) -> None:
    from discreet.io.files import read_distribution
    from discreet.plan import plan

    table, loss, way = table_of(given), loss_from(given), way_from(given)
    prior = None if given["prior"] is None else read_distribution(given["prior"])
    if table.in_parts:
        from discreet.parts.plan import plan_parts

        made = plan_parts(table, loss, way, prior)
    else:
        schema, rows = table.read_schema()
        made = plan(schema, loss, way, prior=prior, given_rows=rows)
    emit(given["json"], made.as_json(), lambda: _lines(made))


def _lines(made: Plan) -> Iterator[str]:
    yield f"Columns that will be published: {', '.join(made.published_columns)}."
    for number, step in enumerate(made.steps, start=1):
        yield f"{number}. {step}"
    if made.questions:
        yield "Standard deviation of every answer, and its share of the budget:"
    for one in made.questions:
        yield f"  {one.name:<30} {one.sd:10.4g} {float(Fraction(one.share)):8.1%}"
    if made.expected:
        yield f"Errors to expect, of a count and of the distribution (Wasserstein-1), {made.about}:"
    for row in made.expected:
        yield f"  {row.shape:<12} {row.count_error:10.3g} {row.distribution_error:10.3g}"


run = command(
    planned,
    [
        table_argument("CSV, CSV.gz, Parquet or Excel (.xlsx) file, or a folder of Parquet files; no count is read"),
        *PRIVACY,
    ],
    {**TABLE, **WAY},
    [parameter("prior", Prior, None), parameter("json", Json, False)],
)
