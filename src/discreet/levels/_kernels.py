# mypy: disallow-untyped-decorators=False
"""Compiled steps, node by node: the same tables as from the plain ones in `fit`, `rounding` and `feedback`."""

from __future__ import annotations

import numpy as np
from numba import njit

from discreet.arrays import Flags, Floats, Integers
from discreet.levels import feedback

settle_blocks = njit(cache=True)(feedback.settle_blocks)


@njit(cache=True)
def in_turn(
    target: Floats,
    spread: Floats,
    ends: Integers,
    rows: Integers,
    columns: Integers,
    unit: int,
    sweeps: int,
    turns: int,
    close: int,
    farthest: float,
) -> Integers:
    """Newton's steps for rows and for columns in turn, until a node's sums are close."""
    fine = np.empty(target.shape, np.int64)
    by_row, by_column = np.zeros(rows.shape), np.zeros(columns.shape)
    _, coarse, width = target.shape
    gap, room = np.empty((coarse, width), np.int64), np.empty((coarse, width), np.int64)
    start = 0
    for node in range(len(ends)):
        for _ in range(sweeps):
            gap[:] = columns[node]
            room[:] = 0
            for child in range(start, ends[node]):
                for i in range(coarse):
                    for turn in range(turns + 1):
                        left, grows = rows[child, i], np.int64(0)
                        for j in range(width):
                            x = target[child, i, j] + spread[child, i, j] * (by_row[child, i] + by_column[node, i, j])
                            here = np.int64(np.rint(min(max(x, 0.0), farthest) * unit))
                            fine[child, i, j] = here
                            left -= here
                            if here > 0:
                                grows += np.int64(np.rint(spread[child, i, j] * unit))
                        if turn == turns or (turn and abs(left) <= close):
                            break
                        by_row[child, i] += left / max(grows, 1)
                    for j in range(width):
                        gap[i, j] -= fine[child, i, j]
                        if fine[child, i, j] > 0:
                            room[i, j] += np.int64(np.rint(spread[child, i, j] * unit))
            if np.abs(gap).max() <= close:
                break
            for turn in range(turns):
                for i in range(coarse):
                    for j in range(width):
                        if not turn or abs(gap[i, j]) > close:
                            by_column[node, i, j] += gap[i, j] / max(room[i, j], 1)
                if turn + 1 == turns:
                    break
                gap[:] = columns[node]
                room[:] = 0
                for child in range(start, ends[node]):
                    for i in range(coarse):
                        for j in range(width):
                            x = target[child, i, j] + spread[child, i, j] * (by_row[child, i] + by_column[node, i, j])
                            here = np.int64(np.rint(min(max(x, 0.0), farthest) * unit))
                            gap[i, j] -= here
                            if here > 0:
                                room[i, j] += np.int64(np.rint(spread[child, i, j] * unit))
                if np.abs(gap).max() <= close:
                    break
        start = ends[node]
    return fine


@njit(cache=True)
def settle_cycles(fine: Integers, ends: Integers, bits: int, ties: Flags) -> Integers:
    """Cells made whole along cycles, bit by bit; [child, cell], the children of each node ending at `ends`."""
    width = fine.shape[1]
    wanted, found = fine.reshape(-1), fine.copy().reshape(-1)
    most, start = 0, 0
    for end in ends:
        most, start = max(most, end - start), end
    odd, partner = np.empty(most * width, np.int64), np.empty(most * width, np.int64)
    waiting, seen = np.empty(width, np.int64), np.empty(most * width, np.bool_)
    start = 0
    for end in ends:
        for bit in range(bits):
            step = 1 << bit
            size = 0
            waiting[:] = -1
            for cell in range(start * width, end * width):
                if found[cell] & step:
                    column = cell % width
                    odd[size], seen[size] = cell, False
                    if waiting[column] < 0:
                        waiting[column] = size
                    else:
                        partner[size], partner[waiting[column]] = waiting[column], size
                        waiting[column] = -1
                    size += 1
            for first in range(size):
                if not seen[first]:
                    _round_cycle(first, odd, partner, seen, wanted, found, step, ties[odd[first]])
        start = end
    return found >> bits


@njit(cache=True)
def _round_cycle(
    first: int,
    odd: Integers,
    partner: Integers,
    seen: Flags,
    wanted: Integers,
    found: Integers,
    step: int,
    tie: bool,
) -> None:
    """Up and down in turn, the way round that leaves the cells nearer to what was wanted."""
    lead, place = 0, first
    while not seen[place]:
        across = place ^ 1
        lead += (found[odd[place]] - wanted[odd[place]]) - (found[odd[across]] - wanted[odd[across]])
        seen[place] = seen[across] = True
        place = partner[across]
    change = step if lead < 0 or (lead == 0 and not tie) else -step
    place = first
    while True:
        across = place ^ 1
        found[odd[place]] += change
        found[odd[across]] -= change
        place = partner[across]
        if place == first:
            return
