"""Haar wavelets (Xiao et al. 2010): at every node of a binary tree the left half of its rows minus the right half.

On this integer scale their weights make the noise the same at every node. The sum at the root, all rows, is public.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers

SUMMARY = "Haar wavelet coefficients"
PROJECTION = "isotonic"


def answers(histogram: Integers) -> Integers:
    """From the finest level to the root."""
    level, out = np.pad(histogram, (0, _padded(len(histogram)) - len(histogram))), []
    while len(level) > 1:
        left, right = level[0::2], level[1::2]
        out.append(left - right)
        level = left + right
    return np.concatenate(out)


def sensitivity(bins: int) -> int:
    """A row that moves from bin f to f + 1 changes one node by two, where the bins part, and two nodes by one on every
    level below. In the middle they part highest, at the root."""
    return 2 * (_padded(bins).bit_length() - 1)


def squared(bins: int) -> int:
    """Four where the bins part, and two on every level below."""
    return 2 * (_padded(bins).bit_length() - 1) + 2


def estimate(noisy: NDArray[Any], rows: int, bins: int) -> Floats:
    level, end = np.array([float(rows)]), len(noisy)
    while len(level) < _padded(bins):
        differences = noisy[end - len(level) : end].astype(float)
        end -= len(level)
        level = np.stack([(level + differences) / 2, (level - differences) / 2], axis=1).ravel()
    return level[:bins]


def _padded(bins: int) -> int:
    return 1 << (bins - 1).bit_length()
