# mypy: disallow-untyped-decorators=False
"""Compiled block moves: `block_moves`, step for step and word for word.

What the last places can add up to is weighed by recursion: beyond its bends the weight of a step falls geometrically,
so only steps between the bends are added up one by one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from discreet.arrays import Floats, Integers, Words
from discreet.lattice._kernels import below, mix, same, unit
from discreet.lattice.block_moves import CUT

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # splitmix64's own step: 2^64 over the golden ratio


@njit(cache=True)
def choose(sides: Integers, order: Integers, words: Words, cells: Integers, signs: Integers) -> int:
    """The cells of a block, a row for each place, and the sign of each column; returns how many places."""
    ways = sides.shape[0]
    axis = below(words[0], ways)
    places = np.empty((ways, 2), np.int64)
    used = 1
    for side in range(ways):
        if side != axis:
            one, other = below(words[used], sides[side]), below(words[used + 1], sides[side] - 1)
            places[side, 0], places[side, 1] = one, other + (other >= one)
            used += 2
    size: int = sides[axis]
    for corner in range(signs.shape[0]):
        sign, stride, start, along = 1, 1, 0, 0
        bits = corner
        for side in range(ways - 1, -1, -1):  # the last side is the last bit, as in a product
            if side == axis:
                along = stride
            else:
                start += stride * places[side, bits & 1]
                sign = -sign if bits & 1 else sign
                bits >>= 1
            stride *= sides[side]
        signs[corner] = sign
        for place in range(size):
            cells[place, corner] = order[start + along * place]
    return size


@njit(cache=True)
def bend(state: Integers, cells: Integers, signs: Integers, size: int, bends: Integers) -> None:
    """Where the cells of each place change sign, in order."""
    for place in range(size):
        for corner in range(signs.shape[0]):
            turn = -signs[corner] * state[cells[place, corner]]
            at = corner
            while at > 0 and bends[place, at - 1] > turn:
                bends[place, at] = bends[place, at - 1]
                at -= 1
            bends[place, at] = turn


@njit(cache=True)
def reach_of(bends: Integers, size: int, rate: float) -> int:
    lowest, highest, spread = 0, 0, 0
    for place in range(size):
        first, last = bends[place, 0], bends[place, bends.shape[1] - 1]
        lowest += first
        highest += last
        spread += max(abs(first), abs(last))
    within = lowest <= 0 <= highest
    return (spread // 2 + 1 if within else spread) + np.int64(np.ceil(CUT / (4.0 * rate)))  # type: ignore[return-value]


@njit(cache=True)
def weight(bends: Integers, place: int, decay: Floats, step: int) -> float:
    """e^-rate for each unit of length beyond the least."""
    length, middle = 0, bends[place, bends.shape[1] // 2]
    for corner in range(bends.shape[1]):
        length += abs(step - bends[place, corner]) - abs(middle - bends[place, corner])
    return decay[length] if length < decay.shape[0] else 0.0


@njit(cache=True)
def rest_of(bends: Integers, place: int, decay: Floats, after: Floats, rest: Floats) -> None:
    """The weight of every sum of this place and those after it, from that of those after it."""
    size, fall = rest.shape[0], float(decay[bends.shape[1]])
    low, high = bends[place, 0], bends[place, bends.shape[1] - 1]
    at_low, at_high = weight(bends, place, decay, low), weight(bends, place, decay, high)
    total = 0.0
    for sum_ in range(size - 1, -1, -1):  # steps up to the first bend
        other = sum_ - low
        if 0 <= other < size:
            total = fall * total + at_low * after[other]
        else:
            total *= fall
        rest[sum_] = total
    total = 0.0
    for sum_ in range(size):  # steps beyond the last
        other = sum_ - high - 1
        if 0 <= other < size:
            total += at_high * after[other]
        total *= fall
        rest[sum_] += total
    for step in range(low + 1, high + 1):
        heavy = weight(bends, place, decay, step)
        for sum_ in range(max(0, step), min(size, size + step)):
            rest[sum_] += heavy * after[sum_ - step]


@njit(cache=True)
def draw(bends: Integers, size: int, rate: float, decay: Floats, chances: Words, steps: Integers) -> None:
    """Steps that add up to zero, each inverted at the number of its word."""
    reach = reach_of(bends, size, rate)
    rests = np.empty((size, 2 * reach + 1))
    for sum_ in range(2 * reach + 1):
        rests[size - 1, sum_] = weight(bends, size - 1, decay, sum_ - reach)
    for place in range(size - 2, 0, -1):
        rest_of(bends, place, decay, rests[place + 1], rests[place])
    left = 0
    for place in range(size - 1):
        total = 0.0
        if place > 0:
            total = rests[place, left + reach]
        else:
            for other in range(2 * reach + 1):
                total += weight(bends, place, decay, left + reach - other) * rests[place + 1, other]
        mark, running, found = unit(chances[place]) * total, 0.0, left
        for other in range(2 * reach, -1, -1):
            mass = weight(bends, place, decay, left + reach - other) * rests[place + 1, other]
            if mass > 0.0:
                running += mass
                found = left + reach - other
                if running > mark:
                    break
        steps[place] = found
        left -= found
    steps[size - 1] = left


@njit(cache=True)
def block_step(
    sides: Integers,
    order: Integers,
    rate: float,
    decay: Floats,
    state: Integers,
    words: Words,
    room: tuple[Integers, Integers, Integers, Integers],
) -> None:
    """One block drawn anew, in place."""
    cells, signs, bends, steps = room
    size = choose(sides, order, words, cells, signs)
    bend(state, cells, signs, size, bends)
    draw(bends, size, rate, decay, words[1 + 2 * (sides.shape[0] - 1) :], steps)
    for place in range(size):
        for corner in range(signs.shape[0]):
            state[cells[place, corner]] += signs[corner] * steps[place]


@njit(cache=True)
def room_for(sides: Integers) -> tuple[Integers, Integers, Integers, Integers]:
    """Cells, signs, bends and steps of one block."""
    corners, longest = 1 << (sides.shape[0] - 1), sides.max()
    return (
        np.empty((longest, corners), np.int64),
        np.empty(corners, np.int64),
        np.empty((longest, corners), np.int64),
        np.empty(longest, np.int64),
    )


@njit(cache=True)
def run(sides: Integers, order: Integers, rate: float, decay: Floats, state: Integers, words: Words) -> None:
    """A step for each row of words, in place."""
    room = room_for(sides)
    for row in range(words.shape[0]):
        block_step(sides, order, rate, decay, state, words[row], room)


@njit(cache=True)
def streamed(word: np.uint64, words: Words) -> np.uint64:
    """Fill `words` with the stream that begins at `word`; returns where it goes on."""
    for place in range(words.shape[0]):
        words[place] = mix(word)
        word += _GOLDEN
    return word


@njit(cache=True)
def trace(
    sides: Integers,
    order: Integers,
    rate: float,
    decay: Floats,
    state: Integers,
    word: np.uint64,
    width: int,
    thin: int,
    out: Integers,
) -> None:
    """A recorded path, `thin` steps between records, each of so many words."""
    room, words = room_for(sides), np.empty(width, np.uint64)
    for record in range(out.shape[0]):
        for _ in range(thin):
            word = streamed(word, words)
            block_step(sides, order, rate, decay, state, words, room)
        out[record] = state


@njit(cache=True)
def meet(
    sides: Integers,
    order: Integers,
    rate: float,
    decay: Floats,
    width: int,
    updates: int,
    lag: int,
    most: int,
    word: np.uint64,
) -> int:
    """The iteration at which a chain meets a copy of itself that starts `lag` iterations later, or most + 1."""
    ahead, behind = np.zeros(order.shape[0], np.int64), np.zeros(order.shape[0], np.int64)
    room, words = room_for(sides), np.empty(width, np.uint64)
    for iteration in range(1, most + 1):
        for _ in range(updates):
            word = streamed(word, words)
            block_step(sides, order, rate, decay, ahead, words, room)
            if iteration > lag:
                block_step(sides, order, rate, decay, behind, words, room)
        if iteration > lag and same(ahead, behind):
            return iteration
    return most + 1
