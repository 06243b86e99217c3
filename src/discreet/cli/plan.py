"""discreet plan TABLE"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import Alpha, Count, Epsilon, Json, Keys, Rho, emit, names
from discreet.cli.distribution import largest_count

if TYPE_CHECKING:
    from discreet.plan import Plan


def run(
    table: Annotated[str, typer.Argument(help="CSV, CSV.gz or Parquet file; its counts are not read")],
    count: Count,
    keys: Keys = None,
    universe: Annotated[str | None, typer.Option(help="file with the public set of rows")] = None,
    epsilon: Epsilon = None,
    alpha: Alpha = None,
    rho: Rho = None,
    max_count: Annotated[str | None, typer.Option("--max-count", help="largest count, or 'auto'")] = None,
    mechanism: Annotated[str, typer.Option(help="name of the mechanism")] = "transport",
    consistent: Annotated[bool, typer.Option("--consistent/--independent", help="map by ranks, or row by row")] = False,
    split: Annotated[str | None, typer.Option(help="share of the budget for the distribution")] = None,
    refine: Annotated[bool, typer.Option("--refine/--no-refine", help="re-estimate the distribution")] = True,
    prior: Annotated[str | None, typer.Option(help="file with a public guess of the distribution")] = None,
    contributions: Annotated[int, typer.Option(help="in how many rows one person may be counted")] = 1,
    json: Json = False,
) -> None:
    from discreet.io.files import read_distribution
    from discreet.io.tables import read_schema
    from discreet.plan import plan

    planned = plan(
        read_schema(table, count, names(keys), universe),
        epsilon,
        alpha=alpha,
        rho=rho,
        max_count=largest_count(max_count),
        mechanism=mechanism,
        consistent=consistent,
        split=split,
        refine=refine,
        prior=None if prior is None else read_distribution(prior),
        contributions=contributions,
    )
    emit(json, planned.as_json(), lambda: _lines(planned))


def _lines(planned: Plan) -> Iterator[str]:
    for number, step in enumerate(planned.steps, start=1):
        yield f"{number}. {step}"
    yield "Errors to expect, of a count and of the distribution of counts (Wasserstein-1):"
    for row in planned.expected:
        yield f"  {row['shape']:<12} {row['count_error']:10.3g} {row['distribution_error']:10.3g}"
