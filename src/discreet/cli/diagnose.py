"""discreet diagnose TABLE | --shape R,C"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.cells import BEFORE, CELLS, cells_of, kept_from
from discreet.cli.common import Json, Plot, Seed, emit, say
from discreet.cli.flags import command, parameter
from discreet.cli.release_options import loss_from

if TYPE_CHECKING:
    from discreet.lattice.chains import Chain
    from discreet.lattice.coupling import Diagnosis

Lag = Annotated[int | None, typer.Option("--lag", help="iterations by which the second chain starts later")]
Runs = Annotated[int, typer.Option("--runs", help="pairs of chains")]
SHOWN = (0.1, 0.01, 0.001)  # distances worth a line each; those that the runs cannot show are left out


def diagnosed(**given: Any) -> None:
    from discreet.cli.working import working
    from discreet.lattice.coupling import diagnose
    from discreet.lattice.kept_chain import kept_chain
    from discreet.plot import check_suffix

    plot, runs = given["plot"], given["runs"]
    if plot is not None:
        check_suffix(plot)
    columns, counts, people = cells_of(given)
    loss, spec = loss_from(given), kept_from(given)
    chain = kept_chain(
        columns, spec.keep, loss, law=spec.law, nonnegative=spec.conditioned, per_unit=spec.per_unit,
        contributions=people,
    )  # fmt: skip
    with working(f"coupling {runs} pairs of chains"):
        diagnosis = diagnose(chain, counts=counts, runs=runs, lag=given["lag"], seed=given["seed"])
    if plot is not None:
        _draw(diagnosis, plot)
    if diagnosis.private_side:
        say("This depends on the secret counts: keep it on the private side.")
    emit(given["json"], as_json(diagnosis), lambda: _lines(diagnosis, chain))


def as_json(diagnosis: Diagnosis) -> dict[str, object]:
    return {
        "curve": [{"iteration": iteration, "bound": bound} for iteration, bound in diagnosis.curve()],
        "runs": diagnosis.runs,
        "lag": diagnosis.lag,
        "floor": diagnosis.floor,
        "grade": diagnosis.grade,
        "private_side": diagnosis.private_side,
    }


def _lines(diagnosis: Diagnosis, chain: Chain) -> Iterator[str]:
    moves = f"{chain.updates} {chain.moved} moves"
    yield f"{diagnosis.runs} pairs of chains, lag {diagnosis.lag}; one iteration is {moves}."
    for distance in SHOWN:
        if distance >= diagnosis.floor:
            yield f"  within {distance:g} of the law after {diagnosis.iterations_for(distance)} iterations"
    yield f"Diagnosed, not proved: {diagnosis.runs} runs show nothing below {diagnosis.floor:.2g}."
    yield f"A draw takes {chain.iterations} iterations."


def _draw(diagnosis: Diagnosis, path: str) -> None:
    from discreet.plot import INK, figure, save

    drawing, axes = figure()
    iterations, bounds = zip(*diagnosis.curve())
    ax = axes[0, 0]
    ax.step(iterations, [max(bound, diagnosis.floor / 10) for bound in bounds], where="post", color=INK)
    ax.axhline(diagnosis.floor, color=INK, linestyle=":", linewidth=0.8)
    ax.annotate("below this the runs show nothing", (0, diagnosis.floor), fontsize=7, va="bottom")
    ax.set_yscale("log")
    ax.set_xlabel("iteration")
    ax.set_ylabel("bound on total variation")
    ax.spines[["top", "right"]].set_visible(False)
    save(drawing, path)


run = command(
    diagnosed,
    BEFORE,
    CELLS,
    [
        parameter("lag", Lag, None), parameter("runs", Runs, 1000), parameter("plot", Plot, None),
        parameter("seed", Seed, None), parameter("json", Json, False),
    ],
)  # fmt: skip
