"""Cells of two-sided geometric noise with a given sum: the l1 law on nested and disjoint sums.

Noise with P(k) proportional to a^|k| is x - y with x and y geometric. Given that the x of d cells sum to S + s and the
y to S, both are uniform compositions; and S has P(S) proportional to C(S+s+d-1, d-1) C(S+d-1, d-1) a^(2S), which is
inverted by enclosures. Only integers are drawn and nothing is rejected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Integers
from discreet.lattice.chances import Inverse, accept_values, integer_bounds, inverse, settle
from discreet.lattice.compositions import compositions
from discreet.lattice.unimodal import below, running, steps
from discreet.laws import Geometric, draw_noise, one_sided_geometric
from discreet.numbers import Epsilon, arb_of
from discreet.sample.bits import Bits
from discreet.sample.draw import WORD_BITS

if TYPE_CHECKING:
    from flint import arb

WIDEST_SPREAD = 8000  # beyond, S is drawn by rejection instead of inversion


@dataclass(frozen=True)
class PairSum:
    """The law of S, the smaller of two sums whose difference is `shift`."""

    odds: Fraction
    cells: int
    shift: int = 0

    @cached_property
    def square(self) -> Fraction:
        return self.odds**2

    @property
    def mode(self) -> int:
        """Where C(S+s+d-1, d-1) C(S+d-1, d-1) a^(2S) is largest: its ratios cross one there."""
        d, s, square = self.cells, self.shift, self.square
        # (S+s+d)(S+d) >= square (S+s+1)(S+1) is a quadratic inequality in S
        p, q = square.numerator, square.denominator
        a, b, c = p - q, p * (s + 2) - q * (s + 2 * d), p * (s + 1) - q * (s + d) * d
        if c > 0:
            return 0
        root = math.isqrt(b * b - 4 * a * c)
        return max(0, (root - b) // (2 * a))

    @property
    def spread(self) -> float:
        """Roughly its standard deviation."""
        a = 1 / float(self.odds)
        return math.sqrt(self.cells * a / 2) / (1 - a)

    @property
    def last(self) -> None:
        return None

    def ratio(self, k: int) -> tuple[int, int]:
        """P(k + 1) / P(k), as a fraction; it only falls with k."""
        d, s, square = self.cells, self.shift, self.square
        return square.denominator * (k + s + d) * (k + d), square.numerator * (k + s + 1) * (k + 1)

    def below(self, k: int, bits: int) -> tuple[int, int]:
        return below(self, k, bits)


@lru_cache(maxsize=1 << 16)
def _weight(odds: Fraction, cells: int, total: int, precision: int) -> arb:
    """The weight of noise with a given sum: the sum over S of C(S+s+d-1, d-1) C(S+d-1, d-1) a^(2S+s), s = |total|."""
    from flint import arb, ctx

    with ctx.workprec(precision + 32):
        ratio, square = arb_of(1 / odds), arb_of(1 / odds**2)
        if cells == 1:
            return ratio**total / (1 - square)
        if cells == 2:
            return ratio**total * ((1 + square) / (1 - square) ** 3 + total / (1 - square) ** 2)
        law = PairSum(odds, cells, total)
        down, rest_below = steps(law, False, precision + 16)
        up, rest_above = steps(law, True, precision + 16)
        relative = arb(1) + sum(down, arb(0)) + sum(up, arb(0)) + (rest_below + rest_above).union(arb(0))
        k, s, d = law.mode, law.shift, law.cells
        peak = (_log_binomial(k + s, d - 1) + _log_binomial(k, d - 1)).exp()
        return peak * ratio ** (2 * k + s) * relative


def _log_binomial(k: int, below: int) -> arb:
    """log C(k + below, below)."""
    from flint import arb

    return arb(k + below + 1).lgamma() - arb(k + 1).lgamma() - arb(below + 1).lgamma()


def sum_weight(odds: Fraction, cells: int, total: int, precision: int) -> arb:
    """Up to a factor that depends on the number of cells only: P(the noise of so many cells sums to total)."""
    return _weight(odds, cells, abs(total), precision)


@dataclass(frozen=True)
class GeometricGroup:
    """So many cells of two-sided geometric noise with these odds."""

    odds: Fraction
    cells: int

    @property
    def variance(self) -> float:
        a = 1 / float(self.odds)
        return self.cells * 2 * a / (1 - a) ** 2

    @property
    def flatness(self) -> float:
        return float(1 / (1 + 0.77 / self.cells**1.5))

    def free(self, draws: int, bits: Bits) -> Integers:
        """Independent noise: a row per draw."""
        return draw_noise(Geometric(self.odds), draws * self.cells, bits).reshape(draws, self.cells)

    def chance(self, total: int, bits: int) -> tuple[int, int]:
        """Bounds on 2^bits P(sum = total) / P(sum = 0)."""
        if self.cells == 1:
            power = abs(total)
            if power * math.log2(self.odds) > bits + 1:
                return 0, 1
            scaled = (self.odds.denominator**power << bits, self.odds.numerator**power)
            return scaled[0] // scaled[1], -(-scaled[0] // scaled[1])
        from flint import arb, ctx

        with ctx.workprec(bits + 32):
            ratio = sum_weight(self.odds, self.cells, total, bits + 16) / sum_weight(
                self.odds, self.cells, 0, bits + 16
            )
            return integer_bounds(ratio * arb(2) ** bits, bits)

    @cached_property
    def _known(self) -> dict[int, tuple[int, int]]:
        return {}

    def _chance(self, total: int, bits: int) -> tuple[int, int]:
        if bits != WORD_BITS:
            return self.chance(total, bits)
        if total not in self._known:
            self._known[total] = self.chance(total, bits)
        return self._known[total]

    def accept(self, totals: Integers, bits: Bits) -> np.ndarray:
        """Each total with chance P(sum = total) / P(sum = 0)."""
        return accept_values(np.abs(totals), self._chance, bits)

    def given(self, totals: Integers, bits: Bits) -> Integers:
        """Noise with these sums: a row per sum."""
        if self.cells == 1:
            return totals.reshape(-1, 1)
        cells = np.full(len(totals), self.cells, dtype=np.int64)
        return given_sums(self.odds, cells, totals, bits).reshape(len(totals), self.cells)


def given_sums(odds: Fraction, cells: Integers, totals: Integers, bits: Bits) -> Integers:
    """For every i, noise of cells[i] cells with sum totals[i]; one block after the other."""
    if len(cells) == 0:
        return np.zeros(0, dtype=np.int64)
    shifts = np.abs(totals)
    smaller = np.zeros(len(cells), dtype=np.int64)
    order = np.lexsort((shifts, cells))
    ends = np.flatnonzero(np.diff(cells[order]) | np.diff(shifts[order])) + 1
    for members in np.split(order, ends):
        law = PairSum(odds, int(cells[members[0]]), int(shifts[members[0]]))
        if law.cells > 1:
            smaller[members] = pair_sums(law, len(members), bits)
    plus = compositions(smaller + shifts, cells, bits)
    plus -= compositions(smaller, cells, bits)
    signed: Integers = plus * np.repeat(np.where(totals < 0, -1, 1), cells)
    return signed


def pair_sums(law: PairSum, draws: int, bits: Bits) -> Integers:
    if law.shift == 0 and law.spread > WIDEST_SPREAD:
        return np.array([_sum_by_rejection(law, bits) for _ in range(draws)])
    return _inverse(law).draw(draws, bits)


@lru_cache(maxsize=4096)
def _inverse(law: PairSum) -> Inverse:
    return inverse(law.below, *running(law, WORD_BITS))


def _sum_by_rejection(law: PairSum, bits: Bits) -> int:
    """The sum S of so many geometric variables, accepted by f(S) / f(mode), f(k) = C(k+d-1, d-1) a^k."""
    while True:
        total = int(one_sided_geometric(Epsilon(ratio=law.odds), law.cells, bits).sum())
        word = bits.integer(WORD_BITS)
        if settle(lambda known, total=total: peak_chance(law.odds, law.cells, total, known), word, bits):  # type: ignore[misc]
            return total


def peak_chance(odds: Fraction, cells: int, total: int, bits: int) -> tuple[int, int]:
    """Bounds on 2^bits f(total) / f(mode), f(k) = C(k+d-1, d-1) a^k."""
    from flint import arb, ctx

    mode = (cells - 1) * odds.denominator // (odds.numerator - odds.denominator)
    # logarithms of binomials are large and nearly equal: their digits before the point cancel
    with ctx.workprec(bits + 64 + 2 * (mode + total + cells).bit_length()):
        logarithm = _log_binomial(total, cells - 1) - _log_binomial(mode, cells - 1)
        ratio = (logarithm + (mode - total) * arb_of(odds).log()).exp()
        return integer_bounds(ratio * arb(2) ** bits, bits)
