# mypy: disallow-untyped-decorators=False
"""The published samplers, compiled, so that a comparison with them is fair. Basis vectors are kept sparse."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from discreet.arrays import Integers

Generator = np.random.Generator


@njit(cache=True)
def double_geometric(rng: Generator, log_ratio: float) -> int:
    """P(k) proportional to a^|k|, a = e^log_ratio: the difference of two geometric variables."""
    up = np.int64(math.log(1.0 - rng.random()) / log_ratio)
    return up - np.int64(math.log(1.0 - rng.random()) / log_ratio)  # type: ignore[return-value]


@njit(cache=True)
def energy(law: int, rate: float, state: Integers) -> float:
    """0: rate |z|_1; 1: rate |z|_2; 2: rate |z|_2 squared."""
    total = 0
    for value in state:
        total += abs(value) if law == 0 else value * value
    return rate * math.sqrt(total) if law == 1 else rate * total


@njit(cache=True)
def add_multiple(state: Integers, start: Integers, cells: Integers, steps: Integers, vector: int, times: int) -> None:
    for entry in range(start[vector], start[vector + 1]):
        state[cells[entry]] += times * steps[entry]


@njit(cache=True)
def metropolis(
    rng: Generator,
    start: Integers,
    cells: Integers,
    steps: Integers,
    log_ratio: float,
    law: int,
    rate: float,
    joint: bool,
    thin: int,
    state: Integers,
    out: Integers,
) -> int:
    """Jumps of all coordinates at once, or of one after the other, accepted or not; returns how many were accepted."""
    size, accepted = start.shape[0] - 1, 0
    proposal, current = state.copy(), energy(law, rate, state)
    for record in range(out.shape[0]):
        for _ in range(thin):
            if joint:
                for vector in range(size):
                    add_multiple(proposal, start, cells, steps, vector, double_geometric(rng, log_ratio))
                proposed = energy(law, rate, proposal)
                if math.log(1.0 - rng.random()) <= current - proposed:
                    state[:] = proposal
                    current = proposed
                    accepted += 1
                else:
                    proposal[:] = state
            else:
                for vector in range(size):
                    accepted += one_coordinate(rng, start, cells, steps, vector, log_ratio, law, rate, state)
        for cell in range(out.shape[1]):
            out[record, cell] = state[cell]
    return accepted


@njit(cache=True)
def one_coordinate(
    rng: Generator,
    start: Integers,
    cells: Integers,
    steps: Integers,
    vector: int,
    log_ratio: float,
    law: int,
    rate: float,
    state: Integers,
) -> int:
    """A jump along one basis vector. For l1 only the cells it touches are looked at."""
    k = double_geometric(rng, log_ratio)
    if law == 0:
        change = 0
        for entry in range(start[vector], start[vector + 1]):
            old = state[cells[entry]]
            change += abs(old + k * steps[entry]) - abs(old)
        if math.log(1.0 - rng.random()) > -rate * change:
            return 0
        add_multiple(state, start, cells, steps, vector, k)
        return 1
    before = energy(law, rate, state)
    add_multiple(state, start, cells, steps, vector, k)
    if math.log(1.0 - rng.random()) > before - energy(law, rate, state):
        add_multiple(state, start, cells, steps, vector, -k)
        return 0
    return 1


@njit(cache=True)
def mass(k: int, log_ratio: float) -> float:
    return math.exp(log_ratio * abs(k))


@njit(cache=True)
def coupled_jump(rng: Generator, log_ratio: float, apart: int) -> tuple[int, int]:
    """Two double-geometric jumps, as often as possible such that the coordinates, `apart` before, are equal after."""
    one = double_geometric(rng, log_ratio)
    if rng.random() * mass(one, log_ratio) <= mass(one + apart, log_ratio):
        return one, one + apart
    while True:
        other = double_geometric(rng, log_ratio)
        if rng.random() * mass(other, log_ratio) > mass(other - apart, log_ratio):
            return one, other


@njit(cache=True)
def meeting(
    rng: Generator,
    start: Integers,
    cells: Integers,
    steps: Integers,
    width: int,
    log_ratio: float,
    law: int,
    rate: float,
    lag: int,
    most: int,
) -> int:
    """The iteration at which two chains of joint jumps meet, the second `lag` behind, or most + 1."""
    size = start.shape[0] - 1
    ahead, behind = np.zeros(width, np.int64), np.zeros(width, np.int64)
    at, later = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for iteration in range(1, most + 1):
        first, second = ahead.copy(), behind.copy()
        new_at, new_later = at.copy(), later.copy()
        for vector in range(size):
            if iteration > lag:
                one, other = coupled_jump(rng, log_ratio, at[vector] - later[vector])
                add_multiple(second, start, cells, steps, vector, other)
                new_later[vector] += other
            else:
                one = double_geometric(rng, log_ratio)
            add_multiple(first, start, cells, steps, vector, one)
            new_at[vector] += one
        chance = math.log(1.0 - rng.random())
        if chance <= energy(law, rate, ahead) - energy(law, rate, first):
            ahead, at = first, new_at
        if iteration > lag:
            if chance <= energy(law, rate, behind) - energy(law, rate, second):
                behind, later = second, new_later
            if (ahead == behind).all():
                return iteration
    return most + 1


@njit(cache=True)
def independence(
    rng: Generator,
    free: Integers,
    dependent: Integers,
    solve: Integers,
    divisor: int,
    rate: float,
    proposal_rate: float,
    lower: Integers,
    thin: int,
    state: Integers,
    out: Integers,
) -> int:
    """Free cells proposed afresh, the others solved for; a proposal out of bounds or not whole is refused."""
    accepted, proposal = 0, state.copy()
    current = _log_weight(state, free, dependent, rate, proposal_rate)
    for record in range(out.shape[0]):
        for _ in range(thin):
            inside = True
            for cell in free:
                proposal[cell] = double_geometric(rng, -proposal_rate)
                if proposal[cell] < lower[cell]:
                    inside = False
                    break
            if not inside or not _solved(proposal, free, dependent, solve, divisor, lower):
                continue
            proposed = _log_weight(proposal, free, dependent, rate, proposal_rate)
            if math.log(1.0 - rng.random()) <= proposed - current:
                state[:] = proposal
                current = proposed
                accepted += 1
        for cell in range(out.shape[1]):
            out[record, cell] = state[cell]
    return accepted


@njit(cache=True)
def _solved(
    proposal: Integers, free: Integers, dependent: Integers, solve: Integers, divisor: int, lower: Integers
) -> bool:
    for row in range(dependent.shape[0]):
        total = 0
        for column in range(free.shape[0]):
            total += solve[row, column] * proposal[free[column]]
        if total % divisor != 0:
            return False
        proposal[dependent[row]] = total // divisor
        if proposal[dependent[row]] < lower[dependent[row]]:
            return False
    return True


@njit(cache=True)
def _log_weight(state: Integers, free: Integers, dependent: Integers, rate: float, proposal_rate: float) -> float:
    """log of target over proposal."""
    total = 0.0
    for cell in free:
        total += (proposal_rate - rate) * abs(state[cell])
    for cell in dependent:
        total -= rate * abs(state[cell])
    return total
