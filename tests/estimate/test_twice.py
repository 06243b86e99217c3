"""Shares and medians from rows and their measured distribution together: against plain least squares, and covered."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import nnls

import discreet as dc
from discreet.estimate.evidence import Evidence
from discreet.estimate.twice import MOST_CELLS, TwiceMeasured, _tables, twice_measured
from discreet.laws import Gaussian, Geometric

ROWS, MAX_COUNT = 240, 30
FIRMLY = 1e4  # how much more a sum weighs than what is measured


def released(true: Any, seed: int, epsilon: str = "0.1") -> Any:
    table = dc.table(pa.table({"row": np.arange(len(true)), "n": true}), "n", ["row"])
    out = dc.release(table, epsilon, max_count=MAX_COUNT, split="1/3", privatizer="cumulative", seed=seed)
    return dc.estimate(out)


def evidence(rng: np.random.Generator, rows: int = 40, size: int = 12) -> Evidence:
    true = rng.integers(0, size - 2, rows)
    law, measured = Geometric(Fraction(3, 2)), Geometric(Fraction(11, 10))
    noise, more = (rng.geometric(1 - one.decay, (2, k)) for one, k in ((law, rows), (measured, size - 1)))
    upto = (true[None, :] <= np.arange(size - 1)[:, None]).sum(axis=1)
    seen, told = true + noise[0] - noise[1], (upto + more[0] - more[1]).astype(float)
    return Evidence(seen, law, None, size - 1, told, measured, None, None)


@pytest.mark.parametrize("number", [None, 0.0, 7.0, 40.0])
def test_the_nearest_table_is_that_of_least_squares_without_negative_numbers(number: float | None) -> None:
    found = evidence(np.random.default_rng(5))
    tables = _tables(found, 3)
    many = np.repeat(tables.measured, 2, axis=0)
    distance, table = tables._nearest(many, None if number is None else np.array([number]))
    sides = [np.ones(found.size)] if number is None else [tables.below, ~tables.below]
    sums = np.array([found.rows] if number is None else [number, found.rows - number])
    design = np.vstack([tables.design.T, FIRMLY * np.array(sides, dtype=float)])
    best, _ = nnls(design, np.append(tables.measured[0], FIRMLY * sums))
    assert (table >= 0).all() and np.array(sides) @ table[0] == pytest.approx(sums)
    assert distance[0] == distance[1] == pytest.approx(((tables.measured - best @ tables.design) ** 2).sum(), abs=0.05)


def test_what_is_measured_again_has_the_law_of_what_was() -> None:
    """Means and variances of 1,000 draws of one table: within 6 standard errors, in deviations of its noise."""
    tables = _tables(evidence(np.random.default_rng(6)), 3)
    table = np.full(len(tables.below), tables.rows / len(tables.below))
    again = tables.again(table)
    whole = np.diff(np.floor(np.cumsum(table) + 0.5), prepend=0)
    assert len(again) > 1000
    error = again.std(axis=0) / np.sqrt(len(again))
    assert (np.abs(again.mean(axis=0) - whole @ tables.design) < 6 * error).all()
    noise = again[:, len(tables.expected) :]
    assert noise.var(axis=0) == pytest.approx(np.ones(noise.shape[1]), rel=0.5)


@pytest.mark.parametrize("true", [np.repeat([0, 30], ROWS // 2), np.zeros(ROWS, dtype=int)], ids=["heaps", "zeros"])
def test_tables_at_the_ends_of_the_range_are_covered(true: Any) -> None:
    """By the law of Wilks 78 to 85% of 95 were."""
    repeats, hits = 4, 0
    for seed in range(repeats):
        found = released(true, seed).share_zero()
        assert found.interval[0] <= found.estimate <= found.interval[1]
        hits += found.interval[0] <= np.mean(true == 0) <= found.interval[1]
    assert hits >= repeats - 1


def test_intervals_know_of_both_measurements() -> None:
    """By what was in both of two intervals, the one of rows alone, the median of a bell was between 1 and 22."""
    view = released(np.random.default_rng(20).binomial(20, 0.5, ROWS), 3)
    low, high = view.quantile("0.5").interval
    assert low <= 10 <= high and high - low <= 10
    assert view.share_zero().interval[1] <= 0.2
    assert view.quantile("0.5") == view.quantile("0.5")


def test_what_the_total_leaves_open_the_measured_distribution_may_tell() -> None:
    """By the total alone all rows may be zero: the share of zeros ended at 1, and that above 2 began at 0.12."""
    true = np.random.default_rng(1).binomial(6, 0.4, 200)
    table = dc.table(pa.table({"row": np.arange(200), "n": true}), "n", ["row"])
    view = dc.estimate(dc.release(table, rho="0.003", max_count=12, split="1/3", privatizer="cumulative", seed=1))
    zeros, above = view.share_zero().interval, view.share_above(2).interval
    assert zeros[0] <= np.mean(true == 0) <= zeros[1] < 1 - above[0] + 0.05


def test_narrow_noise_and_many_counts_are_left_to_the_unbiased_estimate() -> None:
    rng = np.random.default_rng(1)
    assert isinstance(twice_measured(released(rng.integers(0, 9, 60), 1).shares.evidence), TwiceMeasured)
    assert twice_measured(released(rng.integers(0, 9, 60), 1, "3").shares.evidence) is None
    wide = dc.table(pa.table({"row": np.arange(60), "n": rng.integers(0, 300, 60)}), "n", ["row"])
    out = dc.release(wide, "0.2", max_count=MOST_CELLS + 100, split="1/3", privatizer="cumulative", seed=1)
    view = dc.estimate(out)
    assert twice_measured(view.shares.evidence) is None
    low, high = view.share_above(100).interval
    assert 0 <= low < high <= 1


def test_more_counts_than_a_matrix_has_are_told_without_one() -> None:
    """Few of them were measured, so that they are few cells: it was refused, with the advice to ask for just this."""
    true = np.arange(0, 3000, 100)
    table = dc.table(pa.table({"row": np.arange(30), "n": true}), "n", ["row"])
    view = dc.estimate(dc.release(table, "0.005", max_count=3, favor="distribution", seed=3))
    for answer, expected in ((view.share_above(0), 29 / 30), (view.quantile("0.5"), 1400)):
        assert answer.interval[0] <= expected <= answer.interval[1]


def test_where_nothing_but_sums_is_told_nothing_else_is_advised() -> None:
    table = dc.table(pa.table({"row": np.arange(30), "n": np.arange(30)}), "n", ["row"])
    view = dc.estimate(dc.release(table, rho="1e-16", max_count=3, favor="distribution", seed=3))
    with pytest.raises(dc.BadInput, match="Ask for sums or rows"):
        view.share_above(0)
    assert len(view.rows().low) == 30


@pytest.mark.parametrize("told", [1e15, -1e15])
def test_numbers_of_rows_that_no_table_has_are_answered(told: float) -> None:
    """Beside what they are off by all else is lost in rounding: no cell was as good as the best one."""
    found = twice_measured(replace(evidence(np.random.default_rng(5)), cumulative=np.full(11, told)))
    assert found is not None
    low, high = found.share(3, 0.95)
    assert 0 <= low <= high <= 1


def test_noise_too_wide_to_be_written_out_is_drawn_as_normal() -> None:
    """Its masses would take 4 GB."""
    found = twice_measured(replace(evidence(np.random.default_rng(5)), cumulative_law=Gaussian(Fraction(10**17))))
    assert found is not None
    low, high = found.share(3, 0.95)
    assert 0 <= low <= high <= 1
