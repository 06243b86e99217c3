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


def better_rows(noisy: CellEstimates, share: Floats, near: Floats) -> Floats:
    """Rows from their cells, and from what else is known of them.

    Of most cells little is left open once the level above is known. So a row is known from its few large cells, better
    than from the row itself. `share` is the split that is expected: [node, row, column].

    That no cell is negative says more of a row than that it is not negative itself: `near` are cells that are not, and
    have the sums of the level above. But where cells are many and nearly all of them zero, those are all together far
    from the truth. So rows go as far towards them as has the least squared error: by Stein's lemma the error of a row
    and the way it would go have a covariance of minus the noise of the cells that became zero, as far as these are
    heard in the row.
    """
    noise = noisy.noise
    spread = prior_spread(noisy.cells, noise, np.maximum(noisy.rows, 0.0)[:, :, None] * share)
    precision = 1 / np.maximum(spread + noise, TINY)
    sharp, heard = precision * share, spread * precision
    slope = np.maximum(_over_columns(sharp * share), TINY)
    prior = (_over_columns(sharp * noisy.cells) / slope)[:, :, None] * share
    missed = _over_columns(noise * sharp)
    from_cells = 1 / np.maximum(_over_columns(heard * noise) + missed * missed / slope, TINY)
    alone = 1 / np.maximum(noisy.row_variance[:, None], TINY)
    from_row = np.maximum(alone - 1 / np.maximum(noise[:, :, 0] * np.float64(noisy.cells.shape[2]), TINY), 0.0)
    part = from_cells / (from_cells + from_row)
    rows = part * _over_columns(prior + heard * (noisy.cells - prior)) + (1 - part) * noisy.rows
    heard += (missed / slope)[:, :, None] * sharp
    heard *= noise
    heard[near > 0] = 0.0
    off = _over_columns(near - noisy.cells)
    return rows + off * np.minimum(folded(part * _over_columns(heard)) / np.maximum(folded(off * off), TINY), 1.0)


def _over_columns(values: Floats) -> Floats:
    return folded(np.moveaxis(values, 2, 0))
