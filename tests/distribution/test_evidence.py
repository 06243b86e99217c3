"""The distribution by evidence, whole: what holds always, what it gains, and that it is the same everywhere."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.arrays import Integers
from discreet.distribution.evidence import Posterior, follow, posterior
from discreet.laws import Gaussian, NoiseLaw
from tests.distribution.noisy import Noisy, balanced, drawn, geometric, noised


def smooth(rows: int, seed: int = 0) -> Integers:
    return np.random.default_rng(seed).negative_binomial(1, 0.12, rows)


def heaped(rows: int, seed: int = 0) -> Integers:
    rng = np.random.default_rng(seed)
    counts = rng.gamma(2, 9, rows).astype(int)
    return np.where(rng.random(rows) < 0.7, 5 * np.rint(counts / 5).astype(int), counts)


TABLES = {
    "smooth": smooth(3000),
    "heaped": heaped(3000),
    "two values": np.repeat([3, 25], [900, 400]),
    "all equal": np.full(500, 6),
    "all zero": np.zeros(500, dtype=int),
    "cliff": np.random.default_rng(1).integers(0, 31, 3000),
    "one enormous": np.append(np.random.default_rng(2).poisson(4, 400), 40_000),
}


def holds(post: Posterior, table: Noisy) -> None:
    """What is true of every posterior and of every table made from it."""
    assert post.total == len(table.noisy)
    assert (np.diff(post.mean) >= 0).all() and post.mean[0] >= 0
    assert post.mean[-1] == pytest.approx(post.total)
    assert (post.spread > 0).all() and np.isfinite(post.spread).all()
    assert post.shares.sum() == pytest.approx(1) and (post.shares >= 0).all()
    assert post.distribution.sum() == pytest.approx(1) and (post.distribution >= 0).all()
    for lam in (None, 0.0, 1.0, math.inf):
        found = follow(post, table.plain, lam)
        assert (np.diff(found.upto) >= 0).all() and found.upto[0] >= 0 and found.upto[-1] == post.total
        assert math.isfinite(found.count_error) and math.isfinite(found.distribution_error)


@settings(max_examples=12, deadline=None)
@given(
    counts=st.lists(st.integers(0, 60), min_size=1, max_size=40),
    seed=st.integers(0, 999),
    epsilon=st.sampled_from([0.1, 0.5, 2.0]),
    gaussian=st.booleans(),
)
def test_what_holds_always(counts: list[int], seed: int, epsilon: float, gaussian: bool) -> None:
    noise: NoiseLaw = Gaussian(Fraction(1 / epsilon**2)) if gaussian else geometric(epsilon)
    table = noised(np.array(counts), noise, seed)
    holds(table.posterior(), table)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("gaussian", [False, True])
def test_what_holds_of_tables_of_every_kind(name: str, gaussian: bool) -> None:
    table = noised(TABLES[name], Gaussian(Fraction(9)) if gaussian else geometric(0.5), 4)
    holds(table.posterior(), table)


@pytest.mark.parametrize("rows", [1, 2, 5, 20])
def test_few_rows_are_left_as_they_are_or_made_better(rows: int) -> None:
    gains = []
    for seed in range(12):
        table = noised(smooth(rows, seed), geometric(0.5), seed)
        found = balanced(table)
        gains.append(table.errors(found.upto) / np.maximum(table.errors(table.plain), 0.1))
    assert (np.mean(gains, axis=0) < 1.02).all()


def test_a_top_code_is_the_last_count_that_is_looked_for() -> None:
    table = noised(np.minimum(smooth(2000), 12), geometric(0.5), 3)
    post = posterior(table.histogram, table.low, table.noise, 12, cut=True)
    assert len(post.shares) == 13
    assert post.distribution[12] == pytest.approx((table.true == 12).mean(), abs=0.04)


@pytest.mark.parametrize(("name", "epsilon"), [("smooth", 0.25), ("heaped", 0.5), ("cliff", 0.25), ("all equal", 0.5)])
def test_both_errors_fall_and_the_report_is_right(name: str, epsilon: float) -> None:
    tables = [noised(TABLES[name], geometric(epsilon), seed) for seed in range(3)]
    found = [balanced(table) for table in tables]
    new = np.array([table.errors(one.upto) for table, one in zip(tables, found)])
    plain = np.array([table.errors(table.plain) for table in tables])
    assert (new.mean(axis=0) < 0.995 * plain.mean(axis=0)).all()
    expected = np.mean([one.count_error for one in found])
    assert expected == pytest.approx(new[:, 0].mean(), rel=0.08, abs=0.15)


def test_the_wrong_noise_is_worse() -> None:
    """A factor of 0.7 or 1.3 in the width of the noise costs more than the right one does."""
    sums = dict.fromkeys((0.7, 1.0, 1.3), 0.0)
    for seed in range(3):
        table = noised(TABLES["smooth"], geometric(0.25), seed)
        for factor in sums:
            lam_one = follow(table.posterior(geometric(0.25 / factor)), table.plain, 1.0)
            sums[factor] += table.errors(lam_one.upto).sum()
    assert sums[1.0] < 0.99 * min(sums[0.7], sums[1.3])


def test_gaussian_noise_is_seen_through() -> None:
    table = noised(np.random.default_rng(5).binomial(20, 0.5, 10_000), Gaussian(Fraction(16)), 1)
    post = table.posterior()
    full, best = follow(post, table.plain, math.inf), balanced(table)
    assert table.errors(full.upto)[1] < 0.25 < 0.5 * table.errors(table.plain)[1]
    assert (table.errors(best.upto) < 0.8 * table.errors(table.plain)).all()


@pytest.mark.parametrize("noise", [geometric(0.2), Gaussian(Fraction(25))], ids=lambda noise: noise.name)
def test_a_measurement_of_the_distribution_is_used(noise: NoiseLaw) -> None:
    table, stage_one = noised(TABLES["heaped"], noise, 2), geometric(0.5)
    true = np.cumsum(np.bincount(table.true, minlength=table.largest + 1))
    prefix = true[:-1] + drawn(stage_one, table.largest, np.random.default_rng(3))
    without = table.posterior()
    post = posterior(table.histogram, table.low, noise, table.largest, prefix=prefix, prefix_noise=stage_one)
    holds(post, table)
    assert np.abs(post.mean - true).mean() < 0.3 * np.abs(without.mean - true).mean()
    assert ((post.mean - true)[:60] / post.spread[:60]).std() < 2
    exact = posterior(table.histogram, table.low, noise, table.largest, prefix=true[:-1], prefix_noise=geometric(20.0))
    assert np.abs(exact.mean - true)[:100].max() < 2


@pytest.mark.parametrize("name", ["smooth", "heaped"])
def test_a_measurement_that_says_nothing_leaves_as_much_unknown(name: str) -> None:
    noise, hardly = geometric(0.5), geometric(1e-4)
    table = noised(TABLES[name], noise, 2)
    prefix = np.cumsum(np.bincount(table.true, minlength=table.largest + 1))[:-1]
    post = posterior(table.histogram, table.low, noise, table.largest, prefix=prefix, prefix_noise=hardly)
    assert post.spread.sum() == pytest.approx(table.posterior().spread.sum(), rel=0.1)


@pytest.mark.parametrize("favored", [{"max_count": 60}, {}], ids=str)
def test_the_error_to_expect_beside_a_measurement_is_the_one_there_is(favored: dict[str, int]) -> None:
    counts = TABLES["smooth"]
    frame = pd.DataFrame({"row": [f"{k:04d}" for k in range(len(counts))], "n": counts})
    table = dc.table(frame, count="n", keys=["row"])
    made = [dc.release(table, 1, favor="distribution", seed=seed, **favored) for seed in range(6)]
    assert all(one.distribution.measurements is not None for one in made)
    real = [np.abs(np.sort(one.counts) - np.sort(counts)).mean() for one in made]
    assert np.mean([one.mechanism.aim.distribution_error for one in made]) == pytest.approx(np.mean(real), rel=0.3)


@pytest.mark.parametrize("name", ["smooth", "heaped", "two values", "one enormous"])
@pytest.mark.parametrize("epsilon", [0.25, 1.0])
def test_the_last_digits_of_floats_decide_nothing(name: str, epsilon: float) -> None:
    table = noised(TABLES[name], geometric(epsilon), 5)
    wobble = 1 + 1e-13 * np.random.default_rng(1).uniform(-1, 1, len(table.histogram))
    one = table.posterior()
    other = posterior(table.histogram * wobble, table.low, table.noise, table.largest)
    rows = len(table.true)
    assert np.abs(one.mean - other.mean).max() <= 1e-6 * rows
    assert np.abs(one.spread - other.spread).max() <= 1e-6 * rows
    for lam in (None, 1.0):
        moved = np.abs(follow(one, table.plain, lam).upto - follow(other, table.plain, lam).upto)
        assert moved.max() <= 1 and moved.sum() <= 3


def test_a_hundred_million_rows_take_no_longer() -> None:
    table = noised(smooth(20_000), geometric(1.0), 6)
    post = posterior(5000 * table.histogram, table.low, table.noise, table.largest)
    assert post.total == 10**8
    found = follow(post, 5000 * table.plain, None)
    assert found.upto[-1] == 10**8 and (np.diff(found.upto) >= 0).all()
    assert found.count_error < 1


@pytest.mark.parametrize("noise", [geometric(0.5), Gaussian(Fraction(9))], ids=lambda noise: noise.name)
def test_a_very_long_range_is_done(noise: NoiseLaw) -> None:
    rng = np.random.default_rng(8)
    table = noised((rng.pareto(0.8, 3000) + 1).clip(0, 200_000).astype(int), noise, 7)
    found = balanced(table)
    assert table.largest > 50_000
    assert (table.errors(found.upto) < 1.01 * table.errors(table.plain)).all()
