"""Two bins in closed form, against integration and enumeration. 003, example 4.1, table 2 and appendix A."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from discreet.errors import BadInput
from discreet_lab.baselines.two_bin import conditioned, projected_l1, projected_l2, whole_laws

LAWS = [conditioned("0.7"), projected_l2("0.7"), *(projected_l1("0.7", b) for b in ("0", "0.2", "1/2", "0.9", "1"))]


def test_published_variances():
    """003, table 2: 2/eps^2, 4/eps^2 and [4, 8]/eps^2."""
    epsilon = Fraction(1, 3)
    assert conditioned(epsilon).variance * epsilon**2 == 2
    assert projected_l2(epsilon).variance * epsilon**2 == 4
    assert [projected_l1(epsilon, w).variance * epsilon**2 for w in (0, Fraction(1, 2), 1)] == [8, 4, 8]


def test_published_levels_of_privacy():
    """003, appendix A: eps, eps and eps / (2 max(b, 1-b))."""
    assert conditioned(2).attained_epsilon == 2
    assert projected_l2(2).attained_epsilon == 2
    assert projected_l1(2, Fraction(3, 4)).attained_epsilon == Fraction(4, 3)
    assert projected_l1(2, 0).attained_epsilon == 1


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_density_has_mass_one_and_the_stated_variance(law):
    mass = 2 * quad(law.density, 0, 150)[0]
    second = 2 * quad(lambda u: u * u * law.density(u), 0, 150, limit=200)[0]
    assert mass == pytest.approx(1)
    assert second == pytest.approx(float(law.variance), rel=1e-6)


@pytest.mark.parametrize("weight", ["0.2", "1/2", "0.9"])
@pytest.mark.parametrize("u", [0.0, 0.5, 3.0])
def test_density_is_that_of_the_mixture(weight, u):
    law, b = projected_l1("0.7", weight), float(Fraction(weight))
    scale = 2 / 0.7

    def laplace(x):
        return math.exp(-abs(x) / scale) / (2 * scale)

    parts = [quad(lambda v: laplace(v) * laplace((u - (1 - b) * v) / b) / b, lo, hi, limit=200)[0]
             for lo, hi in ((-120, 0), (0, u / (1 - b)), (u / (1 - b), 120))]  # fmt: skip
    assert law.density(u) == pytest.approx(sum(parts), rel=1e-6)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_attained_epsilon_is_reached_and_not_exceeded(law):
    grid = np.linspace(-40, 40, 4001)
    loss = [abs(math.log(law.density(u) / law.density(u - 1))) for u in grid]
    assert max(loss) <= float(law.attained_epsilon) + 1e-9
    assert max(loss) >= 0.95 * float(law.attained_epsilon)


RATIO = Fraction(1, 2)
REACH = 80


def enumerated(weight):
    """The law of u by summing over both noises, exactly but for tails of 2^-80."""
    single = {k: (1 - RATIO) / (1 + RATIO) * RATIO ** abs(k) for k in range(-REACH, REACH + 1)}
    if weight is None:
        total = sum(single[k] * single[-k] for k in single)
        return {Fraction(k): single[k] * single[-k] / total for k in single}
    found: dict[Fraction, Fraction] = {}
    for one, chance in single.items():
        for other, also in single.items():
            u = weight * one - (1 - weight) * other
            found[u] = found.get(u, Fraction(0)) + chance * also
    return found


@pytest.mark.parametrize("law", whole_laws(RATIO), ids=lambda law: law.name)
def test_whole_laws_agree_with_enumeration(law):
    listed = enumerated(law.weight)
    for u in (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(-3), Fraction(9, 2), Fraction(1, 3)):
        assert abs(law.chance(u) - listed.get(u, 0)) < Fraction(1, 2**60)
    spread = sum(u * u * chance for u, chance in listed.items())
    assert abs(spread - law.variance) < Fraction(1, 2**50)


@pytest.mark.parametrize("law", whole_laws(RATIO), ids=lambda law: law.name)
def test_whole_laws_attain_their_odds(law):
    support = [Fraction(k, 2) for k in range(-200, 201) if law.chance(Fraction(k, 2))]
    ratios = [law.chance(u) / law.chance(u - 1) for u in support]
    assert max(ratios) <= law.attained_odds
    assert max(ratios) > law.attained_odds * Fraction(98, 100)


@given(st.fractions(Fraction(1, 50), Fraction(49, 50)))
def test_conditioning_always_has_the_least_variance(ratio):
    given_total, l2, l1 = whole_laws(ratio)
    assert given_total.variance < l2.variance < l1.variance


def test_bad_parameters_are_explained():
    with pytest.raises(BadInput, match="greater than zero"):
        conditioned(0)
    with pytest.raises(BadInput, match="between 0 and 1"):
        projected_l1(1, 2)
