"""Pricing of scales: the least ratio (c.s)/(z.s) over all scales s, for many columns c at once.

A scale is known once one of its entries is fixed: going outwards from there every step is a free choice between r and
1/r. So the best scale with s_i = 1 is found by two recursions that meet at i. They are run for every i (a single anchor
would lose the entries that are exponentially larger than it), and Dinkelbach's method turns sums into ratios.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.distribution.decay import two_sided

MOST_PASSES = 40  # after the tenth the hair grows tenfold in each, so that forty leave nothing uncertified
HAIR = 1e-13  # about the rounding error of a pass; it grows where that is not enough
LARGEST = 1e200  # what is more negative than this stays negative whatever is added


def lower_bound(
    costs: Floats,
    z: Floats,
    log_odds: float,
    duals: Floats,
    potentials: Floats | None = None,
    target: Floats | None = None,
) -> float:
    """A bound on the least expected cost over private T with z T = target, from *any* numbers given for the row sums.

    It is the value of the dual problem with z * potentials + duals for the row sums and the best there is for the
    columns. Potentials are kept apart since only their differences count. The target is z if not given.
    """
    wanted = z if target is None else target
    support = np.flatnonzero(wanted > 0)
    level = np.zeros(len(z)) if potentials is None else potentials
    columns = z[:, None] * (costs[:, support] - (level[:, None] - level[support])) - duals[:, None]
    ratios = best_ratios(columns, z, log_odds, support)
    return math.fsum(duals) + math.fsum(wanted[support] * ratios) + math.fsum((z - wanted) * level)


def best_ratios(columns: Floats, z: Floats, log_odds: float, peaks: NDArray[np.int64]) -> Floats:
    """For every column c the least (c.s)/(z.s) over scales s, less a hair: no scale was found below what is returned.

    The search starts from the single-peaked scales at `peaks`.
    """
    found = _peaked_ratios(columns, z, log_odds, peaks)
    usual = float(z[peaks] @ np.abs(found) / z[peaks].sum())
    hair, certified = np.full(len(peaks), HAIR), np.full(len(peaks), -np.inf)
    current = found - HAIR * (np.abs(found) + usual)
    passed = _none_below(columns, z, log_odds, current)
    certified[passed] = current[passed]
    todo = np.flatnonzero(~passed)
    for turn in range(MOST_PASSES):
        if not len(todo):
            break
        ratios = _least_ratios(columns[:, todo], z, log_odds, current[todo])
        passed = ratios >= current[todo]
        certified[todo[passed]] = current[todo[passed]]
        # a step within rounding error of the last one: certify a little lower instead
        stuck = found[todo] - ratios < 1e-9 * (np.abs(ratios) + usual)
        hair[todo[stuck | (turn > 10)]] *= 10
        found[todo] = np.minimum(found[todo], ratios)
        todo = todo[~passed]
        current[todo] = found[todo] - hair[todo] * (np.abs(found[todo]) + usual)
    return certified


def _none_below(columns: Floats, z: Floats, log_odds: float, current: Floats) -> NDArray[np.bool_]:
    """Whether no scale has a ratio below the current one: V_i = c_i + min(r V, V / r), from both sides, stays >= 0."""
    up, down = math.exp(log_odds), math.exp(-log_odds)
    tilted = columns - z[:, None] * current
    left = np.empty_like(tilted)
    value, least = np.zeros(len(current)), np.full(len(current), np.inf)
    for i in range(len(z)):
        value = np.maximum(np.minimum(up * value, down * value), -LARGEST) + tilted[i]
        left[i] = value
    value = np.zeros(len(current))
    for i in range(len(z) - 1, -1, -1):
        beyond = np.maximum(np.minimum(up * value, down * value), -LARGEST)
        np.minimum(least, left[i] + beyond, out=least)
        value = beyond + tilted[i]
    return least >= 0


def _peaked_ratios(columns: Floats, z: Floats, log_odds: float, peaks: NDArray[np.int64]) -> Floats:
    steps = np.abs(np.arange(len(z))[:, None] - peaks)
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = np.einsum("ij,ij->j", np.exp(-log_odds * np.arange(len(z)))[steps], columns)
        ratios = sums / two_sided(z, math.exp(-log_odds))[peaks]
    found: Floats = np.where(np.isfinite(ratios), ratios, columns.sum(axis=0) / z.sum())
    return found


def _least_ratios(columns: Floats, z: Floats, log_odds: float, current: Floats) -> Floats:
    """The least ratio over anchors, of the scales that minimise (c - current z).s given their entry at the anchor."""
    tilted = columns - np.outer(z, current)
    left = _one_way(columns, tilted, z, log_odds)
    right = [part[::-1] for part in _one_way(columns[::-1], tilted[::-1], z[::-1], log_odds)]
    unit = np.minimum(left[2], right[2])
    with np.errstate(divide="ignore", invalid="ignore"):
        from_left, from_right = unit / left[2], unit / right[2]
        bottom = left[1] * from_left + right[1] * from_right - unit * z[:, None]
        ratios = (left[0] * from_left + right[0] * from_right - unit * columns) / bottom
        ratios[~((unit > 0) & (bottom > 0))] = np.inf
    least: Floats = ratios.min(axis=0)
    return least


def _one_way(columns: Floats, tilted: Floats, z: Floats, log_odds: float) -> tuple[Floats, Floats, Floats]:
    """c.s, z.s and s_i over entries up to i, for the scale that is best there given s_i, up to a common factor."""
    size, many = columns.shape
    factors = np.array([math.exp(-log_odds), math.exp(log_odds)])
    costs, masses, units = np.empty((3, size, many))
    cost, mass, tilt, unit = np.zeros(many), np.zeros(many), np.zeros(many), np.ones(many)
    rescale = max(1, int(200 / log_odds))
    for i in range(size):
        if i:
            factor = factors[(tilt < 0).view(np.int8)]
            cost *= factor
            mass *= factor
            tilt *= factor
        if i % rescale == rescale - 1:
            largest = np.maximum(np.maximum(np.abs(cost), mass), np.maximum(np.abs(tilt), unit))
            cost, mass, tilt, unit = cost / largest, mass / largest, tilt / largest, unit / largest
        rescaled = i >= rescale - 1
        cost += unit * columns[i] if rescaled else columns[i]
        mass += unit * z[i] if rescaled else z[i]
        tilt += unit * tilted[i] if rescaled else tilted[i]
        costs[i], masses[i], units[i] = cost, mass, unit
    return costs, masses, units
