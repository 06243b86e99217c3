"""Designs with a known answer: closed forms that are optimal without solving a program, and how they are chosen.

The chart is one question asked in order: is the optimum under fewer requirements known, and does it happen to meet all?
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.build.explicit import clamped, explicit_fair, randomized_response, uniform
from discreet.build.formulation import Problem
from discreet.build.structure import integer_rows, power_weights, structural_properties
from discreet.laws import Geometric
from discreet.mechanism import Exponents, Mechanism, NoiseThenMap
from discreet.numbers import Epsilon
from discreet.requirements import STRUCTURAL
from discreet.requirements.fixed_point import FixedPoint
from discreet.requirements.target import Target

LARGEST_MAPPED = 101  # rows of a mapped mechanism to check in integers: their digits grow with the rows
FLOAT_DOUBT = Fraction(1, 10**10)  # far above what rounding can do to a cost that is a sum of products
CONVEX = ("absolute", "squared", "lopsided")
MONOTONE = ("wrong", "absolute", "squared", "beyond", "lopsided")


@dataclass(frozen=True, eq=False)
class Known:
    """An optimal mechanism, why it is optimal, and a number that no private mechanism can cost less than."""

    mechanism: Mechanism
    reason: str
    bound: Fraction


def known_optimum(problem: Problem, epsilon: Epsilon, objective: str) -> Known | None:
    """The closed form for this problem, or None where a program has to be solved."""
    kinds, name = {requirement.kind for requirement in problem.requirements}, objective.partition(":")[0]
    if problem.delta:
        return None
    if not kinds <= set(STRUCTURAL):
        return _transported(problem, epsilon, objective) if name in CONVEX and not problem.minimax else None
    for known in _candidates(problem, epsilon, name, "fair" in kinds):
        if _meets(known.mechanism, kinds):
            return known
    return None


def _meets(mechanism: Mechanism, kinds: set[str]) -> bool:
    """Exactly; a mapped mechanism too large to be written out in integers counts as failing."""
    if not kinds:
        return True
    mapped = isinstance(mechanism.form, NoiseThenMap) and mechanism.form.map is not None
    if mapped and mechanism.form.shape[0] > LARGEST_MAPPED:
        return False
    holds = structural_properties(mechanism)
    return all(holds[kind] for kind in kinds)


def _candidates(problem: Problem, epsilon: Epsilon, objective: str, fair: bool) -> Iterator[Known]:
    costs, size = problem.costs, problem.size
    if (costs == costs[:, :1]).all():
        yield _indifferent(problem)
    if objective == "wrong" and fair:
        yield _fairest(problem, epsilon)
    if problem.minimax or objective not in MONOTONE:
        return
    even = len(set(problem.prior)) == 1 and len(set(costs[~np.eye(size, dtype=bool)].tolist())) == 1
    if even and (objective == "wrong" or size == 2):
        yield _least_wrong(size, epsilon, problem.prior[0] * Fraction(float(costs[0, 1])))
    else:
        yield _mapped_geometric(problem, epsilon)


def _indifferent(problem: Problem) -> Known:
    totals = [Fraction(cost) * share for cost, share in zip(problem.costs[:, 0].tolist(), problem.shares)]
    bound = max(totals) if problem.minimax else sum(totals, Fraction(0))
    return Known(uniform(problem.size - 1), "the cost does not depend on the answer, so nothing need be told", bound)


def _fairest(problem: Problem, epsilon: Epsilon) -> Known:
    """The chance of the truth is at most 1 / sum of a^power, the same for every input, so any prior will do."""
    worst = max(problem.shares) if problem.minimax else 1
    mechanism = explicit_fair(problem.size - 1, epsilon)
    reason = "the explicit fair mechanism is the fair one that is least often wrong"
    return Known(mechanism, reason, worst * fairest_bound(problem.size, epsilon))


def fairest_bound(size: int, epsilon: Epsilon) -> Fraction:
    """No mechanism whose chance of the truth is the same for every input is wrong less often."""
    form = explicit_fair(size - 1, epsilon).form
    assert isinstance(form, Exponents)
    weights, total = power_weights(epsilon.bounds(96)[1], form.powers[0].tolist())
    return 1 - Fraction(weights[0], total)


def _least_wrong(size: int, epsilon: Epsilon, price: Fraction) -> Known:
    """Cost price * 2 m a / (1 + a), which falls as a does."""
    bound = price * 2 * (size - 1) / (epsilon.bounds(160)[1] + 1)
    if size == 2:
        reason = "for a single person, randomized response is the best there is"
        return Known(randomized_response(1, epsilon), reason, bound)
    reason = "the truncated geometric mechanism is the least often wrong of all, and meets what is required"
    return Known(clamped(Geometric(epsilon.odds()), size - 1), reason, bound)


def _mapped_geometric(problem: Problem, epsilon: Epsilon) -> Known:
    """Geometric noise, then the best answer given the noisy count: optimal for any prior and any such cost."""
    from discreet.build.unfixed import unfixed, unfixed_bound

    prior = np.array([float(share) for share in problem.prior])
    mechanism = Mechanism("unfixed", unfixed(prior, Geometric(epsilon.odds()), problem.costs))
    limit = unfixed_bound(prior, Geometric(epsilon.bounds(160)[1]), problem.costs)
    reason = "geometric noise, then the best answer given the noisy count, is optimal for this cost and prior"
    return Known(mechanism, reason, Fraction(limit) * (1 - FLOAT_DOUBT))


def _transported(problem: Problem, epsilon: Epsilon, objective: str) -> Known | None:
    """Geometric noise carried to the required output law in order: optimal for a convex cost, if it is all we ask."""
    from discreet.build.transport import transport, transport_cost

    laws = [(r.law, getattr(r, "prior", r.law)) for r in problem.requirements if isinstance(r, FixedPoint | Target)]
    if len(problem.requirements) != 1 or len(laws) != 1 or laws[0][1] != problem.prior:
        return None
    wanted, prior = (np.array([float(share) for share in law]) for law in laws[0])
    mechanism = Mechanism("transport", transport(prior, Geometric(epsilon.odds()), wanted))
    if problem.requirements[0].check(*integer_rows(mechanism)) is not None:
        return None
    limit = transport(prior, Geometric(epsilon.bounds(160)[1]), wanted)
    bound = Fraction(transport_cost(limit, prior, objective)) * (1 - FLOAT_DOUBT)
    reason = "geometric noise, carried to the required law without reversing an order, is optimal for a convex cost"
    return Known(mechanism, reason, bound)
