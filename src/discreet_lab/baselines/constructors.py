"""Two constructors of paper 000 as published, for timing and comparison: in plain floats, unchecked, never released."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats


def published_greedy(z: Floats, epsilon: float) -> Floats:
    """Algorithm 1 with the sandwich selector, keeping the remainder itself: right until the remainder cancels."""
    size, grow = len(z), math.exp(epsilon)
    left, matrix = np.ones(size), np.zeros((size, size))
    order = np.stack([np.arange(size), size - 1 - np.arange(size)], axis=1).ravel()[:size]
    with np.errstate(all="ignore"):
        for column in order:
            wanted = float(z[column])
            for _ in range(2 * size):
                if wanted <= 1e-15:
                    break
                tight = _tight(left, grow)
                scale, pattern = _scale(tight, int(column), grow)
                rises = (grow * left[1:] - left[:-1]) / (grow * scale[1:] - scale[:-1])
                falls = (left[:-1] - left[1:] / grow) / (scale[:-1] - scale[1:] / grow)
                rooms = np.where(tight != 0, np.inf, np.where(pattern > 0, rises, falls))
                amount = min(wanted / float(z @ scale), float(np.nanmin(rooms, initial=np.inf)))
                if not amount > 0:
                    break
                matrix[:, column] += amount * scale
                left = left - amount * scale
                wanted -= amount * float(z @ scale)
    return matrix


def _tight(left: Floats, grow: float) -> NDArray[np.int64]:
    """+1 where the remainder rises as steeply as it may, -1 where it falls so."""
    rising = np.isclose(left[1:], grow * left[:-1], rtol=1e-9)
    falling = np.isclose(left[:-1], grow * left[1:], rtol=1e-9)
    steps: NDArray[np.int64] = rising.astype(np.int64) - falling.astype(np.int64)
    return steps


def _scale(tight: NDArray[np.int64], column: int, grow: float) -> tuple[Floats, NDArray[np.int64]]:
    peaked = np.where(np.arange(len(tight)) < column, 1, -1)
    pattern = np.where(tight != 0, tight, peaked)
    heights = np.concatenate([[0], np.cumsum(pattern)])
    scale = np.exp(math.log(grow) * (heights - heights.max()))
    return scale / scale.sum(), pattern


def linear_program(z: Floats, epsilon: float, method: str) -> Any:
    """The plain program for the fixed-point mechanism of least absolute error: n^2 variables."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, kron

    size, odds = len(z), math.exp(epsilon)
    steps = eye_array(size - 1, size, k=0) - odds * eye_array(size - 1, size, k=1)
    back = eye_array(size - 1, size, k=1) - odds * eye_array(size - 1, size, k=0)
    columns = eye_array(size)
    privacy = csr_array(_stack([kron(steps, columns), kron(back, columns)]))
    sums = csr_array(_stack([kron(eye_array(size), np.ones((1, size))), kron(z[None, :], columns)]))
    distance = np.abs(np.arange(size)[:, None] - np.arange(size))
    solver: Any = linprog
    return solver(
        (z[:, None] * distance).ravel(),
        A_ub=privacy,
        b_ub=np.zeros(privacy.shape[0]),
        A_eq=sums,
        b_eq=np.concatenate([np.ones(size), z]),
        method=method,
    )


def _stack(parts: list[Any]) -> Any:
    from scipy.sparse import vstack

    return vstack(parts)
