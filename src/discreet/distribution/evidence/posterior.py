"""What noisy counts, and a measurement of the distribution if there is one, say about the counts of these very rows.

The distribution that rows seem to be drawn from is fitted under many priors; each counts by its evidence. From it
follows the posterior of every row, and of the number F_l of rows with a count of at most l, for every l.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence.cells import MOST_CELLS, TINY, blur, cell_edges, seen_edges, spread_out, width_of
from discreet.distribution.evidence.factor import factor_of
from discreet.distribution.evidence.fit import Fit
from discreet.distribution.evidence.heaps import GUESSES, NoisyValues
from discreet.distribution.evidence.integrate import NARROW, laws_of
from discreet.distribution.evidence.prior import prior_of
from discreet.distribution.evidence.rows import Rows, rows_of
from discreet.distribution.evidence.search import explanations
from discreet.distribution.evidence.seen import Implied, MeasuredPrefix, Seen
from discreet.laws import NoiseLaw
from discreet.threads import one_thread

LEAST_SPREAD = 1e-4  # rows; no number of rows is known better than that
ROUNDING = 1e-13  # of the rows: the variance of what is measured is not below that of rounding, or it has no root
CRAMPED = 4  # widths of the noise: of a wider range it carries few rows from one end to the other
FEW_IN_NOISE = 4  # standard deviations of the noise: over a wider range noisy counts tell the law, however few they are
SLIGHT = 1e-3  # of the weight of all fits: those that have no more between them are left out of the average
UNFORESEEN = 1e-9  # of the rows may have any count, so that nothing is impossible


@dataclass(frozen=True, eq=False)
class Posterior:
    """Of the rows at hand. Counts are looked for in 0..len(shares)-1."""

    shares: Floats  # the distribution that rows seem to be drawn from
    mean: Floats  # E F_l, given all that was measured
    spread: Floats  # the standard deviation of F_l
    rows: Rows = field(repr=False)
    total: int
    ends: Integers  # the last counts of the cells
    together: Floats  # the correlations of F there
    cramped: bool = False  # whether counts were cut to a range that is hardly wider than the noise
    against: float = math.inf  # nats by which the noisy counts speak against having themselves the rows' distribution

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
    with one_thread():
        return _posterior(histogram, low, noise, largest, cut, prefix, prefix_noise)


def _posterior(
    histogram: Integers | Floats, low: int, noise: NoiseLaw, largest: int, cut: bool, prefix: Integers | None,
    prefix_noise: NoiseLaw | None,
) -> Posterior:  # fmt: skip
    values, rows = np.arange(low, low + len(histogram)), np.asarray(histogram, dtype=float)
    folded: Floats = np.bincount(np.clip(values, 0, largest), weights=rows, minlength=largest + 1).astype(float)
    edges = cell_edges(folded, noise)
    measured = None if prefix is None or prefix_noise is None else _at_edges(prefix, prefix_noise, edges, rows.sum())
    if noise.decay is not None:
        rows, low = folded, 0
    seen_at = seen_edges(edges, noise, low, low + len(rows) - 1)
    seen = Seen(_in_cells(rows, low, seen_at), blur(edges, seen_at, noise), np.diff(edges).astype(float), measured)
    prior = prior_of(edges, width_of(noise), cut)
    told = NoisyValues(rows, low, noise).roundings if measured is None else lambda _: GUESSES
    fits = explanations(seen, prior, np.add.reduceat(folded, edges[:-1]), cut, told)
    shares, mean, covariance, own = _averaged(edges, fits)
    each = rows_of(shares, rows, low, noise)
    found = _of_these_rows(each, shares, mean, covariance, own, edges, measured is None)
    found = replace(found, cramped=cut and largest <= CRAMPED * width_of(noise))
    if measured is not None or largest > min(NARROW, FEW_IN_NOISE * math.sqrt(noise.spread)):
        return found
    return replace(found, against=_against(seen, folded, fits))


def _weighty(fits: list[Fit]) -> list[Fit]:
    """The best ones, without as many of the others as have next to no weight between them."""
    order = sorted(fits, key=lambda one: one.evidence)
    weights = np.exp([one.evidence - order[-1].evidence for one in order])
    slight = int(np.searchsorted(np.cumsum(weights), SLIGHT * weights.sum()))
    return order[slight:]


def _against(seen: Seen, noisy: Floats, fits: list[Fit]) -> float:
    """By how much the likeliest law is likelier than that of the noisy counts as they are; over few counts."""
    best = max(one.inside.log_likelihood(one.log_density) for one in fits)
    return best - seen.log_likelihood(np.log(noisy / noisy.sum() + TINY))


def shares_behind(
    histogram: Integers | Floats, matrix: Floats, prefix: Integers | None = None, prefix_noise: NoiseLaw | None = None
) -> Floats:
    """The expected share of these rows that have each count, where count i became the value j with chance matrix[i, j],
    as `histogram[j]` rows did."""
    rows, edges = np.asarray(histogram, dtype=float), _even_edges(len(matrix))
    widths = np.diff(edges).astype(float)
    mixed = np.add.reduceat(matrix, edges[:-1], axis=0) / widths[:, None]
    measured = None if prefix is None or prefix_noise is None else _at_edges(prefix, prefix_noise, edges, rows.sum())
    seen = Seen(rows, np.maximum(mixed, TINY), widths, measured)
    start = widths * (rows.sum() / len(matrix))
    with one_thread():
        mean = _averaged(edges, explanations(seen, prior_of(edges, 1.0, True), start, True, lambda _: ()))[1]
    each: Floats = np.maximum(np.diff(mean, prepend=0.0), 0.0) / widths
    return np.repeat(each / (each @ widths), np.diff(edges))


def _even_edges(size: int) -> Integers:
    return np.arange(size + 1) if size <= MOST_CELLS else np.linspace(0, size, MOST_CELLS + 1).astype(np.int64)


def _at_edges(prefix: Integers, noise: NoiseLaw, edges: Integers, total: float) -> MeasuredPrefix | None:
    """The measured prefixes that end with a cell."""
    last = edges[1:-1] - 1
    cells = np.flatnonzero(last < len(prefix))
    variance = np.full(len(cells), max(noise.spread, LEAST_SPREAD**2, ROUNDING * total))
    return MeasuredPrefix(cells + 1, prefix[last[cells]].astype(float), variance) if len(cells) else None


def _in_cells(rows: Floats, low: int, edges: Integers) -> Floats:
    upto = np.pad(np.cumsum(rows), (1, 0))[np.clip(edges - low, 0, len(rows))]
    upto[0], upto[-1] = 0, rows.sum()
    return np.diff(upto)


def _averaged(edges: Integers, fits: list[Fit]) -> tuple[Floats, Floats, Floats, Floats]:
    """The distribution of every count; of F at the ends of the cells the mean, the covariance beyond that of rows whose
    law is known, and that of such rows."""
    fits = _weighty(fits)
    evidence = np.array([one.evidence for one in fits])
    weights, size = np.exp(evidence - evidence.max()), len(edges) - 1
    weights, shares = weights / weights.sum(), np.zeros(edges[-1])
    means, covariances = np.zeros((len(fits), size)), np.zeros((2, size, size))
    for k, one in enumerate(fits):
        narrow = edges[-1] <= NARROW + 1 and one.seen.measured is None
        law, mean, *given = (_over_all_laws if narrow else _given)(one.inside, one)
        shares += weights[k] * spread_out(one.log_density, law, one.cells, edges)
        upto = np.searchsorted(one.cells, np.arange(size), side="right")
        means[k] = np.append(0.0, mean)[upto]
        for sum_of, part in zip(covariances, given):
            sum_of += weights[k] * (part if len(part) == size else np.pad(part, (1, 0))[np.ix_(upto, upto)])
    centre = weights @ means
    apart = (means - centre) * np.sqrt(weights)[:, None]
    unforeseen = UNFORESEEN / len(shares)
    return (1 - UNFORESEEN) * shares + unforeseen, centre, covariances[0] + apart.T @ apart, covariances[1]


def _over_all_laws(seen: Seen, one: Fit) -> tuple[Floats, Floats, Floats, Floats]:
    """The law to be expected; of F at the ends of cells the mean and both covariances, over all laws."""
    laws, chance = laws_of(one)
    law, expected = laws @ chance, laws * (seen.blur @ (seen.rows / (laws.T @ seen.blur)).T)
    mean, own = np.cumsum(expected @ chance), seen.covariance(Implied(law, law @ seen.blur, expected @ chance))
    apart = (np.cumsum(expected, axis=0) - mean[:, None]) * np.sqrt(chance)
    return law, mean, apart @ apart.T, own


def _given(seen: Seen, one: Fit) -> tuple[Floats, Floats, Floats, Floats]:
    """The likeliest law; of F at the ends of cells the mean and both covariances, if F follows the law by its slope."""
    at = seen.expectation(one.log_density)
    mean, own = np.cumsum(at.rows), seen.covariance(at)
    slopes = np.diff(own, prepend=0.0) @ one.basis
    if seen.measured is not None:
        padded, first = np.pad(own, (1, 0)), seen.measured.cells
        spread = factor_of(padded[np.ix_(first, first)] + np.diag(seen.measured.variance))
        residual = spread.forward(seen.measured.prefix - np.append(0.0, mean)[first])
        gain = spread.forward(padded[first, 1:]).T
        told = spread.forward(np.pad(slopes, ((1, 0), (0, 0)))[first])
        mean, slopes, own = mean + gain @ residual, slopes - gain @ told, own - gain @ gain.T
    moved = one.precision.factor.forward(slopes.T)
    return at.shares, mean, moved.T @ moved, own


def _of_these_rows(
    each: Rows, shares: Floats, mean: Floats, covariance: Floats, own: Floats, edges: Integers, unmeasured: bool
) -> Posterior:
    """At every count: by the rows themselves, moved to where a measurement puts the ends of the cells."""
    counts, ends, total = np.arange(len(shares)), edges[1:] - 1, float(each.upto[-1])
    centre = each.mean if unmeasured else each.mean + np.interp(counts, ends, mean - each.mean[ends])
    unknown = covariance if unmeasured else covariance + own
    beyond = np.interp(counts, ends, np.maximum(np.diag(unknown), 0))
    spread = np.maximum(np.sqrt(beyond + (each.own if unmeasured else 0.0)), LEAST_SPREAD)
    rising = np.clip(np.maximum.accumulate(centre), 0, total)
    rising[-1] = total  # a noisy value so far beyond the range that no count in it explains it is put at its end
    return Posterior(shares, rising, spread, each, round(total), ends, _correlations(covariance + own))


def _correlations(covariance: Floats) -> Floats:
    spread = np.sqrt(np.maximum(np.diag(covariance), LEAST_SPREAD**2))
    return np.asarray(covariance / np.outer(spread, spread), dtype=float)
