"""Convolution by blocks, beside the sum that it stands for."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.distribution.convolve import convolved


@pytest.mark.parametrize("sizes", [(1, 1), (5, 3), (3, 9), (1000, 7), (1000, 300), (40, 2000), (4096, 1024)])
def test_every_sum_is_there(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    values, kernel = (rng.random(size) for size in sizes)
    direct = np.convolve(values, kernel)
    np.testing.assert_allclose(convolved(values, kernel), direct, rtol=1e-11)
    both = convolved(np.column_stack([values, -2 * values]), kernel)
    np.testing.assert_allclose(both, np.column_stack([direct, -2 * direct]), rtol=1e-11)


def test_what_is_small_and_far_from_the_large_is_right() -> None:
    values, kernel = np.full(2000, 1e-18), np.full(11, 1 / 11)
    values[:5] = 1.0
    np.testing.assert_allclose(convolved(values, kernel)[100:1900], 1e-18, rtol=1e-9)
