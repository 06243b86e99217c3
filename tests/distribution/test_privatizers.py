"""Every registered privatizer meets this suite: exact sensitivity, exact recovery, the noise it claims."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from discreet.distribution import private_distribution, privatizers
from discreet.distribution.methods import cyclic_gaussian, hierarchical
from discreet.distribution.privatizer import Idealised
from discreet.errors import BadInput
from discreet.laws import Gaussian, Geometric
from discreet.numbers import Epsilon, epsilon_of
from discreet.sample.bits import seeded

NAMES = list(privatizers())
PROVEN = [name for name in NAMES if not isinstance(privatizers()[name], Idealised)]
histograms = st.lists(st.integers(0, 6), min_size=2, max_size=40).filter(sum).map(np.array)


def table(counts: list[int], contributions: int = 1) -> SimpleNamespace:
    return SimpleNamespace(counts=np.array(counts), schema=SimpleNamespace(contributions=contributions))


def neighbours(histogram: np.ndarray) -> list[np.ndarray]:
    """One row's count one higher or lower: a row leaves bin f for bin f + 1 or f - 1."""
    out = []
    for f in np.flatnonzero(histogram):
        for g in (f - 1, f + 1):
            if 0 <= g < len(histogram):
                moved = histogram.copy()
                moved[f] -= 1
                moved[g] += 1
                out.append(moved)
    return out


def test_the_privatizers_of_the_contract_are_registered() -> None:
    assert sorted(NAMES) == [
        "cumulative", "cyclic-gaussian", "cyclic-laplace", "hierarchical", "laplace", "privelet", "sorted",
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30, deadline=None)
@given(histogram=histograms)
def test_sensitivity_is_never_exceeded(name: str, histogram: np.ndarray) -> None:
    method = privatizers()[name]
    own, bound = method.answers(histogram), method.sensitivity(len(histogram))
    for other in neighbours(histogram):
        assert np.abs(own - method.answers(other)).sum() <= bound


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bins", [2, 3, 8, 16, 17, 21, 51, 256, 257])
def test_sensitivity_is_attained(name: str, bins: int) -> None:
    method, full = privatizers()[name], np.ones(bins, dtype=np.int64)
    own = method.answers(full)
    changes = [np.abs(own - method.answers(other)).sum() for other in neighbours(full)]
    assert max(changes) == method.sensitivity(bins)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30, deadline=None)
@given(histogram=histograms)
def test_without_noise_the_histogram_comes_back(name: str, histogram: np.ndarray) -> None:
    method = privatizers()[name]
    assert method.answers(histogram).dtype.kind == "i"
    back = method.estimate(method.answers(histogram), int(histogram.sum()), len(histogram))
    np.testing.assert_allclose(back, histogram, atol=1e-9)


@pytest.mark.parametrize("name", PROVEN)
@settings(max_examples=15, deadline=None)
@given(
    histogram=histograms,
    epsilon=st.fractions(Fraction(1, 50), 20, max_denominator=100),
    people=st.integers(1, 4),
    seed=st.integers(0, 2**32),
)
def test_the_result_is_a_distribution_and_the_noise_meets_epsilon(
    name: str, histogram: np.ndarray, epsilon: Fraction, people: int, seed: int
) -> None:
    out = private_distribution(histogram, epsilon, method=name, contributions=people, seed=seed)
    assert out.distribution.shape == histogram.shape
    assert (out.distribution >= 0).all() and math.isclose(out.distribution.sum(), 1)
    assert out.measurements.dtype.kind == "i" and out.grade == "exact" and not out.private
    # a person changes the answers by sensitivity * people at most: that power of the odds must stay within e^epsilon
    assert isinstance(out.noise, Geometric)
    change = privatizers()[name].sensitivity(len(histogram)) * people
    assert Epsilon(value=epsilon).allows(out.noise.odds**change)
    assert change * math.log(out.noise.odds) == pytest.approx(float(epsilon), rel=1e-9)


