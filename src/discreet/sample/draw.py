"""Inversion, exact and lazy in bits.

A law tells, for every integer k, an enclosure of P(X <= k) to any number of bits. A draw reads the first 16 bits of a
uniform number; a guide table settles all but the few draws in whose 2^-16 cell a probability falls. Those get 48 bits
more, and on a tie as many as it takes. No float is on the path and no probability is rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Integers
from discreet.sample.bits import Bits

GUIDE_BITS = 16  # a table of 128 kB, which stays in the cache and settles nearly every draw
WORD_BITS = 64  # of a machine word
CHUNK = 1 << 16  # half a megabyte of counts, which stays in the cache


class Law(Protocol):
    """A law on the integers, known by its distribution function. Hashable: tables are cached by law."""

    @property
    def centre(self) -> tuple[int, int]:
        """Integers low <= high such that nearly all of the mass is on low..high."""

    def below(self, k: int, bits: int) -> tuple[int, int]:
        """floor and ceiling, or wider, of 2^bits P(X <= k)."""

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class Guide:
    """The table of a law: for every 16-bit cell the value, or `unsettled`."""

    cells: NDArray[np.signedinteger[Any]]
    unsettled: int
    first: int
    floors: NDArray[np.uint64]  # floor(2^64 P(X <= first + i)), where that is settled
    ties: frozenset[int]  # words equal to one of these need more bits


@lru_cache(maxsize=64)
def guide(law: Law) -> Guide:
    first, last = law.centre
    largest = (1 << WORD_BITS) - 1
    floors: list[int] = []
    ends: list[int] = []
    ties: set[int] = set()
    for k in range(first - 1, last + 1):
        low, high = law.below(k, WORD_BITS)
        floors.append(min(low, largest))
        ends.append(min(max(low, high - 1), largest))
        ties.update(range(low, high))
    words = np.array(floors, dtype=np.uint64)
    cells = (words >> np.uint64(WORD_BITS - GUIDE_BITS)).astype(np.int64)
    # a cell is settled when no value of the distribution function can lie in it and it is inside the centre
    values = np.searchsorted(cells, np.arange(1 << GUIDE_BITS)) + first - 1
    kind = np.int16 if first - 1 > -(1 << 15) and last + 1 < 1 << 15 else np.int32
    unsettled = int(np.iinfo(kind).min)
    values[cells] = unsettled
    values[(np.array(ends, dtype=np.uint64) >> np.uint64(WORD_BITS - GUIDE_BITS)).astype(np.int64)] = unsettled
    values[: cells[0]] = unsettled
    values[cells[-1] :] = unsettled
    return Guide(values.astype(kind), unsettled, first - 1, words, frozenset(ties))


def draw(law: Law, size: int, bits: Bits) -> Integers:
    """`size` independent draws."""
    zeros = np.zeros(size, dtype=np.int64)
    return add_noise(zeros, law, bits, out=zeros)


def add_noise(counts: Integers, law: Law, bits: Bits, out: Integers | None = None, top: int | None = None) -> Integers:
    """counts plus independent draws, a cache-sized chunk at a time; counts above `top` are treated as `top`."""
    out = np.empty(len(counts), dtype=np.int64) if out is None else out
    table = guide(law)
    for start in range(0, len(counts), CHUNK):
        part, to = counts[start : start + CHUNK], out[start : start + CHUNK]
        part = part if top is None else np.minimum(part, top)
        head = bits.words(len(part), GUIDE_BITS)
        values = table.cells.take(head)
        unsettled = np.flatnonzero(values == table.unsettled)
        settled = part[unsettled] + _finish(law, table, head[unsettled], bits)
        np.add(part, values, out=to)
        to[unsettled] = settled
    return out


def _finish(law: Law, table: Guide, head: NDArray[np.uint16], bits: Bits) -> Integers:
    """Draws whose first 16 bits did not settle them."""
    if len(head) == 0:
        return np.empty(0, dtype=np.int64)
    tail = bits.words(len(head), 64) >> np.uint64(GUIDE_BITS)
    words = (head.astype(np.uint64) << np.uint64(WORD_BITS - GUIDE_BITS)) | tail
    place = np.searchsorted(table.floors, words, side="right")
    values = place.astype(np.int64) + table.first
    outside = (place == 0) | (place == len(table.floors))
    tied = np.array([int(word) in table.ties for word in words], dtype=bool)
    for i in np.flatnonzero(outside | tied):
        values[i] = invert(law.below, int(words[i]), WORD_BITS, int(values[i]), bits)
    return values


def invert(below: Callable[[int, int], tuple[int, int]], word: int, known: int, near: int, bits: Bits) -> int:
    """The smallest k with U < P(X <= k); the first `known` bits of U are `word`, more are drawn as needed."""

    def exceeds(k: int) -> bool:
        """Whether U >= P(X <= k)."""
        nonlocal word, known
        while True:
            low, high = below(k, known)
            if word + 1 <= low:
                return False
            if word >= high:
                return True
            word, known = (word << WORD_BITS) | bits.integer(WORD_BITS), known + WORD_BITS

    low, step = near, 1
    while not exceeds(low - 1):
        low, step = low - step, 2 * step
    high, step = max(low, near), 1
    while exceeds(high):
        high, step = high + step, 2 * step
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if exceeds(middle) else (low, middle)
    return low


def bernoulli(chance: Callable[[int], tuple[int, int]], bits: Bits, word: int = 0, known: int = 0) -> bool:
    """True with a probability p known by enclosures: `chance(b)` bounds 2^b p from below and above.

    The first `known` bits of the uniform number that decides may have been drawn already: they are `word`.
    """

    def below(k: int, b: int) -> tuple[int, int]:
        return (0, 0) if k < 0 else chance(b) if k == 0 else (1 << b, 1 << b)

    return invert(below, word, known, 0, bits) == 0
