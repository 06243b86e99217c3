"""What conditioning costs: the true worst-case loss over all pairs of small tables, in exact rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.lattice.conditioning import bound_for, largest_odds, shifted
from discreet.lattice.inequalities import inequalities_of
from discreet.lattice.invariants import invariant_matrix
from discreet.lattice.plan import LatticePlan, lattice_sampler
from discreet.lattice.redrawing import Redrawing
from discreet.lattice.structure import structure_of
from discreet.numbers import Epsilon, log_bounds
from discreet.privacy.values import Pure
from tests.lattice.fibres import margins, nonnegative_tables

Table = tuple[int, ...]
TOTAL, TWO_BLOCKS = np.ones((1, 3), dtype=int), np.array([[1, 1, 0, 0], [0, 0, 1, 1]])
NESTED = np.array([[1, 1, 1, 1], [1, 1, 0, 0]])
OVERLAP = np.array([[1, 1, 1, 0], [0, 1, 1, 1]])  # the two in the middle are alike: one person can move


def plan_for(matrix: np.ndarray, epsilon: str, **options: object) -> LatticePlan:
    invariants = invariant_matrix([dc.sums(matrix)], {}, matrix.shape[1])
    return lattice_sampler(invariants, epsilon, **options)  # type: ignore[arg-type]


def distance(one: Table, other: Table) -> int:
    return sum(abs(a - b) for a, b in zip(one, other))


def worst_ratios(fibre: list[Table], odds: Fraction) -> dict[int, Fraction]:
    """For every distance of two tables, the largest likelihood ratio of any outcome: that of one of the two itself."""
    totals, found = normalisers(fibre, odds), dict[int, Fraction]()
    for x, other in product(fibre, fibre):
        k = distance(x, other)
        found[k] = max(found.get(k, Fraction(1)), odds**k * totals[other] / totals[x])
    return found


def normalisers(fibre: list[Table], odds: Fraction) -> dict[Table, Fraction]:
    weights = [odds**-k for k in range(2 * max(map(sum, fibre)) + 1)]
    return {x: sum((weights[distance(x, y)] for y in fibre), Fraction(0)) for x in fibre}


def tables(matrix: np.ndarray, counts: list[int], most: int | None = None) -> list[Table]:
    """Every table with these sums; with an upper bound on every cell, if one is given."""
    found = [tuple(row) for row in nonnegative_tables(matrix, np.array(counts)).tolist()]
    return found if most is None else [one for one in found if max(one) <= most]


FIBRES: dict[str, tuple[np.ndarray, list[int]]] = {
    "total": (TOTAL, [4, 0, 1]),
    "all in one of two": (np.ones((1, 2), dtype=int), [12, 0]),
    "all in one of four": (np.ones((1, 4), dtype=int), [6, 0, 0, 0]),
    "blocks": (TWO_BLOCKS, [3, 0, 4, 1]),
    "nested": (NESTED, [2, 1, 0, 3]),
    "two-way 2 x 2": (margins(2, 2), [3, 0, 1, 3]),
    "two-way 2 x 3": (margins(2, 3), [2, 1, 0, 0, 1, 2]),
    "two-way 3 x 3": (margins(3, 3), [0, 2, 0, 2, 0, 0, 0, 0, 2]),
    "overlapping": (OVERLAP, [1, 2, 0, 2]),
}


@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
@pytest.mark.parametrize("contributions", [1, 2])
@pytest.mark.parametrize("name", FIBRES)
def test_the_true_loss_is_at_most_the_claim(
    name: str, contributions: int, epsilon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The promise for the change it is about, and the price of a unit of distance for every change there is; also
    where bounds would be met too rarely to be drawn."""
    monkeypatch.setattr(Redrawing, "rarely_met", lambda *_: None)
    matrix, counts = FIBRES[name]
    for most in (None, max(counts)):
        limits = None if most is None else (-np.eye(len(counts), dtype=int), [-most] * len(counts))
        options = {"nonnegative": True, "contributions": contributions}
        plan = plan_for(matrix, epsilon, **options, **({} if limits is None else {"inequalities": limits}))
        assert plan.law.odds is not None and plan.bound in ("stepwise", "shifted")
        promised, unit = plan.guarantee.epsilon, plan.guarantee.unit
        assert promised is not None and unit.rate.epsilon is not None
        for k, ratio in worst_ratios(tables(matrix, counts, most), plan.law.odds).items():
            if 0 < k <= unit.change.distance * contributions:
                assert promised.allows(ratio), (most, k)
            assert unit.rate.epsilon.times(k).allows(ratio) or k == 0, (most, k)


@pytest.mark.parametrize("name", ["total", "blocks", "two-way 2 x 3", "overlapping"])
def test_per_unit_every_distance_is_paid_for(name: str) -> None:
    matrix, counts = FIBRES[name]
    plan = plan_for(matrix, "1/2", nonnegative=True, per_unit=True)
    assert plan.law.odds is not None and plan.guarantee.epsilon is not None
    assert plan.bound == ("doubled" if name in ("two-way 2 x 3", "overlapping") else "stepwise")
    for k, ratio in worst_ratios(tables(matrix, counts), plan.law.odds).items():
        assert k == 0 or plan.guarantee.epsilon.times(k).allows(ratio)


