"""Shares of rows by the likelihood: against every distribution on a grid, and covered in shapes of all kinds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

import discreet as dc
from discreet.estimate.evidence import Evidence
from discreet.estimate.intervals import one_sided
from discreet.estimate.profile import Likelihood, likelihood_of
from discreet.estimate.shares import CountShares, whole_rows
from discreet.estimate.sized import RowPart
from discreet.laws import Geometric
from discreet.mechanism import NoiseThenMap

GRID = np.array([(a, b, 200 - a - b) for a in range(201) for b in range(201 - a)]) / 200  # of 3 counts


@settings(max_examples=25, deadline=None)
@given(
    odds=st.fractions(min_value="11/10", max_value=4, max_denominator=10),
    seen=st.lists(st.integers(1, 40), min_size=3, max_size=3),
    upto=st.integers(0, 1),
)
def test_it_is_the_largest_likelihood_with_a_share(odds: Fraction, seen: list[int], upto: int) -> None:
    matrix, histogram = NoiseThenMap(Geometric(odds), (0, 2)).matrix(), np.array(seen, dtype=float)
    likelihood, level = Likelihood(histogram, matrix), 0.95
    values, shares = np.log(GRID @ matrix) @ histogram, GRID[:, : upto + 1].sum(axis=1)
    for chosen, asked in ((np.ones(len(GRID), dtype=bool), ()), (shares == 0.25, (upto, 0.25))):
        found, short, distribution = likelihood.likeliest(*asked)
        best = values[chosen].max()
        assert found <= best + 0.05 and best <= found + short + 1e-9  # a grid misses the top by a little
        assert distribution.sum() == pytest.approx(1)
        assert not asked or distribution[: upto + 1].sum() == pytest.approx(0.25)
    low, high = likelihood.share(upto, level)
    likely = shares[2 * (values.max() - values) <= chi2.ppf(level, 1)]
    assert low <= likely.min() + 0.006 and high >= likely.max() - 0.006
    assert low >= likely.min() - 0.03 and high <= likely.max() + 0.03


def rows_seen(seen: Any, law: Geometric) -> Evidence:
    return Evidence(np.asarray(seen), law, None, None, None, None, None, None)


def shares_of(evidence: Evidence) -> CountShares:
    return CountShares((RowPart(np.arange(evidence.rows), evidence),), 0.95)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-9, 12), min_size=8, max_size=8), st.sampled_from([Fraction(3, 2), Fraction(4)]))
def test_which_interval_is_given_is_told_by_the_noise_and_not_by_what_came_out(seen: list[int], odds: Fraction) -> None:
    """The narrower one of two, by a fifth, covered 88% of 95 where half of 40 rows have 0 and half 3 (epsilon 0.3)."""
    evidence = rows_seen([*seen, 5], Geometric(odds))
    likelihood, shares = likelihood_of(evidence), shares_of(evidence)
    assert (likelihood is not None) == (odds < 2)
    if likelihood is not None:
        least, most = likelihood.share(2, 0.95)
        assert shares.above(2).interval == whole_rows(1 - most, 1 - least, len(seen) + 1)
        low, high = shares.quantile(0.5).interval
        assert (low, min(high, evidence.size - 1)) == likelihood.quantile(0.5, 0.95)


@pytest.mark.parametrize("q", ["0.9", "1"])
@pytest.mark.parametrize("odds", [Fraction(27, 20), Fraction(3), Fraction(20)])
def test_the_largest_count_may_have_been_seen_smaller(odds: Fraction, q: str) -> None:
    """Of 6 rows the largest has 40: over all its noises, each with its chance, it is below the upper end but in one of
    40 cases. It was no more than one above what was seen: 73% covered in place of 95."""
    law, missed, noises = Geometric(odds), 0.0, range(-30, 1)
    for noise in noises:
        high = shares_of(rows_seen([0, 0, 0, 0, 0, 40 + noise], law)).quantile(q).interval[1]
        missed += float(law.masses(30)[-noise]) * (high < 40)
    assert missed <= 0.025
    reach = one_sided(0.95, law)
    assert law.tails(60)[int(reach) + 1] <= 0.025 < law.tails(60)[int(reach)]


def released(true: Any, seed: int) -> Any:
    table = dc.table(pa.table({"row": np.arange(len(true)), "n": true}), "n", ["row"])
    return dc.estimate(dc.release(table, "0.1", seed=seed))


def test_shares_of_two_heaps_are_covered() -> None:
    repeats, hits, true = 8, 0, np.repeat([3, 25], 120)
    for seed in range(repeats):
        found = released(true, seed).share_above(2)
        assert found.interval[0] <= found.estimate <= found.interval[1]
        hits += found.interval[0] <= np.mean(true > 2) <= found.interval[1]
    assert hits >= binom.ppf(1e-4, repeats, 0.95)


@given(st.integers(1, 300), st.floats(0, 1), st.floats(0, 1))
def test_no_number_of_rows_is_lost_and_nothing_else_stays_at_the_ends(rows: int, one: float, other: float) -> None:
    """Where no row of 240 has a zero, the interval of their share ended at three fifths of a row."""
    low, high = sorted((one, other))
    inside = [k / rows for k in range(rows + 1) if low <= k / rows <= high]
    first, last = whole_rows(low, high, rows)
    assert low - 1e-8 <= first <= last <= high + 1e-8 and str(first) != "-0.0"
    assert all(first <= one <= last for one in inside)
    if inside:
        assert [first * rows, last * rows] == pytest.approx([round(first * rows), round(last * rows)])


def test_a_share_of_no_rows_ends_at_none_where_noise_is_narrow() -> None:
    seen = np.random.default_rng(3).integers(6, 15, 240)
    assert shares_of(rows_seen(seen.tolist(), Geometric(20))).zero().interval == (0.0, 0.0)
