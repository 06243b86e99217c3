"""Distances between distributions of counts, and errors of single counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import BadInput


def w1(one: Any, other: Any) -> float:
    """Wasserstein-1: the area between the two distribution functions, in units of a count."""
    return float(np.abs(_prefix_gap(one, other)).sum())


def ks(one: Any, other: Any) -> float:
    """Kolmogorov-Smirnov: the largest gap between the two distribution functions."""
    return float(np.abs(_prefix_gap(one, other)).max())


def total_variation(one: Any, other: Any) -> float:
    """Half the sum of absolute differences."""
    first, second = _pair(one, other)
    return float(np.abs(first - second).sum() / 2)


def _prefix_gap(one: Any, other: Any) -> Floats:
    first, second = _pair(one, other)
    return np.cumsum(first - second)


def _pair(one: Any, other: Any) -> tuple[Floats, Floats]:
    """Both as probabilities on the same counts: divided by their sums, the shorter padded with zeros."""
    first, second = _normal(one), _normal(other)
    size = max(len(first), len(second))
    return np.pad(first, (0, size - len(first))), np.pad(second, (0, size - len(second)))


def _normal(histogram: Any) -> Floats:
    values = np.asarray(histogram, dtype=float)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all() or (values < 0).any() or values.sum() <= 0:
        raise BadInput(
            "a distance between distributions was asked for", "one of them is not a histogram or distribution"
        )
    shares: Floats = values / values.sum()
    return shares
