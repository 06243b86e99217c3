"""Paper 001: bounded integer noise. Figures 1 to 4 and example 1."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.build.bounded_inputs import BoundedMechanism, bounded_mechanism, published_bounded_mechanism
from discreet.build.bounded_noise import (
    BoundedNoise,
    bounded_noise,
    closed_form,
    crossovers,
    single_bounds,
    single_delta,
)
from discreet_lab.experiment import Claim, Control, Experiment, Result, RunSetting, printed, stated

REACH = np.arange(-60, 61)


@lru_cache(maxsize=1024)
def noise(epsilon: str, truth: str, support: int) -> BoundedNoise:
    return bounded_noise(epsilon, truth=truth, support=support)


def discrete_gaussian(parameter: float) -> Floats:
    """P(k) on -60..60, proportional to exp(-k^2 / (2 parameter))."""
    masses = np.exp(-(REACH**2) / (2 * parameter))
    shares: Floats = masses / masses.sum()
    return shares


def true_variance(parameter: float) -> float:
    return float((discrete_gaussian(parameter) * REACH**2).sum())


def parameter_for(variance: float) -> float:
    """The parameter whose discrete Gaussian has this variance: it is larger than the variance."""
    from scipy.optimize import brentq

    return float(brentq(lambda parameter: true_variance(parameter) - variance, variance / 2, 2 * variance + 1))


def hockey_stick(masses: Floats, epsilon: float) -> float:
    return float(np.maximum(0, masses[1:] - math.exp(epsilon) * masses[:-1]).sum())


def figure_1(setting: RunSetting) -> Result:
    best = noise("2.18", "0.8", 6)
    return Result(
        _law_claims("0.8", 6),
        (
            Control("truth 0.7 instead of 0.8", _law_claims("0.7", 6)),
            Control("epsilon 2.0 instead of 2.18", _law_claims("0.8", 6, "2.0")),
        ),
        f"Exact delta of the published noise {float(best.delta_exact):.4f}, where (2D+1) times the single-output delta "
        f"promises only {float(best.delta_paper):.4f}. At truly equal variance the Gaussian needs epsilon "
        f"{_epsilon_needed(parameter_for(float(best.variance)), float(best.delta_single)):.2f}.",
        draw=_laws_figure,
    )


def _epsilon_needed(parameter: float, delta: float) -> float:
    """The least epsilon at which the discrete Gaussian keeps the step from 1 to 2 within delta."""
    masses = discrete_gaussian(parameter)[60:]
    return math.log(max((masses[1] - delta) / masses[2], 1e-9))


def _law_claims(truth: str, support: int, epsilon: str = "2.18") -> tuple[Claim, ...]:
    made = noise(epsilon, truth, support)
    cross = [float(value) for value in crossovers(made.epsilon.odds(), support)]
    parameter, own = float(made.variance), float(made.delta_single)
    gauss = discrete_gaussian(parameter)[60:]
    real = true_variance(parameter)
    why = f"its parameter was set to the variance; its own variance is then {real:.3f}, not {parameter:.3f}"
    pmf = [float(mass) for mass in made.pmf[support:]]
    return (
        printed("C_2", "8.1229", cross[1]),
        printed("C_3", "7.8867", cross[2]),
        printed("least delta of single outputs", "0.0049", own),
        printed("p(1)", "0.08987", pmf[1]),
        printed("p(2)", "0.00960", pmf[2]),
        printed("p(1) / p(2)", "9.3617", pmf[1] / max(pmf[2], 1e-300)),
        stated("support that is used", "-3..3 of -6..6", f"-{_used(pmf)}..{_used(pmf)}", _used(pmf) == 3),
        printed("discrete Gaussian p(1)", "0.11685", gauss[1]),
        printed("discrete Gaussian p(2)", "0.000416", gauss[2]),
        stated(
            "discrete Gaussian p(1) / p(2)", "about 282", f"{gauss[1] / gauss[2]:.1f}",
            abs(gauss[1] / gauss[2] - 282) < 2,
        ),
        printed("epsilon the Gaussian needs for that delta", "5.6", _epsilon_needed(parameter, own)),
        stated(
            "the Gaussian has the same variance",
            "identical",
            f"{real:.3f} against {parameter:.3f}",
            abs(real - parameter) < 1e-3,
            why,
        ),
    )  # fmt: skip


def _laws_figure() -> Any:
    from discreet import plot

    made = noise("2.18", "0.8", 6)
    parameter, own = float(made.variance), float(made.delta_single)
    series = {
        "published noise": np.array([float(mass) for mass in made.pmf[6:]]),
        "least exact delta (ours)": np.array([float(mass) for mass in made.pmf_optimal[6:]]),
        "discrete Gaussian as published": discrete_gaussian(parameter)[60:67],
        "discrete Gaussian, equal variance": discrete_gaussian(parameter_for(parameter))[60:67],
    }
    grow = math.exp(2.18)
    ratios = {name: masses[:3] / np.where(masses[1:4] > 0, masses[1:4], np.nan) for name, masses in series.items()}
    excess = {name: np.maximum(masses[:3] - grow * masses[1:4], 0) for name, masses in series.items()}
    drawing, axes = plot.figure(2, 2, width=3.6, height=2.6)
    plot.lines(np.arange(7), series, axes[0, 0], "epsilon 2.18, truth 0.8", ("error", "probability"))
    plot.lines(np.arange(7), series, axes[0, 1], "the same, logarithmic", ("error", "probability"), "y")
    plot.lines(np.arange(3), ratios, axes[1, 0], "p(z) / p(z + 1)", ("error z", "ratio"), "y")
    axes[1, 0].axhline(grow, color="#999999", linestyle=":", linewidth=1)
    plot.lines(np.arange(3), excess, axes[1, 1], "p(z) - e^2.18 p(z + 1), above 0", ("error z", "excess"))
    axes[1, 1].axhline(own, color="#999999", linestyle=":", linewidth=1)
    return plot.legend_below(drawing, 2)


def _mirrored(half: list[Fraction]) -> list[Fraction]:
    return [*half[:0:-1], *half]


def _used(half: list[float]) -> int:
    return max(k for k, mass in enumerate(half) if mass > 0)


EPSILONS = tuple(f"{tenth / 10:.1f}" for tenth in range(3, 26))
TRUTHS = tuple(f"{hundredths / 100:.2f}" for hundredths in range(2, 100, 2))  # fine enough to show the knee


def figure_2(setting: RunSetting) -> Result:
    def claims(truth: str, supports: tuple[int, int] = (4, 6)) -> tuple[Claim, ...]:
        later = [float(noise(e, truth, 8).delta_paper) for e in EPSILONS if float(e) >= 1.1]
        made = noise("1.5", truth, 8)
        near = float(sum(made.pmf[5:12]))
        nine, thirteen = (float(noise("1.5", truth, support).delta_paper) for support in supports)
        return (
            stated("(2D+1) delta for D = 8, epsilon >= 1.1", "at most 0.001", f"{max(later):.2e}", max(later) <= 1e-3),
            printed("chance of an error of at most 3, epsilon 1.5", "0.9945", near),
            stated(
                "support 13 instead of 9",
                "significantly smaller delta",
                f"{thirteen:.1e} against {nine:.1e}",
                thirteen < nine / 5,
            ),
        )

    def draw() -> Any:
        from discreet import plot

        drawing, axes = plot.figure(1, 2)
        over = [float(e) for e in EPSILONS]
        theirs = {f"D = {d}": [float(noise(e, "0.5", d).delta_paper) for e in EPSILONS] for d in (2, 4, 6, 8)}
        plot.lines(over, theirs, axes[0, 0], "published bound (2D+1) delta", ("epsilon", "delta"), "y")
        ours = {
            "published bound": theirs["D = 8"],
            "exact, same noise": [float(noise(e, "0.5", 8).delta_exact) for e in EPSILONS],
            "exact, best noise (ours)": [float(noise(e, "0.5", 8).delta_optimal) for e in EPSILONS],
        }
        plot.lines(over, ours, axes[0, 1], "D = 8", ("epsilon", "delta"), "y")
        return drawing

    made = noise("1.1", "0.5", 8)
    return Result(
        claims("0.5"),
        (
            Control("truth 0.6 instead of 0.5", claims("0.6")),
            Control("supports 9 and 13 exchanged", claims("0.5", (6, 4))),
        ),
        f"At epsilon 1.1, D = 8: bound {float(made.delta_paper):.1e}, exact {float(made.delta_exact):.1e}, "
        f"best noise {float(made.delta_optimal):.1e}, with the same truth and support.",
        draw=draw,
    )


def figure_3(setting: RunSetting) -> Result:
    def delta(epsilon: str, truth: str, support: int = 8) -> float:
        return float(noise(epsilon, truth, support).delta_paper)

    def claims(first: str, second: str) -> tuple[Claim, ...]:
        one, two = delta(first, "0.5"), delta(second, "0.8")
        knees = _knee(first), _knee(second)
        after = 0 <= knees[0] - 0.5 < 0.1 and 0 <= knees[1] - 0.8 < 0.1
        return (
            stated("D = 8, truth 0.5: (1.1, 1e-3)", "at most 1e-3", f"{one:.2e}", one <= 1e-3),
            stated("D = 8, truth 0.8: (2.2, 5e-7)", "at most 5e-7", f"{two:.2e}", two <= 5e-7),
            stated(
                "the knee, where delta begins to grow fast", "slightly after 0.5 and 0.8",
                f"{knees[0]:.2f} and {knees[1]:.2f}", after,
            ),
        )  # fmt: skip

    def draw() -> Any:
        from discreet import plot

        drawing, axes = plot.figure(1, 2)
        for ax, epsilon in zip(axes[0], ("1.1", "2.2")):
            series: dict[str, Any] = {f"bound, D = {d}": [delta(epsilon, t, d) for t in TRUTHS] for d in (4, 6, 8)}
            series["best exact, D = 8 (ours)"] = [float(noise(epsilon, t, 8).delta_optimal) for t in TRUTHS]
            plot.lines([float(t) for t in TRUTHS], series, ax, f"epsilon {epsilon}", ("truth", "delta"), "y")
        return plot.legend_below(drawing, 4)

    rare = noise("1.1", "0.05", 8)
    odds = rare.epsilon.odds()
    promised = max(single_bounds(odds, rare.truth, 8))
    formula = single_delta(_mirrored(closed_form(odds, rare.truth, 8)), odds)
    return Result(
        claims("1.1", "2.2"),
        (Control("epsilon 0.8 and 1.9", claims("0.8", "1.9")),),
        f"For small truth the formula breaks down: at 0.05 it promises {float(promised):.1e}, and its noise has "
        f"{float(formula):.3f}. There another formula holds: least exact delta {float(rare.delta_optimal):.1e}.",
        draw=draw,
    )


def _knee(epsilon: str) -> float:
    """The truth from which on (2D+1) delta grows the fastest, in logarithm, D = 8."""
    values = np.log([float(noise(epsilon, truth, 8).delta_paper) for truth in TRUTHS])
    return float(TRUTHS[int(np.argmax(np.diff(values)))])


FIGURE_4 = tuple(f"{tenth / 10:.1f}" for tenth in range(8, 27))


def _deltas(truth: str, support: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for epsilon in FIGURE_4:
        made = noise(epsilon, truth, support)
        variance = float(made.variance)
        values = {
            "published bound": float(made.delta_paper),
            "exact, same noise": float(made.delta_exact),
            "best noise (ours)": float(made.delta_optimal),
            GAUSSIAN: hockey_stick(discrete_gaussian(variance), float(epsilon)),
            "discrete Gaussian, equal variance": hockey_stick(
                discrete_gaussian(parameter_for(variance)), float(epsilon)
            ),
        }
        for name, value in values.items():
            found.setdefault(name, []).append(value)
    return found


def figure_4(setting: RunSetting) -> Result:
    found = _deltas("0.5", 6)
    equal = found["discrete Gaussian, equal variance"]
    fair = sum(a < b for a, b in zip(found["published bound"], equal) if b)
    exchanged = {**found, "published bound": found[GAUSSIAN], GAUSSIAN: found["published bound"]}
    return Result(
        _range_claims(found),
        (
            Control("the two noises exchanged", _range_claims(exchanged)),
            Control("truth 0.1, where both do well", _range_claims(_deltas("0.1", 6))),
        ),
        f"At epsilon 2: bound {found['published bound'][FIGURE_4.index('2.0')]:.1e}, best noise "
        f"{found['best noise (ours)'][FIGURE_4.index('2.0')]:.1e}. At truly equal variance the bound is below the "
        f"Gaussian's delta at {fair} of {len(FIGURE_4)} epsilons.",
        note="'The same variance' is the Gaussian's parameter; its variance is smaller, which makes it look worse.",
        draw=lambda: _deltas_figure(found),
    )


GAUSSIAN = "discrete Gaussian as published"


def _range_claims(found: dict[str, list[float]]) -> tuple[Claim, ...]:
    later = [k for k, epsilon in enumerate(FIGURE_4) if float(epsilon) >= 1.1]
    ahead = sum(found["published bound"][k] < found[GAUSSIAN][k] for k in later)
    low = [found[name][FIGURE_4.index("0.8")] for name in ("published bound", GAUSSIAN)]
    return (
        stated(
            "bounded noise beats the Gaussian from epsilon 1.1", "wide range", f"{ahead} of {len(later)} epsilons",
            ahead >= 0.8 * len(later),
        ),
        stated(
            "both poor below epsilon 1.1", "delta quite high", f"{low[0]:.3f} and {low[1]:.3f} at 0.8",
            min(low) > 0.05,
        ),
    )  # fmt: skip


def _deltas_figure(found: dict[str, list[float]]) -> Any:
    from discreet import plot

    over = [float(epsilon) for epsilon in FIGURE_4]
    return plot.legend_below(plot.lines(over, found, None, "truth 0.5, D = 6", ("epsilon", "delta"), "y"), 2)


Law = dict[int, Fraction]


def example_1(setting: RunSetting) -> Result:
    theirs = published_bounded_mechanism(3, 1, truth="1/2", support=2)
    ours = bounded_mechanism(3, 1, truth="1/2", support=2)
    narrow = published_bounded_mechanism(3, 1, truth="1/2", support=1)
    laws = {count: _noise_of(theirs, count) for count in (1, 2, 3)}
    plain = dict(zip(range(-2, 3), noise("1", "0.5", 2).pmf))
    doubled = {count: _doubled(law) for count, law in laws.items()}
    clamped = {0: plain[0], -1: plain[-1] + plain[-2], 1: plain[1], 2: plain[2]}
    return Result(
        _example_claims(_noise_of(narrow, 1), laws),
        (
            Control("one noise for all counts, clamped at zero", _example_claims(clamped, {**laws, 1: clamped})),
            Control("noise of twice the distances", _example_claims(_doubled(laws[1]), doubled)),
        ),
        f"For counts up to 3 at epsilon 1 the published program gets an exact delta of {float(theirs.delta):.4f} and "
        f"leaves 0 and 1 unprotected from each other; ours protects all counts with {float(ours.delta):.4f}.",
    )  # fmt: skip


def _noise_of(made: BoundedMechanism, count: int) -> Law:
    """The law of the error at this count, exactly."""
    weights = made.mechanism.weights
    row = weights.rows[count - made.first]
    return {output - count: Fraction(weight, weights.total) for output, weight in enumerate(row) if weight}


def _doubled(law: Law) -> Law:
    return {2 * error: mass for error, mass in law.items()}


def _example_claims(narrow: Law, laws: dict[int, Law]) -> tuple[Claim, ...]:
    """Equation (5): every law of the program is a mixture of the two-point laws of equation (4)."""
    one = laws[1]
    share = 4 * one.get(1, Fraction(0))  # of the law on -1 and 1
    mixed = share / 4 + (1 - share) / 3
    bias = [sum((error * mass for error, mass in law.items()), Fraction(0)) for law in laws.values()]
    reach = [max(map(abs, law)) for law in laws.values()]
    quarter, both = Fraction(1, 4), f"{float(one.get(-1, 0)):.6f}, {float(mixed):.6f}"
    return (
        stated("count 1, errors -1 and 1: p(-1)", "1/4", str(narrow.get(-1)), narrow.get(-1) == quarter),
        stated(
            "count 1, errors -1 and 1: p(1)", "0, in equation (4)", str(narrow.get(1, 0)), narrow.get(1, 0) == 0,
            "the printed law would sum to 3/4; equation (5) has the missing mass",
        ),
        stated("count 1, D = 2: p(-1)", "1/4 a + 1/3 (1 - a), a = 4 p(1)", both, one.get(-1) == mixed),
        stated("count 1, D = 2: p(2)", "1/6 (1 - a)", f"{float(one.get(2, 0)):.6f}", one.get(2, 0) == (1 - share) / 6),
        stated("nothing below zero is published", "p(-2 | 1) = 0", str(one.get(-2, 0)), -2 not in one),
        stated("counts 1, 2 and 3 are right on average", "bias 0", ", ".join(map(str, bias)), not any(bias)),
        stated("and no error exceeds D", "2", str(max(reach)), max(reach) <= 2),
    )  # fmt: skip


EXPERIMENTS = (
    Experiment("001-figure-1", "bounded noise against the discrete Gaussian", figure_1),
    Experiment("001-figure-2", "delta against epsilon", figure_2),
    Experiment("001-figure-3", "delta against the probability of the truth", figure_3),
    Experiment("001-figure-4", "bounded noise against the discrete Gaussian over epsilon", figure_4),
    Experiment("001-example-1", "noise for counts 1 to 3", example_1),
)
