from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from discreet.errors import BadInput
from discreet.estimate import estimate
from discreet.estimate.deconvolve import expectation_maximisation, posterior_mean
from discreet.estimate.evidence import Evidence
from discreet.estimate.intervals import half_width, sum_half_width
from discreet.estimate.posterior import posteriors, row_estimates
from discreet.estimate.prefix import _combined, _inverse_diagonal, prefix_of
from discreet.estimate.shares import of_rows
from discreet.io.tables import table
from discreet.laws import Gaussian, Geometric, Staircase
from discreet.mechanism import NoiseThenMap
from discreet.release import release
from discreet.released import Release
from tests.shell import Done, shell

ROWS, TOP = 400, 12
odds = st.fractions(min_value=Fraction(11, 10), max_value=8, max_denominator=20)


def truth() -> Any:
    rng = np.random.default_rng(5)
    return np.minimum(np.where(rng.random(ROWS) < 0.4, 0, rng.geometric(0.3, ROWS)), TOP)


def released(seed: int = 1, epsilon: Any = 1, **options: Any) -> Release:
    keys = {"row": np.arange(ROWS), "half": ["ab"[k % 2] for k in range(ROWS)]}
    people = table(pa.table({**keys, "people": truth()}), "people", keys=["row", "half"])
    if options.get("base") == "gaussian":
        epsilon, options = None, {**options, "rho": Fraction(epsilon) ** 2 / 2}
    made = {"max_count": TOP, "seed": seed, **options}
    if made.get("mechanism", "transport") in ("transport", "rank") and made["max_count"] is not None:
        made = {"favor": None if made.get("consistent") else "distribution", "top_code": True, **made}
    return release(people, epsilon, **made)


def told(made: Release) -> Evidence:
    shares = estimate(made).shares
    assert shares is not None
    return shares.evidence


def evidence(seen: Any, law: Any, size: int, prior: Any = None, **more: Any) -> Evidence:
    fields: dict[str, Any] = {"transition": None, "cumulative": None, "cumulative_law": None, **more}
    prior = np.full(size, 1 / size) if prior is None else np.asarray(prior)
    keys = pa.table({"row": np.arange(len(seen))})
    return Evidence(np.asarray(seen), law, top=size - 1, published=prior, categories=keys, **fields)


@pytest.mark.parametrize(
    "law", [Geometric(Fraction(3, 2)), Gaussian(Fraction(5, 2)), Staircase(Fraction(2), Fraction(1, 3))]
)
@settings(max_examples=25, deadline=None)
@given(weights=st.lists(st.integers(0, 9), min_size=2, max_size=8).filter(any), value=st.integers(-6, 14))
def test_posterior_is_bayes_rule(law: Any, weights: list[int], value: int) -> None:
    prior = np.array(weights) / sum(weights)
    masses = law.masses(40)
    by_hand = [share * masses[abs(value - count)] for count, share in enumerate(prior)]
    found = posteriors(evidence([value], law, len(prior), prior), np.array([value]))[0]
    np.testing.assert_allclose(found, np.array(by_hand) / sum(by_hand), atol=1e-12)


def test_rows_get_their_posterior() -> None:
    law, prior = Geometric(Fraction(2)), np.array([0.5, 0.0, 0.3, 0.2])
    seen = np.array([-3, 0, 0, 2, 9])
    found = row_estimates(evidence(seen, law, 4, prior), 0.8)
    for row, value in enumerate(seen):
        chances = posteriors(evidence(seen, law, 4, prior), np.array([value]))[0]
        running = np.cumsum(chances)
        assert found.mean[row] == pytest.approx(chances @ np.arange(4))
        assert found.median[row] == next(k for k in range(4) if running[k] >= 0.5)
        assert found.low[row] == next(k for k in range(4) if running[k] >= 0.1 - 1e-9)
        assert found.high[row] == next(k for k in range(4) if running[k] >= 0.9 - 1e-9)


