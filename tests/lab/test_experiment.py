"""What a verdict means, decided on made-up experiments."""

from __future__ import annotations

import pytest

from discreet_lab.experiment import (
    DIFFERS,
    FAILED,
    NOT_PUBLIC,
    REPRODUCED,
    Control,
    Data,
    Result,
    printed,
    stated,
)

TRUE, FALSE = stated("it rains", "yes", "yes", True), stated("it rains", "yes", "no", False)
EXPLAINED = stated("it rains", "yes", "no", False, "the sun shines")
CAUGHT = Control("no rain", (FALSE,))


@pytest.mark.parametrize(
    ("claims", "control", "data", "verdict"),
    [
        ((TRUE,), CAUGHT, (), REPRODUCED),
        ((TRUE, EXPLAINED), CAUGHT, (), DIFFERS),
        ((TRUE, FALSE), CAUGHT, (), FAILED),
        ((TRUE,), Control("no rain", (TRUE,)), (), FAILED),
        ((TRUE,), CAUGHT, (Data("rain"),), REPRODUCED),
        ((TRUE,), CAUGHT, (Data("rain", "a garden hose"),), DIFFERS),
        ((TRUE,), CAUGHT, (Data("rain", "a garden hose", obtainable=False),), NOT_PUBLIC),
        ((FALSE,), CAUGHT, (Data("rain", "a garden hose", obtainable=False),), NOT_PUBLIC),
        ((TRUE,), Control("no rain", (TRUE,)), (Data("rain", "a hose", obtainable=False),), FAILED),
    ],
)
def test_verdict(claims, control, data, verdict):
    assert Result(claims, control, "an umbrella", data).verdict == verdict


def test_reasons_name_the_stand_in_the_explanation_and_what_has_none():
    assert "a garden hose" in Result((TRUE,), CAUGHT, "", (Data("rain", "a garden hose"),)).reasons
    assert "the sun shines" in Result((EXPLAINED,), CAUGHT, "").reasons
    assert "Unexplained: it rains" in Result((FALSE,), CAUGHT, "").reasons
    assert "control passed" in Result((TRUE,), Control("no rain", (TRUE,)), "").reasons


@pytest.mark.parametrize(
    ("published", "ours", "holds"),
    [
        ("0.224", 0.22449, True),
        ("0.224", 0.22451, False),
        ("5.6", 5.5959, True),
        ("36", 36, True),
        ("36", 37, False),
        ("0.1", float("nan"), False),
    ],
)
def test_a_printed_number_must_be_met_within_its_rounding(published, ours, holds):
    assert printed("a number", published, ours).holds is holds


def test_a_wider_margin_must_be_asked_for():
    assert printed("a number", "1.44", 1.5, within=0.1).holds
    assert not printed("a number", "1.44", 1.5).holds
