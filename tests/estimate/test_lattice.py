"""Releases that keep sums: what is kept has no error, and sums of rows have the error of the joint noise."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from discreet.errors import BadInput
from discreet.estimate import estimate
from discreet.estimate.joint import JointRows
from discreet.io.tables import table
from discreet.release import release
from discreet.released import Release
from discreet.ways.keep_sums.evidence import evidence

KEYS = list(product("abcdef", "xyz"))
TRUE = np.array([(7 * k) % 11 for k in range(len(KEYS))])


def released(keep: tuple[str, ...], seed: int = 1, **options: Any) -> Release:
    frame = pa.table({"area": [key[0] for key in KEYS], "kind": [key[1] for key in KEYS], "people": TRUE})
    return release(table(frame, "people", ["area", "kind"]), **{"epsilon": 1, "keep": keep, "seed": seed, **options})


def test_what_is_kept_is_known_exactly() -> None:
    view = estimate(released(("total", "margin:area")))
    assert isinstance(view.told, JointRows)
    assert view.total().interval == (TRUE.sum(), TRUE.sum())
    assert view.mean().estimate == pytest.approx(TRUE.mean())
    assert view.by("area")["b"].interval == (TRUE[3:6].sum(), TRUE[3:6].sum())
    low, high = view.by("kind")["x"].interval
    assert low < high


def test_covariance_of_independent_noise_with_a_fixed_sum() -> None:
    """Exchangeable rows that sum to zero: every covariance is the variance over -(rows - 1)."""
    told = estimate(released(("total",))).told
    assert isinstance(told, JointRows)
    noise, rows = told.noise.astype(float), len(KEYS)
    covariance = noise.T @ noise / len(noise)
    variance = np.diag(covariance).mean()
    others = (covariance.sum() - np.trace(covariance)) / (rows * (rows - 1))
    assert covariance.sum() == pytest.approx(0, abs=1e-9)
    assert others == pytest.approx(-variance / (rows - 1))
    # a group of six of the eighteen rows: 6 v (1 - 5/17)
    column = noise.reshape(-1, 6, 3)[:, :, 0].sum(axis=1)
    assert column.var() == pytest.approx(6 * variance * 12 / 17, rel=0.15)


REPEATS = 80


def test_intervals_cover() -> None:
    hits = 0
    for seed in range(REPEATS):
        low, high = estimate(released(("total", "margin:area"), seed)).by("kind")["y"].interval
        hits += low <= TRUE[1::3].sum() <= high
    assert hits >= binom.ppf(1e-6, REPEATS, 0.95)


def test_half_the_width_would_not_cover() -> None:
    hits = 0
    for seed in range(REPEATS):
        answer = estimate(released(("total", "margin:area"), seed)).by("kind")["y"]
        quarter = (answer.interval[1] - answer.interval[0]) / 8
        hits += abs(answer.estimate - TRUE[1::3].sum()) <= quarter
    assert hits < binom.ppf(1e-6, REPEATS, 0.95)


def test_saved_release(tmp_path: Path) -> None:
    done = released(("total",))
    done.save(tmp_path / "out")
    assert estimate(tmp_path / "out").by("kind") == estimate(done).by("kind")


def test_what_cannot_be_answered() -> None:
    view = estimate(released(("total",)))
    for ask in (lambda: view.share_above(2), view.share_zero, lambda: view.quantile(0.5)):
        with pytest.raises(BadInput, match=r"only sums of rows are estimated .* Ask for the total"):
            ask()
    with pytest.raises(BadInput, match="Did you mean 'area'"):
        view.by("aera")


@pytest.mark.parametrize(
    "keep", [("total",), ("margin:area",), ("sum:area=a", "sum:area=b,kind=x"), ("total", "margin:kind")]
)
@pytest.mark.parametrize("known", [[], [2, 3, 4, 5, 9]])
def test_what_kept_sums_leave_open_is_what_least_squares_leave(keep: tuple[str, ...], known: list[int]) -> None:
    told = estimate(released(keep)).told
    assert isinstance(told, JointRows)
    told = replace(told, known=np.array(known, dtype=np.int64))
    fixed = np.eye(len(KEYS))[known]
    rows = np.vstack([told.invariants.matrix.toarray(), fixed])
    given = np.random.default_rng(1).normal(size=len(KEYS))
    expected = given - np.linalg.pinv(rows) @ (rows @ given)
    assert told._left_open(given) == pytest.approx(expected, abs=1e-9)


def test_a_total_is_exact_only_where_what_is_kept_adds_up_to_it() -> None:
    for keep, exact in ((("total",), True), (("margin:area", "margin:kind"), True), (("sum:area=a",), False)):
        assert estimate(released(keep)).total().exact == exact
    weights = np.ones(len(KEYS))
    weights[4] = 2
    assert not estimate(released(("margin:area",))).region(weights).exact


def test_noise_that_was_conditioned_is_covered_for_every_table() -> None:
    """Two rows of five people in all: every table that may be true, with the law of what is published of each. By the
    errors of the published table at the level itself 92% of those with nobody in a row were covered."""
    out = release(table(pa.table({"row": ["a", "b"], "n": [5, 0]}), "n", ["row"]), 1, keep=["total"],
                  nonnegative="condition", seed=1)  # fmt: skip
    publication = out.publication
    assert publication.measured is None
    views = [evidence(replace(publication, counts=np.array([k, 5 - k])), 0.95) for k in range(6)]
    found = [view.by("row") for view in views]
    assert all(one.conservative for one in found)
    for k, view in enumerate(views):
        published = k + view.told.again(1000)[:, 0]  # type: ignore[union-attr]
        assert np.mean([found[seen].low[0] <= k <= found[seen].high[0] for seen in published]) >= 0.95
