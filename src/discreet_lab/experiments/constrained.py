"""Paper 004, the mechanisms themselves: figures 1, 2 and 7 to 9."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.arrays import Floats
from discreet.build.design import Design, design
from discreet_lab.experiment import Claim, Control, Experiment, Result, RunSetting, printed, stated

ALL = ("RH", "RM", "CH", "CM", "F", "WH", "S")
WEAK = ("WH", "RM", "CM")
ROWS = (("WH",), ("WH", "RH"), ("WH", "RM"))
COLUMNS = tuple(("WH", *more) for more in (("CH",), ("CM",), ("RH", "CH"), ("RH", "CM"), ("RM", "CH"), ("RM", "CM")))
Group = tuple[tuple[str, ...], ...]
FIGURE_1 = (  # group size, objective, outputs that are said to take nearly everything, and how much of it
    (4, "squared", (2,), 0.999),
    (7, "absolute", (2, 5), 0.7),
    (5, "beyond:1", (1, 4), 0.9),
)


@lru_cache(maxsize=4096)
def solved(people: int, alpha: str, objective: str = "wrong", require: tuple[str, ...] = ()) -> Design:
    return design(people, alpha=alpha, objective=objective, require=require)


@lru_cache(maxsize=1024)
def named(name: str, people: int, alpha: str) -> Design:
    return design(people, alpha=alpha, mechanism=name)


def matrix(result: Design) -> Floats:
    return result.mechanism.matrix()


def rescaled(result: Design) -> float:
    """The paper's L0: the chance of a wrong answer, rescaled so that guessing costs 1."""
    people = len(result.prior) - 1
    return result.cost["wrong"] * (people + 1) / people


def _least_share(people: int, alpha: str, objective: str, outputs: tuple[int, ...]) -> float:
    """The least probability, over inputs, of the named outputs."""
    return float(matrix(solved(people, alpha, objective))[:, list(outputs)].sum(axis=1).min())


def figure_1(setting: RunSetting) -> Result:
    alphas = [f"0.{hundredths}" for hundredths in range(62, 96)]

    def claims(alpha: str) -> tuple[Claim, ...]:
        found = []
        for people, objective, outputs, least in FIGURE_1:
            share = _least_share(people, alpha, objective, outputs)
            from_on = next(
                (a for a in alphas if _least_share(people, a, objective, outputs) >= least), "none below 0.96"
            )
            found.append(
                stated(
                    f"best {objective} mechanism for {people} people reports {' or '.join(map(str, outputs))}",
                    f"with probability at least {least} at alpha {alpha}",
                    f"{share:.3f} at least",
                    share >= least,
                    f"the mechanism of proven least cost is another one; the sentence becomes true at alpha {from_on}",
                )
            )
        gaps = [int((matrix(solved(n, alpha, o)).max(axis=0) == 0).sum()) for n, o, _, _ in FIGURE_1]
        found.append(stated("outputs that are never reported", "every optimum has some", f"{gaps}", min(gaps) > 0))
        return tuple(found)

    def draw() -> Any:
        return heat_maps([(f"{o}, {n} people", matrix(solved(n, "0.62", o))) for n, o, _, _ in FIGURE_1])

    return Result(
        claims("0.62"),
        (Control("at alpha 0.3 the optima report nearly every output", claims("0.30")),),
        "Each optimum comes with a proven lower bound and an exact certificate, none from the solver's word.",
        note="The sentences of the introduction describe larger alphas than the caption's 0.62.",
        draw=draw,
    )


