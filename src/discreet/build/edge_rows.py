"""Rows for the smallest counts by formula. docs/proofs/near-zero.md has their derivation, and what no rows undercut.

Going from count to count, the chance of an output rises by the odds until the count is reached, and then falls by them,
as that of noise does. So each output is known by its levels: the parts of the noise's chances that it has before and
after. What is left over of a step is spent on 0, which noise that is cut off there is more likely to be, and on the
largest output that a count has and the one before it has not.

All is worked out in balls far finer than the smallest chance, and put on a grid of whole numbers. Nothing rests on
their width: the delta of the rows is measured afterwards, in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.laws import Bounded
from discreet.numbers import arb_of

Ball: TypeAlias = Any  # of flint
Row: TypeAlias = dict[int, Ball]  # chances by output
GUARD_BITS = 256  # beside those that the smallest chance takes, twice: what is solved for loses some
ROUNDED = 64  # bits behind the smallest chance


@dataclass(frozen=True, eq=False)
class FormulaRows:
    """Whole weights of the counts from 0 on, with a common sum; `delta` is about what they should have."""

    rows: list[list[int]]
    total: int
    delta: Fraction


def rows_by_formula(noise: Bounded, *, always_true: bool) -> FormulaRows | None:
    """Right on average from 1 on; the truth has its chance from the support on, or for every count. None where the
    formula has no chances: where the truth is rare, or odds are below two or so."""
    from flint import ctx

    if noise.shape.rising:
        return None
    smallest = noise.support * (noise.odds.numerator.bit_length() - noise.odds.denominator.bit_length() + 1)  # bits
    with ctx.workprec(2 * smallest + GUARD_BITS):
        shape = _Shape(noise)
        rows, delta = _always_true(shape) if always_true else _unbiased(shape)
        weights, total = _whole(rows, noise, 0 if always_true else noise.support, smallest + ROUNDED)
        if min(map(min, weights)) < 0:
            return None
        return FormulaRows(weights, total, Fraction(_floor(delta, total << smallest), total << smallest))


class _Shape:
    """The noise in balls: the chances of the errors 0, 1, .., and the sums of the first powers of the odds."""

    def __init__(self, noise: Bounded) -> None:
        from flint import arb

        self.odds, self.support, self.last = arb_of(noise.odds), noise.support, arb(noise.shape.last)
        self.powers = [self.odds**k for k in range(noise.support + 1)]
        self.chances = [arb_of(noise.truth), *(self.last * power for power in self.powers[-2::-1])]
        beside = self.odds * self.chances[1]
        self.delta = self.last + max(self.chances[0] - beside, 0 * beside, key=_middle)
        self.sums = [(power - 1) / (self.odds - 1) for power in self.powers]

    def noise_row(self, count: int) -> Row:
        return {count + k: self.chances[abs(k)] for k in range(-self.support, self.support + 1)}


def _unbiased(shape: _Shape) -> tuple[list[Row], Ball]:
    """Where the noise is cut off at 0 it leads upwards less, too: the outputs above a count have lower levels, each so
    that the count they begin at is right on average. What is left is the truth."""
    reach, chances = shape.support, shape.chances
    delta = max(shape.delta, 1 / (shape.powers[-1] + shape.powers[-2] + reach), key=_middle)
    more = delta - shape.delta
    level = dict.fromkeys(range(reach + 1, 2 * reach + 1), 1 + 0 * delta)
    rows = [_widest(shape, more)]
    for count in range(reach - 1, 0, -1):
        row = {count - k: chances[k] for k in range(1, count)}
        row[0] = sum(chances[count:], more * shape.sums[reach + 1 - count])
        end = more if count > 1 else 0 * more
        drawn_down = sum((count - output) * chance for output, chance in row.items())
        rest = drawn_down - sum(k * level[count + k] * chances[k] for k in range(2, reach + 1)) - reach * end
        level[count + 1] = rest / chances[1]
        row |= {count + k: level[count + k] * chances[k] for k in range(1, reach + 1)}
        row[count + reach] += end
        row[count] = 1 - sum(row.values())
        rows.append(row)
    return [_of_nobody(rows[-1], shape, sure=False), *reversed(rows)], delta


def _widest(shape: _Shape, more: Ball) -> Row:
    """The noise of a count that is the support, with more at both ends: it comes from beside the truth."""
    reach = shape.support
    row = shape.noise_row(reach)
    for output, part in ((0, more), (2 * reach, more), (reach - 1, -more), (reach + 1, -more)):
        row[output] += part
    return row


def _always_true(shape: _Shape) -> tuple[list[Row], Ball]:
    """The levels solve a system: two equations for each count up to the support. Beyond it outputs below a count keep
    levels that are higher than the noise's; what outputs above it have to have for that, they lose beside the truth."""
    reach, powers = shape.support, shape.powers
    delta, below, above = _levels(shape)
    rows = []
    for count in range(1, reach + 1):
        row = {0: delta * shape.sums[reach + 1 - count], count: shape.chances[0]}
        row |= {count - k: below[count - k] * powers[reach - k] for k in range(1, count)}
        row |= {count + k: above.get(count + k, delta) * powers[reach - k] for k in range(1, reach + 1)}
        rows.append(row)
    higher = {output: more for output, level in below.items() if _middle(more := level - shape.last) > 0}
    return [_of_nobody(rows[0], shape, sure=True), *rows, *_until_the_noise(shape, higher)], delta


