from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.build import columns, fixed_point
from discreet.build.columns import best_columns
from discreet.build.fixed_point import solve_fixed_point
from discreet.build.heuristic import worst_violation
from discreet.costs import cost_matrix
from discreet.errors import SolverFailed
from discreet.program import Solution
from tests.build.laws import SHAPES, distributions
from tests.build.slow import all_scales, plain_program


def over_all_scales(costs: np.ndarray, z: np.ndarray, odds: float) -> float:
    """The master program with every scale listed: what column generation solves without listing them."""
    from scipy.optimize import linprog

    scales, size = all_scales(len(z), odds), len(z)
    weights, sums, fixed = [], [], []
    for j in range(size):
        for scale in scales / scales.max(axis=1, keepdims=True):
            weights.append((z * costs[:, j]) @ scale)
            sums.append(scale)
            fixed.append(np.eye(size)[j] * (z @ scale))
    equal = np.hstack([np.array(sums), np.array(fixed)]).T
    found = linprog(weights, A_eq=equal, b_eq=np.concatenate([np.ones(size), z]))
    assert found.status == 0, found.message
    return float(found.fun)


@given(distributions(2, 6, tiny=False), st.sampled_from([0.1, 1.0, 3.0]), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_it_is_the_optimum_of_both_programs(z: np.ndarray, rate: float, seed: int) -> None:
    costs = np.random.default_rng(seed).random((len(z), len(z)))
    found = best_columns(costs, z, rate)
    assert found.cost == pytest.approx(plain_program(costs, z, math.exp(rate), z), abs=1e-6)
    assert found.cost == pytest.approx(over_all_scales(costs, z, math.exp(rate)), abs=1e-6)
    assert found.cost - found.lower_bound <= 1e-6 * found.cost
    assert worst_violation(found.matrix, z, math.exp(rate)) < 1e-7


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rate", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("cost", ["wrong", "random"])
def test_the_gap_is_proven(shape: str, rate: float, cost: str) -> None:
    z = SHAPES[shape](60)
    costs = cost_matrix("wrong", 60) if cost == "wrong" else np.random.default_rng(5).random((60, 60))
    found = best_columns(costs, z, rate)
    assert 0 <= found.cost - found.lower_bound <= 1e-6 * found.cost
    assert worst_violation(found.matrix, z, math.exp(rate)) < 1e-7


def test_a_single_count_and_a_free_cost() -> None:
    z = np.array([0.0, 1.0, 0.0])
    assert best_columns(cost_matrix("absolute", 3), z, 1.0).cost == 0
    np.testing.assert_array_equal(best_columns(np.zeros((3, 3)), np.full(3, 1 / 3), 1.0).matrix, np.full((3, 3), 1 / 3))


def test_a_method_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_STEPS", 2)
    with pytest.raises(SolverFailed, match="interior-point method failed"):
        best_columns(cost_matrix("wrong", 5), np.full(5, 0.2), 1.0)


@pytest.mark.parametrize("algorithm", ["simplex", "interior"])
def test_the_plain_program(algorithm: str) -> None:
    z, costs = SHAPES["skewed"](12), cost_matrix("wrong", 12)
    matrix, duals = solve_fixed_point(costs, z, 3.0, algorithm)  # type: ignore[arg-type]
    assert float((z[:, None] * costs * matrix).sum()) == pytest.approx(
        best_columns(costs, z, math.log(3)).cost, rel=1e-6
    )
    assert len(duals) == 12


def test_a_solver_that_denies_a_feasible_program_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def deny(program: object, algorithm: str, tolerance: float) -> Solution:
        asked.append(tolerance)
        return Solution(False, "Infeasible", math.nan, np.empty(0), np.empty(0))

    monkeypatch.setattr(fixed_point, "solve", deny)
    with pytest.raises(SolverFailed, match=r"'Infeasible', though .* column-generation"):
        solve_fixed_point(cost_matrix("wrong", 3), np.full(3, 1 / 3), 2.0, "simplex")
    assert asked == [1e-10, 1e-8, 1e-7]
