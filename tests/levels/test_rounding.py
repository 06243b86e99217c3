"""Whole numbers with whole sums: nothing passes a whole number, and compiled code gives the same tables."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.arrays import Floats, Integers
from discreet.lattice.transport import nearest_two_way
from discreet.levels import compiled
from discreet.levels.feedback import whole_watching
from discreet.levels.fit import TwoSums, fitted
from discreet.levels.fixed import FINE, FINE_BITS, folded
from discreet.levels.rounding import largest_remainders, whole_in_rows_and_columns
from tests.levels.slow import nearest_table, remainders, round_cycles


def random_sums(rng: np.random.Generator, nodes: int, coarse: int, fine: int, mean: float) -> TwoSums:
    children = rng.integers(1, 6, nodes)
    parent = np.repeat(np.arange(nodes), children)
    starts = np.cumsum(children) - children
    cells = rng.poisson(mean, (len(parent), coarse, fine)) * FINE
    return TwoSums(parent, starts, cells.sum(axis=2), np.add.reduceat(cells, starts, axis=0))


def random_fit(rng: np.random.Generator, sums: TwoSums, noise: float) -> tuple[Floats, Floats]:
    shape = (*sums.rows.shape, sums.columns.shape[2])
    target = sums.rows[:, :, None] / FINE / shape[2] + rng.normal(0, noise, shape)
    return target, rng.exponential(1, shape) * rng.choice([1e-9, 1, 1e6], shape)


def require_sums(table: Integers, sums: TwoSums) -> None:
    assert table.min() >= 0
    assert np.array_equal(table.sum(axis=2), sums.rows)
    assert np.array_equal(sums.over_children(table), sums.columns)


@pytest.mark.parametrize("seed", range(80))
def test_both_sums_are_exact(seed: int) -> None:
    """Whatever the target: negative, far away, or with hardly any room."""
    rng = np.random.default_rng(seed)
    sums = random_sums(rng, *rng.integers(1, 5, 3), mean=rng.choice([0.1, 2.0, 1e6, 1e10]))
    target, spread = random_fit(rng, sums, noise=rng.choice([0.1, 10.0, 1e5, 1e11]))
    fine = fitted(target, spread, sums)
    require_sums(fine, sums)
    whole = whole_in_rows_and_columns(fine, sums.starts, rng.random(fine.size) < 0.5)
    require_sums(whole * FINE, sums)
    assert np.all(whole >= fine >> FINE_BITS)
    assert np.all(whole <= -(-fine >> FINE_BITS))


@pytest.mark.parametrize("seed", range(30))
def test_cycles_as_walked_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sums = random_sums(rng, 4, 1, int(rng.integers(1, 6)), mean=2.0)
    fine = fitted(*random_fit(rng, sums, noise=1.0), sums)
    ties = rng.random(fine.size) < 0.5
    whole = whole_in_rows_and_columns(fine, sums.starts, ties)
    width = fine.shape[2]
    for start, end in zip(sums.starts, sums.ends):
        table = fine[start:end, 0]
        assert np.array_equal(whole[start:end, 0], round_cycles(table, FINE_BITS, ties[start * width :]))


@pytest.mark.parametrize("seed", range(25))
def test_near_to_the_nearest(seed: int) -> None:
    """Fitted and rounded, a table costs little more than the nearest one there is."""
    rng = np.random.default_rng(seed)
    cells = rng.poisson(1.5, (3, 3))
    rows, columns = cells.sum(axis=1), cells.sum(axis=0)
    target, spread = cells + rng.normal(0, 1, (3, 3)), rng.uniform(0.5, 2, (3, 3))
    sums = TwoSums(
        np.zeros(3, dtype=np.int64), np.zeros(1, dtype=np.int64), rows[:, None] * FINE, columns[None, None] * FINE
    )
    fine = fitted(target[:, None], spread[:, None], sums)
    _, least = nearest_table(target, spread, rows, columns)
    off = fine[:, 0] / FINE - target
    assert (off * off / spread).sum() <= least + 0.05
    whole = whole_in_rows_and_columns(fine, sums.starts, np.zeros(9, dtype=bool))[:, 0]
    assert ((whole - target) ** 2 / spread).sum() <= least + 6


@pytest.mark.parametrize("threshold", [0, 1 << 40], ids=["compiled", "plain"])
@pytest.mark.parametrize("seed", range(6))
def test_as_near_as_signed_tables_come(seed: int, threshold: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all cells are known alike it is the problem of signed releases, whose tables are proved to be nearest; also
    where most cells are far below zero: there single steps led millions of counts away, and did not come back."""
    monkeypatch.setattr(compiled, "WORTH_CALLING", threshold)
    monkeypatch.setattr(compiled, "WORTH_LOADING", threshold)
    rng = np.random.default_rng(seed)
    rows, columns, wide, mean = [(60, 8, 3, 1), (60, 8, 20, 4), (10, 8, 100, 4)][seed % 3]
    signed = rng.poisson(rng.gamma(0.5, mean, (rows, columns)))
    for _ in range(3 * signed.size // 2):  # no sum changes
        (i, j), (k, m), by = rng.permutation(rows)[:2], rng.permutation(columns)[:2], int(rng.integers(-wide, wide))
        signed[[i, j], [k, m]] += by
        signed[[i, j], [m, k]] -= by
    words = rng.integers(0, 1 << 62, signed.size).astype(np.uint64)
    nearest = nearest_two_way(signed.reshape(1, -1), np.ones_like(signed), words[None]).reshape(signed.shape)
    start = np.zeros(1, dtype=np.int64)
    sums = TwoSums(
        np.zeros(rows, dtype=np.int64), start, signed.sum(axis=1)[:, None] * FINE, signed.sum(axis=0)[None, None] * FINE
    )
    fine = fitted(signed[:, None].astype(float), np.ones((rows, 1, columns)), sums)
    near = whole_in_rows_and_columns(fine, start, np.zeros(signed.size, dtype=bool))[:, 0]
    least, found = (int(((one - signed) ** 2).sum()) for one in (nearest, near))
    assert least <= found <= 1.01 * least


@pytest.mark.parametrize("seed", range(20))
def test_compiled_code_gives_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    rng = np.random.default_rng(seed)
    sums = random_sums(rng, int(rng.integers(1, 30)), *rng.integers(1, 6, 2), mean=rng.choice([0.3, 5.0, 1e5]))
    target, spread = random_fit(rng, sums, noise=3.0)
    ties = rng.random(target.size) < 0.5
    entries = rng.integers(0, 50, (target.size, 3))
    off = rng.integers(-300, 300, 50)
    found = []
    for threshold in (0, 1 << 60):
        monkeypatch.setattr(compiled, "WORTH_CALLING", threshold)
        monkeypatch.setattr(compiled, "WORTH_LOADING", threshold)
        fine = fitted(target, spread, sums)
        sizes = np.full(sums.rows.size, fine.shape[2])
        watching = whole_watching(fine.reshape(-1), sizes, entries, off)
        found.append((fine, whole_in_rows_and_columns(fine, sums.starts, ties), watching))
    for one, other in zip(*found):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("seed", range(20))
def test_largest_remainders_as_fractions_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, 5)
    fine = rng.integers(0, 3, sizes.sum()) * FINE + rng.choice([0, FINE // 3, FINE // 2], sizes.sum())
    words = rng.permutation(len(fine)).astype(np.uint64) << np.uint64(50)
    starts = np.cumsum(sizes) - sizes
    fine[starts] += -np.add.reduceat(fine, starts) % FINE
    sums = np.add.reduceat(fine, starts) // FINE
    whole = largest_remainders(fine, sizes, sums, words)
    for start, size, total in zip(starts, sizes, sums):
        block = slice(start, start + size)
        assert whole[block].tolist() == remainders(fine[block], int(total), FINE, words[block])


@pytest.mark.parametrize("seed", range(20))
def test_watched_sums_stay_near(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (6, 5, 4)
    fine = (rng.exponential(0.7, shape) * FINE).astype(np.int64).reshape(-1)
    fine[-1] += -fine.sum() % FINE
    places = np.indices(shape).reshape(3, -1)
    entries = np.stack([places[0] * 5 + places[1], 30 + places[0] * 4 + places[2], 54 + places[1] * 4 + places[2]], 1)
    none = np.zeros(74, dtype=np.int64)
    whole = whole_watching(fine, np.array([fine.size]), entries, none)
    assert whole.sum() * FINE == fine.sum()
    assert np.all(np.abs(whole * FINE - fine) < FINE)
    moved = np.zeros(74)
    np.add.at(moved, entries, (whole - fine / FINE)[:, None])
    assert np.abs(moved).mean() < 0.6
    blocks = np.full(6, 20)
    starts = np.arange(6) * 20
    fine[starts] += -np.add.reduceat(fine, starts) % FINE
    whole = whole_watching(fine, blocks, entries, none)
    assert np.array_equal(np.add.reduceat(whole, starts) * FINE, np.add.reduceat(fine, starts))


def test_folded_sums() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 7, 64, 1001):
        values = rng.normal(size=(size, 3))
        assert folded(values) == pytest.approx(values.sum(axis=0))
