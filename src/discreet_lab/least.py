"""How narrow an interval can be that covers as often for every table: no oracle's, but the least of all honest ones.

An oracle that knows the table can be as narrow as it likes. One that must cover for every table cannot: a value of
which the noise would have shown nearly the same has to be inside nearly as often as the true one. The mean number of
values in an interval is the sum over all values of the chance that it holds each (Pratt 1961). That chance is at least
one less the power of the best test at 5% of a table with this value against the true one (Neyman and Pearson), of
whichever table is hardest to tell from it.

Where rows may be in any order, what is seen is a histogram, which is as good as normal here: its covariance is that of
fixed rows. So a table is as hard to tell as it is near in deviations, and the nearest one with a value is found by
least squares with no negative numbers.

Intervals of rows cover on average over rows. So a table that is spread out more, and can hardly be told from the true
one, asks for intervals that hold its rows: those values of a row whose chance under this table, in parts of the chance
of what is seen under the true one, is largest (Neyman and Pearson once more). Any such table gives a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.estimate.evidence import Evidence
from discreet.mechanism import NoiseThenMap

LEVEL = 0.95
HARDLY = 1e-3  # a chance to be inside that is no longer counted
FLAT = 1e-6  # of the largest variance: directions in which the histogram does not vary
FIRMLY = 1e3  # how much more a condition weighs than what is seen
GRID = 200  # of a share between 0 and 1
SPREADS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)  # deviations of a normal law by which rows of a table are moved
TINY = 1e-300  # so that no logarithm is infinite
SAME = 1e-6  # deviations: tables that are one and the same

Nearest = Callable[[int, float], float]  # deviations to a table with this number of rows of at most t


def nearest_tables(evidence: Evidence, truth: Integers) -> tuple[Nearest, Floats]:
    """How far off, in deviations, the nearest table is with so many rows of at most t; and the true numbers of rows."""
    from scipy.optimize import nnls

    _, rows, seen = _whitened(evidence, truth)
    counts = np.arange(len(rows))

    def nearest(t: int, number: float) -> float:
        sides = FIRMLY * np.abs(seen).max() * np.array([counts <= t, counts > t], dtype=float)
        wanted = FIRMLY * np.abs(seen).max() * np.array([number, rows.sum() - number])
        found, _ = nnls(np.vstack([seen, sides]), np.append(seen @ rows, wanted), maxiter=50 * len(rows))
        return float(np.linalg.norm(seen @ (found - rows)))

    return nearest, rows


def _whitened(evidence: Evidence, truth: Integers) -> tuple[Floats, Floats, Floats]:
    """T[true count, what is seen]; the true numbers of rows; and what one row of each count adds to all that is seen,
    in deviations."""
    matrix = _matrix(evidence, int(truth.max()))
    rows = np.bincount(truth, minlength=len(matrix)).astype(float)
    variance, along = np.linalg.eigh(np.diag(rows @ matrix) - matrix.T @ (rows[:, None] * matrix))
    told = variance > FLAT * variance.max()
    seen = (along[:, told] / np.sqrt(variance[told])).T @ matrix.T
    counts = np.arange(len(matrix))
    if evidence.cumulative is not None and evidence.cumulative_law is not None:
        upto = counts[None, :] <= np.arange(len(evidence.cumulative))[:, None]
        seen = np.vstack([seen, upto / np.sqrt(evidence.cumulative_law.spread)])
    return matrix, rows, seen


def _matrix(evidence: Evidence, largest: int) -> Floats:
    """T[true count, what is seen], as far as there are counts."""
    if evidence.transition is not None or evidence.top is not None or evidence.law is None:
        return evidence.matrix
    return NoiseThenMap(evidence.law, (0, max(evidence.size - 1, largest + 1))).matrix()


def least_share(evidence: Evidence, truth: Integers, t: int) -> float:
    """Of an interval of the share of rows with a count of at most t: its width, and one row."""
    nearest, rows = nearest_tables(evidence, truth)
    number, here = int(rows.sum()), int(rows[: t + 1].sum())
    ways = (range(here + 1, number + 1), range(here - 1, -1, -1))
    return (LEVEL + sum(_inside(nearest(t, value) for value in way) for way in ways)) / number


def least_quantile(evidence: Evidence, truth: Integers, share: float) -> float:
    """Of an interval of the smallest count that this share of rows do not exceed: how many counts are in it."""
    nearest, rows = nearest_tables(evidence, truth)
    needed, running = np.ceil(share * rows.sum()), np.cumsum(rows)
    true = int(np.searchsorted(running, needed))
    above = (nearest(t - 1, min(running[t - 1], needed - 1)) for t in range(true + 1, len(rows)))
    below = (nearest(t, max(running[t], needed)) for t in range(true - 1, -1, -1))
    return LEVEL + _inside(above) + _inside(below)


def least_row(evidence: Evidence, truth: Integers) -> float:
    """Of intervals of rows that cover on average over the rows of every table: their mean width, and one count."""
    matrix, rows, seen = _whitened(evidence, truth)
    others = (rows @ _moved(len(rows), spread) for spread in SPREADS)
    return max(_least_beside(matrix, rows, other, float(np.linalg.norm(seen @ (other - rows)))) for other in others)


def _least_beside(matrix: Floats, rows: Floats, other: Floats, away: float) -> float:
    """How many values intervals of a row have in the true table, if they cover in the other, so many deviations away.

    A value is inside where its chance, in parts of that of what is seen, is above a cut: the row's own part of the
    chance is known, and what the other rows tell has a normal logarithm.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr

    apart = max(away, SAME)
    both = (other / other.sum())[:, None] * matrix  # a row has this count, and is seen so
    shown = np.maximum(rows @ matrix / rows.sum(), TINY)
    odds = np.log(np.maximum(both, TINY)) - np.log(shown)
    far = apart**2 + float(np.abs(odds).max())

    def too_often(cut: float) -> float:
        return float((both * ndtr((odds - cut + apart**2 / 2) / apart)).sum()) - LEVEL

    cut = brentq(too_often, -far, far)
    return float((shown * ndtr((odds - cut - apart**2 / 2) / apart)).sum())


