"""discreet design --max-count M --epsilon E"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import Alpha, Delta, Epsilon, Json, Plot, RefusedRho, emit, named_cost
from discreet.cli.working import working

if TYPE_CHECKING:
    from discreet.build.design import Design


def run(
    max_count: Annotated[int, typer.Option("--max-count", help="the largest count")],
    epsilon: Epsilon = None,
    alpha: Alpha = None,
    delta: Delta = "0",
    rho: RefusedRho = None,
    objective: Annotated[
        str, typer.Option("--objective", help="a cost by name, a file with a matrix, or delta: the least there is")
    ] = "wrong",
    minimax: Annotated[bool, typer.Option("--minimax", help="the worst count's cost, weighted by its prior")] = False,
    prior: Annotated[str | None, typer.Option("--prior", help="file with the law of the true counts")] = None,
    require: Annotated[list[str] | None, typer.Option("--require", help="e.g. fair or truth=1/2; repeatable")] = None,
    mechanism: Annotated[str | None, typer.Option("--mechanism", help="an explicit mechanism by name")] = None,
    method: Annotated[str, typer.Option("--method", help="auto, or program to solve in any case")] = "auto",
    seconds: Annotated[
        float, typer.Option("--seconds", help="of a large design: how long to look for something better")
    ] = 60.0,
    output: Annotated[str | None, typer.Option("-o", "--output", help="write the JSON to this file")] = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    from discreet.build.design import design
    from discreet.io.files import read_distribution, write_json

    if plot is not None:
        from discreet.plot import check_suffix

        check_suffix(plot)
    with working("Designing") as say:
        result = design(
            max_count,
            epsilon,
            alpha,
            delta,
            rho=rho,
            objective=named_cost(objective),
            prior=None if prior is None else read_distribution(prior),
            require=require or [],
            minimax=minimax,
            mechanism=mechanism,
            method=method,
            seconds=seconds,
            tell=lambda gap, spent: say(f"{spent:.0f} of {seconds:g} s, at most {gap:.2%} above the best possible"),
        )
    if output is not None:
        write_json(output, result.as_json())
    if plot is not None:
        _draw(result, plot)
    emit(json, result.as_json() if json else None, lambda: _lines(result))


def _draw(result: Design, path: str) -> None:
    from discreet import plot

    title = f"{result.mechanism.name}, {result.objective.name} {result.value:.4g}"
    plot.save(plot.heat_map(result.mechanism.matrix(), title=title), path)


def _lines(result: Design) -> list[str]:
    bound = "" if result.lower_bound is None else f" (no such mechanism is below {result.lower_bound:.8g}: proven)"
    above = result.gap / abs(result.value) if result.gap and result.value else 0.0
    held = [name for name, holds in result.properties.items() if holds]
    failed = [f"{name}: {witness.sentence}" for name, witness in result.requirements.items() if witness is not None]
    return [
        f"{result.mechanism.name} ({result.method}): {result.reason}.",
        f"Private: epsilon = {result.epsilon}, delta = {float(result.delta):.3g}; proved in integers.",
        f"Cost '{result.objective.name}': {result.value:.8g}{bound}.",
        *([f"That is at most {above:.2g} of the cost above the best possible."] if result.method == "anytime" else []),
        "Costs: " + ", ".join(f"{name} {value:.6g}" for name, value in result.cost.items()) + ".",
        "Properties: " + (", ".join(held) or "none") + ".",
        *([f"Not asked for, and had at no loss: {', '.join(result.free)}."] if result.free else []),
        *(f"Not met: {line}." for line in failed),
    ]
