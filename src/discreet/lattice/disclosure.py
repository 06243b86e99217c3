"""What kept sums give away by themselves: cells, and remainders of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Integers
from discreet.lattice.basis import kernel_basis

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NONE = np.zeros(0, dtype=np.int64)
MOST_CELLS = 2000  # of one Hermite form


@dataclass(frozen=True, eq=False)
class GivenAway:
    """Cells that the sums determine; remainders (cell, modulus); cells fixed because counts are not negative."""

    exact: Integers
    residues: tuple[tuple[int, int], ...]
    fixed: Integers
    examined: bool


def given_away(matrix: csr_array, counts: Integers | None = None) -> GivenAway:
    """Of a 0/1 matrix with a row per kept sum and a column per cell; `counts` is any table with these sums."""
    if matrix.shape[1] > MOST_CELLS:
        return GivenAway(NONE, (), NONE, False)
    dense = np.unique(np.asarray(matrix.toarray(), dtype=np.int64), axis=0)
    basis = kernel_basis(dense)
    common = np.gcd.reduce(basis, axis=0) if len(basis) else np.zeros(dense.shape[1], dtype=np.int64)
    residues = tuple((int(cell), int(common[cell])) for cell in np.flatnonzero(common > 1))
    fixed = NONE
    if counts is not None:
        zero = matrix.toarray()[matrix @ counts == 0]
        fixed = np.setdiff1d(np.flatnonzero(zero.any(axis=0)), np.flatnonzero(common == 0)) if len(zero) else NONE
    return GivenAway(np.flatnonzero(common == 0), residues, fixed, True)
