"""Inequalities that a published table must meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Inequalities:
    """B y >= b for the published table y."""

    json_schema: ClassVar[Mapping[str, object]] = {
        "type": "object",
        "properties": {"matrix": {"type": "array"}, "least": {"type": "array"}},
        "required": ["matrix", "least"],
    }
    matrix: Integers
    least: Integers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Inequalities) and self.as_json() == other.as_json()

    def __hash__(self) -> int:
        return hash((self.matrix.tobytes(), self.least.tobytes()))

    def as_json(self) -> dict[str, list[Any]]:
        return {"matrix": self.matrix.tolist(), "least": self.least.tolist()}

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Inequalities:
        """What `as_json` wrote, and nothing else."""
        if set(value) != {"matrix", "least"} or not value["least"]:
            raise ValueError("inequalities are a matrix and what its rows must at least be")
        entries = [entry for row in [*value["matrix"], value["least"]] for entry in row]
        if {type(entry) for entry in entries} != {int} or len({len(row) for row in value["matrix"]}) != 1:
            raise ValueError("inequalities are whole numbers, every row of the same length")
        return cls(np.array(value["matrix"], dtype=np.int64), np.array(value["least"], dtype=np.int64))

    def in_order(self, given_rows: Integers) -> Inequalities:
        """The same about rows in published order; one whose size does not fit is left for the plan to refuse."""
        fits = self.matrix.shape[1] == len(given_rows)
        return Inequalities(self.matrix[:, given_rows], self.least) if fits else self

    def check(self, cells: int) -> Inequalities:
        """Refuse what is not about tables of this many rows."""
        if self.matrix.shape[1] != cells:
            size = f"a {self.matrix.shape[0]} x {self.matrix.shape[1]} matrix, {len(self.least)} bounds"
            raise BadInput("inequalities were asked for", f"{size} and {cells} rows do not fit")
        return self

    @cached_property
    def _sparse(self) -> csr_array:
        from scipy.sparse import csr_array

        return csr_array(self.matrix)

    def violated(self, table: Integers) -> Integers:
        """The inequalities that do not hold."""
        return np.flatnonzero(self._sparse @ table < self.least)

    def hold(self, table: Integers) -> bool:
        return not len(self.violated(table))

    @property
    def cells(self) -> list[Integers]:
        """What each is about."""
        return np.split(self._sparse.indices, self._sparse.indptr[1:-1])


def inequalities_of(given: Any) -> Inequalities:
    """What a user writes: a matrix (dense or sparse) and what its rows must at least sum to."""
    if isinstance(given, Inequalities):
        return given
    try:
        matrix, least = (given["matrix"], given["least"]) if isinstance(given, Mapping) else given
    except (TypeError, ValueError, KeyError) as error:
        raise BadInput("inequalities were asked for", "they are not a matrix and a list of bounds") from error
    rows = np.atleast_2d(np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix))
    bounds = np.atleast_1d(np.asarray(least))
    if rows.ndim != 2 or len(rows) != len(bounds):
        found = f"{len(rows)} rows of a matrix and {len(bounds)} bounds do not fit"
        raise BadInput("inequalities were asked for", found)
    if not (np.array_equal(rows, np.round(rows)) and np.array_equal(bounds, np.round(bounds))):
        raise BadInput(
            "inequalities were asked for", "a coefficient or bound is not a whole number", "Multiply them up"
        )
    return Inequalities(rows.astype(np.int64), bounds.astype(np.int64))
