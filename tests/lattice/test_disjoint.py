"""Sums that share no cell, read off where the cells of each stand together: the same as by their columns."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.arrays import Integers
from discreet.lattice.invariants import _disjoint
from discreet.lattice.structure import _classes


@pytest.mark.parametrize("groups", [
    [0], [0, 0, 1], [2, 2, 0, 1, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0, 2, 2, 0],
])  # fmt: skip
@pytest.mark.parametrize("without_cells", [0, 1, 2])
def test_each_cell_is_in_the_sum_of_its_group(groups: list[int], without_cells: int) -> None:
    """Also where so many groups have no cell that there are as many runs of cells as groups."""
    number = max(groups) + 1 + without_cells
    found = _disjoint(np.array(groups), number).toarray()
    assert (found == (np.arange(number)[:, None] == np.array(groups))).all()


@pytest.mark.parametrize("seed", range(20))
def test_classes_are_the_cells_of_equal_columns_as_their_first_cells_stand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups: Integers = np.concatenate([np.arange(6), rng.integers(0, 6, 9)])
    groups = [np.sort(groups), rng.permutation(6)[np.sort(groups)], rng.permutation(groups)][seed % 3]
    matrix = _disjoint(groups, 6)
    classes, distinct = _classes(matrix)
    order = list(dict.fromkeys(groups.tolist()))
    assert [cells.tolist() for cells in classes] == [np.flatnonzero(groups == one).tolist() for one in order]
    assert (distinct.toarray() == matrix.toarray()[:, [groups.tolist().index(one) for one in order]]).all()
