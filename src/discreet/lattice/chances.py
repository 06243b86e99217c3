"""Accept-or-reject for many proposals at once: a random word against an enclosure, more bits only on a tie."""

from __future__ import annotations

from collections.abc import Callable
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


def uniform_below(bounds: Integers, bits: Bits) -> Integers:
    """For every bound (at least 1) an independent uniform integer below it, by rejection."""
    masks = (bounds - 1).astype(np.uint64)
    for shift in (1, 2, 4, 8, 16, 32):
        masks |= masks >> np.uint64(shift)
    width = 32 if len(bounds) == 0 or int(masks.max()) < 1 << 32 else 64
    out = (bits.words(len(bounds), width) & masks.astype(f"u{width // 8}")).astype(np.int64)
    wrong = np.flatnonzero(out >= bounds)
    while len(wrong):
        out[wrong] = (bits.words(len(wrong), width) & masks[wrong].astype(f"u{width // 8}")).astype(np.int64)
        wrong = wrong[out[wrong] >= bounds[wrong]]
    return out
