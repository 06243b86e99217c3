"""A release that keeps sums: its noise is joint, symmetric and of a public law, so sums of rows have known errors.

The covariance is found by drawing that public noise again, many times, with a seed: a simulation, not a release.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.estimate.answers import Answer, SumsOnly, groups_by
from discreet.io.coded import key_columns
from discreet.lattice.invariants import Invariants, Kept, invariant_matrix
from discreet.lattice.laws import LatticeLaw

DRAWS = 2000  # standard errors are then known to 2%
FEWEST_DRAWS = 200  # standard errors are then known to 5%
CELLS_HELD = 20_000_000  # 160 MB of draws
LARGEST_COVARIANCE = 3000  # rows; the matrix then takes 72 MB
CLOSE = 1e-6  # to a combination of kept sums: another sum of rows is farther by far
SEED = 1  # any: the noise drawn again is public, and an answer is the same every time

Unknown = Literal["conditioned", "unpublished"]
WHY: dict[Unknown, tuple[str, str]] = {
    "conditioned": (
        "the noise was conditioned on inequalities, so its law depends on the true counts and is not known",
        "Use the published counts as they are, or release with nonnegative_by project",
    ),
    "unpublished": (
        "the counts were projected from signed values that are not published beside them",
        "Use the published counts as they are, or release with measurements",
    ),
}


@dataclass(frozen=True, eq=False)
class LatticeEstimate(SumsOnly):
    """Answers about sums of rows; what is kept has no error at all."""

    why_only: ClassVar[str] = (
        "the release keeps sums, so the noise of its rows is joint, and only sums of rows are estimated from it"
    )

    counts: Integers
    categories: Any
    kept: tuple[Kept, ...]
    law: LatticeLaw | None  # of the noise, where it is known
    level: float = 0.95
    unknown: Unknown | None = None  # why it is not

    @cached_property
    def noise(self) -> Integers:
        """Draws of the noise of every row, a draw a row."""
        from discreet.sample.bits import seeded

        number = int(np.clip(CELLS_HELD // max(1, len(self.counts)), FEWEST_DRAWS, DRAWS))
        out, bits = np.zeros((number, len(self.counts)), dtype=np.int64), seeded(SEED)
        for piece in self._pieces():
            out[:, piece.cells] = piece.draw(number, bits, None)
        return out

    def covariance(self) -> Floats:
        """The covariance of the noise of all rows, in the order of the table."""
        if len(self.counts) > LARGEST_COVARIANCE:
            raise BadInput(
                f"the covariance of {len(self.counts)} rows was asked for",
                f"it is formed up to {LARGEST_COVARIANCE} rows",
                "Ask for `by(column)`, which needs no matrix",
            )
        noise = self.noise.astype(float)
        covariance: Floats = noise.T @ noise / len(noise)  # the mean is zero, since the law is symmetric
        return covariance

    def total(self) -> Answer:
        """The sum of the true counts."""
        return self._sum(np.ones(len(self.counts), dtype=bool))

    def mean(self) -> Answer:
        """The mean true count."""
        total, rows = self.total(), len(self.counts)
        low, high = total.interval
        return Answer(total.estimate / rows, (low / rows, high / rows), self.level, total.exact)

    def by(self, *columns: str) -> dict[Any, Answer]:
        """The total of each group of rows that share a value of a key column, or the values of several."""
        groups = groups_by(self.categories, columns)
        places = {value: k for k, value in enumerate(dict.fromkeys(groups))}
        group = np.array([places[value] for value in groups])
        return {value: self._sum(group == k) for value, k in places.items()}

    def _sum(self, members: NDArray[np.bool_]) -> Answer:
        """The interval holds the middle share of the simulated errors, and one more, since they are finitely many."""
        errors = np.sort(np.abs(self.noise[:, members].sum(axis=1)))
        place = min(len(errors) - 1, int(np.ceil(self.level * (len(errors) + 1))))
        value, width = float(self.counts[members].sum()), float(errors[place])
        return Answer(value, (value - width, value + width), self.level, not errors[-1] and self._is_kept(members))

    def _is_kept(self, members: NDArray[np.bool_]) -> bool:
        """Whether a sum follows from the kept ones: then it is a combination of theirs."""
        from scipy.sparse.linalg import lsqr

        rows = self._invariants.matrix.astype(float)
        return bool(lsqr(rows.T, members.astype(float), atol=1e-12, btol=1e-12)[3] < CLOSE)

    @cached_property
    def _invariants(self) -> Invariants:
        return invariant_matrix(self.kept, key_columns(self.categories), len(self.counts))

    def _pieces(self) -> Any:
        """The samplers of the public noise, from what the release says about it."""
        from discreet.lattice.sampler import pieces_for
        from discreet.lattice.structure import structure_of

        if self.law is None:
            raise BadInput("an estimate was asked for", *WHY[self.unknown or "conditioned"])
        return pieces_for(structure_of(self._invariants), self.law, False)
