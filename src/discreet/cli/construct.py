"""discreet construct --distribution FILE --epsilon E --method NAME"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import Alpha, Delta, Epsilon, Json, Rho, emit, named_cost
from discreet.cli.working import working

if TYPE_CHECKING:
    from discreet.build.construct import Construction


def run(
    distribution: Annotated[str, typer.Option("--distribution", help="file with the distribution of counts")],
    epsilon: Epsilon = None,
    alpha: Alpha = None,
    delta: Delta = "0",
    rho: Rho = None,
    method: Annotated[
        str, typer.Option("--method", help="transport, heuristic-best, column-generation, ...")
    ] = "transport",
    cost: Annotated[str, typer.Option("--cost", help="a cost by name, or a file with a matrix")] = "absolute",
    seconds: Annotated[
        float, typer.Option("--seconds", help="time for column generation before it gives what it has")
    ] = 60,
    json: Json = False,
) -> None:
    from discreet.build.construct import construct
    from discreet.io.files import read_distribution

    law = read_distribution(distribution)
    with working("Constructing"):
        result = construct(law, epsilon, alpha, method, named_cost(cost), delta=delta, rho=rho, seconds=seconds)
    emit(json, result.as_json() if json else None, lambda: _lines(result))


def _lines(result: Construction) -> list[str]:
    lines = [f"{result.method}: expected cost {result.cost:.8g}."]
    if result.lower_bound is not None:
        lines.append(
            f"No such mechanism costs less than {result.lower_bound:.8g}: the gap is {result.gap:.1e}, proven."
        )
    lines.append(f"The published distribution is off by {result.fixed_point_residual:.1e} at most.")
    return lines + [note[0].upper() + note[1:] + "." for note in result.notes]
