"""The route that keeps the distribution of counts."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from discreet.encode import map_of, noise_of
from discreet.guarantee import zcdp_epsilon
from discreet.routes import Request
from discreet.routes.two_stage import plan_two_stage, rank_rows
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.laws import Gaussian, Geometric
from discreet.numbers import epsilon_of
from discreet.table import Schema
from discreet.testing import epsilons

from .releases import KINDS, ROWS, example, make

TWO_STAGE = [kind for kind in KINDS if kind.startswith(("transport", "rank", "seeded")) and kind != "seeded geometric"]


@given(
    epsilons(), st.integers(1, 4), st.sampled_from([5, "auto"]), st.sampled_from([None, Fraction(1, 3), Fraction(0)])
)
def test_the_parts_of_a_pure_budget_make_the_whole_and_their_noise_is_enough(
    epsilon: Any, people: int, top: Any, split: Fraction | None
) -> None:
    schema = Schema(("place",), "people", 100_000 * people, None, contributions=people)
    request = Request(epsilon=epsilon, max_count=top, split=split)
    route = plan_two_stage(schema, request)
    parts = route.budget.parts()
    assert sum((part.epsilon.rational() for part in parts if part.epsilon), Fraction(0)) == epsilon.rational()
    for part in parts:
        assert isinstance(part.noise, Geometric) and part.epsilon is not None
        # one person moves each of the measured numbers by `people` in all
        assert part.epsilon.allows(part.noise.odds**people)
    assert [part.what for part in parts] == (["max_count"] if top == "auto" else []) + (
        ["distribution"] if split != 0 and route.budget.distribution else []
    ) + ["counts"]


@given(st.fractions(Fraction(1, 20), 4, max_denominator=20), st.integers(1, 3), st.sampled_from([5, "auto"]))
def test_the_parts_of_a_concentrated_budget(rho: Fraction, people: int, top: Any) -> None:
    schema = Schema(("place",), "people", 100_000 * people, None, contributions=people)
    route = plan_two_stage(schema, Request(rho=rho, max_count=top))
    spent = Fraction(0)
    for part in route.budget.parts():
        if isinstance(part.noise, Gaussian):
            assert part.rho == Fraction(people**2) / (2 * part.noise.variance)
            spent += part.rho
        else:
            assert part.epsilon is not None
            spent += part.epsilon.rational() ** 2 / 2
    assert rho * Fraction(999, 1000) <= spent <= rho


def test_epsilon_and_delta_are_met_by_gaussian_noise() -> None:
    request = Request(epsilon=epsilon_of(1), delta=Fraction(1, 10**6), base="gaussian", max_count=5)
    parts = plan_two_stage(example().schema, request).budget.parts()
    assert zcdp_epsilon(sum((part.rho for part in parts if part.rho), Fraction(0)), Fraction(1, 10**6)) <= 1


@pytest.mark.parametrize("kind", TWO_STAGE)
def test_the_table_follows_the_published_distribution(kind: str) -> None:
    release = make(kind)
    published = release.distribution
    assert published is not None
    shares = np.array(published["distribution"])
    seen = np.bincount(release.published.counts, minlength=len(shares)) / ROWS
    if "histogram" in published:
        assert (seen * ROWS).round().astype(int).tolist() == published["histogram"]
    # mapped one by one, words are spread evenly: the sampling error is about a row for each break of the map
    assert np.abs(np.cumsum(seen - shares)).max() < 12 / ROWS


def test_rank_is_transport_made_consistent() -> None:
    assert make("rank").mechanism["name"] == "rank"
    consistent = dc.release(example(), 1, max_count=8, consistent=True)
    assert consistent.mechanism["name"] == "rank"
    assert "not independent of each other" in consistent.guarantee.sentence


def test_a_release_says_whether_its_rows_depend_on_each_other() -> None:
    """A map made from all noisy rows ties them together, just as ranks do; noise alone does not."""
    assert "not independent of each other" in make("transport").guarantee.sentence
    alone = dc.release(example(), 1, max_count=8, mechanism="geometric")
    assert "not independent" not in alone.guarantee.sentence


@given(st.lists(st.integers(-5, 9), min_size=1, max_size=30), st.data())
def test_ranks_are_kept(values: list[int], data: Any) -> None:
    bins = np.bincount(data.draw(st.lists(st.integers(0, 6), min_size=len(values), max_size=len(values))), minlength=7)
    rows = np.array(values)
    out = rank_rows(rows, bins, "seed")
    assert np.bincount(out, minlength=7).tolist() == bins.tolist()
    order = np.lexsort((out, rows))
    assert (np.diff(out[order]) >= 0).all()


def test_the_map_never_reverses_an_order() -> None:
    release = make("transport")
    public_map = map_of(release.mechanism["map"])
    assert (np.diff(public_map.outputs) > 0).all() and (np.diff(public_map.keys.astype(float)) >= 0).all()
    measured, published = np.asarray(release.measurements["people"]), release.published.counts
    for low, high in ((0, 1), (2, 5), (-3, 8)):
        if (measured <= low).any() and (measured >= high).any():
            assert published[measured <= low].max() <= published[measured >= high].max()


def test_what_was_learned_is_published_and_nothing_else(tmp_path: Path) -> None:
    """Both measurements are noisy: no exact prefix of the histogram and no exact count reaches the folder."""
    release = dc.release(example(), "0.2", max_count=8)
    exact = np.cumsum(np.bincount(np.minimum(example().counts, 8), minlength=9))[:-1]
    noisy = np.array(release.distribution["measurements"])  # type: ignore[index]
    assert len(noisy) == 8 and (noisy != exact).any()
    noise = noise_of(release.distribution["noise"])  # type: ignore[index]
    assert isinstance(noise, Geometric)
    release.save(tmp_path / "out")
    text = (tmp_path / "out" / "release.json").read_text()
    assert json.dumps(exact.tolist()) not in text


@settings(max_examples=8)
@given(
    st.integers(0, 2**32),
    st.sampled_from([{"consistent": True}, {"refine": False}, {"rho": "0.3", "epsilon": None}, {}]),
)
def test_seeded_releases_repeat(seed: int, options: dict[str, Any]) -> None:
    asked = {"epsilon": 1, "max_count": 6, "seed": seed, **options}
    one, other = dc.release(example(), **asked), dc.release(example(), **asked)
    assert one.published.counts.tolist() == other.published.counts.tolist()
    assert one.mechanism == other.mechanism and one.distribution == other.distribution


def test_counts_of_any_size_without_a_largest_one(tmp_path: Path) -> None:
    frame = pa.table({"place": ["a", "b", "c"], "n": [3_000_000, 5, 2_000_000]})
    release = dc.release(dc.table(frame, "n"), 1)
    assert release.max_count is None and release.distribution is None
    assert "too large for their distribution" in release.guarantee.sentence
    assert np.abs(release.published.counts - np.array([3_000_000, 5, 2_000_000])).max() < 100
    release.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid, dc.verify(tmp_path / "out").problems


def test_an_accurate_release_is_accurate() -> None:
    release = dc.release(example(), 30, max_count=15)
    assert np.abs(release.published.counts - example().counts).mean() < 0.1
