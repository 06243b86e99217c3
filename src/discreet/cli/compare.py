"""discreet compare --max-count M --epsilon E"""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import Alpha, Epsilon, Json, Plot, RefusedDelta, RefusedRho, emit
from discreet.cli.working import working


def run(
    max_count: Annotated[int, typer.Option("--max-count", help="the largest count")],
    epsilon: Epsilon = None,
    alpha: Alpha = None,
    delta: RefusedDelta = "0",
    rho: RefusedRho = None,
    prior: Annotated[str | None, typer.Option("--prior", help="file with the law of the true counts")] = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    from discreet.compare import compare
    from discreet.io.files import read_distribution

    if plot is not None:
        from discreet.plot import check_suffix

        check_suffix(plot)
    with working("Comparing"):
        law = None if prior is None else read_distribution(prior)
        result = compare(max_count, epsilon, alpha, law, delta=delta, rho=rho)
    if plot is not None:
        result.plot(plot)
    emit(json, result.as_json(), result.table)
