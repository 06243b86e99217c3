"""A tree of sums, each node with 16 children (Qardaji, Yang and Li 2013), the same noise on every level.

Weighted averaging towards the root, then mean consistency away from it, give the least-squares fit; the root is public.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers

SUMMARY = "sums over a tree with sixteen branches at each node, made consistent"
PROJECTION = "isotonic"
BRANCHES = 16  # Qardaji, Yang and Li's choice


def answers(histogram: Integers) -> Integers:
    """From the bins up to the children of the root."""
    level = np.pad(histogram, (0, BRANCHES ** _levels(len(histogram)) - len(histogram)))
    out = [level]
    while len(level) > BRANCHES:
        level = level.reshape(-1, BRANCHES).sum(axis=1)
        out.append(level)
    return np.concatenate(out)


def sensitivity(bins: int) -> int:
    """A row that moves between the first two children of the root changes two nodes by one on every level."""
    return 2 * _levels(bins)


def squared(bins: int) -> int:
    return 2 * _levels(bins)


def estimate(noisy: NDArray[Any], rows: int, bins: int) -> Floats:
    sizes = [BRANCHES**k for k in range(_levels(bins), 0, -1)]
    levels = np.split(noisy.astype(float), np.cumsum(sizes)[:-1])
    averaged = [levels[0]]
    for height, level in enumerate(levels[1:], start=2):
        own = (BRANCHES**height - BRANCHES ** (height - 1)) / (BRANCHES**height - 1)
        averaged.append(own * level + (1 - own) * averaged[-1].reshape(-1, BRANCHES).sum(axis=1))
    parents = np.array([float(rows)])
    for level in reversed(averaged):
        children = level.reshape(-1, BRANCHES)
        parents = (children + ((parents - children.sum(axis=1)) / BRANCHES)[:, None]).ravel()
    return parents[:bins]


def _levels(bins: int) -> int:
    levels = 1
    while BRANCHES**levels < bins:
        levels += 1
    return levels
