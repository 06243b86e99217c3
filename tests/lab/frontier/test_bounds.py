"""Bounds beside the study: by hand where that can be, and no rule is below them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.laws import Geometric
from discreet.numbers import exact
from discreet_lab.frontier.bounds import (
    apart,
    beyond_any,
    beyond_both,
    beyond_the_oracle,
    law_of,
    least_error,
    least_sum,
    mistaken,
    places_of,
    plain_error,
)
from discreet_lab.frontier.methods import medians

HALF = 0.5  # the decay of noise in which a value is right in one row of three


def noise(size: int, rng: np.random.Generator, decay: float = HALF) -> np.ndarray:
    return rng.geometric(1 - decay, size) - rng.geometric(1 - decay, size)


def test_the_least_error_of_a_coin_is_known() -> None:
    """A noisy value of 0 or less speaks for 0, and is wrong with a chance of 1/3."""
    assert least_error(np.array([0.5, 0.5]), HALF) == pytest.approx(1 / 3)
    assert least_error(np.array([0.9, 0.1]), HALF) == pytest.approx(0.1)  # odds of 9 are not outdone by noise's 2
    assert least_error(np.array([0.0, 0, 1]), HALF) == 0


def test_it_is_what_the_oracle_of_the_study_errs() -> None:
    rng = np.random.default_rng(1)
    counts = rng.poisson(3, 500)
    law = Geometric(exact(2, "odds"))
    measured = [np.abs(medians(counts + noise(500, rng), counts, law) - counts).mean() for _ in range(200)]
    assert least_error(law_of(counts), HALF) == pytest.approx(np.mean(measured), rel=0.01)


def test_who_knows_the_law_is_behind_the_oracle_only_where_rows_are_few() -> None:
    wide = np.full(500, 1 / 500)
    few, many = (beyond_the_oracle(wide, rows, HALF) for rows in (100, 50_000))
    assert few > 1.5 and 1 <= many < 1.02


def test_no_rule_is_the_best_for_two_laws_that_look_alike() -> None:
    """Of one row, exactly: a rule is one number for every noisy value, and all of them are tried."""
    one, other = np.array([0.8, 0.2]), np.array([0.2, 0.8])
    bound = beyond_both(one, other, HALF, 1)
    values = np.arange(-40, 42)[:, None]
    chance = [law * HALF ** np.abs(values - np.arange(2)) / 3 for law in (one, other)]
    rules = [(values[:, 0] >= level).astype(int) for level in range(-40, 43)]
    errors = np.array([[(part[np.arange(82), 1 - rule]).sum() for part in chance] for rule in rules])
    assert (errors / [least_error(one, HALF), least_error(other, HALF)]).max(axis=1).min() > bound > 1.01
    assert beyond_both(one, one, HALF, 50) == pytest.approx(1.0)


def test_nobody_knows_a_place_that_noise_hides() -> None:
    """Most rows are at 0, or most at 1: of one row nobody knows which, of very many everybody does."""
    assert beyond_any(np.array([[0.8, 0.2], [0.8, 0.2]]), HALF, 30, 40) == pytest.approx(1, rel=0.1)
    mixed = np.array([[0.75, 0.25], [0.25, 0.75]])
    least = least_error(mixed[0], HALF)
    assert beyond_any(mixed, HALF, 1, 500) == pytest.approx(least_error(np.array([0.5, 0.5]), HALF) / least, rel=0.05)
    assert beyond_any(mixed, HALF, 5000, 20) == pytest.approx(1, rel=0.02)  # so many rows tell which it is
    np.testing.assert_allclose(places_of((1, 1, 3), 5, 0.5), [0.1, 0.1 + 1 / 3, 0.1, 0.1 + 1 / 6, 0.1])


@pytest.mark.parametrize("rows", [1, 50])
def test_noisy_tables_are_no_further_apart_than_that(rows: int) -> None:
    one, other = np.array([1.0, 0]), np.array([0.7, 0.3])
    bound, rng = apart(one, other, HALF, rows), np.random.default_rng(2)
    values = [noise((5_000, rows), rng) + rng.choice(2, (5_000, rows), p=law) for law in (one, other)]
    sums = [np.clip(value, -3, 4).sum(axis=1) for value in values]
    # any event tells them apart by no more than the total variation; here those of a sum
    best = max(float((sums[1] > level).mean() - (sums[0] > level).mean()) for level in range(-rows, 2 * rows))
    assert best < bound < 1 and apart(one, one, HALF, rows) < 1e-6


def test_a_promise_must_be_wrong_where_rows_may_not_all_be_alike() -> None:
    found = mistaken(7, 300, math.exp(-0.1), 1.0)
    assert found is not None and found.error > 1.2 and 0.3 < found.wrong < 0.5
    assert mistaken(7, 300, math.exp(-4), 1.0) is None  # nearly no noise: no table near it errs as much


def test_nobody_who_keeps_to_the_allowed_error_has_a_lower_sum() -> None:
    """Of the rules for rows of 0 and 1: so many of the largest noisy values are published as 1."""
    rng, rows, decay = np.random.default_rng(3), 2000, math.exp(-1)
    counts = rng.permutation(np.repeat([0, 1], [1400, 600]))
    plain = plain_error(counts, decay, 1)
    assert plain == pytest.approx(decay / (1 + decay))
    noisy = counts + noise((40, rows), rng, decay)
    ranked = counts[np.argsort(-(noisy + rng.random(noisy.shape)), axis=1)]
    upto = np.pad(np.cumsum(ranked, axis=1), ((0, 0), (1, 0))).mean(axis=0)  # true ones among the first so many
    ones = np.arange(rows + 1)
    count, distribution = (ones + 600 - 2 * upto) / rows, np.abs(ones - 600) / rows
    for allowed in (1.01 * plain, 1.02 * plain, 1.0):
        bound = least_sum(counts, decay, allowed)
        best = float((count + distribution)[count <= allowed].min())
        assert bound - 0.005 < best < bound + 0.02
    assert least_sum(counts, decay, plain) > least_sum(counts, decay, 1.02 * plain) + 0.01
