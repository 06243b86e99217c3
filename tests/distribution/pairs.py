"""A privatizer of somebody else: numbers of rows with a count of at most 0, 1, 2, ..., every other one of them doubled.

One file, one registration. Doubling makes the two sensitivities differ.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from discreet.distribution.privatizer import register

SUMMARY = "cumulative counts, every other one doubled"
PROJECTION = "isotonic"


def _weights(size: int) -> Any:
    return 1 + np.arange(size) % 2


def answers(histogram: Any) -> Any:
    return np.cumsum(histogram)[:-1] * _weights(len(histogram) - 1)


def sensitivity(bins: int) -> int:
    return 1 if bins == 2 else 2


def squared(bins: int) -> int:
    return 1 if bins == 2 else 4


def estimate(noisy: Any, rows: int, bins: int) -> Any:
    return np.diff(noisy / _weights(bins - 1), prepend=0.0, append=float(rows))


register("pairs", sys.modules[__name__])
