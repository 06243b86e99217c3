"""What is already known of a table's cells, combined with what was measured: linear empirical Bayes.

A child is expected to be split as its parent is, a margin as its own sums say. A cell varies around such a prior p by
p + c p^2, as counts do whose rates vary; c is found by moments, over all that stands along the first axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.levels.fixed import folded

LEAST_VARIATION = 1e-4  # nothing is exactly as expected
USUAL_VARIATION = 0.1  # what the weights of the moments assume: ten times more or less changes little
SLIGHT = 1 / 64  # of a count: what a cell may be off
TINY = 1e-9  # below every variance that matters: quotients stay finite


@dataclass(frozen=True, eq=False)
class CellEstimates:
    """Estimates of cells, and of the rows that they add up to; the noise of both."""

    cells: Floats  # [node, row, column]
    rows: Floats  # [node, row]
    variance: Floats  # [node]: of a cell
    row_variance: Floats  # [node]: of a row

    @property
    def noise(self) -> Floats:
        """Of a cell, if what is known of the row were left aside; [node, 1, 1]."""
        width = np.float64(self.cells.shape[2])
        if width == 1:
            return self.variance[:, None, None]
        inside = (self.variance - self.row_variance / (width * width)) * (width / (width - 1))
        return np.maximum(inside, 0.0)[:, None, None]

    @property
    def alone(self) -> Floats:
        """The precision of what is known of a row by itself; [node, 1]."""
        from_cells = 1 / np.maximum(self.noise[:, :, 0] * np.float64(self.cells.shape[2]), TINY)
        return np.maximum(1 / np.maximum(self.row_variance[:, None], TINY) - from_cells, 0.0)


def prior_spread(cells: Floats, noise: Floats, prior: Floats) -> Floats:
    """How far the cells are from their prior, noise apart; each is heard as far as its own variance allows."""
    square, excess = prior * prior, cells - prior
    expected = np.maximum(noise + prior + USUAL_VARIATION * square, TINY)
    part = square / expected
    excess *= excess  # in place, as below: of millions of cells
    excess -= noise
    excess -= prior
    excess *= part
    excess /= expected
    part *= part
    square *= np.maximum(folded(excess) / np.maximum(folded(part), TINY), LEAST_VARIATION)
    square += prior
    return square


def posterior(cells: Floats, noise: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Cells drawn towards the prior, and the variance that is left."""
    spread = prior_spread(cells, noise, prior)
    weight = spread + noise
    np.divide(spread, weight, out=weight, where=noise > 0)
    weight[np.broadcast_to(noise <= 0, weight.shape)] = 1.0
    near = cells - prior
    near *= weight
    near += prior
    weight *= noise
    return near, weight


def better_rows(noisy: CellEstimates, share: Floats, fitting: Floats) -> Floats:
    """Rows from their cells, and from what else is known of them.

    Of most cells little is left open once the level above is known. So a row is known from its few large cells, better
    than from the row itself. `share` is the split that is expected, and `fitting` are the cells less as much as makes
    those above zero add up to the level above: [node, row, column].

    That no cell is negative says more of a row than that it is not negative itself. But where cells are many and nearly
    all of them zero, cells that are not negative are all together far from the truth. So rows go as far towards them as
    has the least squared error.
    """
    noise = noisy.noise
    spread = prior_spread(noisy.cells, noise, np.maximum(noisy.rows, 0.0)[:, :, None] * share)
    precision = spread + noise
    np.divide(1, np.maximum(precision, TINY, out=precision), out=precision)
    sharp, heard = precision * share, np.multiply(spread, precision, out=spread)
    slope = np.maximum(_over_columns(sharp * share), TINY)
    prior = (_over_columns(sharp * noisy.cells) / slope)[:, :, None] * share
    open_ = noise[:, :, 0] * _over_columns(sharp)
    from_cells = 1 / np.maximum(noise[:, :, 0] * _over_columns(heard) + open_ * open_ / slope, TINY)
    part = from_cells / (from_cells + noisy.alone)
    expected = np.subtract(noisy.cells, prior, out=precision)
    expected *= heard
    expected += prior
    rows = part * _over_columns(expected) + (1 - part) * noisy.rows
    sharp *= (open_ / slope)[:, :, None]
    heard += sharp
    heard *= noise
    return rows + heard_rows(noisy, fitting, part[:, :, None] * heard)


def heard_rows(noisy: CellEstimates, fitting: Floats, covariance: Floats) -> Floats:
    """What rows are to be changed by because none of their cells is negative; the covariance is of a row's estimate
    with each cell's. Where a cell is set to zero, the row follows as far as it is not known by itself."""
    ratio = noisy.noise[:, :, 0] * noisy.alone
    near = not_negative(fitting, noisy.rows, ratio)
    gone = (near <= 0).astype(np.float64)
    left = gone.shape[2] - _over_columns(gone)
    gone *= covariance
    return towards(_over_columns(near) - noisy.rows, _over_columns(gone) / (1 + ratio * left))


def not_negative(cells: Floats, rows: Floats, ratio: Floats) -> Floats:
    """The nearest cells that are not negative, where rows are known by themselves, too.

    `ratio` is the variance of a cell's noise over that of the row's. Cells that are not below zero any more raise the
    row; as far as this is known, its other cells give way, all alike. By how much is the root of a convex function, and
    Newton's steps lead to it from one side.
    """
    down = np.zeros_like(rows)
    for _ in range(cells.shape[2] + 2):
        near = cells - down[:, :, None]
        np.maximum(near, 0.0, out=near)
        over = ratio * (_over_columns(near) - rows) - down
        if np.abs(over).max() <= SLIGHT:
            break
        down += over / (1 + ratio * _over_columns((near > 0).astype(np.float64)))
    return near


def towards(way: Floats, covariance: Floats) -> Floats:
    """As far along a way as has the least squared error, all rows together: by Stein's lemma, what they start from and
    their ways have a covariance of minus that of the start and the cells that the way sets to zero."""
    square = folded((way * way).reshape(-1))
    return way * np.minimum(folded(covariance.reshape(-1)) / np.maximum(square, TINY), 1.0)


def _over_columns(values: Floats) -> Floats:
    return folded(np.moveaxis(values, 2, 0))
