from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.distribution import default_split, kl_split, private_max_count
from discreet.distribution.max_count import BORDERS, share_for_max_count
from discreet.distribution.split import RHO_SHARE, checked_split
from discreet.errors import BadInput
from discreet.numbers import epsilon_of


def test_kl_split_is_the_published_rule() -> None:
    # f = 0.106 + 0.533 exp(-2.87 epsilon), section 6 of Kohli and Laskowski
    for epsilon in (0.1, 0.48, 1, 5):
        assert float(kl_split(epsilon)) == pytest.approx(0.106 + 0.533 * math.exp(-2.87 * epsilon), abs=5e-4)


@settings(max_examples=60, deadline=None)
@given(st.fractions(Fraction(1, 1000), 50))
def test_splits_are_exact_shares_that_fall_with_epsilon(epsilon: Fraction) -> None:
    for share in (default_split(epsilon), default_split(epsilon, refined=False), kl_split(epsilon)):
        assert isinstance(share, Fraction) and 0 <= share < 1
    assert default_split(2 * epsilon) <= default_split(epsilon) < kl_split(epsilon) or epsilon < Fraction(1, 50)
    assert default_split(epsilon, refined=False) == kl_split(epsilon) > 0
    assert 0 < RHO_SHARE < 1


def test_at_large_epsilon_nothing_is_measured_beforehand() -> None:
    """A share of less than a fiftieth measures worse than the rows themselves do."""
    shares = [default_split(Fraction(tenths, 10)) for tenths in range(20, 61)]
    assert shares[0] > Fraction(1, 20) and default_split(4) == 0
    assert all(share == 0 or share >= Fraction(1, 50) for share in shares)


def test_a_split_must_leave_something_for_both() -> None:
    assert checked_split("1/3", refined=False) == Fraction(1, 3)
    assert checked_split(0, refined=True) == 0
    for wrong in (1, -0.1, "3/2"):
        with pytest.raises(BadInput, match="below 1"):
            checked_split(wrong, refined=True)
    with pytest.raises(BadInput, match="without refinement"):
        checked_split(0, refined=False)


@settings(max_examples=60, deadline=None)
@given(counts=st.lists(st.integers(0, 10**9), min_size=1, max_size=20), row=st.integers(0, 19))
def test_one_person_crosses_one_border_at_most(counts: list[int], row: int) -> None:
    row %= len(counts)
    more = [*counts[:row], counts[row] + 1, *counts[row + 1 :]]
    change = sum(
        abs(sum(value > border for value in counts) - sum(value > border for value in more)) for border in BORDERS
    )
    assert change <= 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=50, max_size=300))
def test_with_little_noise_it_is_the_border_at_the_quantile(counts: list[int]) -> None:
    bought = private_max_count(counts, 100, quantile="0.9", seed=1)
    allowed = len(counts) / 10
    assert sum(value > bought.max_count for value in counts) <= allowed
    smaller = [border for border in BORDERS if border < bought.max_count]
    assert not smaller or sum(value > smaller[-1] for value in counts) > allowed - 1e-9


def test_it_costs_what_is_said_and_keeps_the_noisy_numbers() -> None:
    share, left = share_for_max_count(epsilon_of(2))
    assert (str(share), str(left)) == ("0.1", "1.9")
    counts = np.repeat([0, 1, 5, 30], 500)
    bought = private_max_count(counts, share, seed=4)
    assert 24 <= bought.max_count <= 48
    assert bought.as_json()["epsilon"] == "0.1" and len(bought.above) == len(BORDERS)


def test_too_few_rows_are_refused_before_anything_is_drawn() -> None:
    with pytest.raises(BadInput, match="too few"):
        private_max_count([1, 2, 3], "0.05")
    with pytest.raises(BadInput, match="no rows"):
        private_max_count([], 1)
    with pytest.raises(BadInput, match="both excluded"):
        private_max_count([1, 2], 1, quantile=1)
