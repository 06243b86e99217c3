"""Paper 001: bounded integer noise. Figures 1 to 4 and example 1."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.build.bounded_inputs import bounded_mechanism, published_bounded_mechanism
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
        Control("truth 0.7 instead of 0.8", _law_claims("0.7", 6)),
        f"Exact delta of the published noise {float(best.delta_exact):.4f}, where (2D+1) times the single-output delta "
        f"promises only {float(best.delta_paper):.4f}.",
        draw=lambda: _laws_figure(),
    )


def _law_claims(truth: str, support: int) -> tuple[Claim, ...]:
    made = noise("2.18", truth, support)
    cross = [float(value) for value in crossovers(made.epsilon.odds(), support)]
    parameter, own = float(made.variance), float(made.delta_single)
    gauss = discrete_gaussian(parameter)[60:]
    needed = math.log(max((gauss[1] - own) / gauss[2], 1e-9))
    matched = discrete_gaussian(parameter_for(parameter))[60:]
    fairly = math.log(max((matched[1] - own) / matched[2], 1e-9))
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
        printed("epsilon the Gaussian needs for that delta", "5.6", needed),
        stated(
            "the Gaussian has the same variance",
            "identical",
            f"{real:.3f} against {parameter:.3f}",
            abs(real - parameter) < 1e-3,
            why,
        ),
        stated("with truly equal variance it needs", "(not computed)", f"epsilon {fairly:.2f}", fairly > 2.18),
    )


def _laws_figure() -> Any:
    from discreet import plot

    made = noise("2.18", "0.8", 6)
    parameter = float(made.variance)
    series = {
        "published noise": [float(mass) for mass in made.pmf[6:]],
        "least exact delta (ours)": [float(mass) for mass in made.pmf_optimal[6:]],
        "discrete Gaussian as published": discrete_gaussian(parameter)[60:67],
        "discrete Gaussian, equal variance": discrete_gaussian(parameter_for(parameter))[60:67],
    }
    return plot.lines(np.arange(7), series, title="epsilon 2.18, truth 0.8", labels=("error", "probability"), log="y")


def _mirrored(half: list[Fraction]) -> list[Fraction]:
    return [*half[:0:-1], *half]


def _used(half: list[float]) -> int:
    return max(k for k, mass in enumerate(half) if mass > 0)


EPSILONS = ("0.5", "0.8", "1.1", "1.4", "1.7", "2.0", "2.3")


def figure_2(setting: RunSetting) -> Result:
    def claims(truth: str) -> tuple[Claim, ...]:
        later = [float(noise(e, truth, 8).delta_paper) for e in EPSILONS if float(e) >= 1.1]
        made = noise("1.5", truth, 8)
        near = float(sum(made.pmf[5:12]))
        nine, thirteen = (float(noise("1.5", truth, support).delta_paper) for support in (4, 6))
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
        Control("truth 0.6 instead of 0.5", claims("0.6")),
        f"At epsilon 1.1, D = 8: bound {float(made.delta_paper):.1e}, exact {float(made.delta_exact):.1e}, "
        f"best noise {float(made.delta_optimal):.1e}, with the same truth and support.",
        draw=draw,
    )


def figure_3(setting: RunSetting) -> Result:
    def delta(epsilon: str, truth: str, support: int = 8) -> float:
        return float(noise(epsilon, truth, support).delta_paper)

    def claims(first: str, second: str) -> tuple[Claim, ...]:
        one, two = delta(first, "0.5"), delta(second, "0.8")
        knee = delta(first, "0.6") / one, delta(second, "0.9") / two
        return (
            stated("D = 8, truth 0.5: (1.1, 1e-3)", "at most 1e-3", f"{one:.2e}", one <= 1e-3),
            stated("D = 8, truth 0.8: (2.2, 5e-7)", "at most 5e-7", f"{two:.2e}", two <= 5e-7),
            stated(
                "the knee follows soon after",
                "delta grows fast",
                f"{knee[0]:.0f} and {knee[1]:.0f} times",
                min(knee) > 5,
            ),
        )

    def draw() -> Any:
        from discreet import plot

        truths = [f"0.{tenth}" for tenth in range(1, 10)]
        drawing, axes = plot.figure(1, 2)
        for ax, epsilon in zip(axes[0], ("1.1", "2.2")):
            series: dict[str, Any] = {f"bound, D = {d}": [delta(epsilon, t, d) for t in truths] for d in (4, 6, 8)}
            series["best exact, D = 8 (ours)"] = [float(noise(epsilon, t, 8).delta_optimal) for t in truths]
            plot.lines([float(t) for t in truths], series, ax, f"epsilon {epsilon}", ("truth", "delta"), "y")
        return drawing

    rare = noise("1.1", "0.05", 8)
    odds = rare.epsilon.odds()
    promised = max(single_bounds(odds, rare.truth, 8))
    formula = single_delta(_mirrored(closed_form(odds, rare.truth, 8)), odds)
    return Result(
        claims("1.1", "2.2"),
        Control("epsilon 0.8 and 1.9", claims("0.8", "1.9")),
        f"For small truth the formula breaks down: at 0.05 it promises {float(promised):.1e}, and its noise has "
        f"{float(formula):.3f}. There another formula holds: least exact delta {float(rare.delta_optimal):.1e}.",
        draw=draw,
    )


FIGURE_4 = ("0.8", "1.1", "1.4", "1.7", "2.0", "2.3", "2.6")


def _deltas(truth: str, support: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for epsilon in FIGURE_4:
        made = noise(epsilon, truth, support)
        variance = float(made.variance)
        values = {
            "published bound": float(made.delta_paper),
            "exact, same noise": float(made.delta_exact),
            "best noise (ours)": float(made.delta_optimal),
            "discrete Gaussian as published": hockey_stick(discrete_gaussian(variance), float(epsilon)),
            "discrete Gaussian, equal variance": hockey_stick(
                discrete_gaussian(parameter_for(variance)), float(epsilon)
            ),
        }
        for name, value in values.items():
            found.setdefault(name, []).append(value)
    return found


def figure_4(setting: RunSetting) -> Result:
    def claims(found: dict[str, list[float]]) -> tuple[Claim, ...]:
        wide, equal = found["discrete Gaussian as published"][1:], found["discrete Gaussian, equal variance"][1:]
        bound = found["published bound"][1:]
        ahead = sum(a < b for a, b in zip(bound, wide))
        fair = sum(a < b for a, b in zip(bound, equal))
        return (
            stated(
                "bounded noise beats the Gaussian from epsilon 1.1", "wide range", f"{ahead} of 6 epsilons", ahead >= 5
            ),
            stated("also at truly equal variance", "(not computed)", f"{fair} of 6 epsilons", fair >= 4),
            stated(
                "both poor below epsilon 1.1",
                "delta quite high",
                f"{found['published bound'][0]:.3f}",
                found["published bound"][0] > 0.005,
            ),
        )

    found = _deltas("0.5", 6)
    return Result(
        claims(found),
        Control("truth 0.9, far beyond the knee", claims(_deltas("0.9", 6))),
        f"At epsilon 2: bound {found['published bound'][4]:.1e}, best noise {found['best noise (ours)'][4]:.1e}.",
        note="'The same variance' is the Gaussian's parameter; its variance is smaller, which makes it look worse.",
        draw=lambda: _deltas_figure(found),
    )


def _deltas_figure(found: dict[str, list[float]]) -> Any:
    from discreet import plot

    over = [float(epsilon) for epsilon in FIGURE_4]
    return plot.lines(over, found, None, "truth 0.5, D = 6", ("epsilon", "delta"), "y")


def example_1(setting: RunSetting) -> Result:
    def law(below: int, above: int) -> dict[int, Fraction]:
        """The paper's two-point noise with truth 1/2."""
        return {
            -below: Fraction(above, 2 * (above + below)),
            0: Fraction(1, 2),
            above: Fraction(below, 2 * (above + below)),
        }

    def claims(one: dict[int, Fraction], two: dict[int, Fraction]) -> tuple[Claim, ...]:
        bias = [sum(error * mass for error, mass in noise.items()) for noise in (one, two)]
        return (
            stated("count 1, errors -1 and 1: p(-1)", "1/4", str(one[-1]), one[-1] == Fraction(1, 4)),
            stated("count 1, errors -1 and 1: p(1)", "1/4 (missing in print)", str(one[1]), sum(one.values()) == 1),
            stated("count 1, errors -1 and 2: p(-1)", "1/3", str(two[-1]), two[-1] == Fraction(1, 3)),
            stated("count 1, errors -1 and 2: p(2)", "1/6", str(two[2]), two[2] == Fraction(1, 6)),
            stated("both are right on average", "bias 0", f"{bias[0]}, {bias[1]}", bias == [0, 0]),
        )

    theirs = published_bounded_mechanism(3, 1, truth="1/2", support=2)
    ours = bounded_mechanism(3, 1, truth="1/2", support=2)
    return Result(
        claims(law(1, 1), law(1, 2)),
        Control(
            "masses in proportion to the distances, not against them",
            claims(law(1, 1), {-1: Fraction(1, 6), 0: Fraction(1, 2), 2: Fraction(1, 3)}),
        ),
        f"For counts up to 3 at epsilon 1 the published program gets an exact delta of {float(theirs.delta):.4f} and "
        f"leaves 0 and 1 unprotected from each other; ours protects all counts with {float(ours.delta):.4f}.",
    )


EXPERIMENTS = (
    Experiment("001-figure-1", "bounded noise against the discrete Gaussian", figure_1),
    Experiment("001-figure-2", "delta against epsilon", figure_2),
    Experiment("001-figure-3", "delta against the probability of the truth", figure_3),
    Experiment("001-figure-4", "bounded noise against the discrete Gaussian over epsilon", figure_4),
    Experiment("001-example-1", "noise for counts 1 to 3", example_1),
)
