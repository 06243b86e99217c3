"""discreet distribution TABLE"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import Alpha, Count, Epsilon, Json, Keys, Rho, Seed, emit, names, say

if TYPE_CHECKING:
    from discreet.distribution import PrivateDistribution


def run(
    table: Annotated[str, typer.Argument(help="CSV, CSV.gz or Parquet file")],
    count: Count,
    keys: Keys = None,
    epsilon: Epsilon = None,
    alpha: Alpha = None,
    rho: Rho = None,
    delta: Annotated[str, typer.Option("--delta", help="for cyclic-gaussian only")] = "0",
    max_count: Annotated[str | None, typer.Option("--max-count", help="largest count, or 'auto'")] = None,
    method: Annotated[str, typer.Option("--method", help="name of the privatizer")] = "cumulative",
    projection: Annotated[str | None, typer.Option(help="clip, simplex, isotonic or median")] = None,
    contributions: Annotated[int | None, typer.Option(help="in how many rows one person may be counted")] = None,
    drop_totals: Annotated[bool, typer.Option("--drop-totals", help="leave out rows whose keys mean a total")] = False,
    rows_are_disjoint: Annotated[
        bool, typer.Option("--rows-are-disjoint", help="your word that no row is a total of others")
    ] = False,
    allow_idealised: Annotated[bool, typer.Option("--allow-idealised", help="accept continuous noise")] = False,
    ledger: Annotated[str | None, typer.Option("--ledger", help="file or URL of the ledger", metavar="URL")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", help="name of the data set in the ledger")] = None,
    note: Annotated[str, typer.Option("--note", help="what it is for, in the ledger", metavar="TEXT")] = "",
    who: Annotated[str, typer.Option("--who", help="who makes it, in the ledger", metavar="NAME")] = "",
    seed: Seed = None,
    json: Json = False,
) -> None:
    from discreet.distribution import private_distribution
    from discreet.io.tables import read_table
    from discreet.ways.keep_distribution.spec import count_or_word

    private_distribution(
        read_table(
            table,
            count=count,
            keys=names(keys),
            contributions=contributions,
            drop_totals=drop_totals,
            rows_are_disjoint=rows_are_disjoint,
        ),
        epsilon,
        alpha,
        method,
        max_count if max_count is None else count_or_word(max_count),
        rho=rho,
        delta=delta,
        projection=projection,
        allow_idealised=allow_idealised,
        ledger=ledger,
        dataset=dataset,
        note=note,
        who=who,
        seed=seed,
        publish=lambda made: _publish(made, json),
    )


def _publish(private: PrivateDistribution, json: bool) -> None:
    """All of it is out when this returns: only then is the ledger told."""
    if not private.private:
        say("discreet: NOT PRIVATE, the noise came from a seed")
    emit(json, private.as_json(), lambda: _lines(private))
    sys.stdout.flush()


def _lines(private: PrivateDistribution) -> Iterator[str]:
    yield f"{private.method}, counts 0..{private.max_count} of {private.rows} rows ({private.grade})"
    width = len(str(private.max_count))
    for value, share in enumerate(private.distribution):
        yield f"{value:{width}d} {share:8.5f} {'#' * round(60 * float(share))}".rstrip()
