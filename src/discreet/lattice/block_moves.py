"""Block moves of a chain on a two-way or three-way table, in numpy: what the compiled ones must match, and what serves
where they cannot be had.

A block runs along one side of the table between two places of every other side: a pair of rows, or four lines, their
signs alternating. Add x_j at the j-th place of the block with these signs: every kept sum stays if the x_j add up to
zero. Under the l1 law the x_j are independent but for that sum, so they are drawn one after another, each from its
weight times the weight of all ways in which those after it can make up the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Words

CUT = 45.0  # sums that are e^-45 as likely as the likeliest are left out: less than a double's rounding
_GOLDEN = 0x9E3779B97F4A7C15  # splitmix64's own step: 2^64 over the golden ratio


@dataclass(frozen=True)
class Block:
    """The cells of a block, a row for each of its places, and the sign of each column."""

    cells: Integers
    signs: Integers


def words_of_step(sides: Sequence[int]) -> int:
    """For the side, for two places of every other one, and for all steps but the last, which follows from them."""
    return 1 + 2 * (len(sides) - 1) + max(sides) - 1


def below(word: int, bound: int) -> int:
    return ((int(word) >> 32) * bound) >> 32


def chosen(table: Integers, words: Words) -> Block:
    """A block of the table, which has the number of a cell at each place; by the words alone, never by the state."""
    axis = below(words[0], table.ndim)
    places: list[Sequence[int]] = []
    others = [side for side in range(table.ndim) if side != axis]
    for number, side in enumerate(others):
        one = below(words[1 + 2 * number], table.shape[side])
        other = below(words[2 + 2 * number], table.shape[side] - 1)
        places.append((one, other + (other >= one)))
    across: Any = np.moveaxis(table, axis, 0)
    corners = list(product((0, 1), repeat=len(others)))
    cells = [across[(slice(None), *(pair[bit] for pair, bit in zip(places, corner)))] for corner in corners]
    return Block(np.stack(cells, axis=1), np.array([(-1) ** sum(corner) for corner in corners]))


def reach_of(bends: Integers, rate: float) -> int:
    """How large sums of the first steps may be; larger ones have less than e^-CUT of the greatest weight.

    The range of a place is that between its first and its last bend, and `spread` the sum of their larger ends. A unit
    outside its range costs a place as many units as it has bends, a unit inside at most two fewer. If the ranges allow
    a sum of zero, then steps whose first part adds up to S are 2 |S| - spread outside them in all, and cost twice that
    more than some steps within them. If not, they are |S| - spread outside on the side that does not help, and cost at
    least four times that more than steps without it.
    """
    lowest, highest = bends.min(axis=1), bends.max(axis=1)
    spread = int(np.maximum(abs(lowest), abs(highest)).sum())
    within = lowest.sum() <= 0 <= highest.sum()
    return (spread // 2 + 1 if within else spread) + math.ceil(CUT / (4 * rate))


def weights_of(bends: Integers, points: Integers, rate: float) -> Floats:
    """Of every step in `points` at every place: e^-rate for each unit of length beyond the least."""
    length = np.abs(points[None, :, None] - bends[:, None, :]).sum(axis=2)
    middle = np.sort(bends, axis=1)[:, bends.shape[1] // 2]
    weights: Floats = np.exp(-rate * (length - np.abs(middle[:, None] - bends).sum(axis=1)[:, None]))
    return weights


def drawn(bends: Integers, rate: float, chances: Floats) -> Integers:
    """Steps that add up to zero, with P proportional to exp(-rate sum |x_j - bends_jc|): inverted at these chances."""
    size, reach = len(bends), reach_of(bends, rate)
    weights = weights_of(bends, np.arange(-2 * reach, 2 * reach + 1), rate)
    rests = [weights[-1, reach : 3 * reach + 1]]  # of the last places, by what they add up to
    for weight in weights[-2:0:-1]:
        rests.append(np.convolve(weight, rests[-1], mode="valid"))
    steps, left = np.zeros(size, dtype=np.int64), 0
    for place in range(size - 1):
        # step left - rest for every rest from the largest to the smallest, so that steps ascend
        running = np.cumsum(weights[place, left + reach : left + 3 * reach + 1] * rests[size - 2 - place][::-1])
        found = int(np.searchsorted(running, chances[place] * running[-1], side="right"))
        steps[place] = left - reach + min(found, 2 * reach)
        left -= steps[place]
    steps[-1] = left
    return steps


def block_step(table: Integers, rate: float, state: Integers, words: Words) -> Integers:
    """A pure step: the state after the block that these words choose has been drawn anew."""
    block = chosen(table, words)
    chances = units(words[1 + 2 * (table.ndim - 1) :])
    steps = drawn(-block.signs * state[block.cells], rate, chances)
    after = state.copy()
    after[block.cells] += steps[:, None] * block.signs
    return after


def units(words: Words) -> Floats:
    """Numbers strictly between 0 and 1."""
    numbers: Floats = ((words >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53
    return numbers


def streamed(word: int, first: int, number: int) -> Words:
    """Words of the stream that begins at `word` (splitmix64), from the given place on."""
    with np.errstate(over="ignore"):
        mixed = np.uint64(word) + np.uint64(_GOLDEN) * np.arange(first + 1, first + number + 1, dtype=np.uint64)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        scrambled: Words = mixed ^ (mixed >> np.uint64(31))
    return scrambled


def run(table: Integers, rate: float, state: Integers, words: Words) -> None:
    """A step for each row of words, in place."""
    for row in words:
        state[:] = block_step(table, rate, state, row)


def trace(table: Integers, rate: float, state: Integers, word: int, thin: int, out: Integers) -> None:
    """A recorded path, `thin` steps between records."""
    width = words_of_step(table.shape)
    for record in range(len(out)):
        run(table, rate, state, streamed(word, record * thin * width, thin * width).reshape(thin, width))
        out[record] = state


def meet(table: Integers, rate: float, updates: int, lag: int, most: int, word: int) -> int:
    """The iteration at which a chain meets a copy of itself that starts `lag` iterations later, or most + 1."""
    ahead, behind = np.zeros(table.size, dtype=np.int64), np.zeros(table.size, dtype=np.int64)
    size = updates * words_of_step(table.shape)
    for iteration in range(1, most + 1):
        words = streamed(word, (iteration - 1) * size, size).reshape(updates, -1)
        run(table, rate, ahead, words)
        if iteration > lag:
            run(table, rate, behind, words)
            if np.array_equal(ahead, behind):
                return iteration
    return most + 1
