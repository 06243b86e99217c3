"""Noisy numbers of rows with a count of at most i. One person moves exactly one of them by one.

Known for count-of-counts histograms since Hay et al. (2010) and Kuo et al. (2018). The last one is the public number of
rows and gets no noise. The order constraint, used by the isotonic projection, removes most noise in sparse tails.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers

SUMMARY = "cumulative counts, kept in order"
PROJECTION = "median"


def answers(histogram: Integers) -> Integers:
    return np.cumsum(histogram)[:-1]


def sensitivity(bins: int) -> int:
    return 1


def squared(bins: int) -> int:
    return 1


def estimate(noisy: NDArray[Any], rows: int, bins: int) -> Floats:
    return np.diff(noisy.astype(float), prepend=0.0, append=float(rows))
