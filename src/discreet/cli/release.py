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
    largest_count,
    mechanism_or_file,
    names,
    released,
)  # fmt: skip
from discreet.cli.release_options import (
    AllowDiagnosed,
    Base,
    Consistent,
    Contributions,
    Keep,
    KeepOrder,
    Law,
    MaxCount,
    Mechanism,
    Nonnegative,
    PerUnit,
    Refine,
    Split,
    Universe,
)  # fmt: skip


def run(
    table: Annotated[str, typer.Argument(help="CSV, CSV.gz or Parquet file")],
    count: Count,
    out: Out,
    keys: Keys = None,
    universe: Universe = None,
    epsilon: Epsilon = None,
    alpha: Alpha = None,
    rho: Rho = None,
    delta: Delta = "0",
    max_count: MaxCount = None,
    mechanism: Mechanism = None,
    consistent: Consistent = None,
    split: Split = None,
    refine: Refine = None,
    base: Base = "geometric",
    keep: Keep = None,
    law: Law = "l1",
    nonnegative: Nonnegative = False,
    per_unit: PerUnit = False,
    allow_diagnosed: AllowDiagnosed = False,
    keep_order: KeepOrder = False,
    contributions: Contributions = 1,
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
    source = dc.read_table(table, count, names(keys), universe, keep_order=keep_order, contributions=contributions)
    result = dc.release(
        source, epsilon, alpha=alpha, rho=rho, delta=delta, max_count=largest_count(max_count),
        mechanism=mechanism_or_file(mechanism), consistent=consistent, split=split, refine=refine, base=base,
        keep=keep or (), law=law,
        nonnegative=nonnegative, per_unit=per_unit, allow_diagnosed=allow_diagnosed, measurements=measurements,
        ledger=ledger, dataset=dataset, seed=seed,
    )  # fmt: skip
    digest = result.save(out, format)
    emit(json, *released(result, out, digest))
