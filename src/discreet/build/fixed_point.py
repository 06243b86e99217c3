"""The best private mechanism with a fixed point as a plain linear program: n^2 variables, for small n."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats
from discreet.errors import SolverFailed
from discreet.program import Algorithm, LinearProgram, solve

if TYPE_CHECKING:
    from discreet.program import Solution


TOLERANCES = (1e-10, 1e-8, 1e-7)  # the tightest that the solver accepts, then looser ones where it finds no answer


def fixed_point_program(costs: Floats, z: Floats, odds: float) -> LinearProgram:
    """Variables T[i, j] / z[j] row by row, for z[j] > 0; constraints: privacy both ways, row sums, the fixed point.

    Divided by z[j] all variables are of one size, and no right-hand side is lost among the solver's tolerances.
    """
    from scipy.sparse import csr_array, eye_array, kron, vstack

    size, support = len(z), np.flatnonzero(z > 0)
    many, goal = len(support), z[support]
    upper, lower = eye_array(size, format="csr")[1:], eye_array(size, format="csr")[:-1]
    unit = eye_array(many)
    rows = [
        kron(odds * upper - lower, unit),
        kron(odds * lower - upper, unit),
        kron(eye_array(size), goal[None, :]),
        kron(z[None, :], unit),
    ]
    pairs, fixed = 2 * many * (size - 1), np.ones(size + many)
    return LinearProgram(
        (np.outer(z, goal) * costs[:, support]).ravel(),
        csr_array(vstack(rows)),
        np.concatenate([np.zeros(pairs), fixed]),
        np.concatenate([np.full(pairs, np.inf), fixed]),
        np.zeros(size * many),
        np.full(size * many, np.inf),
    )


def solve_fixed_point(costs: Floats, z: Floats, odds: float, algorithm: Algorithm) -> tuple[Floats, Floats]:
    """The solver's matrix and its duals of the row sums: neither is to be trusted without a check."""
    size, support = len(z), np.flatnonzero(z > 0)
    solution = _patient(fixed_point_program(costs, z, odds), algorithm)
    matrix = np.zeros((size, size))
    matrix[:, support] = solution.values.reshape(size, len(support)) * z[support]
    return matrix, solution.duals[2 * len(support) * (size - 1) :][:size]


def _patient(program: LinearProgram, algorithm: Algorithm) -> Solution:
    """The program always has a solution (ignore the input and draw from z): a solver that denies it is asked again."""
    found = "no answer"
    for tolerance in TOLERANCES:
        try:
            solution = solve(program, algorithm, tolerance)
        except SolverFailed as error:
            found = error.found
            continue
        if solution.optimal:
            return solution
        found = f"the solver says '{solution.status}', though drawing from z whatever the input is a solution"
    raise SolverFailed("the fixed-point program was to be solved", found, "Use the method column-generation")
