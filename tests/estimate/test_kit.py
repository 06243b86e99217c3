"""The analyst's kit: any rows, any number made of counts, for every way; each against the slow obvious version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import discreet as dc
from discreet.errors import BadInput
from discreet.estimate.compare import fieller
from discreet.estimate.independent import at_the_ends
from discreet.estimate.inequality import dissimilarity_of, gini_of
from discreet.estimate.told import around
from discreet.laws import Geometric

COUNTIES, SEXES = [f"c{k:02d}" for k in range(14)], ["f", "m"]
KEYS = [(county, sex, age) for county in COUNTIES for sex in SEXES for age in ("o", "y")]
TRUE = np.array([(5 * k) % 9 + 3 * (k % 4 == 0) for k in range(len(KEYS))])
WOMEN = np.array([key[1] == "f" for key in KEYS])
WAYS: dict[str, Any] = {
    "distribution": {},
    "top-coded": {"max_count": 8, "top_code": True, "favor": "distribution"},
    "matrix": {"mechanism": "explicit-fair", "max_count": 12},
    "bounded": {"mechanism": "bounded", "truth": "0.3", "support": 5},
    "kept": {"keep": ["margin:sex"]},
    "kept, projected": {"keep": ["margin:sex"], "nonnegative": True},
    "kept, conditioned": {"keep": ["margin:sex"], "nonnegative": "condition"},
    "measured": {"measure": ["cells", "margin:county", "total"]},
    "no measurements": {"measurements": False},
}


def table() -> dc.Table:
    names = {name: [key[k] for key in KEYS] for k, name in enumerate(("county", "sex", "age"))}
    return dc.table(pa.table({**names, "n": TRUE}), "n", ["county", "sex", "age"])


def released(way: str, seed: int = 1, epsilon: Any = 1) -> dc.Release:
    return dc.release(table(), epsilon, seed=seed, **WAYS[way])


@pytest.mark.parametrize("way", WAYS)
def test_every_way_answers_about_any_rows(way: str) -> None:
    view = dc.estimate(released(way))
    women, groups = view.where(sex="f"), view.by("county", "sex")
    assert len(groups) == 28 and len(view.rows()) == len(KEYS) and len(women.by("county")) == 14
    assert women.by("county")["c03"].estimate == pytest.approx(groups["c03", "f"].estimate)
    for one in (view.total(), women.total(), groups["c00", "m"], women.minus(view.where(sex="m")), women.over(view)):
        assert one.interval[0] - 1e-9 <= one.estimate <= one.interval[1] + 1e-9
    assert view.by("sex").table().column_names == ["sex", "estimate", "low", "high", "level", "exact"]
    if "kept" in way:
        assert women.total().exact and women.total().interval == (TRUE[WOMEN].sum(),) * 2
        assert women.over(view).exact and women.over(view).estimate == pytest.approx(TRUE[WOMEN].sum() / TRUE.sum())
        assert not view.by("county")["c00"].exact
    else:
        assert not women.total().exact
    assert bool(view.total().cut) == (way in ("top-coded", "matrix"))
    assert way != "top-coded" or "of counts cut at 8" in str(view.total())


REPEATS = 40
LEAST = int(binom.ppf(1e-5, REPEATS, 0.95))
ASKED = {
    "county": (lambda view: view.by("county")["c01"], TRUE[4:8].sum()),
    "difference": (lambda view: view.where(sex="f").minus(view.where(sex="m")), TRUE[WOMEN].sum() - TRUE[~WOMEN].sum()),
    "share": (lambda view: view.share("sex")["f"], TRUE[WOMEN].sum() / TRUE.sum()),
    "ratio": (lambda view: view.where(sex="f").over(view.where(sex="m")), TRUE[WOMEN].sum() / TRUE[~WOMEN].sum()),
}


@pytest.mark.parametrize("way", ["distribution", "kept, conditioned", "measured"])
def test_intervals_cover_and_half_of_them_would_not(way: str) -> None:
    hits, halves = dict.fromkeys(ASKED, 0), dict.fromkeys(ASKED, 0)
    for seed in range(REPEATS):
        view = dc.estimate(released(way, seed))
        for name, (ask, true) in ASKED.items():
            found = ask(view)
            low, high = found.interval
            hits[name] += low - 1e-9 <= true <= high + 1e-9
            halves[name] += abs(true - (low + high) / 2) <= (high - low) / 12
    assert min(hits.values()) >= LEAST, hits
    if "kept" not in way:
        assert max(halves.values()) < LEAST, halves


@settings(max_examples=30, deadline=None)
@given(
    odds=st.fractions(min_value="11/10", max_value=6, max_denominator=20),
    count=st.integers(0, 6),
    top=st.integers(6, 9),
)
def test_values_at_the_ends_are_right_on_average_and_so_is_their_variance(odds: Any, count: int, top: int) -> None:
    """Exactly, over all noise: the mean of the value is the count, and the mean of its variance is its variance."""
    law, reach = Geometric(odds), 600
    noise = np.arange(-reach, reach + 1)
    half = law.masses(reach)
    chance = np.concatenate([half[:0:-1], half])
    for end in (None, top):
        value, variance = at_the_ends(count + noise, law, 0, end)
        assert chance @ value == pytest.approx(count, abs=1e-6)
        assert chance @ variance == pytest.approx(chance @ (value - count) ** 2, abs=1e-5)
        assert chance @ variance < law.spread


def test_the_total_of_few_rows_is_as_near_as_the_noise_allows() -> None:
    """56 rows at epsilon 1: within 22 to either side, and 93 of 100 intervals cover."""
    rng = np.random.default_rng(3)
    true = rng.poisson(9, 56)
    frame = pa.table({"row": [f"r{k:02d}" for k in range(56)], "n": true})
    hits = 0
    for seed in range(100):
        found = dc.estimate(dc.release(dc.table(frame, "n", ["row"]), 1, seed=seed)).total()
        low, high = found.interval
        assert (high - low) / 2 <= 22
        hits += low <= true.sum() <= high
    assert hits >= binom.ppf(1e-4, 100, 0.95)


def test_what_was_cut_is_said_and_what_was_not_cut_is_counted() -> None:
    frame = pa.table({"row": [f"r{k:02d}" for k in range(60)], "n": [40] * 60})
    cut = dc.estimate(dc.release(dc.table(frame, "n", ["row"]), 2, max_count=10, top_code=True, seed=1)).total()
    whole = dc.estimate(dc.release(dc.table(frame, "n", ["row"]), 2, max_count=10, seed=1)).total()
    assert cut.cut.top == 10 and cut.as_json()["cut_at"] == 10 and cut.interval[1] <= 600
    assert not whole.cut and whole.interval[0] <= 2400 <= whole.interval[1]


def test_fieller_is_what_it_says() -> None:
    """Every r in the interval, and none outside of it, leaves A - r B within its own interval."""
    one, other, z = around(np.array([50.0]), np.array([4.0]), np.array([8.0])), None, 2.0
    other = around(np.array([80.0]), np.array([5.0]), np.array([10.0]))
    low, high = (float(end[0]) for end in fieller(one, other, np.array([6.0])))
    for r in np.linspace(0, 2, 401):
        inside = abs(50 - r * 80) <= z * np.sqrt(16 - 2 * r * 6 + r**2 * 25)
        assert inside == (low <= r <= high), r
    small = around(np.array([3.0]), np.array([5.0]), np.array([10.0]))
    assert fieller(one, small, np.zeros(1))[1][0] == np.inf


def test_gini_and_dissimilarity_by_their_definitions() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 30, (3, 12)).astype(float)
    for row, found in zip(counts, gini_of(counts)):
        pairs = np.abs(row[:, None] - row[None, :]).sum() / (2 * len(row) ** 2 * row.mean())
        assert found == pytest.approx(pairs)
    for row, found in zip(counts, dissimilarity_of(counts)):
        one, other = row[::2] / row[::2].sum(), row[1::2] / row[1::2].sum()
        assert found == pytest.approx(np.abs(one - other).sum() / 2)


def test_no_noise_gives_the_truth() -> None:
    view = dc.estimate(released("distribution", epsilon=40))
    county = TRUE.reshape(14, 4).sum(axis=1)
    assert view.gini("county").estimate == pytest.approx(float(gini_of(county[None, :].astype(float))[0]), abs=1e-3)
    women, men = (TRUE[chosen].reshape(14, 2).sum(axis=1) for chosen in (WOMEN, ~WOMEN))
    true = np.abs(women / women.sum() - men / men.sum()).sum() / 2
    assert view.dissimilarity("sex", "f", "m", "county").estimate == pytest.approx(true, abs=1e-3)
    ranks = view.rank("county")
    for k, found in enumerate(county):
        assert ranks.low[k] <= 1 + (county > found).sum() and ranks.high[k] >= 14 - (county < found).sum()
        assert ranks.high[k] - ranks.low[k] == (county == found).sum() - 1


def test_rates_follow_a_population() -> None:
    """With a public covariate rows are nearer to the truth than without."""
    rng = np.random.default_rng(5)
    people = rng.integers(200, 60_000, 300)
    true = rng.poisson(people * 0.0005)
    names = [f"r{k:03d}" for k in range(300)]
    made = dc.release(dc.table(pa.table({"row": names, "n": true}), "n", ["row"]), "0.3", seed=2)
    view, population = dc.estimate(made), pa.table({"row": names, "people": people})
    found, plain = view.rows(population), view.rows()
    assert np.abs(found.estimate - true).mean() < 0.8 * np.abs(plain.estimate - true).mean()
    assert np.mean((found.low <= true) & (true <= found.high)) >= 0.9
    rates = view.per(population)
    assert rates.rows().estimate == pytest.approx(found.estimate / people)
    assert rates.total().estimate == pytest.approx(view.total().estimate / people.sum())


def test_bad_questions_are_named(tmp_path: Path) -> None:
    view = dc.estimate(released("distribution"))
    other = dc.estimate(dc.release(dc.table(pa.table({"county": ["c00", "x"], "n": [1, 2]}), "n", ["county"]), 1))
    population = {"county": COUNTIES, "people": list(range(1, 15))}
    for ask, match in (
        (lambda: view.where(sx="f"), "Did you mean 'sex'"),
        (lambda: view.where(county="C01"), "Did you mean 'c01'"),
        (lambda: view.where(county="c01").where(county="c02"), "there are none"),
        (lambda: view.by("sex", "sex"), "named twice"),
        (lambda: view.minus(other, "county"), "has no rows for"),
        (lambda: view.per(pa.table({"county": COUNTIES[1:], "people": list(range(1, 14))})), "no row for c00"),
        (lambda: view.per(pa.table({**population, "people": [0, *range(1, 14)]})), "no number above 0 for c00"),
        (lambda: view.per(pa.table({**population, "more": [1] * 14})), "it has 2 columns"),
        (lambda: view.per(pa.table({"town": ["a"], "people": [1]})), "is a key column of the release"),
        (lambda: view.dissimilarity("sex", "f", "f", "county"), "both kinds are the same"),
        (lambda: view.region([1]), "not one number for each"),
    ):
        with pytest.raises(BadInput, match=match):
            ask()


def test_pictures(tmp_path: Path) -> None:
    found = dc.estimate(released("distribution")).by("county")
    square = [[[0, 0], [1, 0], [1, 1], [0, 0]]]
    areas = {"type": "FeatureCollection", "features": [
        {"properties": {"name": name}, "geometry": {"type": "Polygon", "coordinates": square}} for name in COUNTIES
    ]}  # fmt: skip
    (tmp_path / "areas.json").write_text(json.dumps(areas))
    dc.plot.save(found.plot(), tmp_path / "bars.svg")
    dc.plot.save(found.map(tmp_path / "areas.json", "name"), tmp_path / "map.svg")
    assert "c13" in (tmp_path / "bars.svg").read_text() or (tmp_path / "bars.svg").stat().st_size > 5000
    with pytest.raises(BadInput, match="Did you mean 'name'"):
        found.map(areas, "nme")
    with pytest.raises(BadInput, match="no area is called c13"):
        found.map({**areas, "features": areas["features"][:-1]}, "name")
