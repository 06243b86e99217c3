"""One table from the estimates: whole, never negative, with every kept sum, the same wherever it is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.levels import fit
from discreet.levels.combine import combine
from discreet.levels.design import LevelDesign, Question
from discreet.levels.table import UNIT, require_table, whole_table
from tests.levels.dense import random_design

Published = tuple[dict[Question, Integers], dict[Question, Integers]]


def chain(rng: np.random.Generator, design: LevelDesign) -> list[Question]:
    """Questions of which, at every level, one is finer than all others."""
    order = rng.permutation(len(design.shape)).tolist()
    widths = np.sort(rng.integers(0, len(design.shape) + 1, design.last + 1))[::-1]
    levels = [level for level in range(design.last + 1) if rng.random() < 0.5]
    return [Question(level, tuple(sorted(order[: widths[level]]))) for level in levels]


def published(
    design: LevelDesign, cells: Integers, kept: list[Question], rng: np.random.Generator, width: float = 5.0
) -> Published:
    """Every question measured, and combined."""
    variances = {q: 0.0 if q in kept else width**2 for q in design.questions()}
    measured = {
        q: design.answer(cells, q) + (0 if q in kept else np.rint(rng.normal(0, width, design.table_shape(q))))
        for q in variances
    }
    found = combine(design, measured, variances)
    estimates = {q: np.rint(found.estimate(q) * UNIT).astype(np.int64) for q in variances}
    return estimates, {q: np.rint(np.sqrt(found.variance(q)) * UNIT).astype(np.int64) for q in variances}


def require_good(design: LevelDesign, table: Integers, cells: Integers, kept: list[Question]) -> None:
    assert table.dtype == np.int64
    assert table.shape == design.table_shape(design.cells)
    assert table.min() >= 0
    for question in kept:
        assert np.array_equal(design.answer(table, question), design.answer(cells, question))


def answers(design: LevelDesign, cells: Integers, questions: list[Question]) -> Mapping[Question, Integers]:
    return {q: design.answer(cells, q) for q in questions}


def test_targets_give_way_where_the_estimate_is_farthest_below() -> None:
    """One of four leaves that were all mapped to two must give one: the one that was estimated lowest."""
    design = levels([4])
    for lowest in range(4):
        leaves = np.where(np.arange(4) == lowest, 1.6, 1.8)
        estimates = {Question(0): np.array([7 * UNIT]), Question(1): np.rint(leaves * UNIT).astype(np.int64)}
        exact = {q: np.zeros_like(one) for q, one in estimates.items()}
        table = whole_table(design, estimates, exact, {}, "5eed", targets=np.full(4, 2))
        assert table.reshape(-1).tolist() == [1 if leaf == lowest else 2 for leaf in range(4)]


def test_which_counts_give_way_does_not_hang_on_the_estimates() -> None:
    """Else the same counts would give way in every family, and the distribution of all would drift."""
    design, rng = levels([20], [10] * 20), np.random.default_rng(4)
    targets, off = rng.poisson(1.0, 200), rng.normal(0, 2, 200)
    above = np.maximum(np.add.reduceat(targets, np.arange(0, 200, 10)) + rng.integers(-3, 4, 20), 0)
    exact = {q: np.zeros(design.nodes(q.level), dtype=np.int64) for q in design.questions()}
    tables = []
    for leaves in (targets, targets + off):
        estimates = {q: np.rint(one * UNIT).astype(np.int64) for q, one in by_level(above, leaves)}
        tables.append(whole_table(design, estimates, exact, {}, "5eed", targets=targets).reshape(-1))
    assert not np.array_equal(*tables)
    assert np.array_equal(*(np.bincount(one) for one in tables))


def by_level(above: Integers, leaves: Any) -> list[tuple[Question, Any]]:
    return [(Question(0), above.sum(keepdims=True)), (Question(1), above), (Question(2), leaves)]


@pytest.mark.parametrize("seed", range(80))
def test_whole_and_kept(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = random_design(rng)
    cells = rng.poisson(rng.choice([0.2, 3.0, 100.0]), design.table_shape(design.cells)).astype(np.int64)
    kept = chain(rng, design)
    estimates, deviations = published(design, cells, kept, rng)
    table = whole_table(design, estimates, deviations, answers(design, cells, kept), "5eed")
    require_good(design, table, cells, kept)
    again = whole_table(design, estimates, deviations, answers(design, cells, kept), "5eed")
    assert np.array_equal(table, again)


@pytest.mark.parametrize("seed", range(20))
def test_exact_estimates_come_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = random_design(rng)
    cells = rng.poisson(2.0, design.table_shape(design.cells)).astype(np.int64)
    estimates = {q: design.answer(cells, q) * UNIT for q in design.questions()}
    none = {q: np.zeros(design.nodes(q.level), dtype=np.int64) for q in estimates}
    assert np.array_equal(whole_table(design, estimates, none, {}, "5eed"), cells)


def levels(*children: list[int], shape: tuple[int, ...] = ()) -> LevelDesign:
    """A tree from the numbers of children of the nodes of each level."""
    parents = [np.zeros(1, dtype=np.int64), *(np.repeat(np.arange(len(row)), row) for row in children)]
    return LevelDesign(tuple(parents), shape)


ODD_TREES = [
    levels(),
    levels([1]),
    levels([1], [1], [1]),
    levels([3], [1, 5, 1]),
    levels(shape=(3,)),
    levels([1], shape=(4,)),
    levels([4], [1, 1, 6, 1], shape=(2, 3)),
    levels([2], [3, 1], shape=(1, 1)),
]


@pytest.mark.parametrize("design", ODD_TREES, ids=range(len(ODD_TREES)))
@pytest.mark.parametrize("value", [0, -70 * UNIT, 3333, 5000, 123456, UNIT << 22])
def test_any_estimates_will_do(design: LevelDesign, value: int) -> None:
    """Ties everywhere, nothing at all, negative estimates everywhere, estimates that do not add up."""
    rng = np.random.default_rng(3)
    estimates = {q: np.full(design.table_shape(q), value) for q in design.questions()}
    wide = {q: np.full(design.nodes(q.level), 7 * UNIT) for q in estimates}
    table = whole_table(design, estimates, wide, {}, "5eed")
    require_good(design, table, table, [])
    total = Question(0)
    assert table.sum() == max(0, (value + UNIT // 2) // UNIT)
    cells = rng.poisson(1.0, design.table_shape(design.cells)).astype(np.int64)
    for kept in ([total], [Question(design.last)], [total, Question(design.last, design.attributes[:1])]):
        require_good(design, whole_table(design, estimates, wide, answers(design, cells, kept), "5eed"), cells, kept)


def test_huge_counts() -> None:
    design = levels([2], [3, 4], shape=(3,))
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 1 << 34, design.table_shape(design.cells))
    kept = [Question(1, (0,)), Question(2)]
    estimates, deviations = published(design, cells, kept, rng, width=1e6)
    table = whole_table(design, estimates, deviations, answers(design, cells, kept), "5eed")
    require_good(design, table, cells, kept)
    assert np.abs(table - cells).max() < 1e8
    many = {q: estimate * 1000 for q, estimate in estimates.items()}
    with pytest.raises(BadInput, match="counts more than"):
        whole_table(design, many, deviations, {}, "5eed")


def test_targets_are_fitted_to_the_level_above() -> None:
    rng = np.random.default_rng(8)
    design = levels([3], [5, 1, 40])
    cells = rng.poisson(4.0, 46).astype(np.int64)
    estimates, deviations = published(design, cells, [Question(1)], rng)
    kept = answers(design, cells, [Question(1)])
    assert np.array_equal(whole_table(design, estimates, deviations, kept, "5eed", targets=cells), cells)
    other = whole_table(design, estimates, deviations, kept, "5eed", targets=cells + rng.integers(-3, 4, 46))
    require_good(design, other, cells, [Question(1)])


@pytest.mark.parametrize("seed", range(60))
def test_whatever_was_measured(seed: int) -> None:
    """Cells or only some margins, all levels or only some; kept sums that cross."""
    rng = np.random.default_rng(100 + seed)
    design = random_design(rng)
    everything = list(design.questions())
    asked = [everything[i] for i in rng.permutation(len(everything))[: rng.integers(1, 5)]]
    kept = crossing(rng, design) if design.shape else []
    cells = rng.poisson(rng.choice([0.3, 20.0]), design.table_shape(design.cells)).astype(np.int64)
    estimates, deviations = published(design, cells, kept, rng)
    some = [{q: one[q] for q in asked} for one in (estimates, deviations)]
    table = whole_table(design, *some, answers(design, cells, kept), "5eed")
    require_good(design, table, cells, kept)
    if not kept and Question(0) in asked:
        assert table.sum() == max(0, (int(estimates[Question(0)][0]) + UNIT // 2) // UNIT)


def crossing(rng: np.random.Generator, design: LevelDesign) -> list[Question]:
    """Two sets of attributes at one level, or every attribute by itself."""
    level = int(rng.integers(0, design.last + 1))
    if rng.random() < 0.3:
        return [Question(level, (a,)) for a in design.attributes]
    sets = [tuple(np.flatnonzero(rng.random(len(design.shape)) < 0.6).tolist()) for _ in range(2)]
    return [Question(level, one) for one in sets]


@pytest.mark.parametrize("seed", range(10))
def test_margins_alone(seed: int) -> None:
    """Of a table that is a product of its margins, they are all that need be known."""
    rng = np.random.default_rng(seed)
    factors = [rng.dirichlet(np.full(n, 3.0)) for n in (5, 4, 3)]
    cells = np.rint(1e5 * np.einsum("i,j,k->ijk", *factors)).astype(np.int64)[None]
    design = levels(shape=(5, 4, 3))
    pairs = [Question(0, pair) for pair in ((0, 1), (0, 2), (1, 2))]
    estimates = {q: design.answer(cells, q) * UNIT for q in pairs}
    exact = {q: np.zeros(1, dtype=np.int64) for q in pairs}
    assert np.abs(whole_table(design, estimates, exact, {}, "5eed") - cells).max() <= 2


def test_margins_are_heard_where_cells_say_little() -> None:
    """Women and men in other parts than in the level above: measured well, though no cell is."""
    rng = np.random.default_rng(2)
    design = levels([2], [10, 10], shape=(2, 12))
    women = rng.uniform(0.2, 0.8, 20)
    cells = rng.poisson(40 * np.stack([women, 1 - women], 1)[:, :, None] * np.ones(12)).astype(np.int64)
    variances = {q: 900.0 if q.attributes == (0, 1) else 1.0 for q in design.questions()}
    noise = {q: rng.normal(0, np.sqrt(v), design.table_shape(q)) for q, v in variances.items()}
    found = combine(design, {q: design.answer(cells, q) + noise[q] for q in variances}, variances)
    estimates = {q: np.rint(found.estimate(q) * UNIT).astype(np.int64) for q in variances}
    deviations = {q: np.rint(np.sqrt(found.variance(q)) * UNIT).astype(np.int64) for q in variances}
    table = whole_table(design, estimates, deviations, {}, "5eed")
    for level in range(3):
        off = design.answer(table, Question(level, (0,))) - design.answer(cells, Question(level, (0,)))
        assert np.abs(off).mean() < 3
    assert np.abs(table - cells).mean() < 8


def test_targets_of_cells_are_refused() -> None:
    design = levels([2], shape=(2,))
    estimates = {q: np.zeros(design.table_shape(q), dtype=np.int64) for q in design.questions()}
    with pytest.raises(BadInput, match="Targets"):
        whole_table(design, estimates, estimates, {}, "5eed", targets=np.zeros((2, 2), dtype=np.int64))


def test_sums_that_cross_are_refused_before_anything_is_spent() -> None:
    design = levels([2], [3, 4], shape=(3, 2, 2))
    require_table(design, [Question(2), Question(1, (0,)), Question(0, (0, 2))])
    require_table(design, [Question(1, (0, 1)), Question(1, (1, 2))])
    require_table(design, [Question(1, (0,)), Question(1, (1,)), Question(1, (2,))])
    with pytest.raises(BadInput, match="cross"):
        require_table(design, [Question(0, (0, 1)), Question(0, (0, 2)), Question(0, (1, 2))])
    with pytest.raises(BadInput, match="cross"):
        require_table(design, [Question(2, (0,)), Question(1, (1,)), Question(0, (2,))])


@pytest.mark.parametrize("seed", range(10))
def test_sets_that_form_a_tree_are_joined(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = levels([2], shape=(2, 3, 2, 2))
    sets = [(0, 1), (1, 2), (1, 3), (0,)]
    kept = [Question(int(seed % 2), sets[i]) for i in rng.permutation(4)]
    cells = rng.poisson(2.0, design.table_shape(design.cells)).astype(np.int64)
    estimates, deviations = published(design, cells, kept, rng)
    require_good(design, whole_table(design, estimates, deviations, answers(design, cells, kept), "a"), cells, kept)


def test_a_table_is_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes that are fitted and rounded few at a time: no cell differs."""
    rng = np.random.default_rng(4)
    design = random_design(rng)
    while design.last < 2 or not design.shape or design.nodes(1) < 3:
        design = random_design(rng)
    cells = rng.poisson(3.0, design.table_shape(design.cells)).astype(np.int64)
    told = published(design, cells, [], rng)
    whole = whole_table(design, *told, {}, "00")
    for together in (1, 7, 20):
        monkeypatch.setattr(fit, "TOGETHER", together)
        assert np.array_equal(whole_table(design, *told, {}, "00"), whole)
