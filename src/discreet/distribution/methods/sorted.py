"""The counts themselves in ascending order, with noise, put back in order (Hay et al. 2010, 'unattributed histograms').

One person changes one entry of the sorted list by one. Better than `cumulative` only for few rows with huge counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers

SUMMARY = "the sorted counts, kept in order"
PROJECTION = "clip"


def answers(histogram: Integers) -> Integers:
    return np.repeat(np.arange(len(histogram)), histogram)


def sensitivity(bins: int) -> int:
    return 1


def squared(bins: int) -> int:
    return 1


def estimate(noisy: NDArray[Any], rows: int, bins: int) -> Floats:
    from scipy.optimize import isotonic_regression

    ordered = np.rint(isotonic_regression(noisy.astype(float)).x).astype(np.int64)
    return np.bincount(np.clip(ordered, 0, bins - 1), minlength=bins).astype(float)
