"""Equations with a positive definite matrix: by its factor, or by that of another one near it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats

ACCURATE = 1e-3  # of the length of a solution: at a hundredth two climbs were seen to end on two hills
MOST_TURNS = 12  # of conjugate gradients; more take as long as a new factor

Times = Callable[[Floats], Floats]  # a matrix times a vector


@dataclass(frozen=True, eq=False)
class Factor:
    """Cholesky's, of a positive definite matrix: lower @ lower.T."""

    lower: Floats

    @cached_property
    def log_determinant(self) -> float:
        return 2 * float(np.log(np.diag(self.lower)).sum())

    def solve(self, right: Floats) -> Floats:
        from scipy.linalg.lapack import dpotrs

        return np.asarray(dpotrs(self.lower, right, lower=1)[0], dtype=float)

    def forward(self, right: Floats) -> Floats:
        """The solution of lower @ x = right."""
        from scipy.linalg.lapack import dtrtrs

        return np.asarray(dtrtrs(self.lower, right, lower=1)[0], dtype=float)

    def backward(self, right: Floats) -> Floats:
        """The solution of lower.T @ x = right."""
        from scipy.linalg.lapack import dtrtrs

        return np.asarray(dtrtrs(self.lower, right, lower=1, trans=1)[0], dtype=float)


def factor_of(matrix: Floats) -> Factor:
    """Of a positive definite matrix; any other is refused."""
    from scipy.linalg.lapack import dpotrf

    lower, failed = dpotrf(matrix.T, lower=1)
    if failed:
        raise np.linalg.LinAlgError
    return Factor(lower)


def solved_near(times: Times, near: Factor, right: Floats) -> tuple[Floats, bool]:
    """The solution of times(x) = right by conjugate gradients, with the factor of a matrix near that one; and whether
    it is one: where that is not near enough, or not one of a hill, it is on the way up at least."""
    rest, solution = right, np.zeros_like(right)
    steered = way = near.solve(rest)
    left = float(rest @ steered)
    goal = ACCURATE**2 * left
    for turn in range(MOST_TURNS):
        through = times(way)
        bend = float(way @ through)
        if not (bend > 0 and math.isfinite(left)):
            return solution if turn else steered, False
        solution, rest = solution + left / bend * way, rest - left / bend * through
        steered = near.solve(rest)
        before, left = left, float(rest @ steered)
        if left <= goal:
            return solution, True
        way = steered + left / before * way
    return solution, False
