"""Two-way tables with both margins kept, l1 law, up to four columns: exact, for any number of rows.

The columns are halved. First the sums q of the left half, row by row: they are independent with P(q) proportional to
g_left(q) g_right(-q), given that they sum to zero (g is the law of a sum of cells). Then each half of two columns is
split, s + (q - s). The weight a^(|s| + |q-s|) is, as a function of s, two-sided geometric noise of ratio a^2 convolved
with a positive measure on 0..q: 1 at the ends and 1 - a^2 between. So s is such noise plus a point u of that measure,
and the column sums to zero with chance g(-sum u), which is largest at 0: accept by g(-sum u)/g(0), or start again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Integers
from discreet.lattice.chances import accept_values, integer_bounds, row_sums, uniform_below
from discreet.lattice.fixed_sum import MOST_CELLS_AT_ONCE, Cell, FixedSum
from discreet.lattice.laminar import GeometricGroup, sum_weight
from discreet.sample.bits import Bits
from discreet.sample.draw import add_noise

if TYPE_CHECKING:
    from flint import arb

WIDEST = 4  # columns: two halves of two


@dataclass(frozen=True)
class HalfSum:
    """The sum of `left` cells, given that they and `right` others sum to zero."""

    odds: Fraction
    left: int
    right: int

    @property
    def centre(self) -> tuple[int, int]:
        bounds = _inside(self, 24)
        reach = next((k for k, (low, _) in enumerate(bounds) if low >= (1 << 24) - 64), len(bounds) - 1)
        return -reach, reach

    def below(self, k: int, bits: int) -> tuple[int, int]:
        """By symmetry, from the chance of being within -k..k."""
        bounds = _inside(self, bits)
        steps = k if k >= 0 else -k - 1
        low, high = bounds[steps] if steps < len(bounds) else (bounds[-1][0], 1 << bits) if steps >= 0 else (0, 0)
        one = 1 << bits
        return ((one + low) // 2, (one + high + 1) // 2) if k >= 0 else ((one - high) // 2, (one - low + 1) // 2)

    def add(self, counts: Integers, bits: Bits) -> Integers:
        return add_noise(counts, self, bits)


@lru_cache(maxsize=64)
def _inside(law: HalfSum, bits: int) -> list[tuple[int, int]]:
    """Bounds on 2^bits P(|sum| <= k), k = 0, 1, .. until next to nothing is outside."""
    from flint import arb, ctx

    precision = bits + 32
    with ctx.workprec(precision):
        scale = arb(2) ** bits / sum_weight(law.odds, law.left + law.right, 0, precision)
        inside, bounds, k = arb(0), [], 0
        while True:
            inside += _both(law, k, precision) * (1 if k == 0 else 2)
            bounds.append(integer_bounds(inside * scale, bits))
            if bounds[-1][0] >= (1 << bits) - 1:
                return bounds
            k += 1


def _both(law: HalfSum, total: int, precision: int) -> arb:
    return sum_weight(law.odds, law.left, total, precision) * sum_weight(law.odds, law.right, total, precision)


@dataclass(frozen=True, eq=False)
class Narrow:
    """A table of 2 to 4 columns; `sizes[i]` are the numbers of cells in row i: one each, unless two columns."""

    odds: Fraction
    sizes: Integers

    @cached_property
    def halves(self) -> FixedSum:
        columns = self.sizes.shape[1]
        left = self.sizes[:, : columns // 2].sum(axis=1)
        right = self.sizes[:, columns // 2 :].sum(axis=1)
        kinds, which = np.unique(np.stack([left, right], axis=1), axis=0, return_inverse=True)
        return FixedSum(tuple(Cell(HalfSum(self.odds, int(a), int(b))) for a, b in kinds), which.ravel())

    @cached_property
    def column(self) -> GeometricGroup:
        """The geometric part of a column."""
        return GeometricGroup(self.odds**2, len(self.sizes))

    def draw(self, draws: int, bits: Bits) -> Integers:
        """draws x rows x columns: sums of entries."""
        most = max(1, MOST_CELLS_AT_ONCE // self.sizes.size)
        return np.concatenate([self._draw(min(most, draws - start), bits) for start in range(0, draws, most)])

    def _draw(self, draws: int, bits: Bits) -> Integers:
        found = [self._trials(draws, bits)]
        accepted, tried = len(found[0][0]), draws
        while accepted < draws:
            size = math.ceil(1.2 * (draws - accepted) * tried / max(accepted, 1)) + 8
            found.append(self._trials(min(size, 4 * draws + 8), bits))
            accepted, tried = accepted + len(found[-1][0]), tried + size
        left = np.concatenate([half for half, _ in found])[:draws]
        points = {side: np.concatenate([part[side] for _, part in found])[:draws] for side in found[0][1]}
        return self._split(left, points, bits)

    def _trials(self, trials: int, bits: Bits) -> tuple[Integers, dict[int, Integers]]:
        """Sums of the left half and points of the split halves, of those of so many trials that are accepted."""
        left = self.halves.given(np.zeros((trials, 1), dtype=np.int64), bits)[:, :, 0]
        points: dict[int, Integers] = {}
        for sign, width in self._sides:
            if width == 2:
                points[sign] = inner_points(self.odds, sign * left, bits)
                good = np.flatnonzero(self.column.accept(row_sums(points[sign]), bits))
                left, points = left[good], {side: part[good] for side, part in points.items()}
        return left, points

    def _split(self, left: Integers, points: dict[int, Integers], bits: Bits) -> Integers:
        parts: list[Integers] = []
        for sign, _ in self._sides:
            split = sign in points
            noise = self.column.given(-row_sums(points[sign]), bits) + points[sign] if split else sign * left
            parts += [noise, sign * left - noise] if split else [noise]
        return np.stack(parts, axis=2)

    @property
    def _sides(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The sign with which the left half's sums enter, and the number of columns."""
        columns = self.sizes.shape[1]
        return (1, columns // 2), (-1, columns - columns // 2)


def inner_points(odds: Fraction, sums: Integers, bits: Bits) -> Integers:
    """For every q a point of 0..q: the ends with weight 1, the points between with weight 1 - a^2; 0 if q is 0."""
    p, q = odds.numerator**2, odds.denominator**2

    def between(length: int, known: int) -> tuple[int, int]:
        inner = max(0, length - 1) * (p - q)
        whole = inner + 2 * p
        return (inner << known) // whole, -((-inner << known) // whole)

    lengths = np.abs(sums).ravel()
    inside = accept_values(lengths, between, bits)
    points = uniform_below(np.where(inside, lengths - 1, 2), bits)
    return np.where(inside, points + 1, points * lengths).reshape(sums.shape) * np.sign(sums)
