from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import BadInput
from discreet.evaluate.metrics import w1
from discreet.evaluate.shapes import SHAPES, rows_of
from discreet.laws import Geometric
from discreet_lab.baselines.pipelines import (
    MAPS,
    by_matrix,
    clamped_geometric,
    evenly,
    paper,
    quantile_map,
    two_stage,
    two_stage_of,
    unfixed,
)
from discreet_lab.baselines.simulate import SimulatedMean, simulate


def test_the_interval_is_students() -> None:
    errors = {"a": [1.0, 2.0, 4.0], "b": [1.5, 2.5, 4.5]}

    def constant(name):  # type: ignore[no-untyped-def]
        values = iter(errors[name])
        return lambda counts, rng: counts + int(2 * next(values))

    found = simulate({name: constant(name) for name in errors}, [0, 0], 20, repeats=3)
    mean = found.mean("a")["count_error"]
    low, high = stats.t.interval(0.95, 2, loc=14 / 3, scale=stats.sem([2, 4, 8]))
    assert mean.interval == (pytest.approx(low), pytest.approx(high))
    # paired: the difference is the same in every repeat, so it is known exactly
    assert found.difference("b", "a")["count_error"] == SimulatedMean(1.0, 0.0)
    assert found.difference("b", "a")["count_error"].above_zero and found.difference("a", "b")["count_error"].below_zero


def test_errors_are_measured_after_top_coding() -> None:
    found = simulate({"same": lambda counts, rng: counts}, [1, 99, 3], 5, repeats=2)
    assert found.mean("same")["count_error"].mean == 0 and found.mean("same")["distribution_error"].mean == 0
    with pytest.raises(BadInput, match="at least 2"):
        simulate({}, [1], 5, repeats=1)


def test_quantile_map_carries_source_to_target() -> None:
    rng, source, target = np.random.default_rng(1), np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.0, 0.6, 0.3])
    noisy = rng.choice(3, 100_000, p=source)
    out = np.bincount(quantile_map(noisy, source, target, rng.random(100_000)), minlength=4)
    assert out[1] == 0 and stats.chisquare(out[[0, 2, 3]], 100_000 * target[[0, 2, 3]]).pvalue > 1e-6
    assert stats.chisquare(out[[0, 2, 3]], 100_000 * np.array([0.11, 0.59, 0.3])).pvalue < 1e-6


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(0, 2**32))
def test_rows_of_one_value_are_spread_evenly(noisy: list[int], seed: int) -> None:
    values = np.array(noisy)
    parts = evenly(values, np.random.default_rng(seed))
    for value in set(noisy):
        own = np.sort(parts[values == value])
        np.testing.assert_array_equal(np.floor(own * len(own) + 1e-12), np.arange(len(own)))


def test_a_matrix_is_followed() -> None:
    matrix = np.array([[0.2, 0.8, 0.0], [0.5, 0.25, 0.25], [0.0, 0.0, 1.0]])
    out = by_matrix(matrix)(np.repeat([0, 1, 2], 50_000), np.random.default_rng(2)).reshape(3, -1)
    for row, chances in zip(out, matrix):
        found = np.bincount(row, minlength=3)
        assert (found[chances == 0] == 0).all()
        if (chances > 0).sum() > 1:
            assert stats.chisquare(found[chances > 0], 50_000 * chances[chances > 0]).pvalue > 1e-6


@pytest.mark.parametrize("onto", MAPS)
@pytest.mark.parametrize("split", [0.0, 0.3])
def test_pipelines_stay_in_range(onto: str, split: float) -> None:
    counts = rows_of(SHAPES["long-tail"](12), 200)
    out = two_stage(0.5, 12, split=split, onto=onto)(counts, np.random.default_rng(0))
    assert out.shape == counts.shape and out.min() >= 0 and out.max() <= 12


def test_a_pipeline_needs_some_source_for_the_distribution() -> None:
    with pytest.raises(BadInput, match="only refinement"):
        two_stage_of(None, Geometric(2), 5, False, "rank")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="Did you mean 'rank'"):
        two_stage(1, 5, onto="ranks")


def skewed() -> np.ndarray:
    """Half zeros and a long tail, top-coded at 50: like counts of rare events by county."""
    return np.minimum(rows_of(SHAPES["long-tail"](500), 3136), 50)


