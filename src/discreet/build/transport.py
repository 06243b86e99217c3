"""Transport: exact noise, then the monotone map of the noisy law onto a target law.

For the geometric law and any convex cost the result is the best of all epsilon-private mechanisms with the target as
its output law (docs/proofs/transport.md). Nothing of size n x n is formed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.costs import cost_matrix
from discreet.distribution.decay import moments, two_sided
from discreet.errors import BadInput
from discreet.laws import NoiseLaw
from discreet.laws.law import constant_odds
from discreet.mechanism import NoiseThenMap
from discreet.public_map import monotone_map

Cells = tuple[Integers, Integers, Floats]

LARGEST_DENSE = 2001  # counts; a matrix of floats then takes 32 MB


def noisy_law(z: Floats, noise: NoiseLaw, clamp: tuple[int, int] | None = None) -> Floats:
    """The law of a count drawn from z (on 0, 1, ...) plus noise, clamped to a range that holds all counts."""
    low, high = (0, len(z) - 1) if clamp is None else clamp
    if low > 0 or high < len(z) - 1:
        raise BadInput(f"noisy counts were to be clamped to {low}..{high}", f"counts run over 0..{len(z) - 1}")
    padded = np.concatenate([np.zeros(-low), z, np.zeros(high - len(z) + 1)])
    odds = constant_odds(noise)
    if odds is not None:
        ratio = float(1 / odds)
        law = two_sided(padded, ratio) / (1 + ratio)
        law[1:-1] *= float(1 - 1 / odds)
        return law
    masses = np.trim_zeros(noise.masses(len(padded)), "b")
    reach = len(masses) - 1
    law = np.convolve(padded, np.concatenate([masses[:0:-1], masses]))[reach : reach + len(padded)]
    tails = noise.tails(len(padded))[: len(padded)]
    law[0], law[-1] = padded @ tails, padded[::-1] @ tails
    return law


def transport(z: Floats, noise: NoiseLaw, target: Floats | None = None) -> NoiseThenMap:
    """Noise, clamped to the range of z, then the monotone map of its law onto the target (z itself if not given)."""
    wanted = z if target is None else target
    return NoiseThenMap(noise, (0, len(z) - 1), monotone_map(noisy_law(z, noise), wanted))


def cells(form: NoiseThenMap, size: int) -> Cells:
    """Noisy value, output, and the share of the noisy value's mass that goes there: at most 2n - 1 of them."""
    assert form.map is not None
    ends = np.concatenate([[0], form.map.keys, [size << form.map.bits]]).astype(np.uint64)
    starts, stops = ends[:-1], ends[1:]
    used = np.flatnonzero(stops > starts)
    bits = np.uint64(form.map.bits)
    low, high = (starts[used] >> bits).astype(np.int64), ((stops[used] - np.uint64(1)) >> bits).astype(np.int64)
    which = np.repeat(used, high - low + 1)
    value = np.arange(len(which)) - np.repeat(np.cumsum(high - low + 1) - (high - low + 1) - low, high - low + 1)
    edge = value.astype(np.uint64) << bits
    top = np.minimum(stops[which], edge + (np.uint64(1) << bits))
    share = (top - np.maximum(starts[which], edge)).astype(float) / 2.0 ** int(bits)
    return value, form.map.outputs[which], share


def output_law(form: NoiseThenMap, z: Floats) -> Floats:
    """The law of what is published when counts follow z."""
    value, output, share = cells(form, len(z))
    law = np.zeros(len(z))
    np.add.at(law, output, noisy_law(z, form.noise)[value] * share)
    return law


def transport_cost(form: NoiseThenMap, z: Floats, cost: str | Any) -> float:
    """Expected cost when counts follow z; in linear time for the named convex costs, up to n = 2001 for any other."""
    size, odds = len(z), constant_odds(form.noise)
    value, output, share = cells(form, size)
    if odds is not None and isinstance(cost, str) and cost.partition(":")[0] in CONVEX:
        law_scale = np.full(size, float((odds - 1) / (odds + 1)))
        law_scale[[0, -1]] = float(odds / (odds + 1))
        return float((law_scale[value] * share) @ _cell_sums(z, float(1 / odds), cost, value, output))
    if size > LARGEST_DENSE:
        raise BadInput(
            f"the cost {cost!r} of a mechanism on {size} counts was asked for", f"it is known up to {LARGEST_DENSE}"
        )
    return float(z @ (cost_matrix(cost, size) * form.matrix()).sum(axis=1))


CONVEX = ("absolute", "squared", "lopsided")


def _cell_sums(z: Floats, ratio: float, cost: str, value: Integers, output: Integers) -> Floats:
    """sum over i of z_i ratio^|i-l| cost(i, j) for pairs (l, j) = (value, output)."""
    left, right = moments(z, ratio), tuple(moment[::-1] for moment in moments(z[::-1], ratio))
    mass = left[0] + right[0] - z
    lean, gap = right[1] - left[1], value - output
    if cost == "squared":
        return (left[2] + right[2])[value] + 2 * gap * lean[value] + gap.astype(float) ** 2 * mass[value]
    signed = lean[value] + gap * mass[value]
    decay = np.exp(np.abs(gap) * np.log(ratio))
    over = np.where(gap >= 0, decay * left[1][output], decay * right[1][output] - signed)
    under = np.where(gap >= 0, over + signed, decay * right[1][output])
    up, down = (1.0, 1.0) if cost == "absolute" else cost_matrix(cost, 2)[[0, 1], [1, 0]]
    sums: Floats = up * np.maximum(over, 0) + down * np.maximum(under, 0)
    return sums
