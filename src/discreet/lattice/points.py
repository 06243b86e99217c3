"""Points of a triangular lattice in the place of numbers: their weights, and the law that splits a point into two.

A point (x, y) stands for three numbers that sum to zero, x, y and -(x + y), and its length is the largest of their
absolute values: half of their sum. A potential is positive and otherwise arbitrary, as in potentials.py: its numbers
are what is stored, floats up to some length and beyond it a factor times a ratio to the length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.lattice.potentials import FLOAT_PRECISION, GUARD_BITS
from discreet.lattice.splits import SLACK, UNIT
from discreet.lattice.weights import SumWeights
from discreet.numbers import arb_of
from discreet.sample.bits import Bits
from discreet.sample.draw import WORD_BITS, invert

if TYPE_CHECKING:
    from flint import arb

Point = tuple[int, int]
STEP = 32  # squares of weights are kept in sizes so far apart: a few serve all points
SMALLEST = 1e-300  # bounds are not let sink to where floats end


def length(x: Integers, y: Integers) -> Integers:
    return np.asarray(np.maximum(np.maximum(np.abs(x), np.abs(y)), np.abs(x + y)))


@lru_cache(maxsize=64)
def square(reach: int) -> tuple[Integers, Integers]:
    """The points of a square around the origin, which is the middle entry."""
    x, y = np.meshgrid(np.arange(-reach, reach + 1), np.arange(-reach, reach + 1), indexing="ij")
    return x, y


@lru_cache(maxsize=16)
def outwards(reach: int) -> Integers:
    """The entries of a square from the middle outwards; a larger square begins with those of a smaller one."""
    x, y = square(reach)
    return np.lexsort((y.ravel(), x.ravel(), np.maximum(np.abs(x), np.abs(y)).ravel()))


@dataclass(frozen=True, eq=False)
class PointPotential:
    """`values` over a square, of which lengths up to its reach count; the same at a point and its opposite."""

    values: Floats
    factor: Fraction
    ratio: Fraction

    @property
    def reach(self) -> int:
        return len(self.values) // 2

    @cached_property
    def decay(self) -> float:
        """Of the logarithm, a unit of length: not more than the ratio's."""
        return -math.log(self.ratio) / SLACK

    @cached_property
    def ceiling(self) -> float:
        """No value is larger than this times the ratio to the length."""
        lengths = length(*square(self.reach))
        inside = self.values * np.exp(self.decay * lengths)
        return max(float(self.factor), float(inside[lengths <= self.reach].max())) * SLACK

    def floats(self, reach: int) -> Floats:
        """Over a square, each within a rounding or two."""
        wide = max(reach, self.reach)
        lengths = length(*square(wide))
        found = np.array([float(power) for power in self._powers(2 * wide, FLOAT_PRECISION)])[lengths]
        middle = slice(wide - self.reach, wide + self.reach + 1)
        found[middle, middle] = np.where(lengths[middle, middle] <= self.reach, self.values, found[middle, middle])
        return found[wide - reach : wide + reach + 1, wide - reach : wide + reach + 1]

    def exactly(self, reach: int, precision: int) -> list[list[arb]]:
        """The same as balls."""
        from flint import arb

        powers, lengths = self._powers(2 * reach, precision), length(*square(reach))
        inside, shift = lengths <= self.reach, self.reach - reach
        return [
            [
                arb(float(self.values[i + shift, j + shift])) if inside[i, j] else powers[lengths[i, j]]
                for j in range(2 * reach + 1)
            ]
            for i in range(2 * reach + 1)
        ]

    def at(self, point: Point) -> arb:
        from flint import arb

        far = max(abs(point[0]), abs(point[1]), abs(sum(point)))
        if far <= self.reach:
            return arb(float(self.values[point[0] + self.reach, point[1] + self.reach]))
        return arb_of(self.factor) * arb_of(self.ratio) ** far

    def _powers(self, last: int, precision: int) -> list[arb]:
        from flint import ctx

        with ctx.workprec(precision):
            value, ratio, found = arb_of(self.factor), arb_of(self.ratio), []
            for _ in range(last + 1):
                found.append(value)
                value *= ratio
        return found