def test_a_free_cell_within_bounds() -> None:
    """One person more or less in a cell of 0..most; the largest loss is at the bounds."""
    for most, epsilon in product((1, 3, 40), ("1/10", "1", "4")):
        odds = largest_odds(Epsilon(value=Fraction(epsilon)), 1)
        fibre = [(n,) for n in range(most + 1)]
        assert Epsilon(value=Fraction(epsilon)).allows(worst_ratios(fibre, odds)[1])
    plan = plan_for(np.array([[1, 0, 0]]), "1", nonnegative=True)
    assert plan.bound == "stepwise" and plan.change.distance == 1 and plan.law.odds is not None
    assert float(plan.law.odds) == pytest.approx(2.1775, rel=1e-4)  # 1/a + 1 - a = e


def test_the_numbers_of_the_theorem() -> None:
    """One person moved: a^-2 = (1 + e^eps)/2. A swap: the largest u = a^-2 with u^3 + u^2 - u <= e^eps."""
    moved, swap = (plan_for(matrix, "1", nonnegative=True) for matrix in (TOTAL, margins(3, 3)))
    assert moved.law.odds is not None and swap.law.odds is not None
    assert float(moved.law.odds**2) == pytest.approx((1 + np.e) / 2, rel=1e-10)
    u = swap.law.odds**2
    assert float(u**3 + u**2 - u) == pytest.approx(np.e, rel=1e-10) and Fraction(np.e) > u**3 + u**2 - u
    assert swap.guarantee.unit.rate == Pure(Epsilon(ratio=u))
    rate = moved.guarantee.unit.rate.epsilon
    assert rate is not None and rate.value is not None
    assert log_bounds(2 * moved.law.odds**2 - 1)[1] / 2 <= rate.value <= Fraction(1, 2)


def test_the_bound_for_one_person_moved_is_approached() -> None:
    """Everybody in one of d cells: 2 - b - (1 - b)^d of the normalisers in the limit of many people."""
    odds = Fraction(6, 5)
    ratios = [worst_ratios(tables(np.ones((1, d), int), [n, *[0] * (d - 1)]), odds)[2] for d, n in ((2, 4), (3, 8))]
    assert ratios[0] < ratios[1] < shifted(odds, 2)


def largest_change(fibre: list[Table], odds: Fraction, k: int) -> Fraction:
    totals = normalisers(fibre, odds)
    return max(totals[x] / totals[y] for x, y in product(fibre, fibre) if distance(x, y) == k)


def test_what_holds_for_one_person_does_not_hold_for_a_swap() -> None:
    odds = Fraction(4, 3)
    found = largest_change(tables(margins(3, 3), [3, 0, 0, 0, 3, 0, 0, 0, 3]), odds, 4)
    assert 2 - odds**-2 < found <= 1 + odds**2 - odds**-2
    assert float(found) == pytest.approx(1.4806, abs=1e-4)


def test_general_inequalities_are_paid_for_twice() -> None:
    """Counterexamples: inequalities about several cells, where nothing below odds^(2k) is proved."""
    odds = Fraction(4, 3)
    total = [one for one in product(range(7), repeat=5) if sum(one) == 6]
    two = [one for one in total if one[0] + one[1] >= 3 and one[1] + one[2] >= 2]
    assert float(largest_change(two, odds, 2)) == pytest.approx(1.498, abs=1e-3) and 2 - odds**-2 < Fraction(144, 100)
    ordered = [one for one in product(range(9), repeat=4) if sum(one) == 8 and list(one) == sorted(one)]
    assert float(largest_change(ordered, odds, 2)) == pytest.approx(1.462, abs=1e-3)
    for rows in ([[1, 1, 0, 0, 0], [0, 1, 1, 0, 0]], [[-1, 1, 0, 0, 0]]):
        plan = plan_for(np.ones((1, 5), int), "1", nonnegative=True, inequalities=(rows, [0] * len(rows)))
        assert plan.bound == "doubled" and plan.law.odds is not None
        assert float(plan.law.odds) == pytest.approx(np.exp(1 / 4))
        allowed = [one for one in total if all(np.array(rows) @ one >= 0)]
        assert Epsilon(value=Fraction(1)).allows(worst_ratios(allowed, plan.law.odds)[2])


def test_a_gate_makes_general_inequalities_nearly_twice_as_dear() -> None:
    """y0 + y1 = 1, and six more cells of 0..4 that sum to 12, bound to stay at 2 unless y1 = 1."""
    b = Fraction(1, 2)
    fibre = product(range(5), repeat=3)  # of half of the six: the weights of both halves multiply
    weights: dict[int, Fraction] = {}
    for one in fibre:
        weights[sum(one)] = weights.get(sum(one), Fraction(0)) + b ** sum(abs(n - 2) for n in one)
    around = sum((weights[s] * weights[12 - s] for s in weights), Fraction(0))
    closed, opened = 1 + b**2 * around, b**2 + around
    assert float(opened / closed) == pytest.approx(3.62, abs=0.01) and opened / closed < b**-2


