"""A release that keeps sums: its noise is joint, symmetric and of a public law, so sums of rows have known errors.

The covariance is found by drawing that public noise again, many times, with a seed: a simulation, not a release.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput, did_you_mean
from discreet.estimate.answers import Answer
from discreet.lattice.invariants import Kept
from discreet.lattice.laws import LatticeLaw

DRAWS = 2000  # standard errors are then known to 2%
FEWEST_DRAWS = 200  # standard errors are then known to 5%
CELLS_HELD = 20_000_000  # 160 MB of draws
LARGEST_COVARIANCE = 3000  # rows; the matrix then takes 72 MB
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
class LatticeEstimate:
    """Answers about sums of rows; what is kept has no error at all."""

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
        return Answer(total.estimate / rows, (total.interval[0] / rows, total.interval[1] / rows), self.level)

    def by(self, column: str) -> dict[Any, Answer]:
        """The total of each group of rows that share a value of a key column."""
        names = list(self.categories.column_names)
        if column not in names:
            raise BadInput(f"totals by {column!r} were asked for", "no such key column", did_you_mean(column, names))
        values = np.array(self.categories.column(column).to_pylist(), dtype=object)
        return {value: self._sum(values == value) for value in dict.fromkeys(values.tolist())}

    def share_above(self, threshold: int) -> NoReturn:
        """Not answered."""
        self._refuse(f"the share of counts above {threshold}")

    def share_zero(self) -> NoReturn:
        """Not answered."""
        self._refuse("the share of zeros")

    def quantile(self, q: float | str) -> NoReturn:
        """Not answered."""
        self._refuse(f"the quantile {q}")

    def _refuse(self, what: str) -> NoReturn:
        raise BadInput(
            f"{what} was asked for",
            "the release keeps sums, so the noise of its rows is joint, and only sums of rows are estimated from it",
            "Ask for the total, the mean, or totals by a column",
        )

    def _sum(self, members: NDArray[np.bool_]) -> Answer:
        """The interval holds the middle share of the simulated errors, and one more, since they are finitely many."""
        errors = np.sort(np.abs(self.noise[:, members].sum(axis=1)))
        place = min(len(errors) - 1, int(np.ceil(self.level * (len(errors) + 1))))
        value, width = float(self.counts[members].sum()), float(errors[place])
        return Answer(value, (value - width, value + width), self.level)

    def _pieces(self) -> Any:
        """The samplers of the public noise, from what the release says about it."""
        from discreet.lattice.invariants import invariant_matrix
        from discreet.lattice.sampler import pieces_for
        from discreet.lattice.structure import structure_of

        if self.law is None:
            raise BadInput("an estimate was asked for", *WHY[self.unknown or "conditioned"])
        keys = {name: self.categories.column(name).to_pylist() for name in self.categories.column_names}
        return pieces_for(structure_of(invariant_matrix(self.kept, keys, len(self.counts))), self.law, False)
