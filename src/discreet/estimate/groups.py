"""Totals of groups of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.estimate.answers import Answer
from discreet.estimate.evidence import Evidence
from discreet.estimate.intervals import half_width, sum_half_width

UNBIASED = 1e-6  # a bias of published counts that comes from rounding: they are taken as they are


def group_totals(evidence: Evidence, values: list[Any], level: float) -> dict[Any, Answer]:
    """The sum of what is seen in a group is unbiased, and its noise is a sum of known noises."""
    places: dict[Any, int] = {value: k for k, value in enumerate(dict.fromkeys(values))}
    group = np.array([places[value] for value in values])
    sizes = np.bincount(group)
    unbiased, widths = _unbiased(evidence, sizes, level)
    sums = np.bincount(group, weights=unbiased)
    answers = {}
    for value, k in places.items():
        most = np.inf if evidence.top is None else float(sizes[k] * evidence.top)
        low, high = np.clip([sums[k] - widths[sizes[k]], sums[k] + widths[sizes[k]]], 0.0, most)
        answers[value] = Answer(float(np.clip(sums[k], 0.0, most)), (float(low), float(high)), level)
    return answers


def _unbiased(evidence: Evidence, sizes: Any, level: float) -> tuple[Floats, dict[int, float]]:
    """A value for each row whose mean is the true count, and the half width for a group of each size."""
    distinct = [int(size) for size in np.unique(sizes)]
    if evidence.law is not None:
        law = evidence.law
        return evidence.seen.astype(float), {size: sum_half_width(level, law, size) for size in distinct}
    matrix = evidence.matrix
    counts, values = np.arange(len(matrix), dtype=float), np.arange(float(matrix.shape[1]))
    if np.abs(matrix @ values - counts).max() > UNBIASED:
        values = np.linalg.lstsq(matrix, counts, rcond=1e-6)[0]
    means = matrix @ values
    variance = float(evidence.prior @ (matrix @ values**2 - means**2))
    bias = float(np.abs(means - counts).max())
    widths = {size: half_width(level, None, 0.0, size * variance) + size * bias for size in distinct}
    return values[evidence.seen], widths
