"""Walks in floats: the law of the exact ones, as far as many draws can tell."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.lattice.klein import KleinGaussian, KleinLaplace, box_ladder, chain_ladder
from discreet.lattice.rough import rough_draws
from discreet.sample.bits import seeded
from tests.clock import within
from tests.lattice.enumeration import gaussian, l2, law, margins, p_value, rejected

DRAWS = 40_000
GRID = box_ladder(np.arange(9).reshape(3, 3), 9)
LINE, ONES = chain_ladder([np.arange(4)], 4), np.ones((1, 4), dtype=int)


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(2)])
def test_gaussian_walks_against_enumeration(variance: Fraction) -> None:
    draws = rough_draws(KleinGaussian(GRID, variance), DRAWS, seeded(1))
    right, *wrong = (law(margins(3, 3), 6, gaussian(factor * float(variance))) for factor in (1, 0.95, 1.05))
    assert p_value(draws, right) > 1e-3
    assert all(rejected(draws, right, other) for other in wrong)


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(3)])
def test_walks_of_the_l2_law_against_enumeration(rate: Fraction) -> None:
    draws = rough_draws(KleinLaplace(LINE, rate), DRAWS, seeded(2))
    right, *wrong = (law(ONES, 20, l2(factor * float(rate))) for factor in (1, 0.95, 1.05))
    assert p_value(draws, right) > 1e-3
    assert all(rejected(draws, right, other) for other in wrong)


@pytest.mark.parametrize("walks", [KleinGaussian(LINE, Fraction(300)), KleinLaplace(LINE, Fraction(1, 20))])
def test_wide_walks_are_as_wide_as_the_exact_ones(walks: KleinGaussian | KleinLaplace) -> None:
    bits = seeded(3)
    exact = np.stack([walks.draw(bits) for _ in range(1000)]).astype(float)
    rough = rough_draws(walks, DRAWS, bits).astype(float)
    assert not rough.sum(axis=1).any()
    one, other = ((draws**2).sum(axis=1) for draws in (exact, rough))
    error = math.sqrt(one.var() / len(one) + other.var() / len(other))
    assert abs(one.mean() - other.mean()) < 4 * error
    assert abs(one.mean() - 1.3 * other.mean()) > 4 * error


def test_nearly_no_noise_has_its_intervals() -> None:
    draws = rough_draws(KleinGaussian(LINE, Fraction(1, 5000)), 500, seeded(4))
    assert not draws.any()


def test_wide_tables_are_estimated_in_seconds() -> None:
    keys = {"a": [str(k // 12) for k in range(144)], "b": [str(k % 12) for k in range(144)]}
    table = dc.table(pa.table({**keys, "n": [k % 7 for k in range(144)]}), "n", "all")
    kept = {"keep": [dc.margin("a"), dc.margin("b")], "law": "gaussian"}
    with within(20):
        answer = dc.estimate(dc.release(table, rho="1/2", **kept)).rows()["0", "5"]  # type: ignore[arg-type]
    assert answer.interval[0] < answer.estimate < answer.interval[1]
