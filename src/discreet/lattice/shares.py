"""How much of a sum falls to some of its cells, where a uniform composition deals it out: for blocks in several parts.

Of a uniform composition of N into d + e cells, the first d hold k with P(k) proportional to C(k+d-1, d-1)
C(N-k+e-1, e-1); given k, both sides are uniform compositions again. It is inverted by enclosures: nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Integers
from discreet.lattice.chances import Inverse, integer_bounds, inverse
from discreet.lattice.compositions import compositions
from discreet.lattice.laminar import PairSum, pair_sums
from discreet.sample.bits import Bits
from discreet.sample.draw import WORD_BITS

if TYPE_CHECKING:
    from flint import arb


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

    def below(self, k: int, bits: int) -> tuple[int, int]:
        if k < 0:
            return 0, 0
        if k >= self.total:
            return 1 << bits, 1 << bits
        first, bounds = _running(self, bits)
        if k < first:
            return 0, bounds[0][1]
        return bounds[k - first] if k - first < len(bounds) else (bounds[-1][0], 1 << bits)


def _steps(law: Share, upwards: bool, precision: int) -> tuple[list[arb], arb]:
    """Weights relative to the mode's, going away from it until they are negligible; and a bound on all the others."""
    from flint import arb

    k, weight, weights = law.mode, arb(1), []
    smallest = arb(2) ** -precision
    while k < law.total if upwards else k > 0:
        top, bottom = law.ratio(k if upwards else k - 1)
        ratio = arb(top) / bottom if upwards else arb(bottom) / top
        weight = weight * ratio
        k += 1 if upwards else -1
        weights.append(weight)
        if weight < smallest and ratio < 1:
            return weights, weight * ratio / (1 - ratio)
    return weights, arb(0)


@lru_cache(maxsize=4096)
def _running(law: Share, bits: int) -> tuple[int, list[tuple[int, int]]]:
    """The smallest k worth a number, and bounds on 2^bits P(<= k) from there on."""
    from flint import arb, ctx

    with ctx.workprec(bits + 64):
        down, rest_below = _steps(law, False, bits + 24)
        up, rest_above = _steps(law, True, bits + 24)
        running, sums = rest_below.union(arb(0)), []
        for weight in [*reversed(down), arb(1), *up]:
            running = running + weight
            sums.append(running)
        scale = arb(2) ** bits / (running + rest_above.union(arb(0)))
        return law.mode - len(down), [integer_bounds(part * scale, bits) for part in sums]


@lru_cache(maxsize=4096)
def _inverse(law: Share) -> Inverse:
    return inverse(law.below, *_running(law, WORD_BITS))


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
