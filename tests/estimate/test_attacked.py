"""What once broke the analyst's side: shapes that hide what noise adds, covariates that tell nothing, wrong types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import binom

import discreet as dc
from discreet.errors import BadInput
from discreet.estimate import covariate
from discreet.estimate.answers import Cut
from discreet.estimate.inequality import NoisySums, _inverted, dissimilarity_of, gini_of, merged, mixed
from discreet.estimate.intervals import draw_sums
from discreet.laws import Geometric

VIEW: Any = SimpleNamespace(level=0.95, cut=Cut(), told=SimpleNamespace(conservative=False))
REPEATS = 30
LEAST = int(binom.ppf(1e-4, REPEATS, 0.95))
ROWS = np.full(20, 12)  # of every group
LAW = Geometric(Fraction(3, 2))


def hits(true: Any, measure: Any, shapes: Callable[[NoisySums], Any]) -> int:
    """How often the interval of tables with these shapes covers, of noise drawn again and again."""
    rows = np.full(len(true), ROWS[0])
    errors, again = (draw_sums(LAW, rows, number, np.random.default_rng(number)) for number in (REPEATS, 200))
    covered = 0
    for error in errors:
        seen = NoisySums(true + error, again)
        even = np.full(len(true), seen.values.mean())
        if measure is dissimilarity_of:
            pairs = np.maximum(seen.values.reshape(-1, 2), 0)
            even = (pairs.sum(axis=1)[:, None] * pairs.sum(axis=0)[None, :] / pairs.sum()).ravel()
        low, high = _inverted(VIEW, seen, even, shapes(seen), measure).interval
        covered += low <= measure(true[None, :])[0] <= high
    return covered


def test_gini_covers_where_all_groups_but_one_are_alike() -> None:
    true = np.append(np.full(19, 100.0), 1000.0)
    assert hits(true, gini_of, lambda seen: (seen.values, merged(seen))) >= LEAST
    assert hits(true, gini_of, lambda seen: (seen.values,)) < LEAST


def test_dissimilarity_covers_where_one_area_is_apart() -> None:
    true = np.append(np.tile([100.0, 100.0], 19), [300.0, 40.0])
    assert hits(true, dissimilarity_of, lambda seen: (seen.values, mixed(seen))) >= LEAST


def test_no_differences_are_none_and_not_those_of_rounding() -> None:
    noise = draw_sums(LAW, ROWS, 200, np.random.default_rng(1))
    seen = NoisySums(np.full(20, 100.1) + 0.001 * np.arange(20), noise)
    for measure in (gini_of, dissimilarity_of):
        found = _inverted(VIEW, seen, np.full(20, 100.1 / 3 * 3.3), (seen.values,), measure)
        assert found.interval[0] == 0 and found.estimate == 0


def test_groups_are_put_together_as_far_as_noise_goes() -> None:
    noise = draw_sums(LAW, ROWS, 200, np.random.default_rng(1))
    true = np.repeat([100.0, 1000.0], 10)
    found = merged(NoisySums(true + noise[0], noise))
    assert len(np.unique(found)) == 2 and found.sum() == pytest.approx((true + noise[0]).sum())
    assert np.array_equal(np.argsort(found, kind="stable")[:10].sum(), np.arange(10).sum())
    apart = np.arange(20) * 10_000.0
    assert merged(NoisySums(apart, noise)) == pytest.approx(apart)


AREAS, AGES = [f"a{k:02d}" for k in range(20)], list("abcdef")


def covered_with(true: Any, people: Any, epsilon: str, seeds: int = 3) -> tuple[float, float, float, float]:
    """Shares of rows and of groups that are covered, and mean errors of rows with a covariate and without."""
    names = {"area": np.repeat(AREAS, 6), "age": AGES * 20}
    table = dc.table(pa.table({**names, "n": true}), "n", ["area", "age"])
    area, found = true.reshape(20, 6).sum(axis=1), []
    for seed in range(seeds):
        view = dc.estimate(dc.release(table, epsilon, seed=seed))
        rates = view.per(pa.table({"area": AREAS, "people": people}))
        rows, groups = rates.counts(), rates.counts("area")
        inside = [np.mean((some.low <= of) & (of <= some.high)) for some, of in ((rows, true), (groups, area))]
        found.append((*inside, *(np.abs(one.estimate - true).mean() for one in (rows, view.rows()))))
    rows_in, groups_in, with_it, without = np.mean(found, axis=0).tolist()
    return rows_in, groups_in, with_it, without


SHOULD, WRONGLY = 0.93, 0.85  # are covered; and if counts had to follow people
ALIKE = 8.0  # the mean of every row
WIDE = Geometric(Fraction(110517, 100000))  # epsilon 0.1
TOLD = np.sqrt(
    2 / np.pi * (ALIKE + WIDE.spread / 120)
)  # mean error of rows if the mean of all is told and nothing more


def test_a_covariate_that_tells_nothing_does_little_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """If counts had to be in proportion to it, errors would be those of its shares; and fewer intervals would cover, if
    they did not hold those without it where it does not explain more."""
    rng = np.random.default_rng(8)
    people = rng.lognormal(7, 1, 20).round()
    true = rng.poisson(ALIKE, 120)
    proportional = np.abs(np.repeat(ALIKE * people / people.mean(), 6) - true).mean()
    limit = np.sqrt(TOLD * proportional)
    assert proportional > 1.5 * TOLD
    rows, _, error, _ = covered_with(true, people, "0.1")
    assert rows >= SHOULD and error < limit
    means = covariate.RateLaw.means
    monkeypatch.setattr(covariate.RateLaw, "means", lambda law, people: means(replace(law, power=1.0), people))
    rows, _, error, _ = covered_with(true, people, "0.1")
    assert rows >= SHOULD and error > limit
    monkeypatch.setattr(covariate, "_tells_nothing", lambda *_: False)
    assert covered_with(true, people, "0.1")[0] < WRONGLY


def test_groups_are_covered_though_their_covariate_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """350 groups in tables of 20; under the likeliest law of counts in proportion to people too few
    of them would be."""
    rng, terms = np.random.default_rng(12), np.full(20, 6)
    tables = [(rng.lognormal(7, 1, 20), rng.poisson(6 * ALIKE, 20)) for _ in range(18)]
    noises = draw_sums(WIDE, terms, len(tables), rng)

    def covered() -> float:
        found = []
        for (people, true), noise in zip(tables, noises):
            _, low, high = covariate.group_counts(true + noise, np.sqrt(terms * WIDE.spread), people, 0.95)
            found.append(np.mean((low <= true) & (true <= high)))
        return float(np.mean(found))

    assert covered() >= SHOULD
    monkeypatch.setattr(covariate, "POWERS", (1.0,))
    monkeypatch.setattr(covariate, "PLAUSIBLE", 1 - 1e-9)
    assert covered() < WRONGLY


def test_groups_with_hardly_anybody_are_covered_where_the_mean_of_all_is_hardly_known() -> None:
    """In 4 tables of 20; with means within a factor of two of the likeliest one alone, 79% were."""
    rng, terms = np.random.default_rng(14), np.full(20, 6)
    people, found = rng.integers(500, 9000, 20).astype(float), []
    for noise in draw_sums(WIDE, terms, 4, rng):
        true = rng.poisson(people / 3000)
        _, low, high = covariate.group_counts(true + noise, np.sqrt(terms * WIDE.spread), people, 0.95)
        found.append(np.mean((low <= true) & (true <= high)))
    assert np.mean(found) >= SHOULD


def test_rows_of_no_gamma_law_are_covered_with_a_covariate_as_without() -> None:
    """Counts of anything from 0 to 39: 86% were."""
    rng = np.random.default_rng(3)
    rows, groups, _, _ = covered_with(rng.integers(0, 40, 120), rng.integers(500, 9000, 20), "0.1", seeds=4)
    assert rows >= SHOULD and groups >= SHOULD


def test_groups_that_follow_a_covariate_are_covered_and_nearer_to_the_truth() -> None:
    rng = np.random.default_rng(9)
    people = rng.lognormal(7, 1, 20).round()
    each = np.repeat(rng.gamma(4, 0.01 / 4, 20) * people / 6, 6)
    rows, groups, error, without = covered_with(rng.poisson(each), people, "0.3")
    assert rows >= SHOULD and groups >= SHOULD and error < without


def test_few_groups_and_kept_ones_are_told_without_a_law_of_rates() -> None:
    table = dc.table(pa.table({"area": AREAS, "n": [5] * 20}), "n", ["area"])
    view = dc.estimate(dc.release(table, 1, keep=["total"], seed=1))
    people = pa.table({"area": AREAS, "people": [100] * 20})
    assert len(view.per(people).counts("area")) == 20
    with pytest.raises(BadInput, match="Ask for groups"):
        view.per(people).counts()
    some = view.where(area=AREAS[:3])
    assert some.per(people).counts("area") == some.by("area")


def test_few_rows_tell_no_law_of_rates() -> None:
    """Of 3 rows at epsilon 0.2 three of four intervals covered, of 15 nine of ten."""
    frame = pa.table({"k": [f"r{k:02d}" for k in range(30)], "n": np.arange(30)})
    people = pa.table({"k": frame["k"], "people": np.arange(100, 130)})
    few = dc.estimate(dc.release(dc.table(frame.slice(0, 15), "n", ["k"]), "0.2", seed=1))
    assert few.rows(people) == few.rows()
    assert few.per(people).rows().high.tolist() == (few.rows().high / np.arange(100, 115)).tolist()
    some = dc.estimate(dc.release(dc.table(frame, "n", ["k"]), "0.2", seed=1))
    assert some.rows(people) != some.rows()
    assert some.where(k=["r01", "r02"]).rows(people) == some.where(k=["r01", "r02"]).rows()


def test_noise_that_drowns_every_count_leaves_no_law_of_rates() -> None:
    """All counts that it reaches were looked at for a hundred rows: 25 GB at epsilon one in a million."""
    frame = pa.table({"k": [f"r{k:02d}" for k in range(30)], "n": np.arange(30)})
    people = pa.table({"k": frame["k"], "people": np.arange(100, 130)})
    drowned = dc.estimate(dc.release(dc.table(frame, "n", ["k"]), "1e-6", max_count=30, seed=1))
    assert drowned.rows(people) == drowned.rows()
    assert drowned.per(people).rows().high.tolist() == (drowned.rows().high / np.arange(100, 130)).tolist()


@pytest.mark.parametrize("odd", [1e300, 1e-300, 1e18, float(2**62)])
@pytest.mark.filterwarnings("error")
def test_one_odd_covariate_does_no_harm(odd: float) -> None:
    """The search began where all other rows have none: it ended there, and counts of 20 came out as 0."""
    names, true = [f"r{k:02d}" for k in range(30)], np.full(30, 20)
    view = dc.estimate(dc.release(dc.table(pa.table({"k": names, "n": true}), "n", ["k"]), 1, seed=2))
    found = view.rows(pa.table({"k": names, "people": [odd, *[5.0] * 29]}))
    assert (np.abs(found.estimate - 20) < 8).all() and np.mean((found.low <= 20) & (found.high >= 20)) >= 0.9


def test_large_whole_covariates_and_raised_counts() -> None:
    """Whole numbers beyond 2^53 were a raw error; rows whose counts were raised to 2 came out as less."""
    names, true = [f"r{k:02d}" for k in range(40)], np.random.default_rng(1).poisson(2, 40)
    table = dc.table(pa.table({"k": names, "n": true}), "n", ["k"])
    view = dc.estimate(dc.release(table, 3, mechanism="bounded", truth="0.3", support=6, min_count=2, seed=1))
    found = view.rows(pa.table({"k": names, "people": [2**62] * 40}))
    raised = np.maximum(true, 2)
    assert found.low.min() == 2 and found.estimate.min() >= 2
    assert np.mean((found.low <= raised) & (raised <= found.high)) >= 0.9


def test_wrong_types_are_named() -> None:
    frame = pd.DataFrame({"area": np.repeat(AREAS[:6], 2), "sex": ["f", "m"] * 6, "n": range(12)})
    made = dc.release(dc.table(frame, "n", keys=["area", "sex"]), 1, seed=1)
    view = dc.estimate(made)
    days = pd.DataFrame({"area": AREAS[:6], "people": pd.to_datetime(["2020-01-01"] * 6)})
    questions: tuple[tuple[Any, str], ...] = (
        (lambda: view.where("sex=f"), r"Write where\(area="),
        (lambda: view.where(sex=[]), "no value of 'sex' is named"),
        (lambda: view.by(["area", "sex"]), "Name columns one by one: 'area', 'sex'"),
        (lambda: view.minus(made), "a Release is no view of a release"),
        (lambda: view.over("x"), "a str is no view of a release"),
        (lambda: view.posterior("x"), "must be a whole number"),
        (lambda: view.posterior(10**20), "must be at most"),
        (lambda: view.region([1e200] * 12), "a weight is larger than 1e"),
        (lambda: view.per(days), "people is no number above 0 for a00"),
        (lambda: view.dissimilarity("sex", "f", "m"), "Name one of area"),
    )
    for ask, match in questions:
        with pytest.raises(BadInput, match=match):
            ask()
    wanted = view.where(sex=["f", "m"]).total()
    for several in (np.array(["f", "m"]), pd.Series(["f", "m"]), (sex for sex in "fm"), {"f": 1, "m": 2}.keys()):
        assert view.where(sex=several).total() == wanted


def test_no_key_is_lost_to_a_number_of_the_same_name() -> None:
    frame = pa.table({"estimate": ["a", "b"], "exact": ["x", "y"], "n": [3, 4]})
    view = dc.estimate(dc.release(dc.table(frame, "n", keys=["estimate", "exact"]), 1, seed=1))
    for found in (view.rows(), view.by("estimate", "exact")):
        told = found.as_json()
        assert [(one["estimate"], one["exact"]) for one in told] == [("a", "x"), ("b", "y")]
        assert [one["estimate_"] for one in told] == found.estimate.tolist() and told[0]["exact_"] is False
        assert told[0]["interval"] == [found.low[0], found.high[0]] and told[0]["level"] == 0.95
        assert set(found.table().column_names) >= {"estimate", "exact", "estimate_", "exact_", "low", "high"}
