"""What sums can be at all, against every table that there can be; and no answer is beyond it, whatever is asked."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import discreet as dc
from discreet.errors import BadInput
from discreet.estimate.possible import MOST_FAMILIES, KeptBounds, _occurring, ends_of
from discreet.estimate.told import whole_ends
from discreet.io.frames import frame_of

COUNTS = np.array([2, 0, 1, 3, 0, 1])


def tables_like(kept: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Every table of counts up to their sum with the same kept sums."""
    every = np.array(list(product(range(counts.sum() + 1), repeat=len(counts))))
    return every[(every @ kept.T == kept @ counts).all(axis=1)]


@pytest.mark.parametrize(
    "kept, exact",
    [
        ([[1, 1, 1, 1, 1, 1]], True),
        ([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1]], True),
        ([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]], False),
    ],
    ids=["total", "apart", "overlapping"],
)
def test_kept_sums_bound_others_as_every_table_does(kept: list[list[int]], exact: bool) -> None:
    rng, matrix = np.random.default_rng(1), np.array(kept)
    bounds, tables = KeptBounds(lambda: csr_array(matrix), COUNTS), tables_like(matrix, COUNTS)
    weights = rng.integers(-1, 3, (40, len(COUNTS))).astype(float)
    weights[:20] = weights[:20] > 0  # sums of some rows
    low, high = bounds.ends(csr_array(weights))
    least, most = (tables @ weights.T).min(axis=0), (tables @ weights.T).max(axis=0)
    assert (low <= least + 1e-9).all() and (high >= most - 1e-9).all()
    if exact:
        assert np.allclose(low, least) and np.allclose(high, most)
    assert len(bounds.families) == (1 if exact else 2)


def test_rows_in_no_kept_sum_have_no_largest_count() -> None:
    bounds = KeptBounds(lambda: csr_array([[1, 1, 0, 0, 0, 0]]), COUNTS)
    low, high = bounds.ends(csr_array([[1.0, 0, 1, 0, 0, 0], [1, 1, 0, 0, 0, -1], [0, 1, 0, 0, 0, 0]]))
    assert low.tolist() == [0, -np.inf, 0] and high.tolist() == [np.inf, 2, 2]


def test_counts_that_were_cut_bound_their_sums() -> None:
    weights = csr_array([[1.0, 1.0], [1.0, -2.0]])
    assert [end.tolist() for end in ends_of(weights, np.array([3.0, 5.0]))] == [[0, -10], [8, 3]]
    assert [end.tolist() for end in ends_of(weights, None)] == [[0, -np.inf], [np.inf, np.inf]]


def test_ends_at_whole_numbers_leave_no_whole_number_out() -> None:
    rng = np.random.default_rng(2)
    middle, reach = rng.normal(0, 5, 2000), np.abs(rng.normal(0, 2, 2000))
    low, high = whole_ends(middle, middle - reach, middle + reach)
    assert (low >= middle - reach).all() and (high <= middle + reach).all() and (low <= high).all()
    for value in range(-20, 21):
        assert np.array_equal((low <= value) & (value <= high), (middle - reach <= value) & (value <= middle + reach))
    some = np.floor(middle + reach) >= np.ceil(middle - reach)
    assert ((low <= middle) & (middle <= high)).all() and (high - low)[some].mean() < 2 * reach[some].mean() - 0.5


WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "distribution": {"max_count": 9, "split": "1/3", "privatizer": "cumulative"},
    "top-coded": {"max_count": 4, "top_code": True},
    "signed": {"signed": True},
    "bounded": {"mechanism": "bounded", "truth": "0.1", "support": 20},
    "matrix": {"mechanism": "explicit-fair", "max_count": 9},
    "total": {"keep": ["total"]},
    "margin": {"keep": ["margin:age"]},
    "overlap": {"keep": ["margin:age", "margin:sex"]},
    "one sum": {"keep": ["sum:sex=f"]},
    "projected": {"keep": ["margin:area"], "nonnegative": True},
    "conditioned": {"keep": ["total"], "nonnegative": True, "nonnegative_by": "condition"},
    "levels": {"measure": ["cells", "margin:area", "total"]},
    "levels beside a total": {"measure": ["cells", "margin:area"], "keep": ["total"]},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", [1, 2])
