"""Reference shapes of a distribution of counts, for planning before any count is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers


def mostly_zero(max_count: int) -> Floats:
    """Half of the rows are zero, the rest fall off quickly: rare events by area."""
    tail = np.exp(-np.arange(max_count + 1) / max(1.0, max_count / 10))
    tail[0] = 0
    return _scaled(np.concatenate([[1.0], tail[1:] / tail.sum()]))


def bell(max_count: int) -> Floats:
    """Around the middle of the range, an eighth of it wide."""
    place = (np.arange(max_count + 1) - max_count / 2) / max(1.0, max_count / 8)
    return _scaled(np.exp(-(place**2) / 2))


def flat(max_count: int) -> Floats:
    """Every count alike."""
    return np.full(max_count + 1, 1 / (max_count + 1))


def long_tail(max_count: int) -> Floats:
    """A power law: many small counts and a few at every size."""
    return _scaled(np.arange(1.0, max_count + 2) ** -1.5)


SHAPES: dict[str, Callable[[int], Floats]] = {
    "mostly-zero": mostly_zero,
    "bell": bell,
    "flat": flat,
    "long-tail": long_tail,
}


def rows_of(distribution: Floats, rows: int) -> Integers:
    """Counts of `rows` rows spread over the distribution as evenly as whole rows can be."""
    upper = np.cumsum(distribution)
    places = (np.arange(rows) + 0.5) / rows * upper[-1]
    counts: Integers = np.minimum(np.searchsorted(upper, places), len(distribution) - 1)
    return counts


def _scaled(weights: NDArray[Any]) -> Floats:
    shares: Floats = weights / weights.sum()
    return shares
