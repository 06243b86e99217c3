"""How far a table is followed: the spread of a gain in W1, laws over few counts, and what plain noise errs by."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.arrays import Floats, Integers
from discreet.distribution.evidence import follow, posterior, unchanged
from discreet.distribution.evidence.fit import fit
from discreet.distribution.evidence.integrate import laws_of
from discreet.distribution.evidence.seen import Seen
from discreet.distribution.evidence.thresholds import (
    PLAUSIBLE,
    _as_far_as_sure,
    _cut_spread,
    _surely_nearer,
    _thresholds,
)
from discreet.distribution.split import sparse
from discreet.laws import Gaussian, NoiseLaw
from discreet.privacy import loss_of
from discreet.public_map import seen_of
from discreet.table import Schema
from discreet.ways.keep_distribution.follow import Noisy as NoisyRows
from discreet.ways.keep_distribution.plan import plan
from discreet.ways.keep_distribution.spec import KeepDistribution
from tests.distribution.noisy import drawn, geometric

DRAWS = 400_000


@pytest.mark.parametrize(("low", "high"), [(-1.0, 2.0), (3.0, 9.0), (-40.0, -12.0), (0.0, 0.0), (-50.0, 60.0)])
def test_the_spread_of_a_normal_number_that_is_cut(low: float, high: float) -> None:
    drawn_values = np.clip(np.random.default_rng(1).normal(1.5, 3.0, DRAWS), low, high)
    found = _cut_spread(*(np.array([value]) for value in (1.5, 3.0, low, high)))  # type: ignore[arg-type]
    assert found[0] == pytest.approx(drawn_values.std(), rel=0.02, abs=1e-3)


def ends_of_a_range(seed: int, rows: int = 1200) -> Integers:
    """Most counts are at the ends of a range of 30."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.binomial(30, rng.beta(0.5, 0.5, rows)))


def top_coded(true: Integers, epsilon: float, top: int, seed: int) -> tuple[Integers, NoisyRows]:
    """Noisy values, and what is known of them."""
    noise = geometric(epsilon)
    noisy = true + drawn(noise, len(true), np.random.default_rng(seed))
    return noisy, NoisyRows(seen_of(noisy), noise, top)


def both_errors(noisy: Integers, true: Integers, upto: Integers) -> Floats:
    published = np.empty_like(true)
    published[np.argsort(noisy, kind="stable")] = np.searchsorted(upto, np.arange(len(true)), side="right")
    return np.array([np.abs(published - true).mean(), np.abs(np.sort(published) - np.sort(true)).mean()])


def test_a_gain_that_is_not_sure_is_followed_in_part() -> None:
    noise, true = geometric(0.1), np.random.default_rng(1).negative_binomial(1, 0.1, 50)
    rows = NoisyRows(seen_of(true + drawn(noise, 50, np.random.default_rng(1))), noise, None)
    post, plain = rows.fitted(), rows.plain
    whole = _thresholds(post, 1.0, plain, len(plain) - 1)
    part = _as_far_as_sure(post, plain, whole)
    assert not _surely_nearer(post, whole, plain) and _surely_nearer(post, part, plain)
    low, high = np.minimum(plain, whole), np.maximum(plain, whole)
    assert (part >= low).all() and (part <= high).all() and (part != plain).any()


def test_a_gain_that_is_sure_is_followed_all_the_way() -> None:
    _, rows = top_coded(np.random.default_rng(2).poisson(8, 3000), 0.25, 60, 2)
    post, plain = rows.fitted(), rows.plain
    whole = _thresholds(post, 1.0, plain, 60)
    assert np.array_equal(_as_far_as_sure(post, plain, whole), whole)


def test_plain_noise_that_is_near_by_luck_is_not_made_worse() -> None:
    """In a range as wide as the noise, with most rows at its ends, the full step has far more W1 than plain noise."""
    found = []
    for table, seed in product(range(4, 6), range(8)):
        true = ends_of_a_range(table)
        noisy, rows = top_coded(true, 0.1, 30, seed)
        post = rows.fitted()
        assert post.cramped
        tables = (rows.plain, follow(post, rows.plain, None).upto, follow(post, rows.plain, 1.0).upto)
        found.append([both_errors(noisy, true, upto) for upto in tables])
    plain, balanced, whole = np.mean(found, axis=0)
    assert (balanced <= 1.03 * plain).all() and whole[1] > 1.2 * plain[1]


def test_over_two_counts_the_law_is_averaged_as_a_sum_over_all_laws_does() -> None:
    blur = np.array([[0.55, 0.45], [0.45, 0.55]])
    seen = Seen(np.array([60.0, 40.0]), blur, np.ones(2))
    basis = np.array([[1.0, 0.5], [-1.0, 0.5]])
    one = fit(seen, np.arange(2), basis, np.zeros(2))
    laws, chance = laws_of(one)
    slope = np.linspace(-9, 9, 20_001)
    share = 1 / (1 + np.exp(-2 * slope))
    seen_first = share * 0.55 + (1 - share) * 0.45
    likely = np.exp(60 * np.log(seen_first) + 40 * np.log1p(-seen_first) - slope**2 / 2)
    mean, spread = laws[0] @ chance, math.sqrt(laws[0] ** 2 @ chance - (laws[0] @ chance) ** 2)
    exact = (likely @ share) / likely.sum()
    assert mean == pytest.approx(exact, abs=0.01)
    assert spread == pytest.approx(math.sqrt(likely @ share**2 / likely.sum() - exact**2), abs=0.01)
    assert abs(seen.expectation(one.log_density)[0][0] - exact) > 0.02  # the likeliest law is another one


