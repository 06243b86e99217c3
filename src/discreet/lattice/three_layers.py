"""Three-way tables with a side of three and all two-way margins kept, under the l1 law, exactly.

What the first two layers gain the third loses: a place holds a point of points.py, and the table of points keeps both
its margins. Its columns are halved as in halved_columns.py, with points in the place of numbers: the proof is the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.lattice.chances import integer_bounds
from discreet.lattice.points import Point, PointLaw, PointPotential, length, point_potential, square
from discreet.lattice.potentials import GUARD_BITS
from discreet.lattice.splits import SLACK, UNIT
from discreet.lattice.weights import add
from discreet.lattice.zero_sums import UNSURE, Enclosure
from discreet.sample.bits import Bits, seeded

NATS = 30  # what is outside the squares is e^-NATS of the whole at most: then it hardly ever matters
DEVIATIONS = 5  # of a sum up to which a potential is worked out; beyond, it is larger than it need be
DECAYS = 6  # the same, for exponential tails
SHARES = (
    0.7,
    0.75,
    0.8,
    0.85,
    0.88,
    0.91,
    0.94,
    0.97,
)  # of the halves' decay: what falls more slowly has a smaller factor
NEGLIGIBLE = 2.0**-34  # of frequencies that are left out, together: of the size of the other errors
MOST_KEPT = 128  # laws of points, a megabyte each at most
MOST_PROBES = 64  # trials, of which one must end in a table
LONGEST = 140  # points whose potentials are worked out: their number grows with the square
MOST_PLACES = 256  # of a table: about a second a draw


@dataclass(frozen=True, eq=False)
class PointSplit:
    """Points over some columns, for so many rows, and how they split into those of two halves."""

    left: PointPotential
    right: PointPotential
    rows: int
    _laws: dict[Point, PointLaw] = field(default_factory=dict)

    @cached_property
    def reach(self) -> int:
        """Of the squares."""
        nats = NATS + math.log(self.left.ceiling) + math.log(self.right.ceiling)
        return math.ceil(nats / (self.left.decay + self.right.decay)) + 2

    def law(self, point: Point) -> PointLaw:
        if point not in self._laws:
            if len(self._laws) >= MOST_KEPT:
                self._laws.pop(next(iter(self._laws)))
            self._laws[point] = PointLaw(self.left, self.right, point, self.reach)
        return self._laws[point]

    @cached_property
    def deviation(self) -> float:
        """Of the sum of all rows' parts along a side, if all points are zero."""
        x, _ = square(self.reach)
        return math.sqrt(self.rows * float((self.law((0, 0)).chances * x**2).sum()))

    @cached_property
    def period(self) -> int:
        reach = max(2 * self.reach + 1, 8 * self.deviation + 2 * NATS / (self.left.decay + self.right.decay))
        return 1 << math.ceil(math.log2(reach))

    @cached_property
    def tilt(self) -> float:
        return min(0.7 * (self.left.decay + self.right.decay), self.period / self.deviation**2)

    @cached_property
    def kept(self) -> int:
        """How many frequencies along one side do not die out in the product over the rows, if all points are zero."""
        bounds = self.law((0, 0)).low_waves(self.period, 0)[1]
        return int(np.flatnonzero(bounds**self.rows > NEGLIGIBLE)[-1]) + 1

    def zero_sum(self, laws: list[PointLaw]) -> tuple[float, float]:
        """The chance that independent parts sum to zero, and a bound on the error."""
        found = [law.low_waves(self.period, self.kept) for law in laws]
        # each wave is off by its doubt and by the transform's roundings, see splits.py
        each = 32 * math.log2(self.period) * self.period * UNIT
        off = sum(law.doubt for law in laws) + (len(laws) + 2) * each
        product = reduce(np.multiply, (waves for waves, _ in found))
        left_out = reduce(
            np.multiply, (np.minimum(bound + law.doubt + each, 1.0) for (_, bound), law in zip(found, laws))
        )
        away = [sum(law.reach - law.centre[axis] for law in laws) for axis in (0, 1)]
        turns = [_turns(place, self.period) for place in away]
        shares = np.full(self.period // 2 + 1, 2.0 / self.period)
        shares[[0, -1]] = 1.0 / self.period
        value = float(((turns[0] @ product) * turns[1][: self.kept]).real @ shares[: self.kept]) / self.period
        exponent = sum(law.log_moment(self.tilt) for law in laws)
        distance = self.period - max(abs(sum(law.centre[axis] for law in laws)) for axis in (0, 1))
        folded = 4 * math.exp(min(0.0, exponent - self.tilt * distance))
        return value, off + float(left_out @ shares[self.kept :]) * SLACK + folded

    def goes_on(self, points: Integers, potential: RaisedPotential, bits: Bits) -> bool:
        """With the chance that the parts sum to zero, over the product of the points' excess."""
        laws = [self.law((int(x), int(y))) for x, y in points]
        value, error = self.zero_sum(laws)
        logarithm = sum(math.log(law.plain / potential.at(law.point)) for law in laws)
        doubt = sum(law.doubt for law in laws) + 1024 * len(laws) * UNIT
        low = (value - error) * math.exp(logarithm) * (1 - doubt) if doubt < UNSURE else 0.0
        high = (value + error) * math.exp(logarithm) * (1 + doubt) if doubt < UNSURE else 1.0
        if low > 1:
            raise ArithmeticError("a bound on a chance was exceeded")
        enclosure = Enclosure(np.array([low]), np.array([high]))
        return bool(enclosure.compare(lambda _: _exact_chance(laws, potential), bits)[0])

    def parts(self, points: Integers, bits: Bits) -> Integers:
        """The left parts, given that they sum to zero: all but that of the longest point are drawn, and what is left
        for it is accepted by its chance."""
        laws = [self.law((int(x), int(y))) for x, y in points]
        last = int(np.argmax(length(points[:, 0], points[:, 1])))
        others = [row for row in range(self.rows) if row != last]
        found = np.empty((self.rows, 2), dtype=np.int64)
        while True:
            tried = np.stack([laws[row].draw(4 * self.rows, bits) for row in others])
            left = -tried.sum(axis=0)
            good = np.flatnonzero(_likely(laws[last], left, bits))
            if len(good):
                found[others], found[last] = tried[:, good[0]], left[good[0]]
                return found


def _turns(place: int, period: int) -> NDArray[np.complex128]:
    """e^(2 pi i j place / period), reduced in integers."""
    steps = (np.arange(period) * (place % period)) % period
    return np.asarray(np.exp(2j * math.pi / period * steps))


def _likely(law: PointLaw, parts: Integers, bits: Bits) -> np.ndarray:
    """Each part with its weight over a bound on all weights."""
    from flint import arb, ctx

    places = parts - np.array(law.centre) + law.reach
    inside = ((places >= 0) & (places <= 2 * law.reach)).all(axis=1)
    held = np.where(inside[:, None], places, 0)
    ratio = np.where(inside, law.weights[held[:, 0], held[:, 1]] / law.peak, 0.0)

    def chance(i: int) -> Callable[[int], tuple[int, int]]:
        x, y = (int(coordinate) for coordinate in parts[i])

        def bounds(known: int) -> tuple[int, int]:
            with ctx.workprec(known + GUARD_BITS):
                weight = law.left.at((x, y)) * law.right.at((law.point[0] - x, law.point[1] - y))
                return integer_bounds(weight / arb(law.peak) * arb(2) ** known, known)

        return bounds

    return Enclosure(ratio - 16 * UNIT, np.where(inside, ratio + 16 * UNIT, 1.0)).compare(chance, bits)


@dataclass(frozen=True, eq=False)
class RaisedPotential:
    """The potential of the points that are split, as stored, times `scale`: large enough by Hoelder's inequality."""

    stored: PointPotential
    scale: float

    def at(self, point: Point) -> float:
        return self.scale * float(self.stored.at(point))


def raised(split: PointSplit, reach: int) -> RaisedPotential:
    """Worked out for points up to some length; beyond, a bound on all weights together."""
    values = np.zeros((2 * reach + 1, 2 * reach + 1))
    period = 1 << max(4, math.ceil(math.log2(4.5 * split.deviation)))
    for x in range(reach + 1):
        for y in range(min(x, reach - x) + 1):
            law = PointLaw(split.left, split.right, (x, y), split.reach)
            value = _all_weights(law) * _excess(law, split.rows, period)
            for image in _images(x, y):
                values[image[0] + reach, image[1] + reach] = value
    scale = 2.0 ** math.floor(math.log2(values[reach, reach]))
    log_factor, decay = min(_tails(split.left, split.right), key=lambda tail: tail[0] - tail[1] * reach)
    factor = Fraction(math.exp(log_factor) * SLACK / scale)
    return RaisedPotential(PointPotential(values / scale, factor, Fraction(math.exp(-decay) * SLACK)), scale)


def _tails(left: PointPotential, right: PointPotential) -> Iterator[tuple[float, float]]:
    """(logarithm of a factor, decay): all weights of a point together are no more than the factor times e^(-decay
    length), by the triangle inequality and Cauchy's."""
    for share in SHARES:
        decay = share * min(left.decay, right.decay)
        yield (math.log(_squares(left, decay)) + math.log(_squares(right, decay))) / 2, decay


def _all_weights(law: PointLaw) -> float:
    return (law.plain + law.outside(law.reach)) * SLACK


def _images(x: int, y: int) -> set[Point]:
    """Of three numbers in any order and with either sign: nothing tells them apart."""
    three = (x, y, -x - y)
    pairs = {(three[i], three[j]) for i in range(3) for j in range(3) if i != j}
    return pairs | {(-one, -other) for one, other in pairs}


def _excess(law: PointLaw, rows: int, period: int) -> float:
    """Not below (mean of |wave|^rows)^(1/rows); see splits.py for odd powers and for the grid."""
    transform = 32 * math.log2(period) * period * UNIT
    moduli = np.minimum(law.moduli(period) + law.doubt + transform, 1.0)
    shares = np.full(moduli.shape[1], 2.0 / period**2)
    shares[[0, -1]] = 1.0 / period**2
    even = (rows - 1, rows + 1) if rows % 2 else (rows, rows)
    means = [float((moduli**power @ shares).sum()) * SLACK for power in even]
    return math.exp(sum(math.log(min(1.0, mean)) for mean in means) / (2 * rows)) * SLACK


def _squares(half: PointPotential, decay: float) -> float:
    """Not below the sum of (half(s) e^(decay length))^2: rings of 6 j points of length j."""
    reach = half.reach
    lengths = length(*square(reach))
    inside = float(((half.values * np.exp(decay * lengths))[lengths <= reach] ** 2).sum())
    ratio = math.exp(2 * (decay - half.decay))
    series = 6 * ratio ** (reach + 1) * ((reach + 1) - reach * ratio) / (1 - ratio) ** 2
    return (inside + float(half.factor) ** 2 * series) * SLACK


def _exact_chance(laws: list[PointLaw], potential: RaisedPotential) -> Callable[[int], tuple[int, int]]:
    from flint import arb, ctx

    def chance(known: int) -> tuple[int, int]:
        precision = known + GUARD_BITS
        exactly = [law.exactly(precision) for law in laws]
        table = reduce(add, (one for one, _ in exactly))
        low, high = table.at((0, 0))
        with ctx.workprec(precision + GUARD_BITS):
            share = arb(low).union(arb(high)) / arb(2) ** (precision - known)
            for law, (_, whole) in zip(laws, exactly):
                share *= whole / (potential.stored.at(law.point) * arb(potential.scale))
            return integer_bounds(share, known)

    return chance


@dataclass(frozen=True, eq=False)
class Node:
    """Columns first .. last - 1; `potential` is None for the whole table, whose points are all zero."""

    first: int
    middle: int
    last: int
    split: PointSplit
    potential: RaisedPotential | None


@dataclass(frozen=True, eq=False)
class ThreeLayers:
    """A table of three layers: so many rows, and nodes from the whole to pairs of columns."""

    rows: int
    columns: int
    nodes: tuple[Node, ...]

    @cached_property
    def often(self) -> bool:
        """Whether a trial ends in a table soon; tried out, and thrown away."""
        bits = seeded(0)
        return any(self._trial(bits) is not None for _ in range(MOST_PROBES))

    def draw(self, draws: int, bits: Bits) -> Integers:
        """draws x 3 x rows x columns."""
        two = np.stack([self._table(bits) for _ in range(draws)]).transpose(0, 3, 1, 2)
        return np.concatenate([two, -two.sum(axis=1, keepdims=True)], axis=1)

    def _table(self, bits: Bits) -> Integers:
        while (table := self._trial(bits)) is None:
            pass
        return table

    def _trial(self, bits: Bits) -> Integers | None:
        """Rows x columns x 2, or nothing where one must start again."""
        points = {(0, self.columns): np.zeros((self.rows, 2), dtype=np.int64)}
        for node in self.nodes:
            known = points[node.first, node.last]
            if node.potential is not None and not node.split.goes_on(known, node.potential, bits):
                return None
            points[node.first, node.middle] = node.split.parts(known, bits)
            points[node.middle, node.last] = known - points[node.first, node.middle]
        return np.stack([points[column, column + 1] for column in range(self.columns)], axis=1)


@lru_cache(maxsize=8)
def three_layers(odds: Fraction, rows: int, columns: int) -> ThreeLayers | None:
    """None if it is too large, or its noise too wide, to be planned in seconds. Best with the shorter side as
    columns."""
    cell = point_potential(odds)
    variance = _variance(cell)

    def worked_out(width: int) -> int:
        spread = math.sqrt(variance * width * (columns - width) / columns)
        return math.ceil(DEVIATIONS * spread + DECAYS / cell.decay)

    if rows * columns > MOST_PLACES or worked_out((columns + 1) // 2) > LONGEST:
        return None

    @cache
    def split(width: int) -> PointSplit:
        half = (width + 1) // 2
        return PointSplit(potential(half), potential(width - half), rows)

    @cache
    def of_sums(width: int) -> RaisedPotential:
        return raised(split(width), worked_out(width))

    def potential(width: int) -> PointPotential:
        return cell if width == 1 else of_sums(width).stored

    nodes, spans = [], [(0, columns)]
    for first, last in spans:
        width = last - first
        if width > 1:
            middle = first + (width + 1) // 2
            nodes.append(Node(first, middle, last, split(width), of_sums(width) if width < columns else None))
            spans += [(first, middle), (middle, last)]
    return ThreeLayers(rows, columns, tuple(nodes))


def _variance(cell: PointPotential) -> float:
    """Of a free cell."""
    reach = math.ceil(NATS / cell.decay)
    x, _ = square(reach)
    weights: Floats = cell.floats(reach)
    return float((weights * x**2).sum() / weights.sum())
