"""What intervals are made of: characteristic functions against sums over all values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.laws import Gaussian, Geometric, NoiseLaw, Staircase
from discreet.levels.intervals import _wave
from discreet.privacy import Pure

LAWS = [
    Geometric(Fraction(101, 100)), Geometric(Fraction(3)), Geometric(Fraction(10**6)),
    Gaussian(Fraction(1, 5)), Gaussian(Fraction(4)), Gaussian(Fraction(300)),
    Staircase.calibrated(Pure(1)),
]  # fmt: skip


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_waves(law: NoiseLaw) -> None:
    steps, half = np.linspace(0, 15, 200), law.masses(4000)
    wanted = half[0] + 2 * (np.cos(np.outer(steps, np.arange(1, len(half)))) @ half[1:])
    np.testing.assert_allclose(_wave(law, steps), wanted, atol=1e-9)
