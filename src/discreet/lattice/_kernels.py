# mypy: disallow-untyped-decorators=False
"""Compiled line moves: one step of a chain along a lattice direction, drawn from its law on that line.

Every draw inverts the line's distribution function at one uniform number, so two chains fed the same words are coupled.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

FAR = 1 << 40  # beyond any count
CUT = 45.0  # a weight below e^-45 of the largest is left out: less than a double's rounding
L1, L2, GAUSSIAN = 0, 1, 2

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_TWICE = np.uint64(2 * 0x9E3779B97F4A7C15 % 2**64)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32, _S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32), np.uint64(11)


class Plan(NamedTuple):
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
def mix(word: np.uint64) -> np.uint64:
    """A word scrambled (splitmix64): a stream is the scrambled words of a counter that grows by _GOLDEN."""
    word = word + _GOLDEN
    word = (word ^ (word >> _S30)) * _FIRST
    word = (word ^ (word >> _S27)) * _SECOND
    return word ^ (word >> _S31)


@njit(cache=True)
def unit(word: np.uint64) -> float:
    """A number strictly between 0 and 1."""
    return (np.float64(word >> _S11) + 0.5) * 1.1102230246251565e-16


@njit(cache=True)
def below(word: np.uint64, bound: int) -> int:
    return np.int64(((word >> _S32) * np.uint64(bound)) >> _S32)


@njit(cache=True)
def room_for(plan: Plan, size: int) -> Room:
    wide = plan.widest
    return Room(
        np.empty(wide, np.int64),
        np.empty(wide, np.int64),
        np.empty(wide, np.int64),
        np.empty(wide, np.int64),
        np.empty(wide + 1, np.int64),
        np.empty(wide + 1, np.int64),
        np.empty(wide + 1, np.int64),
        np.empty(wide + 1, np.float64),
        np.zeros(size if plan.jumps else 1, np.int64),
    )


@njit(cache=True)
def member(plan: Plan, label: int, word: np.uint64) -> int:
    """A cell of the class."""
    start = plan.class_start[label]
    size = plan.class_start[label + 1] - start
    if size == 1:
        return plan.class_cells[start]
    return plan.class_cells[start + below(word, size)]


@njit(cache=True)
def pick(plan: Plan, word: np.uint64, room: Room) -> int:
    """A direction, chosen by the word alone and never by the state: its cells, its steps; returns how many cells."""
    word = mix(word)
    if plan.swap_share > 0.0 and unit(word) < plan.swap_share:
        return _pick_swap(plan, word, room)
    if plan.rows > 0:
        return _pick_minor(plan, word, room)
    word = mix(word)
    if plan.jumps:
        return _pick_jump(plan, word, room)
    row = below(word, plan.lengths.shape[0])
    for entry in range(plan.lengths[row]):
        word = mix(word)
        room.cells[entry] = member(plan, plan.classes[row, entry], word)
        room.steps[entry] = plan.steps[row, entry]
    return plan.lengths[row]


@njit(cache=True)
def _pick_swap(plan: Plan, word: np.uint64, room: Room) -> int:
    word = mix(word)
    label = plan.swaps[below(word, plan.swaps.shape[0])]
    start = plan.class_start[label]
    size = plan.class_start[label + 1] - start
    word = mix(word)
    one, other = below(word, size), below(word << _S32, size - 1)
    other += other >= one
    room.cells[0], room.cells[1] = plan.class_cells[start + one], plan.class_cells[start + other]
    room.steps[0], room.steps[1] = 1, -1
    return 2


@njit(cache=True)
def corners(rows: int, columns: int, word: np.uint64, cells: Integers) -> None:
    """Two rows and two columns: places on their first diagonal, then on the other."""
    word = mix(word)
    top, bottom = below(word, rows), below(word << _S32, rows - 1)
    bottom += bottom >= top
    word = mix(word)
    left, right = below(word, columns), below(word << _S32, columns - 1)
    right += right >= left
    cells[0], cells[1] = top * columns + left, bottom * columns + right
    cells[2], cells[3] = top * columns + right, bottom * columns + left


@njit(cache=True)
def _pick_minor(plan: Plan, word: np.uint64, room: Room) -> int:
    corners(plan.rows, plan.columns, word, room.cells)
    for entry in range(4):
        word = mix(word + _GOLDEN)
        room.cells[entry] = member(plan, room.cells[entry], word)
        room.steps[entry] = 1 if entry < 2 else -1
    return 4


@njit(cache=True)
def _pick_jump(plan: Plan, word: np.uint64, room: Room) -> int:
    """The sum of a random number of signed basis vectors: every lattice vector has a chance."""
    again = True
    while again:
        row = below(word, plan.lengths.shape[0])
        word = mix(word)
        sign = 1 if unit(word) < 0.5 else -1
        for entry in range(plan.lengths[row]):
            word = mix(word)
            room.dense[member(plan, plan.classes[row, entry], word)] += sign * plan.steps[row, entry]
        word = mix(word)
        again = unit(word) < 0.5
        word = mix(word)
    size = 0
    for cell in range(room.dense.shape[0]):
        if room.dense[cell] != 0:
            room.cells[size], room.steps[size] = cell, room.dense[cell]
            room.dense[cell] = 0
            size += 1
    return size


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
def power(plan: Plan, exponent: int) -> float:
    return plan.decay[exponent] if exponent < plan.decay.shape[0] else 0.0


@njit(cache=True)
def draw_l1(plan: Plan, state: Integers, lower: Integers, room: Room, size: int, chance: float) -> int:
    """The line's law is geometric between neighbouring sign changes: weigh the pieces, then invert inside one."""
    least, most = span(state, lower, room, size)
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
    return _invert_pieces(plan, room, pieces, lightest, chance)


