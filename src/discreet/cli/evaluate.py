"""discreet evaluate TABLE"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.common import Delta, Json, Plot, emit, names, say
from discreet.cli.flags import command, flags_of, parameter, said, some
from discreet.cli.release_options import TABLE, table_argument, table_of
from discreet.ways import mechanism_names
from discreet.ways.keep_sums.spec import KeepSums
from discreet.ways.row_by_row.spec import RowByRow

if TYPE_CHECKING:
    from discreet.evaluate.study import Evaluation

SHARED = {**some(flags_of(RowByRow), "max_count"), **some(flags_of(KeepSums), "keep")}
LAWS = flags_of(KeepSums)["law"][0]
METHODS = f"by commas: {', '.join(mechanism_names())}; or laws of what --keep leaves: {', '.join(LAWS.known)}"
Methods = Annotated[str, typer.Option("--mechanisms", metavar="A,B,..", help=METHODS)]
Epsilons = Annotated[str, typer.Option("--epsilons", metavar="E,F,..", help="privacy parameters, by commas")]
Repeats = Annotated[int, typer.Option("--repeats", help="simulated releases for each")]
Repeatable = Annotated[int, typer.Option("--seed", help="makes the simulation repeatable")]
Resume = Annotated[str | None, typer.Option("--resume", metavar="FILE", help="file that remembers finished jobs")]
Target = Annotated[str | None, typer.Option("-o", "--output", help="Parquet, CSV or JSON file to write")]


def evaluated(**given: Any) -> None:
    from discreet.evaluate.files import check_target
    from discreet.evaluate.study import WARNING, evaluate

    output, plot = given["output"], given["plot"]
    if output is not None:
        check_target(Path(output))
    if plot is not None:
        from discreet.plot import check_suffix

        check_suffix(plot)
    say(WARNING)
    found = evaluate(
        replace(table_of(given), rows_are_disjoint=True).read(),  # nothing is promised: a total does no harm
        names(given["mechanisms"]) or [],
        names(given["epsilons"]) or [],
        given["repeats"],
        delta=given["delta"],
        seed=given["seed"],
        resume=given["resume"],
        **said(given, SHARED),
    )
    if output is not None:
        found.save(output)
    if plot is not None:
        found.plot(plot)
    emit(given["json"], found.as_json(), lambda: _lines(found))


def _lines(found: Evaluation) -> Iterator[str]:
    yield f"{'method':<22}{'epsilon':>9}  {'metric':<16}{'value':>12}   {100 * found.level:g}% interval"
    for row in found.rows:
        if row["metric"] != "bias":
            between = "exact" if row["exact"] else f"{row['low']:.4g} to {row['high']:.4g}"
            yield f"{row['method']:<22}{row['epsilon']:>9}  {row['metric']:<16}{row['value']:>12.4g}   {between}"


run = command(
    evaluated,
    [
        table_argument("CSV, CSV.gz or Parquet file with true counts"), parameter("mechanisms", Methods),
        parameter("epsilons", Epsilons), parameter("delta", Delta, "0"),
    ],
    {**TABLE, **SHARED},
    [
        parameter("repeats", Repeats, 100), parameter("seed", Repeatable, 0), parameter("resume", Resume, None),
        parameter("output", Target, None), parameter("plot", Plot, None), parameter("json", Json, False),
    ],
)  # fmt: skip
