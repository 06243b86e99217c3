"""Noise too wide to be written out has intervals that cover, and takes no memory for them."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.estimate.intervals import WIDEST, sum_half_width
from discreet.laws.geometric import Geometric
from discreet.numbers import epsilon_of


@pytest.mark.parametrize("terms", [1, 2, 5, 40])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_a_wide_sum_is_covered_and_not_by_much_more(terms: int, level: float) -> None:
    law = Geometric(epsilon_of("1e-7").odds())
    assert law.spread > WIDEST
    rng = np.random.default_rng(1)
    scale = np.sqrt(law.spread / 2)
    sums = np.abs(rng.laplace(0, scale, (100_000, terms)).sum(axis=1))
    reach = sum_half_width(level, law, terms)
    assert np.mean(sums <= reach) >= level - 4 * np.sqrt(level * (1 - level) / len(sums))
    assert reach <= 1.4 * np.quantile(sums, level), "the wider of one noise and normal: by 0.674 / 0.49 at most"