@pytest.mark.parametrize("name", PROVEN)
def test_the_noise_has_the_law_that_is_claimed(name: str) -> None:
    histogram = np.full(4096, 3, dtype=np.int64)
    out = private_distribution(histogram, 3, method=name, seed=5)
    noise = out.measurements - privatizers()[name].answers(histogram)
    assert isinstance(out.noise, Geometric)

    def chance(rate: float) -> float:
        reach = max(2, math.ceil(1.5 / rate))
        masses = math.tanh(rate / 2) * np.exp(-rate * np.abs(np.arange(-reach, reach + 1)))
        expected = np.append(masses, 1 - masses.sum())
        inside = np.abs(noise) <= reach
        observed = np.append(np.bincount(noise[inside] + reach, minlength=2 * reach + 1), (~inside).sum())
        return float(stats.chisquare(observed, expected * len(noise)).pvalue)

    rate = math.log(out.noise.odds)
    assert chance(rate) > 1e-6
    assert chance(1.3 * rate) < 1e-6 and chance(0.7 * rate) < 1e-6


def test_cyclic_noise_is_passed_between_neighbours() -> None:
    histogram, noise = np.array([5, 0, 2, 7]), np.array([3, -1, 4, 10])
    method = privatizers()["cyclic-laplace"]
    out = method.estimate(method.answers(histogram) - noise, 14, 4)
    np.testing.assert_array_equal(out, histogram + noise - np.roll(noise, -1))


def tree(leaves: int) -> np.ndarray:
    """A row for every node but the root: which leaves it sums."""
    return np.eye(16) if leaves == 16 else np.concatenate([np.eye(256), np.repeat(np.eye(16), 16, axis=1)])


@lru_cache
def inverse_of_gram(leaves: int) -> np.ndarray:
    return np.linalg.inv(tree(leaves).T @ tree(leaves))


@settings(max_examples=20, deadline=None)
@given(bins=st.integers(2, 256), seed=st.integers(0, 2**32))
def test_hierarchical_is_the_least_squares_fit(bins: int, seed: int) -> None:
    size = 16 if bins <= 16 else 256
    strategy = tree(size)
    noisy = np.random.default_rng(seed).integers(-5, 20, len(strategy))
    # unconstrained least squares, then the smallest correction that makes all leaves sum to the public total
    inverse, ones = inverse_of_gram(size), np.ones(size)
    free = inverse @ (strategy.T @ noisy)
    best = free + inverse @ ones * (100 - ones @ free) / (ones @ inverse @ ones)
    np.testing.assert_allclose(hierarchical.estimate(noisy, 100, bins), best[:bins], atol=1e-8)


def test_idealised_needs_insistence_and_delta() -> None:
    with pytest.raises(BadInput, match="insist with allow_idealised"):
        private_distribution([3, 4, 5], 1, method="cyclic-gaussian", delta="1e-6")
    with pytest.raises(BadInput, match="delta between 0 and 1"):
        private_distribution([3, 4, 5], 1, method="cyclic-gaussian", allow_idealised=True)
    out = private_distribution([3, 4, 5], 1, method="cyclic-gaussian", delta="1e-6", allow_idealised=True)
    assert out.grade == "diagnosed" and out.noise is None and out.private


@pytest.mark.parametrize("bins, epsilon, delta", [(2, 1.0, 1e-5), (21, 0.3, 1e-6), (200, 2.0, 1e-3)])
def test_cyclic_gaussian_is_calibrated_exactly(bins: int, epsilon: float, delta: float) -> None:
    deviation = cyclic_gaussian.standard_deviation(bins, epsilon, delta)
    # the least length over common shifts of all noise terms, which do not show in the output
    one = np.eye(bins)[0]
    length = min(np.linalg.norm(one + shift) for shift in np.linspace(-1, 1, 20001))
    assert length == pytest.approx(math.sqrt(1 - 1 / bins), abs=1e-6)

    def loss(x: float) -> float:
        near, far = stats.norm.pdf(x, length, deviation), stats.norm.pdf(x, 0, deviation)
        return max(0.0, near - math.exp(epsilon) * far)

    edge = epsilon * deviation**2 / length + length / 2
    found, _ = integrate.quad(loss, edge, edge + 12 * deviation, limit=200)
    assert found == pytest.approx(delta, rel=1e-4)


