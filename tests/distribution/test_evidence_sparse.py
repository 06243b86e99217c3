"""Counts at few places: a handful of them, or every so many-th."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence import follow, posterior
from discreet.distribution.evidence.cells import blur, seen_edges
from discreet.distribution.evidence.seen import MeasuredPrefix, Seen
from discreet.distribution.evidence.sparse import ALIKE, MOST_ALONE, PACKS, Pack, _alone, _gains, few, packs_of
from discreet.laws import Gaussian, NoiseLaw
from tests.distribution.noisy import Noisy, drawn, geometric

NOISES: dict[str, NoiseLaw] = {"geometric": geometric(1.0), "gaussian": Gaussian(Fraction(1, 4))}


def noisy(true: Integers, noise: NoiseLaw, seed: int) -> Noisy:
    return Noisy(true, true + drawn(noise, len(true), np.random.default_rng(seed)), noise)


def seen_of(values: Integers, size: int, noise: NoiseLaw, prefix: Floats | None = None) -> Seen:
    """Every count a cell; noisy values beyond the outermost cells are seen in these."""
    edges = np.arange(size + 1)
    at = seen_edges(edges, noise, int(values.min()), int(values.max()))
    places = np.clip(np.searchsorted(at, values, side="right") - 1, 0, len(at) - 2)
    rows = np.bincount(places, minlength=len(at) - 1).astype(float)
    measured = None if prefix is None else MeasuredPrefix(np.arange(1, size), prefix, np.full(size - 1, 4.0))
    return Seen(rows, blur(edges, at, noise), np.ones(size), measured)


@pytest.mark.parametrize(("name", "measured"), [("geometric", False), ("geometric", True), ("gaussian", False)])
def test_the_best_two_places_are_found_as_by_trying_all(name: str, measured: bool) -> None:
    """One far noisy value would mislead who looks only where a place is missed most."""
    noise, size = NOISES[name], 24
    true = np.array([0] * 200 + [1] * 200 + [20])
    values = true + drawn(noise, len(true), np.random.default_rng(3))
    exact = np.cumsum(np.bincount(true, minlength=size))[:-1].astype(float)
    seen = seen_of(values, size, noise, exact if measured else None)
    found = [one for one in few(seen, -math.inf) if len(one.cells) == 2]
    every = [_alone(seen, np.array(pair)) for pair in combinations(range(size), 2)]
    best = max(every, key=lambda one: one.evidence)
    assert best.cells.tolist() in [one.cells.tolist() for one in found]


@given(st.lists(st.integers(0, 14), min_size=20, max_size=200), st.integers(0, 14))
def test_what_a_further_place_gains_is_what_its_best_share_does(counts: list[int], place: int) -> None:
    seen = seen_of(np.array(counts), 15, NOISES["geometric"])
    one = _alone(seen, np.array([place]))
    share = np.linspace(0, 1, 401)[:-1, None]
    before = seen.blur[place]
    for cell in (0, 7, 14):
        mixed = (1 - share) * before + share * seen.blur[cell]
        tried = float((np.log(mixed / before) @ seen.rows).max())
        expected = tried if cell != place else -math.inf
        assert _gains(seen, one)[cell] == pytest.approx(expected, abs=0.02)


def test_all_alike_is_rarer_than_a_few_counts() -> None:
    seen = seen_of(np.array([3] * 50), 10, NOISES["geometric"])
    assert _alone(seen, np.array([3])).price == pytest.approx(math.log(10) + ALIKE)
    halves = seen_of(np.array([1] * 50 + [8] * 50), 10, NOISES["geometric"])
    assert _alone(halves, np.array([1, 8])).price == pytest.approx(math.log(45))
    nearly = seen_of(np.array([3] * 500 + [9]), 10, NOISES["geometric"])
    assert _alone(nearly, np.array([3, 9])).price == pytest.approx(math.log(45) + ALIKE)


def test_no_more_places_than_a_handful() -> None:
    seen = seen_of(np.repeat([0, 6, 12, 18, 24, 30], 100), 31, NOISES["geometric"])
    assert max(len(one.cells) for one in few(seen, -math.inf)) == MOST_ALONE


def smooth(size: int, step: int = 1) -> Floats:
    """The logarithm of a negative binomial law of mean 30 and of so many times the variance of a Poisson law."""
    place, like = np.arange(size), 30 / (step - 1 + 1e-6)
    gammas = np.array([math.lgamma(count + like) - math.lgamma(count + 1) for count in place])
    return np.asarray(gammas + place * math.log(30 / (30 + like)), dtype=float)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize(("step", "rest"), [(2, 0), (2, 1), (3, 0), (5, 2), (12, 0)])
def test_packs_are_told_from_noisy_values(name: str, step: int, rest: int) -> None:
    rng, noise = np.random.default_rng(step), NOISES[name]
    true = rest + step * rng.poisson(30 / step, 2000)
    values = true + drawn(noise, len(true), rng)
    size = int(values.max()) + 1
    assert packs_of(seen_of(values, size, noise), smooth(size, step))[0] == Pack(step, rest)


@pytest.mark.parametrize("name", NOISES)
def test_no_packs_are_told_where_there_are_none(name: str) -> None:
    noise, told = NOISES[name], list[Pack]()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values = rng.poisson(30, 600) + drawn(noise, 600, rng)
        size = int(values.max()) + 1
        told += packs_of(seen_of(values, size, noise), smooth(size))
    assert len(told) <= 12  # they are only tried: what is published is by evidence


def test_a_pack_has_the_counts_that_leave_its_rest() -> None:
    assert Pack(5, 2).cells(14).tolist() == [2, 7, 12]
    chances = [math.exp(3.0 - Pack(step, rest).price) for step in PACKS for rest in range(step)]
    assert sum(chances) == pytest.approx(1)  # of all packs that there may be


def published(table: Noisy, lam: float | None = None) -> tuple[Floats, float]:
    found = follow(table.posterior(), table.plain, lam)
    return table.errors(found.upto), found.count_error


@pytest.mark.parametrize("name", NOISES)
def test_every_other_count_is_published_as_such_and_the_promise_is_kept(name: str) -> None:
    noise, errors, plain, promised = NOISES[name], [], [], []
    for seed in range(5):
        true = 1 + 2 * np.random.default_rng(seed).poisson(5, 1500)
        table = noisy(true, noise, 100 + seed)
        both, said = published(table)
        errors.append(both)
        promised.append(said)
        plain.append(table.errors(table.plain))
    measured, before = np.mean(errors, axis=0), np.mean(plain, axis=0)
    chance = 2 * math.sqrt(measured[0] / (5 * 1500))  # of errors that are of 1 or 2, seldom
    assert np.mean(promised) == pytest.approx(measured[0], abs=0.1 * measured[0] + chance)
    assert measured[1] < 0.6 * before[1] and measured[0] < before[0]


@pytest.mark.parametrize(("epsilon", "near"), [(0.25, 0.2), (0.5, 0.03)])
def test_two_counts_are_published_as_an_oracle_would_and_promised_so(epsilon: float, near: float) -> None:
    """3 or 40, a coin's throw, 1,000 rows: whoever knows that has the least error there is."""
    noise, found = geometric(epsilon), []
    for seed in range(5):
        table = noisy(np.random.default_rng(seed).choice([3, 40], 1000), noise, 50 + seed)
        post = posterior(table.histogram, table.low, noise, 50, cut=True)
        plain = np.cumsum(np.bincount(np.clip(table.noisy, 0, 50), minlength=51))
        found_table = follow(post, plain, 0.0)
        oracle = np.where(table.noisy < 21.5, 3, 40)
        found.append([table.errors(found_table.upto)[0], np.abs(oracle - table.true).mean(), found_table.count_error])
    ours, oracles, promised = np.mean(found, axis=0)
    assert ours <= 1.03 * oracles + 0.01
    assert abs(promised - ours) < near


def test_a_narrow_bell_is_not_taken_for_one_count() -> None:
    """In wide noise it looks the same: what is promised has to be true of the bell, which is commoner."""
    noise, found = geometric(0.25), []
    for seed in range(6):
        table = noisy(5 + np.random.default_rng(seed).binomial(4, 0.5, 300), noise, 70 + seed)
        both, said = published(table)
        found.append([both[0], said])
    measured, promised = np.mean(found, axis=0)
    assert promised > 0.8 * measured