def test_a_row_far_from_all_others_is_no_surer_than_its_noise() -> None:
    """The prior has one row near it, which is itself: that it was seen there makes it no likelier to be there."""
    law, size = Geometric(Fraction(3, 2)), 100
    reach = int(sum_half_width(0.95, law, 1))
    seen, prior = np.concatenate([np.arange(12).repeat(10), [60, 95]]), np.zeros(size)
    prior[:12], prior[[59, 60, 61]], prior[95] = 10 / 122, 1 / 366, 1 / 122
    found = row_estimates(evidence(seen, law, size, prior), 0.95)
    assert (found.low[-2], found.high[-2]) == (60 - reach, 60 + reach)
    assert (found.low[-1], found.high[-1]) == (95 - reach, size - 1)  # no count is larger
    for row in range(0, 120, 10):  # among others the prior counts
        running = np.cumsum(posteriors(evidence(seen, law, size, prior), seen[row : row + 1])[0])
        ends = [next(k for k in range(size) if running[k] >= share - 1e-9) for share in (0.025, 0.975)]
        assert [found.low[row], found.high[row]] == ends


@pytest.mark.parametrize("law", [Geometric(Fraction(5, 4)), Gaussian(Fraction(9))])
def test_credible_intervals_hold_on_average(law: Any) -> None:
    """Exactly: over counts drawn from the prior and all noise, the interval contains the count at least so often."""
    prior, reach = np.array([0.5, 0.1, 0.0, 0.25, 0.05, 0.1]), 120
    values = np.arange(-reach, reach + 1)
    found = row_estimates(evidence(values, law, len(prior), prior), 0.9)
    masses = law.masses(2 * reach)
    covered = sum(
        share * (masses[np.abs(values - count)] * ((found.low <= count) & (count <= found.high))).sum()
        for count, share in enumerate(prior)
    )
    assert 0.9 - 1e-6 <= covered < 0.999


def filter_matrix(law: Geometric, size: int) -> Any:
    """G[seen, t]: what one row adds to the estimate of F_t."""
    alone = [prefix_of(evidence([value], law, size)).estimate[:-1] for value in range(size)]
    return np.array(alone)


@settings(max_examples=25, deadline=None)
@given(odds=odds, size=st.integers(2, 9))
def test_prefix_counts_are_unbiased(odds: Fraction, size: int) -> None:
    law = Geometric(odds)
    expected = NoiseThenMap(law, (0, size - 1)).matrix() @ filter_matrix(law, size)
    below = np.arange(size)[:, None] <= np.arange(size - 1)[None, :]
    np.testing.assert_allclose(expected, below.astype(float), atol=1e-7)


@settings(max_examples=25, deadline=None)
@given(odds=odds, bins=st.lists(st.integers(0, 30), min_size=2, max_size=7).filter(any))
def test_the_variance_is_the_true_one(odds: Fraction, bins: list[int]) -> None:
    """Row by row: the covariance of what a row adds, summed over the true counts; a tenth is added on purpose."""
    law, size = Geometric(odds), len(bins)
    matrix, filters = NoiseThenMap(law, (0, size - 1)).matrix(), filter_matrix(law, size)
    means = matrix @ filters
    covariance = sum(
        count * (filters.T @ (matrix[d][:, None] * filters) - np.outer(means[d], means[d]))
        for d, count in enumerate(bins)
    )
    truth = np.repeat(np.arange(size), bins)
    found = prefix_of(evidence(truth, law, size, np.array(bins) / sum(bins)))
    np.testing.assert_allclose(found.rest[:-1], np.diag(covariance) + 0.1, rtol=1e-6, atol=1e-6)
    assert found.rest[-1] == pytest.approx(covariance.sum() + 0.1 * (size - 1), rel=1e-6, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 8))
