"""l1 noise that leaves no count negative, under sums that overlap, or in cells that no sum touches.

Cells are grouped in classes, and only the sums of classes are tied. Every cell is a rise less a fall, u - v, with a
factor t^z for a suitable t per kept sum that brings the means near zero; since the noise changes no kept sum, the
factors cancel and the law is the same for every t. Only speed depends on the choice, so floats may make it. As many
classes as there are kept sums are solved for: their falls are drawn, their rises must then have a certain sum S, which
is accepted by g(S)/g(mode), g(S) = C(S+d-1, d-1) r^S; given S they are a uniform composition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.errors import SolverFailed
from discreet.lattice.chances import accept_values, row_sums
from discreet.lattice.compositions import compositions
from discreet.lattice.cut_off import Fall, fall_means
from discreet.lattice.laminar import peak_chance
from discreet.lattice.merging import MOST_TRIALS, solve_for
from discreet.laws import Geometric, draw_noise, one_sided_geometric
from discreet.numbers import Epsilon
from discreet.sample.bits import Bits

MOST_CELLS_AT_ONCE = 1 << 19  # 4 MB of a batch of trials
STEPS = 60  # Newton's method needs fewer; it may stop early, since only speed depends on the factors
CLOSE = 1e-3  # part of the rate: only speed depends on the factors, so rough ones do
FINEST = 1 << 20  # denominators of the factors: short ones keep exact arithmetic fast

_peak_chance = lru_cache(maxsize=1 << 16)(peak_chance)


def restricted_free(odds: Fraction, counts: Integers, bits: Bits) -> Integers:
    """Noise of cells that no kept sum touches."""
    noise = draw_noise(Geometric(odds), len(counts), bits)
    low = np.flatnonzero(noise + counts < 0)
    while len(low):
        noise[low] = draw_noise(Geometric(odds), len(low), bits)
        low = low[noise[low] + counts[low] < 0]
    return noise


def restricted_noise(odds: Fraction, matrix: Integers, classes: list[Integers], draws: int, bits: Bits) -> Integers:
    """Noise for classes of cells with these counts: class sums s with matrix @ s = 0, no cell below minus its count.

    A row per draw, the cells class after class.
    """
    return Restricted(matrix, cut_off_classes(odds, matrix, classes)).draw(draws, bits)


@dataclass(frozen=True, eq=False)
class CutOffClass:
    """Cells with these counts; weights odds^-|z| tilt^z, no z below minus the count."""

    odds: Fraction
    tilt: Fraction
    counts: Integers
    variance: float

    @cached_property
    def fall(self) -> Fall:
        return Fall(self.odds, 1 / (self.odds * self.tilt))

    @property
    def rise_odds(self) -> Fraction:
        return self.odds / self.tilt

    def falls(self, draws: int, bits: Bits) -> Integers:
        """Independent, a row per draw."""
        return self.fall.draw(np.tile(self.counts, draws), bits).reshape(draws, len(self.counts))

    def free(self, draws: int, bits: Bits) -> Integers:
        """Independent noise, a row per draw."""
        rises = one_sided_geometric(Epsilon(ratio=self.rise_odds), draws * len(self.counts), bits)
        return rises.reshape(draws, len(self.counts)) - self.falls(draws, bits)

    def accept(self, rises: Integers, bits: Bits) -> NDArray[np.bool_]:
        """Each sum of rises by its weight over the largest."""
        good = rises >= 0
        good[good] = accept_values(rises[good], partial(_peak_chance, self.rise_odds, len(self.counts)), bits)
        return good

    def rises(self, sums: Integers, bits: Bits) -> Integers:
        """Given their sums: a row per sum."""
        cells = len(self.counts)
        return compositions(sums, np.full(len(sums), cells, dtype=np.int64), bits).reshape(-1, cells)


@dataclass(frozen=True, eq=False)
class Restricted:
    """Class sums s with matrix @ s = 0; the rows of the matrix are independent."""

    matrix: Integers
    classes: tuple[CutOffClass, ...]

    @cached_property
    def solved(self) -> tuple[Integers, Integers, Integers, int]:
        return solve_for(self.matrix, np.array([one.variance for one in self.classes]))

    def draw(self, draws: int, bits: Bits) -> Integers:
        """A row per draw, the cells class after class."""
        cells = sum(len(one.counts) for one in self.classes)
        most, found = max(1, MOST_CELLS_AT_ONCE // cells), [np.zeros((0, cells), dtype=np.int64)]
        done = trials = 0
        while done < draws:
            size = min(most, max(64, 2 * (draws - done) * (trials + 64) // (done + 1)))
            found.append(self._trials(size, bits)[: draws - done])
            done, trials = done + len(found[-1]), trials + size
            if trials > MOST_TRIALS and done == 0:
                raise SolverFailed("noise under inequalities was asked for", f"{trials} trials were all rejected")
        return np.concatenate(found)

    def _trials(self, trials: int, bits: Bits) -> Integers:
        """The noise of those of so many trials that are accepted."""
        solved, drawn, numbers, divisor = self.solved
        parts = {int(c): self.classes[c].free(trials, bits) for c in drawn}
        sums = [row_sums(parts[int(c)]) for c in drawn]
        rises: dict[int, Integers] = {}
        for place in np.argsort([len(self.classes[c].counts) for c in solved], kind="stable").tolist():
            c = int(solved[place])  # small classes first: their trials cost least
            scaled = sum((n * part for n, part in zip(numbers[place].tolist(), sums)), np.zeros(trials, dtype=np.int64))
            falls = self.classes[c].falls(trials, bits)
            rise = scaled // divisor + row_sums(falls)
            held = np.flatnonzero((scaled % divisor == 0) & self.classes[c].accept(rise, bits))
            parts = {name: part[held] for name, part in parts.items()} | {c: falls[held]}
            rises = {name: sum_[held] for name, sum_ in rises.items()} | {c: rise[held]}
            sums = [drawn_sum[held] for drawn_sum in sums]
            trials = len(held)
        for c, rise in rises.items():
            parts[c] = self.classes[c].rises(rise, bits) - parts[c]
        return np.concatenate([parts[c] for c in range(len(self.classes))], axis=1)


def cut_off_classes(odds: Fraction, matrix: Integers, classes: list[Integers]) -> tuple[CutOffClass, ...]:
    """The classes, tilted so that their means nearly cancel in every kept sum."""
    factors = [factor_near(log) for log in tilting_logs(odds, matrix, classes).tolist()]
    found = []
    for column, counts in zip(matrix.T, classes):
        tilt = math.prod((factors[i] for i in np.flatnonzero(column)), start=Fraction(1))
        _, variance = _moments(math.log(odds), np.array([math.log(tilt)]), counts)
        found.append(CutOffClass(odds, tilt, counts, float(variance.sum())))
    return tuple(found)


def _moments(rate: float, theta: Floats, counts: Integers) -> tuple[Floats, Floats]:
    """Mean and variance of cells with weight e^(-rate|z| + theta z), z >= -count."""
    square, ratio, shift = math.exp(-2 * rate), np.exp(-rate - theta), 1e-4
    rise = np.exp(theta - rate)
    higher, lower = (fall_means(square, ratio * math.exp(by), counts) for by in (shift, -shift))
    mean = rise / (1 - rise) - (higher + lower) / 2
    return mean, rise / (1 - rise) ** 2 + np.maximum(higher - lower, 0) / (2 * shift)


def factor_near(log: float) -> Fraction:
    """A short number near its exponential."""
    return max(Fraction(math.exp(log)).limit_denominator(FINEST), Fraction(1, FINEST))


def tilting_logs(odds: Fraction, matrix: Integers, classes: list[Integers]) -> Floats:
    """Of a factor per kept sum, by Newton's method: the gradient of the log-normaliser is the vector of mean sums."""
    rate, rows = math.log(odds), matrix.shape[0]
    kinds = [np.unique(counts, return_counts=True) for counts in classes]
    owner = np.concatenate([np.full(len(values), c) for c, (values, _) in enumerate(kinds)])
    counts = np.concatenate([values for values, _ in kinds])
    often = np.concatenate([number for _, number in kinds])

    def sums(multipliers: Floats) -> tuple[Floats, Floats]:
        mean, variance = _moments(rate, (matrix.T @ multipliers)[owner], counts)
        totals = np.bincount(owner, mean * often, minlength=len(classes))
        spreads = np.bincount(owner, variance * often, minlength=len(classes))
        return np.asarray(matrix @ totals, dtype=np.float64), np.asarray(spreads, dtype=np.float64)

    multipliers = np.zeros(rows)
    gradient, spread = sums(multipliers)
    for _ in range(STEPS):
        step = -np.linalg.solve((matrix * spread) @ matrix.T + 1e-9 * np.eye(rows), gradient)
        while np.max(matrix.T @ (multipliers + step)) > 0.999 * rate:
            step = step / 2
        while np.max(np.abs(step)) > CLOSE * CLOSE * rate:
            new_gradient, new_spread = sums(multipliers + step)
            if np.linalg.norm(new_gradient) < np.linalg.norm(gradient):
                break
            step = step / 2
        else:
            break
        multipliers, gradient, spread = multipliers + step, new_gradient, new_spread
        if np.max(np.abs(step)) < CLOSE * rate:
            break
    return multipliers
