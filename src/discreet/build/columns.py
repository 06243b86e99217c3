"""The best private mechanism with a fixed point, for any cost, column by column.

Every column of the mechanism is a combination of scales, and only the n row sums link the columns. Listing scales one
by one and solving a master program over the list stalls, because the program is highly degenerate. So the scales are
generated implicitly: the master program is solved by an interior-point method in which the scales of a column are
described by the slacks of its privacy constraints. A column's Newton matrix then has three diagonals and a step costs
n^3 operations in all. The duals of the row sums are priced over all scales, which gives a bound that holds whatever the
method did on its way.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import Floats
from discreet.build.pricing import lower_bound
from discreet.errors import SolverFailed

MOST_STEPS = 150  # of Newton: twenty to forty are usual up to 120 counts
PATIENCE = 12  # steps without a better matrix: by then rounding errors have taken over
TO_THE_WALL = 0.9995  # of the way to the nearest wall: on it a slack is zero, and Newton's matrix singular
RARE = 1e-12  # outputs that all together are rarer than this are drawn without regard to the input


@dataclass(frozen=True)
class ColumnsOptimum:
    """A private matrix with fixed point z up to rounding, its cost, and a proven bound on the cost of any other.

    `duals` belong to the row sums: the bound is what they give when priced. `cut_short`: time ran out before the gap
    was closed.
    """

    matrix: Floats
    cost: float
    lower_bound: float
    duals: Floats
    steps: int
    cut_short: bool = False


@dataclass(frozen=True)
class ColumnsProblem:
    """Minimise sum(weights * x) over columns x with sum(x) = total, z.x = goal and private entries."""

    weights: Floats
    z: Floats
    goal: Floats
    total: float
    odds: float


@dataclass(frozen=True)
class Point:
    """Columns, slacks of their privacy constraints and the duals of these; duals of row sums and of the fixed point."""

    columns: Floats
    slacks: Floats
    slack_duals: Floats
    row_duals: Floats
    column_duals: Floats

    @property
    def gap(self) -> float:
        return float((self.slacks * self.slack_duals).sum())


def best_columns(
    costs: Floats, z: Floats, log_odds: float, tolerance: float = 3e-7, seconds: float = math.inf
) -> ColumnsOptimum:
    """Minimise sum of z_i costs_ij T_ij over private T with row sums 1 and z T = z, to a proven relative gap.

    When time runs out, what the last step has is returned, with the bound that its duals give.
    """
    until = time.monotonic() + seconds
    support = np.flatnonzero(z > RARE / len(z))
    weights = z[:, None] * costs[:, support]
    if len(support) == 1 or not weights.any():
        cost = float(z @ costs @ z)
        return ColumnsOptimum(np.tile(z, (len(z), 1)), cost, cost, np.zeros(len(z)), 0)
    unit = max(float(np.abs(weights).sum(axis=0) @ z[support]), 1e-300)
    problem = ColumnsProblem(weights / unit, z, z[support], float(z[support].sum()), float(np.exp(log_odds)))
    point, found, stale = _start(problem), ColumnsOptimum(np.empty(0), np.inf, -np.inf, np.empty(0), 0), 0
    for step in range(1, MOST_STEPS + 1):
        with np.errstate(all="ignore"):
            point = _newton(problem, point)
        cost = float((weights * point.columns).sum())
        if not np.isfinite(cost) or not np.isfinite(point.row_duals).all():
            break
        late = time.monotonic() > until
        if point.gap * unit > 10 * tolerance * abs(cost) and not late:
            continue
        # rows that z makes next to impossible carry rounding errors that a scale could exploit: give way a little
        duals = point.row_duals * unit - tolerance / 100 * abs(cost) / len(z)
        better = cost + _error(point) * abs(cost) < found.cost
        stale = 0 if better else stale + 1
        found = _improved(found, point if better else None, duals, lower_bound(costs, z, log_odds, duals), cost, step)
        closed = found.cost - found.lower_bound <= tolerance * abs(found.cost)
        if late and not closed:
            found = replace(found, cut_short=True)
        if closed or late or stale > PATIENCE:
            break
    if not len(found.matrix):
        raise SolverFailed("the best mechanism was asked for", "the interior-point method failed", "Use transport")
    matrix = np.tile(np.where(z > RARE / len(z), 0.0, z), (len(z), 1))
    matrix[:, support] = found.matrix
    return replace(found, matrix=matrix, cost=float((z[:, None] * costs * matrix).sum()))


def _improved(
    found: ColumnsOptimum, point: Point | None, duals: Floats, bound: float, cost: float, step: int
) -> ColumnsOptimum:
    """The better matrix and the better bound, not always of one step; errors in row sums are paid for."""
    if bound > found.lower_bound:
        found = replace(found, duals=duals, lower_bound=bound)
    if point is not None:
        found = replace(found, matrix=point.columns, cost=cost + _error(point) * abs(cost))
    return replace(found, steps=step)


def _error(point: Point) -> float:
    sums = point.columns.sum(axis=1)
    return float(sums.max() - sums.min())


def _start(problem: ColumnsProblem) -> Point:
    """Ignore the input and draw from z: private with room on both sides."""
    columns = np.tile(problem.goal, (len(problem.z), 1))
    slacks = _privacy(columns, problem.odds)
    return Point(columns, slacks, 1 / (slacks.size * slacks), np.zeros(len(problem.z)), np.zeros(len(problem.goal)))


def _privacy(columns: Floats, odds: float) -> Floats:
    """The two privacy constraints of neighbouring entries: both must not be negative."""
    return np.stack([odds * columns[1:] - columns[:-1], odds * columns[:-1] - columns[1:]])


def _privacy_transposed(duals: Floats, odds: float) -> Floats:
    out = np.zeros((duals.shape[1] + 1, duals.shape[2]))
    out[1:] += odds * duals[0] - duals[1]
    out[:-1] += odds * duals[1] - duals[0]
    return out


def _newton(problem: ColumnsProblem, point: Point) -> Point:
    """One predictor-corrector step (Mehrotra)."""
    w, duals, many = point.slacks, point.slack_duals, point.slacks.size
    solver = _Newton(problem, point)
    _, _, _, dw, dl = solver.direction(-duals * w)
    reach = _reach(w, dw), _reach(duals, dl)
    ahead = float(((w + reach[0] * dw) * (duals + reach[1] * dl)).sum())
    centre = (ahead / point.gap) ** 3 * point.gap / many
    du, dv, dx, dw, dl = solver.direction(centre - duals * w - dw * dl)
    primal, dual = min(1.0, TO_THE_WALL * _reach(w, dw)), min(1.0, TO_THE_WALL * _reach(duals, dl))
    return Point(
        point.columns + primal * dx,
        w + primal * dw,
        duals + dual * dl,
        point.row_duals + dual * du,
        point.column_duals + dual * dv,
    )


def _reach(values: Floats, steps: Floats) -> float:
    """How far one may go before a value becomes negative."""
    return 1 / max(1.0, float((-steps / values).max()))


class _Newton:
    """The Newton system at a point: factored once, solved for several right-hand sides."""

    def __init__(self, problem: ColumnsProblem, point: Point) -> None:
        self.problem, self.point = problem, point
        x, w, z, odds = point.columns, point.slacks, problem.z, problem.odds
        self.off_privacy = _privacy(x, odds) - w
        self.off_dual = (
            problem.weights
            - point.row_duals[:, None]
            - np.outer(z, point.column_duals)
            - _privacy_transposed(point.slack_duals, odds)
        )
        self.off_goal, self.off_rows = problem.goal - z @ x, problem.total - x.sum(axis=1)
        self.pivots, self.ties = _factor(point.slack_duals / w, odds)
        self.pull = self.column_solve(np.repeat(z[:, None], len(problem.goal), axis=1))
        self.pulled = z @ self.pull
        self.rows_solve = _symmetric_solver(_row_matrix(self.pivots, self.ties, self.pull, self.pulled), z)

    def column_solve(self, right: Floats) -> Floats:
        out = right.copy()
        for i in range(1, len(out)):
            out[i] += self.ties[i - 1] * out[i - 1]
        out /= self.pivots
        for i in range(len(out) - 2, -1, -1):
            out[i] += self.ties[i] * out[i + 1]
        return out

    def direction(self, target: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """The step that brings slacks * duals by `target` nearer to where they should be, and all errors to zero."""
        odds, z, w, duals = self.problem.odds, self.problem.z, self.point.slacks, self.point.slack_duals
        right = _privacy_transposed((target - duals * self.off_privacy) / w, odds) - self.off_dual
        free = self.column_solve(right)
        free += self.pull * ((self.off_goal - z @ free) / self.pulled)
        rows = self.rows_solve(self.off_rows - free.sum(axis=1))
        moved = self.column_solve(right + rows[:, None])
        columns = (self.off_goal - z @ moved) / self.pulled
        moved += self.pull * columns
        slacks = _privacy(moved, odds) + self.off_privacy
        return rows, columns, moved, slacks, (target - duals * slacks) / w


def _factor(weights: Floats, odds: float) -> tuple[Floats, Floats]:
    """L D L' of every column's matrix of three diagonals, without a subtraction; `ties` are minus the entries of L."""
    low, high = weights[0] + odds**2 * weights[1], odds**2 * weights[0] + weights[1]
    across, both = odds * (weights[0] + weights[1]), weights[0] * weights[1] * (odds**2 - 1) ** 2
    edges, many = low.shape
    pivots, ties, carried = np.empty((edges + 1, many)), np.empty((edges, many)), np.zeros(many)
    for i in range(edges):
        pivots[i] = carried + low[i]
        ties[i] = across[i] / pivots[i]
        carried = (high[i] * carried + both[i]) / pivots[i]
    pivots[edges] = carried
    return pivots, ties


def _row_matrix(pivots: Floats, ties: Floats, pull: Floats, pulled: Floats) -> Floats:
    """The sum over columns of their inverse matrices, each on the space orthogonal to z."""
    size = len(pivots)
    out, row = np.zeros((size, size)), np.empty_like(pivots)
    corner = 1 / pivots[-1]
    row[-1], out[-1, -1] = corner, corner.sum()
    for i in range(size - 2, -1, -1):
        row[i + 1 :] *= ties[i]
        corner = 1 / pivots[i] + ties[i] ** 2 * corner
        row[i] = corner
        out[i, i:] = out[i:, i] = row[i:].sum(axis=1)
    inverse: Floats = out - np.einsum("ij,kj->ik", pull / pulled, pull)
    return inverse


def _symmetric_solver(matrix: Floats, z: Floats) -> Callable[[Floats], Floats]:
    """Solve with a positive matrix whose null space is z: what is added along z changes nothing."""
    from scipy.linalg import solve_triangular

    full = matrix + np.outer(z, z) * (np.trace(matrix) / len(z) / (z @ z))
    scale = 1 / np.sqrt(np.diag(full))
    scaled = full * scale[:, None] * scale
    for room in (0.0, 1e-15, 1e-13, 1e-11, 1e-9):
        lower = _cholesky(scaled + room * np.eye(len(z)))
        if lower is not None:
            break
    else:
        return lambda right: np.full_like(right, np.nan)

    def solve(right: Floats) -> Floats:
        half = solve_triangular(lower, scale * right, lower=True, check_finite=False)
        return scale * solve_triangular(lower, half, lower=True, trans=1, check_finite=False)

    return solve


def _cholesky(matrix: Floats) -> Floats | None:
    """The lower factor, or None if the matrix is not positive.

    Column by column: the library's routine starts threads even for small matrices, and on a busy machine these wait for
    each other a thousand times longer than they work.
    """
    rest = matrix.copy()
    for k in range(len(rest)):
        if not rest[k, k] > 0:
            return None
        rest[k:, k] /= np.sqrt(rest[k, k])
        rest[k + 1 :, k + 1 :] -= np.outer(rest[k + 1 :, k], rest[k + 1 :, k])
    return np.tril(rest)
