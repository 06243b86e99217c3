"""Two constructors of paper 000 as published, for timing and comparison: in floats, unchecked, never released."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.arrays import Floats


def published_greedy(z: Floats, epsilon: float) -> Floats:
    """Algorithm 1 as the authors' code runs it: long doubles, the remainder kept itself, columns 0, 1, n-1, 2, n-2, ...

    It is right until the remainder cancels. Where long doubles are doubles (not on x86), that is sooner.
    """
    size, step = len(z), np.longdouble(epsilon)
    grow, shares = np.exp(step), z.astype(np.longdouble)
    left, matrix = np.ones(size, dtype=np.longdouble), np.zeros((size, size), dtype=np.longdouble)
    tight = np.zeros(size - 1, dtype=np.int64)  # +1: the remainder rises as steeply as it may, -1: it falls so
    with np.errstate(all="ignore"):
        for column in authors_order(size):
            wanted = shares[column]
            while wanted > LEAST:
                pattern = np.where(tight != 0, tight, np.where(np.arange(size - 1) < column, 1, -1))
                heights = np.concatenate([[0], np.cumsum(pattern)])
                scale = np.exp(step * (heights - heights.max()))
                rises = (grow * left[1:] - left[:-1]) / (grow * scale[1:] - scale[:-1])
                falls = (grow * left[:-1] - left[1:]) / (grow * scale[:-1] - scale[1:])
                rooms = np.where(tight != 0, np.inf, np.where(pattern > 0, rises, falls))
                edge, whole = int(np.argmin(rooms)), wanted / (shares @ scale)
                amount = min(whole, max(rooms[edge], np.longdouble(0)))
                matrix[:, column] += amount * scale
                left = left - amount * scale
                if amount == whole or tight.all():
                    break
                wanted -= amount * (shares @ scale)
                tight[edge] = -pattern[edge]
    return matrix.astype(float)


LEAST = 1e-18  # a share that is left to place: less than the last digit of a long double


def authors_order(size: int) -> list[int]:
    """Not the printed one, which goes to and fro from the start: 0, then 1, n-1, 2, n-2, ..."""
    pairs = [column for step in range(1, size) for column in (step, size - step)]
    return list(dict.fromkeys([0, *pairs]))


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
