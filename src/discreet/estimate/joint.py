"""A release that keeps sums: its noise is joint, symmetric and of a public law, so sums of rows have known errors.

The errors are found by drawing that public noise again, many times, with a seed: a simulation, not a release. In large
tables whose kept sums do not overlap they follow from the law itself: in a block of s rows whose noises sum to 0, those
of w rows have the variance c (|w|^2 - (sum w)^2 / s); and a sum of few rows is nearer to 0 than that of as many
independent noises, since the law of the others, by which theirs is weighted, falls to both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Flags, Floats, Integers
from discreet.errors import BadInput
from discreet.estimate.intervals import MANY_TERMS, has_steps, masses_of_sum, sum_half_width
from discreet.estimate.told import SumEstimates, are_signs, around, squared, terms_of
from discreet.lattice.invariants import Invariants, Margin, Total
from discreet.lattice.laws import LatticeLaw
from discreet.laws import Gaussian, Geometric, NoiseLaw

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from discreet.lattice.structure import Classes, Structure

DRAWS = 2000  # standard errors are then known to 2%
FEWEST_DRAWS = 200  # standard errors are then known to 5%
CELLS_HELD = 20_000_000  # 160 MB of draws
SIMULATED = CELLS_HELD // DRAWS  # rows: in larger tables errors follow from the law, where they do
AGAIN_CELLS = 200_000  # cells that are released again: conditioned noise takes long
FEWEST_AGAIN, MOST_AGAIN = 100, 500  # times: of 95%, an interval ends at the largest of a hundred errors
MOST_AGAIN_HELD = 5_000_000  # cells: more is not released again
MOST_HELD = 400_000_000  # cells: more noise is not drawn again
LEAST_LEFT = 0.1  # of differences: where hardly any are left, nothing but the kept sums is told
CLOSE = 1e-6  # to a combination of kept sums: another sum of rows is farther by far
HALF = 0.5  # any level: only deviations are asked for
SEED = 1  # any: the noise drawn again is public, and an answer is the same every time

Again = Callable[[int], Integers]  # errors of all rows, drawn again so many times, a draw a row


@dataclass(frozen=True, eq=False)
class JointRows:
    """Signed counts with joint noise of a law; what is kept has no error at all."""

    seen: Integers  # with noise
    counts: Integers  # the published ones, which have every kept sum
    worked_out: Callable[[], tuple[Invariants, Structure]]  # the kept sums; asked for once they are needed
    known: Integers  # rows that can have one count only
    law: LatticeLaw | None  # of the noise; None where errors are only drawn again
    again: Again | None = None  # errors of the published table, where the law of the noise alone does not tell them
    conservative: bool = False

    @property
    def rows(self) -> int:
        return len(self.seen)

    def sums(self, weights: csr_array, level: float) -> SumEstimates:
        exact = self._are_kept(weights)
        if exact.all():
            nothing = np.zeros(len(exact))
            return around(weights @ self.counts.astype(float), nothing, nothing, exact)
        estimate = np.where(exact, weights @ self.counts.astype(float), weights @ self.seen.astype(float))
        deviation, reach = (self._by_law if self._follows else self._by_simulation)(weights, level)
        return around(estimate, np.where(exact, 0.0, deviation), np.where(exact, 0.0, reach), exact)

    def covariances(self, weights: csr_array, one: csr_array) -> Floats:
        if self._follows:
            assert self._blocks is not None
            _, unit, block = self._blocks
            part, share = one.toarray()[0], self._per_row
            alone: Floats = weights @ (unit * part)
            return np.asarray(alone - (weights @ block) @ (share * (block.T @ part)), dtype=float)
        single = np.asarray(one @ self.noise.T.astype(float))[0]
        found: Floats = np.asarray(weights @ (self.noise.T @ single)) / len(single)
        return np.where(self._are_kept(weights), 0.0, found)

    def noisy(self, weights: csr_array, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draws of the noise again; in large tables as normal noise of the right variances."""
        exact = self._are_kept(weights)
        values = np.where(exact, weights @ self.counts.astype(float), weights @ self.seen.astype(float))
        if self._follows:
            deviation = np.where(exact, 0.0, self._by_law(weights, HALF)[0])
            return values, rng.normal(size=(draws, len(values))) * deviation
        some = self.noise[rng.choice(len(self.noise), draws, replace=draws > len(self.noise))]
        return values, np.where(exact, 0.0, np.asarray(weights @ some.T.astype(float)).T)

    @property
    def _follows(self) -> bool:
        """Whether errors follow from the law, and the table is so large that it is worth it."""
        return self.again is None and self.rows > SIMULATED and self._blocks is not None

    @property
    def noise_apart(self) -> NoiseLaw | None:
        """The law of one noise, where kept sums do not overlap."""
        return None if self._blocks is None else self._blocks[0]

    @cached_property
    def _per_row(self) -> Floats:
        """Of each block the variance per unit of squared weights, over its size."""
        assert self._blocks is not None
        _, unit, block = self._blocks
        found = np.zeros(block.shape[1])
        found[block.indices] = unit[np.repeat(np.arange(self.rows), np.diff(block.indptr))]
        sizes: Floats = np.asarray(block.sum(axis=0), dtype=float)
        return found / np.maximum(sizes, 1)

    @cached_property
    def noise(self) -> Integers:
        """Draws of the errors of every row, a draw a row."""
        number = int(np.clip(CELLS_HELD // max(1, self.rows), FEWEST_DRAWS, DRAWS))
        if self.again is not None:
            number = int(np.clip(AGAIN_CELLS // max(1, self.rows), FEWEST_AGAIN, MOST_AGAIN))
        if number * self.rows > (MOST_HELD if self.again is None else MOST_AGAIN_HELD):
            found = f"errors of {self.rows:,} rows in sums that overlap would have to be drawn {number} times"
            raise BadInput("an estimate was asked for", found, "Use the published counts as they are")
        return self.drawn(number) if self.again is None else self.again(number)

    def drawn(self, number: int) -> Integers:
        """The public noise of every row, so many times."""
        from discreet.lattice.sampler import pieces_for
        from discreet.lattice.simulated import simulated
        from discreet.sample.bits import seeded

        assert self.law is not None
        return simulated(pieces_for(self.structure, self.law, False), self.rows, number, seeded(SEED))

    def _by_simulation(self, weights: csr_array, level: float) -> tuple[Floats, Floats]:
        """The interval holds the middle share of the simulated errors, and one more, since they are finitely many.
        Those of the published table are not those of the true one: of them it leaves out half as many."""
        level = level if self.again is None else (1 + level) / 2
        errors = np.abs(np.asarray(weights @ self.noise.T.astype(float)))
        place = min(errors.shape[1] - 1, int(np.ceil(level * (errors.shape[1] + 1))))
        deviation, reach = np.sqrt((errors**2).mean(axis=1)), np.partition(errors, place, axis=1)[:, place]
        if self.again is None:
            return deviation, reach
        bias = np.abs(weights @ self.noise.mean(axis=0))  # elsewhere it may be of either sign
        return deviation / self._drawn_together, (reach + bias) / self._drawn_together

    @cached_property
    def _drawn_together(self) -> float:
        """What is left of differences between rows where the published table is released again. As much was left of
        the true ones, which were larger: what may be behind a sum is as much farther away."""
        apart = self._left_open(self.counts.astype(float))
        left = float(apart @ (self.counts + self.noise.mean(axis=0)))
        return float(np.clip(left / max(float(apart @ apart), 1e-300), LEAST_LEFT, 1.0))

    def _by_law(self, weights: csr_array, level: float) -> tuple[Floats, Floats]:
        from discreet.levels.intervals import factor

        assert self._blocks is not None
        law, unit, block = self._blocks
        within = (weights @ block).tocsr()
        variance = np.maximum(squared(weights) @ unit - squared(within) @ self._per_row, 0.0)
        deviation, terms = np.sqrt(variance), terms_of(weights)
        reach = np.where(terms <= MANY_TERMS, factor(level, law.pure), factor(level, False)) * deviation
        few = np.flatnonzero(has_steps(terms, law.spread) & are_signs(weights) & (terms > 0))
        if len(few):
            several, place = np.unique(terms[few], return_inverse=True)
            reach[few] = np.array([sum_half_width(level, law, int(size)) for size in several])[place]
        return deviation, reach

    @cached_property
    def _blocks(self) -> tuple[NoiseLaw, Floats, csr_array] | None:
        """Where kept sums do not overlap: the law of one noise, of each row the variance per unit of squared weights,
        and the block it is in. None where they do, or where the law joins all rows."""
        from scipy.sparse import csr_array

        if self.law is None or self.law.rate is not None or any(part.shape.free for part in self.structure.alike):
            return None
        law: NoiseLaw = Geometric(self.law.odds) if self.law.odds is not None else Gaussian(self.law.variance)
        unit, apart = np.full(self.rows, law.spread), self.structure.apart
        sizes, place = np.unique(apart.sizes, return_inverse=True)
        each = np.array([_within(law, int(size)) for size in sizes])
        unit[apart.cells] = np.repeat(each[place], apart.sizes)
        number = np.repeat(np.arange(len(apart)), apart.sizes)
        block = csr_array((np.ones(len(number)), (apart.cells, number)), shape=(self.rows, max(1, len(apart))))
        return law, unit, block

    def _are_kept(self, weights: csr_array) -> Flags:
        """Whether a sum follows from the kept ones: it is then orthogonal to all that these leave open, and so to any
        one direction of it that nobody chose."""
        if self._adds_up and weights.nnz == weights.shape[0] * self.rows and (weights.data == 1).all():
            return np.ones(weights.shape[0], dtype=bool)
        scale = np.sqrt(squared(weights).sum(axis=1))
        found: Flags = np.abs(weights @ self._open) <= CLOSE * np.maximum(scale, 1e-300)
        return found

    @property
    def _adds_up(self) -> bool:
        """Whether some of the kept sums are all rows together."""
        return any(isinstance(one, (Total, Margin)) for one in self.invariants.kept)

    @cached_property
    def _open(self) -> Floats:
        """A random direction in which the table can change."""
        return self._left_open(np.random.default_rng(SEED).normal(size=self.rows))

    def _left_open(self, direction: Floats) -> Floats:
        """What is left of a direction where no kept sum changes."""
        if not any(part.shape.free for part in self.structure.alike):
            return _apart(self.structure.apart, direction, self.known)
        from scipy.sparse.linalg import lsqr

        rows = self.invariants.matrix.astype(float)
        direction = direction - rows.T @ lsqr(rows.T, direction, atol=1e-13, btol=1e-13, iter_lim=10_000)[0]
        direction[self.structure.determined] = 0.0
        return self._without_known(rows, direction) if len(self.known) else direction

    def _without_known(self, rows: Any, direction: Floats) -> Floats:
        """The same where some rows are known, too: the others change among themselves."""
        from scipy.sparse.linalg import lsqr

        free = np.ones(self.rows, dtype=bool)
        free[self.known] = False
        out, inside = np.zeros(self.rows), np.flatnonzero(free)
        some = rows.tocsc()[:, inside]
        left = direction[inside]
        if some.shape[0] and len(inside):
            left = left - some.T @ lsqr(some.T, left, atol=1e-13, btol=1e-13, iter_lim=10_000)[0]
        out[inside] = left
        return out

    @property
    def invariants(self) -> Invariants:
        return self.worked_out()[0]

    @property
    def structure(self) -> Structure:
        return self.worked_out()[1]


def _apart(classes: Classes, direction: Floats, known: Integers) -> Floats:
    """What is left of a direction where each of these classes keeps its sum, and known rows do not change."""
    out, sizes = direction.copy(), classes.sizes
    out[known] = 0.0
    if not len(classes):
        return out
    if len(known):
        free = np.ones(len(out), dtype=bool)
        free[known] = False
        sizes = classes.sums(free.astype(np.int64))
    means = np.add.reduceat(out[classes.cells], classes.starts) / np.maximum(sizes, 1)
    out[classes.cells] -= np.repeat(means, classes.sizes)
    out[known] = 0.0
    return out


def _within(law: NoiseLaw, size: int) -> float:
    """Of rows in a block whose noises sum to 0: the variance of one, times size / (size - 1)."""
    if size < 2:
        return 0.0
    one, others = masses_of_sum(law, 1), masses_of_sum(law, size - 1)
    reach = min(len(one), len(others))
    chance = one[:reach] * others[:reach]
    places = np.arange(reach, dtype=float)
    variance = float((2 * chance * places**2).sum() / (2 * chance.sum() - chance[0]))
    return variance * size / (size - 1)
