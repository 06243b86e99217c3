"""How much of a sum falls to some of its cells, where a uniform composition deals it out: for blocks in several parts.

Of a uniform composition of N into d + e cells, the first d hold k with P(k) proportional to C(k+d-1, d-1)
C(N-k+e-1, e-1); given k, both sides are uniform compositions again. It is inverted by enclosures: nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.arrays import Integers
from discreet.lattice.chances import Inverse, inverse
from discreet.lattice.compositions import compositions
from discreet.lattice.laminar import PairSum, pair_sums
from discreet.lattice.unimodal import below, running
from discreet.sample.bits import Bits
from discreet.sample.draw import WORD_BITS


@dataclass(frozen=True)
class Share:
    """The law of what the first `cells` of `cells + others` hold of `total`."""

    total: int
    cells: int
    others: int

    def ratio(self, k: int) -> tuple[int, int]:
        """P(k + 1) / P(k), as a fraction; it only falls with k."""
        return (k + self.cells) * (self.total - k), (k + 1) * (self.total - k - 1 + self.others)

    @property
    def mode(self) -> int:
        """Where it is largest: the ratio crosses one there."""
        free = self.cells + self.others - 2
        if free == 0:
            return 0
        return min(self.total, max(0, ((self.cells - 1) * self.total + 1 - self.others) // free + 1))

    @property
    def last(self) -> int:
        return self.total

    def below(self, k: int, bits: int) -> tuple[int, int]:
        return below(self, k, bits)


@lru_cache(maxsize=4096)
def _inverse(law: Share) -> Inverse:
    return inverse(law.below, *running(law, WORD_BITS))


def dealt(total: int, sizes: Integers, bits: Bits) -> Integers:
    """What a uniform composition of `total` gives to groups of so many cells each."""
    out, left, rest = np.zeros(len(sizes), dtype=np.int64), total, int(sizes.sum())
    for place, size in enumerate(sizes.tolist()):
        rest -= size
        if rest == 0 or left == 0:
            out[place] = left
            break
        out[place] = int(_inverse(Share(left, size, rest)).draw(1, bits)[0])
        left -= int(out[place])
    return out


@dataclass(frozen=True, eq=False)
class Dealt:
    """Of blocks that sum to zero, what each of their pieces gets: of the positive units, and of the negative ones."""

    plus: Integers
    minus: Integers


def deal(odds: Fraction, blocks: Integers, sizes: Integers, bits: Bits) -> Dealt:
    """For pieces of blocks (the block of each piece, ascending, and its cells): l1 noise, every block summing to zero.

    The noise of a block is the difference of two compositions of one sum; each is dealt out to the pieces.
    """
    starts = np.flatnonzero(np.diff(blocks, prepend=-1))
    wholes = np.add.reduceat(sizes, starts) if len(starts) else sizes
    sums = np.zeros(len(starts), dtype=np.int64)
    for cells in np.unique(wholes[wholes > 1]).tolist():
        there = np.flatnonzero(wholes == cells)
        sums[there] = pair_sums(PairSum(odds, cells), len(there), bits)
    plus, minus = np.repeat(sums, np.diff(starts, append=len(blocks))), np.zeros(len(blocks), dtype=np.int64)
    minus[:] = plus
    ends = np.append(starts, len(blocks))
    for which in np.flatnonzero(np.diff(ends) > 1).tolist():
        place = slice(int(ends[which]), int(ends[which + 1]))
        plus[place], minus[place] = (dealt(int(sums[which]), sizes[place], bits) for _ in range(2))
    return Dealt(plus, minus)


def noise_of(dealt_out: Dealt, sizes: Integers, bits: Bits) -> Integers:
    """The noise of pieces of so many cells each, one after the other, given what was dealt to each."""
    return compositions(dealt_out.plus, sizes, bits) - compositions(dealt_out.minus, sizes, bits)
