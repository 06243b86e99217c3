"""What others do to keep invariants: independent noise first, then the nearest table that has them.

Baselines for comparison. The noise carries the guarantee; what the correction does to its law depends on the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput, Infeasible, SolverFailed, choose
from discreet.numbers import Epsilon
from discreet.sample.bits import Bits

METHODS = ("l2", "l2-nonnegative", "l1-integer")
TOLERANCE = 1e-9
MOST_NEWTON = 200


def noisy_projection(matrix: Any, counts: Integers, rate: Epsilon, bits: Bits, method: str = "l2") -> Floats:
    """Double-geometric noise on every cell, then the correction named `method`. `rate` is per unit of l1 distance.

    `l1-integer` rounds the non-negative l2 projection to whole counts, as the census' TopDown algorithm does.
    """
    from discreet.laws import Geometric

    choose(method, METHODS, "method")
    table = np.asarray(counts, dtype=np.int64)
    noisy = Geometric(rate.odds()).add(table, bits)
    sums = matrix @ table
    if method == "l2":
        return project(matrix, noisy, sums)
    nearest = project_nonnegative(matrix, noisy, sums)
    return nearest if method == "l2-nonnegative" else round_to_integers(matrix, nearest, sums).astype(float)


def project(matrix: Any, point: Any, sums: Any) -> Floats:
    """The nearest point, in l2, with `matrix @ y = sums`; redundant rows are fine."""
    dense = _dense(matrix)
    away = dense @ np.asarray(point, dtype=float) - sums
    correction, *_ = np.linalg.lstsq(dense, away, rcond=None)
    _check_sums(dense @ correction - away, sums)
    return np.asarray(point - correction)


def project_nonnegative(matrix: Any, point: Any, sums: Any) -> Floats:
    """The nearest non-negative point, in l2, with `matrix @ y = sums`.

    It is max(0, point + A'u) for the u at which its sums are right: Newton's method on that piecewise linear equation.
    """
    dense, target = _dense(matrix), np.asarray(point, dtype=float)
    wanted = np.asarray(sums, dtype=float)
    scale = 1 + float(np.abs(wanted).max(initial=0)) + float(np.abs(target).max(initial=0))
    dual = np.zeros(dense.shape[0])

    def value(at: Floats) -> float:
        return float((np.maximum(0, target + dense.T @ at) ** 2).sum() / 2 - at @ wanted)

    for _ in range(MOST_NEWTON):
        primal = np.maximum(0, target + dense.T @ dual)
        gradient = dense @ primal - wanted
        if np.abs(gradient).max(initial=0) <= TOLERANCE * scale:
            return primal
        active = dense[:, primal > 0]
        curvature = active @ active.T + 1e-10 * np.eye(len(dual))
        dual = _descend(value, dual, -np.linalg.solve(curvature, gradient), gradient)
    raise Infeasible(
        "the nearest non-negative table was asked for",
        f"its sums were still off by {np.abs(gradient).max():.3g} after {MOST_NEWTON} steps",
        "Check that some non-negative table has these sums",
    )


def _descend(value: Any, start: Floats, direction: Floats, gradient: Floats) -> Floats:
    """Halve the step until the value falls by a fair share of what the slope promises."""
    length, here, slope = 1.0, value(start), float(gradient @ direction)
    while length > 1e-12 and value(start + length * direction) > here + 1e-4 * length * slope:
        length /= 2
    return start + length * direction


def round_to_integers(matrix: Any, point: Any, sums: Any, *, nonnegative: bool = True) -> Integers:
    """The nearest whole table, in l1, with `matrix @ y = sums`.

    y = floor(point) + one + up - down, with `one` 0 or 1: its cost then is exact, and the relaxation tight.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    dense, target = _dense(matrix), np.asarray(point, dtype=float)
    if nonnegative:
        target = np.maximum(target, 0)  # below zero every whole count is nearer by the same amount
    near_whole = np.abs(target - np.round(target)) < 1e-7
    base = np.where(near_whole, np.round(target), np.floor(target))
    part = np.where(near_whole, 0.0, target - base)
    size = len(target)
    ones, many = np.ones(size), np.full(size, np.inf)
    found = milp(
        np.concatenate([1 - 2 * part, ones, ones]),
        integrality=np.ones(3 * size, dtype=np.int64),
        bounds=Bounds(np.zeros(3 * size), np.concatenate([ones, many, base if nonnegative else many])),
        constraints=LinearConstraint(np.hstack([dense, dense, -dense]), sums - dense @ base, sums - dense @ base),
    )
    if found.status == 2:
        raise Infeasible("the nearest whole table was asked for", "no whole table has these sums")
    if found.x is None:
        raise SolverFailed("the nearest whole table was asked for", f"the solver said: {found.message}")
    chosen = np.round(found.x).astype(np.int64).reshape(3, size)
    table = base.astype(np.int64) + chosen[0] + chosen[1] - chosen[2]
    if (dense.astype(np.int64) @ table != sums).any() or (nonnegative and (table < 0).any()):
        raise SolverFailed("the nearest whole table was asked for", "what the solver gave breaks the sums")
    return np.asarray(table)


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=float)


def _check_sums(residual: Floats, sums: Any) -> None:
    if np.abs(residual).max(initial=0) > 1e-6 * (1 + np.abs(np.asarray(sums, dtype=float)).max(initial=0)):
        raise BadInput("a table with given sums was asked for", "the sums contradict each other")
