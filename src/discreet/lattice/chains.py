"""Chains for laws on a lattice that no exact sampler covers. Each step is drawn from its law on a line, or on a block
of a table (`block_chain`), never rejected.

The number of steps is fixed in advance and never depends on the data. What a chain makes is graded `diagnosed`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput, MissingExtra, choose
from discreet.lattice.block_chain import BlockSampler, Meeting, block_sampler, blocks_serve
from discreet.lattice.laws import LAWS
from discreet.lattice.markov import Moves, moves_for, table_of
from discreet.sample.bits import Bits, source

UNBOUNDED = -(1 << 40)  # below any count; compiled code takes it for no bound at all
LONGEST_DECAY = 200_000  # powers of e^-epsilon, 1.6 MB; what is beyond counts as zero
WORDS_AT_ONCE = 1 << 20  # 8 MB of random words for the moves, and as much for the draws


@dataclass(frozen=True)
class LineLaw:
    """P(k) proportional to exp(-energy of state + k direction), between the bounds."""

    points: Integers
    weights: Floats

    def invert(self, chance: float) -> int:
        """The smallest point whose distribution function exceeds `chance`."""
        running = np.cumsum(self.weights)
        return int(
            self.points[min(int(np.searchsorted(running, chance * running[-1], side="right")), len(running) - 1)]
        )


@dataclass(frozen=True)
class ChainTarget:
    """A law on a lattice: which norm, how fast it decays, what bounds the cells (UNBOUNDED: nothing)."""

    law: str
    rate: float
    lower: Integers

    def energy(self, states: Integers) -> Floats:
        """Of each state, one a row."""
        if self.law == "l1":
            lengths: Floats = self.rate * np.abs(states).sum(axis=1)
            return lengths
        squared = (states.astype(float) ** 2).sum(axis=1)
        squares: Floats = self.rate * (np.sqrt(squared) if self.law == "l2" else squared)
        return squares

    def on_line(self, state: Integers, direction: Integers, reach: int = 200) -> LineLaw:
        """The law on state + k direction, |k| <= reach: the plain definition, which the compiled steps must match."""
        points = np.arange(-reach, reach + 1)
        line = state + np.outer(points, direction)
        inside = (line >= self.lower).all(axis=1)
        energy = self.energy(line[inside])
        return LineLaw(points[inside], np.exp(energy.min() - energy))


@dataclass(frozen=True)
class ChainSampler:
    """Noise that keeps the invariants, made by a fixed number of line moves from zero."""

    cells: int
    law: str
    rate: float
    moves: Moves
    nonnegative: bool
    limits: tuple[Any, Integers] | None
    iterations: int
    grade: str = "diagnosed"
    moved: str = "line"
    lag: int | None = None  # for couplings: one that makes the bound sharp is looked for

    @property
    def dimension(self) -> int:
        return self.moves.dimension

    @property
    def updates(self) -> int:
        """Line moves in one iteration: the dimension of the lattice."""
        return max(1, self.moves.dimension)

    @property
    def private_side(self) -> bool:
        """Whether the chain's behaviour depends on the table, so that its diagnostics are secret too."""
        return self.nonnegative or self.limits is not None

    def draw(self, bits: Bits, counts: Any = None) -> Integers:
        """One noise vector; with inequalities, one for which counts + noise obeys them."""
        kernels, lower = compiled(), self.lower(counts)
        plan, state = self.plan(), np.zeros(self.moves.cells, dtype=np.int64)
        left = self.iterations * self.updates if self.moves.dimension else 0
        while left > 0:
            size = min(left, WORDS_AT_ONCE)
            kernels.run(plan, state, lower, bits.words(size).astype(np.uint64), bits.words(size).astype(np.uint64))
            left -= size
        return state[: self.cells]

    def trace(self, seed: int | None, draws: int, *, thin: int = 1, chains: int = 1, counts: Any = None) -> Integers:
        """Recorded paths (chains, draws, cells), `thin` iterations apart, for simulations and diagnostics."""
        kernels, lower, words = compiled(), self.lower(counts), source(seed).words(chains)
        paths = np.empty((chains, draws, self.cells), dtype=np.int64)
        for path, word in zip(paths, words):
            state = np.zeros(self.moves.cells, dtype=np.int64)
            kernels.trace(self.plan(), state, lower, np.uint64(word), thin * self.updates, path)
        return paths

    def meeting(self, counts: Any = None) -> Meeting:
        """How coupled copies meet."""
        kernels, plan, lower = compiled(), self.plan(), self.lower(counts)
        start = np.zeros(self.moves.cells, dtype=np.int64)
        return lambda word, lag, most: int(kernels.meet(plan, start, lower, self.updates, lag, most, np.uint64(word)))

    def lower(self, counts: Any = None) -> Integers:
        """The least value of each cell of the noise, and of each slack."""
        bounds = np.full(self.moves.cells, UNBOUNDED, dtype=np.int64)
        if not self.private_side:
            return bounds
        if counts is None:
            raise BadInput("noise under inequalities was asked for", "they bound the released table, and no table came")
        table = np.asarray(counts, dtype=np.int64)
        if table.shape != (self.cells,):
            raise BadInput(
                "noise for a table was asked for", f"it has {table.size} cells where {self.cells} are needed"
            )
        if self.nonnegative:
            bounds[: self.cells] = -table
        if self.limits is not None:
            bounds[self.cells :] = self.limits[1] - self.limits[0] @ table
        if (broken := np.flatnonzero(bounds > 0)).size:
            raise BadInput(
                "inequalities were to be kept", f"the table itself breaks {len(broken)} of them", "Leave those out"
            )
        return bounds

    def plan(self) -> Any:
        """The public part of the chain, as the compiled code reads it."""
        kernels, moves = compiled(), self.moves
        least = max(2, min(LONGEST_DECAY, int(745 / self.rate) + 2)) if self.law == "l1" else 2
        longest = max([4, *moves.lengths.tolist()])
        steepest = 1 + int(max([4, *np.abs(moves.steps).sum(axis=1).tolist()]))
        return kernels.ChainPlan(
            law=LAWS.index(self.law),
            rate=self.rate,
            decay=np.exp(-self.rate * np.arange(max(least, steepest))),
            counted=self.cells,
            class_start=moves.class_start,
            class_cells=moves.class_cells,
            swaps=moves.swaps,
            swap_share=len(moves.swaps) / self.updates,
            rows=moves.grid[0],
            columns=moves.grid[1],
            classes=moves.classes,
            steps=moves.steps,
            lengths=moves.lengths,
            jumps=moves.jumps,
            plain=self.law == "l1" and not self.private_side and moves.grid != (0, 0) and not len(moves.swaps),
            widest=moves.cells if moves.jumps else longest,
        )


