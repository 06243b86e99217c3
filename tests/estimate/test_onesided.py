"""Numbers of rows that are told wrong in one direction alone, and what intervals gain by it under narrow noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import discreet as dc
from discreet.estimate.evidence import Evidence
from discreet.estimate.onesided import counted
from discreet.estimate.regularised import SPREAD_OUT
from discreet.estimate.shares import CountShares
from discreet.estimate.sized import RowPart
from discreet.io.frames import frame_of


def seen_through(matrix: np.ndarray, rows: int, seed: int, least: int = 0) -> Evidence:
    seen = np.random.default_rng(seed).integers(0, matrix.shape[1], rows)
    return Evidence(seen, None, matrix, None, None, None, None, None, least=least)


def near_diagonal(size: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    weights = 3 * np.eye(size) + rng.random((size, size))
    matrix: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
    return matrix


@pytest.mark.parametrize("too_many", [True, False])
@pytest.mark.parametrize("size, rows, t, least", [(2, 5, 0, 0), (5, 30, 1, 0), (9, 200, 7, 0), (6, 40, 3, 2)])
def test_means_are_wrong_in_one_direction_alone(size: int, rows: int, t: int, least: int, too_many: bool) -> None:
    matrix = near_diagonal(size, rows)
    off = matrix @ counted(seen_through(matrix, rows, size, least), t, too_many) - (np.arange(size) <= t)
    assert (off >= -1e-9).all() if too_many else (off <= 1e-9).all()


def odd_matrices() -> dict[str, np.ndarray]:
    """Nearly singular, not square, with outputs that never occur, with ends of the noise, with counts alike."""
    rng, places = np.random.default_rng(0), np.arange(40)
    missing = rng.random((6, 12)) * (np.arange(12) % 3 == 0)
    near = (np.abs(places[:, None] - places) <= 2).astype(float)
    found = {
        "hardly told": np.array([[0.5 + 1e-9, 0.5 - 1e-9], [0.5 - 1e-9, 0.5 + 1e-9]]), "nothing hidden": np.eye(5),
        "more seen": rng.random((3, 9)), "fewer seen": rng.random((9, 3)), "never seen": missing, "an end": near,
        "alike": np.eye(6)[[0, 1, 2, 0, 1, 2]] + 0.05, "nearly alike": np.full((20, 20), 1.0) + 1e-10 * rng.random(20),
        "low rank": rng.random((25, 3)) @ rng.random((3, 25)), "wide": 0.99 ** np.abs(places[:, None] - places),
    }  # fmt: skip
    return {name: weights / weights.sum(axis=1, keepdims=True) for name, weights in found.items()}


@pytest.mark.parametrize("name", odd_matrices())
@pytest.mark.parametrize("rows", [1, 240, 5000])
def test_means_are_wrong_in_one_direction_alone_whatever_the_matrix(name: str, rows: int) -> None:
    matrix = odd_matrices()[name]
    evidence = seen_through(matrix, rows, 1)
    for t in {0, len(matrix) // 2 - 1, len(matrix) - 2}:
        for sign in (1, -1):
            values = counted(evidence, t, sign > 0, 200.0)
            assert np.abs(values).max() <= 200.0
            assert (sign * (matrix @ values - (np.arange(len(matrix)) <= t)) >= -1e-6).all()


@pytest.mark.parametrize("too_many", [True, False])
def test_values_have_a_bound_and_keep_their_direction(too_many: bool) -> None:
    """Two counts that are told apart by one output in ten thousand. Cut afterwards, a row of one was told as 0.90."""
    places = np.arange(8)
    matrix = 0.05 ** np.abs(places[:, None] - places).astype(float)
    matrix /= matrix.sum(axis=1, keepdims=True)
    one, other = (2, 3) if too_many else (3, 2)
    matrix[one] = matrix[other]
    rare = np.where(places == one, 1e-4, 1e-4 / 20)
    matrix = np.column_stack([matrix * (1 - rare[:, None]), rare])
    seen = np.repeat([6, other] if too_many else [0, other], 2500)
    evidence = Evidence(seen, None, matrix, None, None, None, None, None)
    sign, wanted = 1 if too_many else -1, places <= 2
    free, bound = (counted(evidence, 2, too_many, heaviest) for heaviest in (np.inf, 200.0))
    assert sign * free.max() > 200 or sign * free.min() > 200
    assert (sign * (matrix @ np.clip(free, -200, 200) - wanted)).min() < -0.01
    assert np.abs(bound).max() <= 200 + 1e-9
    assert (sign * (matrix @ bound - wanted) >= -1e-9).all()


@pytest.mark.parametrize("too_many", [True, False])
def test_no_other_such_values_are_nearer(too_many: bool) -> None:
    """By a general program: the variance of a row about the posterior chance, and the bias of all rows."""
    matrix, t = near_diagonal(4, 3), 1
    evidence = seen_through(matrix, 25, 1)
    wanted, prior = (np.arange(4) <= t).astype(float), evidence.prior
    likely = (1 - SPREAD_OUT) * prior + SPREAD_OUT / 4

    def cost(values: np.ndarray) -> float:
        spread = likely @ (matrix * (values[None, :] - wanted[:, None]) ** 2).sum(axis=1)
        return float(spread + 25 * (prior @ (matrix @ values - wanted)) ** 2)

    sign = 1 if too_many else -1
    rule: Any = {"type": "ineq", "fun": lambda values: sign * (matrix @ values - wanted)}
    best = minimize(cost, np.full(4, float(too_many)), constraints=[rule], tol=1e-12)
    assert counted(evidence, t, too_many) == pytest.approx(best.x, abs=1e-4)


def released(counts: np.ndarray, seed: int, **options: Any) -> dc.Estimate:
    table = dc.table(frame_of({"row": np.arange(len(counts)), "n": counts}), "n", keys=["row"])
    return dc.estimate(dc.release(table, 3, seed=seed, **options))


BOUNDED = {"mechanism": "bounded", "truth": "0.7", "support": 3}
FAIR = {"mechanism": "explicit-fair", "max_count": 30}


@pytest.mark.parametrize("options", [BOUNDED, FAIR])
def test_where_no_count_is_near_none_is_told(options: dict[str, Any]) -> None:
    """By an inverse that is right for every count, one row might have been zero: a row seen at 1 counted against it."""
    counts = np.repeat([8, 10, 12], 80)
    for seed in range(5):
        assert released(counts, seed, **options).share_zero().interval == (0, 0)


@pytest.mark.parametrize("options, most, before", [(BOUNDED, 18, 23), (FAIR, 12, 15)])
def test_two_heaps_are_told_apart(options: dict[str, Any], most: float, before: float) -> None:
    """Half 0 and half 5: how many numbers of zeros are inside on average, and were with one inverse for both ends."""
    counts, widths, hits = np.repeat([0, 5], 120), [], 0
    for seed in range(8):
        low, high = released(counts, seed, **options).share_zero().interval
        hits += low <= 0.5 <= high
        widths.append(240 * (high - low) + 1)
    assert hits >= 6  # 95 of 100 are to be expected
    assert np.mean(widths) <= most < before


def test_a_matrix_that_hides_everything_tells_nothing() -> None:
    matrix = np.full((4, 4), 0.25)
    evidence = seen_through(matrix, 30, 2)
    shares = CountShares((RowPart(np.arange(30), evidence),), 0.95)
    for t in (0, 1, 2):
        assert shares.above(t).interval == (0, 1)