def test_cyclic_gaussian_noise_has_that_deviation() -> None:
    noise = cyclic_gaussian.noise(20_000, epsilon_of(1), Fraction(1, 10**6), seeded(1))
    deviation = cyclic_gaussian.standard_deviation(20_000, 1.0, 1e-6)
    assert stats.kstest(noise / deviation, "norm").pvalue > 1e-6
    assert stats.kstest(noise / (1.1 * deviation), "norm").pvalue < 1e-6


def test_rho_uses_gaussian_noise_and_widens_for_people_in_many_rows() -> None:
    assert private_distribution([3, 4, 5], rho="1/8").noise == Gaussian(Fraction(4))
    assert private_distribution([3, 4, 5], rho="1/8", contributions=3).noise == Gaussian(Fraction(36))
    assert private_distribution([3, 4, 5], rho="1/8", method="laplace").noise == Gaussian(Fraction(8))
    with pytest.raises(BadInput, match="epsilon and rho were given together"):
        private_distribution([3, 4, 5], 1, rho=1)


def test_tables_are_top_coded_and_know_their_contribution_bound() -> None:
    out = private_distribution(table([0, 1, 7, 100], contributions=2), 100, max_count=5, seed=1)
    assert out.max_count == 5 and out.rows == 4 and out.contributions == 2
    np.testing.assert_array_equal(out.distribution, [0.25, 0.25, 0, 0, 0, 0.5])
    folded = private_distribution([1, 1, 0, 1, 1], 100, max_count=2, seed=1)
    np.testing.assert_array_equal(folded.distribution, [0.25, 0.25, 0.5])
    padded = private_distribution([1, 1], 100, max_count=3, seed=1)
    np.testing.assert_array_equal(padded.distribution, [0.5, 0.5, 0, 0])


@pytest.mark.parametrize("counts", [[0], [3], [0, 4]])
@pytest.mark.parametrize("name", PROVEN)
def test_one_or_two_rows_work(counts: list[int], name: str) -> None:
    out = private_distribution(table(counts), "1/10", max_count=4, method=name)
    assert out.distribution.sum() == pytest.approx(1) and out.private


@pytest.mark.parametrize(
    "data, options, message",
    [
        (table([1, 2]), {}, "the largest count is a secret"),
        (table([1, 2]), {"max_count": 0}, "at least 1"),
        (table([1, 2]), {"max_count": "many"}, "whole number or 'auto'"),
        (table([1, 2]), {"max_count": 10**9}, "does not fit"),
        (table([]), {"max_count": 3}, "no rows"),
        (table([1, -2]), {"max_count": 3}, "count is negative"),
        ([1, -2], {}, "negative entry"),
        ([0, 0], {}, "no rows"),
        ([0.5, 0.5], {}, "whole numbers"),
        ([3], {}, "at least two"),
        ([3, 4], {"max_count": "auto"}, "table of counts"),
        ([3, 4], {"method": "cumulativ"}, "Did you mean 'cumulative'"),
        ([3, 4], {"projection": "simplx"}, "Did you mean 'simplex'"),
        ([3, 4], {"contributions": 0}, "at least 1"),
    ],
)
def test_bad_input_is_explained(data: object, options: dict, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        private_distribution(data, 1, **options)


def test_a_seed_repeats_and_is_not_private() -> None:
    first, second = (private_distribution([5, 4, 3], 1, seed=9) for _ in range(2))
    np.testing.assert_array_equal(first.measurements, second.measurements)
    assert not first.private and private_distribution([5, 4, 3], 1).private


@pytest.mark.parametrize("bins", [51, 100, 200])
@pytest.mark.parametrize("epsilon", ["0.05", "0.2", "1"])
def test_cumulative_errs_at_most_a_third_of_cyclic_laplace_on_skewed_data(bins: int, epsilon: str) -> None:
    from discreet.evaluate.metrics import w1
    from discreet.evaluate.shapes import mostly_zero, rows_of

    counts = rows_of(mostly_zero(50), 3136)
    histogram = np.bincount(counts, minlength=bins)

    def error(method: str) -> float:
        runs = (private_distribution(histogram, epsilon, method=method, seed=seed) for seed in range(10))
        return float(np.mean([w1(run.distribution, histogram) for run in runs]))

    assert error("cumulative") <= error("cyclic-laplace") / 3
