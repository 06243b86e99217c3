"""Round numbers: none where nobody rounded, whatever the noise looks like; and found where people did."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence import follow
from discreet.distribution.evidence.cells import cell_edges
from discreet.distribution.evidence.heaps import GUESSES, NoisyValues, Rounding
from discreet.laws import Gaussian, NoiseLaw
from tests.distribution.noisy import Noisy, geometric, noised

Draw = Callable[[np.random.Generator], Integers]

WITHOUT: dict[str, tuple[Draw, NoiseLaw]] = {
    "even, 300 rows": (lambda rng: rng.integers(0, 1000, 300), geometric(0.25)),
    "even, 300 rows, normal noise": (lambda rng: rng.integers(0, 1000, 300), Gaussian(Fraction(16))),
    "even, 30 rows": (lambda rng: rng.integers(0, 1000, 30), geometric(1.0)),
    "lognormal, 500 rows": (lambda rng: np.floor(rng.lognormal(3, 1.2, 500)).astype(int), geometric(0.25)),
}


def clerks(rows: int, below: int, unit: int, seed: int) -> Integers:
    """Even counts, rounded by somebody."""
    return (np.random.default_rng(seed).integers(0, below, rows) + unit // 2) // unit * unit


def multiples_of_five(upto: Integers) -> float:
    return float(np.diff(upto, prepend=0)[::5].sum() / upto[-1])


@pytest.mark.parametrize("lam", [None, 0.0])
@pytest.mark.parametrize("name", WITHOUT)
def test_no_round_number_is_invented_and_neither_error_grows(name: str, lam: float | None) -> None:
    draw, noise = WITHOUT[name]
    tables = [noised(draw(np.random.default_rng(seed)), noise, seed) for seed in range(8)]
    found = [follow(table.posterior(), table.plain, lam).upto for table in tables]
    true = np.mean([(table.true % 5 == 0).mean() for table in tables])
    assert np.mean([multiples_of_five(upto) for upto in found]) == pytest.approx(true, abs=0.06)
    new, plain = (_errors(tables, of) for of in (found, [table.plain for table in tables]))
    more = (new - plain)[:, :1] if lam == 0 else new - plain  # the least count error may cost the distribution
    allowed = 2 * more.std(axis=0, ddof=1) / np.sqrt(len(tables)) + 0.005 * plain.mean(axis=0)[: more.shape[1]]
    assert (more.mean(axis=0) <= allowed).all()


def _errors(tables: list[Noisy], found: list[Integers]) -> Floats:
    return np.array([table.errors(upto) for table, upto in zip(tables, found)])


@pytest.mark.parametrize(("unit", "below", "epsilon"), [(5, 100, 0.5), (5, 300, 1.0), (10, 500, 0.5)])
def test_what_clerks_rounded_is_recognised(unit: int, below: int, epsilon: float) -> None:
    tables = [noised(clerks(600, below, unit, seed), geometric(epsilon), seed) for seed in range(4)]
    found = [follow(table.posterior(), table.plain, None).upto for table in tables]
    assert np.mean([multiples_of_five(upto) for upto in found]) > 0.85
    new, plain = (_errors(tables, of).mean(axis=0) for of in (found, [table.plain for table in tables]))
    assert (new < 0.87 * plain).all()


def test_rounding_of_large_counts_alone_is_recognised() -> None:
    exact = np.floor(np.random.default_rng(5).lognormal(4, 0.9, 600)).astype(int)
    table = noised(np.where(exact >= 50, (exact + 5) // 10 * 10, exact), geometric(1.0), 1)
    found = follow(table.posterior(), table.plain, None).upto
    assert multiples_of_five(found) == pytest.approx((table.true % 5 == 0).mean(), abs=0.08)
    assert (table.errors(found) < 0.8 * table.errors(table.plain)).all()


@pytest.mark.parametrize("noise", [geometric(0.25), geometric(2.0), Gaussian(Fraction(4))], ids=lambda law: law.name)
def test_noisy_values_speak_for_rounding_only_where_there_was_some(noise: NoiseLaw) -> None:
    """Heaps that leave a rest of 2 are none of round numbers; and 20,000 rows are enough at any of these noises."""
    even = np.full(205, 1 / 205)
    for seed in range(20):
        assert not told(noised(np.random.default_rng(seed).integers(0, 205, 400), noise, seed), even)
        assert not told(noised(clerks(2000, 200, 5, seed) + 2, noise, seed), even)
    (rounding,) = told(noised(clerks(20_000, 200, 5, 1), noise, 1), even)
    assert rounding.fives == 1 and rounding.share > 0.6


def told(table: Noisy, law: Floats) -> tuple[Rounding, ...]:
    """For geometric noise, with values beyond the range at its ends."""
    if table.noise.decay is None:
        return NoisyValues(table.histogram.astype(float), table.low, table.noise).roundings(law)
    rows = np.bincount(np.clip(table.noisy, 0, len(law) - 1), minlength=len(law)).astype(float)
    return NoisyValues(rows, 0, table.noise).roundings(law)


@pytest.mark.parametrize("rounding", [*GUESSES, Rounding(0.5, 0.3, 40)])
def test_rounding_moves_rows_no_further_than_it_should_and_loses_none(rounding: Rounding) -> None:
    law = np.random.default_rng(1).dirichlet(np.ones(203))
    moved = rounding.moved(law, np.arange(203))
    assert moved.sum() == pytest.approx(1) and (moved >= 0).all()
    assert np.abs(np.cumsum(moved - law)).sum() <= 5 * rounding.share  # W1: nothing is further than five away
    np.testing.assert_allclose(moved[: max(rounding.start - 5, 0)], law[: max(rounding.start - 5, 0)])
    single, held = np.zeros(203), np.zeros(203)
    single[38] = 1
    for unit, part in ((5, rounding.fives), (10, 1 - rounding.fives)):
        held[(38 + unit // 2) // unit * unit] += part * rounding.share
    held[38] += 1 - rounding.share
    np.testing.assert_allclose(rounding.moved(single, np.arange(203)), single if rounding.start > 38 else held)


def test_cells_where_noisy_values_are_dense_hold_no_more_for_it() -> None:
    rows = np.bincount(np.random.default_rng(2).integers(0, 1000, 300), minlength=1000).astype(float)
    edges = cell_edges(rows, geometric(0.25))
    widths = np.diff(edges)
    for guess in GUESSES:
        held = widths * guess.heaps(edges)
        assert held.sum() == pytest.approx(1000)
        assert np.abs(np.cumsum(held - widths)).max() <= 5
