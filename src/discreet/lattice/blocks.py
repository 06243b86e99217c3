"""Nearest non-negative whole numbers with a given sum, for many blocks of cells at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from discreet.arrays import Integers, Words

TOGETHER = 1 << 16  # values: so many stay in the cache of a processor
STEPS = 20  # of Newton's method: tables of counts need fewer than ten


def nearest_in_blocks(values: Integers, sizes: Integers, sums: Integers, words: Words) -> Integers:
    """For block after block of so many values: the counts nearest to them, by least squares, with these sums.

    A level t is taken off every value, and what would be negative becomes zero. Lower levels would leave too much, and
    t + 1 too little; so some of the cells that stay above zero give one more, those with the smallest words.
    """
    starts, block = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
    levels = taken_off(values, sizes, sums)
    counts: Integers = np.maximum(values - np.repeat(levels, sizes), 0)
    too_many = np.add.reduceat(counts, starts) - sums
    if too_many.any():
        giving = np.flatnonzero((counts > 0) & np.repeat(too_many > 0, sizes))
        giving = giving[np.lexsort((words[giving], block[giving]))]
        counts[giving[_rank_in_block(block[giving]) < too_many[block[giving]]]] -= 1
    return counts


def taken_off(values: Integers, sizes: Integers, sums: Integers) -> Integers:
    """Of every block the largest t for which what is above t adds up to its sum or more; of many columns at once.

    `values` and `sums` may have columns along a second axis. The sum is convex in t, so Newton's steps from below never
    pass the end; where many steps would be needed, the rest is found by halving.
    """
    ends, width = np.cumsum(sizes), values[0].size if len(values) else 1
    parts = np.flatnonzero(np.diff(ends * width // TOGETHER, prepend=-1))
    found = [_taken_off(values[ends[a] - sizes[a] : ends[b - 1]], sizes[a:b], sums[a:b])
             for a, b in pairwise([*parts, len(ends)])]  # fmt: skip
    return np.concatenate(found) if found else sums


def _taken_off(values: Integers, sizes: Integers, sums: Integers) -> Integers:
    starts = np.cumsum(sizes) - sizes
    many = sizes if values.ndim == 1 else sizes[:, None]
    level: Integers = (np.add.reduceat(values, starts, axis=0) - sums) // many
    for _ in range(STEPS):
        left = np.maximum(values - np.repeat(level, sizes, axis=0), 0)
        over = np.add.reduceat(left, starts, axis=0) - sums
        step = over // np.maximum(np.add.reduceat(left > 0, starts, axis=0, dtype=np.int64), 1)
        if not step.any():
            return level
        level = level + step
    beyond = np.maximum(np.maximum.reduceat(values, starts, axis=0), level) + 1
    while (beyond - level > 1).any():
        middle = (level + beyond) // 2
        left = np.maximum(values - np.repeat(middle, sizes, axis=0), 0)
        enough = np.add.reduceat(left, starts, axis=0) >= sums
        level, beyond = np.where(enough, middle, level), np.where(enough, beyond, middle)
    return level


def _rank_in_block(block: Integers) -> Integers:
    """0, 1, 2, ... anew in every block; blocks stand one after another."""
    places = np.arange(len(block))
    first = np.concatenate([[True], block[1:] != block[:-1]])
    return places - np.maximum.accumulate(np.where(first, places, 0))
