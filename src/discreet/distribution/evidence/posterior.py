"""What noisy counts, and a measurement of the distribution if there is one, say about the counts of these very rows.

The distribution that rows seem to be drawn from is fitted under many priors; each counts by its evidence. From it
follows the posterior of every row, and of the number F_l of rows with a count of at most l, for every l.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence.cells import blur, cell_edges, seen_edges, spread_out, width_of
from discreet.distribution.evidence.fit import Fit, Measured, Seen, fit
from discreet.distribution.evidence.prior import prior_of
from discreet.distribution.evidence.rows import Rows, rows_of
from discreet.laws import NoiseLaw

ROUGHNESS = 10.0 ** np.arange(0, 3.6, 0.5)  # of the smooth curve: from a trend to the noise's own width
NO_SPIKES, SPIKES = 0.03, (0.5, 1.5)  # standard deviation of a logarithm at every count: 3%, half, or four times
WORTHLESS = 12.0  # nats below the best: a weight of one in 160,000, so it matters nowhere that one falls out
LEAST_SPREAD = 0.05  # rows; no number of rows is known better than that


@dataclass(frozen=True, eq=False)
class Posterior:
    """Of the rows at hand. Counts are looked for in 0..len(shares)-1."""

    shares: Floats  # the distribution that rows seem to be drawn from
    mean: Floats  # E F_l, given all that was measured
    spread: Floats  # the standard deviation of F_l
    rows: Rows = field(repr=False)
    total: int

    @property
    def distribution(self) -> Floats:
        """The expected share of the rows that have each count."""
        shares: Floats = np.diff(self.mean, prepend=0.0) / self.total
        return shares


def posterior(
    histogram: Integers | Floats, low: int, noise: NoiseLaw, largest: int, *, cut: bool = False,
    prefix: Integers | None = None, prefix_noise: NoiseLaw | None = None,
) -> Posterior:  # fmt: skip
    """`histogram[k]` rows have the noisy value low + k. Counts are looked for in 0..largest; `cut`: larger ones were
    treated as it before the noise. `prefix`: noisy numbers of rows with a count of at most 0, 1, ..."""
    values, rows = np.arange(low, low + len(histogram)), np.asarray(histogram, dtype=float)
    folded: Floats = np.bincount(np.clip(values, 0, largest), weights=rows, minlength=largest + 1).astype(float)
    edges = cell_edges(folded, noise)
    measured = None if prefix is None or prefix_noise is None else _at_edges(prefix, prefix_noise, edges)
    if noise.decay is not None:
        rows, low = folded, 0
    seen_at = seen_edges(edges, noise, low, low + len(rows) - 1)
    seen = Seen(_in_cells(rows, low, seen_at), blur(edges, seen_at, noise), np.diff(edges).astype(float), measured)
    weights, fits = _weighed(list(_fits(seen, edges, folded, noise, cut)))
    shares, mean, variance = _averaged(seen, edges, weights, fits)
    each = rows_of(shares, rows, low, noise)
    return _of_these_rows(each, shares, mean, variance, edges, measured is None)


def _at_edges(prefix: Integers, noise: NoiseLaw, edges: Integers) -> Measured | None:
    """The measured prefixes that end with a cell."""
    last = edges[1:-1] - 1
    cells = np.flatnonzero(last < len(prefix))
    return Measured(cells, prefix[last[cells]].astype(float), noise.spread) if len(cells) else None


def _in_cells(rows: Floats, low: int, edges: Integers) -> Floats:
    upto = np.pad(np.cumsum(rows), (1, 0))[np.clip(edges - low, 0, len(rows))]
    upto[0], upto[-1] = 0, rows.sum()
    return np.diff(upto)


def _fits(seen: Seen, edges: Integers, folded: Floats, noise: NoiseLaw, cut: bool) -> Iterator[Fit]:
    """Smooth priors of every roughness; then, near the best of them, with spikes."""
    believed = prior_of(edges, width_of(noise), cut)
    rows, widths = np.add.reduceat(folded, edges[:-1]), np.diff(edges)
    raw = np.log((rows + 0.5) / widths) - np.log((rows.sum() + 0.5 * len(rows)) / edges[-1])
    doubt = np.diag(1 / (rows + 0.1))
    for curve in range(len(believed.curves)):
        smooth: dict[int, Fit] = {}
        for k, roughness in enumerate(ROUGHNESS):
            covariance = believed.covariance(curve, roughness, NO_SPIKES)
            start = covariance @ np.linalg.solve(covariance + doubt, raw) if not smooth else smooth[k - 1].log_density
            smooth[k] = fit(seen, covariance, start)
            if smooth[k].evidence < max(one.evidence for one in smooth.values()) - WORTHLESS:
                break
        yield from smooth.values()
        best = max(smooth, key=lambda k: smooth[k].evidence)
        for strength in SPIKES:
            for k in range(max(0, best - 1), min(len(ROUGHNESS), best + 2)):
                start = smooth.get(k, smooth[best]).log_density
                yield fit(seen, believed.covariance(curve, float(ROUGHNESS[k]), strength), start)


def _weighed(fits: list[Fit]) -> tuple[Floats, list[Fit]]:
    evidence = np.array([one.evidence for one in fits])
    kept = np.flatnonzero(evidence > evidence.max() - WORTHLESS)
    weights = np.exp(evidence[kept] - evidence.max())
    return weights / weights.sum(), [fits[k] for k in kept]


def _averaged(seen: Seen, edges: Integers, weights: Floats, fits: list[Fit]) -> tuple[Floats, Floats, Floats]:
    """The distribution of every count; the mean and the variance of F at the ends of the cells."""
    shares, means, variances = np.zeros(edges[-1]), [], []
    for weight, one in zip(weights, fits):
        law, noisy, expected = seen.expectation(one.log_density)
        shares += weight * spread_out(one.log_density, law, edges)
        mean, variance = _given(seen, one, law, noisy, expected)
        means.append(mean)
        variances.append(variance)
    centre = weights @ np.array(means)
    spread = weights @ (np.array(variances) + (np.array(means) - centre) ** 2)
    return shares, centre, np.maximum(spread, 0)


def _given(seen: Seen, one: Fit, law: Floats, noisy: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """F at the ends of cells under one fit: its mean, and its variance beyond that of rows whose law is known."""
    slopes, mean, own = np.cumsum(seen.covariance(law, noisy, expected), axis=0), np.cumsum(expected), 0.0
    if seen.measured is not None:
        at, spread = seen.measured.cells, np.cumsum(slopes, axis=1)
        noise = seen.measured.variance * np.eye(len(at))
        gain = np.linalg.solve(spread[np.ix_(at, at)] + noise, spread[at]).T
        own = np.diag(spread) - (gain * spread[:, at]).sum(axis=1)
        mean = mean + gain @ (seen.measured.prefix - mean[at])
        slopes = slopes - gain @ slopes[at]
    inner = np.linalg.solve(np.eye(len(law)) + one.covariance @ one.information, one.covariance)
    return mean, ((slopes @ inner) * slopes).sum(axis=1) + own


def _of_these_rows(
    each: Rows, shares: Floats, mean: Floats, variance: Floats, edges: Integers, unmeasured: bool
) -> Posterior:
    """At every count: by the rows themselves, moved to where a measurement puts the ends of the cells."""
    counts, ends, total = np.arange(len(shares)), edges[1:] - 1, float(each.upto[-1])
    centre = each.mean if unmeasured else each.mean + np.interp(counts, ends, mean - each.mean[ends])
    spread = np.interp(counts, ends, variance) + (each.own if unmeasured else 0.0)
    rising = np.clip(np.maximum.accumulate(centre), 0, total)
    return Posterior(shares, rising, np.maximum(np.sqrt(spread), LEAST_SPREAD), each, round(total))
