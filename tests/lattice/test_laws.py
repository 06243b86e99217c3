"""The pieces of the samplers: enclosures hold the exact values, uniform things are uniform, ties are settled."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.lattice.chances import accept_values, settle, uniform_below
from discreet.lattice.compositions import compositions, subsets
from discreet.lattice.fixed_sum import Bag, Cell, gaussian_group
from discreet.lattice.klein import _shifted, mass
from discreet.lattice.laminar import GeometricGroup, PairSum, given_sums
from discreet.lattice.two_way import HalfSum, inner_points
from discreet.lattice.weights import weights_of
from discreet.laws import Gaussian, Geometric
from discreet.sample.bits import seeded

ODDS = st.fractions(min_value=Fraction(11, 10), max_value=8, max_denominator=20)


@settings(max_examples=30, deadline=None)
@given(ODDS, st.integers(1, 6), st.integers(0, 5))
def test_pair_sums_enclose_the_exact_law(odds: Fraction, cells: int, shift: int) -> None:
    def weight(s: int) -> Fraction:
        return math.comb(s + shift + cells - 1, cells - 1) * math.comb(s + cells - 1, cells - 1) / odds ** (2 * s)

    weights = [weight(s) for s in range(400)]
    whole = sum(weights)
    slack = weights[-1] * 100 / whole  # what is left out of the sum, generously
    running = Fraction(0)
    for s in range(60):
        running += weights[s] / whole
        low, high = PairSum(odds, cells, shift).below(s, 80)
        assert Fraction(low, 1 << 80) <= running
        assert running - slack - Fraction(1, 1 << 60) <= Fraction(high, 1 << 80)
        assert high - low <= 4
    assert PairSum(odds, cells, shift).below(-1, 80) == (0, 0)


@settings(max_examples=20, deadline=None)
@given(ODDS, st.integers(1, 5), st.integers(-6, 6))
def test_chances_of_sums(odds: Fraction, cells: int, total: int) -> None:
    single = np.array([float(odds) ** -abs(k) for k in range(-300, 301)])
    pmf = np.array([1.0])
    for _ in range(cells):
        pmf = np.convolve(pmf, single)
    middle = len(pmf) // 2
    low, high = GeometricGroup(odds, cells).chance(total, 64)
    expected = pmf[middle + total] / pmf[middle]
    assert low / 2**64 <= expected * (1 + 1e-9) and expected * (1 - 1e-9) <= high / 2**64
    assert high - low <= 8


def test_half_sums_are_products_of_two_laws() -> None:
    law = HalfSum(Fraction(2), 2, 1)
    single = np.array([2.0 ** -abs(k) for k in range(-80, 81)])
    pair = np.convolve(single, single)[80:-80]
    expected = np.cumsum(pair * single) / (pair * single).sum()
    for k in range(-10, 11):
        low, high = law.below(k, 64)
        assert low / 2**64 - 1e-12 <= expected[k + 80] <= high / 2**64 + 1e-12
        assert high - low <= 4


@settings(max_examples=30, deadline=None)
@given(
    st.fractions(Fraction(1, 20), 60, max_denominator=30),
    st.fractions(Fraction(-1, 2), Fraction(1, 2), max_denominator=20),
)
def test_shifted_gaussians_and_their_masses(variance: Fraction, shift: Fraction) -> None:
    from flint import ctx

    ks = np.arange(-150, 151)
    weights = np.exp(-((ks - float(shift)) ** 2) / (2 * float(variance)))
    with ctx.workprec(100):
        whole = mass(variance, shift)
    assert float(whole.rad()) < 1e-20 * float(whole.mid())
    assert float(whole.mid()) == pytest.approx(weights.sum(), rel=1e-12)
    first, bounds = _shifted(variance, shift, 60)
    expected = np.cumsum(weights) / weights.sum()
    for k in range(-3, 4):
        low, high = bounds[k - first]
        assert low / 2**60 - 1e-12 <= expected[k + 150] <= high / 2**60 + 1e-12


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 6), st.integers(0, 40))
def test_tables_of_sums_never_exceed_the_truth(number: int, total: int) -> None:
    """Lower bounds at two precisions, and the missing mass covers the difference."""
    bag = Bag(((Cell(Geometric(Fraction(2))), number), (Cell(Gaussian(Fraction(3))), 2)))
    coarse, fine = bag.weights(96).at((total,)), bag.weights(192).at((total,))
    assert coarse[0] << 96 <= fine[1]
    assert fine[0] <= coarse[1] << 96
    assert coarse[1] - coarse[0] < 1 << 20
    low, high = bag.chance((total,), 64)
    finer = bag.chance((total,), 128)
    assert low << 64 <= finer[1] and finer[0] <= high << 64
    assert bag.weights(96).most <= bag.scale


def test_weights_sum_to_one() -> None:
    table = weights_of(Gaussian(Fraction(5)), 96)
    assert 0 <= table.missing < 1 << 16
    assert table.at((10**6,))[0] == 0


@pytest.mark.parametrize(("total", "parts"), [(3, 3), (2, 4), (5, 2), (1, 7), (0, 3), (4, 1)])
def test_compositions_are_uniform(total: int, parts: int) -> None:
    draws = compositions(np.full(6000, total), np.full(6000, parts), seeded(1)).reshape(-1, parts)
    seen = Counter(map(tuple, draws.tolist()))
    everything = [c for c in itertools.product(range(total + 1), repeat=parts) if sum(c) == total]
    assert set(seen) == set(everything)
    if len(everything) > 1:
        assert chisquare([seen[c] for c in everything]).pvalue > 1e-6
        skewed = np.linspace(0.8, 1.2, len(everything))
        assert chisquare([seen[c] for c in everything], 6000 * skewed / skewed.sum()).pvalue < 1e-3


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), min_size=1, max_size=8))
def test_compositions_of_many_sums_at_once(kinds: list[tuple[int, int]]) -> None:
    totals, parts = np.array([k[0] for k in kinds]), np.array([k[1] for k in kinds])
    out = compositions(totals, parts, seeded(2))
    assert out.min() >= 0
    assert [part.sum() for part in np.split(out, np.cumsum(parts)[:-1])] == totals.tolist()


def test_sparse_subsets_sort_instead_of_marking() -> None:
    chosen = subsets(np.array([3, 2]), np.array([10**12, 10**9]), np.array([0, 10**12]), seeded(3))
    assert len(chosen) == 5 and np.all(np.diff(chosen) > 0)
    assert (chosen < 10**12).sum() == 3


def test_uniform_below_bounds_at_places_is_that_below_these_bounds() -> None:
    """Also where many words are rejected, and where bounds need more bits; in pieces as at once."""
    rng = np.random.default_rng(1)
    for low, high in ((1, 30), (1 << 31, (1 << 32) - 1), (1, 1 << 40)):
        bounds, which = rng.integers(low, high, 50), rng.integers(0, 50, 100_000)
        values = uniform_below(bounds, seeded(2), which)
        assert np.array_equal(values, uniform_below(bounds[which], seeded(2)))
        assert (values >= 0).all() and (values < bounds[which]).all()


def test_uniform_below_every_bound() -> None:
    bounds = np.repeat([1, 3, 7, 1 << 40], 4000)
    values = uniform_below(bounds, seeded(4))
    assert np.all((values >= 0) & (values < bounds))
    assert chisquare(np.bincount(values[4000:8000])).pvalue > 1e-6
    assert abs(values[12000:].mean() / (1 << 39) - 1) < 0.05


def test_a_tie_is_settled_by_more_bits() -> None:
    """A chance of exactly one half whose enclosures are wide at 64 bits: words near it need another look."""

    def chance(known: int) -> tuple[int, int]:
        half = 1 << (known - 1)
        return (half - (1 << (known - 4)), half + (1 << (known - 4))) if known <= 64 else (half, half)

    near = (1 << 63) - 5
    assert settle(chance, near, seeded(1)) and not settle(chance, near + 10, seeded(1))
    values = np.zeros(4000, dtype=np.int64)
    accepted = accept_values(values, lambda _, known: chance(known), seeded(5))
    assert abs(accepted.mean() - 0.5) < 0.04


def test_inner_points() -> None:
    """The ends weigh 1 and the points between 1 - a^2; here a = 1/2."""
    points = inner_points(Fraction(2), np.full(20000, 3), seeded(6))
    seen = np.bincount(points)
    weights = np.array([1, 0.75, 0.75, 1])
    assert chisquare(seen, 20000 * weights / weights.sum()).pvalue > 1e-6
    assert chisquare(seen).pvalue < 1e-6
    assert inner_points(Fraction(2), np.array([0, -3]), seeded(7))[0] == 0
    assert -3 <= inner_points(Fraction(2), np.array([-3]), seeded(7))[0] <= 0


def test_splitting_a_measure_gives_the_weight_of_a_pair() -> None:
    """a^(|s|+|q-s|) is geometric noise of ratio a^2 convolved with the inner points: checked exactly."""
    a = Fraction(2, 3)
    for q in range(6):
        measure = [1 if q == 0 else Fraction(1) if u in (0, q) else 1 - a**2 for u in range(q + 1)]
        scale = None
        for s in range(-8, 14):
            convolved = sum((w * a ** (2 * abs(s - u)) for u, w in enumerate(measure)), Fraction(0))
            weight = a ** (abs(s) + abs(q - s))
            scale = scale or convolved / weight
            assert convolved == scale * weight


def test_tangent_curves_cover_the_l2_law() -> None:
    """exp(-x) <= sqrt(e) max_j exp(-j^2/2 - x^2/(2 j^2)) for every x >= 0: the bound of the l2 sampler."""
    x = np.linspace(0, 400, 400_001)
    best = np.max([-(j * j) / 2 - x * x / (2 * j * j) for j in range(1, 40)], axis=0)
    assert np.all(-x <= best + 0.5 + 1e-9)


def test_blocks_sum_to_zero_and_single_cells_stay() -> None:
    noise = given_sums(Fraction(6, 5), np.array([1, 5, 1, 40]), np.zeros(4, dtype=np.int64), seeded(8))
    assert [part.sum() for part in np.split(noise, [1, 6, 7])] == [0, 0, 0, 0]
    assert noise[0] == noise[6] == 0


def test_gaussian_blocks_with_a_given_sum() -> None:
    group = gaussian_group(Fraction(4), 7)
    totals = np.array([0, 5, -12, 3])
    assert group.given(totals, seeded(9)).sum(axis=1).tolist() == totals.tolist()


def test_wide_sums_by_rejection_follow_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.lattice import laminar

    law = PairSum(Fraction(3, 2), 4)
    expected = np.diff([law.below(s, 64)[0] / 2**64 for s in range(-1, 12)])
    wrong = np.diff([PairSum(Fraction(7, 5), 4).below(s, 64)[0] / 2**64 for s in range(-1, 12)])
    monkeypatch.setattr(laminar, "WIDEST_SPREAD", 0)
    drawn = laminar.pair_sums(law, 3000, seeded(10))
    seen = np.append(np.bincount(drawn, minlength=12)[:12], (drawn >= 12).sum())
    assert chisquare(seen, 3000 * np.append(expected, 1 - expected.sum())).pvalue > 1e-6
    assert chisquare(seen, 3000 * np.append(wrong, 1 - wrong.sum())).pvalue < 1e-6
