"""Noise under inequalities: what they and the kept sums tie together is drawn again until they hold there.

Every trial is a draw of the unconditioned law, and the first that meets them is taken: exactly the conditioned law.
What nothing ties together is independent of each other, so each such component has trials of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Flags, Integers
from discreet.errors import SolverFailed
from discreet.lattice.inequalities import Inequalities
from discreet.lattice.laws import LatticeLaw
from discreet.lattice.sampler import BlockPiece, FreePiece, MergedPiece, Piece, RepeatedPiece, WalkPiece, pieces_for
from discreet.lattice.structure import Structure, tied
from discreet.lattice.two_way_pieces import LayeredPiece, MirroredPiece, NarrowPiece, WidePiece
from discreet.sample.bits import Bits

RAREST_MET = 1_000_000  # trials for one that meets everything, of few counts that are drawn fast
MOST_WORK = 4_000_000  # of work, in counts that are drawn fast, for one that meets everything: a second or so
# what a draw of one count takes, in microseconds or so, by sampler: those of most are drawn many at once
WORK: dict[type, int] = {WalkPiece: 3000, LayeredPiece: 3000, WidePiece: 30, MirroredPiece: 30, NarrowPiece: 10}
ENOUGH = 3  # times as many trials a plan makes: of so small a chance 95 of 100 see one in these
MOST_TRIALS = 100 * RAREST_MET  # not one in e^100 draws ends here, if the chance is what the plan saw
MOST_AT_ONCE = 1 << 19  # counts of a batch of trials: 4 MB
MOST_KINDS = 20  # of components that a plan tries, those with the most inequalities


@dataclass(frozen=True, eq=False)
class Redrawing:
    """Samplers of the noise, and what it must meet. `nonnegative`: no count is negative, where the samplers themselves
    do not see to it."""

    structure: Structure
    pieces: Sequence[Piece]
    law: LatticeLaw
    limits: Inequalities | None
    nonnegative: bool

    @cached_property
    def ties(self) -> Integers:
        """Cells that are drawn together have the same number; all of them, under a law that does not factorise."""
        if self.law.rate is not None:
            return np.zeros(self.structure.cells, dtype=np.int64)
        return tied(self.structure, [] if self.limits is None else self.limits.cells)

    def draws(self, number: int, bits: Bits, table: Integers, within: Integers | None) -> Integers:
        """Independent noise that a table with these counts can have, a row per draw. `within`: the counts, where no
        draw may go below zero. Of each component the trials that it meets are its draws, in their order."""
        noise = np.zeros((number, self.structure.cells), dtype=np.int64)
        names, component = np.unique(self.ties, return_inverse=True)
        drawn = np.zeros(len(names), dtype=np.int64)
        trials = done = max(1, min(number, MOST_AT_ONCE // max(1, self.structure.cells)))
        while True:
            cells = np.flatnonzero(drawn[component] < number)
            some, place = np.unique(component[cells], return_inverse=True)
            tried = self._trials(drawn[component] < number, trials, bits, within)
            met = ~self._wrong(cells, place, len(some), tried + table[cells])
            row = drawn[some] + met.cumsum(axis=0) - 1
            trial, cell = np.nonzero((met & (row < number))[:, place])
            noise[row[trial, place[cell]], cells[cell]] = tried[trial, cell]
            drawn[some] += met.sum(axis=0)
            if (drawn >= number).all():
                return noise
            if done > MOST_TRIALS * number:
                found_none = f"{done:,} draws nearly all violate them"
                raise SolverFailed("noise under inequalities was asked for", found_none, "Ask for fewer inequalities")
            left = int((drawn[component] < number).sum())
            trials = max(1, min(2 * trials, MOST_AT_ONCE // left))
            done += trials

    def _met(self, cells: Integers, trials: Integers) -> bool:
        """Whether each component of these cells is met by some trial, of an empty table."""
        names, component = np.unique(self.ties[cells], return_inverse=True)
        return bool((~self._wrong(cells, component, len(names), trials)).any(axis=0).all())

    def _wrong(self, cells: Integers, component: Integers, number: int, tables: Integers) -> Flags:
        """Of each trial and component, whether it violates something."""
        wrong = np.zeros((len(tables), number), dtype=bool)
        if self.limits is not None:
            place = np.full(self.structure.cells, -1, dtype=np.int64)
            place[cells] = np.arange(len(cells))
            rows = self.limits.about(place >= 0)
            short = rows.least > (rows.matrix[:, cells] @ tables.T).T
            trial, one = np.nonzero(short)
            wrong[trial, component[place[rows.matrix.indices[rows.matrix.indptr[one]]]]] = True
        if self.nonnegative:
            trial, cell = np.nonzero(tables < 0)
            wrong[trial, component[cell]] = True
        return wrong

    def _trials(self, wanted: Flags, trials: int, bits: Bits, within: Integers | None) -> Integers:
        """Independent noise of these cells, whole components, a row per trial."""
        place = np.cumsum(wanted) - 1
        found = np.zeros((trials, int(wanted.sum())), dtype=np.int64)
        for piece in self.pieces:
            part = _part(piece, wanted)
            if part is not None:
                noise = part.draw(trials, bits, None if within is None else within[part.cells])
                found[:, place[part.cells]] = noise
        return found

    def rarely_met(self, bits: Bits) -> tuple[int, int] | None:
        """How many inequalities are tied together in a component whose draws too rarely meet them, if there is one, and
        in how many trials they should be met once.

        A table that meets them does so all the more with noise that changes none of their sums for the worse, so that
        is tried: whatever the counts, the chance is not smaller.
        """
        still = None if self.limits is None else Inequalities(self.limits.matrix, np.zeros_like(self.limits.least))
        signed = pieces_for(self.structure, self.law, False)
        trying = Redrawing(self.structure, signed, self.law, still, self._leaves_counts)
        for cells, number in self._kinds():
            wanted = np.zeros(self.structure.cells, dtype=bool)
            wanted[cells] = True
            work = sum(_work(piece, int(wanted[piece.cells].sum())) for piece in signed)
            rarest = max(1, min(RAREST_MET, int(MOST_WORK // work)))
            tried, size = 0, 1
            while not trying._met(cells, trying._trials(wanted, size, bits, None)):
                tried, size = tried + size, max(1, min(2 * size, MOST_AT_ONCE // len(cells)))
                if tried > ENOUGH * rarest:
                    return number, rarest
        return None

    @property
    def _leaves_counts(self) -> bool:
        """Whether it is left to draws that no count is negative: no sampler of l2 noise sees to it."""
        return self.nonnegative and self.law.rate is not None

    def _kinds(self) -> list[tuple[Integers, int]]:
        """The cells of components that differ in what they must meet, and how many inequalities that is."""
        if self._leaves_counts or self.limits is None:
            every = np.arange(self.structure.cells)
            return [(every, len(every) + (0 if self.limits is None else len(self.limits.least)))]
        matrix = self.limits.matrix
        used = np.flatnonzero(np.diff(matrix.indptr))
        owner = self.ties[matrix.indices[matrix.indptr[used]]]
        order = np.argsort(owner, kind="stable")
        kinds: dict[tuple[int, bytes], Integers] = {}
        for rows in np.split(used[order], np.flatnonzero(np.diff(owner[order])) + 1):
            factors = b";".join(matrix.data[matrix.indptr[row] : matrix.indptr[row + 1]].tobytes() for row in rows)
            kinds.setdefault((len(rows), factors), rows)
        hardest = sorted(kinds.values(), key=len, reverse=True)[:MOST_KINDS]
        firsts = [matrix.indices[matrix.indptr[rows[0]]] for rows in hardest]
        return [(np.flatnonzero(self.ties == self.ties[first]), len(rows)) for first, rows in zip(firsts, hardest)]


def _work(piece: Piece, counts: int) -> float:
    """What a draw of so many of its counts takes, in counts that are drawn fast."""
    if isinstance(piece, RepeatedPiece):
        return _work(piece.one, counts)
    if isinstance(piece, MergedPiece):
        return counts / piece.merged.acceptance
    return counts * WORK.get(type(piece), 1)


def _part(piece: Piece, wanted: Flags) -> Piece | None:
    """The sampler of those of its cells that are wanted: a cell in no sum alone, a block or one of several parts as a
    whole, or everything."""
    if wanted[piece.cells].all():
        return piece
    if isinstance(piece, FreePiece):
        cells = piece.cells[wanted[piece.cells]]
        return FreePiece(cells, piece.noise, piece.restricted) if len(cells) else None
    if isinstance(piece, BlockPiece):
        blocks = piece.blocks.some(np.flatnonzero(wanted[piece.cells[piece.blocks.starts]]))
        return BlockPiece(blocks, piece.noise, piece.restricted) if len(blocks) else None
    if isinstance(piece, RepeatedPiece):
        return piece.some(wanted)
    return piece if wanted[piece.cells].any() else None