def test_combination_is_generalised_least_squares(seed: int, size: int) -> None:
    rng, law = np.random.default_rng(seed), Geometric(Fraction(3, 2))
    beside = -rng.random(size - 1)
    variance = np.abs(np.r_[beside, 0]) + np.abs(np.r_[0, beside]) + rng.random(size) + 0.1
    covariance, noise = np.diag(variance) + np.diag(beside, 1) + np.diag(beside, -1), law.spread
    rows, measured = rng.normal(size=size), rng.normal(size=size)
    precision = np.linalg.inv(covariance) + np.eye(size) / noise
    best = np.linalg.solve(precision, np.linalg.solve(covariance, rows) + measured / noise)
    found = _combined(rows, variance, beside, measured, law)
    np.testing.assert_allclose(found.estimate, [*best, best.sum()], atol=1e-8)
    whole = np.linalg.inv(precision)
    total = np.append(np.diag(whole), whole.sum())
    np.testing.assert_allclose(found.weight**2 * noise + found.rest, total, rtol=1e-8)
    np.testing.assert_allclose(_inverse_diagonal(variance, beside), np.diag(np.linalg.inv(covariance)), rtol=1e-8)


@pytest.mark.parametrize("law", [Geometric(Fraction(11, 10)), Geometric(Fraction(20)), Gaussian(Fraction(7))])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_half_width_of_one_noise(law: Any, level: float) -> None:
    masses = law.masses(400)
    inside = masses[0] + 2 * np.r_[0, np.cumsum(masses[1:])]
    assert half_width(level, law, 1.0, 0.0) == pytest.approx(int(np.argmax(inside >= level)), abs=1e-4)
    assert sum_half_width(level, law, 1) == int(np.argmax(inside >= level))


@pytest.mark.parametrize("terms", [2, 5])
def test_half_width_of_a_sum(terms: int) -> None:
    law = Geometric(Fraction(5, 4))
    half = law.masses(200)
    one = np.r_[half[:0:-1], half]
    total = one
    for _ in range(terms - 1):
        total = np.convolve(total, one)
    middle = len(total) // 2
    inside = [total[middle - k : middle + k + 1].sum() for k in range(100)]
    assert sum_half_width(0.95, law, terms) == next(k for k in range(100) if inside[k] >= 0.95)


def test_half_width_with_a_normal_rest() -> None:
    rng = np.random.default_rng(3)
    law = Geometric(Fraction(6, 5))
    half = law.masses(200)
    noise = rng.choice(np.arange(-200, 201), p=np.r_[half[:0:-1], half] / (2 * half.sum() - half[0]), size=400_000)
    errors = np.abs(0.7 * noise + 5 * rng.normal(size=400_000))
    assert half_width(0.95, law, 0.7, 25.0) == pytest.approx(np.quantile(errors, 0.95), rel=0.01)
    assert half_width(0.95, None, 0.0, 25.0) == pytest.approx(1.959964 * 5)


def test_variance_of_the_laws() -> None:
    # two-sided geometric noise of ratio a has variance 2a/(1-a)^2
    assert Geometric(Fraction(2)).spread == pytest.approx(2 * 0.5 / 0.25)
    assert Gaussian(Fraction(50)).spread == pytest.approx(50, rel=1e-9)


def test_expectation_maximisation_climbs() -> None:
    rng = np.random.default_rng(1)
    matrix = NoiseThenMap(Geometric(Fraction(2)), (0, 6)).matrix()
    histogram = rng.integers(1, 50, 7).astype(float)
    values = [
        histogram @ np.log(expectation_maximisation(histogram, matrix, steps) @ matrix) for steps in (1, 5, 50, 500)
    ]
    assert values == sorted(values)
    exact = np.array([5, 1, 2, 0, 0, 3, 9]) / 20
    np.testing.assert_allclose(expectation_maximisation(exact @ matrix, matrix, 20_000), exact, atol=5e-3)


