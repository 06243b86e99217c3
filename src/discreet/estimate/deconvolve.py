"""The distribution of counts behind noisy ones: most likely, and Bayesian."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats

if TYPE_CHECKING:
    from discreet.estimate.evidence import Evidence

STEPS = 400  # many, since these iterations converge slowly
JEFFREYS = 0.5  # half a pseudo-row for each count: Jeffreys' prior for shares
TINY = 1e-300  # so that nothing is divided by zero


def most_likely(evidence: Evidence) -> Floats:
    """By maximum likelihood, from the rows and the measured distribution together where the noise is additive."""
    if evidence.transition is None:
        from discreet.distribution.refine import refine

        assert evidence.law is not None
        cumulative = evidence.cumulative if evidence.wholly_measured else None
        measured = evidence.cumulative_law if cumulative is not None else None
        return refine(evidence.histogram, evidence.law, cumulative, measured, smoothing=0.0)
    return expectation_maximisation(evidence.histogram, evidence.transition)


def expectation_maximisation(histogram: Floats, matrix: Floats, steps: int = STEPS) -> Floats:
    """Richardson's and Lucy's iteration: z_d <- z_d * mean over rows of T[d, seen] / (z T)[seen]."""
    share = np.full(len(matrix), 1 / len(matrix))
    weights = histogram / histogram.sum()
    for _ in range(steps):
        share = share * (matrix @ (weights / np.maximum(share @ matrix, TINY)))
        share = share / share.sum()
    return share


def posterior_mean(evidence: Evidence, steps: int = STEPS) -> Floats:
    """The mean of the distribution given the rows, under Jeffreys' prior centred by the measured distribution, if any.

    Variational Bayes: rows are shared out among true counts by the current weights, which follow from the shares.
    """
    from scipy.special import digamma

    base = _prior_weights(evidence)
    weights = base + evidence.rows * np.full(len(base), 1 / len(base))
    for _ in range(steps):
        strength = np.exp(digamma(weights) - digamma(weights.sum()))
        expected = np.maximum(strength @ evidence.matrix, TINY)
        weights = base + strength * (evidence.matrix @ (evidence.histogram / expected))
    shares: Floats = weights / weights.sum()
    return shares


def _prior_weights(evidence: Evidence) -> Floats:
    """Jeffreys' one half for each count, and as many pseudo-rows as the measured distribution is worth."""
    base = np.full(evidence.size, JEFFREYS)
    if evidence.cumulative is None or evidence.cumulative_law is None or not evidence.wholly_measured:
        return base
    from discreet.distribution.projections import isotonic

    rows = float(evidence.rows)
    share = isotonic(np.diff(evidence.cumulative, prepend=0.0, append=rows), rows)
    spread = float(np.mean(np.cumsum(share) * (1 - np.cumsum(share))))
    return base + share * min(rows, rows**2 * spread / evidence.cumulative_law.spread)
