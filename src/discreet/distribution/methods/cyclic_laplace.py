"""Kohli and Laskowski's cyclic Laplace: bin i gets L_i - L_(i+1), the last bin L_(n-1) - L_0.

The same as noisy cumulative counts in which the known zero before the first bin is noisy too: all noise terms enter
through prefix sums, of which one person changes exactly one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers

SUMMARY = "noise passed between neighbouring bins, round the circle"
PROJECTION = "clip"  # as published


def answers(histogram: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(histogram)[:-1]])


def sensitivity(bins: int) -> int:
    return 1


def squared(bins: int) -> int:
    return 1


def estimate(noisy: NDArray[Any], rows: int, bins: int) -> Floats:
    prefix = noisy.astype(float)
    return np.diff(prefix, append=rows + prefix[0])
