"""Cells of neighbouring counts, and the chance that a count of one cell is seen in another."""

from __future__ import annotations

import math

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.laws import NoiseLaw

MOST_CELLS = 160  # a fit takes the cube of their number; more hardly change what is published
DENSE, LOGARITHMIC, EVEN = 0.4, 0.4, 0.2  # shares of the cells: where rows are, for small counts, over the whole range
# cells of one width to another begin, instead, at counts that leave one of these rests: about as many, one round each
APART = ((2, 2, 5, (0, 1, 3)), (3, 4, 5, (0, 1)), (5, 5, 10, (0, 1, 5)), (6, 9, 10, (0, 1)))
CROWD = 0.04  # of all rows: with as many near one count, the distribution there is told count by count
MOST_CROWDS = 8  # such places, the most crowded first
BESIDE = 4  # single counts on either side of the middle of one
JUST_BELOW = 0.999  # so that rounding does not end a cell one count early
TINY = 1e-100  # so that no logarithm is infinite
STEEPEST = 500.0  # in a logarithm, across a cell: beyond that its exponential is none that a float holds
NEGLIGIBLE = 1e-15  # a tail below the rounding of a float: chances of rows may end there
SMOOTH = 16  # steps of a sum, or more, to the width of noise whose masses hardly change in one
IMPOSSIBLE = 1e-60  # a tail that no table reaches; likelihoods of bad guesses are still compared up to it
WIDTHS = 64  # of noise, at most, on either side: values further out, which heavy tails have, are taken for the last
SUMMED = 1 << 16  # up to this reach sums over noise are made value by value, beyond it by as many steps


def width_of(noise: NoiseLaw) -> float:
    """How far a noisy value usually is from the true one."""
    return max(1.0, math.sqrt(noise.spread / (1 if noise.decay is None else 2)))


def reach_of(noise: NoiseLaw) -> int:
    """Beyond it the noise has next to no mass; of noise with heavy tails, hardly any."""
    return min(end_of(noise, NEGLIGIBLE), math.ceil(WIDTHS * width_of(noise)))


def end_of(noise: NoiseLaw, negligible: float) -> int:
    """Beyond it the noise has less mass than that, nearly."""
    width, low, high = math.sqrt(noise.spread), 0, 1
    while noise.log_mass(np.array([float(high)]))[0] + math.log1p(width) > math.log(negligible):
        low, high = high, 2 * high
    while high - low > max(1, low // SUMMED):
        middle = (low + high) // 2
        inside = noise.log_mass(np.array([float(middle)]))[0] + math.log1p(width) > math.log(negligible)
        low, high = (middle, high) if inside else (low, middle)
    return high


def cell_edges(histogram: Floats, noise: NoiseLaw) -> Integers:
    """The first counts of the cells, and one past the last. Every count is a cell while they are few; then cells are
    finer where rows are dense, with shares for small counts and for the tail so that neither is lost."""
    size = len(histogram)
    if size <= MOST_CELLS:
        return np.arange(size + 1)
    upto, place, width = np.cumsum(np.pad(histogram, (1, 0))), np.arange(size), int(min(width_of(noise), size))
    dense = np.sqrt(upto[np.minimum(place + width + 1, size)] - upto[np.maximum(place - width, 0)])
    small = 1 / (place + width_of(noise))
    share = DENSE * dense / dense.sum() + LOGARITHMIC * small / small.sum() + EVEN / size
    number = np.floor(np.cumsum(np.minimum(share * MOST_CELLS, 1.0)) * JUST_BELOW)
    starts = np.flatnonzero(np.diff(number, prepend=-1) > 0)
    edges = _round_apart(np.unique(np.concatenate([[0, 1], starts, [size - 1, size]])))
    return np.unique(np.append(edges, _crowded(upto, width)))


def _crowded(upto: Integers | Floats, width: int) -> Integers:
    """Single counts where a good part of all rows is within the noise of one count."""
    size, found = len(upto) - 1, []
    place = np.arange(size)
    near = upto[np.minimum(place + width + 1, size)] - upto[np.maximum(place - width, 0)]
    for _ in range(MOST_CROWDS):
        middle = int(near.argmax())
        if near[middle] < CROWD * upto[-1]:
            break
        found.append(np.arange(max(0, middle - BESIDE), min(size, middle + BESIDE + 1) + 1))
        near[max(0, middle - 2 * width) : middle + 2 * width + 1] = 0
    return np.concatenate([np.zeros(1, dtype=np.int64), *found])


def _round_apart(edges: Integers) -> Integers:
    """About as many cells, in which round numbers have their own as far as that goes: people round."""
    place, widths = np.arange(edges[-1]), np.diff(edges)
    wide, starts = np.repeat(widths, widths), np.zeros(edges[-1], dtype=bool)
    starts[edges[:-1]] = True
    for narrowest, widest, unit, places in APART:
        starts = np.where((wide >= narrowest) & (wide <= widest), np.isin(place % unit, places), starts)
    return np.unique(np.concatenate([np.flatnonzero(starts), edges[:2], edges[-2:]]))


def seen_edges(edges: Integers, noise: NoiseLaw, low: int, high: int) -> Integers:
    """The first noisy values of the cells that they are seen in, and one past the last; the outermost are open-ended.

    Geometric noise says no more the further out it is, so what is below 0 is seen as 0. Other noise does.
    """
    if noise.decay is not None:
        return edges
    step = max(1, int(width_of(noise) / 3))
    below = np.arange(-step, low - step, -step)[::-1]
    return np.concatenate([below, edges, np.arange(edges[-1] + step, high + 1 + step, step)])


def blur(edges: Integers, seen: Integers, noise: NoiseLaw) -> Floats:
    """P(noisy value in cell J | count anywhere in cell I alike), by differences of E max(0, k - noise).

    Cells to the right of I are counted from the right, so that small chances are exact on either side.
    """
    start, end, border = edges[:-1, None], edges[1:, None], seen[None, 1:-1]
    below = (expected_excess(border - start, noise) - expected_excess(border - end, noise)) / (end - start)
    above = (expected_excess(end - border, noise) - expected_excess(start - border, noise)) / (end - start)
    from_left = np.diff(np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))))
    from_right = -np.diff(np.pad(above, ((0, 0), (1, 1)), constant_values=((0, 0), (1, 0))))
    return np.maximum(np.where(seen[None, :-1] >= end, from_right, from_left), TINY)


