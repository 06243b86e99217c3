"""Paper 004, what it proves: example 1, the seven properties with lemmas 3 and 4, theorems 3 and 4."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from discreet.arrays import Floats
from discreet.build.design import Design, design
from discreet.mechanism import Mechanism, of_weights
from discreet.requirements import parse_requirement
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

    return Result(claims("0.9"), (Control("alpha 0.8", claims("0.8")),), "The mechanism is exact: 9/19, 1/19, 9/19.")


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

    def claims(other: Mapping[str, bool] | None) -> tuple[Claim, ...]:
        found = []
        for name, (made, expected) in table.items():
            holds = made.properties if other is None else other
            for letters, wanted in expected.items():
                ours = holds[longer[letters]]
                found.append(stated(f"{name} is {longer[letters]}", _yes(wanted), _yes(ours), ours == wanted))
        return tuple(found)

    wrong = _lemmas(alpha, "uniform", named("uniform", people, alpha), "uniform")
    lopsided = _held(_lopsided(people))
    return Result(
        (*claims(None), *_lemmas(alpha, "explicit-fair", table["weakly honest"][0], "geometric")),
        (
            Control("a lopsided mechanism in place of all four", claims(lopsided)),
            Control("the uniform mechanism in place of all four", claims(table["uniform"][0].properties)),
            Control("uniform guessing in place of geometric, explicit fair and WM in the lemmas", wrong),
        ),
        "Each property is decided in exact integers, with the failing entry named where it fails.",
    )  # fmt: skip


def _held(made: Mechanism) -> dict[str, bool]:
    return {name: breach is None for name, breach in made.properties().items()}


def _lopsided(people: int) -> Mechanism:
    """Rows that rise and rows that fall, in turn: it has none of the seven properties."""
    rising = list(range(1, people + 2))
    return of_weights("lopsided", [rising if row % 2 == 0 else rising[::-1] for row in range(people + 1)])


def _lemmas(alpha: str, fair: str, weak: Design, geometric: str) -> tuple[Claim, ...]:
    """What lemmas 3 and 4 say of the geometric mechanism, and that explicit fair and WM do not come from it."""
    tried, places = (
        ("0.3", "0.49", "0.5", "0.51", "0.7"),
        [(a, n) for a in ("0.5", "0.76", "0.9") for n in range(2, 25)],
    )
    honest = [(a, n) for a, n in places if named(geometric, n, a).properties["weakly-honest"]]
    predicted = [(a, n) for a, n in places if n * (1 - Fraction(a)) >= 2 * Fraction(a)]
    monotone = [a for a in tried if named(geometric, 8, a).properties["column-monotone"]]
    expected = [a for a in tried if Fraction(a) <= Fraction(1, 2)]
    derivable = [n for n in range(2, 9) if _derivable(named(fair, n, alpha), alpha)]
    breach = gap_to_geometric(matrix(weak), float(Fraction(alpha)))
    return (
        stated(
            "lemma 3: geometric is weakly honest iff n >= 2a/(1-a)", "exactly then",
            f"{len(honest)} of {len(places)} cases", honest == predicted,
        ),
        stated(
            "lemma 4: geometric is column monotone iff a <= 1/2", "exactly then",
            f"at {', '.join(monotone)} of {', '.join(tried)}", monotone == expected,
        ),
        stated(
            "explicit fair cannot be derived from geometric", "for no n > 1", f"derivable: {derivable}", not derivable
        ),
        stated("nor can WM: its test is violated", "violated", f"by {breach:.4f} for 8 people", breach > 1e-4),
    )  # fmt: skip


def _derivable(made: Design, alpha: str) -> bool:
    return made.mechanism.derivable_from_geometric(None, alpha) is None


def gap_to_geometric(found: Floats, alpha: float) -> float:
    """By how much the worst three neighbouring inputs of an output violate the test of Gupte and Sundararajan."""
    before, here, after = found[:-2], found[1:-1], found[2:]
    return float(np.max(alpha * (after - alpha * here) - (here - alpha * before)))


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def theorem_1(setting: RunSetting) -> Result:
    """Averaging with the mirror image: symmetric, of the same cost, and every property kept."""
    subsets = [("RH",), ("RM",), ("CH",), ("CM",), ("F",), ("WH",), ("WH", "RM"), ("WH", "CM"), ("F", "CM")]

    def claims(mirror: bool) -> tuple[Claim, ...]:
        kept, dearer, crooked = 0, 0.0, 0
        for require in subsets:
            found = solved(6, "0.76", "lopsided:1,2", require)
            weights = found.mechanism.weights
            rows = [
                [weight + other for weight, other in zip(row, image[::-1] if mirror else image)]
                for row, image in zip(weights.rows, reversed(weights.rows))
            ]
            made = of_weights("averaged", rows)
            holds = _held(made)
            kept += all(holds[parse_requirement(name).name] for name in require)
            crooked += not holds["symmetric"]
            dearer = max(dearer, abs(made.cost("wrong") - found.mechanism.cost("wrong")))
        return (
            stated("the average with the mirror image is symmetric", "always", f"{crooked} are not", crooked == 0),
            stated("it keeps the properties", "all", f"{kept} of {len(subsets)} sets", kept == len(subsets)),
            stated("and the L0 cost", "the same", f"largest change {dearer:.1e}", dearer < 1e-12),
        )

    return Result(
        claims(True),
        (Control("mirrored in its inputs only", claims(False)),),
        "Symmetry is never asked for where it is free: designs without it are averaged in integers, exactly.",
    )


def theorem_3(setting: RunSetting) -> Result:
    priors = (("1/2", "1/2"), ("0.51", "0.49"), ("0.52", "0.48"))

    def claim(said: tuple[str, str], used: tuple[str, str]) -> Claim:
        apart = 0.0
        for alpha in ("1/3", "0.62", "0.9"):
            response = matrix(named("randomized-response", 1, alpha))
            for objective in ("wrong", "absolute", "squared"):
                best = design(1, alpha=alpha, objective=objective, prior=[float(Fraction(share)) for share in used])
                apart = max(apart, float(np.abs(matrix(best) - response).max()))
        what = f"nine best mechanisms (three alphas, three costs) for the prior {said[0]}, {said[1]}"
        return stated(what, "randomized response", f"largest gap {apart:.1e}", apart < 1e-9)

    return Result(
        tuple(claim(prior, prior) for prior in priors),
        (
            Control(
                "a prior of 0.9 to 0.1 instead, outside the theorem's range",
                tuple(claim(prior, ("0.9", "0.1")) for prior in priors),
            ),
        ),
        "The design program finds it, and its dual proves that nothing is better.",
    )


def theorem_4(setting: RunSetting) -> Result:
    def claims(mechanism: str) -> tuple[Claim, ...]:
        found = []
        for epsilon in ("0.5", "1", "2"):
            made = design(1, epsilon, mechanism=mechanism)
            truth = float(matrix(made)[0, 0])
            half = float(epsilon) / 2
            formula = float(np.exp(half) / (1 + np.exp(half)))
            found.append(
                stated(
                    f"chance of the truth at epsilon {epsilon}",
                    "e^(epsilon/2) / (1 + e^(epsilon/2))",
                    f"{truth:.6f}, {formula:.6f}",
                    abs(truth - formula) < 1e-9,
                )
            )
            smallest = float(np.log(float(made.mechanism.odds() or 1)))
            found.append(
                stated(f"epsilon it really has at {epsilon}", "a half", f"{smallest:.3f}", abs(smallest - half) < 1e-6)
            )
        return tuple(found)

    return Result(
        claims("exponential"),
        (Control("randomized response at the full epsilon in its place", claims("randomized-response")),),
        "Randomized response at the full epsilon is what theorem 3 gives, and what we offer for one person.",
        note="The theorem's last line prints the odds as exp(-epsilon/2); they are exp(epsilon/2).",
    )


EXPERIMENTS = (
    Experiment("004-theorem-1", "symmetry costs nothing", theorem_1),
    Experiment("004-example-1", "the geometric mechanism for two people", example_1),
    Experiment("004-properties", "the seven properties of the named mechanisms, lemmas 3 and 4", properties),
    Experiment("004-theorem-3", "one person: randomized response is the optimum", theorem_3),
    Experiment(
        "004-theorem-4", "one person: the exponential mechanism is randomized response at half epsilon", theorem_4
    ),
)
