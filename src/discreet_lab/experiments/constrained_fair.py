"""Paper 004, the fair mechanism: figure 4 and lemmas 1 and 5; figure 5's flowchart; section 8's naive Bayes."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet_lab.data import adult
from discreet_lab.experiment import Claim, Control, Experiment, Result, RunSetting, stated
from discreet_lab.experiments.constrained import ALL, heat_maps, matrix, named, rescaled, solved

FLOWCHART = ((6, "0.9"), (8, "0.76"), (6, "0.62"), (5, "0.4"))  # people, alpha: an end of the flowchart each


def figure_4(setting: RunSetting) -> Result:
    def claims(name: str, other: str) -> tuple[Claim, ...]:
        made, geometric = named(name, 7, "0.9"), matrix(named(other, 7, "0.9"))
        own = matrix(made)
        more = np.diag(own) - np.diag(geometric)
        inner, corners = more[1:-1], more[[0, -1]]
        powers = np.rint(np.log(own / own[0, 0]) / np.log(0.9)).astype(int)
        as_said, every = _as_printed(powers), all(made.properties.values())
        alike = all(sorted(row) == sorted(powers[0]) for row in powers.tolist())
        return (
            stated("every input has the same terms, permuted", "yes", _yes(alike), alike),
            stated("entries are y alpha^k, k as in equation (17)", "yes", _yes(as_said), as_said),
            stated("diagonal against geometric", "larger", f"by {inner.min():.4f} at least", bool((inner > 0).all())),
            stated("its two corners", "smaller", f"by {-corners.max():.4f} at least", bool((corners < 0).all())),
            stated("has all seven properties", "yes", _yes(every), every),
        )

    return Result(
        claims("explicit-fair", "geometric"),
        (Control("geometric and explicit fair exchanged", claims("geometric", "explicit-fair")),),
        "Any size is one call: dc.design(max_count=7, alpha='0.9', mechanism='explicit-fair').",
        draw=lambda: heat_maps([(n, matrix(named(n, 7, "0.9"))) for n in ("geometric", "explicit-fair")]),
    )  # fmt: skip


def _as_printed(powers: NDArray[Any]) -> bool:
    """Equation (17), for input j and output i."""
    last = len(powers) - 1
    for j in range(last + 1):
        for i in range(last + 1):
            away, edge = abs(i - j), min(j, last - j)
            if powers[j, i] != (away if away < edge else -(-(away + edge) // 2)):
                return False
    return True


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def lemmas(setting: RunSetting) -> Result:
    rng = np.random.default_rng(setting.seed)

    def claims(name: str, power: int) -> tuple[Claim, ...]:
        costs = []
        for people in (3, 6, 9):
            made = named(name, people, "0.76")
            for _ in range(20):
                prior = rng.dirichlet(np.ones(people + 1))
                costs.append(abs(made.mechanism.cost("wrong", prior) - made.mechanism.cost("wrong")))
        gaps = {n: _largest_diagonal(n) - _bound(n, power) for n in (4, 6, 8, 5, 7)}
        even, odd = max(abs(gaps[n]) for n in (4, 6, 8)), min(gaps[n] for n in (5, 7))
        why = f"for odd n a fair mechanism can have more, by {odd:.4f} at least: equation (17)'s row sum decides"
        return (
            stated(
                "lemma 1: a fair mechanism's L0 cost is the same for all weights", "always",
                f"largest change {max(costs):.1e}", max(costs) < 1e-12,
            ),
            stated(
                "lemma 5: the largest diagonal of a fair mechanism, even n", "the bound", f"apart by {even:.1e}",
                even < 1e-7,
            ),
            stated("lemma 5: for odd n", "at most the bound", f"above it by {odd:.4f}", odd <= 1e-9, why),
        )  # fmt: skip

    return Result(
        claims("explicit-fair", 1),
        (Control("the geometric mechanism; a bound with alpha^(n/2)", claims("geometric", 0)),),
        "The design program proves the largest diagonal for every n, odd ones too.",
    )  # fmt: skip


def _largest_diagonal(people: int) -> float:
    """Of a fair mechanism: one less the least chance of a wrong answer."""
    return 1 - solved(people, "0.76", require=("F",)).cost["wrong"]


def _bound(people: int, power: int) -> float:
    alpha = 0.76
    return float((1 - alpha) / (1 + alpha - 2 * alpha ** (people / 2 + power)))


def figure_5(setting: RunSetting) -> Result:
    subsets = [chosen for size in range(8) for chosen in combinations(ALL, size)]

    def claims(tried: list[tuple[str, ...]], people: int | None = None) -> tuple[Claim, ...]:
        return tuple(
            _distinct(n, alpha, [rescaled(solved(people or n, alpha, require=chosen)) for chosen in tried])
            for n, alpha in FLOWCHART
        )

    return Result(
        claims(subsets),
        (Control("for one person, who has one best mechanism", claims([(name,) for name in ALL], 1)),),
        "Each of the costs carries a proven lower bound.",
        note="The four: geometric, weak honesty alone, weak honesty with column properties, explicit fair. There are "
        "fewer where geometric is weakly honest (from 2 alpha / (1 - alpha) people on), or alpha is at most 1/2.",
    )


def _distinct(people: int, alpha: str, costs: list[float]) -> Claim:
    """How many different costs there are, against the ends of the flowchart that these parameters can reach."""
    a, values = Fraction(alpha), len(np.unique(np.round(costs, 6)))
    ends = 2 if a <= Fraction(1, 2) else 3 if people * (1 - a) >= 2 * a else 4
    what = f"mechanisms that 128 sets of properties need, {people} people, alpha {alpha}"
    return stated(what, f"{ends}, of four at most", str(values), values == ends)


def naive_bayes(setting: RunSetting) -> Result:
    """Section 8: chances from counts of groups, 'the confidence can be increased by averaging over many groups'."""
    targets, source = adult(setting)
    rich, features = targets["income over 50K"], {name: targets[name] for name in ("male", "under 30")}
    rng = np.random.default_rng(setting.seed)
    repeats = setting.repeats(200, 40)

    def spread(groups: int, mechanism: str) -> float:
        """How far the chance of being rich, given a feature, varies between releases of that many groups."""
        made, found = matrix(named(mechanism, 8, "0.9")), []
        for bits in features.values():
            runs = [_chance(rich, bits, groups, made, rng) for _ in range(repeats)]
            found.append(float(np.std(runs)))
        return max(found)

    def claims(few: int, many: int) -> tuple[Claim, ...]:
        first, second = spread(few, "explicit-fair"), spread(many, "explicit-fair")
        ratio = second / first
        return (
            stated(
                "chances vary less over 1,000 groups than over 40", "confidence increases",
                f"{ratio:.2f} times as much", ratio < 0.4,
            ),
        )  # fmt: skip

    made = matrix(named("explicit-fair", 8, "0.9"))
    biased = np.mean([_chance(rich, features["male"], 1000, made, rng) for _ in range(repeats)])
    true = float((rich & features["male"]).mean() / features["male"].mean())
    return Result(
        claims(40, 1000),
        (Control("as many groups in both", claims(40, 40)),),
        f"Averaging does not take the bias away: the chance of earning over 50K comes out at {biased:.2f} for men, "
        f"where it is {true:.2f}. Noise without bias, or estimates made for the mechanism (dc.estimate), have none.",
        data=(source,),
    )


def _chance(rich: Any, bits: Any, groups: int, made: Floats, rng: np.random.Generator) -> float:
    """Pr[rich | feature] from the released counts of groups of eight, drawn at random from all people."""
    people = rng.integers(0, len(rich), (groups, 8))
    both, alone = (rich & bits)[people].sum(axis=1), bits[people].sum(axis=1)
    upper = np.cumsum(made, axis=1)
    counts = [(upper[values] < rng.random(groups)[:, None]).sum(axis=1).sum() for values in (both, alone)]
    return float(counts[0] / max(counts[1], 1))


EXPERIMENTS = (
    Experiment("004-figure-4", "the fair mechanism for seven people", figure_4),
    Experiment("004-figure-5", "how many different mechanisms 128 sets of properties need", figure_5),
    Experiment("004-lemmas-1-5", "what fairness costs", lemmas),
    Experiment("004-section-8", "naive Bayes from released counts", naive_bayes),
)
