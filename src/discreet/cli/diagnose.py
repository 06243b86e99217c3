"""discreet diagnose TABLE | --shape R,C"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.cells import cells_of
from discreet.cli.common import Alpha, Delta, Epsilon, Json, Keys, Plot, Rho, Seed, emit, say

if TYPE_CHECKING:
    from discreet.lattice.chains import ChainSampler
    from discreet.lattice.coupling import Diagnosis

SHOWN = (0.1, 0.01, 0.001)  # distances worth a line each; those that the runs cannot show are left out


def run(
    table: Annotated[str | None, typer.Argument(help="CSV, CSV.gz or Parquet file")] = None,
    shape: Annotated[str | None, typer.Option(help="instead of a table: R,C, key columns 'row' and 'column'")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="total, margin:A,B, sum:COL=VALUE or a CSV file")] = None,
    count: Annotated[str | None, typer.Option(help="the column that holds the counts")] = None,
    keys: Keys = None,
    epsilon: Epsilon = None,
    alpha: Alpha = None,
    rho: Rho = None,
    delta: Delta = "0",
    law: Annotated[str, typer.Option(help="noise on the lattice: l1, l2 or gaussian")] = "l1",
    nonnegative: Annotated[
        bool, typer.Option("--nonnegative", help="conditioned so that no count becomes negative")
    ] = False,
    per_unit: Annotated[bool, typer.Option("--per-unit", help="epsilon per unit of distance")] = False,
    lag: Annotated[int | None, typer.Option(help="iterations by which the second chain starts later")] = None,
    runs: Annotated[int, typer.Option(help="pairs of chains")] = 1000,
    plot: Plot = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    from discreet.cli.working import working
    from discreet.lattice.coupling import diagnose
    from discreet.lattice.kept_chain import kept_chain
    from discreet.plot import check_suffix

    if plot is not None:
        check_suffix(plot)
    columns, counts, people = cells_of(table, shape, count, keys)
    chain = kept_chain(
        columns,
        keep or (),
        epsilon,
        alpha=alpha,
        rho=rho,
        delta=delta,
        law=law,
        nonnegative=nonnegative,
        per_unit=per_unit,
        contributions=people,
    )
    with working(f"coupling {runs} pairs of chains"):
        diagnosis = diagnose(chain, counts=counts, runs=runs, lag=lag, seed=seed)
    if plot is not None:
        _draw(diagnosis, plot)
    if diagnosis.private_side:
        say("This depends on the secret counts: keep it on the private side.")
    emit(json, as_json(diagnosis), lambda: _lines(diagnosis, chain))


def as_json(diagnosis: Diagnosis) -> dict[str, object]:
    return {
        "curve": [{"iteration": iteration, "bound": bound} for iteration, bound in diagnosis.curve()],
        "runs": diagnosis.runs,
        "lag": diagnosis.lag,
        "floor": diagnosis.floor,
        "grade": diagnosis.grade,
        "private_side": diagnosis.private_side,
    }


def _lines(diagnosis: Diagnosis, chain: ChainSampler) -> Iterator[str]:
    yield f"{diagnosis.runs} pairs of chains, lag {diagnosis.lag}; one iteration is {chain.updates} line moves."
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