def test_which_bound_is_proved_for_what() -> None:
    def bound(matrix: np.ndarray, rows: list[list[int]] | None = None, **more: object) -> str:
        structure = structure_of(invariant_matrix([dc.sums(matrix)], {}, matrix.shape[1]))
        limits = None if rows is None else inequalities_of((rows, [0] * len(rows)))
        given = {"distance": 4, "people": 1, "per_unit": False} | more
        return bound_for(structure, limits, **given)  # type: ignore[arg-type]

    assert bound(TOTAL) == bound(NESTED) == bound(TOTAL, [[0, 2, 0], [-1, 0, 0]]) == "stepwise"
    assert bound(TOTAL, [[1, 1, 0]]) == bound(margins(2, 2), [[1, -1, 0, 0]]) == "doubled"
    assert bound(margins(2, 2)) == "shifted" and bound(margins(2, 2), [[1, 0, 0, 0]]) == "shifted"
    assert bound(margins(2, 2), per_unit=True) == bound(margins(2, 2), people=17) == "doubled"


@pytest.mark.parametrize("distance", [1, 2, 4, 6])
def test_the_largest_odds_are_nearly_the_largest(distance: int) -> None:
    for epsilon in ("1e-6", "1/10", "1", "20"):
        allowed = Epsilon(value=Fraction(epsilon))
        odds = largest_odds(allowed, distance)
        assert allowed.allows(shifted(odds, distance))
        assert not allowed.allows(shifted(1 + (odds - 1) * (1 + Fraction(1, 10**9)), distance))


def test_moves_one_by_one_cost_no_more_than_all_at_once() -> None:
    """So the bound that is used is the least of those that are proved."""
    for odds, (step, times) in product((Fraction(101, 100), Fraction(2), Fraction(9)), combinations((1, 2, 3, 4), 2)):
        if step <= 2:
            assert shifted(odds, step) ** times <= shifted(odds, step * times) <= odds ** (2 * step * times)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_four_functions(data: st.DataObject) -> None:
    """The lemma behind Gaussian noise: f, g and h are arbitrary, k as small as the condition lets it be."""
    few = st.lists(st.integers(0, 6), min_size=1, max_size=5)
    f, g = (dict(enumerate(data.draw(few))) for _ in range(2))
    h = {m: Fraction(data.draw(st.integers(1, 6))) for m in range((len(f) + len(g)) // 2)}
    k: dict[int, Fraction] = {}
    for x, y in product(f, g):
        top = -(-(x + y) // 2)
        k[top] = max(k.get(top, Fraction(0)), f[x] * g[y] / h[(x + y) // 2])
    assert sum(f.values()) * sum(g.values()) <= sum(h.values()) * sum(k.values())


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_four_functions_of_two_places(data: st.DataObject) -> None:
    """The same on a square, floor and ceiling place by place; zeros, too."""
    square = list(product(range(3), repeat=2))
    f, g, h = ({at: Fraction(data.draw(st.integers(least, 5))) for at in square} for least in (0, 0, 1))
    k: dict[tuple[int, ...], Fraction] = {}
    for x, y in product(f, g):
        low, top = tuple((i + j) // 2 for i, j in zip(x, y)), tuple(-(-(i + j) // 2) for i, j in zip(x, y))
        k[top] = max(k.get(top, Fraction(0)), f[x] * g[y] / h[low])
    assert sum(f.values()) * sum(g.values()) <= sum(h.values()) * sum(k.values())


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_gaussian_noise_under_bounds_at_whole_orders(data: st.DataObject) -> None:
    """A block with its sum, cells of 0 to some bound: sum P^t Q^(1-t) <= b^(-t(t-1)|x-x'|^2), b = exp(-1/(2 s^2))."""
    tops = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    total = data.draw(st.integers(1, sum(tops) - 1))
    fibre = [one for one in product(*(range(top + 1) for top in tops)) if sum(one) == total]
    x, other = (data.draw(st.sampled_from(fibre)) for _ in range(2))
    b = Fraction(data.draw(st.integers(1, 19)), 20)

    def away(one: tuple[int, ...], two: tuple[int, ...]) -> int:
        return sum((i - j) ** 2 for i, j in zip(one, two))

    def law(centre: tuple[int, ...]) -> list[Fraction]:
        weights = [b ** away(one, centre) for one in fibre]
        return [weight / sum(weights) for weight in weights]

    for order in (2, 3, 5):
        moment = sum((p**order * q ** (1 - order) for p, q in zip(law(x), law(other))), Fraction(0))
        assert moment <= b ** (-order * (order - 1) * away(x, other))
