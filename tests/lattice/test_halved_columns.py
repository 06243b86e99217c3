"""Two-way tables by halving columns: against enumeration, against a simpler version, and where floats cannot decide."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import DiscreetError
from discreet.lattice import halved_columns, zero_sums
from discreet.lattice.halved_columns import HalvedColumns, noise_table, nonnegative_table
from discreet.lattice.kept_chain import keys_of_shape
from discreet.lattice.plan import LatticePlan, plan_lattice
from discreet.lattice.potentials import SplitLaw, cell_potential
from discreet.sample.bits import Bits, seeded
from tests.clock import within
from tests.lattice import simple_halving
from tests.lattice.enumeration import Law, l1, law, margins, p_value, points, rejected
from tests.lattice.fibres import nonnegative_tables

BOTH = ["margin:row", "margin:column"]


def check_near(draws: np.ndarray, law_at: Callable[[float], Law], off: float) -> None:
    """The right law passes, and laws whose rate is a little off are rejected."""
    right = law_at(1.0)
    assert p_value(draws, right) > 1e-3
    assert rejected(draws, right, law_at(1 - off))
    assert rejected(draws, right, law_at(1 + off))


def drawn(table: HalvedColumns, number: int, single: bool, bits: Bits) -> np.ndarray:
    return np.concatenate([table.draw(1, bits) for _ in range(number)]) if single else table.draw(number, bits)


@pytest.mark.parametrize(
    ("rows", "columns", "odds", "reach", "singles"),
    [(3, 3, 3, 6, 5000), (2, 4, 3, 8, 8000), (4, 3, 3, 4, 2700), (3, 4, 3, 4, 2700), (2, 5, 3, 6, 5200)],
)
@pytest.mark.parametrize("single", [False, True])
def test_against_enumeration(rows: int, columns: int, odds: int, reach: int, singles: int, single: bool) -> None:
    """So many single draws are expected to be e^25 times as likely as under a rate 5% off."""
    number = singles if single else 40_000
    draws = drawn(noise_table(Fraction(odds), rows, columns), number, single, seeded(3))
    assert not draws.sum(axis=1).any() and not draws.sum(axis=2).any()
    matrix, rate = margins(rows, columns), math.log(odds)
    vectors = points(matrix, reach)

    def at(factor: float) -> Law:
        weights = {v: l1(factor * rate)(v) for v in vectors}
        whole = sum(weights.values())
        return {v: w / whole for v, w in weights.items()}

    check_near(draws.reshape(number, -1), at, 0.05)


def three_way(shape: tuple[int, int, int]) -> np.ndarray:
    """All two-way margins: a row for each line of cells."""
    places = np.arange(math.prod(shape)).reshape(shape)
    lines = [line for axis in range(3) for line in np.moveaxis(places, axis, 2).reshape(-1, shape[axis])]
    return np.array([np.isin(np.arange(places.size), line) for line in lines], dtype=int)


@pytest.mark.parametrize("shape", [(2, 2, 3), (3, 2, 3), (4, 2, 2)])
def test_three_way_tables_with_a_side_of_two_against_enumeration(shape: tuple[int, int, int]) -> None:
    names = ("a", "b", "c")
    keys = dict(zip(names, (part.ravel().astype(str).tolist() for part in np.indices(shape))))
    keep = [f"margin:{one},{other}" for one, other in itertools.combinations(names, 2)]
    plan = plan_lattice(keys, keep, epsilon=4)
    assert (plan.sampler, plan.grade) == ("halved-columns", "exact")
    draws, matrix = plan.draws(20_000, seeded(6)), three_way(shape)
    assert not (matrix @ draws.T).any()
    vectors, rate = points(matrix, 4), math.log(plan.law.odds)

    def at(factor: float) -> Law:
        weights = {v: l1(factor * rate)(v) for v in vectors}
        whole = sum(weights.values())
        return {v: w / whole for v, w in weights.items()}

    check_near(draws, at, 0.05)


def test_larger_three_way_tables_with_a_side_of_two() -> None:
    shape = (10, 10, 2)
    keys = dict(zip("abc", (part.ravel().astype(str).tolist() for part in np.indices(shape))))
    plan = plan_lattice(keys, ["margin:a,b", "margin:a,c", "margin:b,c"], epsilon=1)
    assert plan.grade == "exact"
    noise = plan.draws(20, seeded(2)).reshape(20, *shape)
    assert noise.any() and not any(noise.sum(axis=axis).any() for axis in (1, 2, 3))


@pytest.mark.parametrize("shape", [(10, 10, 2), (3, 3, 2)])
def test_noise_too_wide_for_its_tables_is_planned_or_refused_in_seconds(shape: tuple[int, int, int]) -> None:
    keys = dict(zip("abc", (part.ravel().astype(str).tolist() for part in np.indices(shape))))
    with within(30):
        try:
            plan = plan_lattice(keys, ["margin:a,b", "margin:a,c", "margin:b,c"], epsilon="0.01")
            assert plan.grade == "exact"
        except DiscreetError as error:
            assert error.do


@pytest.mark.parametrize(("side", "draws"), [(8, 3000), (16, 600)])
def test_moments_of_larger_tables(side: int, draws: int) -> None:
    odds = Fraction(1284, 1000)
    ours = noise_table(odds, side, side).draw(draws, seeded(1))
    simple = simple_halving.tables(math.log(odds), side, side, draws, seed=2)
    statistics = (
        lambda v: np.abs(v).sum(axis=(1, 2)),
        lambda v: (v == 0).sum(axis=(1, 2)),
        lambda v: (v**2).sum(axis=(1, 2)),
        lambda v: np.abs(v).max(axis=(1, 2)),
        lambda v: np.abs(v[:, : side // 2, : side // 2].sum(axis=(1, 2))),
        lambda v: np.abs(v[:, : side // 2, 0].sum(axis=1)),
        lambda v: np.abs(v[:, 0, : side // 2].sum(axis=1)),
        lambda v: np.abs(v[:, 0, 0]),
        lambda v: v[:, 0, 0] * v[:, 1, 1],
    )
    for statistic in statistics:
        one, other = statistic(ours), statistic(simple)
        error = math.sqrt(one.var() / len(one) + other.var() / len(other))
        assert abs(one.mean() - other.mean()) < 4 * error
    size = statistics[0]
    error = math.sqrt((size(ours).var() + size(simple).var()) / draws)
    assert abs(size(ours).mean() / 1.05 - size(simple).mean()) > 5 * error  # a rate 5% off would be noticed


def doubtful(table: HalvedColumns, doubt: float) -> HalvedColumns:
    """The same table, whose floats are trusted no more than so much."""
    stages = (
        replace(stage, split=replace(stage.split, doubt=np.maximum(stage.split.doubt, doubt))) for stage in table.stages
    )
    return replace(table, stages=tuple(stages))


@pytest.mark.parametrize("doubt", [1e-4, 0.02, 1.0])
def test_forced_ties_change_no_draw(doubt: float) -> None:
    """Whatever floats do not settle, exact arithmetic settles in the same way: the words are the same."""
    for table in (noise_table(Fraction(3, 2), 4, 3), nonnegative_table(Fraction(3, 2), np.array([[2, 0, 1]] * 4))):
        trials = doubtful(table, doubt)._trials(8, seeded(5))
        assert len(trials) and np.array_equal(trials, table._trials(8, seeded(5)))


@pytest.mark.parametrize(("doubt", "number"), [(0.0, 40_000), (1e-3, 1500)])
def test_halved_rows(monkeypatch: pytest.MonkeyPatch, doubt: float, number: int) -> None:
    """Long tables are halved by rows too: here tables of five rows, without and with forced ties."""
    for module in (halved_columns, zero_sums):
        monkeypatch.setattr(module, "LONG", 2)
    table = noise_table.__wrapped__(Fraction(5, 2), 5, 2)
    assert [spectra.grid.rows for spectra in table.stages[0].split.spectra] == [5, 2]
    draws = doubtful(table, doubt).draw(number, seeded(8)).reshape(number, -1)
    off = 0.05 if number > 2000 else 0.2
    check_near(draws, lambda factor: law(margins(5, 2), 6, l1(factor * math.log(2.5))), off)


def test_sums_outside_the_tables_are_settled_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """With windows of a few units everything beyond them is slow, and the law is the same."""
    monkeypatch.setattr(halved_columns, "_window", lambda rate, columns: 2)
    draws = noise_table.__wrapped__(Fraction(2), 3, 3).draw(1000, seeded(6)).reshape(-1, 9)
    assert np.abs(draws).max() > 2
    check_near(draws, lambda factor: law(margins(3, 3), 7, l1(factor * math.log(2))), 0.3)


def test_no_chance_exceeds_one_and_many_are_high() -> None:
    """The bound holds for whatever row sums come (otherwise it would be said), and is not wasteful."""
    for side, least in ((8, 0.7), (16, 0.4), (30, 0.15)):
        table = noise_table(Fraction(1284, 1000), side, side)
        assert len(table._trials(200, seeded(7))) > least * 200


def test_the_law_of_a_split() -> None:
    """Against sums of rationals, in the middle and in both tails."""
    odds = Fraction(2)
    law_ = SplitLaw(cell_potential(odds), cell_potential(odds, count=3), 4)
    weights = {s: odds ** -(abs(s) + abs(4 - s)) for s in range(-300, 8)}
    whole = sum(weights.values())
    for k in (-9, -1, 0, 2, 4, 6, 7, 12):
        share = sum((w for s, w in weights.items() if s <= k), Fraction(0)) / whole
        low, high = law_.below(k, 80)
        assert low <= share * 2**80 + 1 and share * 2**80 - 1 <= high and high - low <= 2


@pytest.mark.parametrize(
    ("counts", "odds", "singles", "off"),
    [
        ([[3, 0, 1], [0, 2, 1], [1, 1, 0]], Fraction(5, 3), 3000, 0.1),
        ([[2, 0, 1], [0, 1, 0], [1, 1, 1], [0, 2, 0]], Fraction(10, 7), 3000, 0.12),
        ([[4, 0], [0, 3], [1, 1]], Fraction(10, 7), 17_000, 0.05),
        ([[9, 4], [4, 9], [6, 7]], Fraction(3, 2), 9000, 0.05),
        ([[0, 0, 7], [9, 0, 0], [0, 1, 0]], Fraction(3, 2), 3000, 0.12),
    ],
)
@pytest.mark.parametrize("single", [False, True])
def test_nonnegative_tables_against_enumeration(
    counts: list[list[int]], odds: Fraction, singles: int, off: float, single: bool
) -> None:
    """Small tables are drawn in a third of a millisecond: so often, that single draws tell a rate 5% off, too."""
    given, number = np.array(counts), singles if single else 60_000
    noise = drawn(nonnegative_table(odds, given), number, single, seeded(4))
    fibre = nonnegative_tables(margins(*given.shape), given.ravel()) - given.ravel()

    def at(factor: float) -> Law:
        weights = float(odds) ** (-factor * np.abs(fibre).sum(axis=1))
        return {tuple(v): w for v, w in zip(fibre.tolist(), (weights / weights.sum()).tolist())}

    check_near(noise.reshape(number, -1), at, off if single else 0.05)


def plan_of(rows: int, columns: int, **options: object) -> LatticePlan:
    return plan_lattice(keys_of_shape((rows, columns)), BOTH, **options)  # type: ignore[arg-type]


def test_single_draws_of_a_small_table_that_may_not_fall_below_zero() -> None:
    counts = np.array([[0, 12, 0, 3], [5, 0, 1, 0], [0, 2, 0, 40], [1, 0, 7, 0]])
    plan = plan_of(4, 4, epsilon=1, nonnegative=True)
    assert (plan.sampler, plan.grade) == ("halved-nonnegative", "exact")
    for seed in range(25):
        published = plan.release(counts.ravel(), seeded(seed)).reshape(4, 4)
        assert published.min() >= 0
        assert np.array_equal(published.sum(axis=0), counts.sum(axis=0))
        assert np.array_equal(published.sum(axis=1), counts.sum(axis=1))


def test_large_counts_and_an_empty_table() -> None:
    plan = plan_of(5, 5, epsilon=2, nonnegative=True)
    for counts in (np.full(25, 1000), np.zeros(25, dtype=np.int64)):
        assert plan.release(counts, seeded(1)).min() >= 0
    assert not plan.draw(seeded(2), np.zeros(25, dtype=np.int64)).any()  # there is only one such table


@pytest.mark.parametrize("shape", [(30, 30), (5, 40), (700, 6)])
def test_tables_of_any_width(shape: tuple[int, int]) -> None:
    plan = plan_of(*shape, epsilon=1)
    assert (plan.sampler, plan.grade) == ("halved-columns", "exact")
    draws = plan.draws(3, seeded(1)).reshape(3, *shape)
    assert not draws.sum(axis=1).any() and not draws.sum(axis=2).any()
    assert len(np.unique(np.abs(draws).sum(axis=(1, 2)))) > 1


def test_noise_wider_than_the_stored_tables() -> None:
    plan = plan_of(8, 5, epsilon="1/8")
    assert plan.sampler == "halved-columns"
    draws = plan.draws(60, seeded(1))
    assert not (margins(8, 5) @ draws.T).any()
    # for wide noise a cell's mean size grows like the inverse of the rate
    usual = np.abs(plan_of(8, 5, epsilon=1).draws(400, seeded(2))).mean()
    assert abs(np.abs(draws).mean() / usual / 8 - 1) < 0.1


def test_bits_of_the_operating_system() -> None:
    plan = plan_of(6, 6, epsilon=1)
    assert not np.array_equal(plan.draw(Bits()), plan.draw(Bits()))


GAPS = {(4, 4): [(0, 0), (1, 1), (2, 2), (3, 3)], (3, 5): [(0, 0), (1, 1), (2, 4)]}


def lacking(shape: tuple[int, int], odds: Fraction) -> HalvedColumns:
    return noise_table.__wrapped__(odds, *shape, 1, frozenset((*place, 0) for place in GAPS[shape]))


def law_of(shape: tuple[int, int], rate: float, reach: int) -> Law:
    there = np.ones(shape, dtype=bool)
    there[tuple(zip(*GAPS[shape]))] = False
    weights = {v: l1(rate)(v) for v in points(margins(*shape)[:, there.ravel()], reach)}
    whole = sum(weights.values())
    return {v: w / whole for v, w in weights.items()}


@pytest.mark.parametrize("shape", GAPS)
@pytest.mark.parametrize("few", [0, 99])
def test_tables_that_lack_cells_against_enumeration(
    shape: tuple[int, int], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether they share what they look up with others, or have it for themselves."""
    monkeypatch.setattr(halved_columns, "FEW_PATTERNS", few)
    table = lacking(shape, Fraction(3))
    kinds = [len(stage.split.pairs) for stage in table.stages[1:]]
    assert (kinds == [2 ** (2 if shape == (4, 4) or k else 3) for k in range(len(kinds))]) == (few == 0)
    draws = table.draw(40_000, seeded(3))
    assert not draws.sum(axis=1).any() and not draws.sum(axis=2).any()
    there = np.ones(shape, dtype=bool)
    there[tuple(zip(*GAPS[shape]))] = False
    assert not draws[:, ~there].any()
    check_near(draws[:, there], lambda factor: law_of(shape, factor * math.log(3), 4), 0.05)