def test_distributions_come_near_the_truth() -> None:
    view = estimate(released(epsilon=4))
    true = np.bincount(truth(), minlength=TOP + 1) / ROWS
    for method in ("published", "likelihood", "bayes"):
        found = view.distribution(method)
        assert found.sum() == pytest.approx(1)
        assert (found >= 0).all()
        assert np.abs(np.cumsum(found) - np.cumsum(true)).max() < 0.05, method
    with pytest.raises(BadInput, match="Did you mean 'likelihood'"):
        view.distribution("likelyhood")


def test_bayes_without_a_measured_distribution() -> None:
    found = posterior_mean(told(released(epsilon=4, split=0)))
    true = np.bincount(truth(), minlength=TOP + 1) / ROWS
    assert np.abs(np.cumsum(found) - np.cumsum(true)).max() < 0.05


MANY = {
    "transport": {},
    "rank": {"consistent": True},
    "one stage": {"split": 0},
    "no max_count": {"max_count": None},
    "gaussian": {"base": "gaussian"},
    "geometric": {"mechanism": "geometric"},
    "signed": {"mechanism": "signed-geometric", "max_count": None},
    "explicit-fair": {"mechanism": "explicit-fair"},
}


@pytest.mark.parametrize("name", MANY)
def test_almost_no_noise_gives_the_truth(name: str) -> None:
    view, true = estimate(released(epsilon=60, **MANY[name])), truth()
    for answer, value in [
        (view.share_zero(), (true == 0).mean()),
        (view.share_above(2), (true > 2).mean()),
        (view.mean(), true.mean()),
        (view.total(), true.sum()),
        (view.quantile("0.9"), np.sort(true)[int(0.9 * ROWS) - 1]),
        (view.by("half")["a"], true[::2].sum()),
    ]:
        assert answer.estimate == pytest.approx(value, rel=1e-3, abs=2e-3)
        low, high = answer.interval
        assert low - 1e-9 <= value <= high + 1e-9
    rows = view.rows().table()
    assert rows.column("median").to_pylist() == true.tolist()
    assert rows.column_names[:8] == ["row", "half", "estimate", "low", "high", "level", "exact", "median"]
    assert rows.column_names[8:] == (["cut_at"] if view.cut else [])


def test_a_wide_range_of_gaussian_noise() -> None:
    """Over many counts only the measured distribution and the sum of the rows are used, and both are unbiased."""
    rng, law = np.random.default_rng(8), Gaussian(Fraction(4))
    true = rng.integers(0, 900, 300)
    prefix = np.cumsum(np.bincount(true, minlength=901))[:-1]
    seen = true + np.rint(2 * rng.normal(size=300)).astype(int)
    measured = prefix + np.rint(2 * rng.normal(size=900))
    view = of_rows(evidence(seen, law, 901, cumulative=measured, cumulative_law=law), 0.95)
    assert view.share_above(100).estimate == pytest.approx((300 - measured[100]) / 300)
    rows, again = 4 * 300, 4 * 900  # the variances of the sum of the rows, and of the total that the prefixes tell
    share = rows / (rows + again)
    by_prefix = 300 * 900 - measured.sum()
    assert view.total().estimate == pytest.approx(share * by_prefix + (1 - share) * seen.sum())
    reach = 1.959964 * np.sqrt(share * again)
    assert view.total().interval == (np.ceil(view.total().estimate - reach), np.floor(view.total().estimate + reach))


REPEATS = 60
LEAST = int(binom.ppf(1e-6, REPEATS, 0.95))


@cache
def many(name: str) -> list[Evidence]:
    return [told(released(seed, **MANY[name])) for seed in range(REPEATS)]