@njit(cache=True)
def _invert_pieces(plan: Plan, room: Room, pieces: int, lightest: int, chance: float) -> int:
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
    if tilt == 0:
        return start + min(np.int64(share * length), length - 1)
    reach = 1.0 - power(plan, abs(tilt) * length)
    below_peak = share if tilt > 0 else 1.0 - share
    past = np.int64(-math.log(max(1.0 - below_peak * reach, 1e-300)) / (plan.rate * abs(tilt)))
    past = min(past, length - 1)
    return start + past if tilt > 0 else end - past


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
        return min(1 + np.int64(-math.log(max(left, 1e-300)) / (2.0 * rate)), gap)
    left = 1.0 - (mass - gentle) / steep if steep > 0.0 else 1.0
    return gap + 1 + np.int64(-math.log(max(left, 1e-300)) / (4.0 * rate))


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
    if rest < near + far:
        return left_edge - outward(rate, near + far - rest, left_edge - lowest, near, far, decay[2])
    rest -= near + far
    if rest < flat:
        return left_edge + np.int64(rest)
    return right_edge + outward(rate, rest - flat, highest - right_edge, after_near, after_far, decay[2])


@njit(cache=True)
def plain_step(
    shape: tuple[int, int],
    order: Integers,
    decay: Floats,
    rate: float,
    state: Integers,
    cells: Integers,
    word: np.uint64,
    chance: float,
) -> None:
    """Pick a minor, draw, move: the fast case, kept apart because passing whole plans around costs more than the step."""
    corners(shape[0], shape[1], word, cells)
    for entry in range(4):
        cells[entry] = order[cells[entry]]
    k = draw_minor(decay, rate, state, cells, chance)
    state[cells[0]] += k
    state[cells[1]] += k
    state[cells[2]] -= k
    state[cells[3]] -= k