def test_no_answer_is_beyond_what_is_possible(way: str, seed: int) -> None:
    """Wide noise in a small table, so that most ends are."""
    keys = list(product([f"a{k}" for k in range(4)], "fm", ["old", "young"]))
    columns = {name: [key[k] for key in keys] for k, name in enumerate(("area", "sex", "age"))}
    counts = np.random.default_rng(seed).integers(0, 4, len(keys))
    table = dc.table(frame_of({**columns, "n": counts}), "n", keys=list(columns))
    view = dc.estimate(dc.release(table, "0.1", seed=seed, **WAYS[way]))
    women, men = view.where(sex="f"), view.where(sex="m")
    total = counts.sum() if view.total().exact else np.inf
    for asked in (view.total, women.total, view.rows, lambda: view.by("area"), lambda: view.by("area", "sex")):
        low, high = ends(asked())
        assert (low >= 0).all() and (high <= total).all() and (low <= high).all()
        if view.cut.top is not None:
            assert (high <= view.cut.top * len(keys)).all()
    for old in ("old", "young"):
        whole = view.where(age=old).total()
        if whole.exact:  # no part of it is more
            assert (ends(view.where(age=old).by("area"))[1] <= whole.estimate).all()
            assert (ends(view.where(age=old).rows())[1] <= whole.estimate).all()
    low, high = ends(women.minus(men))
    assert (low >= -total).all() and (high <= total).all()
    for asked in (lambda: view.share("sex"), lambda: women.over(view), lambda: women.over(view, "area")):
        low, high = ends(asked())
        assert (low >= 0).all() and (high <= 1).all()
    assert (ends(women.over(men))[0] >= 0).all()
    low, high = ends(view.rank("area"))
    assert (low >= 1).all() and (high <= 4).all()
    for asked in (lambda: view.gini("area"), lambda: view.dissimilarity("sex", "f", "m", "area"), view.share_zero):
        try:
            low, high = ends(asked())
        except BadInput:  # a total may be zero, or only sums are told
            continue
        assert (low >= 0).all() and (high <= 1).all()


def ends(found: Any) -> tuple[np.ndarray, np.ndarray]:
    one = found.table().to_pandas()
    return one["low"].to_numpy(), one["high"].to_numpy()


def test_families_are_no_more_than_are_looked_at() -> None:
    """Every two of these sums meet: each would be a family by itself, with a mark for every row."""
    rows = 40
    matrix = np.eye(rows, dtype=np.int64)
    matrix[:, 0] = 1
    bounds = KeptBounds(lambda: csr_array(matrix), np.arange(rows))
    assert len(bounds.families) == MOST_FAMILIES
    low, high = bounds.ends(csr_array(np.eye(rows)))
    assert (low == 0).all() and (high[:MOST_FAMILIES] == np.arange(MOST_FAMILIES)).all() and np.isinf(high[-1])


def test_sums_that_do_not_meet_are_one_family_however_they_stand() -> None:
    matrix = csr_array(np.array([[0, 1, 0, 1, 0], [1, 0, 0, 0, 1]]))
    (one,) = KeptBounds(lambda: matrix, np.array([1, 2, 3, 4, 5])).families
    assert one.of.tolist() == [1, 0, -1, 0, 1] and one.sizes.tolist() == [2, 2] and one.sums.tolist() == [6, 6]


@pytest.mark.parametrize("number", [7, 1000])
def test_numbers_that_occur_are_found_with_and_without_sorting(number: int) -> None:
    codes = np.random.default_rng(3).integers(0, 7, 30)
    codes = codes[codes != 4]
    found, place, times = _occurring(codes, number)
    assert found.tolist() == sorted(set(codes.tolist())) and np.array_equal(found[place], codes)
    assert times.tolist() == [codes.tolist().count(one) for one in found.tolist()]
    assert all(len(one) == 0 for one in _occurring(np.zeros(0, dtype=np.int64), 0))
