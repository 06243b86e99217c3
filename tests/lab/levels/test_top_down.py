"""The baseline solves what it says, and its table is whole and adds up."""

from __future__ import annotations

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from discreet.arrays import Integers
from discreet.levels.design import LevelDesign, Question
from discreet_lab.levels.top_down import least_squares, top_down

TREE = LevelDesign((np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.int64), np.array([0, 0, 0, 1, 1])), (3, 2))


def some_noise(design: LevelDesign, seed: int) -> dict[Question, Integers]:
    rng = np.random.default_rng(seed)
    cells = rng.negative_binomial(1, 0.2, design.table_shape(design.cells))
    questions = [q for q in design.questions() if len(q.attributes) != 1]
    return {q: (a := design.answer(cells, q)) + rng.integers(-6, 7, a.shape) for q in questions}


def test_a_level_is_the_nearest_that_adds_up() -> None:
    noisy, above = some_noise(TREE, 1), np.random.default_rng(2).integers(0, 9, (2, 6))
    above[0, 0] = 0
    told = {q: (noisy[q], 2.0 + len(q.attributes)) for q in noisy if q.level == 2}
    found = least_squares(TREE, 2, told, above)

    def loss(flat: np.ndarray) -> float:
        cells = flat.reshape(5, 3, 2)
        return sum(((TREE.answer(cells, Question(2, q.attributes)) - y) ** 2).sum() / v for q, (y, v) in told.items())

    sums = np.zeros((12, 30))
    for child, parent in enumerate(TREE.parents[2]):
        for cell in range(6):
            sums[parent * 6 + cell, child * 6 + cell] = 1
    start = (above[TREE.parents[2]] / np.array([3, 3, 3, 2, 2])[:, None]).ravel()
    exact = LinearConstraint(sums, above.ravel(), above.ravel())
    best = minimize(loss, start, method="SLSQP", bounds=[(0, None)] * 30, constraints=[exact], options={"maxiter": 500})
    np.testing.assert_allclose(sums @ found.ravel(), above.ravel(), atol=1e-8)
    assert found.min() >= 0 and loss(found.ravel()) <= best.fun * (1 + 1e-4)
    np.testing.assert_allclose(found.ravel(), best.x, atol=0.05)


def test_the_table_is_whole_and_its_levels_stay_as_they_were_fixed() -> None:
    for seed in range(5):
        noisy = some_noise(TREE, seed)
        table = top_down(TREE, noisy, dict.fromkeys(noisy, 3.0))
        assert table.dtype == np.int64 and table.min() >= 0 and table.shape == (5, 3, 2)
        only_root = {q: y for q, y in noisy.items() if q.level == 0}
        root = top_down(LevelDesign(TREE.parents[:1], TREE.shape), only_root, dict.fromkeys(only_root, 3.0))
        np.testing.assert_array_equal(table.sum(axis=0), root[0])


def test_without_attributes_it_is_the_projection_of_each_level() -> None:
    tree = LevelDesign(TREE.parents)
    noisy = {Question(0): np.array([10]), Question(1): np.array([9, 5]), Question(2): np.array([4, -3, 5, 1, 2])}
    found = top_down(tree, noisy, dict.fromkeys(noisy, 1.0))
    assert found.tolist() == [3, 0, 4, 1, 2]  # 10 is split into 7 and 3, 7 into 3, 0 and 4