def figure_2(setting: RunSetting) -> Result:
    def claims(alpha: str, require: tuple[str, ...]) -> tuple[Claim, ...]:
        made = {objective: solved(4, alpha, objective, require) for objective in ("wrong", "absolute", "squared")}
        dearer = max(made["wrong"].cost[objective] / made[objective].value for objective in ("absolute", "squared"))
        squared = matrix(made["squared"])
        gaps = int((squared.max(axis=0) == 0).sum())
        least = float(min(squared[i, max(0, i - 1) : i + 2].sum() for i in range(5)))
        why = f"it is {least:.4f}: just short of it, the same to two digits"
        apart = "alike to the eye only: the fair mechanism made for the 0-1 loss has clearly more squared error"
        return (
            stated("error of at most 1, squared, 4 people", "at least 2/3", f"{least:.4f}", least >= 2 / 3, why),
            stated("outputs never reported once all properties hold", "none", str(gaps), gaps == 0),
            stated(
                "the three objectives' best mechanisms", "similar", f"squared error apart by a factor {dearer:.2f}",
                dearer < 1.1, apart,
            ),
        )  # fmt: skip

    def draw() -> Any:
        shown = [(f"{o}, 4 people", matrix(solved(4, "0.62", o, ALL))) for o in ("absolute", "squared")]
        return heat_maps([*shown, ("absolute, 7 people", matrix(solved(7, "0.62", "absolute", ALL)))])

    return Result(
        claims("0.62", ALL),
        (Control("no property asked for", claims("0.62", ())),),
        "The designs are integer weights, with every property re-checked exactly.",
        draw=draw,
    )


def figure_7(setting: RunSetting) -> Result:
    def claims(alpha: str, why: str, names: tuple[str, str] = ("explicit-fair", "geometric")) -> tuple[Claim, ...]:
        fair, geometric = (1 - named(name, 4, alpha).cost["wrong"] for name in names)
        weak = 1 - solved(4, alpha, require=WEAK).cost["wrong"]
        return (
            printed("chance of the truth, explicit fair, 4 people", "0.224", fair, why=why),
            printed("chance of the truth, geometric, 4 people", "0.238", geometric, why=why),
            stated("the weakly honest mechanism", "sits between the two", f"{weak:.4f}", fair <= weak <= geometric),
        )

    def draw() -> Any:
        shown = [("geometric", named("geometric", 4, "0.9")), ("explicit fair", named("explicit-fair", 4, "0.9"))]
        shown.append(("weakly honest", solved(4, "0.9", require=WEAK)))
        return heat_maps([(title, matrix(found)) for title, found in shown])

    fair, geometric = claims("10/11", "")[:2]
    why = f"these are the values at alpha = 10/11 ({fair.ours} and {geometric.ours}), not at the caption's 0.9"
    return Result(
        claims("0.9", why),
        (
            Control("alpha 0.8 has neither value", claims("0.8", "")),
            Control("the two mechanisms exchanged", claims("0.9", "", ("geometric", "explicit-fair"))),
        ),
        "At any alpha the three are one call: dc.compare(max_count=4, alpha='0.9').",
        draw=draw,
    )


def figure_8(setting: RunSetting) -> Result:
    sizes = range(2, 11) if setting.quick else range(2, 15)

    def spread(group: Group, alpha: str, people: int) -> float:
        costs = [rescaled(solved(people, alpha, require=wanted)) for wanted in group]
        return max(costs) - min(costs)

    def claims(alpha: str, rows: Group = ROWS, columns: Group = COLUMNS) -> tuple[Claim, ...]:
        a = float(Fraction(alpha))
        threshold = 2 * a / (1 - a)
        beyond = [n for n in sizes if n >= threshold]
        equal = max((abs(rescaled(solved(n, alpha, require=rows[0])) - 2 * a / (1 + a)) for n in beyond), default=1.0)
        return (
            printed("group size from which the geometric mechanism is weakly honest", "6.33", threshold),
            printed("cost of weak honesty alone beyond it", "0.864", rescaled(solved(10, alpha, require=rows[0]))),
            stated("there it is the geometric cost", "equal", f"largest gap {equal:.1e}", equal < 1e-7),
            _one_behaviour("with row properties only", max(spread(rows, alpha, n) for n in sizes)),
            _one_behaviour("with a column property", max(spread(columns, alpha, n) for n in sizes)),
            _large_alpha(ROWS + COLUMNS),
        )

    return Result(
        claims("0.76"),
        (
            Control("alpha 0.8 has another threshold", claims("0.8")),
            Control("a combination of the other kind in each", claims("0.76", COLUMNS[:1] + ROWS, ROWS[:1] + COLUMNS)),
        ),
        "Every cost here carries a proven lower bound; the closed forms and the program agree.",
        draw=lambda: _costs_figure(sizes),
    )


