"""The laws that come with the package: their distribution functions, and their draws of any width."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.build.explicit import explicit
from discreet.errors import BadInput
from discreet.laws import Gaussian, Geometric, NoiseLaw, Staircase, draw_noise, least_epsilon
from discreet.laws.gaussian import least_variance
from discreet.numbers import SMALLEST_EPSILON, Epsilon
from discreet.privacy import Approximate, Concentrated, Pure
from discreet.privacy.convert import rho_for
from discreet.sample.bits import secure
from discreet.sample.contract import assert_sampler_law, assert_shares


@given(st.fractions(Fraction(51, 50), 5, max_denominator=50), st.integers(-40, 40), st.integers(1, 90))
def test_laws_enclose_their_distribution_function(odds: Fraction, k: int, bits: int) -> None:
    for law in (Geometric(odds), Staircase(odds, Fraction(1, 3))):
        low, high = law.below(k, bits)
        assert low <= law.chance_below(k) * 2**bits <= high <= low + 1
        assert law.chance_below(k) > law.chance_below(k - 1)
    centre = Geometric(odds)
    mass = centre.chance_below(k) - centre.chance_below(k - 1)
    a = 1 / odds
    assert mass == (1 - a) / (1 + a) * a ** abs(k)


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(2), Fraction(50)])
def test_the_gaussian_encloses_its_distribution_function(variance: Fraction) -> None:
    from flint import arb, ctx

    law = Gaussian(variance)
    with ctx.workprec(400):
        rate = -arb(variance.denominator) / (2 * variance.numerator)
        masses = [(rate * k * k).exp() for k in range(200)]
        total = masses[0] + 2 * sum(masses[1:], arb(0))
        for k in (-9, -2, -1, 0, 1, 5, 12):
            below = sum((masses[abs(i)] for i in range(-199, k + 1)), arb(0)) / total * arb(2) ** 64
            low, high = law.below(k, 64)
            assert arb(low) - 1 < below < arb(high) + 1 and high - low <= 1
            assert low <= int(below.floor().unique_fmpz()) <= high


@pytest.mark.parametrize("odds", [Fraction(1), Fraction(1, 2), Fraction(0), Fraction(-2)])
def test_a_law_that_is_none_is_refused(odds: Fraction) -> None:
    with pytest.raises(BadInput, match="odds must be above 1"):
        Geometric(odds)
    with pytest.raises(BadInput, match="odds must be above 1"):
        Staircase(odds, Fraction(1, 3))
    with pytest.raises(BadInput, match="variance must be above 0"):
        Gaussian(odds - 1)
    with pytest.raises(BadInput, match="step share"):
        Staircase(Fraction(2), Fraction(1, 2))


def test_noise_that_may_not_fit_is_refused() -> None:
    zeros = np.zeros(3, dtype=np.int64)
    with pytest.raises(BadInput, match="that can be drawn"):
        Geometric(1 + Fraction(1, 1 << 60)).add(zeros, secure())
    with pytest.raises(BadInput, match="that can be drawn"):
        Gaussian(Fraction(1 << 120)).add(zeros, secure())
    with pytest.raises(BadInput, match="that can be drawn"):
        Staircase(1 + Fraction(1, 10**6), Fraction(1, 3)).add(zeros, secure())


# Laws through the production source of bits. Each must also be told from a law that is wrong by a few per cent.


def geometric_mass(odds: float) -> Callable[[int], float]:
    return lambda k: (odds - 1) / (odds + 1) * odds ** -abs(k)


def gaussian_mass(variance: float) -> Callable[[int], float]:
    reach = np.arange(-int(40 * variance**0.5) - 5, int(40 * variance**0.5) + 6, dtype=float)
    total = float(np.exp(-(reach**2) / (2 * variance)).sum())
    return lambda k: float(np.exp(-(k**2) / (2 * variance)) / total)


@pytest.mark.parametrize("odds", [Fraction(27, 10), Fraction(11, 10), Fraction(101, 100)])
def test_narrow_geometric_noise_has_its_law(odds: Fraction) -> None:
    right, wrong = geometric_mass(float(odds)), geometric_mass(1 + 1.05 * (float(odds) - 1))
    assert_sampler_law(lambda size: draw_noise(Geometric(odds), size, secure()), right, size=600_000, wrong=wrong)


def test_wide_geometric_noise_has_its_law() -> None:
    odds = 1 + Fraction(1, 20_000)  # too wide for a table: drawn digit by digit
    assert Geometric(odds).centre[1] > 3000
    drawn, step = draw_noise(Geometric(odds), 400_000, secure()), 1000

    def cells(scale: float) -> Callable[[int], float]:
        ratio = 1 / (1 + float(odds - 1) * scale)

        def below(k: int) -> float:
            return ratio**-k / (1 + ratio) if k < 0 else 1 - ratio ** (k + 1) / (1 + ratio)

        return lambda cell: below((cell + 1) * step - 1) - below(cell * step - 1)

    assert_sampler_law(lambda _: drawn // step, cells(1), size=len(drawn), wrong=cells(1.06))
    # the last digit of a wide draw is nearly uniform: a lost digit would show
    lost = [1 + sign * 0.1 for sign in (1, -1) for _ in range(128)]
    assert_shares(np.bincount(drawn % 256, minlength=256), np.ones(256), lost)


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(9), Fraction(400)])
def test_narrow_gaussian_noise_has_its_law(variance: Fraction) -> None:
    right, wrong = gaussian_mass(float(variance)), gaussian_mass(1.05 * float(variance))
    assert_sampler_law(lambda size: draw_noise(Gaussian(variance), size, secure()), right, size=1_200_000, wrong=wrong)


def test_wide_gaussian_noise_has_its_law() -> None:
    from scipy.stats import norm

    variance = Fraction(10**6)
    assert Gaussian(variance).centre[1] > 3000
    drawn = draw_noise(Gaussian(variance), 100_000, secure())

    def share(deviation: float) -> Callable[[int], float]:
        # so wide a discrete Gaussian is the normal law to many digits
        return lambda c: float(
            norm.cdf((c + 1) * 100 - 0.5, scale=deviation) - norm.cdf(c * 100 - 0.5, scale=deviation)
        )

    assert_sampler_law(lambda _: drawn // 100, share(1000), size=len(drawn), wrong=share(1060))


def test_staircase_noise_has_its_law() -> None:
    law = Staircase(Fraction(2), Fraction(2, 5))

    def mass(gamma: Fraction) -> Callable[[int], float]:
        other = Staircase(Fraction(2), gamma)
        return lambda k: float(other.chance_below(k) - other.chance_below(k - 1))

    zeros = np.zeros(600_000, dtype=np.int64)
    assert_sampler_law(
        lambda size: law.add(zeros[:size], secure()), mass(law.gamma), size=600_000, wrong=mass(Fraction(3, 10))
    )


# What noise costs.


@given(
    st.sampled_from([Geometric(Fraction(3, 2)), Geometric(Fraction(4)), Staircase(Fraction(2), Fraction(1, 3))]),
    st.fractions(Fraction(1, 50), 4, max_denominator=50),
    st.integers(1, 15),
)
def test_the_least_delta_is_the_sum_of_all_excesses(law: Geometric | Staircase, epsilon: Fraction, shift: int) -> None:
    """The specification: every output by itself; where masses are geometric, outputs are alike and summed at once."""
    asked, reach = Epsilon(value=epsilon), 3
    factor = asked.bounds(96)[0]

    def excess(first: int, last: int) -> Fraction:
        near, far = (law.chance_below(k) for k in (last, first - 1)) if first > -reach else (law.chance_below(last), 0)
        moved = law.chance_below(last - shift) - (law.chance_below(first - 1 - shift) if first > -reach else 0)
        return max(Fraction(0), near - far - factor * moved)

    found = excess(-reach, -reach) + sum(excess(k, k) for k in range(1 - reach, reach + shift))
    assert law.delta(asked, shift) == found


@pytest.mark.parametrize("units", [1, 2, 7])
def test_calibration_rounds_towards_privacy(units: int) -> None:
    epsilon, delta = Epsilon(value=Fraction(2, 3)), Fraction(1, 10**6)
    each = epsilon.times(Fraction(1, units))
    assert Geometric.calibrated(Pure(epsilon), units) == Geometric(each.odds())
    assert Staircase.calibrated(Pure(epsilon), units) == Staircase(
        each.odds(), 1 / (1 + each.times(Fraction(1, 2)).odds())
    )
    assert Gaussian.calibrated(Concentrated("1/8"), units) == Gaussian(Fraction(4 * units**2))
    rho = rho_for(Fraction(2, 3), delta)
    wanted = least_variance(epsilon, delta) if units == 1 else units**2 / (2 * rho)
    assert Gaussian.calibrated(Approximate(epsilon, delta), units).variance == wanted


def test_prices_of_many_units_are_not_written_out() -> None:
    law = Geometric.calibrated(Pure(1), 10**6)
    price = law.price(10**6).epsilon
    assert price.value is not None and Fraction(999_999, 10**6) < price.value <= 1
    assert law.price(3).epsilon == Epsilon(ratio=law.odds**3)
    assert law.delta(Epsilon(value=Fraction(1, 2)), 1000) == 0


def test_wide_laws_know_their_spread_without_summing() -> None:
    assert Geometric(1 + Fraction(1, 10**9)).spread == pytest.approx(2e18, rel=1e-6)
    assert Gaussian(Fraction(10**20)).spread == 1e20
    assert Gaussian(Fraction(10**20)).log_mass(np.array([0.0]))[0] == pytest.approx(-np.log(2 * np.pi * 1e20) / 2)


@pytest.mark.parametrize(
    "law", [Gaussian(Fraction(20)), Geometric(Fraction(2)), Staircase(Fraction(2), Fraction(1, 3))]
)
def test_a_delta_that_would_do_alone_needs_no_epsilon(law: NoiseLaw) -> None:
    """The search for the smallest epsilon halves it for ever, unless it ends at the smallest that may be asked for."""
    alone = law.delta(Epsilon(value=SMALLEST_EPSILON))
    for delta in (alone, (1 + alone) / 2):
        assert least_epsilon(law, delta) == SMALLEST_EPSILON
    assert least_epsilon(law, alone * Fraction(9, 10)) > SMALLEST_EPSILON


def test_rational_probabilities_are_refused_where_there_are_none() -> None:
    with pytest.raises(BadInput, match="irrational"):
        Gaussian(Fraction(2)).chance_below(0)
    with pytest.raises(BadInput, match="weights of discrete-gaussian noise"):
        _ = explicit("discrete-gaussian", 4, rho=1).weights
