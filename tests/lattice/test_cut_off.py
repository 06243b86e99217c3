"""Noise cut off below: the decomposition is exact, the law does not depend on the ratio drawn with, many cells work."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.lattice.cut_off import CutOffBlocks, Fall, cut_off_blocks
from discreet.lattice.plan import plan_lattice
from discreet.lattice.restricted import CutOffClass, Restricted, restricted_noise
from discreet.sample.bits import seeded

from .enumeration import check, l1, law

ODDS = st.fractions(min_value=Fraction(11, 10), max_value=8, max_denominator=20)
RATIOS = st.fractions(min_value=Fraction(1, 10), max_value=4, max_denominator=15)


def weights(odds: Fraction, ratio: Fraction, count: int) -> list[Fraction]:
    return [ratio**v for v in range(count)] + [ratio**count / (1 - odds**-2)]


@given(ODDS, st.integers(0, 8), st.integers(-8, 8))
def test_a_cut_off_law_is_a_rise_less_a_fall(odds: Fraction, count: int, z: int) -> None:
    """Summing a^u over u = z + v with the weights of v leaves a^|z| / (1 - a^2), and nothing below -count."""
    a = 1 / odds
    total = sum(a ** (z + v) * w for v, w in enumerate(weights(odds, a, count)) if z + v >= 0)
    assert total == (a ** abs(z) / (1 - a**2) if z >= -count else 0)


@settings(max_examples=50, deadline=None)
@given(ODDS, RATIOS, st.integers(0, 30))
def test_the_chance_of_the_end_is_enclosed(odds: Fraction, ratio: Fraction, count: int) -> None:
    parts = weights(odds, ratio, count)
    exact = parts[-1] / sum(parts)
    for bits in (64, 200):
        low, high = Fall(odds, ratio).at_end(count, bits)
        assert low <= exact * 2**bits <= high and high - low <= 4


def test_counts_beyond_reach_share_valid_bounds() -> None:
    for ratio in (Fraction(1, 2), Fraction(3)):
        fall = Fall(Fraction(2), ratio)
        low, high = fall.at_end(10**9, 64)
        for count in (fall.reach, fall.reach + 5):
            parts = weights(fall.odds, ratio, count)
            assert low <= 2**64 * parts[-1] / sum(parts) <= high


@pytest.mark.parametrize("ratio", [Fraction(3, 10), Fraction(9, 10), Fraction(1), Fraction(3, 2)])
def test_every_ratio_draws_the_same_law(ratio: Fraction) -> None:
    """The fixed total of four cells, weights 2^-|z|, against all small tables; ratios may be anything above 1/4."""
    counts, draws = np.array([0, 1, 2, 5]), 10_000
    blocks = CutOffBlocks(Fraction(2), counts, np.array([4]), np.array([ratio], dtype=object))
    noise = blocks.times(draws).draw(seeded(1)).reshape(draws, -1)
    total = np.ones((1, 4), dtype=int)

    def allowed(v: tuple[int, ...]) -> bool:
        return all(z + x >= 0 for z, x in zip(v, counts.tolist()))

    rate = math.log(2)
    check(noise, law(total, 12, l1(rate), allowed), law(total, 12, l1(1.3 * rate), allowed))


OVERLAPPING = np.array([[1, 1, 1, 0], [0, 1, 1, 1]])


def classes_of(counts: list[int]) -> list[np.ndarray]:
    return [np.array(counts[:1]), np.array(counts[1:3]), np.array(counts[3:])]


@pytest.mark.parametrize(
    "factors", [(1, 1), (Fraction(1, 2), 1), (Fraction(2, 3), Fraction(3, 2)), (Fraction(1, 4), 1)]
)
def test_every_tilt_draws_the_same_law(factors: tuple[Fraction, Fraction]) -> None:
    """Two overlapping sums, the middle cells alike; weights 2^-|z|. Factors per sum cancel, even below the odds."""
    counts, matrix = [1, 2, 0, 2], np.array([[1, 1, 0], [0, 1, 1]])
    tilts = [Fraction(factors[0]), Fraction(factors[0]) * factors[1], Fraction(factors[1])]
    classes = [CutOffClass(Fraction(2), t, c, float(len(c))) for t, c in zip(tilts, classes_of(counts))]
    check_table(Restricted(matrix, tuple(classes)).draw(8000, seeded(5)), counts, math.log(2))


@pytest.mark.parametrize("counts", [[1, 0, 2, 1], [0, 0, 3, 2], [3, 4, 0, 0]])
def test_noise_much_wider_than_the_counts(counts: list[int]) -> None:
    """Weights 0.95^-|z|: nearly uniform on the few tables with these sums."""
    odds = Fraction(20, 19)
    noise = restricted_noise(odds, np.array([[1, 1, 0], [0, 1, 1]]), classes_of(counts), 8000, seeded(6))
    check_table(noise, counts, math.log(odds), 8)


def check_table(noise: np.ndarray, counts: list[int], rate: float, wrong: float = 1.3) -> None:
    def allowed(v: tuple[int, ...]) -> bool:
        return all(z + x >= 0 for z, x in zip(v, counts))

    right = law(OVERLAPPING, 8, l1(rate), allowed)
    check(noise, right, law(OVERLAPPING, 8, l1(wrong * rate), allowed))


@settings(max_examples=40, deadline=None)
@given(
    ODDS,
    st.lists(st.lists(st.one_of(st.integers(0, 6), st.integers(0, 10**12)), min_size=1, max_size=7), min_size=1),
    st.integers(0, 99),
)
def test_no_sum_changes_and_nothing_falls_below_zero(odds: Fraction, tables: list[list[int]], seed: int) -> None:
    counts, sizes = np.concatenate([np.array(t) for t in tables]), np.array([len(t) for t in tables])
    noise = cut_off_blocks(odds, counts, sizes).draw(seeded(seed))
    assert (counts + noise).min() >= 0
    assert [part.sum() for part in np.split(noise, np.cumsum(sizes)[:-1])] == [0] * len(tables)


@pytest.mark.parametrize("mean", [0.2, 3.0, 10_000.0])
def test_counties_with_kept_state_totals(mean: float) -> None:
    """Narrow or wide against the counts: few trials are needed, and the mean shift is upwards for empty cells."""
    rng = np.random.default_rng(0)
    states = np.concatenate([np.arange(51), rng.integers(0, 51, 3142 - 51)])
    counts = rng.negative_binomial(1, 1 / (1 + mean), 3142)
    plan = plan_lattice({"state": states, "county": range(3142)}, ["margin:state"], "0.192", nonnegative=True)
    assert (plan.sampler, plan.grade) == ("compositions", "exact")
    noise = plan.draw(seeded(3), counts)
    assert (counts + noise).min() >= 0 and not np.bincount(states, noise).any()
    assert noise[counts == 0].sum() > 0 or not (counts == 0).any()
