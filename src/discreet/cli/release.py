"""discreet release TABLE"""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import (
    Alpha,
    Count,
    Delta,
    Epsilon,
    Json,
    Keys,
    Out,
    Rho,
    Seed,
    emit,
    names,
    released,
)  # fmt: skip


def run(
    table: Annotated[str, typer.Argument(help="CSV, CSV.gz or Parquet file")],
    count: Count,
    out: Out,
    keys: Keys = None,
    universe: Annotated[str | None, typer.Option(help="file with the public set of rows")] = None,
    epsilon: Epsilon = None,
    alpha: Alpha = None,
    rho: Rho = None,
    delta: Delta = "0",
    max_count: Annotated[str | None, typer.Option(help="largest count, or 'auto'")] = None,
    mechanism: Annotated[str | None, typer.Option(help="name of the mechanism; transport if not given")] = None,
    consistent: Annotated[
        bool | None, typer.Option("--consistent/--independent", help="map by ranks, or every row on its own")
    ] = None,
    split: Annotated[str | None, typer.Option(help="share of the budget for the distribution")] = None,
    refine: Annotated[bool | None, typer.Option("--refine/--no-refine", help="re-estimate the distribution")] = None,
    base: Annotated[str, typer.Option(help="noise under the map: geometric or gaussian")] = "geometric",
    keep: Annotated[list[str] | None, typer.Option(help="total, margin:A,B, sum:COL=VALUE or a CSV file")] = None,
    law: Annotated[str, typer.Option(help="noise on the lattice: l1, l2 or gaussian")] = "l1",
    nonnegative: Annotated[bool, typer.Option("--nonnegative", help="no negative counts")] = False,
    per_unit: Annotated[bool, typer.Option("--per-unit", help="epsilon per unit of distance")] = False,
    allow_diagnosed: Annotated[bool, typer.Option("--allow-diagnosed", help="accept a chain's sample")] = False,
    keep_order: Annotated[bool, typer.Option("--keep-order", help="the order of rows is public")] = False,
    contributions: Annotated[int, typer.Option(help="in how many rows one person may be counted")] = 1,
    measurements: Annotated[bool, typer.Option("--measurements/--no-measurements")] = True,
    format: Annotated[str | None, typer.Option(help="csv or parquet")] = None,
    ledger: Annotated[str | None, typer.Option(help="file or URL of the ledger")] = None,
    dataset: Annotated[str | None, typer.Option(help="name of the data set in the ledger")] = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    import discreet as dc
    from discreet.io.folder import check_format, free_target

    free_target(out)
    check_format(format)
    source = dc.read_table(
        table,
        count,
        "all" if keys == "all" else names(keys),
        universe,
        keep_order=keep_order,
        contributions=contributions,
    )
    result = dc.release(
        source, epsilon, alpha=alpha, rho=rho, delta=delta, max_count=_max_count(max_count), mechanism=mechanism,
        consistent=consistent, split=split, refine=refine, base=base, keep=keep or (), law=law,
        nonnegative=nonnegative, per_unit=per_unit, allow_diagnosed=allow_diagnosed, measurements=measurements,
        ledger=ledger, dataset=dataset, seed=seed,
    )  # fmt: skip
    digest = result.save(out, format)
    emit(json, *released(result, out, digest))


def _max_count(word: str | None) -> int | str | None:
    return int(word) if word is not None and word.lstrip("-").isdigit() else word
