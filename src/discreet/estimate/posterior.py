"""The posterior of each row's true count: the published distribution as prior, the row's noisy value as evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.estimate.evidence import Evidence
from discreet.estimate.intervals import sum_half_width

if TYPE_CHECKING:
    from discreet.estimate.steady import SteadyNoise

CHUNK = 1 << 24  # cells of the table of posteriors held at once
FEW_ROWS = 3  # within reach of a noisy value, its own row among them: fewer tell no prior


@dataclass(frozen=True, eq=False)
class RowEstimates:
    """For every row: the posterior mean, the posterior median, and a credible interval."""

    mean: Floats
    median: Integers
    low: Integers
    high: Integers
    level: float


def row_estimates(evidence: Evidence, level: float) -> RowEstimates:
    """Rows with the same noisy value share one posterior, so only distinct values are worked out."""
    if evidence.steady is not None and evidence.law is None:
        return _with_large(evidence, evidence.steady, level)
    values, inverse = np.unique(evidence.seen, return_inverse=True)
    tail = (1 - level) / 2
    found = np.empty((len(values), 4))
    chunk, inside = max(1, CHUNK // evidence.size), len(values)
    if len(evidence.beyond):
        inside = int(np.searchsorted(values, evidence.size))
        found[inside:] = _alone(evidence, values[inside:], level)
    for start in range(0, inside, chunk):
        table = posteriors(evidence, values[start : min(start + chunk, inside)])
        running = np.cumsum(table, axis=1)
        place = slice(start, start + len(table))
        for k, share in enumerate((0.5, tail, 1 - tail)):
            found[place, k + 1] = np.minimum((running < share - 1e-12).sum(axis=1), evidence.size - 1)
        found[place, 0] = table @ np.arange(evidence.size)
    if evidence.law is not None:
        found[:, 2:] = _no_surer_than_its_noise(evidence, values, found[:, 2:], level)
    mean, median, low, high = found[inverse.reshape(-1)].T
    median, low, high = (part.astype(np.int64) for part in (median, low, high))
    return RowEstimates(mean, median, low, high, level)


def _no_surer_than_its_noise(evidence: Evidence, values: Integers, ends: Floats, level: float) -> Floats:
    """Intervals, as wide as the noise alone leaves them where hardly any row is near: there the prior was made from
    the noisy value itself, and says nothing that it does not say."""
    assert evidence.law is not None
    reach, size = int(np.ceil(sum_half_width(level, evidence.law, 1))), evidence.size
    upto = np.concatenate([[0.0], np.cumsum(_raised(evidence.prior, evidence.least))]) * evidence.rows
    near = upto[np.clip(values + reach + 1, 0, size)] - upto[np.clip(values - reach, 0, size)]
    alone = (near < FEW_ROWS) & (values - reach >= evidence.least) & (values < size)
    low = np.where(alone, np.minimum(ends[:, 0], values - reach), ends[:, 0])
    high = np.where(alone, np.maximum(ends[:, 1], values + reach), ends[:, 1])
    return np.column_stack([low, high if evidence.top is None else np.minimum(high, evidence.top)])


def _with_large(evidence: Evidence, noise: SteadyNoise, level: float) -> RowEstimates:
    """Small counts as if there were no others; of larger ones nothing is known but what is seen of each."""
    from discreet.estimate.steady import MARGIN, cut_to

    end = noise.settled + MARGIN
    found, large = row_estimates(cut_to(evidence, noise, 0, end)[1], level), evidence.seen >= end
    below, middle, above = (evidence.seen + step for step in noise.interval(level))
    mean = np.where(large, evidence.seen - noise.bias, found.mean)
    median, low, high = (
        np.where(large, alone, one)
        for alone, one in ((middle, found.median), (below, found.low), (above, found.high))
    )  # fmt: skip
    return RowEstimates(mean, median, low, high, level)


def _alone(evidence: Evidence, values: Integers, level: float) -> Floats:
    """Of rows so far from all others that nothing is known but their own noisy values."""
    assert evidence.law is not None
    width = sum_half_width(level, evidence.law, 1)
    return np.column_stack([values, values, values - width, values + width]).astype(float)


def posteriors(evidence: Evidence, values: Integers) -> Floats:
    """P(true count | noisy value), a row for each value."""
    if evidence.transition is not None:
        if values.min() < 0 or values.max() >= evidence.transition.shape[1]:
            raise BadInput("a posterior was asked for", "that value cannot have been published")
        weights = np.log(np.maximum(evidence.transition[:, values].T, 1e-300))
    else:
        assert evidence.law is not None
        weights = evidence.law.log_mass(values[:, None] - np.arange(float(evidence.size))[None, :])
    with np.errstate(divide="ignore"):
        weights = weights + np.log(_raised(evidence.prior, evidence.least))[None, :]
    weights = np.exp(weights - weights.max(axis=1, keepdims=True))
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _raised(prior: Floats, least: int) -> Floats:
    """Of counts that are raised to `least` where they are smaller."""
    if not least:
        return prior
    raised = prior.copy()
    raised[min(least, len(prior) - 1)] += prior[:least].sum()
    raised[: min(least, len(prior) - 1)] = 0.0
    return raised
