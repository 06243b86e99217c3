"""The best private mechanism with a fixed point as a plain linear program: n^2 variables, for small n."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import SolverFailed
from discreet.program import Algorithm, LinearProgram, solve

if TYPE_CHECKING:
    from discreet.program import Solution

Floats = NDArray[np.float64]

TOLERANCES = (1e-10, 1e-8, 1e-7)


def fixed_point_program(costs: Floats, z: Floats, odds: float) -> LinearProgram:
    """Variables T[i, j] row by row; constraints: privacy of every pair both ways, row sums, the fixed point."""
    from scipy.sparse import csr_array, eye_array, kron, vstack

    size = len(z)
    upper, lower = eye_array(size, format="csr")[1:], eye_array(size, format="csr")[:-1]
    up, down = odds * upper - lower, odds * lower - upper
    unit = eye_array(size)
    rows = [kron(up, unit), kron(down, unit), kron(unit, np.ones((1, size))), kron(z[None, :], unit)]
    fixed = np.concatenate([np.ones(size), z])
    pairs = 2 * size * (size - 1)
    return LinearProgram(
        (z[:, None] * costs).ravel(),
        csr_array(vstack(rows)),
        np.concatenate([np.zeros(pairs), fixed]),
        np.concatenate([np.full(pairs, np.inf), fixed]),
        np.zeros(size * size),
        np.full(size * size, np.inf),
    )


def solve_fixed_point(costs: Floats, z: Floats, odds: float, algorithm: Algorithm) -> tuple[Floats, Floats]:
    """The solver's matrix and its duals of the row sums: neither is to be trusted without a check."""
    size = len(z)
    program = fixed_point_program(costs, z, odds)
    solution = _patient(program, algorithm)
    duals = solution.duals[2 * size * (size - 1) :][:size]
    return solution.values.reshape(size, size), duals


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
