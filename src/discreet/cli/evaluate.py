"""discreet evaluate TABLE"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import Count, Delta, Json, Keys, Plot, emit, names, say

if TYPE_CHECKING:
    from discreet.evaluate.study import Evaluation


def run(
    table: Annotated[str, typer.Argument(help="CSV, CSV.gz or Parquet file with true counts")],
    count: Count,
    mechanisms: Annotated[str, typer.Option("--mechanisms", help="mechanisms (or laws, with --keep), by commas")],
    epsilons: Annotated[str, typer.Option("--epsilons", help="privacy parameters, separated by commas")],
    repeats: Annotated[int, typer.Option("--repeats", help="simulated releases for each")] = 100,
    keys: Keys = None,
    max_count: Annotated[int | None, typer.Option("--max-count", help="the largest count")] = None,
    delta: Delta = "0",
    keep: Annotated[list[str] | None, typer.Option("--keep", help="total, margin:COL or sum:COL=VALUE")] = None,
    seed: Annotated[int, typer.Option("--seed", help="makes the simulation repeatable")] = 0,
    resume: Annotated[str | None, typer.Option("--resume", help="file that remembers finished jobs")] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="Parquet, CSV or JSON file to write")] = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    from discreet.evaluate.files import check_target
    from discreet.evaluate.study import WARNING, evaluate
    from discreet.io.tables import read_table

    if output is not None:
        check_target(Path(output))
    if plot is not None:
        from discreet.plot import check_suffix

        check_suffix(plot)
    say(WARNING)
    found = evaluate(
        read_table(table, count, names(keys), rows_are_disjoint=True),  # nothing is promised: a total does no harm
        names(mechanisms) or [],
        names(epsilons) or [],
        repeats,
        max_count=max_count,
        delta=delta,
        keep=keep or (),
        seed=seed,
        resume=resume,
    )
    if output is not None:
        found.save(output)
    if plot is not None:
        found.plot(plot)
    emit(json, found.as_json(), lambda: _lines(found))


def _lines(found: Evaluation) -> Iterator[str]:
    yield f"{'method':<22}{'epsilon':>9}  {'metric':<16}{'value':>12}   {100 * found.level:g}% interval"
    for row in found.rows:
        if row["metric"] != "bias":
            between = "exact" if row["exact"] else f"{row['low']:.4g} to {row['high']:.4g}"
            yield f"{row['method']:<22}{row['epsilon']:>9}  {row['metric']:<16}{row['value']:>12.4g}   {between}"
