from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.distribution.projections import integer_cumulative
from discreet.errors import BadInput
from discreet_lab.baselines.pipelines import rank_map


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_released_histogram_is_the_published_one(histogram: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = sum(histogram)
    noisy = rng.integers(-3, 4, rows)
    counts = rank_map(noisy, np.cumsum(histogram), rng.integers(0, 2**63, rows))
    assert np.bincount(counts, minlength=len(histogram)).tolist() == histogram
    order = np.argsort(noisy, kind="stable")
    means = [counts[noisy == value].mean() for value in np.unique(noisy)]
    assert (np.diff(means) >= 0).all() and len(order) == rows


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(0, 2**32))
def test_rank_map_keeps_the_histogram_and_the_order(noisy: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    histogram = rng.multinomial(len(noisy), np.full(10, 0.1))
    out = rank_map(noisy, np.cumsum(histogram), rng.random(len(noisy)))
    np.testing.assert_array_equal(np.bincount(out, minlength=10), histogram)
    assert all(a <= b for x, a in zip(noisy, out) for y, b in zip(noisy, out) if x < y)


def test_ties_go_by_their_words() -> None:
    assert rank_map([5, 5, 5, 1], [1, 2, 4], [9, 2, 5, 0]).tolist() == [2, 1, 2, 0]


@given(st.lists(st.floats(-2, 12), min_size=2, max_size=8), st.floats(0, 1, exclude_max=True))
@settings(max_examples=60, deadline=None)
def test_rounding_is_monotone_and_near(fit: list[float], u: float) -> None:
    fit = sorted(fit)
    rounded = integer_cumulative(fit, 10, u)
    assert rounded[-1] == 10 and (np.diff(rounded) >= 0).all() and rounded[0] >= 0
    inside = np.clip(fit[:-1], 0, 10)
    assert (np.abs(rounded[:-1] - inside) <= 1).all()


def test_rounding_is_right_on_average() -> None:
    fit = [0.25, 1.5, 1.75, 4.0]
    mean = np.mean([integer_cumulative(fit, 4, u / 64) for u in range(64)], axis=0)
    np.testing.assert_allclose(mean, fit)


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadInput, match="cumulative counts must ascend"):
        rank_map([1, 2], [1, 3], [0, 0])
    with pytest.raises(BadInput, match="one random word a row"):
        rank_map([1, 2], [1, 2], [0])
    with pytest.raises(BadInput, match="u must lie in"):
        integer_cumulative([0.5, 1.0], 1, 1.0)
