"""Back to a distribution: every privatizer ends with noisy bins, some negative, that need not sum to the rows.

`isotonic` and `median` work on the cumulative histogram, which must not fall: pooling neighbours that violate the order
removes most of the noise in sparse tails. `median` is the fit in absolute values: the most likely histogram under
Laplace noise, and integer when the measurements are.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput


def clip(bins: Floats, rows: float) -> Floats:
    """Negative bins to zero, the rest scaled to sum to one."""
    return _scaled(np.maximum(bins, 0))


def simplex(bins: Floats, rows: float) -> Floats:
    """The nearest distribution in squared distance."""
    share = np.asarray(bins, dtype=float) / rows
    falling = np.sort(share)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(share) + 1)
    kept = np.flatnonzero(falling > excess)[-1]
    return _scaled(np.maximum(share - excess[kept], 0))


def isotonic(bins: Floats, rows: float) -> Floats:
    """The nearest non-decreasing cumulative histogram in squared distance, kept within 0..rows."""
    from scipy.optimize import isotonic_regression

    prefix = np.cumsum(bins)[:-1]
    return _from_prefix(np.asarray(isotonic_regression(prefix).x), rows)


def median(bins: Floats, rows: float) -> Floats:
    """The nearest non-decreasing cumulative histogram in absolute distance, kept within 0..rows."""
    return _from_prefix(isotonic_median(np.cumsum(bins)[:-1]), rows)


def isotonic_median(values: Floats) -> Floats:
    """Non-decreasing fit that minimises the sum of absolute errors; its values are among those given.

    Of all such fits the largest: a heap holds the slope of the best loss as a function of the last fitted value.
    """
    heap: list[float] = []
    tops = np.empty(len(values))
    for i, value in enumerate(values):
        heapq.heappush(heap, -value)
        if -heap[0] > value:
            heapq.heapreplace(heap, -value)
        tops[i] = -heap[0]
    return np.minimum.accumulate(tops[::-1])[::-1]


def integer_bins(distribution: Floats, rows: int) -> Integers:
    """The distribution times the number of rows, in whole numbers that sum to it: prefix sums are rounded, so that each
    is right to half a row."""
    return np.diff(integer_cumulative(np.cumsum(distribution) * rows, rows, 0.5), prepend=0)


def _from_prefix(prefix: Floats, rows: float) -> Floats:
    bins = np.diff(np.clip(prefix, 0, rows), prepend=0.0, append=rows)
    return np.maximum(bins, 0) / max(rows, 1.0)


def _scaled(values: Floats) -> Floats:
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1 / len(values))


PROJECTIONS: dict[str, Callable[[Floats, float], Floats]] = {
    "clip": clip,
    "simplex": simplex,
    "isotonic": isotonic,
    "median": median,
}


def integer_cumulative(fit: ArrayLike, total: int, u: float) -> Integers:
    """Round cumulative counts with one shared uniform u: monotone, and right on average. The last is the total."""
    if not 0 <= u < 1:
        raise BadInput(f"cumulative counts were to be rounded with u = {u}", "u must lie in [0, 1)")
    rounded = np.floor(np.maximum.accumulate(np.asarray(fit, dtype=float)) + u)
    out = np.clip(rounded, 0, total).astype(np.int64)
    out[-1] = total
    return out