Chain = ChainSampler | BlockSampler


def chain_sampler(
    matrix: Any,
    *,
    law: str = "l1",
    epsilon: Any = None,
    sigma: Any = None,
    nonnegative: bool = False,
    inequalities: tuple[Any, Any] | None = None,
    iterations: int | None = None,
    blocks: bool = True,
) -> Chain:
    """A chain on the integer vectors that `matrix` sends to zero; it moves by `blocks` of a table where these serve.

    `epsilon` is the rate per unit of the l1 or l2 norm, `sigma` the width of the Gaussian.
    `inequalities` is (B, b): the released table obeys B y >= b.
    """
    choose(law, LAWS, "law")
    scale = sigma if law == "gaussian" else epsilon
    if scale is None or not float(scale) > 0:
        raise BadInput(
            f"a chain for the law {law!r} was asked for",
            f"it needs a positive {'sigma' if law == 'gaussian' else 'epsilon'}",
        )
    limits = (
        None if inequalities is None else (np.asarray(inequalities[0]), np.asarray(inequalities[1], dtype=np.int64))
    )
    rate = 1 / (2 * float(scale) ** 2) if law == "gaussian" else float(scale)
    table = table_of(matrix) if blocks else None
    if table is not None and blocks_serve(table, law, rate, nonnegative or limits is not None):
        return block_sampler(table, rate, iterations)
    moves = moves_for(matrix, None if limits is None else limits[0], bounded=nonnegative or limits is not None)
    return ChainSampler(
        cells=matrix.shape[1],
        law=law,
        rate=rate,
        moves=moves,
        nonnegative=nonnegative,
        limits=limits,
        iterations=usual_iterations(moves) if iterations is None else iterations,
    )


def usual_iterations(moves: Moves) -> int:
    """Enough for the couplings tried so far to have met, from public sizes alone."""
    longer_side = max(moves.grid) if moves.grid != (0, 0) else math.isqrt(moves.dimension)
    return 200 * (4 + longer_side)


def compiled() -> ModuleType:
    """The compiled kernels, or an error that says how to get them."""
    try:
        from discreet.lattice import _kernels
    except ImportError as error:
        raise MissingExtra(
            "a chain was asked for", "it needs numba, which is not installed", "Install discreet[fast]"
        ) from error
    return _kernels
