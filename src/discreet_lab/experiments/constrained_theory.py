"""Paper 004, what it proves: example 1, the seven properties with lemmas 3 and 4, theorems 3 and 4."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.build.design import design
from discreet_lab.experiment import Claim, Control, Experiment, Result, RunSetting, printed, stated
from discreet_lab.experiments.constrained import ALL, WEAK, matrix, named, solved


def example_1(setting: RunSetting) -> Result:
    def claims(alpha: str) -> tuple[Claim, ...]:
        found = matrix(named("geometric", 2, alpha))
        return (
            printed("chance of 0 when the truth is 1", "0.47", found[1, 0]),
            printed("chance of the truth when it is 1", "0.05", found[1, 1]),
            printed("chance of 0 when the truth is 0", "0.53", found[0, 0]),
            printed("either wrong answer over the truth", "18", (found[1, 0] + found[1, 2]) / found[1, 1]),
        )

    return Result(claims("0.9"), Control("alpha 0.8", claims("0.8")), "The mechanism is exact: 9/19, 1/19, 9/19.")


def properties(setting: RunSetting) -> Result:
    alpha, people = "0.9", 8
    table = {  # figure 6; a dash there means 'depends'
        "geometric": (named("geometric", people, alpha), {"S": True, "RM": True, "F": False}),
        "weakly honest": (solved(people, alpha, require=WEAK), {"S": True, "RM": True, "F": False, "WH": True}),
        "explicit fair": (named("explicit-fair", people, alpha), dict.fromkeys(ALL, True)),
        "uniform": (named("uniform", people, alpha), dict.fromkeys(ALL, True)),
    }
    longer = dict(
        zip(
            ALL,
            ("row-honest", "row-monotone", "column-honest", "column-monotone", "fair", "weakly-honest", "symmetric"),
        )
    )

    def claims(swap: bool) -> tuple[Claim, ...]:
        found = []
        for name, (made, expected) in table.items():
            holds = (table["geometric"][0] if swap else made).properties
            for letters, wanted in expected.items():
                ours = holds[longer[letters]]
                found.append(stated(f"{name} is {longer[letters]}", _yes(wanted), _yes(ours), ours == wanted))
        return tuple(found)

    return Result(
        (*claims(False), *_lemmas(alpha)),
        Control("the geometric mechanism in place of all four", claims(True)),
        "Each property is decided in exact integers, with the failing entry named where it fails.",
    )


def _lemmas(alpha: str) -> tuple[Claim, ...]:
    geometric_honest = [(a, n) for a in ("0.5", "0.76", "0.9") for n in range(2, 25) if _weakly_honest(a, n)]
    predicted = [
        (a, n) for a in ("0.5", "0.76", "0.9") for n in range(2, 25) if n * (1 - Fraction(a)) >= 2 * Fraction(a)
    ]
    monotone = [
        a for a in ("0.3", "0.49", "0.5", "0.51", "0.7") if named("geometric", 8, a).properties["column-monotone"]
    ]
    derivable = [
        n
        for n in range(2, 9)
        if named("explicit-fair", n, alpha).mechanism.derivable_from_geometric(None, alpha) is None
    ]
    return (
        stated(
            "lemma 3: geometric is weakly honest iff n >= 2a/(1-a)",
            "exactly then",
            f"{len(predicted)} of 69 cases",
            geometric_honest == predicted,
        ),
        stated(
            "lemma 4: geometric is column monotone iff a <= 1/2",
            "a = 0.3, 0.49, 0.5 of five tried",
            ", ".join(monotone),
            monotone == ["0.3", "0.49", "0.5"],
        ),
        stated(
            "explicit fair cannot be derived from geometric", "for no n > 1", f"derivable: {derivable}", not derivable
        ),
    )


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _weakly_honest(alpha: str, people: int) -> bool:
    return named("geometric", people, alpha).properties["weakly-honest"]


def theorem_3(setting: RunSetting) -> Result:
    def claim(prior: tuple[str, str]) -> Claim:
        apart = 0.0
        for alpha in ("1/3", "0.62", "0.9"):
            response = matrix(named("randomized-response", 1, alpha))
            for objective in ("wrong", "absolute", "squared"):
                best = design(1, alpha=alpha, objective=objective, prior=[float(Fraction(share)) for share in prior])
                apart = max(apart, float(np.abs(matrix(best) - response).max()))
        what = f"nine best mechanisms (three alphas, three costs) for the prior {prior[0]}, {prior[1]}"
        return stated(what, "randomized response", f"largest gap {apart:.1e}", apart < 1e-9)

    return Result(
        tuple(claim(prior) for prior in (("1/2", "1/2"), ("0.51", "0.49"), ("0.52", "0.48"))),
        Control("a prior of 0.9 to 0.1, outside the theorem's range", (claim(("0.9", "0.1")),)),
        "The design program finds it, and its dual proves that nothing is better.",
    )


def theorem_4(setting: RunSetting) -> Result:
    def claims(double: bool) -> tuple[Claim, ...]:
        found = []
        for epsilon in ("0.5", "1", "2"):
            made = design(1, epsilon, mechanism="exponential")
            truth = float(matrix(made)[0, 0])
            half = float(epsilon) / (1 if double else 2)
            formula = float(np.exp(half) / (1 + np.exp(half)))
            found.append(
                stated(
                    f"chance of the truth at epsilon {epsilon}",
                    f"{formula:.6f}",
                    f"{truth:.6f}",
                    abs(truth - formula) < 1e-9,
                )
            )
            smallest = float(np.log(float(made.mechanism.odds() or 1)))
            found.append(
                stated(
                    f"epsilon it really has at {epsilon}", f"{half:.3f}", f"{smallest:.3f}", abs(smallest - half) < 1e-6
                )
            )
        return tuple(found)

    return Result(
        claims(False),
        Control("without the factor two", claims(True)),
        "Randomized response at the full epsilon is what theorem 3 gives, and what we offer for one person.",
        note="The theorem's last line prints the odds as exp(-epsilon/2); they are exp(epsilon/2).",
    )


EXPERIMENTS = (
    Experiment("004-example-1", "the geometric mechanism for two people", example_1),
    Experiment("004-properties", "the seven properties of the named mechanisms, lemmas 3 and 4", properties),
    Experiment("004-theorem-3", "one person: randomized response is the optimum", theorem_3),
    Experiment(
        "004-theorem-4", "one person: the exponential mechanism is randomized response at half epsilon", theorem_4
    ),
)
