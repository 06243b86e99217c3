from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.build.integers import check, inner_odds, least_private_majorant, repaired, to_weights
from discreet.certify import certify
from discreet.errors import NotProven
from discreet.mechanism import Mechanism, Weights
from discreet.numbers import Epsilon
from tests.build.laws import distributions
from tests.build.slow import noise_matrix

ODDS = st.sampled_from([Fraction(101, 100), Fraction(3, 2), Fraction(20)])


@given(distributions(), ODDS, st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_weights_are_private_exactly_and_near(z: np.ndarray, odds: Fraction, seed: int) -> None:
    rng, size = np.random.default_rng(seed), len(z)
    private = 0.5 * noise_matrix(size, float(1 / inner_odds(odds))) + 0.5 * np.tile(z, (size, 1))
    rough = private * (1 + 1e-9 * rng.normal(size=private.shape))  # a solver's errors
    weights = to_weights(rough, odds)
    assert certify(Mechanism("test", weights), Epsilon(ratio=odds)).holds
    assert np.abs(weights.matrix() - private).max() < 1e-7 / float(odds - 1)


@given(distributions(), ODDS)
@settings(max_examples=30, deadline=None)
def test_the_fixed_point_and_empty_columns_stay(z: np.ndarray, odds: Fraction) -> None:
    matrix = np.tile(z, (len(z), 1))
    weights = to_weights(matrix, odds, z)
    assert np.abs(z @ weights.matrix() - z).max() < 1e-15 * len(z)
    assert all(row[j] == 0 for row in weights.rows for j in np.flatnonzero(z == 0))


def test_the_majorant_is_the_least_private_one() -> None:
    column = np.array([[1.0], [8.0], [0.5], [0.0]])
    np.testing.assert_allclose(least_private_majorant(column, 2.0)[:, 0], [4, 8, 4, 2])
    private = np.array([[1.0], [2.0], [1.5]])
    np.testing.assert_array_equal(least_private_majorant(private, 2.0), private)


def test_repair_gives_equal_rows_and_privacy() -> None:
    rough = np.array([[0.9, 0.1, -1e-9], [0.2, 0.8, 0.0], [0.1, 0.5, 0.4]])
    fixed = repaired(rough, 2.0)
    np.testing.assert_allclose(fixed.sum(axis=1), 1, rtol=1e-15)
    assert (fixed[1:] <= 2 * fixed[:-1] * (1 + 1e-12)).all() and (fixed[:-1] <= 2 * fixed[1:] * (1 + 1e-12)).all()


def test_the_check_finds_one_unit_too_many() -> None:
    check(Weights(((4, 4), (2, 6)), 8), Fraction(2))
    with pytest.raises(NotProven, match="inputs 0 and 1 differ too much at output 0") as caught:
        check(Weights(((5, 2), (2, 5)), 7), Fraction(2))
    assert caught.value.values == {"input": 0, "output": 0}


def test_rounding_leaves_room() -> None:
    for odds in (Fraction(1001, 1000), Fraction(2), Fraction(1000)):
        assert odds * (1 - Fraction(1, 1 << 30)) < inner_odds(odds) < odds
