"""The contract of samplers keeps its own promise: its two chances of being wrong are at most what it says."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import multinomial

from discreet.sample import contract
from discreet.sample.bits import seeded
from discreet.sample.contract import assert_sampler_law, assert_shares, chance_missed, law_p_value, p_value

RIGHT = {"even": [0.25] * 4, "uneven": [0.5, 0.3, 0.2], "rare": [0.01, 0.04, 0.95], "two": [0.3, 0.7]}


def outcomes(size: int, cells: int) -> np.ndarray:
    """Every way in which so many draws may fall into the cells."""
    bars = itertools.combinations(range(size + cells - 1), cells - 1)
    return np.array([np.diff([-1, *bar, size + cells - 1]) - 1 for bar in bars])


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("size", [1, 12, 40])
def test_small_p_values_are_as_rare_as_they_say(name: str, size: int) -> None:
    """By enumeration of all outcomes: P(p <= x) <= x for every x."""
    law = RIGHT[name]
    seen = outcomes(size, len(law))
    chances, found = multinomial.pmf(seen, size, law), np.array([p_value(one, law) for one in seen])
    assert chances.sum() == pytest.approx(1)
    order = np.argsort(found)
    assert (np.cumsum(chances[order]) <= found[order] * (1 + 1e-9) + 1e-15).all()
    assert size == 1 or found.min() < 1e-3, "a test that never rejects would pass, too"


@pytest.mark.parametrize("wrong", [[0.2, 0.3, 0.5], [0.8, 0.1, 0.1], [0.0, 0.5, 0.5], [0.4, 0.3, 0.3]])
def test_a_wrong_law_is_missed_as_seldom_as_it_says(wrong: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """By enumeration, at a chance that so few draws can reach; and the bound is not an idle one."""
    monkeypatch.setattr(contract, "RARE", 1e-2)
    right, promised = [0.5, 0.3, 0.2], []
    for size in (20, 60, 150):
        seen = outcomes(size, 3)
        missed = np.array([p_value(one, wrong) >= 1e-2 for one in seen])
        promised.append(chance_missed(right, wrong, size))
        assert multinomial.pmf(seen, size, right)[missed].sum() <= promised[-1] * (1 + 1e-9)
    assert wrong == [0.4, 0.3, 0.3] or promised[-1] < 1e-2
    assert chance_missed(right, right, 10**6) == pytest.approx(1)


def test_too_few_draws_fail_always_and_before_any_is_drawn() -> None:
    def never(size: int) -> object:
        raise NotImplementedError

    with pytest.raises(AssertionError, match="may not tell"):
        assert_sampler_law(never, [0.5, 0.5], size=1000, wrong=[0.49, 0.51])
    with pytest.raises(AssertionError, match="may not tell"):
        assert_shares([500, 500], [0.5, 0.5], [0.49, 0.51])
    with pytest.raises(NotImplementedError):
        assert_sampler_law(never, [0.5, 0.5], size=10**6, wrong=[0.49, 0.51])


def poisson(mean: float) -> list[float]:
    return [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(200)]


def test_draws_of_another_law_are_condemned() -> None:
    drawn = np.random.default_rng(1).poisson(20, 50_000)
    assert_sampler_law(lambda _: drawn, poisson(20), size=50_000, wrong=poisson(20.5))
    with pytest.raises(AssertionError, match="do not follow"):
        assert_sampler_law(lambda _: drawn, poisson(20.5), size=50_000, wrong=poisson(21))
    with pytest.raises(AssertionError, match="do not follow"):
        assert_shares([5500, 4500], [0.5, 0.5])
    with pytest.raises(AssertionError, match="may as well follow the wrong law"):  # halfway between the two
        assert_shares([5000, 5000], [0.5388, 0.4612], [0.4612, 0.5388])


@pytest.mark.parametrize("centre", [0, 5000, -70])
def test_a_function_and_a_list_are_the_same_law(centre: int) -> None:
    drawn = seeded(3).words(20_000, 8).astype(int) % 8 + centre
    listed = law_p_value(drawn, [1 / 8] * 8, centre)
    assert listed == law_p_value(drawn, lambda k: (centre <= k < centre + 8) / 8, centre) > 1e-3
    assert law_p_value([*drawn, centre + 8], [1 / 8] * 8, centre) == 0, "what cannot be was seen"


def test_wide_laws_have_a_few_hundred_cells_and_narrow_ones_keep_their_tails() -> None:
    wide = np.full(100_000, 1e-5)
    assert contract.MOST_CELLS / 2 <= contract._cells(wide, 10**7)[-1] + 1 <= contract.MOST_CELLS
    narrow = 0.5 ** np.arange(1.0, 60)
    assert contract._cells(narrow, 10**6)[-1] == 16  # 2^-16 of a million is still more than ten, and what is left, too
    assert contract._shares(narrow, contract._cells(narrow, 10**6)).sum() == pytest.approx(1)
