"""Kept sums that overlap: cells with equal columns are merged into classes, and only the sums of classes are tied.

As many classes as there are independent kept sums are determined by the others. The others are drawn freely, the
determined sums are solved for, and the draw is accepted by the laws of those sums; then each such class is drawn given
its sum. Any cell law will do, so this serves l1 and Gaussian noise, signed or not negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from discreet.arrays import Integers
from discreet.errors import SolverFailed
from discreet.lattice.chances import row_sums
from discreet.sample.bits import Bits

MOST_CELLS_AT_ONCE = 1 << 18  # 2 MB of a batch of trials, most of which are thrown away
MOST_TRIALS = 1 << 34  # even if one in ten million is accepted, some of so many are: none means a mistake


class Group(Protocol):
    """The cells of a class."""

    @property
    def cells(self) -> int: ...

    @property
    def variance(self) -> float:
        """Roughly, of the sum: it only steers the choice of what is drawn freely."""

    @property
    def flatness(self) -> float:
        """Roughly, the peak of a normal law of that variance over the peak of the sum's law."""

    def free(self, draws: int, bits: Bits) -> Integers:
        """Independent noise, a row per draw."""

    def accept(self, totals: Integers, bits: Bits) -> np.ndarray:
        """Each total with a chance proportional to the weight of that sum."""

    def given(self, totals: Integers, bits: Bits) -> Integers:
        """Noise with these sums, a row per sum."""


@dataclass(frozen=True, eq=False)
class Merged:
    """Class sums s with matrix @ s = 0; the rows of the matrix are independent."""

    matrix: Integers
    groups: tuple[Group, ...]

    @cached_property
    def solved(self) -> tuple[Integers, Integers, Integers, int]:
        """Which classes are solved for, which are drawn, and s_solved = (numbers @ s_drawn) / divisor."""
        return solve_for(self.matrix, np.array([group.variance for group in self.groups]))

    @cached_property
    def acceptance(self) -> float:
        """About how many trials are accepted: 1 / sqrt(det(1 + M M')) for normal sums, less for peaked ones."""
        solved, drawn, numbers, divisor = self.solved
        spread = np.sqrt([group.variance for group in self.groups])
        scaled = numbers / divisor * spread[drawn][None, :] / spread[solved][:, None]
        _, logarithm = np.linalg.slogdet(np.eye(len(solved)) + scaled @ scaled.T)
        flatness: float = math.prod(self.groups[c].flatness for c in solved)
        return flatness * math.exp(-0.5 * float(logarithm))

    def draw(self, draws: int, bits: Bits) -> list[Integers]:
        """For every class its cells, a row per draw."""
        solved, drawn, numbers, divisor = self.solved
        if len(drawn) == 0:
            return [group.given(np.zeros(draws, dtype=np.int64), bits) for group in self.groups]
        free_cells = sum(self.groups[c].cells for c in drawn)
        kept: list[list[Integers]] = [[] for _ in self.groups]
        sums: list[Integers] = []
        done = trials = 0
        while done < draws:
            wanted = math.ceil(1.2 * (draws - done) / max(self.acceptance, 1e-9)) + 8
            size = max(1, min(wanted, MOST_CELLS_AT_ONCE // free_cells))
            parts = [self.groups[c].free(size, bits) for c in drawn]
            good, totals = self._accepted(parts, numbers, divisor, solved, bits)
            good = good[: draws - done]
            for c, part in zip(drawn, parts):
                kept[c].append(part[good])
            sums.append(totals[good])
            done, trials = done + len(good), trials + size
            if trials > MOST_TRIALS and done == 0:
                raise SolverFailed(
                    "noise that keeps overlapping sums was asked for", f"{trials} trials were all rejected"
                )
        result = [np.concatenate(rows) if rows else np.zeros((draws, 0), dtype=np.int64) for rows in kept]
        all_sums = np.concatenate(sums)
        for place, c in enumerate(solved):
            result[c] = self.groups[c].given(all_sums[:, place], bits)
        return result

    def _accepted(
        self, parts: list[Integers], numbers: Integers, divisor: int, solved: Integers, bits: Bits
    ) -> tuple[Integers, Integers]:
        """The trials that are accepted, and their solved sums."""
        drawn_sums = [row_sums(part) for part in parts]
        good, totals = np.arange(len(parts[0])), np.empty((len(parts[0]), len(solved)), dtype=np.int64)
        for place, c in enumerate(solved):
            scaled = np.zeros(len(good), dtype=np.int64)
            for number, sums in zip(numbers[place].tolist(), drawn_sums):
                if number:
                    scaled += number * sums[good]
            if divisor > 1:
                whole = np.flatnonzero(scaled % divisor == 0)
                good, scaled = good[whole], scaled[whole] // divisor
            held = np.flatnonzero(self.groups[c].accept(scaled, bits))
            good = good[held]
            totals[good, place] = scaled[held]
        return good, totals


def solve_for(matrix: Integers, variances: np.ndarray) -> tuple[Integers, Integers, Integers, int]:
    """Solve for the classes whose sums vary most, as long as their columns are independent."""
    from flint import fmpq_mat, fmpz_mat

    order = np.argsort(-variances, kind="stable")
    reduced = fmpq_mat(fmpz_mat(matrix[:, order].tolist())).rref()[0]
    height, width = matrix.shape
    leads = [next(j for j in range(width) if reduced[i, j] != 0) for i in range(height)]
    rest = [j for j in range(width) if j not in set(leads)]
    entries = [[reduced[i, j] for j in rest] for i in range(height)]
    divisor = math.lcm(1, *(int(entry.q) for row in entries for entry in row))
    numbers = np.array([[int(-entry * divisor) for entry in row] for row in entries], dtype=np.int64)
    return order[leads], order[rest], numbers.reshape(height, len(rest)), divisor
