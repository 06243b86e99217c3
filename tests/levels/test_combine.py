"""One pass up and one down give what matrices of cells by cells give."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.levels.combine import Spread, combine
from discreet.levels.design import LevelDesign, Question
from tests.levels.dense import dense, matrix_of, random_design

CLOSE = 1e-10


@pytest.mark.parametrize("seed", range(60))
def test_as_dense_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = random_design(rng)
    everything = list(design.questions())
    asked = [everything[i] for i in rng.permutation(len(everything))[: rng.integers(1, 6)]]
    cells = rng.integers(0, 50, design.table_shape(design.cells))
    variances = {q: float(rng.choice([0.0, 0.3, 2.0, 40.0], p=[0.2, 0.2, 0.3, 0.3])) for q in asked}
    if not any(variances.values()):
        variances[asked[0]] = 1.0
    measured = {
        q: design.answer(cells, q) + (rng.normal(0, 3, design.table_shape(q)) if v else 0) for q, v in variances.items()
    }
    found, (estimate, covariance) = combine(design, measured, variances), dense(design, measured, variances)
    scale = max(1.0, float(np.abs(estimate).max()))
    for question in everything:
        if not found.known(question):
            continue
        rows = matrix_of(design, question)
        assert np.abs(found.estimate(question).ravel() - rows @ estimate).max() < CLOSE * scale
        wanted = np.einsum("ij,jk,ik->i", rows, covariance, rows)
        here = np.repeat(found.variance(question), design.size(question.attributes))
        assert np.abs(here - wanted).max() < CLOSE * max(1.0, wanted.max())


@pytest.mark.parametrize("seed", range(30))
def test_any_sum_and_own_noise(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    design = random_design(rng)
    asked = {q: float(rng.uniform(0.5, 9)) for q in design.questions() if rng.random() < 0.5} | {design.cells: 2.0}
    weights = rng.normal(size=design.table_shape(design.cells))
    zero = {q: np.zeros(design.table_shape(q)) for q in asked}
    _, covariance = dense(design, zero, asked)
    spread = Spread(design, asked)
    flat = weights.ravel()
    assert spread.of_sum(weights) == pytest.approx(flat @ covariance @ flat, rel=1e-9)
    for question in asked:
        at = tuple(int(rng.integers(n)) for n in design.table_shape(question))
        told = {q: table.copy() for q, table in zero.items()}
        told[question][at] = 1.0
        own = combine(design, told, asked).estimate(question)[at]
        assert spread.own_weight(question)[at[0]] == pytest.approx(own, abs=1e-10)


def test_what_is_kept_is_exact() -> None:
    """Whatever the noise, kept sums come out as they are, and at every level the parts add up."""
    rng = np.random.default_rng(5)
    design = LevelDesign((np.zeros(1, dtype=np.int64), np.zeros(3, dtype=np.int64), np.repeat(np.arange(3), 4)), (2, 3))
    cells = rng.integers(0, 9, design.table_shape(design.cells))
    variances = {Question(1): 0.0, Question(0, (0,)): 0.0, design.cells: 4.0, Question(1, (1,)): 1.0}
    measured = {
        q: design.answer(cells, q) + (rng.normal(0, 3, design.table_shape(q)) if v else 0) for q, v in variances.items()
    }
    found = combine(design, measured, variances)
    for question in (Question(1), Question(0, (0,)), Question(0)):
        assert np.allclose(found.estimate(question), design.answer(cells, question), atol=1e-9)
        assert np.all(found.variance(question) < 1e-12)
    assert np.allclose(design.above(found.estimate(design.cells), 2), found.estimate(Question(1, (0, 1))))
