"""Every privatizer meets the contract, a newcomer goes through everything, and the contract notices lies."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from discreet.distribution import private_distribution, privatizers
from discreet.distribution import privatizer as registry
from discreet.distribution.methods import cumulative, privelet
from discreet.distribution.privatizer import is_exact, measure
from discreet.errors import BadInput
from discreet.laws import Gaussian, Geometric
from discreet.privacy import Approximate, Concentrated, Loss, Pure
from discreet.privacy.convert import zcdp_epsilon
from discreet.sample.bits import seeded
from discreet.testing import assert_privatizer, neighbours

EXACT = [name for name, method in privatizers().items() if is_exact(method)]
HISTOGRAM = np.array([30, 12, 0, 7, 1, 0, 0, 2])


@pytest.mark.parametrize("name", privatizers())
def test_every_privatizer_meets_the_contract(name: str) -> None:
    assert_privatizer(privatizers()[name])
    assert_privatizer(privatizers()[name], (256, 257))


@pytest.fixture
def pairs() -> Iterator[Any]:
    assert "pairs" not in privatizers()
    yield import_module("tests.distribution.pairs")
    registry._REGISTERED.pop("pairs")
    sys.modules.pop("tests.distribution.pairs")


def test_a_newcomer_is_found_and_measured(pairs: Any) -> None:
    assert_privatizer(pairs)
    assert privatizers()["pairs"] is pairs
    out = private_distribution(HISTOGRAM, 1, method="pairs", seed=3)
    assert out.noise == Geometric.calibrated(Pure(1), 2) and out.grade == "exact" and out.projection == "isotonic"
    np.testing.assert_array_equal(out.measurements, out.noise.add(pairs.answers(HISTOGRAM), seeded(3)))
    assert private_distribution(HISTOGRAM, rho="1/2", method="pairs").noise == Gaussian(Fraction(4))
    assert private_distribution(HISTOGRAM, 300, method="pairs").distribution == pytest.approx(HISTOGRAM / 52)


def test_a_name_is_taken_once(pairs: Any) -> None:
    registry.register("pairs", pairs)
    with pytest.raises(BadInput, match="another one of that name"):
        registry.register("pairs", cumulative)
    with pytest.raises(BadInput, match="another one of that name"):
        registry.register("laplace", pairs)


def moved(histogram: Any, rows: int, rng: np.random.Generator) -> Any:
    """A table in which up to so many rows differ by one."""
    for _ in range(rows):
        near = neighbours(histogram)
        histogram = near[rng.integers(len(near))]
    return histogram


@pytest.mark.parametrize("loss", [Pure(1), Concentrated("1/3"), Approximate(1, "1e-6")], ids=repr)
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("people", [1, 3])
def test_what_is_measured_keeps_within_the_loss(name: str, loss: Loss, people: int) -> None:
    noisy, law = measure(name, HISTOGRAM, loss, people, seeded(8))
    method, rng = privatizers()[name], np.random.default_rng(2)
    np.testing.assert_array_equal(noisy, law.add(method.answers(HISTOGRAM), seeded(8)))
    assert law.pure == isinstance(loss, Pure)
    for _ in range(40):
        change = method.answers(moved(HISTOGRAM, people, rng)) - method.answers(HISTOGRAM)
        if isinstance(loss, Pure):
            assert isinstance(law, Geometric)
            assert loss.epsilon.allows(law.odds ** int(np.abs(change).sum()))
        else:
            assert isinstance(law, Gaussian)
            square = int((change**2).sum())
            spent = square / (2 * law.variance)
            if isinstance(loss, Concentrated):
                assert spent <= loss.rho
            elif square == 1:
                assert law.delta(loss.epsilon) <= loss.delta
            else:
                assert square == 0 or zcdp_epsilon(spent, loss.delta) <= loss.epsilon.rational()


def test_idealised_noise_is_not_measured() -> None:
    assert not is_exact(privatizers()["cyclic-gaussian"])
    with pytest.raises(BadInput, match="unproven in floating point"):
        measure("cyclic-gaussian", HISTOGRAM, Approximate(1, "1e-6"), 1, seeded(1))


def test_the_distribution_says_what_was_spent() -> None:
    out = private_distribution(HISTOGRAM, 1, delta="1e-6", method="privelet", seed=1)
    assert out.loss == Approximate(1, "1e-6") and out.grade == "enclosed" and isinstance(out.noise, Gaussian)
    assert (str(out.epsilon), out.delta, out.rho) == ("1", Fraction(1, 10**6), None)
    assert {"epsilon": "1", "rho": None, "delta": "1/1000000"}.items() <= out.as_json().items()
    assert private_distribution(HISTOGRAM, Concentrated(1)).rho == 1


def lying(method: Any, **lies: Any) -> Any:
    names = ("SUMMARY", "PROJECTION", "answers", "sensitivity", "squared", "estimate")
    return SimpleNamespace(**{name: getattr(method, name) for name in names} | lies)


@pytest.mark.parametrize(
    "lies, message",
    [
        ({"sensitivity": lambda bins: 1}, "changes the answers by 2"),
        ({"sensitivity": lambda bins: 2 * bins}, "sensitivity"),
        ({"squared": lambda bins: privelet.sensitivity(bins)}, "squared"),
        ({"squared": lambda bins: privelet.sensitivity(bins) ** 2 + 1}, "squared"),
        ({"answers": lambda histogram: privelet.answers(histogram) / 2}, "whole numbers"),
        ({"answers": np.flatnonzero}, "depends on the counts"),
        ({"estimate": lambda noisy, rows, bins: privelet.estimate(noisy, rows + 1, bins)}, "does not come back"),
        ({"estimate": lambda noisy, rows, bins: noisy}, "a number for every bin"),
        ({"PROJECTION": "none"}, "no projection 'none'"),
        ({"SUMMARY": ""}, "SUMMARY"),
    ],
)
def test_a_lie_is_found_out(lies: dict[str, Any], message: str) -> None:
    assert_privatizer(lying(privelet))
    with pytest.raises(AssertionError, match=message):
        assert_privatizer(lying(privelet, **lies))
