"""Prefix counts under any known matrix: the inverse is damped, and the bias that damping leaves widens the interval."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.estimate.evidence import Evidence
from discreet.estimate.prefix import FLOOR, Prefix
from discreet.laws import NoiseLaw

LARGEST_INVERSE = 400  # counts; beyond it a damped inverse costs more than it tells
DAMPINGS = np.geomspace(1e-9, 1e1, 11)  # from next to nothing to nearly everything, a factor of ten apart
UNMEASURED = 1e200  # variance of what was not measured: it counts for nothing
SPREAD_OUT = 0.1  # share of the uniform distribution in the weights of the filter: the prior is not the truth


def regularised(evidence: Evidence) -> Prefix:
    """For each question the damping with the shortest interval; then weighed against the measured distribution."""
    if evidence.law is not None and evidence.size > LARGEST_INVERSE and evidence.wholly_measured:
        return _as_measured(evidence, evidence.law)
    matrix, rows, size = evidence.matrix, evidence.rows, evidence.size
    wanted = _questions(size)[np.maximum(np.arange(size), evidence.least)]
    likely = (1 - SPREAD_OUT) * evidence.prior + SPREAD_OUT / size
    best = None
    for damping in DAMPINGS:
        filters = _filters(matrix, wanted, likely, damping)
        means = matrix @ filters
        variance = rows * (evidence.prior @ (matrix @ filters**2 - means**2)) + FLOOR
        bias = rows * np.abs(means - wanted).max(axis=0)
        found = np.stack([evidence.histogram @ filters, variance, bias])
        score = 2 * np.sqrt(variance) + bias
        if best is None:
            best, lowest = found, score
        else:
            better = score < lowest
            best, lowest = np.where(better, found, best), np.minimum(score, lowest)
    assert best is not None
    estimate, variance, bias = best
    if evidence.cumulative is None or evidence.cumulative_law is None:
        return Prefix(estimate, np.zeros(size), variance, bias, None)
    noise, known = evidence.cumulative_law.spread, min(len(evidence.cumulative), size - 1)
    measured, noises = np.zeros(size), np.full(size, UNMEASURED)
    measured[:known], noises[:known] = evidence.cumulative[:known], noise
    if known == size - 1:
        measured[-1], noises[-1] = evidence.cumulative[:known].sum(), noise * known
    share = (variance + bias**2) / (variance + bias**2 + noises)
    single = share * (np.arange(size) < size - 1)
    rest = (1 - share) ** 2 * variance + share**2 * noises - single**2 * noises
    combined = share * measured + (1 - share) * estimate
    return Prefix(combined, single, np.maximum(rest, 0), (1 - share) * bias, evidence.cumulative_law)


def _as_measured(evidence: Evidence, law: NoiseLaw) -> Prefix:
    """Over a wide range: the measured distribution alone, and for the sum of all the noisy values of the rows."""
    assert evidence.cumulative is not None and evidence.cumulative_law is not None
    steps = evidence.size - 1
    whole = evidence.rows * steps - evidence.sum
    alone, none = np.append(np.ones(steps), 0.0), np.zeros(steps)
    rest = np.append(none, evidence.rows * law.spread)
    return Prefix(np.append(evidence.cumulative, whole), alone, rest, np.append(none, 0.0), evidence.cumulative_law)


def _questions(size: int) -> Floats:
    """Columns: is the count at most t, for t = 0..size-2; and the sum of these."""
    below = (np.arange(size)[:, None] <= np.arange(size - 1)[None, :]).astype(float)
    return np.column_stack([below, below.sum(axis=1)])


def _filters(matrix: Floats, wanted: Floats, likely: Floats, damping: float) -> Floats:
    """g with (T g)(true) near wanted(true), damped where g would be large."""
    seen = likely @ matrix
    normal = matrix.T @ (likely[:, None] * matrix) + damping * np.diag(np.maximum(seen, 1e-12))
    solved: Floats = np.linalg.solve(normal, matrix.T @ (likely[:, None] * wanted)).astype(np.float64)
    return solved
