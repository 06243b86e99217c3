"""The analyst's kit: any rows, any number made of counts, for every way; each against the slow obvious version."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv
from scipy.stats import binom

import discreet as dc
from discreet.errors import BadInput
from discreet.estimate.compare import fieller
from discreet.estimate.evidence import Evidence
from discreet.estimate.independent import at_the_ends
from discreet.estimate.inequality import dissimilarity_of, gini_of
from discreet.estimate.intervals import masses_of_sum, sum_half_width
from discreet.estimate.shares import of_rows
from discreet.estimate.told import around, together
from discreet.io.frames import frame_of
from discreet.laws import Geometric
from discreet.mechanism import Mechanism, NoiseThenMap
from tests.shell import shell

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
    said = [name for name in ("cut_at", "conservative") if name in view.total().as_json()]
    assert view.by("sex").table().column_names == ["sex", "estimate", "low", "high", "level", "exact", *said]
    assert ("cut_at" in said) == (way in ("top-coded", "matrix")) == ("cut_at" in view.total().table().column_names)
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


def of_noise(true: Any, law: Geometric, rng: np.random.Generator) -> Any:
    """The view of rows with geometric noise, drawn here and not by the library."""
    noise = rng.geometric(1 - law.decay, len(true)) - rng.geometric(1 - law.decay, len(true))
    keys = pa.table({"row": [f"r{k:02d}" for k in range(len(true))]})
    return of_rows(Evidence(true + noise, law, None, None, None, None, None, keys), 0.95)


@pytest.mark.parametrize(("true", "epsilon"), [((6, 12), 0.2), ((0, 400), 1.0), ((5, 10, 15), 0.2), ((0, 0, 20), 0.05)])
def test_gini_of_few_groups_covers_however_wide_the_noise(true: tuple[int, ...], epsilon: float) -> None:
    """Of two groups at epsilon 0.2 half of the intervals did not, and most at 0.05; none ends above what can be."""
    law, rng = Geometric(Fraction(np.exp(epsilon)).limit_denominator(10**4)), np.random.default_rng(5)
    counts = np.array(true)
    wanted = float(gini_of(counts[None, :].astype(float))[0])
    ends = []
    while len(ends) < 40:
        view = of_noise(counts, law, rng)
        if view.told.plain.sum() > 0:  # else it is refused
            ends.append(view.gini("row").interval)
    low, high = np.array(ends).T
    assert high.max() <= 1 - 1 / len(true) and np.mean((low <= wanted + 1e-9) & (wanted <= high + 1e-9)) >= 0.93


MOSTLY_ZERO = dc.table(
    pa.table(
        {
            "area": [f"a{k // 4}" for k in range(24)],
            "sex": ["f", "f", "m", "m"] * 6,
            "age": ["o", "y"] * 12,
            "n": [0] * 20 + [30, 0, 5, 9],
        }
    ),
    "n",
    ["area", "sex", "age"],
)


@pytest.mark.parametrize(
    "options",
    [
        {"keep": "total", "nonnegative": "condition"},
        {"max_count": 30, "measurements": False, "favor": "counts"},
        {"max_count": 30, "measurements": False, "favor": "distribution"},
    ],
    ids=["conditioned", "mapped counts", "mapped distribution"],
)
def test_what_is_told_to_cover_at_least_does_so_where_most_rows_are_zero(options: dict[str, Any]) -> None:
    """Of areas 83% did where noise was conditioned, and of Gini's coefficients hardly any, there or where the noisy
    values are not published: the noise drawn again has another bias than that of the true table."""
    true = np.array([0.0] * 5 + [44.0])
    wanted = {
        "area": true,
        "gini": gini_of(true[None, :]),
        "apart": dissimilarity_of(np.array([[0.0] * 10 + [30, 14]])),
    }
    hits: dict[str, list[float]] = {name: [] for name in wanted}
    for seed in range(8):
        view = dc.estimate(dc.release(MOSTLY_ZERO, 1, seed=seed, **options))
        area, gini = view.by("area"), view.gini("area")
        assert area.conservative and gini.conservative and "at least" in str(gini)
        hits["area"] += [float(x) for x in (area.low - 1e-9 <= true) & (true <= area.high + 1e-9)]
        hits["gini"].append(gini.interval[0] - 1e-9 <= wanted["gini"][0] <= gini.interval[1] + 1e-9)
        low, high = view.dissimilarity("sex", "f", "m", "area").interval
        hits["apart"].append(low - 1e-9 <= wanted["apart"][0] <= high + 1e-9)
    assert all(np.mean(found) >= 0.95 for found in hits.values()), hits


def test_dissimilarity_has_no_upper_end_where_a_total_may_be_zero() -> None:
    """Of two areas at epsilon 0.05 half of the intervals ended before the truth."""
    law, rng, counts = Geometric(Fraction(10513, 10000)), np.random.default_rng(6), np.array([20, 40, 40, 20])
    keys, ends = pa.table({"area": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2}), []
    while len(ends) < 40:
        view = replace(of_noise(counts, law, rng), categories=keys)
        if (view.told.plain.reshape(2, 2).sum(axis=0) > 0).all():
            ends.append(view.dissimilarity("sex", "f", "m", "area").interval)
    assert np.mean([low <= 1 / 3 <= high for low, high in ends]) >= 0.93


def test_the_total_of_few_rows_is_as_near_as_the_noise_allows() -> None:
    """56 rows at epsilon 1: within 22 to either side, and more than 93 of 100 intervals cover. Releases are as wide."""
    true, law, rng = np.random.default_rng(3).poisson(9, 56), Geometric(Fraction(np.e)), np.random.default_rng(4)
    ends = np.array([of_noise(true, law, rng).total().interval for _ in range(2000)])
    assert ((ends[:, 1] - ends[:, 0]) / 2).max() <= 22
    hits = np.mean((ends[:, 0] <= true.sum()) & (true.sum() <= ends[:, 1]))
    assert 0.93 + 2 * 0.005 <= hits <= 0.97  # of 2,000 the share is known to half a hundredth
    frame = pa.table({"row": [f"r{k:02d}" for k in range(56)], "n": true})
    for seed in range(5):
        low, high = dc.estimate(dc.release(dc.table(frame, "n", ["row"]), 1, seed=seed)).total().interval
        assert (high - low) / 2 <= 22


def test_what_was_cut_is_said_and_what_was_not_cut_is_counted() -> None:
    frame = pa.table({"row": [f"r{k:02d}" for k in range(60)], "n": [40] * 60})
    cut = dc.estimate(dc.release(dc.table(frame, "n", ["row"]), 2, max_count=10, top_code=True, seed=1)).total()
    whole = dc.estimate(dc.release(dc.table(frame, "n", ["row"]), 2, max_count=10, seed=1)).total()
    assert cut.cut.top == 10 and cut.as_json()["cut_at"] == 10 and cut.interval[1] <= 600
    assert not whole.cut and whole.interval[0] <= 2400 <= whole.interval[1]


def test_releases_that_were_cut_differently_are_compared_with_both_cuts_said() -> None:
    frame = dc.table(pa.table({"row": [f"r{k:02d}" for k in range(60)], "n": [40] * 60}), "n", ["row"])
    ten, five = (dc.estimate(dc.release(frame, 2, max_count=top, top_code=True, seed=1)) for top in (10, 5))
    whole = dc.estimate(dc.release(frame, 2, seed=1))
    for one, other, words, fields in [
        (ten, five, "of counts cut at 10, against counts cut at 5", {"cut_at": 10, "against_cut_at": 5}),
        (ten, whole, "of counts cut at 10, against counts as they are", {"cut_at": 10, "against_cut_at": None}),
        (whole, five, "of counts as they are, against counts cut at 5", {"against_cut_at": 5}),
        (ten, ten.where(row="r01"), "of counts cut at 10", {"cut_at": 10}),
        (whole, whole, "", {}),
    ]:
        for found in (one.minus(other), one.over(other)):
            assert str(found.cut) == words and words in str(found)
            assert {name: value for name, value in found.as_json().items() if "cut" in name} == fields
            assert {*fields} == {name for name in found.table().column_names if "cut" in name}
    assert ten.minus(five, "row").as_json()[0]["against_cut_at"] == 5


@pytest.mark.parametrize(("rate", "rows"), [(3.0, 2), (7.0, 60), (5.0, 300)])
def test_sums_of_little_noise_are_covered(rate: float, rows: int) -> None:
    """Errors of a few whole numbers: an interval as of normal noise ends before the first of them."""
    law, rng = Geometric(Fraction(np.exp(rate)).limit_denominator(10**4)), np.random.default_rng(6)
    true = TRUE[np.arange(rows) % len(TRUE)]
    low, high = of_noise(true, law, rng).total().interval
    draws = rng.geometric(1 - law.decay, (2, 4000, rows))
    errors = np.abs((draws[0] - draws[1]).sum(axis=1))
    assert np.mean(errors <= (high - low) / 2 + 1e-9) >= 0.945
    assert (high - low) / 2 <= np.quantile(errors, 0.95, method="higher") + 1


def test_sums_of_few_rows_through_a_matrix_are_covered() -> None:
    matrix, rng = Mechanism("", NoiseThenMap(Geometric(20), (0, 12))).matrix(), np.random.default_rng(8)
    true = rng.binomial(12, 0.4, 1000)
    seen = (matrix.cumsum(axis=1)[true] < rng.random(1000)[:, None]).sum(axis=1)
    keys = pa.table({"pair": [f"p{k // 2}" for k in range(1000)], "row": [f"r{k}" for k in range(1000)]})
    shares = np.bincount(true, minlength=13) / 1000
    found = of_rows(Evidence(seen, None, matrix, 12, None, None, shares, keys), 0.95).by("pair")
    pairs = true.reshape(-1, 2).sum(axis=1)
    assert np.mean((found.low - 1e-9 <= pairs) & (pairs <= found.high + 1e-9)) >= 0.93


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


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(0.3, 6), st.sampled_from([1, 2, 3, 8, 25])), min_size=2, max_size=2))
def test_a_difference_of_two_releases_is_as_wide_as_its_noise(both: list[tuple[float, int]]) -> None:
    """Exactly, by the law of both noises: also where they are a few whole numbers, or mostly nothing."""
    laws = [(Geometric(Fraction(np.exp(rate)).limit_denominator(1000)), terms) for rate, terms in both]
    reach = [np.array([sum_half_width(0.95, *one)]) for one in laws]
    halves = [masses_of_sum(*one)[:3000] for one in laws]
    one, other = (np.concatenate([half[:0:-1], half]) for half in halves)
    whole, middle = np.convolve(one, other), len(halves[0]) + len(halves[1]) - 2
    found = int(together(*reach)[0])
    inside = whole[middle] + 2 * np.cumsum(whole[middle + 1 :])
    needed = 0 if whole[middle] >= 0.95 else int(np.searchsorted(inside, 0.95)) + 1
    assert needed <= found <= 1.2 * needed + 2


@pytest.mark.parametrize("rate", [0.5, 2.0, 3.0, 4.5])
def test_year_against_year_covers_and_is_not_wide(rate: float) -> None:
    """Noise of few whole numbers, of which most may be nothing: where intervals are easily too short, or twice as long
    as they have to be. The slow obvious version draws the noise here."""
    law, rng, true = Geometric(Fraction(np.exp(rate)).limit_denominator(1000)), np.random.default_rng(2), TRUE[:40]
    one, other = of_noise(true, law, rng), of_noise(true, law, rng)
    reach = {}
    for rows in (1, 3, 12):
        names = [f"r{k:02d}" for k in range(rows)]
        found = one.where(row=names).minus(other.where(row=names))
        reach[rows] = (found.interval[1] - found.interval[0]) / 2
    draws = rng.geometric(1 - law.decay, (4, 20000, 12)).astype(float)
    noise = np.abs((draws[0] - draws[1] - draws[2] + draws[3]).cumsum(axis=1))
    for rows, found in reach.items():
        needed = np.quantile(noise[:, rows - 1], 0.95, method="higher")
        assert np.mean(noise[:, rows - 1] <= found) >= 0.945 and found <= needed + 1, (rows, found, needed)


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


def test_denominators_of_no_row_are_not_used_and_said(tmp_path: Path) -> None:
    """A state, a total below the table: they change nothing."""
    made, names = released("distribution"), [*COUNTIES, "x", "all"]
    made.save(tmp_path / "out")
    frame = pa.table({"county": names, "people": [*range(1, 15), 7, 105]})
    rates, plain = dc.estimate(made).per(frame), dc.estimate(made).per(frame.slice(0, 14))
    assert rates.unused == "x; all" and plain.unused == ""
    assert rates.total() == plain.total() and rates.by("county") == plain.by("county")
    csv.write_csv(frame, tmp_path / "people.csv")
    done = shell("estimate", str(tmp_path / "out"), "--total", "--per", str(tmp_path / "people.csv"))
    assert done.returncode == 0 and "has numbers for x; all, which the release does not have" in done.stderr


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
    with pytest.raises(BadInput, match=r"GeoJSON: No such file or directory\.$"):
        found.map(tmp_path / "areas.geojson", "name")


def test_pictures_say_their_level_and_where_counts_were_cut() -> None:
    table = dc.table(frame_of({"k": [*"abc"], "n": np.array([2, 60, 9])}), "n", keys=["k"])
    found = dc.estimate(dc.release(table, 1, max_count=50, top_code=True, seed=1), level=0.995).by("k")
    assert found.plot().axes[0].get_xlabel() == "estimate, with its 99.5% interval, of counts cut at 50"
    square = [[[0, 0], [1, 0], [1, 1], [0, 0]]]
    areas = [{"properties": {"k": name}, "geometry": {"type": "Polygon", "coordinates": square}} for name in "abc"]
    drawn = found.map({"type": "FeatureCollection", "features": areas}, "k")
    assert drawn.axes[1].get_ylabel() == "estimate, of counts cut at 50"


def test_a_bar_without_an_upper_end_is_no_shorter_than_others() -> None:
    """It ended at the estimate, as if nothing above it were possible."""
    drawn = dc.plot.with_error_bars(["a", "b"], [2.0, 3.0], [1.0, 2.0], [np.inf, 7.0]).axes[0]
    (endless, ended) = (line[:, 0] for line in drawn.collections[0].get_segments())
    assert endless[0] == 1 and endless[1] > 7 and list(ended) == [2, 7]
    assert list(drawn.lines[-1].get_xdata()) == [endless[1]] and drawn.lines[-1].get_marker() == ">"


def test_a_ratio_to_what_may_be_nothing_is_not_told_as_its_lower_end() -> None:
    """37 over a noisy total below 0 was 0.39, the least that it can be."""
    table = dc.table(frame_of({"k": [*"ab"], "n": np.array([400, 0])}), "n", keys=["k"])
    for seed in range(6):
        view = dc.estimate(dc.release(table, "0.2", seed=seed))
        found, other = view.where(k="a").over(view.where(k="b")), view.where(k="b").total()
        assert found.interval[1] == np.inf
        assert found.estimate >= view.where(k="a").total().estimate / other.interval[1] > found.interval[0] - 1e-9
