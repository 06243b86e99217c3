"""Cells, rows and fits of the distribution by evidence, against sums over every count and a general optimiser."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.distribution.evidence.cells import MOST_CELLS, blur, cell_edges, seen_edges, spread_out
from discreet.distribution.evidence.fit import fit, narrowed
from discreet.distribution.evidence.heaps import NoisyValues
from discreet.distribution.evidence.prior import prior_of
from discreet.distribution.evidence.rows import OtherRows, rows_of
from discreet.distribution.evidence.search import ROUGHNESS, _limited, explanations
from discreet.distribution.evidence.seen import MeasuredPrefix, Seen
from discreet.laws import Gaussian, Geometric, NoiseLaw, Staircase
from tests.distribution.noisy import chances, drawn, geometric

STAIRS = Staircase(Fraction(3, 2), Fraction(1, 4))
NOISES: list[NoiseLaw] = [geometric(0.4), geometric(2.5), Gaussian(Fraction(6)), STAIRS]


def summed_blur(edges: np.ndarray, seen: np.ndarray, noise: NoiseLaw) -> np.ndarray:
    """Cell by cell and count by count; what is beyond either end is seen at it."""
    far = 400
    masses = noise.masses(far)
    matrix = np.zeros((len(edges) - 1, len(seen) - 1))
    for i, (start, end) in enumerate(itertools.pairwise(edges)):
        for count in range(start, end):
            for value in range(count - far, count + far + 1):
                cell = np.clip(np.searchsorted(seen, value, side="right") - 1, 0, len(seen) - 2)
                matrix[i, cell] += masses[abs(value - count)] / (end - start)
    return matrix


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_the_blur_is_the_sum_of_masses(noise: NoiseLaw) -> None:
    edges = np.array([0, 1, 2, 5, 6, 11, 20, 21])
    seen = seen_edges(edges, noise, -9, 30)
    np.testing.assert_allclose(blur(edges, seen, noise), summed_blur(edges, seen, noise), rtol=1e-8, atol=1e-58)


def test_very_wide_noise_is_blurred_by_steps() -> None:
    noise, edges = Gaussian(Fraction(30_000**2)), np.array([0, 1, 2, 1000, 50_000, 50_001, 200_000, 200_001])
    found, masses = blur(edges, edges, noise), noise.masses(400_000)
    np.testing.assert_allclose(found[4, 2], masses[50_000 - np.arange(2, 1000)].sum(), rtol=1e-6)
    np.testing.assert_allclose(found[1, 1], masses[0], rtol=1e-4)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-9)


def test_small_chances_are_exact_on_either_side() -> None:
    noise, edges = geometric(1.0), np.arange(101)
    found = blur(edges, edges, noise)
    np.testing.assert_allclose(found[10, 1:-1], noise.masses(100)[np.abs(np.arange(1, 99) - 10)], rtol=1e-9)
    np.testing.assert_allclose(found[90, 1:-1], noise.masses(100)[np.abs(np.arange(1, 99) - 90)], rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(size=st.integers(2, 40_000), seed=st.integers(0, 99), where=st.floats(0, 1))
def test_cells_cover_every_count_once_and_are_not_too_many(size: int, seed: int, where: float) -> None:
    rng = np.random.default_rng(seed)
    histogram = np.bincount(rng.integers(0, size, 300), minlength=size).astype(float)
    histogram[int(where * (size - 1))] += 500
    edges = cell_edges(histogram, geometric(0.5))
    assert edges[0] == 0 and edges[-1] == size and (np.diff(edges) > 0).all()
    assert len(edges) <= 2 * MOST_CELLS
    if size <= MOST_CELLS:
        assert len(edges) == size + 1
    crowd = int(where * (size - 1))
    assert {crowd, crowd + 1} <= set(edges.tolist())


@given(seed=st.integers(0, 999))
def test_counts_share_what_their_cell_has(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.unique(np.append([0, 300], rng.integers(1, 300, 20)))
    density = rng.normal(0, 3, len(edges) - 1)
    masses = np.exp(density) * np.diff(edges)
    shares = spread_out(density, masses / masses.sum(), np.arange(len(masses)), edges)
    np.testing.assert_allclose(np.add.reduceat(shares, edges[:-1]), masses / masses.sum(), rtol=1e-9)
    assert (shares > 0).all()


def test_a_spike_is_even_over_its_cell_and_a_slope_is_not() -> None:
    edges = np.array([0, 1, 10, 20, 30, 40, 41])
    masses = np.array([1.0, 1, 50, 1, 1, 1])
    spike = spread_out(np.log(masses), masses, np.arange(6), edges)
    np.testing.assert_allclose(spike[10:20], 5.0)
    falling = spread_out(-np.arange(6.0), np.ones(6), np.arange(6), edges)
    assert (np.diff(falling[10:20]) < 0).all()


def rows_and_brute(shares: np.ndarray, noise: NoiseLaw, seed: int):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    noisy = rng.choice(len(shares), 150, p=shares) + drawn(noise, 150, rng)
    if noise.decay is not None:
        noisy = np.clip(noisy, 0, len(shares) - 1)
    low = 0 if noise.decay is not None else int(noisy.min())
    size = len(shares) if noise.decay is not None else int(noisy.max()) - low + 1
    histogram = np.bincount(noisy - low, minlength=size).astype(float)
    return rows_of(shares, histogram, low, noise), chances(shares, histogram, low, noise), histogram


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
@pytest.mark.parametrize("sparse", [0.1, 5.0])
def test_rows_are_as_by_the_rule_of_bayes(noise: NoiseLaw, sparse: float) -> None:
    rng = np.random.default_rng(7)
    shares = rng.dirichlet(np.full(30, sparse))
    rows, chance, histogram = rows_and_brute(shares, noise, 1)
    np.testing.assert_allclose(rows.mean, histogram @ chance, atol=1e-7)
    np.testing.assert_allclose(rows.own, histogram @ (chance * (1 - chance)), atol=1e-7)
    counts, places = rng.integers(0, 30, 300), rng.integers(0, len(histogram), 300)
    np.testing.assert_allclose(rows.chance(counts, places), chance[places, counts], atol=1e-9)
    order = np.repeat(np.arange(len(histogram)), histogram.astype(int))
    first = rng.integers(0, len(order) + 1, 300)
    inside = [chance[order[:number], count].sum() for count, number in zip(counts, first)]
    np.testing.assert_allclose(rows.inside(counts, first.astype(float)), inside, atol=1e-7)


def test_wide_noise_is_taken_in_blocks_and_nearly_the_same() -> None:
    shares = np.random.default_rng(3).dirichlet(np.full(300, 0.3))
    rows, chance, histogram = rows_and_brute(shares, Gaussian(Fraction(60**2)), 2)
    assert isinstance(rows, OtherRows) and rows.block > 1
    assert np.abs(rows.mean - histogram @ chance).max() < 0.2
    assert np.abs(rows.own - histogram @ (chance * (1 - chance))).max() < 0.2


@pytest.mark.parametrize("noise", [geometric(1e-4), Gaussian(Fraction(10**10))], ids=lambda noise: noise.name)
def test_no_table_is_as_long_as_the_reach_of_wide_noise(noise: NoiseLaw) -> None:
    rows = rows_of(np.full(50, 0.02), np.ones(50), 0, noise)
    np.testing.assert_allclose(rows.mean, np.arange(1, 51), rtol=1e-3)
    if isinstance(rows, OtherRows):
        assert rows.table.size < 10**4


def seen_of(shares: np.ndarray, noise: NoiseLaw, rows: int, seed: int) -> Seen:
    edges = np.arange(len(shares) + 1)
    rng = np.random.default_rng(seed)
    noisy = np.clip(rng.choice(len(shares), rows, p=shares) + drawn(noise, rows, rng), 0, len(shares) - 1)
    histogram = np.bincount(noisy, minlength=len(shares)).astype(float)
    return Seen(histogram, blur(edges, edges, noise), np.ones(len(shares)))


def measured_too(seen: Seen) -> Seen:
    prefix = MeasuredPrefix(np.array([3, 7, 10]), np.array([40.0, 150, 290]), np.full(3, 25.0))
    return Seen(seen.rows, seen.blur, seen.widths, prefix)


@pytest.mark.parametrize("cells", [np.arange(12), np.array([1, 2, 3, 6, 8, 9, 11])])
@pytest.mark.parametrize("columns", [2, 20])
def test_prefixes_are_sums_of_cells(cells: np.ndarray, columns: int) -> None:
    """As with the matrix of the prefixes, of which column c says whether cell c is counted."""
    seen = measured_too(seen_of(np.arange(1.0, 13) / 78, geometric(0.7), 400, 5)).within(cells)
    upto = np.tri(12)[[2, 6, 9]][:, cells]
    rng = np.random.default_rng(4)
    density, basis = rng.normal(size=len(cells)), rng.normal(size=(len(cells), columns))
    at = seen.expectation(density)
    part = at.shares[:, None] * seen.blur * np.sqrt(seen.rows) / at.noisy
    covariance = np.diag(at.rows) - part @ part.T
    every = np.tri(len(cells))
    np.testing.assert_allclose(seen.covariance(at), every @ covariance @ every.T, rtol=1e-9, atol=1e-9)
    held = seen.held(at)
    assert held.measured is not None
    lower, residual = held.measured.spread.lower, [40, 150, 290] - upto @ at.rows
    np.testing.assert_allclose(lower @ lower.T, upto @ covariance @ upto.T + 25 * np.eye(3), rtol=1e-4, atol=1e-3)
    whitened = np.linalg.solve(lower, upto @ covariance)
    pull = whitened.T @ np.linalg.solve(lower, residual)
    np.testing.assert_allclose(held.gradient(at, held.away(at)), at.rows - 400 * at.shares + pull, rtol=1e-9, atol=1e-9)
    for where in (at, at._replace()):  # what was worked out where it is held, and what is worked out again
        np.testing.assert_allclose(held.measured_root(where, basis), (whitened @ basis).T, rtol=1e-9, atol=1e-9)


def test_prefixes_of_the_same_cells_are_one_that_is_known_better() -> None:
    seen = seen_of(np.arange(1.0, 13) / 78, geometric(0.7), 400, 5)
    prefix = MeasuredPrefix(np.array([3, 7, 10]), np.array([40.0, 150, 290]), np.array([25.0, 9, 16]))
    few = replace(seen, measured=prefix).within(np.array([2, 8, 11]))
    assert few.measured is not None and few.measured.cells.tolist() == [1, 2]
    at, rows, held = few.expectation(np.zeros(3)), seen.blur[[2, 8, 11]], [0, 0, 1]
    spread = few.covariance(at)[np.ix_(held, held)] + np.diag(prefix.variance)
    apart = prefix.prefix - np.cumsum(at.rows)[held]
    direct = (
        seen.rows @ np.log(at.shares @ rows)
        - (apart @ np.linalg.solve(spread, apart) + np.linalg.slogdet(spread)[1]) / 2
    )
    assert few.held(at).log_likelihood(np.zeros(3)) == pytest.approx(direct, rel=1e-3)


def test_no_more_columns_than_cells_and_the_same_prior() -> None:
    basis = np.random.default_rng(1).normal(size=(40, 70))
    assert narrowed(basis).shape == (40, 40)
    np.testing.assert_allclose(narrowed(basis) @ narrowed(basis).T, basis @ basis.T, atol=1e-9)


@pytest.mark.parametrize("measured", [False, True])
def test_a_fit_is_at_the_top_of_the_penalised_likelihood(measured: bool) -> None:
    from scipy.optimize import minimize

    seen = seen_of(np.arange(1.0, 13) / 78, geometric(0.7), 400, 5)
    if measured:
        seen = measured_too(seen)
    basis = prior_of(np.arange(13), 1.5, False).smooth(0, 3.0)
    found = fit(seen, np.arange(12), basis, np.zeros(basis.shape[1]))

    held = seen.held(seen.expectation(found.log_density))  # a measurement's covariance does not move while a fit climbs

    def loss(weights: np.ndarray) -> float:
        return 0.5 * float(weights @ weights) - held.log_likelihood(basis @ weights)

    best = minimize(loss, found.weights, method="BFGS", options={"gtol": 1e-7})
    assert loss(found.weights) <= best.fun + (0.01 if measured else 1e-7)
    if not measured:
        np.testing.assert_allclose(basis @ best.x, found.log_density, atol=2e-3)
        slope = found.top.slope
        assert np.abs(slope).max() < 1e-3


@given(st.lists(st.integers(0, 300), min_size=3, max_size=9), st.integers(0, 10**6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_no_law_is_likelier_than_the_bound_says(rows: list[int], seed: int, measured: bool) -> None:
    size, rng = len(rows), np.random.default_rng(seed)
    places = np.arange(size + 1)
    seen = Seen(np.array(rows) + 1.0, blur(places, places, geometric(0.7)), np.ones(size))
    if measured:
        prefix = MeasuredPrefix(np.array([1, 2]), np.cumsum(seen.rows)[:2] + rng.normal(size=2), np.full(2, 4.0))
        seen = replace(seen, measured=prefix)
    bound = seen.most_likely(rng.normal(size=size))
    for density in (*rng.normal(scale=3, size=(5, size)), np.log(seen.rows)):
        assert seen.held(seen.expectation(density)).log_likelihood(density) <= bound + 1e-9


@pytest.mark.parametrize("rows", [300, 100_000])
def test_an_end_that_is_not_fitted_would_have_been_worthless(rows: int) -> None:
    shares = np.zeros(60)
    shares[15:50] = 1 / 35
    seen = seen_of(shares, geometric(0.5), rows, 9)
    basis = prior_of(np.arange(61), 2.0, False).smooth(0, 10.0)
    best = fit(seen, np.arange(60), basis, np.zeros(basis.shape[1]))
    left_out = 0
    for end in range(30, 61, 6):
        most, found = _limited(best, 0, end, best)
        again = fit(seen, np.arange(end), basis[:end], best.weights).evidence
        if most > best.evidence - 12:
            assert found is not None and most == pytest.approx(again, abs=0.1)
        assert found is not None or again <= most < best.evidence - 12
        assert (again > best.evidence - 12) == (most > best.evidence - 12)
        left_out += found is None
    assert left_out >= (3 if rows > 1000 else 1)


def test_the_evidence_is_the_likelihood_integrated_over_the_prior() -> None:
    seen = seen_of(np.array([0.5, 0.2, 0.3]), geometric(1.0), 600, 8)
    basis = np.array([[1.0, 0], [0, 1], [0, 0]])
    found = fit(seen, np.arange(3), basis, np.zeros(2))
    grid = np.linspace(-4, 4, 161)
    values = np.array([[seen.log_likelihood(basis @ [a, b]) - (a * a + b * b) / 2 for a in grid] for b in grid])
    integral = np.log(np.exp(values - values.max()).sum() * (grid[1] - grid[0]) ** 2 / (2 * math.pi)) + values.max()
    assert found.evidence == pytest.approx(integral, abs=0.1)


def best_of(shares: np.ndarray, epsilon: float, rows: int = 4000):  # type: ignore[no-untyped-def]
    seen = seen_of(shares / shares.sum(), geometric(epsilon), rows, 3)
    prior = prior_of(np.arange(len(shares) + 1), 1 / epsilon, False)
    told = NoisyValues(seen.rows, 0, geometric(epsilon)).roundings
    return seen, prior, explanations(seen, prior, seen.rows, False, told)


def test_the_evidence_prefers_the_right_roughness() -> None:
    place = np.arange(80)
    evidence = {}
    for name, shares in {"smooth": np.exp(-place / 20), "wavy": np.exp(1.5 * np.sin(place / 3))}.items():
        seen = seen_of(shares / shares.sum(), geometric(1.0), 4000, 3)
        prior = prior_of(np.arange(81), 1.0, False)
        bases = [prior.smooth(0, float(roughness)) for roughness in ROUGHNESS]
        evidence[name] = [fit(seen, place, basis, np.zeros(basis.shape[1])).evidence for basis in bases]
    assert np.argmax(evidence["smooth"]) <= 1
    assert np.argmax(evidence["wavy"]) >= 4


def test_round_numbers_are_found_where_people_round_and_only_there() -> None:
    place = np.arange(80)
    smooth = np.exp(-place / 20)
    for shares, heaped in ((smooth, False), (smooth * np.where(place % 5 == 0, 6, 1), True)):
        _, _, found = best_of(shares, 0.7)
        best = max(found, key=lambda one: one.evidence)
        law = np.zeros(80)
        law[best.cells] = best.inside.expectation(best.log_density)[0]
        assert (law[20:50:5] > 3 * law[21:50:5]).all() == heaped
        assert (law[20:50:5] > 1.5 * law[21:50:5]).any() == heaped


def test_a_range_that_ends_or_begins_in_a_cliff_is_found() -> None:
    shares = np.zeros(80)
    shares[20:41] = 1.0
    _, _, found = best_of(shares, 0.5)
    best = max(found, key=lambda one: one.evidence)
    assert abs(best.cells[0] - 20) <= 1 and abs(best.cells[-1] - 40) <= 1


def test_counts_that_are_few_are_told_apart() -> None:
    shares = np.zeros(60)
    shares[[4, 33]] = 0.7, 0.3
    _, _, found = best_of(shares, 1.0)
    assert [4, 33] in [one.cells.tolist() for one in found]
    best = max(found, key=lambda one: one.evidence)
    law = np.zeros(60)
    law[best.cells] = best.inside.expectation(best.log_density)[0]
    np.testing.assert_allclose(law[[4, 33]], [0.7, 0.3], atol=0.03)


def test_a_lone_spike_is_found() -> None:
    shares = np.exp(-np.arange(70) / 15)
    shares[23] += 2
    _, _, found = best_of(shares, 0.8)
    best = max(found, key=lambda one: one.evidence)
    law = np.zeros(70)
    law[best.cells] = best.inside.expectation(best.log_density)[0]
    assert law[23] > 0.7 * shares[23] / shares.sum() and law[22] < 0.05 and law[24] < 0.05


def test_geometric_noise_of_any_width_has_a_blur() -> None:
    matrix = blur(np.arange(4), np.arange(4), Geometric(Fraction(10**9 + 1, 10**9)))
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
