"""Tables of whole numbers with given sums: of blocks alone, or of the rows and the columns of many tables at once.

Multiples of 1/FINE are rounded bit by bit, the last bit first. Where all sums are whole, every row and every column
has an even number of cells with that bit: they are paired along rows and along columns, the pairs close to cycles, and
along a cycle cells go up and down in turn. No sum changes, no cell passes a whole number, and what is zero stays zero.
Of the two ways round a cycle the one is taken that leaves its cells nearer to what was to be rounded; public words
decide between equals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.arrays import Flags, Integers, Objects, Words
from discreet.lattice.blocks import nearest_in_blocks
from discreet.levels.compiled import kernels
from discreet.levels.fixed import FINE, FINE_BITS


def whole_in_blocks(fine: Integers, sizes: Integers, sums: Integers, words: Words) -> Integers:
    """For block after block: counts with these sums, near to the non-negative table that is nearest to `fine`."""
    nearest = nearest_in_blocks(fine, sizes, sums * FINE, words)
    return largest_remainders(nearest, sizes, sums, words)


def largest_remainders(fine: Integers, sizes: Integers, sums: Integers, words: Words) -> Integers:
    """Rounded up where the most is left of a count, as often as each block's sum needs."""
    whole = fine >> FINE_BITS
    starts, block = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
    missing = sums - np.add.reduceat(whole, starts)
    order = np.argsort(_in_order(block, whole * FINE - fine, words), kind="stable")
    rank = np.arange(len(fine)) - np.repeat(starts, sizes)
    whole[order[rank < np.repeat(missing, sizes)]] += 1
    return whole


def _in_order(block: Integers, least_first: Integers, words: Words) -> Words:
    """One key for three: by block, by a value from 1 - FINE to 0, by words as far as they fit."""
    room = 63 - FINE_BITS - int(block[-1]).bit_length()
    keys = (block << FINE_BITS) + (least_first + FINE - 1)
    return (keys.astype(np.uint64) << np.uint64(room)) | (words >> np.uint64(64 - room))


def whole_in_rows_and_columns(fine: Integers, starts: Integers, ties: Flags) -> Integers:
    """Floors or ceilings with the same sums: of each row, and of each column over rows that stand next to each other.

    `fine` has an entry for each child, row and column; rows are sums over the last axis, columns over the children of a
    node, which begin at `starts`. All of these must be whole.
    """
    children, width = fine.shape[0], fine[0].size
    if (compiled := kernels(fine.size)) is not None:
        flat = np.ascontiguousarray(fine).reshape(children, width)
        whole: Integers = compiled.settle_cycles(flat, np.append(starts[1:], children), FINE_BITS, ties)
        return whole.reshape(fine.shape)
    wanted = (fine.reshape(-1) & (FINE - 1)).astype(np.int16)
    found = wanted.copy()
    columns = np.tile(np.arange(width, dtype=np.uint16 if width <= 1 << 16 else np.int64), children)
    for bit in range(FINE_BITS):
        _settle(wanted, found, columns, 1 << bit, ties)
    return (fine >> FINE_BITS) + (found >> FINE_BITS).reshape(fine.shape)


def _settle(wanted: Objects, found: Objects, columns: Objects, step: int, ties: Flags) -> None:
    """Make every cell a multiple of twice the step."""
    odd = np.flatnonzero((found & step) != 0)
    if not len(odd):
        return
    near = found[odd]
    up = _up(odd, _along_columns(columns[odd]), (near - wanted[odd]).astype(np.int64), ties)
    found[odd] = np.where(up, near + step, near - step)


def _along_columns(columns: Objects) -> Objects:
    """Of each odd cell, in the order of rows, the place of the one that it is paired with along its column."""
    order = np.argsort(columns, kind="stable").astype(_narrow(len(columns)))
    partner: Objects = np.empty_like(order)
    partner[order[0::2]], partner[order[1::2]] = order[1::2], order[0::2]
    return partner


def _up(odd: Integers, partner: Objects, off: Integers, ties: Flags) -> Flags:
    """Which cells go up; the one before or after it along the row goes down, and so does its partner."""
    label = _first_of_cycle(_swapped(partner))
    other = _swapped(label)
    score = np.zeros(len(odd), dtype=np.int64)
    np.add.at(score, label, off)
    lead = score[label]
    ahead = _swapped(lead)
    first = np.minimum(label, other)
    tie = ties[odd[first]] ^ (label < other)
    up: Flags = (lead < ahead) | ((lead == ahead) & tie)
    return up


def _swapped(pairs: Objects) -> Objects:
    """The second of every pair before the first."""
    return pairs.reshape(-1, 2)[:, ::-1].reshape(-1)


def _narrow(size: int) -> Any:
    """The type of so many places: small numbers are gathered sooner."""
    return np.int32 if size < 1 << 31 else np.int64


def _first_of_cycle(following: Objects) -> Objects:
    """The smallest place on each place's cycle: twice as far is seen every time."""
    label: Objects = np.minimum(np.arange(len(following), dtype=following.dtype), following)
    while True:
        following = following[following]
        seen = np.minimum(label, label[following])
        if np.array_equal(seen, label):
            return label
        label = seen
