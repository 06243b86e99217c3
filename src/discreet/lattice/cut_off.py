"""l1 noise that leaves no count negative, for disjoint blocks of cells with kept sums: exact, for millions of cells.

The weight a^|z| of z >= -c is, up to a factor, the law of u - v: u geometric with ratio a, and v on 0..c with weight
a^v, except that the end c weighs a^c / (1 - a^2). In a block of d cells the u and the v have the same sum S. Given S
the u are a uniform composition, so the v have weight (product of theirs) C(S+d-1, d-1) a^S. They are drawn with
ratio b instead of a and accepted by g(S)/g(mode), g(S) = C(S+d-1, d-1) (a^2/b)^S. Every b > a^2 gives the same law;
floats choose one for which the mean of S is near the mode, so that about every second trial is accepted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.lattice.chances import accept_values, integer_bounds, uniform_below
from discreet.lattice.compositions import compositions, within
from discreet.lattice.laminar import peak_chance
from discreet.laws import one_sided_geometric
from discreet.numbers import Epsilon, arb_of
from discreet.sample.bits import Bits
from discreet.sample.draw import WORD_BITS

if TYPE_CHECKING:
    from flint import arb


FARTHEST = 20.0  # of the logarithms searched
HALVINGS = 30  # of FARTHEST: down to 2e-8, far finer than the grid that blocks share
FARTHEST_REACH = 1 << 62  # beyond any count: at ratio 1 nothing falls off
NEAR_ONE = 1e-5  # closer to 1 the formulas lose their digits; only speed depends on the mean


@dataclass(frozen=True)
class Fall:
    """The law of v with ratio b."""

    odds: Fraction
    ratio: Fraction

    @property
    def small(self) -> Fraction:
        """The ratio, counted from the end where it is below one."""
        return min(self.ratio, 1 / self.ratio)

    @property
    def reach(self) -> int:
        """From this count on, 64 bits hardly tell the chances of the end apart."""
        if self.ratio == 1:
            return FARTHEST_REACH
        return math.ceil((WORD_BITS + 8) * math.log(2) / -math.log1p(float(self.small - 1)))

    def at_end(self, count: int, bits: int) -> tuple[int, int]:
        """Bounds on 2^bits P(v = count); for up to 64 bits the same for all counts beyond the reach."""
        from flint import arb, ctx

        with ctx.workprec(bits + 64):
            if bits <= WORD_BITS and count >= self.reach:
                power = arb(0).union(arb_of(self.small) ** self.reach)
            else:
                power = arb_of(self.small) ** count
            return integer_bounds(self._end_share(count, power) * arb(2) ** bits, bits)

    def _end_share(self, count: int, power: arb) -> arb:
        end = 1 / (1 - arb_of(1 / self.odds**2))
        if self.ratio == 1:
            return end / (end + count)
        rest = (1 - power) / arb_of(abs(1 - self.ratio))
        return end * power / (end * power + rest) if self.ratio < 1 else end / (end + rest)

    def draw(self, counts: Integers, bits: Bits) -> Integers:
        """Independent, one for each count."""
        end = accept_values(np.minimum(counts, self.reach), partial(_at_end, self), bits, counts)
        out = counts.copy()
        inner = np.flatnonzero(~end)
        lengths = counts[inner]
        if len(inner) and self.ratio == 1:
            out[inner] = uniform_below(lengths, bits)
        elif len(inner):
            # what a geometric variable leaves modulo c is geometric, cut off before c
            steps = one_sided_geometric(Epsilon(ratio=1 / self.small), len(inner), bits) % lengths
            out[inner] = steps if self.ratio < 1 else lengths - 1 - steps
        return out


@lru_cache(maxsize=1 << 14)
def _at_end(fall: Fall, count: int, bits: int) -> tuple[int, int]:
    return fall.at_end(count, bits)


_peak_chance = lru_cache(maxsize=1 << 16)(peak_chance)


@dataclass(frozen=True, eq=False)
class CutOffBlocks:
    """Blocks of so many cells with these counts, one block after the other."""

    odds: Fraction
    counts: Integers
    sizes: Integers
    ratios: NDArray[np.object_]  # a Fraction per block

    def draw(self, bits: Bits) -> Integers:
        """Noise of every cell: no block's sum changes, no count falls below zero."""
        falls = np.empty(len(self.counts), dtype=np.int64)
        sums = np.empty(len(self.sizes), dtype=np.int64)
        starts = np.cumsum(self.sizes) - self.sizes
        kinds, which = np.unique(self.ratios, return_inverse=True)
        for number, ratio in enumerate(kinds):
            open_blocks = np.flatnonzero(which == number)
            while len(open_blocks):
                sizes = self.sizes[open_blocks]
                cells = within(starts[open_blocks], sizes)
                trial = Fall(self.odds, ratio).draw(self.counts[cells], bits)
                totals = np.add.reduceat(trial, np.cumsum(sizes) - sizes)
                good = self._accepted(ratio * self.odds**2, sizes, totals, bits)
                held = np.repeat(good, sizes)
                falls[cells[held]] = trial[held]
                sums[open_blocks[good]] = totals[good]
                open_blocks = open_blocks[~good]
        return compositions(sums, self.sizes, bits) - falls

    def _accepted(self, odds: Fraction, sizes: Integers, totals: Integers, bits: Bits) -> NDArray[np.bool_]:
        accepted = np.empty(len(sizes), dtype=bool)
        for size in np.unique(sizes).tolist():
            alike = np.flatnonzero(sizes == size)
            accepted[alike] = accept_values(totals[alike], partial(_peak_chance, odds, size), bits)
        return accepted

    def times(self, draws: int) -> CutOffBlocks:
        """So many copies, one after the other."""
        return CutOffBlocks(
            self.odds, np.tile(self.counts, draws), np.tile(self.sizes, draws), np.tile(self.ratios, draws)
        )


