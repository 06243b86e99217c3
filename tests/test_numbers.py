from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput
from discreet.numbers import (
    Epsilon,
    decimal_above,
    epsilon_of,
    exact,
    exp_bounds,
    few_digits,
    log_bounds,
    probability,
    simplest_between,
    text,
    whole,
    whole_of,
)
from discreet.testing import epsilons
from tests.shell import shell

# e to 50 digits, from any table of constants
E_50 = Fraction("2.71828182845904523536028747135266249775724709369995")
LAST = Fraction(1, 10**50)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1/2", Fraction(1, 2)),
        (" 3/4 ", Fraction(3, 4)),
        ("1e-3", Fraction(1, 1000)),
        (1e-3, Fraction(1, 1000)),
        (Decimal("0.3"), Fraction(3, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
        (np.float64(0.7), Fraction(7, 10)),
        (np.int64(3), Fraction(3)),
    ],
)
def test_a_number_is_the_one_that_was_written(written: Any, meant: Fraction) -> None:
    assert exact(written) == meant
    assert epsilon_of(written).value == meant


@pytest.mark.parametrize(
    "bad",
    [0, -1, "0", "-1/2", math.nan, math.inf, -math.inf, "nan", "inf", "Infinity", Decimal("NaN"), Decimal("Infinity"),
     "", "one", "1/0", None, True, [1], "1;2", 1001, "1e-10"],
)  # fmt: skip
def test_no_other_epsilon_is_taken(bad: Any) -> None:
    with pytest.raises(BadInput):
        epsilon_of(bad)


@pytest.mark.parametrize("bad", [0, 1, "1", -0.5, 2, "nan", Fraction(10**10 - 1, 10**10)])
def test_alpha_lies_strictly_between_zero_and_one(bad: Any) -> None:
    with pytest.raises(BadInput, match=r"(?i)alpha"):
        epsilon_of(alpha=bad)


def test_exactly_one_parameter_is_given() -> None:
    with pytest.raises(BadInput, match="exactly one of epsilon and alpha"):
        epsilon_of()
    with pytest.raises(BadInput, match="exactly one of epsilon and alpha"):
        epsilon_of(1, alpha="1/2")


def test_alpha_is_exact() -> None:
    assert epsilon_of(alpha="31/50").odds() == Fraction(50, 31)
    assert epsilon_of(alpha="31/50").times(3).odds() == Fraction(50, 31) ** 3


@given(st.integers(1, 300))
def test_exp_and_log_are_enclosed(bits: int) -> None:
    low, high = exp_bounds(Fraction(1), bits)
    assert low <= E_50 + LAST and high >= E_50 - LAST
    assert 0 <= high - low <= Fraction(16, 2**bits)
    low, high = log_bounds(E_50, bits)
    assert low <= 1 + LAST and high >= 1 - LAST


@given(st.fractions(Fraction(1, 10**9), 20, max_denominator=10**12), st.sampled_from([10, 20, 40, 60]))
def test_odds_are_never_above_e_to_the_epsilon_and_hardly_below(value: Fraction, bits: int) -> None:
    epsilon = Epsilon(value=value)
    odds = epsilon.odds(bits)
    low, _ = exp_bounds(value, 400)
    assert 1 < odds <= low
    assert low - odds <= (low - 1) / 2 ** (bits - 1)
    assert epsilon.allows(odds)
    assert not epsilon.allows(odds + 2 * (low - 1) / 2**bits)


@given(st.fractions(Fraction(1, 100), 5), st.fractions(Fraction(1, 100), 5))
def test_the_simplest_fraction_between_two_is_found(one: Fraction, other: Fraction) -> None:
    low, high = min(one, other), max(one, other)
    found = simplest_between(low, high)
    assert low <= found <= high
    smaller = range(1, min(found.denominator, 200))
    assert not any(math.ceil(low * d) <= math.floor(high * d) for d in smaller)


@given(epsilons(), st.fractions(0, 10), st.fractions(0, 10))
def test_comparison_with_e_to_the_epsilon_is_exact(epsilon: Epsilon, one: Fraction, other: Fraction) -> None:
    low, high = epsilon.bounds(2000)
    sign = epsilon.compare(one, other)
    if sign > 0:
        assert one > other * low
    elif sign < 0:
        assert one < other * high
    else:
        assert one == other * low == other * high
    if epsilon.ratio is not None:
        assert sign == (one > other * epsilon.ratio) - (one < other * epsilon.ratio)


@given(epsilons(), st.integers(1, 9))
def test_multiples_are_rounded_towards_privacy(epsilon: Epsilon, parts: int) -> None:
    part = epsilon.times(Fraction(1, parts))
    assert part.rational() * parts <= log_bounds(epsilon.bounds(200)[1], 300)[1]
    assert epsilon.bounds(60)[1] >= part.odds() ** parts or epsilon.allows(part.odds() ** parts)
    assert float(part) * parts == pytest.approx(float(epsilon), rel=1e-9)


@given(st.fractions())
def test_text_is_exact(number: Fraction) -> None:
    assert Fraction(text(number)) == number
    assert "e" not in text(number)


@given(st.fractions(), st.integers(0, 20))
def test_a_decimal_above_is_not_below(number: Fraction, digits: int) -> None:
    assert 0 <= Fraction(decimal_above(number, digits)) - number < Fraction(1, 10**digits)


def test_an_epsilon_given_as_alpha_is_printed_from_above() -> None:
    printed = Fraction(str(epsilon_of(alpha="1/2")))
    assert printed >= log_bounds(Fraction(2), 200)[1]
    assert printed - log_bounds(Fraction(2), 200)[0] < Fraction(1, 10**11)


@pytest.mark.parametrize("bad", [5.0, "5", None, True, 0, -1, math.nan, [1]])
def test_whole_numbers_only(bad: Any) -> None:
    with pytest.raises(BadInput, match=r"(?i)max_count"):
        whole(bad, "max_count", 1)


def test_whole_numbers_of_numpy_will_do() -> None:
    assert whole(np.int32(7), "max_count", 1) == 7


@pytest.mark.parametrize("bad", [-0.1, 1.1, "2", math.nan])
def test_probabilities_lie_between_zero_and_one(bad: Any) -> None:
    with pytest.raises(BadInput, match=r"(?i)delta"):
        probability(bad, "delta")


def test_numbers_for_people_have_no_powers_of_ten() -> None:
    cases = {(113.2, 2): "110", (1234567.0, 3): "1,230,000", (0.618, 2): "0.62", (2.0, 2): "2", (0.00042, 3): "0.00042"}
    for (value, digits), words in cases.items():
        assert few_digits(value, digits) == words


@pytest.mark.parametrize(
    ("word", "number"),
    [("5", 5), ("-5", -5), (" 7", 7), ("--5", None), ("²", None), ("٣", None), ("", None), ("9" * 5000, None)],
)
def test_only_plain_digits_write_a_whole_number(word: str, number: int | None) -> None:
    assert whole_of(word) == number


@pytest.mark.parametrize("word", ["²", "--5", "9" * 5000])
def test_a_word_that_looks_like_digits_is_told(word: str) -> None:
    for words in (["plan", "10", "--epsilon", "1", f"--max-count={word}"], ["diagnose", "--shape", f"2,{word}"]):
        done = shell(*words)
        assert done.returncode == 2 and "Traceback" not in done.stderr and "base 10" not in done.stderr
    with pytest.raises(dc.BadInput, match="it takes a whole number"):
        dc.design(max_count=3, epsilon=1, require=[f"support={word}"])
