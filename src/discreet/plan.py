"""Before spending: what a release will do, what each step costs, and how large its errors will be. No count is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.costs import prior_of
from discreet.distribution.max_count import SHARE, share_for_max_count
from discreet.distribution.split import checked_split, default_split, rho_split
from discreet.errors import BadInput
from discreet.evaluate.pipelines import by_matrix, two_stage_of
from discreet.evaluate.shapes import SHAPES, rows_of
from discreet.evaluate.simulate import Pipeline, simulate
from discreet.numbers import Epsilon, Number, epsilon_of, positive, text, whole
from discreet.sample.laws import Gaussian, Geometric

Floats = NDArray[np.float64]

EXAMPLE_MAX_COUNT = 50  # for the errors, where max_count is not known beforehand
LARGEST_RANGE = 2000
MOST_ROWS = 300_000  # more rows only make the distribution better: its error is then an upper bound
WORK = 100_000
SEED = 2021  # public: errors are simulated on made-up tables


@dataclass(frozen=True)
class Plan:
    """What will be done, in sentences, the total it costs, and the errors to expect for a few shapes of the data."""

    steps: tuple[str, ...]
    epsilon: str
    expected: tuple[dict[str, Any], ...]

    def as_json(self) -> dict[str, Any]:
        return {"steps": list(self.steps), "epsilon": self.epsilon, "expected": [dict(row) for row in self.expected]}


@dataclass(frozen=True)
class _Choices:
    """A release as asked for, in exact numbers."""

    epsilon: Epsilon | None
    rho: Fraction | None
    max_count: int | str | None
    mechanism: str
    split: Fraction
    refined: bool
    consistent: bool
    contributions: int


def plan(
    schema_or_rows: Any,
    epsilon: Number | Epsilon | None = None,
    *,
    alpha: Number | None = None,
    rho: Number | None = None,
    max_count: int | str | None = None,
    mechanism: str = "transport",
    consistent: bool = False,
    split: Number | None = None,
    refine: bool = True,
    prior: Any = None,
    contributions: int | None = None,
) -> Plan:
    """What `release` would do with a table of these rows, and how well it would do it.

    Errors are expected errors of one count and of the distribution of counts (Wasserstein-1), for reference shapes or,
    if it is given, for a public `prior`: a distribution over 0..max_count.
    """
    rows = schema_or_rows if isinstance(schema_or_rows, int) else getattr(schema_or_rows, "rows", schema_or_rows)
    rows = whole(rows, "the number of rows", least=1)
    declared = getattr(schema_or_rows, "contributions", 1) if contributions is None else contributions
    people = whole(declared, "the contribution bound", least=1)
    budget, concentrated = _budget(epsilon, alpha, rho)
    if mechanism == "rank":
        mechanism, consistent = "transport", True
    if max_count not in (None, "auto"):
        max_count = whole(max_count, "max_count", least=1)
    chosen = _Choices(budget, concentrated, max_count, mechanism, Fraction(0), refine, consistent, people)
    chosen = _with_split(chosen, split)
    return Plan(
        tuple(_steps(chosen, rows)),
        "" if budget is None else str(budget),
        tuple(_expected(chosen, rows, prior)),
    )


def expected_errors(
    max_count: int,
    rows: int,
    epsilon: Number | Epsilon,
    *,
    split: Number | None = None,
    refined: bool = True,
    consistent: bool = False,
    prior: Any = None,
) -> list[dict[str, Any]]:
    """Expected error of a count and of the distribution after a two-stage release, by shape of the data."""
    size, number = whole(max_count, "max_count", least=1), whole(rows, "the number of rows", least=1)
    chosen = _Choices(epsilon_of(epsilon), None, size, "transport", Fraction(0), refined, consistent, 1)
    return _expected(_with_split(chosen, split), number, prior)


def _budget(
    epsilon: Number | Epsilon | None, alpha: Number | None, rho: Number | None
) -> tuple[Epsilon | None, Fraction | None]:
    if rho is None:
        return epsilon_of(epsilon, alpha), None
    if epsilon is not None or alpha is not None:
        raise BadInput("a privacy parameter was needed", "only one of epsilon, alpha and rho may be given")
    return None, positive(rho, "rho")


def _with_split(chosen: _Choices, split: Number | None) -> _Choices:
    if split is not None:
        share = checked_split(split, chosen.refined)
    elif chosen.epsilon is None:
        share = rho_split()
    else:
        share = default_split(chosen.epsilon.times(Fraction(1, chosen.contributions)), chosen.refined)
    return _Choices(**{**chosen.__dict__, "split": share})


def _steps(chosen: _Choices, rows: int) -> list[str]:
    """One sentence a step, with its price."""
    left, steps = _after_max_count(chosen), []
    if chosen.max_count == "auto":
        steps.append(f"Spend {_price(chosen, SHARE)} on a largest count that nearly all of the {rows} rows stay below.")
    if chosen.max_count is None:
        steps.append("Leave counts without an upper limit.")
    else:
        limit = "that largest count" if chosen.max_count == "auto" else str(chosen.max_count)
        steps.append(f"Treat counts above {limit} as {limit}.")
    if chosen.mechanism != "transport":
        return [*steps, f"Spend {_price(chosen, left)} on the counts: mechanism {chosen.mechanism}, row by row."]
    if chosen.split:
        price = _price(chosen, left * chosen.split)
        steps.append(f"Spend {price} on the distribution: noisy numbers of rows with a count of at most 0, 1, 2, ...")
    steps.append(f"Spend {_price(chosen, left * (1 - chosen.split))} on noise for each of the {rows} counts.")
    if chosen.refined:
        steps.append("Estimate the distribution again from the noisy counts: free, it looks at nothing secret.")
    how = "by rank, so that both agree exactly" if chosen.consistent else "row by row"
    steps.append(f"Map the noisy counts onto that distribution, {how}: free, for the same reason.")
    if chosen.contributions > 1:
        steps.append(f"All noise is widened for people who are counted up to {chosen.contributions} times.")
    return steps


def _after_max_count(chosen: _Choices) -> Fraction:
    return 1 - SHARE if chosen.max_count == "auto" else Fraction(1)


def _price(chosen: _Choices, share: Fraction) -> str:
    if chosen.epsilon is None:
        assert chosen.rho is not None
        return f"rho = {text(chosen.rho * share)}"
    return f"epsilon = {chosen.epsilon if share == 1 else chosen.epsilon.times(share)}"


def _expected(chosen: _Choices, rows: int, prior: Any) -> list[dict[str, Any]]:
    top = chosen.max_count if isinstance(chosen.max_count, int) else EXAMPLE_MAX_COUNT
    if prior is not None:
        top = len(prior) - 1 if chosen.max_count is None or chosen.max_count == "auto" else top
        shapes = {"prior": prior_of(prior, top + 1)}
    else:
        top = min(top, LARGEST_RANGE)
        shapes = {name: shape(top) for name, shape in SHAPES.items()}
    pipeline, simulated = _pipeline(chosen, top), min(rows, MOST_ROWS)
    repeats = int(np.clip(WORK // simulated, 2, 20))
    return [_row(name, pipeline, rows_of(shape, simulated), top, repeats) for name, shape in shapes.items()]


def _row(name: str, pipeline: Pipeline, counts: Any, top: int, repeats: int) -> dict[str, Any]:
    errors = simulate({name: pipeline}, counts, top, repeats, SEED).mean(name)
    return {"shape": name, "max_count": top} | {key: float(f"{value.mean:.3g}") for key, value in errors.items()}


def _pipeline(chosen: _Choices, top: int) -> Pipeline:
    if chosen.mechanism != "transport":
        return _explicit(chosen, top)
    onto, split, people = "rank" if chosen.consistent else "spread", chosen.split, chosen.contributions
    if chosen.epsilon is None:
        assert chosen.rho is not None
        first, second = (_gaussian(chosen.rho * share, people) for share in (split, 1 - split))
        return two_stage_of(first, second, top, chosen.refined, onto)
    budget = chosen.epsilon.times(Fraction(1, people))
    if chosen.max_count == "auto":
        _, budget = share_for_max_count(budget)
    measured = Geometric(budget.times(split).odds()) if split else None
    return two_stage_of(measured, Geometric(budget.times(1 - split).odds()), top, chosen.refined, onto)


def _gaussian(rho: Fraction, people: int) -> Gaussian:
    return Gaussian(Fraction(people**2) / (2 * rho))


def _explicit(chosen: _Choices, top: int) -> Pipeline:
    from discreet.build.explicit import explicit

    if chosen.epsilon is None:
        raise BadInput(
            f"the mechanism {chosen.mechanism!r} was asked for with rho", "its errors are planned by epsilon"
        )
    return by_matrix(explicit(chosen.mechanism, top, chosen.epsilon.times(Fraction(1, chosen.contributions))).matrix())