def _levels(shape: _Shape) -> tuple[Ball, dict[int, Ball], dict[int, Ball]]:
    """delta, and the chances that outputs end with: those of 1, 2, .. below a count, and those of 2, 3, .. above it."""
    from flint import arb_mat

    reach, powers = shape.support, shape.powers
    place = {(-1, output): output for output in range(1, reach)}
    place |= {(1, output): reach + output - 2 for output in range(2, reach + 2)}
    system, bounds = arb_mat(2 * reach, 2 * reach), arb_mat(2 * reach, 1)
    for count in range(1, reach + 1):
        ended = shape.sums[reach + 1 - count]
        terms = [(0, -count, ended)]
        terms += [(place[-1, count - k], -k, powers[reach - k]) for k in range(1, count)]
        terms += [(place.get((1, count + k), 0), k, powers[reach - k]) for k in range(1, reach + 1)]
        for column, error, weight in terms:
            system[2 * count - 2, column] += weight
            system[2 * count - 1, column] += error * weight
        bounds[2 * count - 2, 0] = 1 - shape.chances[0]
    solved = system.solve(bounds)
    found = {key: solved[column, 0] for key, column in place.items()}
    below = {output: level for (side, output), level in found.items() if side < 0}
    return solved[0, 0], below, {output: level for (side, output), level in found.items() if side > 0}


def _until_the_noise(shape: _Shape, higher: dict[int, Ball]) -> Iterator[Row]:
    """Of the counts from the support + 1 on, as long as they reach outputs whose level is higher."""
    reach, powers = shape.support, shape.powers
    counts = range(reach + 1, max(higher, default=0) + reach + 1)
    low = {c: {k: higher[c - k] * powers[reach - k] for k in range(2, reach + 1) if c - k in higher} for c in counts}
    level: dict[int, Ball] = {}
    for count in reversed(counts):
        rest = sum(k * more for k, more in low[count].items())
        rest -= sum(k * level.get(count + k, 0) * powers[reach - k] for k in range(3, reach + 1))
        level[count + 2] = rest / (2 * powers[reach - 2])
    for count in counts:
        row, beside = shape.noise_row(count), 0 * shape.last
        high = {k: level[count + k] * powers[reach - k] for k in range(2, reach + 1) if count + k in level}
        for sign, part in ((-1, low[count]), (1, high)):
            for k, more in part.items():
                row[count + sign * k] += more
                beside += more / 2
        row[count - 1] -= beside
        row[count + 1] -= beside
        yield row


def _of_nobody(first: Row, shape: _Shape, *, sure: bool) -> Row:
    """The row of 0, from that of 1: every chance is at least a part of its, and the first that can be are larger."""
    row = {output: first[output] / shape.odds for output in range(shape.support + 1)}
    if sure:
        row[0] = shape.chances[0]
    left = 1 - sum(row.values())
    for output in range(int(sure), shape.support + 1):
        more = min(left, first[output] * shape.odds - row[output], key=_middle)
        row[output] += more
        left -= more
    row[1] += left
    return row


def _whole(rows: list[Row], noise: Bounded, sure: int, bits: int) -> tuple[list[list[int]], int]:
    """On a grid of even numbers; what that leaves over of the sum and of the mean goes beside the truth, which has its
    chance from the count `sure` on."""
    total = noise.truth.denominator << (bits + 1)
    found = []
    for count, row in enumerate(rows):
        weights = [0] * (len(rows) + noise.support)
        for output, chance in row.items():
            weights[output] = 2 * _floor(chance, total // 2)
        if count >= sure:
            weights[count] = int(noise.truth * total)
        left = total - sum(weights)
        error = sum((output - count) * weight for output, weight in enumerate(weights))
        if count:
            weights[count - 1] += (left + error) // 2
        weights[count + 1] += (left - error) // 2 if count else left
        found.append(weights)
    return found, total


def _floor(ball: Ball, units: int) -> int:
    """So many whole units of 1/units are in the middle of it."""
    mantissa, exponent = ball.mid().man_exp()
    scaled, shift = int(mantissa) * units, int(exponent)
    return scaled << shift if shift >= 0 else scaled >> -shift


def _middle(ball: Ball) -> Ball:
    """A ball without a width: such are in order."""
    return ball.mid()
