"""The linear program's answer as a mechanism: integer weights that meet everything, and a proven lower bound."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.build.conflict import refuse
from discreet.build.duals import proven_bound
from discreet.build.formulation import Contradiction, Formulation, LinearRow, Problem, formulate
from discreet.build.rounding import BITS, integer_weights
from discreet.errors import SolverFailed
from discreet.numbers import Epsilon

if TYPE_CHECKING:
    from discreet.program import LinearProgram, Solution

MARGINS = (1e-12, 2e-11, 5e-10, 1e-8, 2e-7)  # a margin costs: larger ones only where rounding needs more room
SCALE = 1000.0  # the solver's tolerances are absolute: rows that sum to 1000 make them finer
CLOSE_ENOUGH = 1e-7  # relative gap below which another run of the solver is not worth its time
CAP = Fraction(1, 10**6)  # of a slack: it only has to show that there is one, so none needs to crowd out another
NO_SLACK = 1e-9  # above the solver's errors, far below CAP

Rows = list[list[int]]


@dataclass(frozen=True, eq=False)
class Optimum:
    """T = rows / total; it costs `value`, and nothing that meets the requirements costs less than `bound`."""

    rows: Rows
    total: int
    value: Fraction
    bound: Fraction


@dataclass(frozen=True, eq=False)
class Solved:
    """Integer weights that meet everything, and the program whose answer they are near."""

    rows: Rows
    total: int
    value: Fraction
    formulation: Formulation
    answer: Solution


def optimum(problem: Problem, epsilon: Epsilon) -> Optimum:
    """The best mechanism by linear programming, or an error that says which requirements contradict each other."""
    loosest, best = problem.with_odds(epsilon.bounds(160)[1]), solved(problem)
    if best is None:
        raise refuse(loosest, epsilon)
    bound = _bound(formulate(loosest, problem.mirrored), best.formulation, best.answer, best.value)
    return Optimum(best.rows, best.total, best.value, bound)


def solved(problem: Problem) -> Solved | None:
    """None where no mechanism was found."""
    try:
        formulation = formulate(problem, problem.mirrored)
    except Contradiction:
        return None
    for answer, active in _answers(formulation):
        bits = BITS + max(0, int(np.log2(float(problem.odds))))
        rows, total = integer_weights(formulation, answer.values / SCALE, active, bits)
        if meets(problem, rows, total):
            return Solved(rows, total, cost_of(problem, rows, total), formulation, answer)
    return None


def _answers(formulation: Formulation) -> Iterator[tuple[Solution, list[LinearRow]]]:
    """Answers with room to round: inside every inequality by a margin, but for those that never have any slack."""
    for margin in MARGINS:
        answer = _solve_somehow(formulation.program(margin, SCALE))
        if not answer.optimal:
            break
        yield answer, []
    tight = _never_slack(formulation)
    rows = [replace(row, equal=row.equal or row in tight) for row in formulation.rows]
    for margin in MARGINS if tight else ():
        answer = _solve_somehow(replace(formulation, rows=rows).program(margin, SCALE))
        if not answer.optimal:
            break
        yield answer, list(tight)


def _never_slack(formulation: Formulation) -> dict[LinearRow, None]:
    """The inequalities that every solution meets with equality; none, if there is no solution.

    Each gets a slack of its own, up to a small cap, and the slacks are made as large as they can be together.
    """
    free = [row for row in formulation.rows if row.certified and not row.equal]
    first = len(formulation.costs)
    number = {row: first + k for k, row in enumerate(free)}
    slackened = [
        replace(row, columns=(*row.columns, number[row]), coefficients=(*row.coefficients, 1), certified=False)
        if row in number
        else replace(row, certified=False)
        for row in formulation.rows
    ]
    many = len(free)
    roomy = replace(
        formulation,
        costs=[0] * first + [-1] * many,
        lower=[*formulation.lower, *[0] * many],
        upper=[*formulation.upper, *[CAP] * many],
        rows=slackened,
    )
    answer = _solve_somehow(roomy.program(0.0, SCALE))
    if not answer.optimal:
        return {}
    slacks = answer.values[first:] / SCALE
    return {row: None for row, slack in zip(free, slacks.tolist()) if slack < NO_SLACK}


def _solve_somehow(program: LinearProgram) -> Solution:
    """By simplex, or by interior points where simplex gives up."""
    from discreet.program import solve

    try:
        return solve(program, "simplex")
    except SolverFailed:
        return solve(program, "interior")


def _bound(true: Formulation, formulation: Formulation, answer: Solution, value: Fraction) -> Fraction:
    """From the solver's multipliers, for the `true` e^epsilon; where they leave a gap, from other runs' as well."""
    from discreet.program import ALGORITHMS, solve

    bound = proven_bound(true, answer.duals)
    for algorithm in ALGORITHMS:
        if value - bound <= CLOSE_ENOUGH * max(1.0, abs(float(value))):
            break
        with suppress(SolverFailed):
            other = solve(formulation.program(), algorithm)
            bound = max(bound, proven_bound(true, other.duals)) if other.optimal else bound
    return bound


def meets(problem: Problem, rows: Rows, total: int) -> bool:
    """Privacy at the problem's odds and every requirement, in integers."""
    array = np.array(rows, dtype=object)
    if (array < 0).any() or (array.sum(axis=1) != total).any():
        return False
    if any(requirement.check(rows, total) is not None for requirement in problem.requirements):
        return False
    return problem.least_delta or delta_of(problem, rows, total) <= problem.delta


def delta_of(problem: Problem, rows: Rows, total: int) -> Fraction:
    """The least delta of the mechanism at the problem's odds, exactly."""
    array, (p, q) = np.array(rows, dtype=object), problem.odds.as_integer_ratio()
    pairs = ((array[:-1], array[1:]), (array[1:], array[:-1]))
    worst = max(int(np.maximum(q * one - p * other, 0).sum(axis=1).max()) for one, other in pairs)
    return Fraction(worst, q * total)


def cost_of(problem: Problem, rows: Rows, total: int) -> Fraction:
    """The exact cost: weighted by the prior, or of the worst input; or the delta, if that is what counts."""
    if problem.least_delta:
        return delta_of(problem, rows, total)
    lines = [
        sum((price * weight for price, weight in zip(prices, row)), Fraction(0))
        for prices, row in zip(problem.prices, rows)
    ]
    return (max(lines) if problem.minimax else sum(lines, Fraction(0))) / total
