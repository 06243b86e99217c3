"""discreet sample-noise TABLE | --shape R,C"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.cells import cells_of
from discreet.cli.common import Alpha, Delta, Epsilon, Json, Keys, Rho, Seed, emit, say

if TYPE_CHECKING:
    from discreet.arrays import Integers
    from discreet.lattice.plan import LatticePlan

MOST_BOXES = 120  # more cannot be told apart in one panel
WARNING = "Noise gives the secret counts away to whoever has the release: keep it on the private side."


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
    allow_diagnosed: Annotated[bool, typer.Option("--allow-diagnosed", help="let a chain serve")] = False,
    draws: Annotated[int, typer.Option(help="how many draws")] = 1,
    out: Annotated[str, typer.Option("-o", "--out", help="CSV file to write: a line per row, a column per draw")] = "",
    plot: Annotated[str | None, typer.Option(help="picture of the noise by cell, and by count if a table came")] = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    from discreet.cli.working import working
    from discreet.errors import BadInput
    from discreet.io.files import write_text
    from discreet.lattice.plan import plan_lattice
    from discreet.numbers import whole
    from discreet.sample.bits import source

    whole(draws, "draws", 1)
    if not out:
        raise BadInput("noise was to be drawn", "no file to write it to was named", "Add -o FILE")
    if plot is not None:
        from discreet.plot import check_suffix

        check_suffix(plot)
    columns, counts, people = cells_of(table, shape, count, keys)
    with working("drawing"):
        plan = plan_lattice(
            columns, keep or (), epsilon, alpha=alpha, rho=rho, delta=delta, law=law, nonnegative=nonnegative,
            per_unit=per_unit, allow_diagnosed=allow_diagnosed, contributions=people,
        )  # fmt: skip
        noise = plan.draws(draws, source(seed), counts)
    write_text(out, _lines(columns, noise, seed))
    if plot is not None:
        _draw(noise, counts, plot)
    say(WARNING)
    if seed is not None:
        say("The noise came from a seed: it is NOT private.")
    value = {
        "draws": draws,
        "grade": plan.grade,
        "out": out,
        "sampler": plan.sampler,
        "private": seed is None,
        "private_side": True,
    }
    emit(json, value, lambda: _words(plan, draws, out))


def _lines(columns: dict[str, list[Any]], noise: Integers, seed: int | None) -> Iterator[str]:
    """The key columns, then a column per draw whose name says where it must stay."""
    import csv
    import io

    stamp = "private_side_noise" if seed is None else "seeded_not_private_noise"
    names = [*columns, *(f"{stamp}_{i + 1}" for i in range(len(noise)))]
    for row in [names, *zip(*columns.values(), *noise.tolist())]:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        yield line.getvalue()


def _draw(noise: Integers, counts: Integers | None, path: str) -> None:
    """Boxes of the cells, from the smallest count to the largest if counts are known, and the bias against size."""
    import numpy as np

    from discreet.plot import bias_by_size, figure, noise_by_cell, save

    drawing, axes = figure(1, 1 if counts is None else 2)
    order = np.arange(noise.shape[1]) if counts is None else np.argsort(counts, kind="stable")
    shown = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), MOST_BOXES)).astype(int))]
    noise_by_cell(
        noise[:, shown], axes[0, 0], "noise by cell" if counts is None else "noise, from the smallest count up"
    )
    if counts is not None:
        bias_by_size(counts, noise, axes[0, 1], "bias against size")
    save(drawing, path)


def _words(plan: LatticePlan, draws: int, out: str) -> Iterator[str]:
    yield f"{draws} draws of {plan.invariants.cells:,} cells written to {out} ({plan.sampler}, {plan.grade})"
    yield plan.guarantee.sentence
