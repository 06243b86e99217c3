"""Pricing of scales: the least ratio (c.s)/(z.s) over all scales s, for many columns c at once.

A scale is known once one of its entries is fixed: going outwards from there every step is a free choice between r and
1/r. So the best scale with s_i = 1 is found by two recursions that meet at i. They are run for every i (a single anchor
would lose the entries that are exponentially larger than it), and Dinkelbach's method turns sums into ratios.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.build.decay import two_sided

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]

MOST_PASSES = 40
HAIR = 1e-13


def lower_bound(costs: Floats, z: Floats, log_odds: float, duals: Floats, potentials: Floats | None = None) -> float:
    """A bound on the least expected cost over private T with z T = z, from *any* numbers given for the row sums.

    It is the value of the dual problem with z * potentials + duals for the row sums and the best there is for the
    columns. Potentials are kept apart since only their differences count.
    """
    support = np.flatnonzero(z > 0)
    columns = (
        costs[:, support] if potentials is None else costs[:, support] - (potentials[:, None] - potentials[support])
    )
    ratios, _ = best_ratios(z[:, None] * columns - duals[:, None], z, log_odds, support)
    return math.fsum(duals) + math.fsum(z[support] * ratios)


def best_ratios(columns: Floats, z: Floats, log_odds: float, peaks: NDArray[np.int64]) -> tuple[Floats, Signs]:
    """For every column c the least (c.s)/(z.s) over scales s, less a hair, and the pattern of a scale near it (+1: rises).

    The search starts from the single-peaked scales at `peaks`. What is returned was passed by no scale.
    """
    many = len(peaks)
    found = _peaked_ratios(columns, z, log_odds, peaks)
    usual = float(np.abs(found).mean())
    hair, current = np.full(many, HAIR), found - HAIR * (np.abs(found) + usual)
    certified = np.full(many, -np.inf)
    patterns = np.where(np.arange(len(z) - 1)[:, None] < peaks, 1, -1).astype(np.int8)
    todo = np.arange(many)
    for _ in range(MOST_PASSES):
        ratios, chosen = _sweep(columns[:, todo], z, log_odds, current[todo])
        passed = ratios >= current[todo]
        certified[todo[passed]] = current[todo[passed]]
        better = ratios < found[todo]
        patterns[:, todo[better]] = chosen[:, better]
        # a step within rounding error of the last one: certify a little lower instead
        stuck = found[todo] - ratios < 1e-9 * (np.abs(ratios) + usual)
        hair[todo[stuck]] *= 10
        found[todo] = np.minimum(found[todo], ratios)
        todo = todo[~passed]
        if not len(todo):
            break
        current[todo] = found[todo] - hair[todo] * (np.abs(found[todo]) + usual)
    return certified, patterns


def _peaked_ratios(columns: Floats, z: Floats, log_odds: float, peaks: NDArray[np.int64]) -> Floats:
    steps = np.abs(np.arange(len(z))[:, None] - peaks)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = (np.exp(-log_odds * steps) * columns).sum(axis=0) / two_sided(z, math.exp(-log_odds))[peaks]
    return np.where(np.isfinite(ratios), ratios, columns.sum(axis=0) / z.sum())


def _sweep(columns: Floats, z: Floats, log_odds: float, current: Floats) -> tuple[Floats, Signs]:
    """The least ratio over anchors of the scales that minimise (c - current z).s, and the pattern of the best."""
    size, many = columns.shape
    tilted = columns - np.outer(z, current)
    left, signs_left = _one_way(columns, tilted, z, log_odds)
    right, signs_right = (part[::-1] for part in _one_way(columns[::-1], tilted[::-1], z[::-1], log_odds))
    unit = np.minimum(left[:, 2], right[:, 2])
    with np.errstate(divide="ignore", invalid="ignore"):
        from_left, from_right = unit / left[:, 2], unit / right[:, 2]
        top = left[:, 0] * from_left + right[:, 0] * from_right - unit * columns
        bottom = left[:, 1] * from_left + right[:, 1] * from_right - unit * z[:, None]
        ratios = np.where((unit > 0) & (bottom > 0), top / bottom, np.inf)
    anchors = np.argmin(ratios, axis=0)
    edges = np.arange(size - 1)[:, None]
    # seen from the anchor, +1 means that the entry further out is the higher one
    pattern = np.where(edges < anchors, -signs_left[1:], signs_right[:-1])
    return ratios[anchors, np.arange(many)], pattern.astype(np.int8)


def _one_way(columns: Floats, tilted: Floats, z: Floats, log_odds: float) -> tuple[Floats, Signs]:
    """Sums (c.s, z.s, s_i) over entries up to i, for the scale that is best there given s_i, up to a common factor."""
    size, many = columns.shape
    up, down = math.exp(log_odds), math.exp(-log_odds)
    sums = np.empty((size, 3, many))
    signs = np.zeros((size, many), dtype=np.int8)
    state = np.zeros((3, many))  # cost, mass, tilted cost
    unit = np.ones(many)
    entry = np.empty((3, many))
    rescale = max(1, int(200 / log_odds))
    for i in range(size):
        if i:
            rises = state[2] < 0
            signs[i] = rises
            state *= np.where(rises, up, down)
            if i % rescale == 0:
                largest = np.maximum(np.abs(state).max(axis=0), unit)
                state /= largest
                unit = unit / largest
        entry[0], entry[1], entry[2] = columns[i], z[i], tilted[i]
        state += entry * unit
        sums[i, :2], sums[i, 2] = state[:2], unit
    return sums, 2 * signs - 1
