"""Accept-or-reject for many proposals at once: a random word against an enclosure, more bits only on a tie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Integers
from discreet.sample.bits import Bits
from discreet.sample.draw import WORD_BITS, invert

if TYPE_CHECKING:
    from flint import arb

Chance = Callable[[int, int], tuple[int, int]]  # (value, bits) -> bounds on 2^bits times the chance of accepting it
AT_ONCE = 1 << 15  # words: what is made of them stays near the processor, in memory that is there
LARGEST = (1 << WORD_BITS) - 1  # the largest word: a certain event, 2^64, does not fit


def settle(chance: Callable[[int], tuple[int, int]], word: int, bits: Bits) -> bool:
    """Whether a uniform number that begins with `word` lies below the chance."""

    def below(k: int, known: int) -> tuple[int, int]:
        return (0, 0) if k < 0 else chance(known) if k == 0 else (1 << known, 1 << known)

    return invert(below, word, WORD_BITS, 0, bits) == 0


def integer_bounds(share: arb, bits: int) -> tuple[int, int]:
    """Integers around 2^bits times a probability, given as a ball around that product."""
    low, high = int(share.lower().floor().unique_fmpz()), int(share.upper().ceil().unique_fmpz())
    return max(0, low), min(1 << bits, high)


def accept_values(values: Integers, chance: Chance, bits: Bits, exactly: Integers | None = None) -> NDArray[np.bool_]:
    """Each value with its own chance. Where values merely share their 64-bit bounds, `exactly` says what they are."""
    distinct, which = _distinct(values)
    bounds = [chance(int(value), WORD_BITS) for value in distinct]
    low = np.array([min(low, LARGEST) for low, _ in bounds], dtype=np.uint64)[which]
    high = np.array([min(high, LARGEST) for _, high in bounds], dtype=np.uint64)[which]
    words = bits.words(len(values))
    accepted = words < low
    for i in np.flatnonzero((words >= low) & (words <= high)):
        value = int(values[i] if exactly is None else exactly[i])
        accepted[i] = settle(lambda b, value=value: chance(value, b), int(words[i]), bits)  # type: ignore[misc]
    return np.asarray(accepted)


def _distinct(values: Integers) -> tuple[Integers, Integers]:
    """The different values and where each is among them; by a table rather than by sorting where they lie close."""
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if most - least > len(values):
        return np.unique(values, return_inverse=True)
    shifted = values - least
    marks = np.zeros(most - least + 1, dtype=np.int64)
    marks[shifted] = 1
    return np.flatnonzero(marks) + least, (np.cumsum(marks) - 1)[shifted]


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


def uniform_below(bounds: Integers, bits: Bits, which: Integers | None = None) -> Integers:
    """For every bound (at least 1) an independent uniform integer below it; or for those at these places."""
    if len(bounds) and int(bounds.max()) >= 1 << 32:
        return _masked(bounds if which is None else bounds[which], bits)
    wide = np.asarray(bounds, dtype=np.int64).view(np.uint64)
    out = np.empty(len(bounds) if which is None else len(which), dtype=np.int64)
    again = _scale(out, slice(None), wide, which, bits)
    while len(again):
        again = again[_scale(out, again, wide, again if which is None else which[again], bits)]
    return out


def _scale(out: Integers, places: Any, bounds: Any, which: Integers | None, bits: Bits) -> Integers:
    """The upper half of a 32-bit word times the bound (Lemire): uniform, unless the lower half is among the few left
    over when 2^32 is dealt out evenly; which those are."""
    size = len(bounds) if which is None else len(which)
    words, found = bits.words(size, 32), [np.zeros(0, dtype=np.int64)]
    for start in range(0, size, AT_ONCE):
        some = slice(start, start + AT_ONCE)
        own = bounds[some] if which is None else bounds[which[some]]
        products = words[some] * own
        out[some if isinstance(places, slice) else places[some]] = products >> np.uint64(32)
        products &= np.uint64(0xFFFFFFFF)
        near = np.flatnonzero(products < own)
        found.append(start + near[products[near] < np.uint64(1 << 32) % own[near]])
    return np.concatenate(found)


def _masked(bounds: Integers, bits: Bits) -> Integers:
    # powers of two not below the bounds; beyond 2^53 perhaps the next one, which only costs rejections
    masks = (np.int64(1) << np.frexp((bounds - 1).astype(np.float64))[1].astype(np.int64)) - 1
    out = bits.words(len(bounds)).astype(np.int64) & masks
    wrong = np.flatnonzero(out >= bounds)
    while len(wrong):
        out[wrong] = bits.words(len(wrong)).astype(np.int64) & masks[wrong]
        wrong = wrong[out[wrong] >= bounds[wrong]]
    return out


def row_sums(table: Integers) -> Integers:
    """Sums of rows; column by column where the rows are short, which numpy does faster."""
    if not 0 < table.shape[1] <= 16:
        return np.asarray(table.sum(axis=1))
    out = table[:, 0].copy()
    for column in table.T[1:]:
        out += column
    return out
