"""Round numbers: whether noisy values tell that people rounded, how, and what rounding makes of a law.

Noisy values tell it by themselves, count by count. How likely they are in cells cannot decide: round numbers have cells
of their own where noisy values are dense, so that heaps there would explain the very noise that chose the cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.convolve import convolved
from discreet.distribution.decay import two_sided
from discreet.distribution.evidence.cells import reach_of
from discreet.laws import NoiseLaw

UNITS = (5, 10)  # what people round to
ROUNDED = (0.15, 0.4, 0.7, 0.9, 0.99)  # of the rows, as a first guess
TO_FIVES = (1.0, 0.0, 0.5)  # of those, the others to tens
STEPS = (0.16, 0.08, 0.04)  # of either share, in a closer look
BEGINS = 10  # the first count that may be the first to be rounded; then twice that, and so on
PRICE = 3.0 + math.log(len(ROUNDED) * len(TO_FIVES))  # nats: one table in 20 is rounded, in one of so many ways
DROWNED = 10.0  # standard deviation of normal noise in which no unit leaves a trace, not even in all the world's rows
UNFORESEEN = 1e-9  # of the rows may have any noisy value, so that no ratio rests on rounding


@dataclass(frozen=True)
class Rounding:
    """What people did: a share of the rows, of counts from `start` on, rounded to fives or, the rest of it, to tens."""

    share: float
    fives: float
    start: int = 0

    def moved(self, held: Floats, to: Integers) -> Floats:
        """What a law becomes; only the counts in `to` are rounded to."""
        place, allowed = np.arange(len(held)), np.zeros(len(held) + max(UNITS), dtype=bool)
        allowed[to] = True
        law = (1 - self.share) * held
        for unit, part in zip(UNITS, (self.fives, 1 - self.fives)):
            nearest = (place + unit // 2) // unit * unit
            target = np.where(allowed[nearest] & (place >= self.start), nearest, place)
            law = law + self.share * part * np.bincount(target, weights=held, minlength=len(held))
        return law

    def heaps(self, edges: Integers) -> Floats:
        """By how much more each cell holds, if counts were alike before; rounded to where they are cells by themselves.

        Nothing is moved further than by rounding, so hardly anything from one cell to another that is far from it.
        """
        widths = np.diff(edges)
        law = self.moved(np.ones(edges[-1]), edges[:-1][widths == 1])
        return np.asarray(np.add.reduceat(law, edges[:-1]) / widths, dtype=float)


MOVES: tuple[Callable[[Rounding, float], Rounding], ...] = (
    lambda one, _: replace(one, start=max(BEGINS, 2 * one.start)),
    lambda one, step: replace(one, share=min(one.share + step, ROUNDED[-1])),
    lambda one, step: replace(one, share=max(one.share - step, STEPS[-1])),
    lambda one, step: replace(one, fives=min(one.fives + step, 1.0)),
    lambda one, step: replace(one, fives=max(one.fives - step, 0.0)),
)
GUESSES = tuple(Rounding(share, fives) for fives in TO_FIVES for share in ROUNDED)


@dataclass(frozen=True, eq=False)
class NoisyValues:
    """`rows[k]` rows have the noisy value low + k; for geometric noise those outside 0..n-1 are seen at its ends."""

    rows: Floats
    low: int
    noise: NoiseLaw

    def roundings(self, smooth: Floats) -> tuple[Rounding, ...]:
        """The one that they speak for, if counts before it had that smooth law; none where they speak too softly."""
        if self.noise.decay is None and self.noise.spread > DROWNED**2:
            return ()
        everywhere = np.arange(len(smooth))
        after = self._noisy(np.column_stack([smooth, *(one.moved(smooth, everywhere) for one in GUESSES)]))
        gains = self.rows @ np.log(after[:, 1:] / after[:, :1])
        best = int(np.argmax(gains))
        return GUESSES[best : best + 1] if gains[best] > PRICE else ()

    def _noisy(self, laws: Floats) -> Floats:
        """The law of the noisy values for each law of counts, a column each, but for a factor that depends on the value
        alone."""
        unforeseen = UNFORESEEN / len(laws)
        if self.noise.decay is not None:
            return two_sided(laws, self.noise.decay) + unforeseen
        reach = reach_of(self.noise)
        masses = self.noise.masses(reach)
        whole = convolved(laws, np.concatenate([masses[:0:-1], masses]))
        place = np.arange(len(self.rows)) + self.low + reach
        inside = (place >= 0) & (place < len(whole))
        found = np.where(inside[:, None], whole[np.clip(place, 0, len(whole) - 1)], 0.0)
        return np.maximum(found, 0.0) + unforeseen
