"""Requirements that cannot hold together: a proof that they cannot, and a small set that is to blame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.build.duals import proven_bound
from discreet.build.formulation import Contradiction, Exact, Formulation, LinearRow, Problem, formulate
from discreet.errors import Infeasible, SolverFailed, called
from discreet.numbers import Epsilon, text
from discreet.requirements import Requirement


def refuse(problem: Problem, epsilon: Epsilon) -> Infeasible | SolverFailed:
    """The error that names a smallest conflicting subset (no requirement in it can be spared)."""
    delta = ", whatever delta" if problem.least_delta else f", delta = {text(problem.delta)}" if problem.delta else ""
    privacy = f"epsilon = {epsilon}{delta}"
    if not provably_impossible(problem, problem.requirements):
        return SolverFailed(
            f"a mechanism with {_listed([r.name for r in problem.requirements])} at {privacy} was asked for",
            "the solver found none, and the requirements could not be proven contradictory either",
            "Move a bound slightly",
        )
    blamed = list(problem.requirements)
    for requirement in problem.requirements:
        fewer = [other for other in blamed if other is not requirement]
        if provably_impossible(problem, fewer):
            blamed = fewer
    names = [requirement.name for requirement in blamed]
    together = f"{_listed(names)} cannot hold{' together' if len(names) > 1 else ''} at {privacy}"
    return Infeasible(
        f"a mechanism with {called('max_count')} {problem.size - 1} was asked for",
        together,
        f"Drop or loosen {'one of them' if len(names) > 1 else 'it'}, or allow a larger epsilon or delta",
        conflict=tuple(names),
    )


def provably_impossible(problem: Problem, requirements: Sequence[Requirement]) -> bool:
    """Whether the least total violation is proven to be above zero: of the rows' sums, or of the requirements.

    The first is the smaller program, since entries that are fixed or equal need no variables of their own. It has no
    answer where requirements contradict each other whatever the sums are; then the second decides.
    """
    from discreet.program import solve

    if not requirements:
        return False
    asked = replace(problem, requirements=tuple(requirements), minimax=False)
    try:
        for elastic in (_elastic_sums(asked), _elastic(asked)):
            answer = solve(elastic.program())
            if answer.optimal:
                return answer.value > 0 and proven_bound(elastic, answer.duals) > 0
    except Contradiction:
        return True
    return False


def _elastic_sums(problem: Problem) -> Formulation:
    """Everything that is required, with the rows allowed to sum to anything at the price of what they are off by."""
    hard = formulate(problem, problem.rows_mirrored)
    first, many = len(hard.costs), hard.sums
    loose = [
        replace(row, columns=(*row.columns, first + 2 * k, first + 2 * k + 1), coefficients=(*row.coefficients, 1, -1))
        for k, row in enumerate(hard.rows[:many])
    ]
    return replace(
        hard,
        costs=[0] * first + [1] * (2 * many),
        constant=0,
        upper=[*hard.upper, *[problem.size] * (2 * many)],  # entries are at most one
        lower=[*hard.lower, *[0] * (2 * many)],
        rows=[*loose, *hard.rows[many:]],
    )


def _elastic(problem: Problem) -> Formulation:
    """Private mechanisms, with every requirement's row allowed to fail at the price of its violation."""
    hard = formulate(replace(problem, requirements=(), minimax=False), False)
    costs: list[Exact] = [0] * len(hard.costs)
    upper, lower, rows = list(hard.upper), list(hard.lower), list(hard.rows)
    for row in problem.rows:
        largest = sum((abs(Fraction(c)) for c in row.coefficients), Fraction(0)) + abs(Fraction(row.bound))
        columns = [int(hard.variable[cell]) for cell in row.cells]
        coefficients = list(row.coefficients)
        for sign in (-1, 1) if row.sense == "==" else (-1,):
            columns.append(len(costs))
            coefficients.append(sign)
            costs.append(1)
            upper.append(largest)
            lower.append(0)
        rows.append(LinearRow(tuple(columns), tuple(coefficients), row.sense == "==", row.bound))
    return replace(hard, costs=costs, constant=0, upper=upper, lower=lower, rows=rows)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)
