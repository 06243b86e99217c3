"""The linear program's answer as a mechanism: integer weights that meet everything, and a proven lower bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
    from discreet.program import Solution

MARGINS = (1e-12, 2e-11, 5e-10, 1e-8, 2e-7)
SCALE = 1000.0  # the solver's tolerances are absolute: rows that sum to 1000 make them finer
CLOSE_ENOUGH = 1e-7
AT_A_BOUND = 1e-8
LARGEST_VERTEX = 800  # variables; beyond, exact vertices have numbers too long to be of use

Rows = list[list[int]]


@dataclass(frozen=True, eq=False)
class Optimum:
    """T = rows / total; it costs `value`, and nothing that meets the requirements costs less than `bound`."""

    rows: Rows
    total: int
    value: Fraction
    bound: Fraction


def optimum(problem: Problem, epsilon: Epsilon) -> Optimum:
    """The best mechanism by linear programming, or an error that says which requirements contradict each other."""
    loosest = problem.with_odds(epsilon.bounds(160)[1])
    try:
        formulation = formulate(problem, problem.mirrored)
    except Contradiction:
        raise refuse(loosest, epsilon) from None
    for answer, active in _answers(formulation):
        bits = BITS + max(0, int(np.log2(float(problem.odds))))
        rows, total = integer_weights(formulation, answer.values / SCALE, active, bits)
        if meets(problem, rows, total):
            value = cost_of(problem, rows, total)
            return Optimum(rows, total, value, _bound(loosest, formulation, answer, value))
    raise refuse(loosest, epsilon)


def _answers(formulation: Formulation) -> Iterator[tuple[Solution, list[LinearRow]]]:
    """Answers with room to round: first inside every inequality by a margin, else exactly on the active ones."""
    from discreet.program import solve

    for margin in MARGINS:
        answer = solve(formulation.program(margin, SCALE))
        if not answer.optimal:
            break
        yield answer, []
    answer = solve(formulation.program(0.0, SCALE))
    if answer.optimal and len(formulation.costs) <= LARGEST_VERTEX:
        yield answer, _active(formulation, answer.values / SCALE)


def _active(formulation: Formulation, values: np.ndarray) -> list[LinearRow]:
    zeros = [LinearRow((k,), (1,), True, 0) for k in np.flatnonzero(values < AT_A_BOUND).tolist()]
    tight = [
        row
        for row in formulation.rows
        if not row.equal
        and float(row.bound) - sum(float(c) * values[k] for k, c in zip(row.columns, row.coefficients)) < AT_A_BOUND
    ]
    return zeros + tight


def _bound(loosest: Problem, formulation: Formulation, answer: Solution, value: Fraction) -> Fraction:
    """From the solver's multipliers at the true e^epsilon; from the other algorithm's too, where they leave a gap."""
    from discreet.program import solve

    true = formulate(loosest, loosest.mirrored)
    bound = proven_bound(true, answer.duals)
    if value - bound > CLOSE_ENOUGH * max(1.0, abs(float(value))):
        try:
            other = solve(formulation.program(0.0, SCALE), "interior")
        except SolverFailed:
            return bound
        if other.optimal:
            bound = max(bound, proven_bound(true, other.duals))
    return bound


def meets(problem: Problem, rows: Rows, total: int) -> bool:
    """Privacy at the problem's odds and every requirement, in integers."""
    array = np.array(rows, dtype=object)
    if (array < 0).any() or (array.sum(axis=1) != total).any():
        return False
    if any(requirement.check(rows, total) is not None for requirement in problem.requirements):
        return False
    p, q = problem.odds.numerator, problem.odds.denominator
    allowed = problem.delta * total * q
    for one, other in ((array[:-1], array[1:]), (array[1:], array[:-1])):
        excess = np.maximum(q * one - p * other, 0).sum(axis=1)
        if (excess > allowed).any():
            return False
    return True


def cost_of(problem: Problem, rows: Rows, total: int) -> Fraction:
    """The exact cost: weighted by the prior, or of the worst input."""
    lines = [
        sum((price * weight for price, weight in zip(prices, row)), Fraction(0))
        for prices, row in zip(problem.prices, rows)
    ]
    return (max(lines) if problem.minimax else sum(lines, Fraction(0))) / total