def test_tables_that_lack_cells_elsewhere_share_what_they_look_up() -> None:
    rng = np.random.default_rng(3)
    holes = [frozenset((int(i), int(j), 0) for i, j in np.argwhere(rng.random((8, 8)) < 0.2)) for _ in range(2)]
    one, other = (noise_table(Fraction(2), 8, 8, 1, some) for some in holes)
    assert {id(stage.split) for stage in one.stages[1:]} == {id(stage.split) for stage in other.stages[1:]}
    assert one.stages[0].split.reach == 0 and all(stage.split.reach > 0 for stage in one.stages[1:])


@pytest.mark.parametrize("shape", GAPS)
def test_rough_draws_have_the_sizes_of_draws(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 2% of the mean size of the noise; not so if all trials went on alike."""
    exact = sum(sum(map(abs, v)) * chance for v, chance in law_of(shape, math.log(3), 4).items())

    def mean() -> float:
        draws = lacking(shape, Fraction(3)).roughly(40_000, seeded(4))
        assert not draws.sum(axis=1).any() and not draws.sum(axis=2).any()
        return float(np.abs(draws).sum(axis=(1, 2)).mean())

    assert abs(mean() / exact - 1) < 0.02
    monkeypatch.setattr(halved_columns, "_replaced", lambda rows, nodes, bits: np.arange(len(rows.sums) // nodes))
    assert abs(mean() / exact - 1) > 0.04
