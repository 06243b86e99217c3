"""What an answer reads like: no digit that its interval leaves no meaning to, and nothing that is not true."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.estimate.answers import Answer


@pytest.mark.parametrize(
    ("estimate", "interval", "said"),
    [
        (1234.5678, (1200.123, 1300.9), ("1,230", "1,200", "1,310")),
        (0.012345678, (0.0101, 0.0146), ("0.0123", "0.0101", "0.0146")),
        (3.0, (3.0, 7.0), ("3", "3", "7")),
        (14_012.0, (13_014.0, 15_011.0), ("14,000", "13,000", "15,100")),  # as if the estimate were no whole number
        (14_012.3, (13_014.0, 15_011.0), ("14,000", "13,000", "15,100")),
        (56.0, (34.0, 78.0), ("56", "34", "78")),
        (7.83, (5.0, 11.0), ("7.8", "5", "11")),
        (0.04, (0.0, 1.0), ("0.0", "0", "1")),
        (-0.04, (-3.0, 3.0), ("0.0", "-3", "3")),
        (2.0, (1.5, 3.0), ("2.0", "1.5", "3.0")),
        (130.0, (0.0, inf), ("130", "0", "inf")),
        (7.123, (2.1, inf), ("7", "2", "inf")),
        (-0.04, (-3.21, 2.9), ("0.0", "-3.3", "2.9")),
        (12_345_678.0, (12_345_678.0, 12_345_678.0), ("12,345,678",) * 3),
    ],
)
def test_digits_are_those_that_mean_something(estimate: float, interval: tuple[float, float], said: object) -> None:
    assert Answer(estimate, interval, 0.95).words == said


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e6), st.floats(0, 1))
def test_the_ends_are_rounded_outwards_and_hardly(low: float, width: float, at: float) -> None:
    high = low + width
    middle, first, last = (
        float(one.replace(",", "")) for one in Answer(low + at * (high - low), (low, high), 0.95).words
    )
    slack = 1e-8 * (high - low) + 1e-15 * abs(low)  # what floats of this size are off by
    assert low - 0.11 * (high - low) <= first <= low + slack
    assert high - slack <= last <= high + 0.11 * (high - low)
    assert abs(middle - (low + at * (high - low))) <= 0.051 * (high - low) + slack


@pytest.mark.parametrize(
    "level, said", [(0.95, "95%"), (0.9, "90%"), (0.995, "99.5%"), (0.9999999999999999, "99.99999999999999%")]
)
def test_a_level_is_never_said_to_be_higher(level: float, said: str) -> None:
    assert f", {said})" in str(Answer(3.0, (1.0, 5.0), level))
