"""Paper 004, mechanisms made for other losses: figures 15 to 18. Expected errors are computed, not simulated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet_lab.experiment import Claim, Control, Experiment, Result, RunSetting, stated
from discreet_lab.experiments.constrained import ALL, matrix, named, solved
from discreet_lab.experiments.constrained_data import (
    BIASES,
    HIGH,
    LOW,
    OURS,
    Mechanisms,
    binomial,
    curves,
    expected,
    grid,
    made_for,
    rmse,
)


def for_cost(people: int, alpha: str, objective: str) -> Mechanisms:
    """The mechanisms made for a given loss: unconstrained, weakly honest, fair, all properties, uniform."""
    wanted = {"UCM": (), "WM": ("WH",), "FM": ("F",), "AM": ALL}
    made = {name: matrix(solved(people, alpha, objective, require)) for name, require in wanted.items()}
    return {**made, "UM": matrix(named("uniform", people, alpha))}


def _rmse_panels(objective: str, setting: RunSetting) -> dict[tuple[int, str], dict[str, list[float]]]:
    sizes, alphas = ((4, 8) if setting.quick else (4, 8, 12)), ("0.9", LOW)
    return {
        (n, a): curves(for_cost(n, a, objective), lambda made, p, n=n: rmse(made, binomial(n, p)), BIASES)  # type: ignore[misc]
        for a in alphas
        for n in sizes
    }


def _rmse_figure(objective: str, number: int) -> Callable[[RunSetting], Result]:
    def run(setting: RunSetting) -> Result:
        panels = _rmse_panels(objective, setting)

        def claims(best: str, all_but: int = 0) -> tuple[Claim, ...]:
            """With another mechanism in place of UCM, or another place of p instead of 0.1."""
            cases = [(lines, k) for lines in panels.values() for k in range(9)]
            among = sum(lines[best][k] <= 1.1 * min(line[k] for line in lines.values()) for lines, k in cases)
            close = float(np.median([lines["WM"][k] / lines[best][k] for lines, k in cases]))
            even = all(lines["AM"][4 - all_but] < lines["AM"][all_but] for lines in panels.values())
            return (
                stated(
                    "UCM is among the best",
                    "yes",
                    f"{among} of {len(cases)} cases within 10%",
                    among >= 0.6 * len(cases),
                ),
                stated(
                    "WM is similar to it",
                    "a similar level",
                    f"typically {close:.2f} times its RMSE",
                    0.9 < close < 1.35,
                ),
                stated("AM does better near p = 0.5 than at 0.1", "yes", "yes" if even else "no", even),
            )

        titles = {}
        for (n, a), lines in panels.items():
            ours = [made_for(n, a, "squared", binomial(n, p)) ** 0.5 for p in BIASES]
            titles[f"{n} people, alpha {a}"] = (BIASES, {**lines, OURS: ours})
        return Result(
            claims("UCM"),
            (
                Control("uniform guessing in place of the optimum", claims("UM")),
                Control("all properties in place of the optimum; 0.5 and 0.1 exchanged", claims("AM", 4)),
            ),
            "Solved with proven lower bounds; the last line is designed for the law of the data, not the uniform one.",
            draw=lambda: grid(titles, ("p", "RMSE"), 2),
        )

    run.__name__ = f"figure_{number}"
    return run


def _tail_figure(objective: str, number: int) -> Callable[[RunSetting], Result]:
    depths = tuple(range(7))

    def panel(share: float, alpha: str) -> dict[str, list[float]]:
        prior = binomial(8, share)
        return curves(for_cost(8, alpha, objective), lambda made, d: expected(made, prior, f"beyond:{d}"), depths)

    def claims(best: str, others: tuple[str, ...] = ("WM", "FM", "AM")) -> tuple[Claim, ...]:
        skewed, even = panel(0.1, HIGH), panel(0.6, HIGH)
        worst = skewed[best][0] >= max(skewed[name][0] for name in others)
        later = next((d for d in depths if skewed[best][d] < min(skewed[name][d] for name in others)), None)
        preferred = sum(even[best][d] <= min(even[name][d] for name in others) + 1e-9 for d in depths)
        spread = {
            p: max(float(np.ptp([panel(p, LOW)[name][d] for name in others])) for d in depths) for p in (0.1, 0.6)
        }
        why = "they do where the data are balanced and errors count absolutely; all these optima are proven"
        return (
            stated("p = 0.1, high alpha, d = 0: UCM is worst", "yes", f"{skewed[best][0]:.3f}", worst),
            stated("the order reverses as d grows", "yes", f"from d = {later}", later is not None and later > 0),
            stated("p = 0.6: UCM is preferred", "yes", f"{preferred} of 7 depths", preferred >= 6),
            *(
                stated(
                    f"AM, FM, WM almost overlap at alpha 0.67, p = {p}", "almost", f"within {gap:.3f}", gap < 0.02, why
                )
                for p, gap in spread.items()
            ),
        )

    def shown(share: float, alpha: str) -> dict[str, list[float]]:
        ours = [made_for(8, alpha, f"beyond:{d}", binomial(8, share)) for d in depths]
        return {**panel(share, alpha), OURS: ours}

    def run(setting: RunSetting) -> Result:
        panels = {f"p {p}, alpha {a}": (depths, shown(p, a)) for p in (0.1, 0.6) for a in (HIGH, LOW)}
        return Result(
            claims("UCM"),
            (
                Control("uniform guessing in place of the optimum", claims("UM")),
                Control("the optimum among the others, AM in its place", claims("AM", ("UCM", "WM", "FM"))),
                Control("guessing among the others", claims("UCM", ("WM", "FM", "UM"))),
            ),
            "Exact tails. The last line is designed for that very tail and the law of the data.",
            draw=lambda: grid(panels, ("d", "share off by > d"), 2),
        )

    run.__name__ = f"figure_{number}"
    return run


EXPERIMENTS = (
    Experiment("004-figure-15", "RMSE of mechanisms made for absolute error", _rmse_figure("absolute", 15)),
    Experiment("004-figure-16", "RMSE of mechanisms made for squared error", _rmse_figure("squared", 16)),
    Experiment("004-figure-17", "tails of mechanisms made for absolute error", _tail_figure("absolute", 17)),
    Experiment("004-figure-18", "tails of mechanisms made for squared error", _tail_figure("squared", 18)),
)
