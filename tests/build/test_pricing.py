from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.build.pricing import best_ratios, lower_bound
from discreet.distribution.decay import moments, running, running_maximum, two_sided, undo_two_sided
from tests.build.laws import distributions
from tests.build.slow import all_scales, plain_program

RATES = st.sampled_from([0.01, 0.3, 1.0, 4.0])


@given(distributions(2, 9), RATES, st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_best_ratio_is_the_least_over_all_scales(z: np.ndarray, rate: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(len(z), 7)) * np.maximum(z, 1e-3)[:, None]
    scales = all_scales(len(z), math.exp(rate))
    slow = ((scales @ columns) / (scales @ z)[:, None]).min(axis=0)
    fast = best_ratios(columns, z, rate, np.arange(7) % len(z))
    assert (fast <= slow + 1e-10 * np.abs(slow)).all()
    np.testing.assert_allclose(fast, slow, rtol=1e-7, atol=1e-9 * np.abs(slow).max())


@given(distributions(2, 6, tiny=False), RATES, st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_any_duals_give_a_bound(z: np.ndarray, rate: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    costs, duals = rng.random((len(z), len(z))), rng.normal(size=len(z)) * z
    best = plain_program(costs, z, math.exp(rate), z)
    assert lower_bound(costs, z, rate, duals) <= best + 1e-7
    assert lower_bound(costs, z, rate, duals, potentials=rng.normal(size=len(z))) <= best + 1e-7


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.sampled_from([1e-9, 0.3, 0.999]))
@settings(max_examples=60, deadline=None)
def test_weighted_sums_are_what_they_say(entries: list[float], ratio: float) -> None:
    values = np.array(entries)
    size = len(values)
    i = np.arange(size)
    below = np.tril(ratio ** np.abs(i[:, None] - i).astype(float))
    np.testing.assert_allclose(running(values, ratio), below @ values, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(
        two_sided(values, ratio), (below + below.T - np.eye(size)) @ values, rtol=1e-10, atol=1e-300
    )
    np.testing.assert_allclose(running_maximum(values, ratio), (below * values).max(axis=1), rtol=1e-10, atol=1e-300)
    for power, moment in enumerate(moments(values, ratio)):
        np.testing.assert_allclose(moment, (below * np.abs(i[:, None] - i) ** power) @ values, rtol=1e-9, atol=1e-300)
    if size > 1:
        np.testing.assert_allclose(undo_two_sided(two_sided(values, ratio), ratio), values, atol=1e-9)
