"""A distribution over few counts, averaged over all that it may be.

Where noise is wider than the whole range, noisy counts say little: nearly any distribution may be behind them, and the
most likely one is often at the edge of what there can be, where a normal approximation takes it for certain. So laws
are taken from that approximation at fixed points, and each counts by how likely it really is.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.distribution.evidence.fit import Fit

NARROW = 15  # the largest count: over more of them noise tells the law, or the points would be too few
POINTS = 256  # and as many opposite to them; the mean of a share is then known to one or two hundredths
STEPS = np.sqrt(np.array([2.0, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53]))  # irrational to each other
NOTHING = 1e-9  # of the largest direction of a basis: one that moves no law


def laws_of(one: Fit) -> tuple[Floats, Floats]:
    """Laws of the cells of a fit, a column each, and how much each of them counts."""
    from scipy.linalg import solve_triangular
    from scipy.special import ndtri

    seen = one.inside
    _, sizes, directions = np.linalg.svd(one.basis, full_matrices=False)
    turned = directions[sizes > NOTHING * sizes[0]].T
    points: Floats = ndtri(np.modf(np.outer(STEPS[: turned.shape[1]], np.arange(1, POINTS + 1)))[0])
    points = np.column_stack([points, -points])
    root = np.linalg.cholesky(turned.T @ one.precision.matrix @ turned)
    moves = solve_triangular(root, points, lower=True, trans="T")
    density = one.log_density[:, None] + one.basis @ (turned @ moves)
    laws = seen.widths[:, None] * np.exp(density - density.max(axis=0))
    laws /= laws.sum(axis=0)
    weights = (turned.T @ one.weights)[:, None] + moves
    likely = seen.rows @ np.log(laws.T @ seen.blur).T - 0.5 * (weights**2 - points**2).sum(axis=0)
    chance = np.exp(likely - likely.max())
    return laws, chance / chance.sum()
