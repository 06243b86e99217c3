"""What a row that is seen at each value adds to a number of rows: on average never too much, or never too little.

For the lower end of an interval a number may be told too small, but not too large; for the upper one the reverse. So
the inverse of a matrix need not be right for every count, only not wrong in one direction: that leaves much less
variance, above all where most counts do not occur. Of all such values those are taken that are nearest, by what is
likely to be seen, to the posterior chance of being one of the rows that are counted. They are never out of reach: 0
counts none too many, and 1 misses none.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.estimate.evidence import Evidence
from discreet.estimate.regularised import SPREAD_OUT

STEPS = 50  # of the search, for every count


def counted(evidence: Evidence, t: int, too_many: bool, heaviest: float = np.inf) -> Floats:
    """Values of what is seen whose mean is at most that of whether a count is at most t, or at least it (`too_many`),
    whatever the count; none of them beyond the heaviest, in either direction."""
    matrix, size = evidence.matrix, evidence.size
    wanted = (np.maximum(np.arange(size), evidence.least) <= t).astype(float)
    likely = (1 - SPREAD_OUT) * evidence.prior + SPREAD_OUT / size
    seen, shown = likely @ matrix, evidence.prior @ matrix
    posterior = (likely * wanted) @ matrix / np.maximum(seen, np.finfo(float).tiny)
    # the variance of a row, and the bias of all rows together, which adds up: a square of both
    square = np.diag(np.maximum(seen, 1e-12)) + evidence.rows * np.outer(shown, shown)
    missing = float(evidence.prior @ wanted - shown @ posterior)
    centre = posterior + np.linalg.solve(square, evidence.rows * missing * shown)
    sign = 1.0 if too_many else -1.0
    root = np.linalg.cholesky(square)

    def nearest(rows: Floats, least: Floats) -> Floats:
        """To the centre, of all with rows @ values >= least."""
        moved = _least_distance(np.linalg.solve(root, rows.T).T, least - rows @ centre)
        return np.asarray(centre + np.linalg.solve(root.T, moved), dtype=float)

    values = nearest(sign * matrix, sign * wanted)
    if (sign * values).max() > heaviest:  # to cut these would lose the direction
        alone = -sign * np.eye(len(centre))
        values = nearest(np.vstack([sign * matrix, alone]), np.append(sign * wanted, np.full(len(centre), -heaviest)))
    return np.clip(values, -heaviest, heaviest)


def _least_distance(rows: Floats, least: Floats) -> Floats:
    """The shortest z with rows @ z >= least (Lawson and Hanson)."""
    from scipy.optimize import nnls

    stacked = np.vstack([rows.T, least[None, :]])
    wanted = np.zeros(len(stacked))
    wanted[-1] = 1.0
    weights, _ = nnls(stacked, wanted, maxiter=STEPS * len(rows))
    rest = stacked @ weights - wanted
    shortest: Floats = -rest[:-1] / rest[-1]
    return shortest
