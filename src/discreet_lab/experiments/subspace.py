"""Paper 002: noise on lattices. Figures 1 and 4 to 7, tables 1 and 3."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Integers
from discreet.lattice.chains import chain_sampler
from discreet.lattice.coupling import Diagnosis, diagnose
from discreet.lattice.invariants import invariant_matrix, sums
from discreet.lattice.plan import LatticePlan, lattice_sampler
from discreet.sample.bits import source
from discreet_lab.experiment import (
    ORDER,
    SAME_ORDER,
    Claim,
    Control,
    Data,
    Experiment,
    Result,
    RunSetting,
    of_order,
    printed,
    stated,
)
from discreet_lab.samplers.published import metropolis_sampler

RATE = "0.25"
LARGE = 5.5  # standard errors that chance alone does not exceed, even over a thousand cells
TABLE_1 = ((-1, -1, 0, 2), (5, 4, -2, -7), (-5, -3, 5, 3), (1, 0, -3, 2))
TABLE_2 = ((15, 1, 3, 1), (20, 10, 10, 15), (3, 10, 10, 2), (12, 14, 7, 2))
TABLE_3 = ((-11, 1, 10, 0), (-3, -6, 1, 8), (-6, -5, 13, -2), (20, 10, -24, -6))
LAYOUT = Data(
    "the layout of the three sets (figure 3)",
    "it is only drawn; two records in each of the seven regions take its place",
)


def margins(rows: int = 4, columns: int = 4) -> Integers:
    """Row sums and column sums of a two-way table."""
    cells = np.arange(rows * columns)
    above = [(cells // columns == i).astype(np.int64) for i in range(rows)]
    return np.array(above + [(cells % columns == j).astype(np.int64) for j in range(columns)])


def three_sets() -> Integers:
    """Three intersecting sets over 14 records, two in each region."""
    regions = np.arange(14) % 7 + 1
    return np.array([(regions >> k) & 1 for k in range(3)], dtype=np.int64)


def exact_plan(matrix: Integers, law: str, rate: str = RATE) -> LatticePlan:
    cells = matrix.shape[1]
    kept = invariant_matrix([sums(matrix)], {"cell": [str(k) for k in range(cells)]}, cells)
    return lattice_sampler(kept, rate, law=law, per_unit=True)


@lru_cache(maxsize=16)
def exact_draws(which: str, law: str, number: int, seed: int) -> Integers:
    matrix = margins() if which == "table" else three_sets()
    return exact_plan(matrix, law).draws(number, source(seed))


def norm(noise: Integers, law: str) -> NDArray[np.float64]:
    values = noise.astype(float)
    norms: NDArray[np.float64] = np.abs(values).sum(axis=1) if law == "l1" else np.sqrt((values**2).sum(axis=1))
    return norms


def convergence(matrix: Integers, cases: tuple[tuple[str, float, int], ...]) -> Callable[[RunSetting], Result]:
    """Total-variation bounds of the published sampler: law, log of its jump parameter, printed iterations."""

    def run(setting: RunSetting) -> Result:
        rng = np.random.default_rng(setting.seed)
        runs = setting.repeats(200, 16)
        found: dict[tuple[str, int], Diagnosis] = {}
        ours: dict[str, Diagnosis] = {}
        for law, log_ratio, iterations in cases:
            sampler = metropolis_sampler(matrix, law=law, rate=float(RATE), ratio=math.exp(log_ratio))
            for lag in (iterations // 10, iterations):
                found[law, lag] = Diagnosis(lag, sampler.meetings(rng, runs, lag, 200 * iterations), False)
            chain = chain_sampler(matrix, law=law, epsilon=float(RATE), blocks=False)
            ours[law] = diagnose(chain, runs=runs, seed=setting.seed)

        theirs = {law: [found[law, iterations // 10], found[law, iterations]] for law, _, iterations in cases}
        sweeps = ", ".join(f"{law} {one.iterations_for(0.1):,}" for law, one in ours.items())
        grades = {exact_plan(matrix, law).sampler for law, _, _ in cases}
        return Result(
            _convergence_claims(theirs, cases),
            (
                Control(
                    "line moves instead of the published jumps",
                    _convergence_claims({law: [one, one] for law, one in ours.items()}, cases),
                ),
                Control(
                    "published jumps at one lag, line moves at the other",
                    _convergence_claims({law: [theirs[law][0], one] for law, one in ours.items()}, cases),
                ),
            ),
            f"Exact samplers ({', '.join(sorted(grades))}) need no chain. Our chains along lines, for what has no "
            f"exact sampler, get below 0.1 after {sweeps} iterations.",
            data=() if matrix.shape[0] == 8 else (LAYOUT,),
            draw=lambda: _bounds_figure(found, ours),
        )

    return run


def _convergence_claims(
    values: dict[str, list[Diagnosis]], cases: tuple[tuple[str, float, int], ...]
) -> tuple[Claim, ...]:
    made = []
    for law, _, iterations in cases:
        needed = [one.iterations_for(0.1) for one in values[law]]
        made.append(of_order(f"{law}: bound below 0.1 after", iterations, needed[-1], "iterations"))
        stable = max(needed) <= ORDER * max(1, min(needed))
        shown, only = " and ".join(f"{n:,}" for n in needed), SAME_ORDER if stable else ""
        made.append(Claim(f"{law}: the same for other lags", "stable", shown, stable, only=only))
    return tuple(made)


def _bounds_figure(found: dict[tuple[str, int], Diagnosis], ours: dict[str, Diagnosis]) -> Any:
    from discreet import plot

    drawing, axes = plot.figure(1, len(ours))
    for ax, law in zip(axes[0], ours):
        lags = sorted(lag for other, lag in found if other == law)
        shown = {f"published, {kind} lag": found[law, lag] for kind, lag in zip(("short", "long"), lags)}
        shown["line moves (ours)"] = ours[law]
        for number, (name, one) in enumerate(shown.items()):
            points = np.array(one.curve(60), dtype=float)
            colour, dash, _ = plot.STYLES[number]
            ax.plot(points[:, 0] + 1, points[:, 1], label=name, color=colour, linestyle=dash)
        ax.set(xscale="log", xlabel="iteration", ylabel="bound on the distance")
        ax.set_title(f"{law}, lags " + " and ".join(f"{lag:,}" for lag in lags), fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
    return plot.legend_below(drawing, 2)


def boxes(which: str) -> Callable[[RunSetting], Result]:
    """Noise by cell, for both laws."""
    matrix = margins() if which == "table" else three_sets()
    ratios = {"l1": -1.0, "l2": -2.0 if which == "table" else -1.5}

    def run(setting: RunSetting) -> Result:
        number = setting.repeats(1000, 300)
        draws = {law: exact_draws(which, law, number, setting.seed) for law in ratios}
        rng = np.random.default_rng(setting.seed)
        path = metropolis_sampler(matrix, law="l1", rate=float(RATE), ratio=math.exp(ratios["l1"])).path(
            rng, number, 3000
        )

        biased = {law: values + 8 * (np.arange(values.shape[1]) == 0) for law, values in draws.items()}
        return Result(
            _noise_claims(matrix, draws, path.states),
            (
                Control("eight people too many in the first cell", _noise_claims(matrix, biased, path.states)),
                Control("a chain of twice the norm", _noise_claims(matrix, draws, 2 * path.states)),
            ),
            "Drawn exactly and independently; the published chain is thinned by thousands of steps for each draw.",
            data=() if which == "table" else (LAYOUT,),
            draw=lambda: _boxes_figure(draws),
        )

    return run


def _noise_claims(matrix: Integers, noise: dict[str, Any], chain: Any) -> tuple[Claim, ...]:
    found = []
    for law, values in noise.items():
        whole = bool(np.array_equal(values, np.round(values)))
        kept = int((matrix @ np.asarray(values).T != 0).sum())
        off = float(np.max(np.abs(values.mean(axis=0)) / (values.std(axis=0) / len(values) ** 0.5 + 1e-12)))
        found += [
            stated(
                f"{law}: whole numbers that keep every sum",
                "always",
                f"{kept} sums broken",
                whole and kept == 0,
            ),
            stated(
                f"{law}: unbiased in every cell",
                "yes",
                f"worst cell {off:.1f} standard errors off",
                off < LARGE,
            ),
        ]
    one, other = norm(noise["l1"], "l1"), norm(chain, "l1")
    apart = abs(one.mean() - other.mean()) / math.sqrt(one.var() / len(one) + 3 * other.var() / len(other))
    found.append(
        stated(
            "l1: the published chain has this law",
            "yes",
            f"mean norm {other.mean():.1f} against {one.mean():.1f}",
            apart < LARGE,
        )
    )
    return tuple(found)


def _boxes_figure(draws: dict[str, Integers]) -> Any:
    from discreet import plot

    drawing, axes = plot.figure(2, 1, width=6.5, height=2.3)
    for ax, (law, values) in zip(axes[:, 0], draws.items()):
        plot.noise_by_cell(values, ax, f"{law}, epsilon {RATE}", {"one draw": values[0]})
    return drawing


def printed_noise(table: tuple[tuple[int, ...], ...], law: str) -> Callable[[RunSetting], Result]:
    """One printed draw: does it keep the margins, and is it typical of the law?"""

    def run(setting: RunSetting) -> Result:
        draws = exact_draws("table", law, setting.repeats(2000, 300), setting.seed)
        norms = norm(draws, law)

        def claims(values: tuple[tuple[int, ...], ...]) -> tuple[Claim, ...]:
            noise = np.array(values)
            sums_kept = not noise.sum(axis=0).any() and not noise.sum(axis=1).any()
            size = float(norm(noise.reshape(1, -1), law)[0])
            share = float((norms <= size).mean())
            return (
                stated("row and column sums of the noise", "all 0", "all 0" if sums_kept else "not all 0", sums_kept),
                stated(
                    f"its {law} norm is typical of the law",
                    "a draw from it",
                    f"{size:.0f}, larger than {100 * share:.0f}% of exact draws",
                    0.005 < share < 0.995,
                ),
            )

        delinquent = np.array(TABLE_2)
        gamma = int(delinquent[2].sum())
        return Result(
            (
                *claims(table),
                printed(
                    "total of the row Gamma in table 2",
                    "35",
                    gamma,
                    why="the row sums to 25; only so do rows and columns both sum to 135",
                ),
            ),
            (
                Control(
                    "three times the printed noise, one cell changed",
                    claims(
                        tuple(tuple(3 * v + (i == j == 0) for j, v in enumerate(row)) for i, row in enumerate(table))
                    ),
                ),
            ),
            f"{exact_plan(margins(), law).sampler} draws from the very law; mean {law} norm {norms.mean():.1f}.",
            draw=lambda: _norm_figure(norms, float(norm(np.array(table).reshape(1, -1), law)[0]), law),
        )

    return run


def _norm_figure(norms: Any, printed_norm: float, law: str) -> Any:
    from discreet import plot

    drawing, axes = plot.figure(1, 1)
    ax = axes[0, 0]
    ax.hist(
        norms, bins=30, color=plot.FILL, edgecolor=plot.INK, linewidth=0.5, density=True, label="exact draws (ours)"
    )
    ax.axvline(printed_norm, color="#d55e00", linestyle="--", label="the printed table")
    ax.set(xlabel=f"{law} norm of the noise", ylabel="density")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8, frameon=False)
    return drawing


EXPERIMENTS = (
    Experiment(
        "002-figure-1",
        "how fast the published sampler converges on a 4 x 4 table, l1",
        convergence(margins(), (("l1", -1.0, 10_000),)),
    ),
    Experiment(
        "002-figure-4",
        "how fast it converges with three intersecting sets",
        convergence(three_sets(), (("l1", -1.0, 100_000), ("l2", -1.5, 1_000_000))),
    ),
    Experiment("002-figure-5", "noise by record with three intersecting sets", boxes("sets")),
    Experiment(
        "002-figure-6", "how fast it converges on a 4 x 4 table, l2", convergence(margins(), (("l2", -2.0, 100_000),))
    ),
    Experiment("002-figure-7", "noise by cell of a 4 x 4 table", boxes("table")),
    Experiment("002-table-1", "one draw of l1 noise for a 4 x 4 table", printed_noise(TABLE_1, "l1")),
    Experiment("002-table-3", "one draw of l2 noise for a 4 x 4 table", printed_noise(TABLE_3, "l2")),
)
