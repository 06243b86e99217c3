# mypy: disallow-untyped-decorators=False, disallow-untyped-defs=False
"""The public order among equals, compiled: the same numbers as `public_map` gives."""

from __future__ import annotations

import numpy as np
from numba import njit

from discreet.public_map import MIX, ROUNDS

ONE, ALL = np.uint64(1), np.uint64(0xFFFFFFFF)  # as words: numba makes floats of a word and an integer
FIRST, SECOND = np.uint64(MIX[0]), np.uint64(MIX[1])
FAR, NEAR = np.uint64(16), np.uint64(13)  # the shifts of MurmurHash3's last step


@njit(cache=True, inline="always")
def mixed(word):
    word = ((word ^ (word >> FAR)) * FIRST) & ALL
    word = ((word ^ (word >> NEAR)) * SECOND) & ALL
    return word ^ (word >> FAR)


@njit(cache=True, nogil=True)
def counts_in_order(
    rows, least, most, table, lowest, counters, sizes, highs, lows, salts, keys, turns, first, ends, start, stop, out
):
    of_key = keys.astype(np.uint64)
    for i in range(len(rows)):
        g = table[min(max(rows[i], least), most) - lowest]
        if start[g] == stop[g]:
            out[i] = start[g]
            continue
        x = np.uint64(counters[g])
        counters[g] += 1
        size, low, salt = np.uint64(sizes[g]), np.uint64(lows[g]), np.uint64(salts[g])
        upper, lower = (ONE << np.uint64(highs[g])) - ONE, (ONE << low) - ONE
        while True:
            left, right = x >> low, x & lower
            for k in range(0, ROUNDS, 2):
                left ^= mixed(right ^ ((salt + of_key[k]) & ALL)) & upper
                right ^= mixed(left ^ ((salt + of_key[k + 1]) & ALL)) & lower
            x = (left << low) | right
            if x < size:
                break
        place = np.int64(x) + turns[g]
        if place >= sizes[g]:
            place -= sizes[g]
        place += first[g]
        below, above = start[g], stop[g]
        while below < above:
            middle = (below + above) // 2
            if ends[middle] <= place:
                below = middle + 1
            else:
                above = middle
        out[i] = below
