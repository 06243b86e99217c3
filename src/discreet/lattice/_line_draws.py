# mypy: disallow-untyped-decorators=False
"""Compiled draws on a line: each inverts the line's distribution function at one number between 0 and 1."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from discreet.arrays import Floats, Integers

FAR = 1 << 40  # beyond any count
CUT = 45.0  # a weight below e^-45 of the largest is left out: less than a double's rounding
L1, L2, GAUSSIAN = 0, 1, 2  # their places in laws.LAWS: compiled code knows numbers only


class ChainPlan(NamedTuple):
    """What a chain needs to know, all of it public: the law, and the moves of `markov.Moves`."""

    law: int
    rate: float  # epsilon, or 1 / (2 sigma^2)
    decay: Floats  # e^(-epsilon j), for the l1 law
    counted: int  # cells from here on are slacks: bounded, but not part of the norm
    class_start: Integers
    class_cells: Integers
    swaps: Integers
    swap_share: float
    rows: int
    columns: int
    classes: Integers
    steps: Integers
    lengths: Integers
    jumps: bool
    plain: bool  # an unbounded l1 law on a two-way table of single cells: the fast case
    widest: int


class Room(NamedTuple):
    """Scratch space of one chain."""

    cells: Integers
    steps: Integers
    bends: Integers
    slopes: Integers
    low: Integers
    high: Integers
    tilt: Integers
    weight: Floats
    dense: Integers


@njit(cache=True)
def span(state: Integers, lower: Integers, room: Room, size: int) -> tuple[int, int]:
    """How far the line may be followed down and up before a cell meets its bound."""
    least, most = -FAR, FAR
    for entry in range(size):
        bound = lower[room.cells[entry]]
        if bound > -FAR:
            slack, step = state[room.cells[entry]] - bound, room.steps[entry]
            if step > 0:
                least = max(least, -(slack // step))
            else:
                most = min(most, slack // -step)
    return least, most


@njit(cache=True)
def power(plan: ChainPlan, exponent: int) -> float:
    return plan.decay[exponent] if exponent < plan.decay.shape[0] else 0.0


@njit(cache=True)
def bends_of(plan: ChainPlan, state: Integers, room: Room, size: int) -> tuple[int, int]:
    """Where cells change sign along the line, in order, into `room`; returns how many, and the first slope."""
    bends, slope = 0, 0
    for entry in range(size):
        if room.cells[entry] >= plan.counted:
            continue
        step, value = room.steps[entry], state[room.cells[entry]]
        if step < 0:
            step, value = -step, -value
        slope -= step
        turn = (-value) // step
        place = bends
        while place > 0 and room.bends[place - 1] > turn:
            room.bends[place], room.slopes[place] = room.bends[place - 1], room.slopes[place - 1]
            place -= 1
        room.bends[place], room.slopes[place] = turn, step
        bends += 1
    return bends, slope


@njit(cache=True)
def draw_l1(plan: ChainPlan, state: Integers, lower: Integers, room: Room, size: int, chance: float) -> int:
    """The line's law is geometric between neighbouring sign changes: weigh the pieces, then invert inside one."""
    least, most = span(state, lower, room, size)
    bends, slope = bends_of(plan, state, room, size)
    pieces, lightest = 0, FAR * 1024
    for piece in range(bends + 1):
        if piece > 0:
            slope += 2 * room.slopes[piece - 1]
        start = least if piece == 0 else max(least, room.bends[piece - 1] + 1)
        end = most if piece == bends else min(most, room.bends[piece])
        if start > end:
            continue
        best = start if slope >= 0 else end
        norm = 0
        for entry in range(size):
            if room.cells[entry] < plan.counted:
                norm += abs(state[room.cells[entry]] + best * room.steps[entry])
        room.low[pieces], room.high[pieces], room.tilt[pieces], room.weight[pieces] = start, end, slope, norm
        lightest = min(lightest, norm)
        pieces += 1
    k: int = _invert_pieces(plan, room, pieces, lightest, chance)
    return k


@njit(cache=True)
def _invert_pieces(plan: ChainPlan, room: Room, pieces: int, lightest: int, chance: float) -> int:
    total = 0.0
    for piece in range(pieces):
        peak = power(plan, np.int64(room.weight[piece]) - lightest)
        tilt, length = abs(room.tilt[piece]), room.high[piece] - room.low[piece] + 1
        if tilt == 0:
            mass = peak * length
        else:
            mass = peak * (1.0 - power(plan, tilt * length)) / (1.0 - plan.decay[tilt])
        room.weight[piece] = mass
        total += mass
    rest, piece = chance * total, 0
    while piece < pieces - 1 and rest >= room.weight[piece]:
        rest -= room.weight[piece]
        piece += 1
    start, end, tilt = room.low[piece], room.high[piece], room.tilt[piece]
    length = end - start + 1
    share = min(rest / room.weight[piece], 1.0) if room.weight[piece] > 0.0 else 0.0
    k: int
    if tilt == 0:
        k = start + min(np.int64(share * length), length - 1)
        return k
    reach = 1.0 - power(plan, abs(tilt) * length)
    below_peak = share if tilt > 0 else 1.0 - share
    past = np.int64(-math.log(max(1.0 - below_peak * reach, 1e-300)) / (plan.rate * abs(tilt)))
    past = min(past, length - 1)
    k = start + past if tilt > 0 else end - past
    return k