def expected_excess(k: Integers, noise: NoiseLaw) -> Floats:
    """E max(0, k - X) for a noise X; by symmetry max(0, k) + E max(0, X - |k|)."""
    distance: Integers = np.abs(k)
    positive: Floats = np.maximum(k, 0).astype(float)
    if noise.decay is not None:
        beyond: Floats = np.exp(math.log(noise.decay) * (distance + 1)) / ((1 + noise.decay) * (1 - noise.decay))
        return positive + beyond
    reach = end_of(noise, IMPOSSIBLE)
    if reach <= SUMMED:
        return positive + _exact_excess(distance, noise, reach)
    heavy = reach // SUMMED * SMOOTH > width_of(noise)
    return positive + (_heavy_excess if heavy else _smooth_excess)(distance, noise, reach)


def _exact_excess(distance: Integers, noise: NoiseLaw, reach: int) -> Floats:
    """E max(0, X - distance): the sum over j > distance of P(X >= j)."""
    summed = np.append(np.cumsum(noise.tails(reach)[::-1])[::-1], 0.0)
    excess: Floats = summed[np.minimum(distance + 1, len(summed) - 1)]
    return excess


def _smooth_excess(distance: Integers, noise: NoiseLaw, reach: int) -> Floats:
    """The same where the noise is so wide that its masses hardly change from one step to the next: by sums over steps,
    and between them by the cubic with the right values and slopes."""
    step = -(-reach // SUMMED)
    mass = np.exp(noise.log_mass(step * np.arange(SUMMED + 2.0)))
    above = step * (np.cumsum(mass[::-1])[::-1] - mass / 2)  # P(X > k) + P(X = k) / 2
    excess = step * (np.cumsum(above[::-1])[::-1] - above / 2)
    first = np.minimum(distance // step, SUMMED)
    part = np.minimum(distance / step - first, 1.0)
    value, last, slope, last_slope = excess[first], excess[first + 1], -step * above[first], -step * above[first + 1]
    bend, rest = slope - (last - value), (last - value) - last_slope
    cubic: Floats = (1 - part) * value + part * last + part * (1 - part) * ((1 - part) * bend + part * rest)
    return np.maximum(cubic, 0.0)


def _heavy_excess(distance: Integers, noise: NoiseLaw, reach: int) -> Floats:
    """The same for tails so heavy that they are long when the noise is narrow: value by value near 0, by steps that
    grow beyond, between which it falls by a power."""
    far = np.unique(np.rint(np.geomspace(SUMMED, reach, SUMMED)))
    above = _upwards(far, np.exp(noise.log_mass(far)))
    excess = _upwards(far, above)
    near = _exact_excess(np.minimum(distance, SUMMED), noise, SUMMED) + excess[0]
    falling = np.exp(np.interp(np.log(np.maximum(distance, 1)), np.log(far), np.log(np.maximum(excess, TINY))))
    found: Floats = np.where(distance < SUMMED, near, falling)
    return found


def _upwards(places: Floats, values: Floats) -> Floats:
    """The integral from each place to the last, of a function that is known there."""
    steps = np.diff(places) * (values[1:] + values[:-1]) / 2
    return np.append(np.cumsum(steps[::-1])[::-1], 0.0)


def spread_out(log_density: Floats, masses: Floats, cells: Integers, edges: Integers) -> Floats:
    """The share of every count, every cell keeping its mass. In wide cells it grows or falls as from cell to cell, by
    the lesser of both sides; where they disagree, as at a spike, it is even."""
    widths, whole, slope = np.diff(edges), np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)
    whole[cells] = masses
    if edges[-1] == len(widths):
        return whole
    middles = (edges[:-1] + edges[1:] - 1) / 2
    if len(cells) == cells[-1] - cells[0] + 1 and len(cells) > 2:
        steps = np.diff(log_density) / np.diff(middles[cells])
        left, right = steps[:-1], steps[1:]
        slope[cells[1:-1]] = np.where(left * right > 0, np.sign(left) * np.minimum(np.abs(left), np.abs(right)), 0.0)
    slope *= np.minimum(1, STEEPEST / np.maximum(np.abs(slope) * widths, STEEPEST))
    shape = np.exp(np.repeat(slope, widths) * (np.arange(edges[-1]) - np.repeat(middles, widths)))
    shares: Floats = shape * np.repeat(whole / np.add.reduceat(shape, edges[:-1]), widths)
    return shares