@pytest.mark.parametrize("rows", [40, 200, 400])
@pytest.mark.parametrize("epsilon", [0.1, 0.25])
def test_a_coin_is_never_taken_for_certain(rows: int, epsilon: float) -> None:
    """Half of the rows 1, half 0: noisy counts that say next to nothing are published as they are."""
    true, left = np.arange(rows) % 2, []
    for seed in range(10):
        _, noisy = top_coded(true, epsilon, 1, seed)
        left.append(np.array_equal(follow(noisy.fitted(), noisy.plain, None).upto, noisy.plain))
    assert sum(left) >= 9


def test_noisy_counts_that_cannot_be_right_are_left_behind() -> None:
    _, noisy = top_coded(np.zeros(4000, dtype=int), 0.25, 1, 5)
    post = noisy.fitted()
    assert post.against > PLAUSIBLE
    assert follow(post, noisy.plain, None).upto[0] > 1.5 * noisy.plain[0]


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=60),
    st.integers(0, 10**6),
    st.sampled_from([None, 5, 50]),
    st.booleans(),
)
def test_what_plain_noise_errs_by_is_the_noise_less_what_was_cut(
    counts: list[int], seed: int, top: int | None, gaussian: bool
) -> None:
    """Row by row, whatever the counts: so with the mean of the noise it is right on average."""
    noise: NoiseLaw = Gaussian(Fraction(9)) if gaussian else geometric(0.4)
    true = np.array(counts) if top is None else np.minimum(counts, top)
    added = drawn(noise, len(true), np.random.default_rng(seed))
    cut = np.abs(true + added - np.clip(true + added, 0, top))
    assert (np.abs(np.clip(true + added, 0, top) - true) == np.abs(added) - cut).all()


def test_thirty_scattered_rows_are_promised_the_noise_itself() -> None:
    """The posterior of so few rows, each at a place of its own, takes each of them for known."""
    true, noise, found = np.random.default_rng(6).integers(0, 200, 30), geometric(1.0), []
    for seed in range(8):
        noisy = true + drawn(noise, 30, np.random.default_rng(seed))
        rows = NoisyRows(seen_of(noisy), noise, None)
        post = rows.fitted()
        errors = (rows.followed(post, None, None).count_error, unchanged(post, rows.plain).count_error)
        found.append([*errors, np.abs(np.maximum(noisy, 0) - true).mean()])
    promised, by_posterior, measured = np.mean(found, axis=0)
    assert promised == pytest.approx(measured, rel=0.1) and by_posterior < 0.9 * measured


@pytest.mark.parametrize("gaussian", [False, True])
def test_the_error_of_plain_noise_is_its_mean_less_what_was_cut(gaussian: bool) -> None:
    noise: NoiseLaw = Gaussian(Fraction(4)) if gaussian else geometric(1.0)
    masses = noise.masses(200)
    mean = 2 * float(np.arange(201) @ masses)
    one_in_four = np.array([-1, 4, 9, 11, 14, 5, 7, 8] * 400)
    assert NoisyRows(seen_of(one_in_four), noise, 12).plain_error(7.0) == pytest.approx(mean - 3 / 8)
    assert NoisyRows(seen_of(one_in_four[:8]), noise, 12).plain_error(7.0) == 7.0  # eight rows tell too little


@pytest.mark.parametrize("options", [{}, {"favor": "counts"}, {"lam": 3}, {"signed": True}])
@pytest.mark.parametrize("top", [None, 1, 20])
def test_nothing_is_measured_beforehand_unless_the_distribution_is_the_aim(
    options: dict[str, Any], top: int | None
) -> None:
    schema = Schema((), "n", 10**6, None)
    for epsilon in ("0.1", 1):
        default = KeepDistribution(max_count=top, **options)
        favoured = KeepDistribution(max_count=top, favor="distribution")
        assert plan(schema, loss_of(epsilon), default).distribution is None
        assert plan(schema, loss_of(epsilon), favoured).distribution is not None


@pytest.mark.parametrize(
    ("ends", "rows", "top", "share"), [(0.5, 500, 20, "0.15"), (0.3, 3000, 20, "0.15"), (1e-3, 1000, 5, "0.35")]
)
def test_rows_at_both_ends_of_a_narrow_range_err_no_more_than_by_plain_noise(
    ends: float, rows: int, top: int, share: str
) -> None:
    """There a first measurement would take so much from them that an error is larger."""
    rng = np.random.default_rng(3)
    true = np.asarray(rng.binomial(top, rng.beta(ends, ends, rows)))
    table = dc.table(pa.table({"k": [f"{i:04d}" for i in range(rows)], "n": true}), "n", keys=["k"])

    def errors(**options: Any) -> Floats:
        found = []
        for seed in range(16):
            counts = dc.release(table, "0.1", seed=seed, max_count=top, **options).counts
            found.append([np.abs(counts - true).mean(), np.abs(np.sort(counts) - np.sort(true)).mean()])
        return np.array(found)

    def worse(ours: Floats) -> bool:
        more = ours - 1.01 * plain
        return bool((more.mean(axis=0) > 2 * more.std(axis=0, ddof=1) / np.sqrt(len(more))).any())

    plain = errors(mechanism="geometric")
    assert not worse(errors(top_code=True))
    assert worse(errors(top_code=True, split=share))


def test_rows_fewer_than_counts_are_not_measured_beforehand() -> None:
    assert sparse(300, 1000) and not sparse(300, 300) and sparse(300, None) and not sparse(400, None)


def test_a_posterior_over_few_counts_is_wide_where_little_is_known() -> None:
    """Half of 100 rows above, half below, noise ten times the range: any number of them may be 1."""
    noise = geometric(0.1)
    values = np.repeat([-8, 9], 50)
    post = posterior(np.bincount(values + 8), -8, noise, 1, cut=True)
    assert 25 < post.spread[0] < 50 and abs(post.mean[0] - 50) < 5
