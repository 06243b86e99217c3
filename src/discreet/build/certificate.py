"""Optimality of transport, checked and not only proven: dual potentials and the bound they give."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.build.pricing import lower_bound
from discreet.build.transport import output_law
from discreet.distribution.decay import two_sided
from discreet.laws.law import constant_odds
from discreet.mechanism import NoiseThenMap


def transport_bound(form: NoiseThenMap, z: Floats, costs: Floats) -> float:
    """A lower bound on the cost of every private mechanism that publishes the same law when counts follow z.

    That law is the target of the map, up to the rounding of the map. For convex costs transport meets the bound.
    """
    ratio = _ratio(form)
    potentials = noisy_potentials(form, z, costs)
    duals = row_duals(potentials, z, ratio)
    return lower_bound(costs, z, -np.log(ratio), duals, potentials, output_law(form, z))


def noisy_potentials(form: NoiseThenMap, z: Floats, costs: Floats) -> Floats:
    """Potentials of the noisy values, along the staircase of the coupling.

    Where the noisy value l gives way to l + 1 both feed one output, so their potentials differ by as much as their
    costs of that output do.
    """
    assert form.map is not None
    corners = np.arange(1, len(z), dtype=np.uint64) << np.uint64(form.map.bits)
    shared = form.map.outputs[np.searchsorted(form.map.keys, corners, side="right")]
    posterior = posteriors(z, _ratio(form))
    rises = np.einsum("li,il->l", posterior[1:] - posterior[:-1], costs[:, shared])
    return np.concatenate([[0.0], np.cumsum(rises)])


def _ratio(form: NoiseThenMap) -> float:
    odds = constant_odds(form.noise)
    assert odds is not None, "the bound is known for geometric noise only"
    return float(1 / odds)


def row_duals(potentials: Floats, z: Floats, ratio: float) -> Floats:
    """G^-1 (h p) - z p, where G[i, l] = ratio^|i-l|, h = G z: what the duals of the row sums add to z times p."""
    mass, rises = two_sided(z, ratio), np.diff(potentials)
    flow = np.zeros(len(z))
    flow[1:] += mass[:-1] * rises
    flow[:-1] -= mass[1:] * rises
    return flow * (ratio / (1 - ratio * ratio))


def posteriors(z: Floats, ratio: float) -> Floats:
    """[l, i]: the probability of the count i given the noisy value l, safe where both are next to impossible."""
    steps = np.arange(len(z))
    with np.errstate(divide="ignore"):
        logs = np.log(z) + np.log(ratio) * np.abs(steps[:, None] - steps)
    raw = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares: Floats = raw / raw.sum(axis=1, keepdims=True)
    return shares
