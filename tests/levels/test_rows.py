"""Totals of nodes once it is heard that none of their cells is negative."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.arrays import Floats, Integers
from discreet.lattice import blocks
from discreet.lattice.blocks import taken_off
from discreet.levels.shrink import CellEstimates, better_rows


def slow(values: Integers, total: int) -> int:
    """The specification: with more and more of the largest values, what they are above the sum, each as much."""
    ordered = sorted(values.tolist(), reverse=True)
    return max((sum(ordered[: k + 1]) - total) // (k + 1) for k in range(len(ordered)))


@pytest.mark.parametrize("steps", [0, 2, blocks.STEPS], ids=["by halving", "by both", "by Newton's steps"])
@pytest.mark.parametrize("seed", range(20))
def test_what_is_taken_off(seed: int, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "STEPS", steps)
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, 12)
    values = rng.integers(-50, 10 ** int(rng.integers(1, 9)), (sizes.sum(), 3))
    sums = rng.integers(0, 200, (12, 3)) * rng.integers(0, 2, (12, 3))
    found, ends = taken_off(values, sizes, sums), np.cumsum(sizes)
    for block, (start, end) in enumerate(zip(ends - sizes, ends)):
        for column in range(3):
            assert found[block, column] == slow(values[start:end, column], int(sums[block, column]))


def simulated(shape: tuple[int, int], rate: float, deviation: float, repeats: int) -> tuple[float, float]:
    """Mean squared errors of rows: with what non-negative cells say, and without."""
    rng, errors = np.random.default_rng(4), []
    for _ in range(repeats):
        truth = rng.poisson(rng.gamma(0.5, 2 * rate, (*shape[:1], 1)) * np.ones(shape))
        cells = truth + rng.normal(0, deviation, shape)
        columns = truth.sum(axis=0)
        share = np.broadcast_to(columns / max(1, columns.sum()), shape)[:, None]
        noisy = CellEstimates(
            cells[:, None], cells.sum(axis=1)[:, None], np.full(len(cells), deviation**2),
            np.full(len(cells), shape[1] * deviation**2),
        )  # fmt: skip
        whole = np.rint(cells).astype(np.int64)
        near = np.maximum(whole - taken_off(whole, np.array(shape[:1]), columns[None]), 0).astype(float)
        rows = truth.sum(axis=1)[:, None]
        errors.append([_squared(better_rows(noisy, share, some) - rows) for some in (near[:, None], noisy.cells)])
    with_them, without = np.mean(errors, axis=0)
    return float(with_them), float(without)


def _squared(off: Floats) -> float:
    return float((off * off).mean())


def test_rows_of_few_small_cells_are_known_better() -> None:
    with_them, without = simulated((100, 2), 1.0, 4.0, 40)
    assert with_them < 0.8 * without


def test_rows_of_many_empty_cells_are_not_known_worse() -> None:
    """Cells that are not negative add up to far more than there are: they are not heard."""
    with_them, without = simulated((16, 1000), 0.01, 5.0, 10)
    assert with_them < 1.02 * without
