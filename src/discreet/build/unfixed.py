"""The least cost of all private mechanisms, whatever they do to the distribution: noise, then the best guess."""

from __future__ import annotations

import math

import numpy as np

from discreet.arrays import Floats
from discreet.build.pricing import best_ratios
from discreet.distribution.decay import two_sided, undo_two_sided
from discreet.laws import Geometric
from discreet.mechanism import NoiseThenMap
from discreet.public_map import MAP_BITS, PublicMap


def unfixed(z: Floats, noise: Geometric, costs: Floats) -> NoiseThenMap:
    """Geometric noise, then for every noisy value the output of least expected cost given it, when counts follow z.

    The optimum for costs that do not fall as the error grows (Ghosh, Roughgarden and Sundararajan).
    """
    guesses = np.argmin(_noisy_costs(z, noise, costs), axis=1)
    last = np.flatnonzero(np.diff(guesses))  # noisy values after which the guess changes
    keys = (last + 1).astype(np.uint64) << np.uint64(MAP_BITS)
    outputs = guesses[np.concatenate([last, [len(z) - 1]])].astype(np.int64)
    return NoiseThenMap(noise, (0, len(z) - 1), PublicMap(0, MAP_BITS, keys, outputs))


def unfixed_bound(z: Floats, noise: Geometric, costs: Floats) -> float:
    """A lower bound on the cost of every private mechanism when counts follow z."""
    ratio = float(1 / noise.odds)
    duals = undo_two_sided(_noisy_costs(z, noise, costs).min(axis=1), ratio)
    spare = best_ratios(z[:, None] * costs - duals[:, None], np.ones(len(z)), -math.log(ratio), np.arange(len(z)))
    return math.fsum(duals) + len(z) * float(spare.min())


def _noisy_costs(z: Floats, noise: Geometric, costs: Floats) -> Floats:
    """[l, j]: the cost of publishing j at the noisy value l, times the mass of l, up to a factor of l."""
    return two_sided(z[:, None] * costs, float(1 / noise.odds))
