"""The table that errs least, against every possible one; its expected errors, against draws from the posterior."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence import Posterior, follow
from discreet.distribution.evidence.rows import rows_of
from discreet.distribution.evidence.thresholds import BARGAIN, HARDLY, TOO_SURE, _distance, expected_errors
from discreet.laws import Gaussian, NoiseLaw
from tests.distribution.noisy import Noisy, chances, geometric, noised

LAMS = [0.0, 0.3, 1.0, 4.0, math.inf]
LAWS: list[NoiseLaw] = [geometric(0.6), Gaussian(Fraction(4))]


def known(shares: Floats, table: Noisy) -> tuple[Posterior, Floats]:
    """The posterior where the distribution is known, and the chances of every row in order, by the rule of Bayes."""
    folded = table.noise.decay is not None
    noisy = np.sort(np.clip(table.noisy, 0, len(shares) - 1) if folded else table.noisy)
    low = 0 if folded else int(noisy[0])
    histogram = np.bincount(noisy - low, minlength=len(shares)).astype(float)
    rows = rows_of(shares, histogram, low, table.noise)
    size = len(shares)
    found = Posterior(shares, rows.mean, np.sqrt(rows.own) + 1e-4, rows, len(noisy), np.arange(size), np.eye(size))
    return found, chances(shares, histogram, low, table.noise)[noisy - low]


def table_of(noise: NoiseLaw, rows: int, seed: int) -> tuple[Floats, Noisy]:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(9, 0.8))
    return shares, noised(rng.choice(9, rows, p=shares), noise, seed)


def plain_of(table: Noisy, size: int) -> Integers:
    return np.cumsum(np.bincount(np.clip(table.noisy, 0, size - 1), minlength=size))


def between(mean: float, spread: float, rows: Integers) -> Floats:
    """E|rows - F| for a normal F."""
    gap = (rows - mean) / spread
    return spread * (gap * (2 * ndtr(gap) - 1) + np.exp(-gap * gap / 2) * math.sqrt(2 / math.pi))


@pytest.mark.parametrize("noise", LAWS, ids=lambda noise: noise.name)
@pytest.mark.parametrize("lam", LAMS)
@pytest.mark.parametrize("seed", [1, 2])
def test_no_other_number_of_rows_costs_less(noise: NoiseLaw, lam: float, seed: int) -> None:
    shares, table = table_of(noise, 40, seed)
    post, chance = known(shares, table)
    found = follow(post, plain_of(table, len(shares)), lam).upto
    every = np.arange(post.total + 1)
    for count in range(len(shares) - 1):
        below = chance[:, count]
        wrong = np.append(0.0, np.cumsum(1 - below)) + np.append(np.cumsum(below[::-1])[::-1], 0.0)
        pulled = between(post.mean[count], post.spread[count], every)
        cost = pulled if math.isinf(lam) else wrong + lam * pulled
        assert cost[found[count]] <= cost.min() + 0.02 * max(1.0, lam if math.isfinite(lam) else 1.0)


@pytest.mark.parametrize("noise", LAWS, ids=lambda noise: noise.name)
def test_without_a_pull_rows_are_at_their_posterior_medians(noise: NoiseLaw) -> None:
    shares, table = table_of(noise, 60, 5)
    post, chance = known(shares, table)
    published = np.searchsorted(follow(post, plain_of(table, 9), 0.0).upto, np.arange(60), side="right")
    assert (published == (chance <= 0.5 - 1e-12).sum(axis=1)).mean() > 0.99


def test_with_all_the_pull_the_distribution_is_followed() -> None:
    shares, table = table_of(geometric(0.6), 500, 6)
    post, _ = known(shares, table)
    found = follow(post, plain_of(table, 9), math.inf).upto
    assert np.abs(found - post.mean)[:-1].max() <= 0.5 + 1e-9


@pytest.mark.parametrize("noise", LAWS, ids=lambda noise: noise.name)
def test_expected_errors_are_those_of_draws_from_the_posterior(noise: NoiseLaw) -> None:
    shares, table = table_of(noise, 300, 7)
    post, chance = known(shares, table)
    upto = follow(post, plain_of(table, 9), 1.0).upto
    published = np.searchsorted(upto, np.arange(300), side="right")
    rng = np.random.default_rng(0)
    drawn = (rng.random((4000, 300, 1)) > chance[None, :, :-1]).sum(axis=2)
    counts = np.abs(drawn - published).mean()
    distribution = np.abs(np.sort(drawn, axis=1) - published).mean()
    np.testing.assert_allclose(expected_errors(post, upto), [counts, distribution], rtol=0.03)


def test_the_report_owns_that_rows_teach_their_own_law() -> None:
    shares, table = table_of(geometric(0.6), 100, 8)
    post, _ = known(shares, table)
    found = follow(post, plain_of(table, 9), 1.0)
    assert found.count_error == pytest.approx(expected_errors(post, found.upto)[0] * (1 + TOO_SURE / 100))


def test_more_pull_is_less_w1_and_more_count_error() -> None:
    shares, table = table_of(geometric(0.4), 2000, 9)
    post, _ = known(shares, table)
    errors = np.array([expected_errors(post, follow(post, plain_of(table, 9), lam).upto) for lam in LAMS])
    assert (np.diff(errors[:, 0]) >= -1e-3).all() and (np.diff(errors[:, 1]) <= 1e-3).all()


RNG = np.random.default_rng(1)
ZEROS = RNG.negative_binomial(0.4, 0.07, 2000)
PLAIN_IS_GOOD = {
    "many zeros": (ZEROS, 1.0),
    "a bell": (RNG.binomial(20, 0.5, 5000), 2.0),
    "two Poissons": (RNG.poisson(RNG.choice([8, 40], 2000)), 1.0),
    "little noise": (ZEROS, 2.0),
}


@pytest.mark.parametrize("name", PLAIN_IS_GOOD)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_counts_err_hardly_more_and_only_for_four_times_as_much_of_the_distribution(name: str, seed: int) -> None:
    counts, epsilon = PLAIN_IS_GOOD[name]
    table = noised(counts, geometric(epsilon), seed)
    post = table.posterior()
    found, plain = follow(post, table.plain, None), expected_errors(post, table.plain)
    paid, bought = (expected_errors(post, found.upto) - plain) * (1, -1)
    assert bought >= 0
    assert paid <= 0 or (paid <= min(HARDLY * plain[0], BARGAIN * bought) and found.lam <= BARGAIN)
    assert name == "a bell" or (paid > 0) == (name == "many zeros")


def test_nothing_changes_from_the_top_on() -> None:
    shares, table = table_of(geometric(0.4), 500, 10)
    post, _ = known(shares, table)
    plain = plain_of(table, 9)
    found = follow(post, plain, 1.0, top=4).upto
    assert (found[4:] == np.maximum(plain[4:], found[3])).all() and (np.diff(found) >= 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_the_distance_of_few_rows_is_that_of_every_way_they_may_fall(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for often in (0.5, 2.0, 20.0):
        chance, side = 0.5 * rng.beta(0.5, often, rng.integers(1, 9)), rng.choice([-1, 1], 9)
        law = np.ones(1)  # of the surplus, from -len(chance) on
        for one, way in zip(chance, side):
            law = np.convolve(law, [one, 1 - one, 0] if way < 0 else [0, 1 - one, one])
        exact = law @ np.abs(np.arange(len(law)) - len(chance))
        mean, own = chance @ side[: len(chance)], np.sqrt(chance @ (1 - chance))
        found = _distance(*(np.array([value]) for value in (mean, chance.sum(), own, own)))
        assert found[0] == pytest.approx(exact, rel=0.04)


SPARSE = {
    "far apart": (np.floor(np.random.default_rng(3).lognormal(7.8, 0.9, 100)).astype(int), 0.25),
    "little noise": (np.random.default_rng(4).negative_binomial(2, 0.06, 300), 4.0),
    "all zero": (np.zeros(100, dtype=int), 1.0),
}


@pytest.mark.parametrize("name", SPARSE)
def test_where_few_rows_are_in_doubt_the_distribution_errs_no_more_than_counts(name: str) -> None:
    counts, epsilon = SPARSE[name]
    tables = [noised(counts, geometric(epsilon), seed) for seed in range(5)]
    found = [follow(table.posterior(), table.plain, None) for table in tables]
    assert all(0 <= one.distribution_error <= one.count_error for one in found)
    measured = np.mean([table.errors(one.upto)[1] for table, one in zip(tables, found)])
    assert np.mean([one.distribution_error for one in found]) == pytest.approx(measured, rel=0.2, abs=0.05)