def coverage(name: str, spoil: Any = None) -> dict[str, int]:
    true, hits = truth(), dict.fromkeys(("share_zero", "share_above", "total", "by"), 0)
    for seen in many(name):
        view = of_rows(seen if spoil is None else spoil(seen), 0.95)
        for question, answer, value in (
            ("share_zero", view.share_zero(), (true == 0).mean()),
            ("share_above", view.share_above(3), (true > 3).mean()),
            ("total", view.total(), true.sum()),
            ("by", view.by("half")["b"], true[1::2].sum()),
        ):
            hits[question] += answer.interval[0] - 1e-9 <= value <= answer.interval[1] + 1e-9
    return hits


@pytest.mark.parametrize("name", ["transport", "one stage", "gaussian", "explicit-fair", "no max_count"])
def test_intervals_cover(name: str) -> None:
    hits = coverage(name)
    assert min(hits.values()) >= LEAST, hits


def test_intervals_for_too_little_noise_would_not_cover() -> None:
    def spoil(seen: Evidence) -> Evidence:
        assert isinstance(seen.law, Geometric) and isinstance(seen.cumulative_law, Geometric)
        return replace(seen, law=Geometric(seen.law.odds**3), cumulative_law=Geometric(seen.cumulative_law.odds**3))

    hits = coverage("transport", spoil)
    assert max(hits.values()) < LEAST, hits


def test_saved_and_unsaved_agree(tmp_path: Path) -> None:
    done = released()
    done.save(tmp_path / "out")
    for view in (estimate(tmp_path / "out"), estimate(done)):
        assert view.share_above(2) == estimate(done).share_above(2)
        assert view.by("half") == estimate(done).by("half")
        np.testing.assert_allclose(view.posterior(3), estimate(done).posterior(3))


def test_level_widens() -> None:
    narrow, wide = (estimate(released(), level).total().interval for level in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_wrong_questions(tmp_path: Path) -> None:
    view = estimate(released())
    with pytest.raises(BadInput, match=f"treats counts above {TOP} as {TOP}"):
        view.share_above(TOP)
    with pytest.raises(BadInput, match="at least 0"):
        view.share_above(-1)
    with pytest.raises(BadInput, match="between 0 and 1"):
        view.quantile(1.5)
    with pytest.raises(BadInput, match="Did you mean 'half'"):
        view.by("hlaf")
    with pytest.raises(BadInput, match="both excluded"):
        estimate(released(), level=1)
    with pytest.raises(BadInput, match="is not a release"):
        estimate([1, 2])
    with pytest.raises(BadInput, match="counts were made from are not published"):
        estimate(released(consistent=True, measurements=False)).share_zero()
    with pytest.raises(BadInput, match="to be read"):
        estimate(tmp_path)


def run(*words: str) -> Done:
    return shell("estimate", *words)


def test_from_the_shell(tmp_path: Path) -> None:
    released().save(tmp_path / "out")
    folder, view = str(tmp_path / "out"), estimate(tmp_path / "out", 0.9)
    words = ["--share-above", "2", "--share-zero", "--mean", "--quantile", "0.5", "--total", "--by", "half"]
    done = run(folder, *words, "--level", "0.9", "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert value["share_above"] == {"threshold": 2, **view.share_above(2).as_json()}
    assert value["total"] == view.total().as_json()
    assert value["quantile"]["q"] == 0.5
    assert [group["half"] for group in value["by"]] == ["a", "b"]
    assert not any(one["exact"] for one in value["by"])
    assert value["mean"]["level"] == 0.9
    assert "share above 2: " in run(folder, "--share-above", "2").stdout
    nothing = run(folder)
    assert nothing.returncode == 2
    assert "no question was asked" in nothing.stderr


@pytest.mark.parametrize(("written", "status"), [("1/2", 0), ("0.5", 0), ("half", 2), ("1.5", 2)])
def test_a_quantile_on_the_command_line(written: str, status: int, tmp_path: Path) -> None:
    released().save(tmp_path / "out")
    done = run(str(tmp_path / "out"), "--quantile", written, "--json")
    assert done.returncode == status and "Traceback" not in done.stderr
    if status == 0:
        assert json.loads(done.stdout)["quantile"]["q"] == 0.5
