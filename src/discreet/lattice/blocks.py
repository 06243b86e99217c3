"""Nearest non-negative whole numbers with a given sum, for many blocks of cells at once."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers, Words


def nearest_in_blocks(values: Integers, sizes: Integers, sums: Integers, words: Words) -> Integers:
    """For block after block of so many values: the counts nearest to them, by least squares, with these sums.

    A level t is taken off every value, and what would be negative becomes zero. Lower levels would leave too much, and
    t + 1 too little; so some of the cells that stay above zero give one more, those with the smallest words.
    """
    starts, block = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
    ends = _running(values[np.lexsort((-values, block))], starts, sizes)
    ranks = np.arange(1, len(values) + 1) - np.repeat(starts, sizes)
    levels = np.maximum.reduceat((ends - np.repeat(sums, sizes)) // ranks, starts)
    counts: Integers = np.maximum(values - np.repeat(levels, sizes), 0)
    too_many = np.add.reduceat(counts, starts) - sums
    if too_many.any():
        giving = np.flatnonzero((counts > 0) & np.repeat(too_many > 0, sizes))
        giving = giving[np.lexsort((words[giving], block[giving]))]
        counts[giving[_rank_in_block(block[giving]) < too_many[block[giving]]]] -= 1
    return counts


def _running(values: Integers, starts: Integers, sizes: Integers) -> Integers:
    """Running sums within each block."""
    running: Integers = np.cumsum(values)
    running -= np.repeat(np.concatenate([[0], running])[starts], sizes)
    return running


def _rank_in_block(block: Integers) -> Integers:
    """0, 1, 2, ... anew in every block; blocks stand one after another."""
    places = np.arange(len(block))
    first = np.concatenate([[True], block[1:] != block[:-1]])
    return places - np.maximum.accumulate(np.where(first, places, 0))
