# mypy: disallow-untyped-decorators=False
"""Compiled chains: pick a direction, draw on its line, move.

The direction comes from one word and the draw from another, so two chains fed the same words are coupled.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from discreet.arrays import Floats, Integers, Words
from discreet.lattice._line_draws import ChainPlan, Room, draw, draw_minor

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # splitmix64's own step: 2^64 over the golden ratio
_TWICE = np.uint64(2 * 0x9E3779B97F4A7C15 % 2**64)  # every line move takes two words of the stream
_FIRST = np.uint64(0xBF58476D1CE4E5B9)  # splitmix64's own multipliers
_SECOND = np.uint64(0x94D049BB133111EB)  # the same
# shifts, as words like what they shift: splitmix64's own, half a word, and what a float cannot hold
_S27, _S30, _S31, _S32, _S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32), np.uint64(11)


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
    return np.int64(((word >> _S32) * np.uint64(bound)) >> _S32)  # type: ignore[return-value]


@njit(cache=True)
def room_for(plan: ChainPlan, size: int) -> Room:
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
def member(plan: ChainPlan, label: int, word: np.uint64) -> int:
    """A cell of the class."""
    start = plan.class_start[label]
    size = plan.class_start[label + 1] - start
    cell: int = plan.class_cells[start] if size == 1 else plan.class_cells[start + below(word, size)]
    return cell


@njit(cache=True)
def pick(plan: ChainPlan, word: np.uint64, room: Room) -> int:
    """A direction, chosen by the word alone and never by the state: its cells, its steps; returns how many cells."""
    size: int
    word = mix(word)
    if plan.swap_share > 0.0 and unit(word) < plan.swap_share:
        size = _pick_swap(plan, word, room)
        return size
    if plan.rows > 0:
        size = _pick_minor(plan, word, room)
        return size
    word = mix(word)
    if plan.jumps:
        size = _pick_jump(plan, word, room)
        return size
    row = below(word, plan.lengths.shape[0])
    size = plan.lengths[row]
    for entry in range(size):
        word = mix(word)
        room.cells[entry] = member(plan, plan.classes[row, entry], word)
        room.steps[entry] = plan.steps[row, entry]
    return size


@njit(cache=True)
def _pick_swap(plan: ChainPlan, word: np.uint64, room: Room) -> int:
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
def _pick_minor(plan: ChainPlan, word: np.uint64, room: Room) -> int:
    corners(plan.rows, plan.columns, word, room.cells)
    for entry in range(4):
        word = mix(word + _GOLDEN)
        room.cells[entry] = member(plan, room.cells[entry], word)
        room.steps[entry] = 1 if entry < 2 else -1
    return 4


@njit(cache=True)
def _pick_jump(plan: ChainPlan, word: np.uint64, room: Room) -> int:
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
    """Pick a minor, draw, move: the fast case, kept apart since handing a plan around costs more than the step."""
    corners(shape[0], shape[1], word, cells)
    for entry in range(4):
        cells[entry] = order[cells[entry]]
    k = draw_minor(decay, rate, state, cells, chance)
    state[cells[0]] += k
    state[cells[1]] += k
    state[cells[2]] -= k
    state[cells[3]] -= k


@njit(cache=True)
def move(plan: ChainPlan, state: Integers, room: Room, size: int, k: int, square: int) -> int:
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
def squared_norm(plan: ChainPlan, state: Integers) -> int:
    total = 0
    for cell in range(plan.counted):
        total += state[cell] * state[cell]
    return total


@njit(cache=True)
def step(
    plan: ChainPlan, state: Integers, lower: Integers, room: Room, square: int, word: np.uint64, chance: float
) -> int:
    """One line move in place; returns the new squared norm."""
    size = pick(plan, word, room)
    if size == 0:
        return square
    k = draw(plan, state, lower, room, size, chance, square)
    norm: int = move(plan, state, room, size, k, square)
    return norm


@njit(cache=True)
def run(plan: ChainPlan, state: Integers, lower: Integers, choices: Words, chances: Words) -> None:
    """One line move for each pair of words, in place."""
    room = room_for(plan, state.shape[0])
    if plan.plain:
        shape, order, decay, rate, cells = (
            (plan.rows, plan.columns),
            plan.class_cells,
            plan.decay,
            plan.rate,
            room.cells,
        )
        for t in range(choices.shape[0]):
            plain_step(shape, order, decay, rate, state, cells, choices[t], unit(chances[t]))
        return
    square = squared_norm(plan, state)
    for t in range(choices.shape[0]):
        square = step(plan, state, lower, room, square, choices[t], unit(chances[t]))


@njit(cache=True)
def stream(
    plan: ChainPlan, state: Integers, lower: Integers, room: Room, square: int, word: np.uint64, steps: int
) -> int:
    """Line moves in place, their words the stream that begins at `word`; returns the new squared norm."""
    if plan.plain:
        shape, order, decay, rate, cells = (
            (plan.rows, plan.columns),
            plan.class_cells,
            plan.decay,
            plan.rate,
            room.cells,
        )
        for _ in range(steps):
            plain_step(shape, order, decay, rate, state, cells, mix(word), unit(mix(word + _GOLDEN)))
            word += _TWICE
        return 0
    for _ in range(steps):
        square = step(plan, state, lower, room, square, mix(word), unit(mix(word + _GOLDEN)))
        word += _TWICE
    return square


@njit(cache=True)
def trace(plan: ChainPlan, state: Integers, lower: Integers, word: np.uint64, thin: int, out: Integers) -> None:
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
    return bool((one == other).all())


@njit(cache=True)
def meet(plan: ChainPlan, start: Integers, lower: Integers, updates: int, lag: int, most: int, word: np.uint64) -> int:
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
