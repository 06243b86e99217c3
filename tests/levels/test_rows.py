"""Totals of nodes once it is heard that none of their cells is negative."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from discreet.arrays import Floats, Integers
from discreet.lattice import blocks
from discreet.lattice.blocks import taken_off
from discreet.levels import shrink, top
from discreet.levels.combine import combine
from discreet.levels.design import LevelDesign, Question
from discreet.levels.shrink import SLIGHT, CellEstimates, better_rows, not_negative
from discreet.levels.table import UNIT, whole_table


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


def nearest(cells: Floats, row: float, noise: float, row_noise: float) -> Floats:
    """The specification: least squares of cells and of the row that they add up to, no cell below zero."""
    weights = np.append(np.full(len(cells), noise), row_noise) ** -0.5
    sums = np.vstack([np.eye(len(cells)), np.ones(len(cells))])
    found: Floats = nnls(sums * weights[:, None], np.append(cells, row) * weights)[0]
    return found


@pytest.mark.parametrize("seed", range(30))
def test_the_nearest_cells_that_are_not_negative(seed: int) -> None:
    """Signed least squares first, as what is published has it; from there to cells that are not negative."""
    rng = np.random.default_rng(seed)
    rows, width = 20, int(rng.integers(1, 12))
    ratio = float(10 ** rng.uniform(-3, 3))
    cells, row = rng.normal(0, 10, (rows, width)), rng.normal(5, 10, rows)
    signed = cells + ((row - cells.sum(axis=1)) * ratio / (1 + width * ratio))[:, None]
    found = not_negative(signed[:, None], signed.sum(axis=1)[:, None], np.full((rows, 1), ratio))[:, 0]
    for i in range(rows):
        assert np.abs(found[i] - nearest(cells[i], row[i], 1.0, 1 / ratio)).max() <= SLIGHT


def simulated(
    shape: tuple[int, int], rate: float, deviation: float, repeats: int, ratio: float = 0.0
) -> tuple[float, float]:
    """Mean squared errors of rows: with what non-negative cells say, and without. `ratio` is the variance of a cell's
    noise over that of a measurement of the row itself."""
    rng, errors = np.random.default_rng(4), []
    heard, many = ratio / (1 + shape[1] * ratio), np.ones(shape[0])
    for _ in range(repeats):
        truth = rng.poisson(rng.gamma(0.5, 2 * rate, (*shape[:1], 1)) * np.ones(shape))
        cells, rows = truth + rng.normal(0, deviation, shape), truth.sum(axis=1)
        if ratio:
            measured = rows + rng.normal(0, deviation / np.sqrt(ratio), len(rows))
            cells += heard * (measured - cells.sum(axis=1))[:, None]
        columns = truth.sum(axis=0)
        share = np.broadcast_to(columns / max(1, columns.sum()), shape)[:, None]
        noisy = CellEstimates(
            cells[:, None], cells.sum(axis=1)[:, None], many * deviation**2 * (1 - heard),
            many * deviation**2 * shape[1] * (1 - shape[1] * heard),
        )  # fmt: skip
        taken = taken_off(np.rint(cells).astype(np.int64), np.array(shape[:1]), columns[None])
        with_them = better_rows(noisy, share, (cells - taken)[:, None])
        with pytest.MonkeyPatch.context() as without:
            without.setattr(shrink, "towards", lambda way, covariance: 0.0)
            errors.append([_squared(some[:, 0] - rows) for some in (with_them, better_rows(noisy, share, noisy.cells))])
    with_them, without_them = np.mean(errors, axis=0)
    return float(with_them), float(without_them)


def _squared(off: Floats) -> float:
    return float((off * off).mean())


@pytest.mark.parametrize("ratio", [0.0, 0.2, 1.0])
def test_rows_of_few_small_cells_are_known_better(ratio: float) -> None:
    with_them, without = simulated((100, 2), 1.0, 4.0, 40, ratio)
    assert with_them < (0.8 if ratio < 1 else 0.9) * without


@pytest.mark.parametrize("ratio", [0.0, 0.2])
def test_rows_of_many_empty_cells_are_not_known_worse(ratio: float) -> None:
    """Cells that are not negative add up to far more than there are: they are not heard."""
    with_them, without = simulated((16, 1000), 0.01, 5.0, 10, ratio)
    assert with_them < 1.02 * without


def test_margins_of_few_small_cells_are_known_better(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a table without levels, too."""
    with_them = _margin_error()
    monkeypatch.setattr(top, "heard_rows", lambda noisy, fitting, covariance: 0.0)
    assert with_them < 0.95 * _margin_error()


def _margin_error() -> float:
    design, rng, errors = LevelDesign((np.zeros(1, dtype=np.int64),), (60, 2, 2)), np.random.default_rng(7), []
    ages = Question(0, (0,))
    for _ in range(10):
        cells = rng.poisson(rng.gamma(0.5, 4.0, (1, 60, 1, 1)) * np.ones((1, 60, 2, 2)))
        variances = {q: 36.0 if q == design.cells else 3600.0 for q in design.questions()}
        noise = {q: rng.normal(0, np.sqrt(v), design.table_shape(q)) for q, v in variances.items()}
        noisy = {q: design.answer(cells, q) + one for q, one in noise.items()}
        found = combine(design, noisy, variances)
        estimates = {q: np.rint(found.estimate(q) * UNIT).astype(np.int64) for q in noisy}
        deviations = {q: np.rint(np.sqrt(found.variance(q)) * UNIT).astype(np.int64) for q in noisy}
        table = whole_table(design, estimates, deviations, {}, "5eed")
        errors.append(_squared(design.answer(table, ages) - design.answer(cells, ages)))
    return float(np.mean(errors))
