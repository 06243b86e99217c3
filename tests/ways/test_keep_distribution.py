"""The way that keeps the distribution of counts."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.laws import Gaussian, Geometric, NoiseLaw
from discreet.privacy import Approximate, Concentrated, Pure
from discreet.privacy.convert import zcdp_epsilon
from discreet.public_map import rank_rows
from discreet.record.codec import encode
from discreet.sample.bits import seeded
from discreet.table import Schema
from discreet.testing import epsilons
from discreet.ways.keep_distribution.draw import draw
from discreet.ways.keep_distribution.plan import DistributionPlan, plan
from discreet.ways.keep_distribution.spec import KeepDistribution
from tests.releases import KINDS, ROWS, example, make

TWO_STAGE = [kind for kind in KINDS if kind.startswith(("transport", "rank", "seeded")) and kind != "seeded geometric"]


def parts_of(made: DistributionPlan) -> dict[str, tuple[Any, NoiseLaw]]:
    """Every share of the budget, with the law of the noise that was drawn for it."""
    measured = draw(made, np.zeros(made.rows, dtype=np.int64), seeded(1))
    found = {
        "max_count": (made.max_count, None if measured.bought is None else measured.bought.noise),
        "distribution": (made.distribution, measured.noise),
        "counts": (made.counts, made.noise),
    }
    assert all((share is None) == (noise is None) for share, noise in found.values())
    return {what: (share, noise) for what, (share, noise) in found.items() if noise is not None}


@given(
    epsilons(), st.integers(1, 4), st.sampled_from([5, "auto"]), st.sampled_from([None, Fraction(1, 3), Fraction(0)])
)
def test_the_parts_of_a_pure_budget_make_the_whole_and_their_noise_is_enough(
    epsilon: Any, people: int, top: Any, split: Fraction | None
) -> None:
    schema = Schema(("place",), "people", 100_000 * people, None, contributions=people)
    made = plan(schema, Pure(epsilon), KeepDistribution(max_count=top, split=split))
    parts = parts_of(made)
    assert sum((share.epsilon.rational() for share, _ in parts.values()), Fraction(0)) == epsilon.rational()
    for share, noise in parts.values():
        assert isinstance(noise, Geometric) and isinstance(share, Pure)
        # one person moves each of the measured numbers by `people` in all
        assert share.epsilon.allows(noise.odds**people)
    assert list(parts) == (["max_count"] if top == "auto" else []) + (
        ["distribution"] if split != 0 and made.distribution else []
    ) + ["counts"]


@given(st.fractions(Fraction(1, 20), 4, max_denominator=20), st.integers(1, 3), st.sampled_from([5, "auto"]))
def test_the_parts_of_a_concentrated_budget(rho: Fraction, people: int, top: Any) -> None:
    schema = Schema(("place",), "people", 100_000 * people, None, contributions=people)
    spent = Fraction(0)
    for share, noise in parts_of(plan(schema, Concentrated(rho), KeepDistribution(max_count=top))).values():
        if isinstance(noise, Gaussian):
            assert share.rho == Fraction(people**2) / (2 * noise.variance)
            spent += share.rho
        else:
            assert share.epsilon is not None
            spent += share.epsilon.rational() ** 2 / 2
    assert rho * Fraction(999, 1000) <= spent <= rho


def test_epsilon_and_delta_are_met_by_gaussian_noise() -> None:
    made = plan(example().schema, Approximate(1, "1e-6"), KeepDistribution(base="gaussian", max_count=5))
    parts = parts_of(made)
    assert zcdp_epsilon(sum((share.rho for share, _ in parts.values()), Fraction(0)), Fraction(1, 10**6)) <= 1


@pytest.mark.parametrize("kind", TWO_STAGE)
def test_the_table_follows_the_published_distribution(kind: str) -> None:
    release = make(kind)
    published = release.distribution
    assert published is not None
    shares = published.distribution
    seen = np.bincount(release.counts, minlength=len(shares)) / ROWS
    if published.histogram is not None:
        assert (seen * ROWS).round().astype(int).tolist() == published.histogram.tolist()
    # mapped one by one, words are spread evenly: the sampling error is about a row for each break of the map
    assert np.abs(np.cumsum(seen - shares)).max() < 12 / ROWS


def test_rank_is_transport_made_consistent() -> None:
    assert make("rank").mechanism.name == "rank"
    consistent = dc.release(example(), 1, max_count=8, consistent=True)
    assert consistent.mechanism.name == "rank"
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
    public_map = release.mechanism.form.map
    assert (np.diff(public_map.outputs) > 0).all() and (np.diff(public_map.keys.astype(float)) >= 0).all()
    measured, published = np.asarray(release.measurements["people"]), release.counts
    for low, high in ((0, 1), (2, 5), (-3, 8)):
        if (measured <= low).any() and (measured >= high).any():
            assert published[measured <= low].max() <= published[measured >= high].max()


def test_what_was_learned_is_published_and_nothing_else(tmp_path: Path) -> None:
    """Both measurements are noisy: no exact prefix of the histogram and no exact count reaches the folder."""
    release = dc.release(example(), "0.2", max_count=8)
    exact = np.cumsum(np.bincount(np.minimum(example().counts, 8), minlength=9))[:-1]
    noisy = release.distribution.measurements
    assert len(noisy) == 8 and (noisy != exact).any()
    assert isinstance(release.distribution.noise, Geometric)
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
    assert one.counts.tolist() == other.counts.tolist()
    assert encode(one.record.facts) == encode(other.record.facts)


def test_counts_of_any_size_without_a_largest_one(tmp_path: Path) -> None:
    frame = pa.table({"place": ["a", "b", "c"], "n": [3_000_000, 5, 2_000_000]})
    release = dc.release(dc.table(frame, "n"), 1)
    assert release.max_count is None and release.distribution is None
    assert "too large for their distribution" in release.guarantee.sentence
    assert np.abs(release.counts - np.array([3_000_000, 5, 2_000_000])).max() < 100
    release.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid, dc.verify(tmp_path / "out").problems


def test_an_accurate_release_is_accurate() -> None:
    release = dc.release(example(), 30, max_count=15)
    assert np.abs(release.counts - example().counts).mean() < 0.1
