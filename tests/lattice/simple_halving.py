"""The slow obvious version of halving columns, in floats: a bound that ignores the row sums, and no tables with doubt.

The weight a^(|s| + |q-s|) of a pair of cells is, as a function of s, two-sided geometric noise of ratio b = a^2
convolved with weights on 0..q: 1 at the ends and 1 - b between. So the left half of m pairs is U + K: U depends on q, K
is the sum of m such noises. The rows' K must sum to -sum U, which is accepted by its chance over the largest.
"""

from __future__ import annotations

import math

import numpy as np


def tables(rate: float, rows: int, columns: int, draws: int, seed: int) -> np.ndarray:
    """The number of columns is a power of two: draws x rows x columns."""
    rng, found, done = np.random.default_rng(seed), [], 0
    nodes = {}
    width = columns
    while width > 1:
        nodes[width] = _node(rate, rows, width // 2, columns)
        width //= 2
    while done < draws:
        found.append(_trials(nodes, rows, columns, 4000, rng))
        done += len(found[-1])
    return np.concatenate(found)[:draws]


def _node(rate: float, rows: int, pairs: int, columns: int) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    a = math.exp(-rate)
    reach = math.ceil(9 * math.sqrt(2 * columns) / 2 / rate) + 30
    size = 1 << math.ceil(math.log2(4 * reach + 2))
    kernel = np.zeros((size, size))
    for p in range(-reach, reach + 1):
        inner = np.arange(abs(p) + 1)
        weights = np.where((inner == 0) | (inner == abs(p)), 1.0, 1 - a * a)
        kernel[p % size, (np.sign(p) * inner) % size] = a ** abs(p) * weights
    joint = np.fft.ifft2(np.fft.fft2(kernel / kernel.sum()) ** pairs).real
    inside = np.arange(-reach, reach + 1) % size
    joint = np.maximum(joint[np.ix_(inside, inside)], 1e-300)
    below = np.cumsum(joint, axis=1) / joint.sum(axis=1, keepdims=True)
    return reach, below, _geometric_sum(a * a, pairs, reach), _geometric_sum(a * a, pairs * rows, 4000)


def _geometric_sum(ratio: float, number: int, reach: int) -> np.ndarray:
    """Chances of -reach .. reach."""
    size = 1 << 14
    angle = 2 * np.pi * np.arange(size) / size
    chances = np.fft.ifft(((1 - ratio) ** 2 / (1 - 2 * ratio * np.cos(angle) + ratio**2)) ** number).real
    return np.maximum(chances[np.arange(-reach, reach + 1) % size], 0.0)


def _trials(nodes: dict, rows: int, columns: int, trials: int, rng: np.random.Generator) -> np.ndarray:
    sums = np.zeros((trials, 1, rows), dtype=np.int64)  # trial, node of this level, row
    width = columns
    while width > 1:
        reach, below, noise, whole = nodes[width]
        flat = sums.reshape(-1, rows)
        points = _look_up(below, flat + reach, rng) - reach
        totals = points.sum(axis=1)
        chance = np.where(np.abs(totals) <= 4000, whole[np.clip(4000 - totals, 0, 8000)] / whole.max(), 0.0)
        good = (rng.random(len(flat)) < chance).reshape(len(sums), -1).all(axis=1)
        sums, points = sums[good], points.reshape(sums.shape)[good]
        left = points + _given(noise, reach, -points.sum(axis=2).ravel(), rows, rng).reshape(points.shape)
        sums = np.stack([left, sums - left], axis=2).reshape(len(sums), -1, rows)
        assert np.abs(sums).max(initial=0) <= reach
        width //= 2
    return sums.transpose(0, 2, 1)


def _look_up(below: np.ndarray, which: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    keys = which + rng.random(which.shape)
    stacked = (np.minimum(below, 1 - 1e-12) + np.arange(len(below))[:, None]).ravel()
    return np.searchsorted(stacked, keys) - which * below.shape[1]


def _given(noise: np.ndarray, reach: int, totals: np.ndarray, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of independent noise with these totals: all but one drawn, that one accepted by its chance."""
    out, left = np.empty((len(totals), rows), dtype=np.int64), np.arange(len(totals))
    while len(left):
        drawn = rng.choice(np.arange(-reach, reach + 1), size=(len(left), rows), p=noise / noise.sum())
        drawn[:, -1] = totals[left] - drawn[:, :-1].sum(axis=1)
        last = np.clip(drawn[:, -1] + reach, 0, 2 * reach)
        good = (rng.random(len(left)) < noise[last] / noise.max()) & (np.abs(drawn[:, -1]) <= reach)
        out[left[good]] = drawn[good]
        left = left[~good]
    return out
