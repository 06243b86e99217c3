"""Three-way tables with a side of three, all two-way margins kept: the law, its bounds, what settles ties."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.lattice import points
from discreet.lattice.kept_chain import keys_of_shape
from discreet.lattice.plan import LatticePlan, plan_lattice
from discreet.lattice.points import PointLaw, outwards, point_potential, square
from discreet.lattice.three_layers import ThreeLayers, _exact_chance, three_layers
from discreet.sample.bits import seeded
from tests.lattice.enumeration import FALSE_ALARM, Law, p_value

MARGINS = ["margin:row,column", "margin:row,layer", "margin:column,layer"]
ODDS = Fraction(9, 5)


def plan_of(shape: tuple[int, int, int], **options: object) -> LatticePlan:
    return plan_lattice(keys_of_shape(shape), MARGINS, **options)  # type: ignore[arg-type]


def small_tables(shape: tuple[int, int, int], reach: int) -> np.ndarray:
    """All tables without margins whose free cells are at most so large, one a row."""
    free = [side - 1 for side in shape]
    tables = np.array(list(itertools.product(range(-reach, reach + 1), repeat=math.prod(free))), dtype=np.int64)
    tables = tables.reshape(-1, *free)
    for axis in (1, 2, 3):
        tables = np.concatenate([tables, -tables.sum(axis=axis, keepdims=True)], axis=axis)
    return tables.reshape(len(tables), -1)


def law_of(tables: np.ndarray, rate: float, longest: int) -> Law:
    lengths = np.abs(tables).sum(axis=1)
    tables, lengths = tables[lengths <= longest], lengths[lengths <= longest]
    weights = np.exp(-rate * lengths)
    return dict(zip(map(tuple, tables.tolist()), (weights / weights.sum()).tolist()))


@pytest.mark.parametrize(
    ("shape", "reach", "draws", "single"),
    [((3, 3, 3), 2, 20_000, False), ((3, 3, 3), 2, 12_000, True), ((3, 4, 3), 1, 12_000, False)],
)
def test_the_law_among_short_tables(shape: tuple[int, int, int], reach: int, draws: int, single: bool) -> None:
    """Given that a draw is among the tables listed, it is each of them with a chance in proportion to its weight."""
    rate = math.log(ODDS)
    plan = plan_of(shape, alpha=1 / ODDS, per_unit=True)
    assert (plan.sampler, plan.grade) == ("halved-layers", "exact")
    bits = seeded(3)
    noise = np.stack([plan.draw(bits) for _ in range(draws)]) if single else plan.draws(draws, bits)
    cube = noise.reshape(-1, *shape)
    assert not any(cube.sum(axis=axis).any() for axis in (1, 2, 3))
    tables = small_tables(shape, reach)
    right, wider, narrower = (law_of(tables, share * rate, 16) for share in (1, 0.95, 1.05))
    listed = np.array([row for row in map(tuple, noise.tolist()) if row in right])
    assert len(listed) > draws / 2
    assert p_value(listed, right) > FALSE_ALARM
    assert p_value(listed, wider) < FALSE_ALARM and p_value(listed, narrower) < FALSE_ALARM


def test_the_length_of_larger_noise() -> None:
    """The l1 length of noise of rate r has mean close to m/r where noise is wide: m dimensions."""
    shape = (3, 4, 3)
    draws = plan_of(shape, epsilon=1).draws(300, seeded(1))
    lengths = np.abs(draws).sum(axis=1) / 8
    assert abs(lengths.mean() - 12) < 5 * math.sqrt(12 / 300) + 0.2


@pytest.fixture(scope="module")
def table() -> ThreeLayers:
    found = three_layers(ODDS, 4, 3)
    assert found is not None
    return found


def test_chances_to_any_precision_are_those_in_floats(table: ThreeLayers) -> None:
    """And no chance of going on is above one, far outside of what is worked out too."""
    node = table.nodes[1]
    assert node.potential is not None
    rng = np.random.default_rng(1)
    for scale in (1, 4, 30):
        sums = rng.integers(-scale, scale + 1, (4, 2))
        sums[-1] = -sums[:-1].sum(axis=0)
        laws = [node.split.law((int(x), int(y))) for x, y in sums]
        value, error = node.split.zero_sum(laws)
        over = math.exp(sum(math.log(law.plain / node.potential.at(law.point)) for law in laws))
        low, high = (bound / 2**64 for bound in _exact_chance(laws, node.potential)(64))
        assert (value - error) * over <= high + 1e-12 and low - 1e-12 <= (value + error) * over
        assert 0 <= low <= high < 1 and high - low < 1e-15


def test_a_law_of_points_to_any_precision() -> None:
    cell = point_potential(ODDS)
    law = PointLaw(cell, cell, (3, -5), 12)
    x, y = (axis.ravel()[outwards(law.reach)] for axis in square(law.reach))
    parts = np.stack([x + law.centre[0], y + law.centre[1]], axis=1)
    lengths = np.abs(parts).sum(axis=1) + np.abs(parts.sum(axis=1))
    rest = np.array([3, -5]) - parts
    lengths += np.abs(rest).sum(axis=1) + np.abs(rest.sum(axis=1))
    weights = float(ODDS) ** -lengths.astype(float)
    running = np.cumsum(weights / weights.sum())
    for k in (0, 1, 7, 40, 200):
        low, high = law.below(k, 64)
        assert low <= high <= low + 4
        assert abs(low / 2**64 - running[k]) < 1e-8
        assert abs(law._running[k] - low / 2**64) <= law.doubt


def test_ties_are_settled_as_the_floats_would(table: ThreeLayers, monkeypatch: pytest.MonkeyPatch) -> None:
    """With everything in doubt all is decided by exact chances; from the same words, the same tables."""
    usual = table.draw(6, seeded(4))
    fresh = three_layers.__wrapped__(ODDS, 4, 3)
    assert fresh is not None
    monkeypatch.setattr(points.PointLaw, "doubt", property(lambda law: 1.0))
    assert np.array_equal(fresh.draw(6, seeded(4)), usual)


def test_sizes_and_what_is_refused() -> None:
    large = plan_of((8, 3, 7), epsilon=1)
    assert large.grade == "exact" and not np.array_equal(large.draw(seeded(1)), large.draw(seeded(2)))
    cube = large.draw(seeded(1)).reshape(8, 3, 7)
    assert not any(cube.sum(axis=axis).any() for axis in range(3))
    assert three_layers(Fraction(9, 8), 17, 16) is None
    assert three_layers(Fraction(101, 100), 3, 3) is None


def test_advice_that_works() -> None:
    from discreet.errors import NotProven

    for shape, gone, met in [
        ((4, 4, 4), (), True),
        ((4, 4, 5), (), False),
        ((3, 3, 3), (0,), True),
        ((17, 16, 3), (), False),
    ]:
        there = [i for i in range(math.prod(shape)) if i not in gone]
        keys = {name: [values[i] for i in there] for name, values in keys_of_shape(shape).items()}
        with pytest.raises(NotProven) as caught:
            plan_lattice(keys, MARGINS, 1)
        advice = str(caught.value)
        assert "Use law gaussian (with rho)" in advice and ("allow diagnosed" in advice) == met
        assert plan_lattice(keys, MARGINS, rho=1, law="gaussian").grade == "exact"
        if gone:
            assert plan_lattice(keys, MARGINS, 1, allow_diagnosed=True).grade == "diagnosed"
