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
from discreet.estimate.profile import Likelihood
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


def released(true: Any, seed: int) -> Any:
    table = dc.table(pa.table({"row": np.arange(len(true)), "n": true}), "n", ["row"])
    return dc.estimate(dc.release(table, "0.1", seed=seed))


def test_a_median_under_wide_noise_is_told_and_covered() -> None:
    """The unbiased inverse tells nothing here: its interval holds every count that was seen."""
    repeats, hits, widths = 8, 0, []
    true = np.random.default_rng(20).binomial(20, 0.5, 240)
    for seed in range(repeats):
        low, high = released(true, seed).quantile(0.5).interval
        hits, widths = hits + (low <= 10 <= high), [*widths, high - low]
    assert hits >= binom.ppf(1e-4, repeats, 0.95) and np.mean(widths) < 14


def test_shares_of_two_heaps_are_covered() -> None:
    repeats, hits, true = 8, 0, np.repeat([3, 25], 120)
    for seed in range(repeats):
        found = released(true, seed).share_above(2)
        assert found.interval[0] <= found.estimate <= found.interval[1]
        hits += found.interval[0] <= np.mean(true > 2) <= found.interval[1]
    assert hits >= binom.ppf(1e-4, repeats, 0.95)
