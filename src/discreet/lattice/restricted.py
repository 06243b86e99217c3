"""l1 noise that leaves no count negative: every cell's law is cut off at minus its count, and all are tied by the sums.

Cutting off pushes the cells up, so that sums of zero become rare. Multiplying the weights by t^z for a suitable t per
kept sum brings the means back; since the noise changes no kept sum, the factors cancel and the law is the same for
every t. Only speed depends on the choice, so floats may make it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.lattice.fixed_sum import Cell, FixedSum, SumGroup
from discreet.lattice.invariants import Integers
from discreet.lattice.merging import Merged
from discreet.numbers import arb_of, enclose
from discreet.sample.bits import Bits
from discreet.sample.laws import CENTRE_BITS, scaled
from discreet.sample.noise import geometric

if TYPE_CHECKING:
    from flint import arb

Floats = np.ndarray


@dataclass(frozen=True)
class Tilted:
    """P(k) proportional to odds^-|k| tilt^k."""

    odds: Fraction
    tilt: Fraction

    @property
    def centre(self) -> tuple[int, int]:
        reach = CENTRE_BITS * math.log(2)
        return -math.ceil(reach / math.log(self.odds * self.tilt)), math.ceil(reach / math.log(self.odds / self.tilt))

    def below(self, k: int, bits: int) -> tuple[int, int]:
        def chance() -> arb:
            up, down = arb_of(self.tilt / self.odds), arb_of(1 / (self.tilt * self.odds))
            upper, lower = 1 / (1 - up), down / (1 - down)
            if k < 0:
                return lower * down ** (-k - 1) / (upper + lower)
            return 1 - upper * up ** (k + 1) / (upper + lower)

        return scaled(enclose(chance, bits), bits)


def restricted_noise(odds: Fraction, matrix: Integers, classes: list[Integers], draws: int, bits: Bits) -> Integers:
    """Noise for classes of cells with these counts: class sums s with matrix @ s = 0, no cell below minus its count.

    A row per draw, the cells class after class.
    """
    merged, counts = restricted(odds, matrix, classes), np.concatenate(classes)
    kept = np.zeros((0, len(counts)), dtype=np.int64)
    while len(kept) < draws:
        noise = np.concatenate(merged.draw(draws - len(kept), bits), axis=1)
        kept = np.concatenate([kept, noise[np.all(noise + counts >= 0, axis=1)]])
    return kept


def restricted_free(odds: Fraction, counts: Integers, bits: Bits) -> Integers:
    """Noise of cells that no kept sum touches."""
    noise = geometric(odds, len(counts), bits)
    low = np.flatnonzero(noise + counts < 0)
    while len(low):
        noise[low] = geometric(odds, len(low), bits)
        low = low[noise[low] + counts[low] < 0]
    return noise


def restricted(odds: Fraction, matrix: Integers, classes: list[Integers]) -> Merged:
    """Classes with cut-off cells, tilted so that their means nearly cancel in every kept sum."""
    tilts = _tilts(odds, matrix, classes)
    class_tilts = [math.prod((tilts[i] for i in np.flatnonzero(column)), start=Fraction(1)) for column in matrix.T]
    cells = sum(len(counts) for counts in classes)
    groups = []
    for counts, tilt in zip(classes, class_tilts):
        # cells so large that the noise hardly reaches below zero share one law; the draw is checked at the end
        safe = math.ceil(math.log(4 * cells) / math.log(odds * tilt))
        values, which = np.unique(np.minimum(counts, safe), return_inverse=True)
        law = Tilted(odds, tilt)
        kinds = tuple(Cell(law, None if value >= safe else -int(value)) for value in values)
        _, variance = _moments(math.log(odds), np.array([math.log(tilt)]), np.minimum(counts, safe))
        groups.append(SumGroup(FixedSum(kinds, which.ravel()), float(variance.sum())))
    return Merged(matrix, tuple(groups))


def _moments(rate: float, theta: Floats, counts: Integers) -> tuple[Floats, Floats]:
    """Mean and variance of cells with weight e^(-rate|z| + theta z), z >= -count."""
    reach = math.ceil(40 / (rate - float(np.max(np.abs(theta)))))
    reach = min(reach, 4000)
    z = np.arange(-min(reach, int(counts.max(initial=0))), reach + 1)
    weights = np.exp(-rate * np.abs(z)[None, :] + theta[:, None] * z[None, :]) * (z[None, :] >= -counts[:, None])
    weights /= weights.sum(axis=1, keepdims=True)
    mean = weights @ z
    return mean, weights @ (z**2) - mean**2


def _tilts(odds: Fraction, matrix: Integers, classes: list[Integers]) -> list[Fraction]:
    """A factor per kept sum, by Newton's method: the gradient of the log-normaliser is the vector of mean sums."""
    rate, rows = math.log(odds), matrix.shape[0]
    kinds = [np.unique(counts, return_counts=True) for counts in classes]
    owner = np.concatenate([np.full(len(values), c) for c, (values, _) in enumerate(kinds)])
    counts = np.concatenate([values for values, _ in kinds])
    often = np.concatenate([number for _, number in kinds])
    multipliers = np.zeros(rows)
    for _ in range(30):
        theta = matrix.T @ multipliers
        mean, variance = _moments(rate, theta[owner], counts)
        sums = np.bincount(owner, mean * often, minlength=len(classes))
        spread = np.bincount(owner, variance * often, minlength=len(classes))
        step = -np.linalg.solve((matrix * spread) @ matrix.T + 1e-9 * np.eye(rows), matrix @ sums)
        while np.max(np.abs(matrix.T @ (multipliers + step))) > 0.9 * rate:
            step = step / 2
        multipliers = multipliers + step
        if np.max(np.abs(step)) < 1e-3 * rate:
            break
    return [Fraction(math.exp(m)).limit_denominator(math.ceil(64 / rate) + 64) for m in multipliers]
