"""The best combination of rows and a measured distribution, against dense linear algebra."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.estimate.prefix import _combined
from discreet.laws import Geometric


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 9), st.data())
def test_a_measurement_of_the_first_prefixes_is_combined_as_least_squares_would(
    seed: int, size: int, data: st.DataObject
) -> None:
    known = data.draw(st.integers(1, size))
    rng = np.random.default_rng(seed)
    variance, beside = rng.uniform(2, 5, size), -rng.uniform(0, 1, size - 1)
    covariance = np.diag(variance) + np.diag(beside, 1) + np.diag(beside, -1)
    unbiased, measured, law = rng.normal(0, 3, size), rng.normal(0, 3, known), Geometric(Fraction(2))
    pick = np.eye(size)[:known]
    gain = covariance @ pick.T @ np.linalg.inv(pick @ covariance @ pick.T + law.spread * np.eye(known))
    estimate = unbiased + gain @ (measured - pick @ unbiased)
    left = covariance - gain @ pick @ covariance
    found = _combined(unbiased, variance, beside, measured, law)
    assert found.estimate == pytest.approx(np.append(estimate, estimate.sum()))
    total = found.weight**2 * law.spread + found.rest
    assert total == pytest.approx(np.append(np.diag(left), left.sum()))
