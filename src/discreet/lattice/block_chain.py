"""A chain that moves by blocks, for the l1 law on complete two-way and three-way tables.

Compiled where numba is installed; the numpy version has the same law and takes the same steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Integers, Words
from discreet.lattice import block_moves
from discreet.sample.bits import Bits, source

MOST_BLOCKED = 64  # dimensions, as of 9 x 9: coupled pairs of larger tables did not meet with blocks either
LEAST_RATE = 0.06  # a block's price grows with the square of the noise's width; here it is 16 microseconds
MOST_MET = 27  # dimensions, as of 4 x 4 x 4: a thousand pairs met ...
LEAST_MET = 0.12  # ... at this rate, which is that of epsilon 1 there, and at twice this rate
STEPS = 100_000  # blocks in a draw: of a thousand pairs of 4 x 4 x 4 tables at epsilon 1 none was this late
LAGS = 50  # lags in a draw: a pair runs for little longer than it needs to meet
WORDS_AT_ONCE = 1 << 20  # 8 MB of random words

# of a word, a lag and a limit: the iteration at which a copy that starts so much later is met, or the limit + 1
Meeting = Callable[[int, int, int], int]


def blocks_serve(table: Integers | None, law: str, rate: float, bounded: bool) -> bool:
    """Whether a chain should move by blocks; all of this is public."""
    if table is None or law != "l1" or bounded or rate < LEAST_RATE:
        return False
    return dimension_of(table) <= MOST_BLOCKED


def have_met(table: Integers | None, law: str, rate: float) -> bool:
    """Whether coupled chains on a table like this one met whenever we tried."""
    served = blocks_serve(table, law, rate, False) and rate >= LEAST_MET
    return served and table is not None and dimension_of(table) <= MOST_MET


@dataclass(frozen=True, eq=False)
class BlockSampler:
    """Noise that keeps every margin of a table, made by a fixed number of block moves from zero."""

    table: Integers  # the number of the cell at each place
    rate: float
    iterations: int
    law: str = "l1"
    grade: str = "diagnosed"
    moved: str = "block"
    private_side: bool = False  # without inequalities a chain never sees the table

    @property
    def cells(self) -> int:
        return self.table.size

    @property
    def dimension(self) -> int:
        return dimension_of(self.table)

    @property
    def updates(self) -> int:
        return updates_of(self.table)

    @property
    def lag(self) -> int | None:
        """For couplings that need only show that a draw is long enough."""
        return max(1, self.iterations // LAGS)

    def draw(self, bits: Bits, counts: Any = None) -> Integers:
        """One noise vector."""
        width, state = block_moves.words_of_step(self.table.shape), np.zeros(self.cells, dtype=np.int64)
        left = self.iterations * self.updates
        while left > 0:
            steps = min(left, WORDS_AT_ONCE // width)
            self._run(state, bits.words(steps * width).astype(np.uint64).reshape(steps, width))
            left -= steps
        return state

    def _run(self, state: Integers, words: Words) -> None:
        if (kernels := compiled()) is None:
            block_moves.run(self.table, self.rate, state, words)
        else:
            kernels.run(*self._plan(), state, words)

    def trace(self, seed: int | None, draws: int, *, thin: int = 1, chains: int = 1, counts: Any = None) -> Integers:
        """Recorded paths (chains, draws, cells), `thin` iterations apart, for simulations and diagnostics."""
        kernels, width = compiled(), block_moves.words_of_step(self.table.shape)
        paths = np.empty((chains, draws, self.cells), dtype=np.int64)
        for path, word in zip(paths, source(seed).words(chains)):
            state = np.zeros(self.cells, dtype=np.int64)
            if kernels is None:
                block_moves.trace(self.table, self.rate, state, int(word), thin * self.updates, path)
            else:
                kernels.trace(*self._plan(), state, np.uint64(word), width, thin * self.updates, path)
        return paths

    def meeting(self, counts: Any = None) -> Meeting:
        """How coupled copies meet."""
        if (kernels := compiled()) is None:
            return lambda word, lag, most: block_moves.meet(self.table, self.rate, self.updates, lag, most, word)
        plan, width = self._plan(), block_moves.words_of_step(self.table.shape)
        return lambda word, lag, most: int(kernels.meet(*plan, width, self.updates, lag, most, np.uint64(word)))

    def _plan(self) -> tuple[Any, ...]:
        """The public part of the chain, as the compiled code reads it."""
        decay = np.exp(-self.rate * np.arange(int(745 / self.rate) + 8))  # beyond it, a double is zero
        return np.array(self.table.shape), self.table.ravel(), self.rate, decay


def dimension_of(table: Integers) -> int:
    dimension: int = math.prod(side - 1 for side in table.shape)
    return dimension


def updates_of(table: Integers) -> int:
    """Blocks in one iteration: together they draw as many steps as the lattice has dimensions."""
    return math.ceil(dimension_of(table) * table.ndim / (sum(table.shape) - table.ndim))


def block_sampler(table: Integers, rate: float, iterations: int | None = None) -> BlockSampler:
    return BlockSampler(table, rate, math.ceil(STEPS / updates_of(table)) if iterations is None else iterations)


def compiled() -> Any:
    """The compiled block moves, or None."""
    try:
        from discreet.lattice import _block_kernels
    except ImportError:
        return None
    return _block_kernels
