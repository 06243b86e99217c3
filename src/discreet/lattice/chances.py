"""Accept-or-reject for many proposals at once: a random word against an enclosure, more bits only on a tie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.invariants import Integers
from discreet.sample.bits import Bits
from discreet.sample.draw import WORD_BITS, invert

if TYPE_CHECKING:
    from flint import arb

Chance = Callable[[int, int], tuple[int, int]]  # (value, bits) -> bounds on 2^bits times the chance of accepting it
LARGEST = (1 << WORD_BITS) - 1


def settle(chance: Callable[[int], tuple[int, int]], word: int, bits: Bits) -> bool:
    """Whether a uniform number that begins with `word` lies below the chance."""

    def below(k: int, known: int) -> tuple[int, int]:
        return (0, 0) if k < 0 else chance(known) if k == 0 else (1 << known, 1 << known)

    return invert(below, word, WORD_BITS, 0, bits) == 0


def integer_bounds(share: arb, bits: int) -> tuple[int, int]:
    """Integers around 2^bits times a probability, given as a ball around that product."""
    low, high = int(share.lower().floor().unique_fmpz()), int(share.upper().ceil().unique_fmpz())
    return max(0, low), min(1 << bits, high)


def accept_values(values: Integers, chance: Chance, bits: Bits) -> NDArray[np.bool_]:
    """Each value with its own chance."""
    distinct, which = np.unique(values, return_inverse=True)
    bounds = [chance(int(value), WORD_BITS) for value in distinct]
    low = np.array([min(low, LARGEST) for low, _ in bounds], dtype=np.uint64)[which]
    high = np.array([min(high, LARGEST) for _, high in bounds], dtype=np.uint64)[which]
    words = bits.words(len(values))
    accepted = words < low
    for i in np.flatnonzero((words >= low) & (words <= high)):
        accepted[i] = settle(lambda b, i=i: chance(int(values[i]), b), int(words[i]), bits)  # type: ignore[misc]
    return np.asarray(accepted)


@dataclass(frozen=True, eq=False)
class Inverse:
    """A law on first, first+1, .. ready for inversion: bounds on 2^64 P(X <= k), and the function behind them."""

    below: Callable[[int, int], tuple[int, int]]
    first: int
    lows: NDArray[np.uint64]
    highs: NDArray[np.uint64]
    closed: bool  # nothing is below `first`

    def draw(self, size: int, bits: Bits) -> Integers:
        words = bits.words(size)
        place = np.searchsorted(self.lows, words, side="right")
        values = place.astype(np.int64) + self.first
        settled = (place == np.searchsorted(self.highs, words, side="right")) & (place < len(self.lows))
        if not self.closed:
            settled &= place > 0
        for i in np.flatnonzero(~settled | (words == LARGEST)):
            values[i] = invert(self.below, int(words[i]), WORD_BITS, int(values[i]), bits)
        return values


def inverse(below: Callable[[int, int], tuple[int, int]], first: int, bounds: list[tuple[int, int]]) -> Inverse:
    lows = np.array([min(low, LARGEST) for low, _ in bounds], dtype=np.uint64)
    highs = np.array([min(high, LARGEST) for _, high in bounds], dtype=np.uint64)
    return Inverse(below, first, lows, highs, below(first - 1, WORD_BITS) == (0, 0))


def uniform_below(bounds: Integers, bits: Bits) -> Integers:
    """For every bound (at least 1) an independent uniform integer below it, by rejection."""
    # powers of two not below the bounds; beyond 2^53 perhaps the next one, which only costs rejections
    masks = (np.int64(1) << np.frexp((bounds - 1).astype(np.float64))[1].astype(np.int64)) - 1
    most = int(masks.max(initial=0))
    width = 16 if most < 1 << 16 else 32 if most < 1 << 32 else 64
    out = bits.words(len(bounds), width).astype(np.int64) & masks
    wrong = np.flatnonzero(out >= bounds)
    while len(wrong):
        out[wrong] = bits.words(len(wrong), width).astype(np.int64) & masks[wrong]
        wrong = wrong[out[wrong] >= bounds[wrong]]
    return out