def wide() -> np.ndarray:
    """A smooth gamma shape with many rows, top-coded at 80: like staff by school."""
    places = (np.arange(20_000) + 0.5) / 20_000
    return np.minimum(stats.gamma.ppf(places, 2.2, scale=14.5).astype(np.int64), 80)


TABLES = {
    "skewed": (skewed, 50),
    "bell": (lambda: rows_of(stats.binom.pmf(np.arange(21), 20, 0.5), 10_000), 20),
    "wide": (wide, 80),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("epsilon", [0.1, 0.48, 1.0, 2.29])
def test_version_0_1_beats_the_published_pipeline_on_both_errors(name: str, epsilon: float) -> None:
    make, top = TABLES[name]
    pipelines = {"paper": paper(epsilon, top), "ours": two_stage(epsilon, top)}
    difference = simulate(pipelines, make(), top, repeats=25, level=0.99).difference("ours", "paper")
    assert difference["count_error"].below_zero
    assert (
        difference["distribution_error"].below_zero if epsilon <= 1 else not difference["distribution_error"].above_zero
    )


def test_the_clamped_geometric_has_its_known_error() -> None:
    counts, alpha = np.full(20_000, 25), math.exp(-1)
    out = clamped_geometric(1.0, 50)(counts, np.random.default_rng(3))
    # E|X| = 2a/(1 - a^2) for two-sided geometric noise
    assert np.abs(out - 25).mean() == pytest.approx(2 * alpha / (1 - alpha**2), rel=0.05)


def test_the_unfixed_optimum_has_the_least_count_error() -> None:
    counts, top = rows_of(SHAPES["mostly-zero"](20), 5000), 20
    pipelines = {"unfixed": unfixed(0.8, top, split=0.5), "geometric": clamped_geometric(0.4, top)}
    pipelines["paper"] = paper(0.8, top, split=0.5)
    found = simulate(pipelines, counts, top, repeats=10, level=0.99)
    for other in ("geometric", "paper"):
        assert found.difference("unfixed", other)["count_error"].below_zero
    # and pays for it with the distribution
    assert found.difference("unfixed", "paper")["distribution_error"].above_zero


@pytest.mark.parametrize("selector", ["max", "min", "sandwich"])
def test_the_published_heuristic_is_no_better_than_the_optimum_we_compare_with(selector: str) -> None:
    counts, top = rows_of(stats.binom.pmf(np.arange(21), 20, 0.5), 10_000), 20
    pipelines = {"heuristic": paper(1.0, top, selector=selector), "optimum": paper(1.0, top)}
    found = simulate(pipelines, counts, top, repeats=10, level=0.99)
    assert not found.difference("heuristic", "optimum")["count_error"].below_zero
    # both have the fixed point z, so the distribution errs alike but for sampling
    errors = found.mean("heuristic")["distribution_error"].mean, found.mean("optimum")["distribution_error"].mean
    assert 0.5 < errors[0] / errors[1] < 2


def test_the_simulated_release_errs_like_the_real_one() -> None:
    """Where the product still does what version 0.1 did: the measured distribution, and a full map onto it."""
    import pyarrow as pa

    import discreet as dc

    counts = np.minimum(skewed(), 50)
    table = dc.table(pa.table({"row": [f"r{k:04d}" for k in range(len(counts))], "n": counts}), count="n")
    true = np.bincount(counts, minlength=51)
    errors = []
    for seed in range(15):
        out = dc.release(table, epsilon="1/2", max_count=50, top_code=True, refine=False, seed=seed).counts
        errors.append((np.abs(out - table.counts).mean(), w1(np.bincount(out, minlength=51), true)))
    pipelines = {onto: two_stage(0.5, 50, refined=False, onto=onto) for onto in ("spread", "rank")}
    found = simulate(pipelines, counts, 50, repeats=30)
    for onto in pipelines:
        mean = found.mean(onto)
        assert np.mean(errors, axis=0)[0] == pytest.approx(mean["count_error"].mean, rel=0.05)
        assert np.mean(errors, axis=0)[1] == pytest.approx(mean["distribution_error"].mean, rel=0.35)