def point_potential(odds: Fraction) -> PointPotential:
    """Of three cells that sum to zero: odds^-(|x| + |y| + |x + y|)."""
    return PointPotential(np.ones((1, 1)), Fraction(1), 1 / odds**2)


@dataclass(frozen=True, eq=False)
class PointLaw:
    """The left part s of a point: weight left(s) right(point - s). Floats over a square around half of the point, each
    with its doubt; and the same to any precision, which is slow and settles ties."""

    left: PointPotential
    right: PointPotential
    point: Point
    least_reach: int

    @property
    def centre(self) -> Point:
        return self.point[0] // 2, self.point[1] // 2

    @cached_property
    def _shift(self) -> int:
        """How far from the origin the parts in the middle of the square are, at most."""
        return max(max(abs(c), abs(p - c)) for p, c in zip(self.point, self.centre))

    @cached_property
    def reach(self) -> int:
        """So far that no larger share of the weights is outside than if the point were zero."""
        return self.least_reach + 2 * self._shift

    @cached_property
    def weights(self) -> Floats:
        wide = -(-(self.reach + self._shift) // STEP) * STEP
        (x, y), (u, v) = self.centre, (self.point[0] - self.centre[0], self.point[1] - self.centre[1])
        middle = range(wide - self.reach, wide + self.reach + 1)
        left, right = _floats(self.left, wide), _floats(self.right, wide)
        # right is the same at opposite points
        return (
            left[middle.start + x : middle.stop + x, middle.start + y : middle.stop + y]
            * right[middle.start - u : middle.stop - u, middle.start - v : middle.stop - v]
        )

    @cached_property
    def plain(self) -> float:
        """All weights in the square."""
        return float(self.weights.sum())

    def outside(self, reach: int, tilt: float = 0.0) -> float:
        """Not below the weights outside a square, each times e^(tilt times its distance): rings of 8 j points at
        distance j, where both lengths are j less the shift at least."""
        decay = self.left.decay + self.right.decay - tilt
        log_first = (self.left.decay + self.right.decay) * self._shift - decay * (reach + 1)
        series = 8 * ((reach + 1) - reach * math.exp(-decay)) / math.expm1(-decay) ** 2
        return max(self.left.ceiling * self.right.ceiling * math.exp(log_first) * series * SLACK, SMALLEST)

    @cached_property
    def doubt(self) -> float:
        """Of all chances together: what is outside, and rounding."""
        return min(1.0, 2 * self.outside(self.reach) / self.plain + (6 * self.weights.size + 64) * UNIT)

    @cached_property
    def chances(self) -> Floats:
        return self.weights / self.plain

    @cached_property
    def peak(self) -> float:
        """No weight is larger."""
        return max(float(self.weights.max()), self.outside(self.reach)) * SLACK

    def _folded(self, period: int) -> Floats:
        """The chances from the corner of the square on, added up a period apart."""
        turns = -(-len(self.chances) // period)
        whole = np.zeros((turns * period, turns * period))
        whole[: len(self.chances), : len(self.chances)] = self.chances
        return np.asarray(whole.reshape(turns, period, turns, period).sum(axis=(0, 2)))

    def moduli(self, period: int) -> Floats:
        """Of the characteristic function at the frequencies of a grid."""
        return np.abs(np.fft.rfft2(self._folded(period)))

    def low_waves(self, period: int, kept: int) -> tuple[NDArray[np.complex128], Floats]:
        """The characteristic function of the part, seen from the corner of the square, at all frequencies along one
        side and the first along the other; for each of the others, a bound on its largest wave."""
        inside = self.chances if len(self.chances) <= period else self._folded(period)
        along = np.fft.rfft(inside, n=period, axis=1)
        return np.fft.fft(along[:, :kept], n=period, axis=0), np.abs(along[:, kept:]).sum(axis=0)

    def log_moment(self, tilt: float) -> float:
        """Not below the logarithm of E e^(tilt d), d the distance from the centre along any side of the square."""
        steps = np.exp(tilt * np.arange(-self.reach, self.reach + 1))
        sides = (self.chances.sum(axis=1), self.chances.sum(axis=0))
        most = max(float(side @ turned) for side in sides for turned in (steps, steps[::-1]))
        return math.log((most + self.outside(self.reach, tilt) / self.plain) * SLACK)

    def draw(self, number: int, bits: Bits) -> Integers:
        """Independent parts, by inversion along the way outwards."""
        words = bits.words(number)
        keys = words.astype(np.float64) * 2.0**-WORD_BITS
        place = np.searchsorted(self._running, keys, side="right")
        before = np.where(place > 0, self._running[place - 1], 0.0)
        after = np.append(self._running, -1.0)[place]
        doubt = self.doubt + 4 * UNIT
        for i in np.flatnonzero((keys - before <= doubt) | (after - keys <= doubt)).tolist():
            place[i] = invert(self.below, int(words[i]), WORD_BITS, int(place[i]), bits)
        reach = max(self.reach, math.isqrt(int(place.max())) // 2 + 1 if number else 0)
        x, y = square(reach)
        at = outwards(reach)[place]
        return np.stack([x.ravel()[at] + self.centre[0], y.ravel()[at] + self.centre[1]], axis=1)

    @cached_property
    def _running(self) -> Floats:
        return np.minimum(np.cumsum(self.chances.ravel()[outwards(self.reach)]), 1.0)

    def below(self, k: int, bits: int) -> tuple[int, int]:
        """Bounds on 2^bits times the chance of the first k + 1 points outwards."""
        table, _ = self.exactly(bits + GUARD_BITS)
        if k < 0:
            return 0, 0
        running = _running_sum(table)
        low = running[min(k, len(running) - 1)]
        return low >> GUARD_BITS, min(1 << bits, ((low + table.missing) >> GUARD_BITS) + 1)

    def exactly(self, precision: int) -> tuple[SumWeights, arb]:
        """The law over a square so large that next to nothing is outside, and all weights together."""
        return _exact_law(self, precision)

    def _reach_for(self, precision: int) -> int:
        reach = self.reach
        while self.outside(reach) / self.plain > 2.0**-precision:
            reach += 8
        return reach

    def _balls(self, reach: int, precision: int) -> list[list[arb]]:
        from flint import ctx

        (x, y), (u, v) = self.centre, (self.point[0] - self.centre[0], self.point[1] - self.centre[1])
        wide = reach + self._shift
        left = self.left.exactly(wide, precision + GUARD_BITS)
        right = self.right.exactly(wide, precision + GUARD_BITS)
        middle = range(wide - reach, wide + reach + 1)
        with ctx.workprec(precision + GUARD_BITS):
            return [[left[i + x][j + y] * right[i - u][j - v] for j in middle] for i in middle]


@lru_cache(maxsize=32)
def _floats(potential: PointPotential, reach: int) -> Floats:
    return potential.floats(reach)


@lru_cache(maxsize=64)
def _exact_law(law: PointLaw, precision: int) -> tuple[SumWeights, arb]:
    from flint import arb, ctx

    reach = law._reach_for(precision)
    balls = law._balls(reach, precision)
    with ctx.workprec(precision + GUARD_BITS):
        whole = sum((ball for row in balls for ball in row), arb(0).union(arb(law.outside(reach))))
        scale = arb(2) ** precision / whole
        lows = [[int((ball * scale).lower().floor().unique_fmpz()) for ball in row] for row in balls]
    starts = (law.centre[0] - reach, law.centre[1] - reach)
    return SumWeights(starts, np.array(lows, dtype=object), 1 << precision, precision), whole


@lru_cache(maxsize=16)
def _running_sum(table: SumWeights) -> list[int]:
    found, total = [], 0
    for low in table.lows.ravel()[outwards(len(table.lows) // 2)].tolist():
        total += low
        found.append(total)
    return found