def cut_off_blocks(odds: Fraction, counts: Integers, sizes: Integers) -> CutOffBlocks:
    owners = np.repeat(np.arange(len(sizes)), sizes)
    distinct, often = np.unique(np.stack([owners, counts]), axis=1, return_counts=True)
    square, middle = 1 / float(odds) ** 2, np.zeros(len(sizes))
    step = FARTHEST
    for _ in range(HALVINGS):
        # r = a^2/b is searched by the logarithm of r/(1-r): the mode of S is (d-1) r/(1-r)
        means = fall_means(square, square * (1 + np.exp(-middle))[distinct[0]], distinct[1])
        more = np.bincount(distinct[0], means * often, minlength=len(sizes)) > (sizes - 1) * np.exp(middle)
        step /= 2
        middle = middle + np.where(more, step, -step)
    # blocks share ratios on a grid that is fine enough for their size
    grid = 2.0 ** np.ceil(np.log2(4 * np.sqrt(sizes)))
    places, which = np.unique(np.round(middle * grid) / grid, return_inverse=True)
    ratios = np.array([_ratio(odds, float(place)) for place in places], dtype=object)
    return CutOffBlocks(odds, counts, sizes, ratios[which])


def fall_means(square: float, ratios: Floats, counts: Integers) -> Floats:
    """Means of v, from the end that weighs less."""
    ratios = np.where(np.abs(ratios - 1) < NEAR_ONE, 1 - NEAR_ONE, ratios)
    small = np.minimum(ratios, 1 / ratios)
    power, c = small**counts, counts.astype(np.float64)
    whole = (1 - power) / (1 - small)
    first = small * (whole - c * power / small) / (1 - small)
    upwards = (first + c * power / (1 - square)) / (whole + power / (1 - square))
    downwards = c - (first + whole) * small / (whole * small + 1 / (1 - square))
    means: Floats = np.where(ratios < 1, upwards, downwards)
    return means


def _ratio(odds: Fraction, place: float) -> Fraction:
    ratio = (1 + Fraction(math.exp(-place))) / odds**2
    return ratio.limit_denominator(1 << 40) if ratio > Fraction(1, 1 << 20) else ratio
