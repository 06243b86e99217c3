"""What a verdict means, decided on made-up experiments."""

from __future__ import annotations

import numpy as np
import pytest

from discreet_lab.experiment import (
    DIFFERS,
    FAILED,
    NOT_PUBLIC,
    NOT_RESOLVED,
    REPRODUCED,
    SAME_ORDER,
    Control,
    Data,
    Result,
    of_order,
    printed,
    simulated,
    stated,
)

TRUE, FALSE = stated("it rains", "yes", "yes", True), stated("it rains", "yes", "no", False)
EXPLAINED = stated("it rains", "yes", "no", False, "the sun shines")
CAUGHT = (Control("no rain", (FALSE,)),)
PASSED = (Control("no rain", (TRUE,)),)
WET = stated("it is wet", "yes", "yes", True)
ABOUT, VAGUE = of_order("it rains", 100, 50, "mm"), printed("it rains", "0.02", 0.03, within=0.06)


@pytest.mark.parametrize(
    ("claims", "controls", "data", "verdict"),
    [
        ((TRUE,), CAUGHT, (), REPRODUCED),
        ((TRUE, EXPLAINED), CAUGHT, (), DIFFERS),
        ((TRUE, FALSE), CAUGHT, (), FAILED),
        ((TRUE,), PASSED, (), FAILED),
        ((TRUE,), (), (), FAILED),
        ((TRUE, WET), CAUGHT, (), FAILED),  # one caught claim does not cover for the other
        ((TRUE, WET), (*CAUGHT, Control("a desert", (stated("it is wet", "yes", "no", False),))), (), REPRODUCED),
        ((TRUE,), (*CAUGHT, Control("rain", (TRUE,))), (), FAILED),  # a control that fails nothing
        ((ABOUT,), CAUGHT, (), SAME_ORDER),
        ((VAGUE,), (), (), NOT_RESOLVED),
        ((ABOUT, VAGUE), CAUGHT, (), NOT_RESOLVED),
        ((ABOUT, EXPLAINED), CAUGHT, (), DIFFERS),
        ((TRUE,), CAUGHT, (Data("rain"),), REPRODUCED),
        ((TRUE,), CAUGHT, (Data("rain", "a garden hose"),), DIFFERS),
        ((TRUE,), CAUGHT, (Data("rain", "a garden hose", obtainable=False),), NOT_PUBLIC),
        ((FALSE,), CAUGHT, (Data("rain", "a garden hose", obtainable=False),), NOT_PUBLIC),
        ((TRUE,), PASSED, (Data("rain", "a hose", obtainable=False),), FAILED),
    ],
)
def test_verdict(claims, controls, data, verdict):
    assert Result(claims, controls, "an umbrella", data).verdict == verdict


def test_reasons_name_the_stand_in_the_explanation_and_what_has_none():
    assert "a garden hose" in Result((TRUE,), CAUGHT, "", (Data("rain", "a garden hose"),)).reasons
    assert "the sun shines" in Result((EXPLAINED,), CAUGHT, "").reasons
    assert "Unexplained: it rains" in Result((FALSE,), CAUGHT, "").reasons
    assert "control passed" in Result((TRUE,), PASSED, "").reasons
    assert "No control fails it: it is wet" in Result((TRUE, WET), CAUGHT, "").reasons


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


def test_a_margin_as_wide_as_the_number_resolves_nothing():
    assert printed("a gap", "0.024", 0.06, within=0.05).only == NOT_RESOLVED
    assert printed("a gap", "0.024", 0.03, within=0.02).only == ""
    assert printed("a gap", "0.024", 0.09, within=0.05).only == ""  # it differs: that much is resolved


def test_of_the_same_order_is_within_a_factor_of_four():
    assert [of_order("steps", 100, ours, "steps").holds for ours in (24, 25, 400, 401)] == [False, True, True, False]


def test_the_margin_of_few_replications_is_what_their_mean_varies_by():
    """Means of ten of standard normal numbers: three standard deviations are 0.95, and 0.005 for the rounding."""
    runs = np.random.default_rng(0).normal(5, 1, (2000, 1))
    claim = simulated("a mean", "5.90", runs, lambda means: float(means[0]), 10)
    margin = float(claim.published.split("±")[1])
    assert margin == pytest.approx(0.954, rel=0.1) and claim.holds
    assert not simulated("a mean", "6.20", runs, lambda means: float(means[0]), 10).holds
    assert not simulated("a mean", "5.90", runs, lambda means: float(means[0]), 100).holds


def test_a_wider_margin_must_be_asked_for():
    assert printed("a number", "1.44", 1.5, within=0.1).holds
    assert not printed("a number", "1.44", 1.5).holds
