"""Distributions of counts for the tests: shapes from the papers, and random ones with zeros and tiny entries."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st


def binomial(size: int) -> np.ndarray:
    logs = [
        math.lgamma(size) - math.lgamma(k + 1) - math.lgamma(size - k) - (size - 1) * math.log(2) for k in range(size)
    ]
    z = np.exp(logs)
    return z / z.sum()


def skewed(size: int) -> np.ndarray:
    """Half zeros, a heavy tail with holes and tiny entries, and a heap at the top code."""
    rng = np.random.default_rng(1)
    z = (np.arange(size) + 1.0) ** -1.6
    z[0], z[-1] = 0, 9 * z[-1] + 0.002
    far = np.arange(size // 3, size - 1)
    z[rng.choice(far, max(1, size // 10), replace=False)] = 0
    z[rng.choice(far, max(1, size // 20), replace=False)] = 1e-9
    z *= 0.47 / z.sum()
    z[0] = 0.53
    return z / z.sum()


def nearly_uniform(size: int) -> np.ndarray:
    place = np.arange(size) / (size - 1)
    z = 1 + 0.3 * place + 0.1 * np.sin(7 * place)
    return z / z.sum()


SHAPES = {"binomial": binomial, "skewed": skewed, "nearly uniform": nearly_uniform}


@st.composite
def distributions(draw: st.DrawFn, least: int = 2, most: int = 12, tiny: bool = True) -> np.ndarray:
    """With tiny entries the general solver calls feasible programs infeasible: leave them out to compare with it."""
    size = draw(st.integers(least, most))
    small = st.sampled_from([0.0, 1e-12, 1e-5]) if tiny else st.just(0.0)
    entry = st.one_of(small, st.floats(0.01, 1.0))
    raw = np.array(draw(st.lists(entry, min_size=size, max_size=size)))
    if raw.sum() == 0:
        raw[draw(st.integers(0, size - 1))] = 1.0
    return raw / raw.sum()
