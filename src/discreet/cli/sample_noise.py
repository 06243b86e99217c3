"""discreet sample-noise TABLE | --shape R,C"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.cells import BEFORE, CELLS, KEPT, cells_of, kept_from
from discreet.cli.common import Json, Seed, emit, say
from discreet.cli.flags import command, flags_of, parameter, some
from discreet.cli.release_options import loss_from
from discreet.ways.keep_sums.spec import KeepSums

if TYPE_CHECKING:
    from discreet.arrays import Integers
    from discreet.lattice.plan import LatticePlan

MOST_BOXES = 120  # more cannot be told apart in one panel
FLAGS = {**KEPT, **some(flags_of(KeepSums), "inequalities", "allow_diagnosed")}
Draws = Annotated[int, typer.Option("--draws", help="how many draws")]
Out = Annotated[str, typer.Option("-o", "--out", help="CSV file to write: a line per row, a column per draw")]
Picture = Annotated[
    str | None, typer.Option("--plot", help="picture of the noise by cell, and by count if a table came")
]
WARNING = "Noise gives the secret counts away to whoever has the release: keep it on the private side."


def sampled(**given: Any) -> None:
    from discreet.cli.working import working
    from discreet.errors import BadInput
    from discreet.io.files import write_text
    from discreet.lattice.plan import plan_lattice
    from discreet.numbers import whole
    from discreet.sample.bits import source

    draws, out, plot, seed = whole(given["draws"], "draws", 1), given["out"], given["plot"], given["seed"]
    if not out:
        raise BadInput("noise was to be drawn", "no file to write it to was named", "Add -o FILE")
    if plot is not None:
        from discreet.plot import check_suffix

        check_suffix(plot)
    loss, spec = loss_from(given), kept_from(given, FLAGS)
    columns, counts, people = cells_of(given)
    with working("drawing"):
        plan = plan_lattice(
            columns, spec.keep, loss, law=spec.law, nonnegative=spec.conditioned, inequalities=spec.inequalities,
            per_unit=spec.per_unit, allow_diagnosed=spec.allow_diagnosed, contributions=people,
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
    emit(given["json"], value, lambda: _words(plan, draws, out))


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


run = command(
    sampled,
    BEFORE,
    {**CELLS, **FLAGS},
    [
        parameter("draws", Draws, 1), parameter("out", Out, ""), parameter("plot", Picture, None),
        parameter("seed", Seed, None), parameter("json", Json, False),
    ],
)  # fmt: skip
