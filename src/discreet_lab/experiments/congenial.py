"""Paper 003: conditioning on what is disclosed. Table 1, figures 1 to 3, table 2 with the two-bin laws."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.lattice.invariants import invariant_matrix, sums
from discreet.lattice.plan import LatticePlan, lattice_sampler
from discreet.sample.bits import source
from discreet_lab.baselines.postprocess import project_nonnegative
from discreet_lab.baselines.two_bin import conditioned, projected_l1, projected_l2, whole_laws
from discreet_lab.experiment import Claim, Control, Experiment, Result, RunSetting, printed, stated
from discreet_lab.samplers.published import independence_sampler

FEMALE = (8, 6, 3, 6, 4, 4, 4, 8, 5, 7, 7, 6, 1, 5, 4, 4, 9, 6, 2, 8, 8, 8, 7)
MALE = (3, 4, 5, 8, 6, 4, 5, 5, 5, 6, 10, 7, 3, 2, 5, 11, 6, 4, 7, 4, 5, 3, 8)
RELEASED_FEMALE = (6, 6, 4, 3, 2, 10, 2, 5, 6, 7, 5, 6, 0, 5, 4, 5, 10, 8, 3, 8, 8, 12, 5)
RELEASED_MALE = (9, 4, 5, 6, 3, 4, 5, 5, 3, 4, 7, 8, 5, 3, 2, 23, 8, 2, 6, 3, 0, 3, 8)
AGES, CHILDREN = 23, 4  # age groups, and how many of them are under 18
SOLVED = (0, 22, 45)  # the cells the published sampler solves for


def kept_sums() -> Integers:
    """Total population, female population, voting-age population."""
    age = np.arange(2 * AGES) % AGES
    female = np.arange(2 * AGES) < AGES
    return np.array([np.ones(2 * AGES), female, age >= CHILDREN], dtype=np.int64)


@lru_cache(maxsize=2)
def exact_plan(epsilon: str = "1") -> LatticePlan:
    """Noise of half that rate, conditioned on the kept sums and on no negative cell, promises epsilon for each unit."""
    cells = 2 * AGES
    kept = invariant_matrix([sums(kept_sums())], {"cell": [str(k) for k in range(cells)]}, cells)
    return lattice_sampler(kept, epsilon, law="l1", nonnegative=True, per_unit=True)


def table_1(setting: RunSetting) -> Result:
    truth = np.array(FEMALE + MALE)
    draws = exact_plan().draws(setting.repeats(2000, 300), source(setting.seed), truth)
    norms = np.abs(draws).sum(axis=1)

    def claims(released: Integers) -> tuple[Claim, ...]:
        totals = kept_sums() @ released
        children = int(totals[0] - totals[2])
        apart = int(np.abs(released - truth).sum())
        share = float((norms <= apart).mean())
        return (
            printed("released: female", "130", totals[1]),
            printed("released: male", "126", totals[0] - totals[1]),
            printed("released: under 18", "43", children),
            printed("released: voting age", "213", totals[2]),
            stated("no negative cell", "none", str(int((released < 0).sum())), bool((released >= 0).all())),
            stated(
                "its distance is typical of the law",
                "a draw from it",
                f"{apart}, larger than {100 * share:.0f}% of exact draws",
                0.005 < share < 0.995,
            ),
        )

    moved = np.array(RELEASED_FEMALE + RELEASED_MALE)
    wrong = moved.copy()
    wrong[[0, 30]] += (1, -1)
    return Result(
        claims(moved),
        (
            Control("one person moved from a voting man to a girl", claims(wrong)),
            Control("three times the distance from the truth", claims(truth + 3 * (moved - truth))),
        ),
        f"Drawn exactly ({exact_plan().sampler}), non-negative and without a chain: "
        f"{len(norms)} independent tables where the published chain accepts 1.7% of its steps.",
        draw=lambda: _distance_figure(norms, int(np.abs(moved - truth).sum())),
    )


def _distance_figure(norms: Any, shown: int) -> Any:
    from discreet import plot

    drawing, axes = plot.figure(1, 1)
    ax = axes[0, 0]
    ax.hist(
        norms, bins=30, color=plot.FILL, edgecolor=plot.INK, linewidth=0.5, density=True, label="exact draws (ours)"
    )
    ax.axvline(shown, color="#d55e00", linestyle="--", label="the printed release")
    ax.set(xlabel="l1 distance from the confidential table", ylabel="density")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8, frameon=False)
    return drawing


def double_geometric(rate: float, shape: tuple[int, ...], rng: np.random.Generator) -> Integers:
    chance = -math.expm1(-rate)
    return rng.geometric(chance, shape) - rng.geometric(chance, shape)


def figure_1(setting: RunSetting) -> Result:
    rng = np.random.default_rng(setting.seed)
    tables, releases = setting.repeats(20, 8), setting.repeats(100, 20)
    matrix = kept_sums()
    shifts: dict[str, list[Floats]] = {}
    for _ in range(tables):
        truth = rng.negative_binomial(100, 0.95, 2 * AGES)
        raw = {rate: double_geometric(rate, (releases, 2 * AGES), rng) for rate in (1.0, 0.5)}
        projected = {
            rate: np.array([project_nonnegative(matrix, truth + z, matrix @ truth) - truth for z in noise])
            for rate, noise in raw.items()
        }
        exact = {
            rate: exact_plan(str(2 * rate)).draws(releases, source(int(rng.integers(1 << 30))), truth)
            for rate in (Fraction(1, 2), Fraction(1, 4))
        }
        for name, noise in (
            ("raw, 1", raw[1.0]),
            ("projected, 1", projected[1.0]),
            ("conditioned, 0.5", exact[Fraction(1, 2)]),
            ("raw, 0.5", raw[0.5]),
            ("projected, 0.5", projected[0.5]),
            ("conditioned, 0.25", exact[Fraction(1, 4)]),
        ):
            norms = np.array([np.abs(noise).sum(axis=1).mean(), np.sqrt((noise.astype(float) ** 2).sum(axis=1)).mean()])
            shifts.setdefault(name, []).append(norms)
    means = {name: np.mean(values, axis=0) for name, values in shifts.items()}

    wider = {**means, "conditioned, 0.5": means["conditioned, 0.25"], "projected, 1": means["projected, 0.5"]}
    return Result(
        _distance_claims(means, 0.95),
        (Control("half the budget, conditioned and projected; p = 0.9", _distance_claims(wider, 0.9)),),
        "The conditioned releases are exact draws, one at a time; nothing is burnt in or thinned.",
        draw=lambda: _boxes_figure({name: shifts[name] for name in SHOWN}),
    )


SHOWN = ("raw, 1", "projected, 1", "conditioned, 0.5", "raw, 0.5")


def _distance_claims(found: dict[str, Floats], p: float) -> tuple[Claim, ...]:
    made = []
    for k, distance in enumerate(("L1", "L2")):
        middle = found["raw, 1"][k] < found["conditioned, 0.5"][k] < found["raw, 0.5"][k]
        shown = f"{found['raw, 1'][k]:.1f} < {found['conditioned, 0.5'][k]:.1f} < {found['raw, 0.5'][k]:.1f}"
        made.append(
            stated(f"{distance}: the conditioned release lies between raw 1 and raw 0.5", "between", shown, middle)
        )
        close = found["projected, 1"][k] / found["raw, 1"][k]
        made.append(
            stated(
                f"{distance}: projection of raw 1 is on par with raw 1",
                "mostly on par",
                f"{close:.2f} times its distance",
                0.75 < close < 1.1,
            )
        )
    made.append(printed("mean of the simulated cells", "5.26", 100 * (1 - p) / p))
    made.append(printed("their variance", "5.54", 100 * (1 - p) / p**2))
    return tuple(made)


def _boxes_figure(shifts: dict[str, list[Floats]]) -> Any:
    from discreet import plot

    drawing, axes = plot.figure(1, 2, width=4.4)
    for ax, k, distance in zip(axes[0], (0, 1), ("L1", "L2")):
        ax.boxplot([[norms[k] for norms in values] for values in shifts.values()], tick_labels=list(shifts))
        ax.tick_params(axis="x", labelsize=7)
        ax.set(ylabel=f"mean {distance} distance")
        ax.spines[["top", "right"]].set_visible(False)
    return drawing


def acceptance(
    proposal_rate: float, states: Integers, truth: Integers, rng: np.random.Generator, proposals: int
) -> float:
    """How often the published sampler accepts once it has converged: proposals against exact draws of its law."""
    matrix, free = kept_sums(), np.setdiff1d(np.arange(2 * AGES), SOLVED)
    noise = np.zeros((proposals, 2 * AGES), dtype=np.int64)
    noise[:, free] = double_geometric(proposal_rate, (proposals, len(free)), rng)
    square = np.linalg.inv(matrix[:, list(SOLVED)].astype(float))
    noise[:, list(SOLVED)] = np.rint(-(noise[:, free] @ matrix[:, free].T) @ square.T).astype(np.int64)
    good = noise[(noise + truth >= 0).all(axis=1)]
    if not len(good):
        return 0.0

    def weight(values: Integers) -> Floats:
        sizes = np.abs(values)
        less: Floats = (proposal_rate - 0.5) * sizes[:, free].sum(axis=1) - 0.5 * sizes[:, list(SOLVED)].sum(axis=1)
        return less

    chances = np.minimum(1, np.exp(weight(good)[:, None] - weight(states)[None, :]))
    return float(chances.mean() * len(good) / proposals)


def figure_2(setting: RunSetting) -> Result:
    rng = np.random.default_rng(setting.seed)
    truth = np.array(FEMALE + MALE)
    states = exact_plan().draws(setting.repeats(2000, 400), source(setting.seed), truth)
    rates = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 1.0)
    number = setting.repeats(400_000, 100_000)
    found = {rate: acceptance(rate, states, truth, rng, number) for rate in rates}

    def claims(values: dict[float, float]) -> tuple[Claim, ...]:
        best = max(values, key=lambda rate: values[rate])
        coarse = max((rate for rate in values if round(10 * rate, 6).is_integer()), key=lambda rate: values[rate])
        return (
            printed("acceptance at 0.6, in percent", "1.68", 100 * values[0.6], 0.3),
            stated("the best proposal rate, in steps of 0.1", "0.6", str(coarse), coarse == 0.6),
            stated(
                "it is just above the target's 0.5", "slightly larger", f"{best} in steps of 0.05", 0.5 < best < 0.75
            ),
        )

    def draw() -> Any:
        from discreet import plot

        percent = {"acceptance (%)": [100 * found[rate] for rate in rates]}
        return plot.lines(rates, percent, None, "published sampler", ("proposal rate", "accepted, %"))

    return Result(
        claims(found),
        (Control("the curve shifted by 0.2", claims({rate: found.get(round(rate - 0.2, 2), 0.0) for rate in rates})),),
        "Measured against exact draws of the target, so that no burn-in blurs it. Our sampler needs no proposals to "
        "be tuned.",
        note="Of 10,000 steps 168 would be accepted, give or take 13 if they were independent, which they are not.",
        draw=draw,
    )


def figure_3(setting: RunSetting) -> Result:
    rng = np.random.default_rng(setting.seed)
    truth = np.array(FEMALE + MALE)
    sampler = independence_sampler(kept_sums(), truth, rate=0.5, proposal_rate=0.6, dependent=SOLVED)
    sampler.path(rng, 1, 20_000)
    path = sampler.path(rng, 10_000)
    exact = exact_plan().draws(setting.repeats(2000, 400), source(setting.seed), truth)

    def claims(states: Integers) -> tuple[Claim, ...]:
        changes = [int((np.diff(states[:, cell]) != 0).sum()) for cell in (1, 0)]
        kept = int((kept_sums() @ states.T != 0).sum())
        apart = [abs(float(states[:, cell].mean() - exact[:, cell].mean())) for cell in (1, 0)]
        return (
            stated("10,000 draws keep all three sums", "always", f"{kept} broken", kept == 0),
            stated(
                "no draw has a negative cell",
                "none",
                str(int((states + truth < 0).sum())),
                bool((states + truth >= 0).all()),
            ),
            stated("both cells move", "traceplots move", f"{changes[0]} and {changes[1]} changes", min(changes) > 20),
            stated(
                "around the mean of the law",
                "stationary",
                f"means off by {apart[0]:.2f} and {apart[1]:.2f}",
                max(apart) < 2.5,
            ),
        )

    stuck = np.repeat(path.states[:1], 10_000, axis=0)
    shifted = path.states - 10 * (np.arange(2 * AGES) < 2)
    return Result(
        claims(path.states),
        (
            Control("a chain that never moves", claims(stuck)),
            Control("ten people fewer in each of the two cells", claims(shifted)),
        ),
        f"Of the 10,000 states {len(np.unique(path.states, axis=0))} are different; exact draws are all fresh.",
        draw=lambda: _traces_figure(path.states, truth),
    )


def _traces_figure(states: Integers, truth: Integers) -> Any:
    from discreet import plot

    drawing, axes = plot.figure(1, 2)
    for ax, cell, title in zip(axes[0], (1, 0), ("second cell (proposed)", "first cell (solved for)")):
        ax.plot(states[:, cell] + truth[cell], color=plot.INK, linewidth=0.5)
        ax.set(xlabel="iteration", ylabel="count", title=title)
        ax.spines[["top", "right"]].set_visible(False)
    return drawing


def table_2(setting: RunSetting) -> Result:
    epsilon = Fraction(1, 2)

    means = _projected_mean(setting)
    mean = stated(
        "mean of the l2-projected release of (3, 9)",
        "(6, 6)",
        "({:.1f}, {:.1f})".format(*means),
        max(abs(value - 6) for value in means) < 0.1,
        "the projection moves both bins by the same noise, so its mean is the true pair, not the average of both bins",
    )
    exact = whole_laws(Fraction(3, 4))
    ratio = float(exact[1].variance / exact[0].variance)

    return Result(
        (*_two_bin_claims(epsilon, epsilon), mean),
        (
            Control(
                "noise for a sensitivity of 1, half as wide; its density read at half the noise",
                _two_bin_claims(epsilon, 2 * epsilon),
            ),
        ),
        f"For whole counts the laws are exact rationals: at a = 3/4 projection has {ratio:.2f} times the variance.",
        note="gamma = -1/2 in section 5 comes from calling the sensitivity of a histogram 1; replacing one record "
        "changes two bins, so it is 2.",
        draw=lambda: _laws_figure(epsilon),
    )


def _two_bin_claims(epsilon: Fraction, used: Fraction) -> tuple[Claim, ...]:
    """What the paper says of noise for epsilon, of the noise that is used."""
    laws, narrow = [conditioned(used), projected_l2(used)], float(used / epsilon)
    spreads = [law.variance * epsilon**2 for law in laws]
    ends = sorted(projected_l1(used, weight).variance * epsilon**2 for weight in (Fraction(1, 2), Fraction(1)))
    area = [_area(lambda u, law=law: law.density(u / narrow)) for law in laws]
    attained = [projected_l1(used, Fraction(3, 4)).attained_epsilon / epsilon, laws[1].attained_epsilon / epsilon]
    return (
        printed("variance of the conditioned release, times epsilon^2", "2", float(spreads[0])),
        printed("variance after l2 projection, times epsilon^2", "4", float(spreads[1])),
        printed("least variance after l1 projection, times epsilon^2", "4", float(ends[0])),
        printed("largest variance after l1 projection, times epsilon^2", "8", float(ends[1])),
        stated(
            "the printed densities integrate to",
            "1",
            ", ".join(f"{a:.6f}" for a in area),
            max(abs(a - 1) for a in area) < 1e-6,
        ),
        stated(
            "l1 projection with beta 3/4 attains",
            "epsilon / (2 beta) = 2/3 epsilon",
            f"{attained[0]} epsilon",
            attained[0] == Fraction(2, 3),
        ),
        stated("l2 projection attains", "epsilon", f"{attained[1]} epsilon", attained[1] == 1),
    )


def _laws_figure(epsilon: Fraction) -> Any:
    from discreet import plot

    over = np.linspace(-12, 12, 241)
    laws = {
        "conditioned": conditioned(epsilon),
        "l2 projection": projected_l2(epsilon),
        "l1, beta 3/4": projected_l1(epsilon, "3/4"),
        "l1, beta 1": projected_l1(epsilon, 1),
    }
    series = {name: [law.density(float(u)) for u in over] for name, law in laws.items()}
    return plot.lines(over, series, None, "noise of a bin, epsilon 1/2", ("noise", "density"))


def _area(density: Any) -> float:
    from scipy.integrate import quad

    return 2 * float(quad(density, 0, 200, limit=200)[0])


def _projected_mean(setting: RunSetting) -> tuple[float, float]:
    """The mean of (s1 + u, s2 - u), u the average of both noises, by its law's symmetry checked on a simulation."""
    rng = np.random.default_rng(setting.seed)
    noise = rng.laplace(0, 4, (200_000, 2))
    excess = noise.sum(axis=1) / 2
    means = np.array([3, 9]) + (noise - excess[:, None]).mean(axis=0)
    return float(means[0]), float(means[1])


EXPERIMENTS = (
    Experiment("003-table-1", "a sex-by-age table and its release", table_1),
    Experiment("003-figure-1", "distances of four kinds of release", figure_1),
    Experiment("003-figure-2", "acceptance of the published sampler", figure_2),
    Experiment("003-figure-3", "traces of the published sampler", figure_3),
    Experiment("003-table-2", "two bins with a fixed total: means, variances and laws", table_2),
)
