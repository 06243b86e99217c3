"""Steps by an old factor: the same as with a new one, and never more than so many turns; and how many there are."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.distribution.evidence import climb
from discreet.distribution.evidence.cells import blur, seen_edges
from discreet.distribution.evidence.factor import MOST_TURNS, Factor, factor_of, solved_near
from discreet.distribution.evidence.fit import Fit, fit, narrowed
from discreet.distribution.evidence.prior import prior_of
from discreet.distribution.evidence.seen import MeasuredPrefix, Seen
from discreet.laws import Gaussian, NoiseLaw
from tests.distribution.noisy import drawn, geometric

SIZE = 110
NOISES: list[NoiseLaw] = [geometric(0.1), geometric(2.0), Gaussian(9)]  # type: ignore[arg-type]


def seen_in(noise: NoiseLaw, measured: bool) -> Seen:
    """Two heaps of rows, over as many counts as there are many weights."""
    rng, edges = np.random.default_rng(3), np.arange(SIZE + 1)
    counts = np.where(rng.random(3000) < 0.4, 20, rng.binomial(SIZE - 1, 0.7, 3000))
    noisy = counts + drawn(noise, 3000, rng)
    seen = seen_edges(edges, noise, int(noisy.min()), int(noisy.max()))
    place = np.clip(np.searchsorted(seen, noisy, side="right") - 1, 0, len(seen) - 2)
    rows = np.bincount(place, minlength=len(seen) - 1)
    prefix = np.cumsum(np.bincount(counts, minlength=SIZE))[9::10] + rng.normal(scale=12, size=SIZE // 10)
    told = MeasuredPrefix(np.arange(10, SIZE + 1, 10), prefix, np.full(SIZE // 10, 144.0))
    return Seen(rows.astype(float), blur(edges, seen, noise), np.ones(SIZE), told if measured else None)


def value_of(one: Fit) -> float:
    """Of the penalised likelihood."""
    return one.explained + 0.5 * one.precision.factor.log_determinant


def spiky() -> np.ndarray:
    prior = prior_of(np.arange(SIZE + 1), 10.0, False)
    return narrowed(np.column_stack([prior.smooth(0, 10.0), prior.spikes]))


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_a_direction_is_as_by_the_matrix(noise: NoiseLaw) -> None:
    seen, rng = seen_in(noise, False), np.random.default_rng(1)
    at = seen.expectation(rng.normal(size=SIZE))
    basis, way = rng.normal(size=(SIZE, 7)), rng.normal(size=7)
    half = seen.root(at, basis)
    np.testing.assert_allclose(basis.T @ seen.informed(at)(basis @ way), half @ (half.T @ way), rtol=1e-8)


def slope_at(seen: Seen, density: np.ndarray) -> np.ndarray:
    at = seen.expectation(density)
    return seen.gradient(at, seen.away(at))


@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_the_slope_is_how_the_likelihood_changes(noise: NoiseLaw, measured: bool) -> None:
    seen, rng = seen_in(noise, measured), np.random.default_rng(1)
    density, way = rng.normal(size=(2, SIZE))
    held = seen.held(seen.expectation(rng.normal(size=SIZE)))
    below, above = (held.log_likelihood(density + step * way) for step in (-1e-4, 1e-4))
    assert slope_at(held, density) @ way == pytest.approx((above - below) / 2e-4, rel=1e-5)


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.name)
def test_the_curvature_is_how_the_slope_changes(noise: NoiseLaw) -> None:
    seen, rng = seen_in(noise, False), np.random.default_rng(1)
    density, way = rng.normal(size=(2, SIZE))
    before, after = (slope_at(seen, density + step * way) for step in (-1e-5, 1e-5))
    changed = (before - after) / 2e-5
    found = seen.bent(seen.expectation(density))(way)
    np.testing.assert_allclose(found, changed, atol=1e-6 * np.abs(changed).max())


def test_steps_that_are_remembered_tell_the_curvature() -> None:
    """With as many steps as there are directions, and each of another, the curvature itself; and that of an old factor
    with none."""
    rng, size = np.random.default_rng(5), climb.REMEMBERED
    half, slope = rng.normal(size=(size, size)), rng.normal(size=size)
    curvature, old = half @ half.T + np.eye(size), np.diag(rng.uniform(1, 2, size))
    memory = climb.Memory(factor_of(old), None)  # type: ignore[arg-type]
    np.testing.assert_allclose(old @ memory.move(slope)[0], slope, rtol=1e-10)
    directions = np.linalg.eigh(curvature)[1].T
    for one in directions:
        change = curvature @ one
        memory.steps.append((one, change, float(one @ change)))
    np.testing.assert_allclose(curvature @ memory.move(slope)[0], slope, rtol=1e-8)
    memory.steps.pop()
    assert np.abs(curvature @ memory.move(slope)[0] - slope).max() > 1e-3


def test_equations_are_solved_by_a_factor_nearby_or_not_at_all() -> None:
    rng = np.random.default_rng(2)
    half, right, turns = rng.normal(size=(40, 40)), rng.normal(size=40), 0
    matrix = half @ half.T + np.eye(40)

    def times(way: np.ndarray) -> np.ndarray:
        nonlocal turns
        turns += 1
        return matrix @ way

    found, solved = solved_near(times, factor_of(1.1 * matrix + 0.01 * np.eye(40)), right)
    assert solved
    np.testing.assert_allclose(matrix @ found, right, atol=1e-2)
    turns = 0
    far, solved = solved_near(times, factor_of(np.diag(np.exp(rng.normal(scale=6, size=40)))), right)
    assert not solved and turns == MOST_TURNS and far @ right > 0


def test_where_there_is_no_hill_the_way_is_still_up() -> None:
    rng = np.random.default_rng(2)
    half, right = rng.normal(size=(40, 40)), rng.normal(size=40)
    matrix = half @ half.T + np.eye(40)
    saddle = matrix - 3 * np.outer(right, right)
    for times in (lambda way: -(matrix @ way), lambda way: saddle @ way, lambda way: np.nan * way):
        found, solved = solved_near(times, factor_of(matrix), right)
        assert not solved and found @ right > 0


@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.parametrize("noise", [*NOISES, geometric(60.0), Gaussian(1e-3)], ids=str)  # type: ignore[arg-type]
def test_the_top_is_the_same_by_old_factors_and_by_new_ones(
    noise: NoiseLaw, measured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where there is hardly any noise; and whatever the first factor is of, or nearly so."""
    seen, basis, steps = seen_in(noise, measured), spiky(), []
    stepped = climb._stepped

    def counted(*given: object) -> object:
        steps.append(1)
        return stepped(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(climb, "_stepped", counted)

    def climbed(factor: Factor | None, start: np.ndarray) -> Fit:
        return fit(seen, np.arange(SIZE), basis, start, 1e-12, factor=factor)

    nothing, random = np.zeros(basis.shape[1]), np.random.default_rng(4).normal(size=basis.shape[1])
    old = climbed(None, nothing)
    assert len(steps) <= 2 * (climb.MOST_SHORT_STEPS if measured else climb.MOST_STEPS)
    if measured:  # there are several hills, of slightly other shape from another side: the same one from nearby
        again = climbed(old.precision.factor, old.weights + 0.1 * random)
        assert again.evidence == pytest.approx(old.evidence, abs=0.5)
        np.testing.assert_allclose(again.log_density, old.log_density, atol=0.05)
        return
    misled = climbed(fit(seen, np.arange(SIZE), basis, random, 1e9).precision.factor, nothing)
    monkeypatch.setattr(climb, "MANY_WEIGHTS", 10**9)
    new = climbed(None, nothing)
    for one in (old, misled):
        assert one.evidence == pytest.approx(new.evidence, abs=1e-5)
        assert value_of(one) == pytest.approx(value_of(new), abs=1e-8)
        np.testing.assert_allclose(one.log_density, new.log_density, atol=1e-3)
