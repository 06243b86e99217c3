"""The least cost of all private mechanisms, whatever they do to the distribution: noise, then the best guess."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.build.pricing import best_ratios
from discreet.costs import cost_matrix
from discreet.distribution.decay import moments, running, two_sided, undo_two_sided
from discreet.errors import BadInput
from discreet.laws import Geometric
from discreet.mechanism import NoiseThenMap
from discreet.public_map import MAP_BITS, PublicMap


def unfixed(z: Floats, noise: Geometric, costs: Floats) -> NoiseThenMap:
    """Geometric noise, then for every noisy value the output of least expected cost given it, when counts follow z.

    The optimum for costs that do not fall as the error grows (Ghosh, Roughgarden and Sundararajan).
    """
    return _guessing(noise, np.argmin(_noisy_costs(z, noise, costs), axis=1))


def unfixed_by_name(z: Floats, noise: Geometric, cost: Any) -> NoiseThenMap:
    """The same for a cost whose best guess is known: a median (`absolute`), another quantile (`lopsided`) or a mean
    (`squared`), and nothing of size n x n is formed."""
    ratio = float(1 / noise.odds)
    if cost == "squared":
        left, right = moments(z, ratio), moments(z[::-1], ratio)
        mass = left[0] + right[0][::-1] - z
        means = np.arange(len(z)) + (right[1][::-1] - left[1]) / mass
        return _guessing(noise, np.clip(np.rint(means), 0, len(z) - 1).astype(np.int64))
    if not isinstance(cost, str) or cost.partition(":")[0] not in ("absolute", "lopsided"):
        raise BadInput(
            f"the least cost {cost!r} on {len(z)} counts was asked for",
            "past 2,001 absolute, squared and lopsided are known",
        )
    over, under = cost_matrix(cost, 2)[[0, 1], [1, 0]]
    return _guessing(noise, _quantiles(z, ratio, float(under / (over + under))))


def _quantiles(z: Floats, ratio: float, share: float) -> Integers:
    """For every noisy value l the least j at which a share of the sum of z_i ratio^|i-l| is reached, by bisection.

    Up to j < l the sum is ratio^(l-j) times that up to j seen from j; beyond j >= l likewise from the other side.
    """
    left, right = running(z, ratio), running(z[::-1], ratio)[::-1]
    total, values = two_sided(z, ratio), np.arange(len(z))
    beyond = np.append(right[1:], 0.0)  # seen from j + 1
    low, high = np.zeros(len(z), dtype=np.int64), np.full(len(z), len(z) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        before = np.exp(np.log(ratio) * np.maximum(values - middle, 0)) * left[middle]
        after = np.exp(np.log(ratio) * np.maximum(middle + 1 - values, 0)) * beyond[middle]
        reached = np.where(middle < values, before >= share * total, after <= (1 - share) * total)
        low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
    return low


def _guessing(noise: Geometric, guesses: Integers) -> NoiseThenMap:
    """The map from every noisy value to its guess; guesses do not fall."""
    last = np.flatnonzero(np.diff(guesses))  # noisy values after which the guess changes
    keys = (last + 1).astype(np.uint64) << np.uint64(MAP_BITS)
    outputs = guesses[np.concatenate([last, [len(guesses) - 1]])].astype(np.int64)
    return NoiseThenMap(noise, (0, len(guesses) - 1), PublicMap(0, MAP_BITS, keys, outputs))


def unfixed_bound(z: Floats, noise: Geometric, costs: Floats) -> float:
    """A lower bound on the cost of every private mechanism when counts follow z."""
    ratio = float(1 / noise.odds)
    duals = undo_two_sided(_noisy_costs(z, noise, costs).min(axis=1), ratio)
    spare = best_ratios(z[:, None] * costs - duals[:, None], np.ones(len(z)), -math.log(ratio), np.arange(len(z)))
    return math.fsum(duals) + len(z) * float(spare.min())


def _noisy_costs(z: Floats, noise: Geometric, costs: Floats) -> Floats:
    """[l, j]: the cost of publishing j at the noisy value l, times the mass of l, up to a factor of l."""
    return two_sided(z[:, None] * costs, float(1 / noise.odds))
