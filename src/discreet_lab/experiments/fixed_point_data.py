"""Paper 000: its data (figures 1 and 4) and the error of the privatizers (figure 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.evaluate.metrics import ks, w1
from discreet_lab.baselines.two_stage import measured
from discreet_lab.data import bird_flu, crime, histogram, schools
from discreet_lab.experiment import Claim, Control, Experiment, Result, RunSetting, printed, stated
from discreet_lab.experiments.fixed_point import binned

PRIVATIZERS = ("cyclic-laplace", "laplace", "privelet", "hierarchical", "cumulative")
Panel = dict[str, list[float]]


def figure_1(setting: RunSetting) -> Result:
    cases, source = bird_flu(setting)

    def claims(counts: Integers, named: dict[str, int]) -> tuple[Claim, ...]:
        largest = int(counts.max())
        why = f"the largest count is {largest}: n = {largest + 1} would do"
        return (
            printed("states (N)", "50", len(counts)),
            *(printed(state, value, named[state]) for state, value in NAMED.items()),
            printed("counts (n)", "41", largest + 1, why=why),
            stated(
                "share of states without a case", "the tallest bar, above 0.5", f"{(counts == 0).mean():.2f}",
                bool((counts == 0).mean() > 0.5),
            ),
        )  # fmt: skip

    counts = np.array(list(cases.values()))
    fewer = {state: cases[state] for state in list(cases)[1:]}
    one_more = {state: value + 1 for state, value in cases.items()}
    return Result(
        claims(counts, cases),
        (
            Control("one case more in every state", claims(counts + 1, one_more)),
            Control("one state left out", claims(np.array(list(fewer.values())), fewer)),
        ),
        "Such a table is one call: dc.release(dc.read_table(...), epsilon=1).",
        data=(source,),
        draw=lambda: _bars({"human cases of bird flu by state": np.bincount(counts)}),
    )


NAMED = {"California": "38", "Colorado": "10", "Wisconsin": "1"}


def figure_4(setting: RunSetting) -> Result:
    bins, first = histogram(setting, "binomial")
    counts, second = crime(setting)
    teachers, third = schools(setting)
    capped = np.minimum(counts, 50)
    shown = {"binomial": bins, "crime": np.bincount(capped), "schools (stand-in)": np.bincount(teachers)}
    wrong = _data_claims(capped[1:] // 2, np.roll(bins + 1, 1))
    return Result(
        _data_claims(capped, bins),
        (Control("a row less and counts halved; bins moved by one, a draw more in each", wrong),),
        "The shapes of docs/frontier.md include the first two.",
        data=(first, second, third),
        draw=lambda: _bars(shown),
    )


def _data_claims(county: Integers, binomial: Integers) -> tuple[Claim, ...]:
    skewness = _skewness(county)
    why = f"it is the skewness of the 50 frequencies of the histogram; the counts, top-coded at 50, have {skewness:.2f}"
    middle = float(binomial @ np.arange(len(binomial)) / binomial.sum())
    return (
        printed("binomial: draws", "10000", int(binomial.sum())),
        stated("binomial: symmetric about 10", "yes", f"mean {middle:.2f}", abs(middle - 10) < 0.1),
        printed("crime: counties", "3136", len(county)),
        printed("crime: without a homicide (%)", "53", 100 * float((county == 0).mean())),
        printed("crime: skewness", "5.83", skewness, why=why),
        printed("crime: skewness of the 50 frequencies", "5.83", _skewness(np.bincount(county, minlength=51)[:50])),
    )


def _skewness(values: Any) -> float:
    from scipy.stats import skew

    return float(skew(values))


def _bars(shown: dict[str, Integers]) -> Any:
    from discreet import plot

    drawing, axes = plot.figure(1, len(shown), width=3.0, height=2.4)
    for ax, (title, bins) in zip(axes[0], shown.items()):
        plot.histogram(np.arange(len(bins)), bins / bins.sum(), ax, title)
    return drawing


def figure_3(setting: RunSetting) -> Result:
    counts, source = schools(setting)
    sizes = (20, 40, 60, 81) if setting.quick else (10, 20, 30, 40, 50, 60, 70, 81)
    repeats = setting.repeats(200, 25)

    def panel(tamper: float = 1.0) -> tuple[Panel, Panel]:
        found: tuple[Panel, Panel] = {}, {}
        for bins in sizes:
            table = binned(counts, bins - 1)
            for name in PRIVATIZERS:
                spread = tamper if name == "cyclic-laplace" else 1.0
                projection = "median" if name == "cumulative" else "clip"
                laws = [
                    measured(name, table, 1.0 / spread, np.random.default_rng((setting.seed, k)), projection)
                    for k in range(repeats)
                ]
                for distance, values in zip((w1, ks), found):
                    values.setdefault(name, []).append(float(np.mean([distance(law, table) for law in laws])))
        return found

    def claims(found: tuple[Panel, Panel]) -> tuple[Claim, ...]:
        return tuple(
            stated(
                f"cyclic Laplace beats {name}{suffix}",
                said,
                f"{sum(a < b for a, b in zip(values['cyclic-laplace'], values[name]))} of {len(sizes)} sizes",
                all(a < b for a, b in zip(values["cyclic-laplace"], values[name])),
            )
            for values, suffix, said in zip(found, ("", ", KS"), ("for every n", "similar"))
            for name in ("laplace", "privelet", "hierarchical")
        )

    def draw() -> Any:
        from discreet import plot

        shown = {("cumulative (ours)" if name == "cumulative" else name): line for name, line in found[0].items()}
        title, labels = "stage one at epsilon 1 (stand-in schools)", ("n", "W1 error")
        return plot.legend_below(plot.lines(sizes, shown, None, title, labels, "y"), 3)

    found = panel()
    better = found[0]["cyclic-laplace"][-1] / found[0]["cumulative"][-1]
    return Result(
        claims(found),
        (Control("ten times the noise in the cyclic mechanism", claims(panel(tamper=10.0))),),
        f"Noisy cumulative counts, kept in order, have a {better:.1f} times smaller error at n = {sizes[-1]}.",
        data=(source,),
        draw=draw,
    )


EXPERIMENTS = (
    Experiment("000-figure-1", "bird flu by state", figure_1),
    Experiment("000-figure-3", "error of the privatizers of a distribution", figure_3),
    Experiment("000-figure-4", "the three tables of the experiments", figure_4),
)
