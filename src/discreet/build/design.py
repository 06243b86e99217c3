"""Mechanisms by requirements: the best one that meets them all, certified, with a proof of how good it can be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.build.duals import float_below
from discreet.build.explicit import explicit
from discreet.build.flowchart import fairest_bound, known_optimum
from discreet.build.formulation import Problem
from discreet.build.structure import integer_rows, structural_properties
from discreet.build.structured import Structured, structured
from discreet.certify import Certificate, certify
from discreet.certify.profile import least_delta
from discreet.costs import cost_matrix
from discreet.errors import BadInput, Infeasible, NotProven, called, choose
from discreet.mechanism import LARGEST_MATRIX, Mechanism, Weights, of_weights
from discreet.numbers import Epsilon, Number, digits_above, lasting, text, whole
from discreet.options import listed, spelt
from discreet.privacy import Approximate, Loss, Pure, loss_of
from discreet.privacy.values import odds_only
from discreet.record.codec import form_json
from discreet.requirements import STRUCTURAL, Breach, Requirement, exact_law, parse_requirement
from discreet.requirements.support import Support
from discreet.requirements.truth import Truth
from discreet.shown import Shown

if TYPE_CHECKING:
    from discreet.build.anytime import Told
    from discreet.build.optimum import Optimum

METHODS = ("auto", "program")
LARGEST_PROGRAM = 200  # max_count; the program has about its square in entries, and twice as many privacy rows
HONEST = frozenset(STRUCTURAL) - {"fair", "symmetric"}  # each makes the n chances of the truth sum to 1 at least
LEAST_DELTA = "delta"  # the objective that is no cost
DELTA_DIGITS = 15  # of a delta that was made small, rounded up: about what a float holds
LARGEST_WHOLE = 100  # max_count; beyond, the whole program takes minutes where an answer near it takes seconds
REASONS = {"program": "the program was asked for", "auto": "no closed form is known for what is required"}
WITHOUT_PROGRAM = {
    "explicit-fair": "the explicit fair mechanism",
    "uniform": "answers that do not depend on the count",
    "designed": "the explicit fair mechanism, mixed with answers that do not depend on the count",
}
LARGEST_PRINTED = 1 << 25  # bits of all weights together


@dataclass(frozen=True)
class Objective:
    """What was minimised, what it came to, and what no mechanism that meets the requirements can be below.

    The bound is proven, not the solver's word; there is none for a mechanism that was asked for by name.
    """

    name: str
    value: float
    lower_bound: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Design(Shown):
    """A certified mechanism and what is known about it.

    `method` is 'program', 'anytime', 'closed-form' or 'named'; `reason` says why that way was taken.
    """

    mechanism: Mechanism
    method: str
    reason: str
    epsilon: Epsilon
    delta: Fraction
    objective: Objective
    requirements: Mapping[str, Breach | None]
    certificate: Certificate
    prior: tuple[Fraction, ...]
    free: tuple[str, ...] = ()  # structural properties that were not asked for, and were had at no loss

    @property
    def value(self) -> float:
        return self.objective.value

    @property
    def lower_bound(self) -> float | None:
        return self.objective.lower_bound

    @property
    def gap(self) -> float | None:
        """How far the cost can at most be from the best possible one."""
        return None if self.lower_bound is None else max(0.0, self.value - self.lower_bound)

    @cached_property
    def properties(self) -> dict[str, bool]:
        """Which of the seven structural requirements hold, asked for or not."""
        return structural_properties(self.mechanism)

    @cached_property
    def cost(self) -> dict[str, float]:
        """Expected costs under the prior."""
        prior = [float(share) for share in self.prior]
        return {name: self.mechanism.cost(name, prior) for name in ("wrong", "absolute", "squared")}

    def error_law(self) -> tuple[Integers, Floats]:
        """Errors -m..m and their probabilities when true counts follow the prior."""
        matrix = self.mechanism.matrix()
        shares = np.array([float(share) for share in self.prior])
        errors = np.arange(-len(matrix) + 1, len(matrix))
        return errors, np.array([(shares[:, None] * matrix).trace(error) for error in errors])

    def under(self, prior: Any) -> Design:
        """The same design with its `cost` under another prior."""
        return replace(self, prior=_prior(prior, len(self.prior)))

    def as_json(self) -> dict[str, object]:
        """The fields the command line prints."""
        weights = _printable_weights(self.mechanism)
        return {
            "max_count": self.mechanism.max_count,
            "epsilon": str(self.epsilon),
            "delta": text(self.delta),
            "mechanism": self.mechanism.name,
            "method": self.method,
            "reason": self.reason,
            "matrix": self.mechanism.matrix().tolist(),
            "weights": None if weights is None else [[str(weight) for weight in row] for row in weights.rows],
            "denominator": None if weights is None else str(weights.total),
            "form": {"name": self.mechanism.name, **form_json(self.mechanism.form)} if weights is None else None,
            "objective": asdict(self.objective),
            "cost": self.cost,
            "properties": self.properties,
            "requirements": [{"name": name, "holds": witness is None} for name, witness in self.requirements.items()],
            "free": list(self.free),
        }


@dataclass(frozen=True)
class HowFound:
    """How a mechanism was found, why so, the cost that no other one can undercut, and what came with it at no loss."""

    method: str
    reason: str
    bound: Fraction | None
    free: tuple[str, ...] = ()


@spelt
def design(
    max_count: int,
    epsilon: Number | Epsilon | Loss | None = None,
    alpha: Number | None = None,
    delta: Number = 0,
    objective: Any = "wrong",
    prior: Any = None,
    require: Iterable[Any] = (),
    minimax: bool = False,
    mechanism: str | None = None,
    method: str = "auto",
    *,
    rho: Number | None = None,
    seconds: float = 60.0,
    tell: Told | None = None,
) -> Design:
    """The mechanism of least cost that meets every requirement, proven private.

    `objective` is a cost by name or a matrix; its mean under `prior` (uniform if not given) is minimised, or with
    `minimax` its largest value over true counts, each weighted by its prior in parts of an even one. 'delta' makes the
    delta at this epsilon as small as it can be. `require` holds names such as 'fair' or 'truth=1/2', or
    `fixed_point(z)` and the like. `mechanism` names an explicit mechanism to use instead. `method='program'` solves the
    linear program even where the answer is known.

    Beyond a max_count of 100 structural requirements are met by better and better mechanisms until `seconds` are over
    or hardly anything is left to gain; `lower_bound` and `gap` are proven all the same, and `tell` is told the relative
    gap and the seconds spent on the way.
    """
    choose(method, METHODS, "method")
    most = lasting(seconds)
    size = whole(max_count, "max_count", 1, LARGEST_MATRIX - 1) + 1
    loss = odds_only(loss_of(epsilon, alpha=alpha, delta=delta, rho=rho), "design")
    allowed, slack = loss.epsilon, loss.delta
    shares = _prior(prior, size)
    asked = tuple(dict.fromkeys(parse_requirement(item, shares) for item in _listed(require)))
    name = objective if isinstance(objective, str) else "matrix"
    if name == LEAST_DELTA:
        return _of_least_delta(_delta_problem(size, loss, shares, asked, minimax, mechanism), allowed, method)
    problem = Problem(size, allowed.odds(), slack, cost_matrix(objective, size), shares, minimax, asked)
    if mechanism is not None:
        return _named(problem, loss, mechanism, name)
    known = known_optimum(problem, allowed, name) if method == "auto" else None
    if known is not None:
        return _sealed(problem, allowed, known.mechanism, HowFound("closed-form", known.reason, known.bound), name)
    task = structured(problem) if method == "auto" and size > LARGEST_WHOLE + 1 else None
    if task is not None:
        return _in_time(task, allowed, name, most, tell)
    return _solved(problem, allowed, method, name)


def _delta_problem(
    size: int, loss: Pure | Approximate, shares: tuple[Fraction, ...], asked: tuple[Requirement, ...],
    minimax: bool, mechanism: str | None,
) -> Problem:  # fmt: skip
    """Any delta below 1 will do, and no cost counts."""
    given = "delta" if loss.delta else "minimax" if minimax else "mechanism" if mechanism is not None else None
    if given is not None:
        asked_for = f"the least delta was asked for together with {given}"
        raise BadInput(asked_for, "there is nothing left to choose, or nothing to weigh", f"Drop {given}")
    return Problem(size, loss.epsilon.odds(), Fraction(1), np.zeros((size, size)), shares, False, asked, True)


def _of_least_delta(problem: Problem, epsilon: Epsilon, method: str) -> Design:
    best, reason = _optimum(problem, epsilon), REASONS[method]
    mechanism = of_weights("designed", best.rows, odds=text(problem.odds))
    delta = Fraction(digits_above(least_delta(mechanism.form, epsilon), DELTA_DIGITS)) if best.value else Fraction(0)
    found = replace(problem, delta=delta)
    return _sealed(found, epsilon, mechanism, HowFound("program", reason, best.bound), LEAST_DELTA)


@spelt
def fixed_point(distribution: Any) -> Requirement:
    """The requirement that counts which follow `distribution` are published with that same distribution."""
    return parse_requirement(("fixed-point", distribution))


@spelt
def target(distribution: Any, prior: Any) -> Requirement:
    """The requirement that counts which follow `prior` are published with the law `distribution`."""
    return parse_requirement(("target", distribution), exact_law(prior, "the prior"))


def _listed(require: Iterable[Any]) -> list[Any]:
    return [require] if hasattr(require, "check") else listed(require, (str,))


def _prior(prior: Any, size: int) -> tuple[Fraction, ...]:
    if prior is None:
        return (Fraction(1, size),) * size
    shares = exact_law(prior, "the prior")
    if len(shares) != size:
        raise BadInput(
            "the prior was given", f"it has {len(shares)} numbers, {size} are needed (0 to {called('max_count')})"
        )
    return shares


def _optimum(problem: Problem, epsilon: Epsilon) -> Optimum:
    from discreet.build.optimum import optimum

    if problem.size > LARGEST_PROGRAM + 1:
        raise BadInput(
            f"a program for {called('max_count')} {problem.size - 1} was asked for",
            f"programs are solved up to {called('max_count')} {LARGEST_PROGRAM}",
            _without_program(problem),
        )
    return optimum(problem, epsilon)


def _without_program(problem: Problem) -> str:
    """What to do where there is no program: what stands in the way of an answer at any size."""
    hindrances = [
        *(["delta"] if problem.delta and not problem.least_delta else []),
        *(["minimax"] if problem.minimax else []),
        *(one.name for one in problem.requirements if one.kind not in (*STRUCTURAL, Truth.kind)),
    ]
    if {one.kind for one in problem.requirements} == {Truth.kind, Support.kind}:
        return "Release with the mechanism 'bounded', which has this truth and support and no largest count"
    if problem.least_delta:
        return f"Use a smaller {called('max_count')}"
    advice = f"Do without {' and '.join(hindrances)}" if hindrances else "Use the method 'auto'"
    return f"{advice}: with structural properties and truth=P alone there is an answer up to {LARGEST_MATRIX - 1}"


def _solved(problem: Problem, epsilon: Epsilon, method: str, objective: str) -> Design:
    from discreet.build.free import with_free

    best, free = with_free(problem, _optimum(problem, epsilon))
    mechanism = of_weights("designed", best.rows, odds=text(problem.odds))
    return _sealed(problem, epsilon, mechanism, HowFound("program", REASONS[method], best.bound, free), objective)


def _in_time(task: Structured, epsilon: Epsilon, objective: str, seconds: float, tell: Told | None) -> Design:
    from discreet.build.anytime import anytime

    _possible(task, epsilon)
    without = known_optimum(replace(task.problem, requirements=()), epsilon, objective)
    found = anytime(task, epsilon, seconds, None if without is None else without.bound, tell)
    made = WITHOUT_PROGRAM[found.mechanism.name] if found.edge is None else f"{found.edge} counts at each end are free"
    reason = f"no closed form is known and the program is large; the best found within {seconds:g} s: {made}"
    return _sealed(task.problem, epsilon, found.mechanism, HowFound("anytime", reason, found.bound), objective)


def _possible(task: Structured, epsilon: Epsilon) -> None:
    """Refuse a chance of the truth that no fair mechanism has."""
    asked = f"a mechanism with {called('max_count')} {task.size - 1} was asked for"
    honest = next((one.name for one in task.problem.requirements if one.kind in HONEST), None)
    if task.truth is not None and task.truth * task.size < 1 and honest is not None:
        found = f"with {honest} the chance of the truth is 1/{task.size} at least"
        clash = (f"truth={text(task.truth)}", honest)
        raise Infeasible(asked, found, f"Ask for a larger chance, or drop {honest}", conflict=clash)
    if task.truth is not None and task.truth > 1 - fairest_bound(task.size, epsilon):
        conflict = f"truth={text(task.truth)}"
        found = f"{conflict} cannot hold at epsilon = {epsilon}"
        raise Infeasible(asked, found, "Ask for a smaller chance, or allow a larger epsilon", conflict=(conflict,))


def _named(problem: Problem, loss: Pure | Approximate, name: str, objective: str) -> Design:
    if name == "signed-geometric":
        raise BadInput(f"the mechanism {name!r} was asked for", "it has no largest count, so it has no matrix")
    result = explicit(name, problem.size - 1, loss)
    return _sealed(
        problem, loss.epsilon, result, HowFound("named", "the mechanism was asked for by name", None), objective
    )


def _sealed(problem: Problem, epsilon: Epsilon, mechanism: Mechanism, way: HowFound, objective: str) -> Design:
    """Certify; from here on nothing changes."""
    certificate = certify(mechanism, epsilon, problem.delta)
    if not certificate.holds:
        raise NotProven(
            f"{mechanism.name} was to be private at epsilon = {epsilon}",
            "the proof failed",
            witness=certificate.witness,
        )
    results = _results(problem.requirements, mechanism)
    missed = [f"{name} ({witness.sentence})" for name, witness in results.items() if witness is not None]
    if missed and way.method != "named":
        raise NotProven(f"{mechanism.name} was to meet every requirement", f"it misses {', '.join(missed)}")
    value, bound = _value(problem, mechanism), None if way.bound is None else float_below(way.bound)
    return Design(
        mechanism=mechanism,
        method=way.method,
        reason=way.reason,
        epsilon=epsilon,
        delta=problem.delta,
        # no mechanism is below the bound: where a float is, that is rounding
        objective=Objective(objective, value if bound is None else max(value, bound), bound),
        requirements=results,
        certificate=certificate,
        prior=problem.prior,
        free=way.free,
    )


def _value(problem: Problem, mechanism: Mechanism) -> float:
    if problem.least_delta:
        return float(problem.delta)
    expected = (problem.costs * mechanism.matrix()).sum(axis=1)
    weighted = expected * [float(share) for share in problem.shares]
    return float(weighted.max() if problem.minimax else weighted.sum())


def _results(requirements: Iterable[Requirement], mechanism: Mechanism) -> dict[str, Breach | None]:
    """Each requirement that was asked for, and where it fails, if it does."""
    results: dict[str, Breach | None] = {}
    asked = list(requirements)
    holds = structural_properties(mechanism) if any(r.kind in STRUCTURAL for r in asked) else {}
    for requirement in asked:
        if holds.get(requirement.kind):
            results[requirement.name] = None
        else:
            results[requirement.name] = requirement.check(*integer_rows(mechanism))
    return results


def _printable_weights(mechanism: Mechanism) -> Weights | None:
    """Integer weights where they are the form, or of a size worth printing; otherwise the form is exact as well."""
    if isinstance(mechanism.form, Weights):
        return mechanism.form
    if mechanism.form.shape[0] > LARGEST_PROGRAM + 1:
        return None
    try:
        weights = mechanism.weights
    except BadInput:
        return None
    return weights if weights.total.bit_length() * len(weights.rows) ** 2 <= LARGEST_PRINTED else None
