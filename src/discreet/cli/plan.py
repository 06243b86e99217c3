"""discreet plan TABLE"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import (
    Alpha,
    Count,
    Delta,
    Epsilon,
    Json,
    Keys,
    Rho,
    emit,
    largest_count,
    mechanism_or_file,
    names,
)
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

if TYPE_CHECKING:
    from discreet.plan import Plan


def run(
    table: Annotated[str, typer.Argument(help="CSV, CSV.gz or Parquet file; its counts are not read")],
    count: Count,
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
    prior: Annotated[str | None, typer.Option(help="file with a public guess of the distribution")] = None,
    contributions: Contributions = 1,
    json: Json = False,
) -> None:
    from discreet.io.files import read_distribution
    from discreet.io.tables import read_schema
    from discreet.plan import plan

    planned = plan(
        read_schema(table, count, names(keys), universe, keep_order=keep_order),
        epsilon, alpha=alpha, rho=rho, delta=delta, max_count=largest_count(max_count),
        mechanism=mechanism_or_file(mechanism), consistent=consistent, split=split, refine=refine, base=base,
        keep=keep or (), law=law,
        nonnegative=nonnegative, per_unit=per_unit, allow_diagnosed=allow_diagnosed,
        prior=None if prior is None else read_distribution(prior), contributions=contributions,
    )  # fmt: skip
    emit(json, planned.as_json(), lambda: _lines(planned))


def _lines(planned: Plan) -> Iterator[str]:
    for number, step in enumerate(planned.steps, start=1):
        yield f"{number}. {step}"
    yield "Errors to expect, of a count and of the distribution of counts (Wasserstein-1):"
    for row in planned.expected:
        yield f"  {row['shape']:<12} {row['count_error']:10.3g} {row['distribution_error']:10.3g}"
