"""How far off a published count is, from the published mechanism alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.laws import NoiseLaw
from discreet.mechanism import LARGEST_MATRIX, Continued, EdgeThenNoise, Mechanism, NoiseThenMap
from discreet.public_map import SeenValues

ENOUGH_ROWS = 100  # with fewer, the published distribution is too rough to average errors over
MOST_LOOKED_AT = 5_000_000  # pairs of a published count and a true one
TINY = 1e-300  # a share that keeps a row in hand whose noisy value is beyond all counts that are expected
WIDEST_SUM = 100_000  # values; wider noise is so smooth that every so many of its values tell the sum


@dataclass(frozen=True)
class ColumnError:
    """The expected absolute error of a count of one column, where columns have noises of their own."""

    name: str
    rows: int
    typical: float | None


@dataclass(frozen=True, eq=False)
class Errors:
    """The expected absolute error of a published count, for each true count; and over all of them."""

    counts: Floats
    absolute: Floats
    typical: float | None  # None where nothing is known of the counts
    distribution: float | None = None  # of the distribution of the published counts, Wasserstein-1, where it is known
    apart: tuple[ColumnError, ...] = ()  # where there is none of all counts
    most: float | None = None  # what the typical one cannot be above, whatever the counts are


def errors_of(mechanism: Mechanism, shares: Floats | None = None) -> Errors:
    """By true count where there is a largest one; averaged over the published distribution where there is one."""
    form, top = mechanism.form, mechanism.max_count
    if isinstance(form, Continued):
        return Errors(np.arange(form.last + 1.0), _absolute(form.matrix()), None)
    if isinstance(form, NoiseThenMap) and (top is None or form.range != (0, top) or top + 1 > LARGEST_MATRIX):
        return _noise_alone(form.noise)
    if isinstance(form, EdgeThenNoise):
        top = form.beyond  # beyond it all counts are alike
        matrix = form.transition(top + 1)
    else:
        assert top is not None
        matrix = mechanism.matrix()
    counts, absolute = np.arange(top + 1.0), _absolute(matrix)
    weights = shares if shares is not None and len(shares) == len(counts) else None
    return Errors(counts, absolute, float(np.average(absolute, weights=weights)))


def where_rows_are(errors: Errors, published: SeenValues) -> Errors:
    """Of the true counts those that rows are likely to have: a published one is hardly further off than they are
    on average."""
    values, reach = np.asarray(published.values, dtype=float), (errors.typical or 0) + 1
    after = np.searchsorted(values, errors.counts)
    above = values[np.minimum(after, len(values) - 1)] - errors.counts
    below = errors.counts - values[np.maximum(after - 1, 0)]
    near = np.minimum(np.abs(above), np.abs(below)) <= reach
    return replace(errors, counts=errors.counts[near], absolute=errors.absolute[near])


def _absolute(matrix: Floats) -> Floats:
    true, seen = (np.arange(float(size)) for size in matrix.shape)
    errors: Floats = (np.abs(seen[None, :] - true[:, None]) * matrix).sum(axis=1)
    return errors


def averaged_continued(form: Continued, published: SeenValues) -> Errors:
    """The same where larger counts go on with one noise: from some count on, and some published one, all are alike."""
    from discreet.distribution.evidence import shares_behind

    down, up = form.reach
    same = form.last + up + 1  # what is published from here on comes from counts with the noise of the last row
    rows = form.upto(same + down).matrix()
    absolute = _absolute(rows)
    folded = np.column_stack([rows[:, :same], rows[:, same:].sum(axis=1)])
    shares = shares_behind(published.histogram(0, same), folded)
    known = replace(errors_of(Mechanism("", form)), typical=float(shares @ absolute))
    whole = int(published.values[-1]) < len(shares)  # beyond, shares are not told count by count
    return replace(known, distribution=_apart(published, shares)) if whole else known


def averaged(
    mechanism: Mechanism, published: SeenValues, prefix: Integers | None = None, prefix_noise: NoiseLaw | None = None
) -> Errors:
    """Averaged over the counts that published ones, and a measured distribution if there is one, let one expect.

    Not over the measured distribution alone: a mechanism that was made for it errs least where its noise has put rows.
    """
    from discreet.distribution.evidence import shares_behind

    found, matrix = errors_of(mechanism), mechanism.matrix()
    if prefix is None and (matrix == matrix[0]).all():
        return replace(found, typical=None)
    shares = shares_behind(published.histogram(0, matrix.shape[1] - 1), matrix, prefix, prefix_noise)
    return replace(found, typical=float(shares @ found.absolute), distribution=_apart(published, shares))


def seen_through(noisy: Integers, published: Integers, noise: NoiseLaw, shares: Floats) -> Errors | None:
    """Of counts that were made from noisy ones in whatever way: by what each noisy one lets one expect of the true one,
    where so large a share of rows has each count. None where that takes too long."""
    pairs, numbers = np.unique(np.stack([noisy, published]), axis=1, return_counts=True)
    reach = 4 * noise.centre[1]
    if pairs.shape[1] * (2 * reach + 1) > MOST_LOOKED_AT:
        return None
    true = np.maximum(pairs[0], -reach)[:, None] + np.arange(-reach, reach + 1)  # no count is below 0
    known = np.where((true >= 0) & (true < len(shares)), shares[np.clip(true, 0, len(shares) - 1)], 0.0)
    likely = np.log(np.maximum(known, TINY)) + noise.log_mass(np.arange(-reach, reach + 1.0))
    likely = np.where(true >= 0, likely, -np.inf)
    chances = np.exp(likely - likely.max(axis=1, keepdims=True))
    far = np.average(np.abs(true - pairs[1][:, None]), weights=chances, axis=1)
    return Errors(np.zeros(0), np.zeros(0), float(np.average(far, weights=numbers)))


def _apart(published: SeenValues, shares: Floats) -> float:
    """The Wasserstein distance of the published counts from those that are to be expected behind them."""
    size = max(len(shares), int(published.values[-1]) + 1)
    seen = published.histogram(0, size - 1) / published.rows
    return float(np.abs(np.cumsum(np.pad(shares, (0, size - len(shares)))) - np.cumsum(seen)).sum())


def _noise_alone(noise: NoiseLaw) -> Errors:
    mean = noise_size(noise)
    return Errors(np.array([0.0, 1.0]), np.array([mean, mean]), mean)


def noise_size(noise: NoiseLaw) -> float:
    """How far it leads on average, up or down."""
    reach = 4 * noise.centre[1]
    if reach <= WIDEST_SUM:
        return float(2 * (np.arange(reach + 1) * noise.masses(reach)).sum())
    values = np.linspace(0, reach, WIDEST_SUM + 1).round()
    return float(2 * (values * np.exp(noise.log_mass(values))).sum() * (reach / WIDEST_SUM))
