"""The expected error of wide noise, by fewer values than it has."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.laws import Gaussian, Geometric
from discreet.mechanism import Mechanism, NoiseThenMap
from discreet.report.errors import errors_of


@pytest.mark.parametrize("scale", [10, 10**4, 10**9, 10**12])
def test_the_error_of_geometric_noise_is_its_mean_distance(scale: int) -> None:
    odds = 1 + Fraction(1, scale)
    found = errors_of(Mechanism("geometric", NoiseThenMap(Geometric(odds)))).typical
    assert found == pytest.approx(float(2 * odds / (odds**2 - 1)), rel=2e-3)


@pytest.mark.parametrize("deviation", [10, 10**4, 10**9])
def test_the_error_of_gaussian_noise_is_its_mean_distance(deviation: int) -> None:
    found = errors_of(Mechanism("discrete-gaussian", NoiseThenMap(Gaussian(Fraction(deviation) ** 2)))).typical
    assert found == pytest.approx(deviation * (2 / 3.141592653589793) ** 0.5, rel=2e-3)