@njit(cache=True)
def beyond(decay: Floats, gap: int) -> tuple[float, float]:
    """The masses of the steps beyond the flat part of a minor's line: slope 2 for `gap` steps, then slope 4."""
    steep = decay[2 * gap] if 2 * gap < decay.shape[0] else 0.0
    return decay[2] * (1.0 - steep) / (1.0 - decay[2]), steep * decay[4] / (1.0 - decay[4])


@njit(cache=True)
def outward(rate: float, mass: float, gap: int, gentle: float, steep: float, first: float) -> int:
    """Which of those steps lies `mass` away from the edge of the flat part."""
    if mass < gentle:
        left = 1.0 - mass * (1.0 - first) / first
        return min(1 + np.int64(-math.log(max(left, 1e-300)) / (2.0 * rate)), gap)  # type: ignore[return-value]
    left = 1.0 - (mass - gentle) / steep if steep > 0.0 else 1.0
    return gap + 1 + np.int64(-math.log(max(left, 1e-300)) / (4.0 * rate))  # type: ignore[return-value]


@njit(cache=True)
def draw_minor(decay: Floats, rate: float, state: Integers, cells: Integers, chance: float) -> int:
    """The unbounded l1 line of a 2 x 2 minor: four bends, all steps one."""
    a, b, c, d = -state[cells[0]], -state[cells[1]], state[cells[2]], state[cells[3]]
    if a > b:
        a, b = b, a
    if c > d:
        c, d = d, c
    lowest, highest = min(a, c), max(b, d)
    left_edge, right_edge = max(a, c), min(b, d)
    if left_edge > right_edge:
        left_edge, right_edge = right_edge, left_edge
    near, far = beyond(decay, left_edge - lowest)
    after_near, after_far = beyond(decay, highest - right_edge)
    flat = right_edge - left_edge + 1.0
    rest = chance * (near + far + flat + after_near + after_far)
    k: int
    if rest < near + far:
        k = left_edge - outward(rate, near + far - rest, left_edge - lowest, near, far, decay[2])
        return k
    rest -= near + far
    if rest < flat:
        k = left_edge + np.int64(rest)
        return k
    k = right_edge + outward(rate, rest - flat, highest - right_edge, after_near, after_far, decay[2])
    return k


@njit(cache=True)
def draw_round(
    plan: ChainPlan, state: Integers, lower: Integers, room: Room, size: int, chance: float, square: int
) -> int:
    """A law of the Euclidean norm: add up the weights of the points within reach of the heaviest one."""
    least, most = span(state, lower, room, size)
    along, length = 0, 0
    for entry in range(size):
        if room.cells[entry] < plan.counted:
            along += state[room.cells[entry]] * room.steps[entry]
            length += room.steps[entry] * room.steps[entry]
    centre = -along / length
    off = max(0.0, square - along * along / length)
    mode = min(max(np.int64(math.floor(centre + 0.5)), least), most)
    closest = off + length * (mode - centre) ** 2
    if plan.law == GAUSSIAN:
        furthest = closest + CUT / plan.rate
    else:
        furthest = (math.sqrt(closest) + CUT / plan.rate) ** 2
    reach = math.sqrt(max(furthest - off, 0.0) / length)
    start = max(least, np.int64(math.floor(centre - reach)))
    end: int = min(most, np.int64(math.ceil(centre + reach)))
    total = 0.0
    for k in range(start, end + 1):
        total += _weight(plan, off + length * (k - centre) ** 2, closest)
    rest = chance * total
    for k in range(start, end):
        rest -= _weight(plan, off + length * (k - centre) ** 2, closest)
        if rest < 0.0:
            return k
    return end


@njit(cache=True)
def _weight(plan: ChainPlan, squared: float, closest: float) -> float:
    if plan.law == GAUSSIAN:
        return math.exp(-plan.rate * (squared - closest))
    return math.exp(-plan.rate * (math.sqrt(squared) - math.sqrt(closest)))


@njit(cache=True)
def draw(plan: ChainPlan, state: Integers, lower: Integers, room: Room, size: int, chance: float, square: int) -> int:
    k: int
    if plan.law == L1:
        k = draw_l1(plan, state, lower, room, size, chance)
    else:
        k = draw_round(plan, state, lower, room, size, chance, square)
    return k