def _moved(size: int, spread: float) -> Floats:
    """From which count to which rows move by a normal law, within the range."""
    steps = np.arange(float(size))[:, None] - np.arange(float(size))[None, :]
    weights = np.exp(-0.5 * (steps / spread) ** 2) if spread else np.eye(size)
    moved: Floats = weights / weights.sum(axis=1, keepdims=True)
    return moved


def least_part(one: float, rest: float, covariance: Floats) -> float:
    """Of an interval of one / (one + rest), both of them not negative and seen with normal noise; or with noise that
    leaves their sum as it is."""
    from scipy.optimize import nnls

    parts, inside, both = (np.arange(GRID) + 0.5) / GRID, 0.0, np.array([one, rest])
    if np.ones(2) @ covariance @ np.ones(2) < FLAT * covariance.max():
        return sum(_chance(abs(part * (one + rest) - one) / np.sqrt(covariance[0, 0])) for part in parts) / GRID
    weights = np.linalg.inv(np.linalg.cholesky(covariance))
    for part in parts:
        along = weights @ np.array([part, 1 - part])
        inside += _chance(float(nnls(along[:, None], weights @ both)[1]))
    return inside / GRID


def _inside(distances: Iterable[float]) -> float:
    """The sum of chances to be inside, of values farther and farther away."""
    total = 0.0
    for distance in distances:
        chance = _chance(distance)
        total += chance
        if chance < HARDLY:
            break
    return total


def _chance(distance: float) -> float:
    """That the best test at 5% does not tell tables apart that are so many deviations away."""
    from scipy.special import ndtr, ndtri

    return float(ndtr(ndtri(LEVEL) - distance))
