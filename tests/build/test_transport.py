from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.build.certificate import transport_bound
from discreet.build.transport import cells, noisy_law, output_law, transport, transport_cost
from discreet.costs import cost_matrix
from discreet.errors import BadInput
from discreet.laws import Gaussian, Geometric
from discreet.public_map import MAP_BITS, monotone_map
from tests.build.laws import SHAPES, distributions, skewed
from tests.build.slow import noise_matrix, north_west_corner, plain_program

COSTS = ("absolute", "squared", "lopsided:1,3")
ODDS = st.sampled_from([Fraction(101, 100), Fraction(11, 10), Fraction(2), Fraction(20), Fraction(1000)])


@given(distributions(), ODDS)
@settings(max_examples=60, deadline=None)
def test_noisy_law_is_the_law_after_noise_and_clamping(z: np.ndarray, odds: Fraction) -> None:
    np.testing.assert_allclose(noisy_law(z, Geometric(odds)), z @ noise_matrix(len(z), float(1 / odds)), rtol=1e-12)


def test_tails_of_the_noisy_law_keep_their_relative_accuracy() -> None:
    z = np.zeros(400)
    z[0] = 1
    law = noisy_law(z, Geometric(Fraction(3)))
    assert law[300] == pytest.approx(0.5 * 3.0**-300, rel=1e-10)


def test_gaussian_noise_and_wide_clamping_fold_all_mass_in() -> None:
    z = np.array([0.2, 0.5, 0.3])
    noise = Gaussian(Fraction(4))
    masses = np.exp(-(np.arange(-60, 61) ** 2) / 8)
    wide = np.convolve(z, masses / masses.sum())  # counts -60..62
    wanted = np.concatenate([[wide[:56].sum()], wide[56:68], [wide[68:].sum()]])
    law = noisy_law(z, noise, (-5, 8))
    np.testing.assert_allclose(law, wanted, rtol=1e-12)
    public_map = monotone_map(law, z, first=-5)
    assert public_map.first == -5
    words = np.arange(1 << 10, dtype=np.uint64) << np.uint64(MAP_BITS - 10)
    published = sum(
        mass * np.bincount(public_map.apply(np.full(1 << 10, value), words), minlength=3) / 1024
        for value, mass in zip(range(-5, 9), law)
    )
    np.testing.assert_allclose(published, z, atol=1e-3)


@given(distributions(), distributions(), st.integers(0, 3))
@settings(max_examples=80, deadline=None)
def test_the_map_is_the_monotone_coupling(source: np.ndarray, target: np.ndarray, first: int) -> None:
    public_map = monotone_map(source, target, first)
    found = public_map.matrix(len(source), len(target)) * source[:, None]
    np.testing.assert_allclose(found, north_west_corner(source, target), atol=2.0**-MAP_BITS * 2)
    assert (target[public_map.outputs] > 0).all()


@given(distributions(), ODDS, st.sampled_from(COSTS))
@settings(max_examples=100, deadline=None)
def test_transport_proves_itself_optimal(z: np.ndarray, odds: Fraction, cost: str) -> None:
    form = transport(z, Geometric(odds))
    costs = cost_matrix(cost, len(z))
    value, bound = transport_cost(form, z, cost), transport_bound(form, z, costs)
    rounding = 1e-15 * costs.max()
    assert abs(value - bound) <= 1e-9 * value + rounding
    assert np.abs(output_law(form, z) - z).max() < 1e-11


@given(
    distributions(2, 6, tiny=False),
    distributions(6, 6, tiny=False),
    st.sampled_from([1.3, 2.7, 9.0]),
    st.sampled_from(COSTS),
)
@settings(max_examples=25, deadline=None)
def test_it_agrees_with_the_linear_program(z: np.ndarray, other: np.ndarray, odds: float, cost: str) -> None:
    noise, costs = Geometric(Fraction(odds)), cost_matrix(cost, len(z))
    assert transport_cost(transport(z, noise), z, cost) == pytest.approx(plain_program(costs, z, odds, z), abs=1e-6)
    target = other[: len(z)] + 0.01
    target /= target.sum()
    form = transport(z, noise, target)
    assert np.abs(output_law(form, z) - target).max() < 1e-11
    value = transport_cost(form, z, cost)
    assert value == pytest.approx(plain_program(costs, z, odds, target), abs=1e-6)
    assert value - transport_bound(form, z, costs) <= 1e-9 * value + 1e-15


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("odds", [Fraction(21, 19), Fraction(20)])
def test_costs_in_linear_time_are_the_costs_of_the_matrix(shape: str, cost: str, odds: Fraction) -> None:
    z = SHAPES[shape](120)
    form = transport(z, Geometric(odds))
    dense = float(z @ (cost_matrix(cost, 120) * form.matrix()).sum(axis=1))
    assert transport_cost(form, z, cost) == pytest.approx(dense, rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_certificate_holds_at_some_size(shape: str) -> None:
    z = SHAPES[shape](500)
    for cost in COSTS:
        form = transport(z, Geometric(Fraction(5, 2)))
        value = transport_cost(form, z, cost)
        assert abs(value - transport_bound(form, z, cost_matrix(cost, 500))) < 1e-9 * value


def test_published_example_where_transport_is_not_optimal() -> None:
    """z = (1, 7, 12)/20, epsilon = 3, probability of a wrong answer: 13% above the optimum."""
    z = np.array([1, 7, 12]) / 20
    noise = Geometric(Fraction(math.exp(3)))
    value = transport_cost(transport(z, noise), z, "wrong")
    assert value / plain_program(cost_matrix("wrong", 3), z, math.exp(3), z) == pytest.approx(1.13, abs=0.005)
    assert transport_bound(transport(z, noise), z, cost_matrix("wrong", 3)) < value


def test_a_hundred_thousand_counts_form_no_matrix() -> None:
    z = skewed(100_000)
    form = transport(z, Geometric(Fraction(11, 10)))
    value, output, share = cells(form, len(z))
    assert len(value) <= 2 * len(z) - 1
    np.testing.assert_allclose(np.bincount(value, weights=share), 1.0, rtol=1e-12)
    assert np.abs(output_law(form, z) - z).max() < 1e-12
    assert (np.diff(output) >= 0).all() and (np.diff(value) >= 0).all()
    assert 0 < transport_cost(form, z, "absolute") < 12


def test_a_range_that_does_not_hold_the_counts_is_refused() -> None:
    with pytest.raises(BadInput, match=r"clamped to 1..5"):
        noisy_law(np.array([0.5, 0.5]), Geometric(Fraction(2)), (1, 5))
