from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.build import heuristic as module
from discreet.build.heuristic import SELECTORS, heuristic, sandwich, worst_violation
from discreet.errors import SolverFailed
from discreet.numbers import epsilon_of
from tests.build.laws import SHAPES, binomial, distributions
from tests.build.slow import greedy


def test_orders() -> None:
    z = np.array([0.1, 0.4, 0.2, 0.2, 0.1])
    assert SELECTORS["max"](z).tolist() == [1, 2, 3, 0, 4]
    assert SELECTORS["min"](z).tolist() == [0, 4, 2, 3, 1]
    assert sandwich(z).tolist() == [0, 4, 1, 3, 2]
    assert sandwich(z[:4]).tolist() == [0, 3, 1, 2]


@given(
    distributions(2, 7),
    st.sampled_from([Fraction(9, 8), Fraction(2), Fraction(20)]),
    st.sampled_from(sorted(SELECTORS)),
)
@settings(max_examples=40, deadline=None)
def test_it_is_the_greedy_algorithm(z: np.ndarray, odds: Fraction, selector: str) -> None:
    exact = [Fraction(entry) for entry in z.tolist()]
    exact = [entry / sum(exact) for entry in exact]
    slow = greedy(exact, odds, SELECTORS[selector](z).tolist())
    assert all(sum(row) == 1 for row in slow)
    np.testing.assert_allclose(heuristic(z, odds, selector).matrix, np.array(slow, dtype=float), atol=1e-8)
    columns = [j for j in SELECTORS[selector](z) if z[j] > 0]
    long, _ = module._in_integers(z, odds, 400, columns)
    np.testing.assert_allclose(long, np.array(slow, dtype=float), atol=1e-8)


@pytest.mark.parametrize("selector", sorted(SELECTORS))
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("shape", SHAPES)
def test_all_constraints_hold(shape: str, epsilon: str, selector: str) -> None:
    z, odds = SHAPES[shape](51), epsilon_of(epsilon).odds()
    found = heuristic(z, odds, selector)
    assert worst_violation(found.matrix, z, float(odds)) < 1e-10
    support = np.count_nonzero(z)
    assert support <= found.scales <= support + len(z) - 1


@pytest.mark.parametrize(("size", "shape"), [(200, "nearly uniform"), (200, "binomial"), (500, "skewed")])
def test_larger_sizes_take_more_digits(size: int, shape: str) -> None:
    z, odds = SHAPES[shape](size), epsilon_of(3).odds()
    found = heuristic(z, odds, "min")
    assert found.bits > 0
    assert worst_violation(found.matrix, z, float(odds)) < 1e-10


def test_plain_floats_do_fail() -> None:
    """The reason for the digits: row sums go wrong while the fixed point still looks perfect."""
    z = binomial(51)
    with np.errstate(all="ignore"):
        matrix, _ = module._in_floats(z, math.exp(3), SELECTORS["min"](z).tolist())
    assert worst_violation(matrix, z, math.exp(3)) > 1e-6
    assert heuristic(z, epsilon_of(3).odds(), "min").bits > 0


def test_no_unchecked_matrix_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BITS", 100)
    with pytest.raises(SolverFailed, match="row sums are still wrong"):
        heuristic(binomial(51), epsilon_of(3).odds(), "min")


def test_violations_are_seen() -> None:
    z, good = np.array([0.5, 0.5]), np.array([[0.6, 0.4], [0.4, 0.6]])
    assert worst_violation(good, z, 1.5) < 1e-15
    assert worst_violation(good, z, 1.4) == pytest.approx(0.6 - 1.4 * 0.4)
    assert worst_violation(good * 1.1, z, 1.5) == pytest.approx(0.1)
    assert worst_violation(good[:, ::-1] * [[1, 1], [0.9, 1.1]], z, 3) > 0.01
    assert worst_violation(np.full((2, 2), np.nan), z, 2) == math.inf