def _costs_figure(sizes: range) -> Any:
    from discreet import plot

    drawing, axes = plot.figure(1, 2)
    kinds = {"weak honesty alone": ("WH",), "with a column property": WEAK}
    over = {name: [rescaled(solved(n, "0.76", require=wanted)) for n in sizes] for name, wanted in kinds.items()}
    over["geometric"] = [rescaled(named("geometric", n, "0.76")) for n in sizes]
    over["explicit fair"] = [rescaled(named("explicit-fair", n, "0.76")) for n in sizes]
    plot.lines(list(sizes), over, axes[0, 0], "alpha 0.76", ("group size", "L0"))
    alphas = ["0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "0.99"]
    across = {name: [rescaled(solved(8, a, require=wanted)) for a in alphas] for name, wanted in kinds.items()}
    across["geometric"] = [rescaled(named("geometric", 8, a)) for a in alphas]
    across["explicit fair"] = [rescaled(named("explicit-fair", 8, a)) for a in alphas]
    plot.lines([float(a) for a in alphas], across, axes[0, 1], "8 people", ("alpha", "L0"))
    return plot.legend_below(drawing, 4)


def _one_behaviour(which: str, spread: float) -> Claim:
    return stated(f"combinations {which}", "cost the same", f"largest spread {spread:.1e}", spread < 1e-6)


def _large_alpha(combinations: tuple[tuple[str, ...], ...]) -> Claim:
    fair = rescaled(named("explicit-fair", 8, "0.99"))
    apart = max(abs(rescaled(solved(8, "0.99", require=wanted)) - fair) for wanted in combinations)
    why = (
        "close enough to look the same in print, but weak honesty is strictly cheaper than fairness at every alpha < 1"
    )
    return stated(
        "at large alpha all combinations", "cost what the fair mechanism costs", f"gap {apart:.1e}", apart < 1e-9, why
    )


def figure_9(setting: RunSetting) -> Result:
    sizes = (2, 4, 8, 12, 16, 20, 24) if setting.quick else tuple(range(2, 31, 2))
    thresholds = {"2/3": 4, "10/11": 20, "0.99": 198}
    nearer = {alpha: str(1 - Fraction(4, 5) * (1 - Fraction(alpha))) for alpha in thresholds}
    alphas = tuple(thresholds)
    apart = max(_readings_apart(people, alpha) for people in sizes for alpha in alphas)
    exchanged = _order(sizes, alphas, ("explicit-fair", "geometric"))
    return Result(
        (*_thresholds(thresholds), *_meetings(20), *_order(sizes, alphas)),
        (
            Control("alphas nearer to one by a fifth", _thresholds(thresholds, nearer)),
            Control("ten people instead of twenty", _meetings(10)),
            Control("geometric and explicit fair exchanged", exchanged),
        ),
        f"We draw both readings of WM apart: they differ by up to {100 * apart:.1f}% of the cost.",
        draw=lambda: _sizes_figure(sizes, alphas),
    )


def _readings_apart(people: int, alpha: str) -> float:
    rows, columns = (rescaled(solved(people, alpha, require=wanted)) for wanted in (("WH", "RM"), WEAK))
    return columns / rows - 1


def _thresholds(sizes: dict[str, int], used: dict[str, str] | None = None) -> tuple[Claim, ...]:
    """The group size from which on the geometric mechanism is weakly honest, found among its properties."""
    return tuple(
        printed(f"threshold at alpha {alpha}", str(size), _threshold(alpha if used is None else used[alpha]))
        for alpha, size in sizes.items()
    )


def _threshold(alpha: str) -> int:
    low, high = 1, 512
    while high - low > 1:
        middle = (low + high) // 2
        honest = named("geometric", middle, alpha).properties["weakly-honest"]
        low, high = (low, middle) if honest else (middle, high)
    return high


def _meetings(people: int) -> tuple[Claim, ...]:
    """Whether weak honesty costs nothing from the threshold on, in both readings of WM."""
    why = "only weak honesty with row properties does; with column monotonicity, as WM is defined, the cost stays above"
    geometric = rescaled(named("geometric", people, "10/11"))
    found = []
    for what, wanted in (
        ("weak honesty meets the geometric cost at 20 people", ("WH", "RM")),
        ("WM meets it too", WEAK),
    ):
        cost = rescaled(solved(people, "10/11", require=wanted))
        ours = f"{cost:.6f} against {geometric:.6f}"
        found.append(stated(what, "at alpha 10/11", ours, abs(cost - geometric) < 1e-7, why))
    return tuple(found)


def _order(
    sizes: tuple[int, ...], alphas: tuple[str, ...], ends: tuple[str, str] = ("geometric", "explicit-fair")
) -> tuple[Claim, ...]:
    def costs(people: int, alpha: str) -> tuple[float, float, float]:
        low, high = (rescaled(named(name, people, alpha)) for name in ends)
        return low, rescaled(solved(people, alpha, require=WEAK)), high

    every = [costs(people, alpha) for people in sizes for alpha in alphas]
    ordered = all(low - 1e-9 <= middle <= high + 1e-9 and high <= 1 for low, middle, high in every)
    strict = max(high - middle for _, middle, high in (costs(people, "0.99") for people in sizes))
    close = "equal to three digits only: WM is strictly cheaper"
    where = "everywhere" if ordered else "not everywhere"
    return (
        stated("WM costs what EM costs at alpha 0.99", "the same", f"largest gap {strict:.1e}", strict < 1e-9, close),
        stated("geometric <= WM <= EM <= uniform", "everywhere", where, ordered),
    )


def _sizes_figure(sizes: tuple[int, ...], alphas: tuple[str, ...]) -> Any:
    from discreet import plot

    drawing, axes = plot.figure(1, len(alphas))
    for alpha, ax in zip(alphas, axes[0]):
        curves = {
            "geometric": [rescaled(named("geometric", n, alpha)) for n in sizes],
            "weakly honest": [rescaled(solved(n, alpha, require=("WH", "RM"))) for n in sizes],
            "weakly honest, column monotone": [rescaled(solved(n, alpha, require=WEAK)) for n in sizes],
            "explicit fair": [rescaled(named("explicit-fair", n, alpha)) for n in sizes],
        }
        plot.lines(sizes, curves, ax, f"alpha {alpha}", ("group size", "L0"))
    return plot.legend_below(drawing, 4)


def heat_maps(shown: list[tuple[str, Floats]]) -> Any:
    from discreet import plot

    drawing, axes = plot.figure(1, len(shown), width=3.0, height=2.8)
    for (title, values), ax in zip(shown, axes[0]):
        plot.heat_map(values, ax, title)
    return drawing


EXPERIMENTS = (
    Experiment("004-figure-1", "the best mechanisms without requirements have gaps and spikes", figure_1),
    Experiment("004-figure-2", "the best mechanisms with all properties have neither", figure_2),
    Experiment("004-figure-7", "geometric, explicit fair and weakly honest for four people", figure_7),
    Experiment("004-figure-8", "combinations of properties with weak honesty", figure_8),
    Experiment("004-figure-9", "L0 cost against group size", figure_9),
)
