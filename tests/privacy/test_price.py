"""The price of one person, against the slow obvious way: enumerate outputs, take the worst likelihood ratio."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.distribution.privatizer import exact_privatizers, privatizer
from discreet.errors import BadInput
from discreet.numbers import Epsilon, exp_bounds
from discreet.privacy import Approximate, Change, Concentrated, Neighbours, Pure
from discreet.privacy.convert import zcdp_epsilon
from discreet.privacy.price import group_delta, price, price_in_rho
from discreet.privacy.values import above, one_person

ADDED, MOVED = "added-or-removed", "moved"
MOVE = Change("moved", distance=2, square=2, more=1, fewer=1, rows=2)
SWAP = Change("swapped", distance=4, square=4, more=2, fewer=2, rows=4)
BOX = range(-6, 9)


def kept_total(epsilon: Fraction) -> Neighbours:
    return Neighbours(MOVE, Pure(epsilon / 2))


def worst(rate: Fraction, before: tuple[int, ...], after: tuple[int, ...], fibre: bool) -> Fraction:
    """The largest log-likelihood ratio of noise e^(-rate |v|_1); in a fibre, among tables with the same total."""
    outputs = [y for y in product(BOX, repeat=len(before)) if not fibre or sum(y) == sum(before)]
    return max(
        rate * (sum(abs(a - b) for a, b in zip(y, after)) - sum(abs(a - b) for a, b in zip(y, before))) for y in outputs
    )


def test_a_move_under_geometric_noise_and_a_kept_total_costs_three() -> None:
    one = Fraction(1)
    before, after = (2, 1, 1), (1, 2, 1)
    really = worst(one, before, after, fibre=False) + worst(one / 2, before, after, fibre=True)
    assert really == 3
    charged = [price(Pure(1), one_person(Pure(1)), MOVED), price(Pure(1), kept_total(one), MOVED)]
    assert sum(above(part.epsilon) for part in charged if part.epsilon is not None) == really


@pytest.mark.parametrize("people", [1, 2])
@pytest.mark.parametrize("relation", [ADDED, MOVED])
def test_pure_noise_costs_what_the_worst_output_shows(people: int, relation: str) -> None:
    rate = Fraction(1, 3)
    before, after = (3, 1), ((3 - people, 1) if relation == ADDED else (3 - people, 1 + people))
    promise = Pure(rate * people)
    found = price(promise, one_person(Pure(rate), people), relation)  # type: ignore[arg-type]
    assert isinstance(found, Pure) and found.epsilon.value == worst(rate, before, after, fibre=False)


def test_a_swap_or_a_unit_does_not_change_what_a_person_costs() -> None:
    """The rate is what counts, whatever change the promise names, and whether or not it is per unit."""
    rate = Pure("1/4")
    per_swap, per_unit = Neighbours(SWAP, rate), Neighbours(SWAP, rate, per_unit=True)
    for loss, unit in ((Pure(1), per_swap), (Pure("1/4"), per_unit)):
        assert price(loss, unit, ADDED) == Pure("1/4")
        assert price(loss, unit, MOVED) == Pure("1/2")


def test_conditioned_noise_costs_its_own_rate_where_that_is_more() -> None:
    """No negative counts: the promise per swap is 1, but a unit costs more than a quarter of it."""
    unit = Neighbours(SWAP, Pure("0.278"))
    assert price(Pure(1), unit, MOVED) == Pure("0.556")


def test_odds_that_are_rational_do_not_show_in_the_price() -> None:
    odds = Epsilon(value=Fraction(1, 2)).odds()
    assert price(Pure(1), Neighbours(MOVE, Pure(Epsilon(ratio=odds))), MOVED) == Pure(1)
    larger = odds * Fraction(1_000_001, 1_000_000)
    dear = price(Pure(1), Neighbours(MOVE, Pure(Epsilon(ratio=larger))), MOVED).epsilon
    assert dear is not None and dear.value is not None and Epsilon(value=dear.value).allows(larger**2)


def test_l2_noise_costs_the_root_rounded_up() -> None:
    unit = Neighbours(MOVE, Pure("1/10"), norm="l2", per_unit=True)
    found = price(Pure("1/10"), unit, MOVED).epsilon
    assert found is not None and found.value is not None
    outputs = np.array(list(product(range(-40, 41), repeat=2)))
    before, after = np.array([2, 0]), np.array([1, 1])
    steps = np.linalg.norm(outputs - after, axis=1) - np.linalg.norm(outputs - before, axis=1)
    assert 0.1 * steps.max() <= found.value < 0.1 * steps.max() * 1.001
    assert found.value**2 > Fraction(2, 100)


@pytest.mark.parametrize("people", [1, 2])
def test_gaussian_noise_costs_what_renyi_divergences_show(people: int) -> None:
    variance, order = Fraction(9), 3
    unit = one_person(Concentrated(1 / (2 * variance)), people)
    support = np.arange(-120, 121)

    def divergence(shift: int) -> float:
        one, other = (-((support - middle) ** 2) / (2 * float(variance)) for middle in (0, shift))
        one, other = one - np.logaddexp.reduce(one), other - np.logaddexp.reduce(other)
        return float(np.logaddexp.reduce(order * one + (1 - order) * other) / (order - 1))

    promise = Concentrated(people**2 / (2 * variance))
    for relation, rows in ((ADDED, 1), (MOVED, 2)):
        rho = price(promise, unit, relation).rho  # type: ignore[arg-type]
        assert rho is not None
        really = rows * divergence(people)
        assert really <= float(rho) * order * (1 + 1e-9)
        assert really > 0.9 * float(rho) * order, "a price that could not be lower by a tenth"


def test_gaussian_noise_promised_in_epsilon_and_delta() -> None:
    kap, delta = Fraction(1, 50), Fraction(1, 10**6)
    promise = Approximate("1", delta)
    unit = one_person(Concentrated(kap))
    assert price(promise, unit, ADDED) == promise
    moved = price(promise, unit, MOVED)
    assert moved.epsilon is not None and moved.epsilon.value == zcdp_epsilon(2 * kap, delta) and moved.delta == delta
    assert price_in_rho(promise, unit, MOVED) == Concentrated(2 * kap)


def worst_rows(odds: Fraction, delta: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """The two rows that are as far apart as (epsilon, delta) allows."""
    rest = 1 - delta
    one = [delta, rest * odds / (1 + odds), rest / (1 + odds), Fraction(0)]
    return one, one[::-1]


def hockey_stick(one: list[Fraction], other: list[Fraction], odds: Fraction) -> Fraction:
    return sum((max(Fraction(0), p - odds * q) for p, q in zip(one, other)), Fraction(0))


def test_a_delta_in_two_rows_is_found_by_enumeration() -> None:
    odds, delta = Fraction(3), Fraction(1, 10)
    one, other = worst_rows(odds, delta)
    assert hockey_stick(one, other, odds) == delta
    both = [a * b for a, b in product(one, other)], [a * b for a, b in product(other, one)]
    really = hockey_stick(*both, odds**2)
    rate = Approximate(Epsilon(ratio=odds), delta)
    found = price(rate, one_person(rate), MOVED)
    assert found.delta == 1 - (1 - delta) ** 2
    assert found.delta == really
    assert found.epsilon is not None and found.epsilon.allows(odds**2)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_delta_of_several_units_in_one_row_is_attained(steps: int) -> None:
    """Noise E^-|j| cut off at 8: a shift of c leaves the last c values out."""
    odds, reach = Fraction(3), 8
    weights = [1 / odds ** abs(j) for j in range(-reach, reach + 1)]
    masses = [weight / sum(weights) for weight in weights]
    delta = masses[0]
    none = [Fraction(0)] * steps
    really = hockey_stick(masses + none, none + masses, odds**steps)
    found = group_delta(delta, Epsilon(ratio=odds), steps)
    assert really <= found <= really * (1 + Fraction(1, 10**5))
    rate = Approximate(Epsilon(ratio=odds), delta)
    assert price(rate, one_person(rate, steps), ADDED).delta == found
    assert price(rate, one_person(rate, steps), ADDED, apart=False).delta == found
    assert price(rate, one_person(rate), MOVED, apart=False).delta == group_delta(delta, Epsilon(ratio=odds), 2)


def test_a_delta_that_promises_nothing_is_refused() -> None:
    rate = Approximate(5, Fraction(1, 10))
    with pytest.raises(BadInput, match="1 or more, which promises nothing"):
        price(rate, one_person(rate, 2), ADDED)


def test_the_distance_of_a_chain_is_never_charged_less() -> None:
    """Total variation t from a law that is e^c-private: t (1 + e^c) at c units, in brute numbers."""
    far = Fraction(1, 1000)
    for distance, per_unit in ((1, False), (2, False), (4, False), (2, True)):
        rate, whole = Fraction(1, 2), Fraction(distance, 2)
        delta = far * (1 + exp_bounds(whole)[1])
        change = Change("smallest", distance=distance, square=distance)
        unit = Neighbours(change, Pure(rate), per_unit=per_unit)
        promise = Approximate(rate if per_unit else whole, delta)
        for relation, units in ((ADDED, 1), (MOVED, 2)):
            found = price(promise, unit, relation)  # type: ignore[arg-type]
            assert found.epsilon is not None and found.epsilon.value == units * rate
            assert found.delta >= max(delta, far * (1 + exp_bounds(units * rate)[1]))


def test_what_shares_answers_may_be_pushed_the_same_way_twice() -> None:
    """All ways in which one person can move between two rows, measured by every exact privatizer on six bins."""
    bins = 6
    base = np.full(bins, 2, dtype=np.int64)

    def step(start: int, by: int) -> np.ndarray:
        change = np.zeros(bins, dtype=np.int64)
        change[start] -= 1
        change[start + by] += 1
        return change

    factors = {}
    for name in exact_privatizers():
        method = privatizer(name)
        if name == "sorted":
            continue  # its answers depend on the whole histogram, not on one change
        moves = [step(up, 1) + step(down, -1) for up in range(bins - 1) for down in range(1, bins)]
        before = np.asarray(method.answers(base))
        largest = max(int(((np.asarray(method.answers(base + move)) - before) ** 2).sum()) for move in moves)
        factors[name] = Fraction(largest, method.squared(bins))
    assert factors["cumulative"] == 2, "drawn apart: squares add up"
    assert max(factors.values()) > 2, "others need more"
    assert max(factors.values()) <= 4
    rho = one_person(Concentrated(1))
    assert price(Concentrated(1), rho, MOVED) == Concentrated(2)
    assert price(Concentrated(1), rho, MOVED, apart=False) == Concentrated(4)


rates = st.fractions(min_value=Fraction(1, 100), max_value=2, max_denominator=100)
changes = st.sampled_from([Change("one-person"), MOVE, SWAP, Change("smallest", distance=6, square=8)])
units = st.builds(
    lambda rate, change, people, norm, per_unit: (rate, Neighbours(change, Pure(rate), people, norm, per_unit)),
    rates, changes, st.integers(1, 4), st.sampled_from(["l1", "l2"]), st.booleans(),
)  # fmt: skip


@given(units)
def test_a_price_is_never_below_the_rate_and_a_move_never_below_a_removal(drawn: tuple[Fraction, Neighbours]) -> None:
    rate, unit = drawn
    length = 1 if unit.per_unit else unit.change.distance if unit.norm == "l1" else math.isqrt(unit.change.square) + 1
    promise = Pure(rate * unit.contributions * length)
    added, moved = (above(price(promise, unit, relation).epsilon) for relation in (ADDED, MOVED))  # type: ignore
    assert added >= rate * unit.contributions
    assert moved**2 >= (4 if unit.norm == "l1" else 2) * (rate * unit.contributions) ** 2
    assert moved >= added
    in_rho = price_in_rho(promise, unit, MOVED)
    assert in_rho is not None and in_rho.rho == moved**2 / 2


@given(rates, st.integers(1, 4))
def test_keeping_more_is_no_refund(epsilon: Fraction, people: int) -> None:
    """The same noise costs the same, whichever changes survive what is kept beside it."""
    prices = set()
    for change in (MOVE, SWAP, Change("smallest", distance=6, square=6)):
        unit = Neighbours(change, Pure(epsilon), people)
        promise = Pure(epsilon * people * change.distance)
        prices.add(above(price(promise, unit, MOVED).epsilon))  # type: ignore[arg-type]
    assert prices == {2 * people * epsilon}
