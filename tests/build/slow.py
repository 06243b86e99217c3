"""The slow and obvious versions: the specification of what the library does fast."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import linprog


def noise_matrix(size: int, ratio: float) -> np.ndarray:
    """Two-sided geometric noise, then clamping."""
    i = np.arange(size)
    matrix = (1 - ratio) / (1 + ratio) * ratio ** np.abs(i[:, None] - i)
    matrix[:, 0], matrix[:, -1] = ratio**i / (1 + ratio), ratio ** (size - 1 - i) / (1 + ratio)
    return matrix


def north_west_corner(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The monotone coupling, cell by cell."""
    left, want = source.astype(float).copy(), target.astype(float).copy()
    plan, i, j = np.zeros((len(left), len(want))), 0, 0
    while i < len(left) and j < len(want):
        moved = min(left[i], want[j])
        plan[i, j] += moved
        left[i] -= moved
        want[j] -= moved
        i, j = (i + 1, j) if left[i] <= want[j] else (i, j + 1)
    return plan


def all_scales(size: int, odds: float) -> np.ndarray:
    """Every scale, a row each, with first entry one."""
    steps = np.array(list(product((1.0, -1.0), repeat=size - 1))).reshape(-1, size - 1)
    return odds ** np.hstack([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)])


def plain_program(costs: np.ndarray, z: np.ndarray, odds: float, target: np.ndarray | None = None) -> float:
    """The least cost over private matrices with z T = target, by a general solver; no fixed point without one."""
    size = len(z)
    rows, eye = [], np.eye(size)
    for i in range(size - 1):
        for one, other in ((i, i + 1), (i + 1, i)):
            for j in range(size):
                row = np.zeros((size, size))
                row[one, j], row[other, j] = 1, -odds
                rows.append(row.ravel())
    sums = [np.outer(eye[i], np.ones(size)).ravel() for i in range(size)]
    fixed = [np.outer(z, eye[j]).ravel() for j in range(size)] if target is not None else []
    right = np.concatenate([np.ones(size), target if target is not None else []])
    found = linprog(
        (z[:, None] * costs).ravel(),
        A_ub=np.array(rows),
        b_ub=np.zeros(len(rows)),
        A_eq=np.array(sums + fixed),
        b_eq=right,
    )
    assert found.status == 0, found.message
    return float(found.fun)


def greedy(z: list[Fraction], odds: Fraction, order: list[int]) -> list[list[Fraction]]:
    """The greedy constructor in rationals, with the remainder itself."""
    size = len(z)
    matrix = [[Fraction(0)] * size for _ in z]
    rest, left = [Fraction(1)] * size, list(z)
    for j in order:
        while left[j] > 0:
            pattern = [1 if i < j else -1 for i in range(size - 1)]
            for i, step in enumerate(pattern):
                if rest[i + 1] == rest[i] / odds**step:
                    pattern[i] = -step
            scale = [Fraction(1)]
            for step in pattern:
                scale.append(scale[-1] * odds**step)
            mean = sum(a * b for a, b in zip(z, scale))
            amounts = [left[j] / mean]
            for i, step in enumerate(pattern):
                high, low = (i + 1, i) if step > 0 else (i, i + 1)
                amounts.append((odds * rest[high] - rest[low]) / (odds * scale[high] - scale[low]))
            amount = min(amounts)
            for i in range(size):
                matrix[i][j] += amount * scale[i]
                rest[i] -= amount * scale[i]
            left[j] -= amount * mean
    return matrix
