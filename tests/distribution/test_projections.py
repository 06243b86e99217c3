from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression, minimize

from discreet.distribution.projections import PROJECTIONS, integer_bins, isotonic, isotonic_median, median, simplex

noisy_bins = st.lists(st.integers(-30, 60), min_size=2, max_size=12).map(lambda values: np.array(values, dtype=float))
small = st.lists(st.integers(-3, 4), min_size=1, max_size=6)


@pytest.mark.parametrize("name", PROJECTIONS)
@settings(max_examples=60, deadline=None)
@given(bins=noisy_bins, rows=st.integers(1, 100))
def test_the_result_is_a_distribution(name: str, bins: np.ndarray, rows: int) -> None:
    out = PROJECTIONS[name](bins, float(rows))
    assert (out >= 0).all() and out.sum() == pytest.approx(1) and out.shape == bins.shape


@pytest.mark.parametrize("name", PROJECTIONS)
@settings(max_examples=30, deadline=None)
@given(histogram=st.lists(st.integers(0, 20), min_size=2, max_size=12).filter(sum))
def test_a_histogram_is_left_alone(name: str, histogram: list[int]) -> None:
    rows = sum(histogram)
    np.testing.assert_allclose(
        PROJECTIONS[name](np.array(histogram, float), float(rows)), np.array(histogram) / rows, atol=1e-12
    )


@settings(max_examples=20, deadline=None)
@given(bins=noisy_bins)
def test_simplex_is_the_nearest_distribution(bins: np.ndarray) -> None:
    target, start = bins / 50, np.full(len(bins), 1 / len(bins))
    slow = minimize(
        lambda x: ((x - target) ** 2).sum(),
        start,
        jac=lambda x: 2 * (x - target),
        method="SLSQP",
        bounds=[(0, None)] * len(bins),
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: np.ones(len(bins))},
        options={"ftol": 1e-14, "maxiter": 300},
    )
    fast = simplex(bins, 50.0)
    assert ((fast - target) ** 2).sum() <= slow.fun + 1e-9


@settings(max_examples=100, deadline=None)
@given(values=small)
def test_isotonic_median_is_the_best_fit_in_absolute_values(values: list[int]) -> None:
    fit = isotonic_median(np.array(values, dtype=float))
    best = min(
        sum(abs(v - w) for v, w in zip(values, candidate))
        for candidate in itertools.combinations_with_replacement(sorted(set(values)), len(values))
    )
    assert (np.diff(fit) >= 0).all() and np.abs(fit - values).sum() == best
    assert set(fit) <= set(values)


def test_isotonic_works_on_the_distribution_function() -> None:
    bins, rows = np.array([5.0, -3, 9, -1, 4]), 14
    fit = np.clip(isotonic_regression(np.cumsum(bins)[:-1]).x, 0, rows)
    np.testing.assert_allclose(np.cumsum(isotonic(bins, rows))[:-1] * rows, fit)


@settings(max_examples=50, deadline=None)
@given(bins=noisy_bins, rows=st.integers(1, 100))
def test_median_gives_whole_rows(bins: np.ndarray, rows: int) -> None:
    whole = median(bins, float(rows)) * rows
    np.testing.assert_allclose(whole, np.rint(whole), atol=1e-9)


@settings(max_examples=100, deadline=None)
@given(
    weights=st.lists(st.floats(0, 1), min_size=1, max_size=30).filter(lambda w: sum(w) > 0.01), rows=st.integers(1, 500)
)
def test_integer_bins_sum_to_the_rows_and_stay_near(weights: list[float], rows: int) -> None:
    distribution = np.array(weights) / sum(weights)
    bins = integer_bins(distribution, rows)
    assert bins.sum() == rows and (bins >= 0).all()
    assert np.abs(np.cumsum(bins) - rows * np.cumsum(distribution)).max() <= 0.5 + 1e-6