@njit(cache=True)
def draw_round(
    plan: Plan, state: Integers, lower: Integers, room: Room, size: int, chance: float, square: int
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
    end = min(most, np.int64(math.ceil(centre + reach)))
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
def _weight(plan: Plan, squared: float, closest: float) -> float:
    if plan.law == GAUSSIAN:
        return math.exp(-plan.rate * (squared - closest))
    return math.exp(-plan.rate * (math.sqrt(squared) - math.sqrt(closest)))


@njit(cache=True)
def draw(plan: Plan, state: Integers, lower: Integers, room: Room, size: int, chance: float, square: int) -> int:
    if plan.law == L1:
        return draw_l1(plan, state, lower, room, size, chance)
    return draw_round(plan, state, lower, room, size, chance, square)


@njit(cache=True)
def move(plan: Plan, state: Integers, room: Room, size: int, k: int, square: int) -> int:
    """Take the step, and return the new squared norm."""
    if k == 0:
        return square
    for entry in range(size):
        cell = room.cells[entry]
        old = state[cell]
        state[cell] = old + k * room.steps[entry]
        if cell < plan.counted:
            square += state[cell] * state[cell] - old * old
    return square


@njit(cache=True)
def squared_norm(plan: Plan, state: Integers) -> int:
    total = 0
    for cell in range(plan.counted):
        total += state[cell] * state[cell]
    return total


@njit(cache=True)
def step(
    plan: Plan, state: Integers, lower: Integers, room: Room, square: int, word: np.uint64, chance: float
) -> int:
    """One line move in place; returns the new squared norm."""
    size = pick(plan, word, room)
    if size == 0:
        return square
    k = draw(plan, state, lower, room, size, chance, square)
    return move(plan, state, room, size, k, square)


@njit(cache=True)
def run(plan: Plan, state: Integers, lower: Integers, choices: Words, chances: Words) -> None:
    """One line move for each pair of words, in place."""
    room = room_for(plan, state.shape[0])
    if plan.plain:
        shape, order, decay, rate, cells = (plan.rows, plan.columns), plan.class_cells, plan.decay, plan.rate, room.cells
        for t in range(choices.shape[0]):
            plain_step(shape, order, decay, rate, state, cells, choices[t], unit(chances[t]))
        return
    square = squared_norm(plan, state)
    for t in range(choices.shape[0]):
        square = step(plan, state, lower, room, square, choices[t], unit(chances[t]))


@njit(cache=True)
def stream(plan: Plan, state: Integers, lower: Integers, room: Room, square: int, word: np.uint64, steps: int) -> int:
    """Line moves in place, their words the stream that begins at `word`; returns the new squared norm."""
    if plan.plain:
        shape, order, decay, rate, cells = (plan.rows, plan.columns), plan.class_cells, plan.decay, plan.rate, room.cells
        for _ in range(steps):
            plain_step(shape, order, decay, rate, state, cells, mix(word), unit(mix(word + _GOLDEN)))
            word += _TWICE
        return 0
    for _ in range(steps):
        square = step(plan, state, lower, room, square, mix(word), unit(mix(word + _GOLDEN)))
        word += _TWICE
    return square


@njit(cache=True)
def trace(plan: Plan, state: Integers, lower: Integers, word: np.uint64, thin: int, out: Integers) -> None:
    """A recorded path, for simulations: `thin` line moves between records."""
    room = room_for(plan, state.shape[0])
    square = squared_norm(plan, state)
    for record in range(out.shape[0]):
        square = stream(plan, state, lower, room, square, word, thin)
        word += _TWICE * np.uint64(thin)
        for cell in range(out.shape[1]):
            out[record, cell] = state[cell]


@njit(cache=True)
def same(one: Integers, other: Integers) -> bool:
    for cell in range(one.shape[0]):
        if one[cell] != other[cell]:
            return False
    return True


@njit(cache=True)
def meet(
    plan: Plan, start: Integers, lower: Integers, updates: int, lag: int, most: int, word: np.uint64
) -> int:
    """The iteration at which a chain meets a copy of itself that starts `lag` iterations later, or most + 1.

    Both chains read the same words, so that each line is inverted at the same uniform number.
    """
    ahead, behind = start.copy(), start.copy()
    room = room_for(plan, start.shape[0])
    square = squared_norm(plan, start)
    later = square
    for iteration in range(1, most + 1):
        square = stream(plan, ahead, lower, room, square, word, updates)
        if iteration > lag:
            later = stream(plan, behind, lower, room, later, word, updates)
            if same(ahead, behind):
                return iteration
        word += _TWICE * np.uint64(updates)
    return most + 1
