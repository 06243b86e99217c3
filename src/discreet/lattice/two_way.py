"""Two-way tables with both margins kept, l1 law, up to four columns: exact, for any number of rows.

The columns are halved. First the sums q of the left half, row by row: they are independent with P(q) proportional to
g_left(q) g_right(-q), given that they sum to zero (g is the law of a sum of cells). Then each half of two columns is
split, s + (q - s). The weight a^(|s| + |q-s|) is, as a function of s, two-sided geometric noise of ratio a^2 convolved
with a positive measure on 0..q: 1 at the ends and 1 - a^2 between. So s is such noise plus a point u of that measure,
and the column sums to zero with chance g(-sum u), which is largest at 0: accept by g(-sum u)/g(0), or start again.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.chances import accept_values, integer_bounds, uniform_below
from discreet.lattice.fixed_sum import Cell, FixedSum
from discreet.lattice.invariants import Integers
from discreet.lattice.laminar import GeometricGroup, sum_weight
from discreet.sample.bits import Bits

if TYPE_CHECKING:
    from flint import arb

WIDEST = 4


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
        found = [self._trials(draws, bits)]
        while (left := draws - sum(len(part) for part in found)) > 0:
            found.append(self._trials(left, bits))
        return np.concatenate(found)

    def _trials(self, trials: int, bits: Bits) -> Integers:
        """Those of so many trials that are accepted."""
        columns = self.sizes.shape[1]
        left = self.halves.given(np.zeros((trials, 1), dtype=np.int64), bits)[:, :, 0]
        sides = [(1, columns // 2), (-1, columns - columns // 2)]
        points: dict[int, Integers] = {}
        for sign, width in sides:
            if width == 2:
                points[sign] = inner_points(self.odds, sign * left, bits)
                good = self.column.accept(points[sign].sum(axis=1), bits)
                left, points = left[good], {side: part[good] for side, part in points.items()}
        parts: list[Integers] = []
        for sign, _ in sides:
            split = sign in points
            noise = self.column.given(-points[sign].sum(axis=1), bits) + points[sign] if split else sign * left
            parts += [noise, sign * left - noise] if split else [noise]
        return np.stack(parts, axis=2)


def inner_points(odds: Fraction, sums: Integers, bits: Bits) -> Integers:
    """For every q a point of 0..q: the ends with weight 1, the points between with weight 1 - a^2; 0 if q is 0."""
    p, q = odds.numerator**2, odds.denominator**2
    lengths = np.abs(sums).ravel()
    points = np.zeros(len(lengths), dtype=np.int64)
    open_points = np.flatnonzero(lengths)
    while len(open_points):
        proposals = uniform_below(lengths[open_points] + 1, bits)
        inner = np.flatnonzero((proposals > 0) & (proposals < lengths[open_points]))
        good = np.ones(len(open_points), dtype=bool)
        good[inner] = rational_bernoulli(p - q, p, len(inner), bits)
        points[open_points[good]] = proposals[good]
        open_points = open_points[~good]
    return points.reshape(sums.shape) * np.sign(sums)


def rational_bernoulli(part: int, whole: int, size: int, bits: Bits) -> np.ndarray:
    """Each true with chance part/whole."""

    def chance(_: int, known: int) -> tuple[int, int]:
        return (part << known) // whole, -((-part << known) // whole)

    return accept_values(np.zeros(size, dtype=np.int64), chance, bits)
