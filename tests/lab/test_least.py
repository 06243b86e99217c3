"""The least width of an honest interval: where it is known by a formula, and no interval that covers is below it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom, norm

import discreet as dc
from discreet.estimate.evidence import Evidence
from discreet.estimate.prefix import prefix_of
from discreet.laws import Geometric
from discreet_lab.least import least_part, least_quantile, least_row, least_share

UNBOUNDED = 2 * (norm.ppf(0.95) * 0.95 + norm.pdf(norm.ppf(0.95)))  # deviations, where every value is possible
ROWS = 4000


def evidence(true: Any, law: Geometric, top: int | None) -> Evidence:
    return Evidence(np.asarray(true), law, None, top, None, None, None, None)


@pytest.mark.parametrize("odds", [Fraction(3, 2), Fraction(4)])
def test_rows_of_two_counts_are_a_coin_seen_wrongly(odds: Fraction) -> None:
    true = np.repeat([0, 1], [1500, ROWS - 1500])
    wrong = float(1 / (odds + 1))  # a 0 is seen as a 1, clamped
    deviation = np.sqrt(ROWS * wrong * (1 - wrong)) / (1 - 2 * wrong)
    found = least_share(evidence(true, Geometric(odds), 1), true, 0)
    assert found == pytest.approx(UNBOUNDED * deviation / ROWS, rel=0.005)
    narrower = least_share(evidence(true, Geometric(odds * 2), 1), true, 0)
    assert narrower < 0.8 * found  # it would not miss noise that is another


def test_a_part_of_a_sum_far_from_its_ends() -> None:
    """one / (one + rest) has the deviation of a difference, by the delta method; with a sum that is known, exactly."""
    covariance = np.diag([100.0, 400.0])
    deviation = np.sqrt(0.7**2 * 100 + 0.3**2 * 400) / 10_000
    assert least_part(3000, 7000, covariance * 100) == pytest.approx(10 * UNBOUNDED * deviation, rel=0.02)
    known = np.array([[1.0, -1.0], [-1.0, 1.0]]) * 250**2
    assert least_part(3000, 7000, known) == pytest.approx(UNBOUNDED * 250 / 10_000, rel=0.02)


def test_where_nothing_is_told_all_but_a_twentieth_is_inside() -> None:
    assert least_part(1, 1, np.diag([1e8, 1e8])) == pytest.approx(0.95, abs=1e-3)
    true = np.repeat([0, 1, 2], 4)
    hidden = Geometric(Fraction(1001, 1000))
    assert least_share(evidence(true, hidden, 2), true, 0) == pytest.approx(0.95 * 13 / 12, abs=0.02)
    assert least_quantile(evidence(true, hidden, 2), true, 0.5) == pytest.approx(0.95 * 3, abs=0.02)
    sure = Geometric(Fraction(10**6))
    assert least_quantile(evidence(true, sure, 2), true, 0.5) == pytest.approx(0.95, abs=0.02)


def test_a_median_under_wide_noise_is_told_and_covered() -> None:
    """Nearly as narrow as any interval can be that covers for every table; the unbiased inverse tells nothing here."""
    repeats, hits, numbers, unbiased = 8, 0, [], []
    true = np.random.default_rng(20).binomial(20, 0.5, 240)
    for seed in range(repeats):
        table = dc.table(pa.table({"row": np.arange(len(true)), "n": true}), "n", ["row"])
        view = dc.estimate(dc.release(table, "0.1", seed=seed))
        low, high = view.quantile(0.5).interval
        hits, numbers = hits + (low <= 10 <= high), [*numbers, high - low + 1]
        prefix = prefix_of(view.shares.evidence)
        widths = prefix.half_widths(0.95, np.zeros(view.shares.evidence.size - 1))
        unbiased.append(int((np.abs(prefix.estimate[:-1] - 120) <= widths).sum()))
    least = least_quantile(view.shares.evidence, true, 0.5)
    assert hits >= binom.ppf(1e-4, repeats, 0.95)
    assert np.mean(numbers) <= 1.3 * least < np.mean(unbiased)


def test_a_row_among_very_many_is_told_as_by_one_who_knows_all_counts() -> None:
    """Other tables are far away then, so that values of the largest posterior chance are enough: the last of them in
    part, so that 95 of 100 are covered."""
    law, true = Geometric(Fraction(3, 2)), np.repeat([0, 1, 2, 3], [4, 1, 2, 3]) // 1
    many = np.tile(true, 20_000)
    behind = evidence(many, law, 3)
    shares = np.bincount(true) / len(true)
    both = shares[:, None] * behind.matrix
    order = np.argsort(-(both / both.sum(axis=0)).ravel(), kind="stable")  # values of what is seen, best first
    held, cost = both.ravel()[order].cumsum(), np.broadcast_to(both.sum(axis=0), both.shape).ravel()[order].cumsum()
    last = int(np.searchsorted(held, 0.95))
    part = (0.95 - held[last - 1]) / (held[last] - held[last - 1])
    assert least_row(behind, many) == pytest.approx(cost[last - 1] + part * (cost[last] - cost[last - 1]), rel=1e-3)


def test_a_row_that_nothing_tells_of_may_be_anything() -> None:
    """A spread that cannot be seen has to be covered too: so all rows being 6 makes no interval narrow."""
    true, hidden = np.full(20, 6), Geometric(Fraction(1001, 1000))
    assert least_row(evidence(true, hidden, 12), true) > 0.6 * 13
    assert least_row(evidence(true, Geometric(Fraction(10**6)), 12), true) == pytest.approx(0.95, abs=0.01)
