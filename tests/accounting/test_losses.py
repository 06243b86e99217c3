"""What releases cost together, against enumeration of all their outcomes: never below, and hardly above."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import discreet as dc
from discreet.accounting.losses import Losses, discretised, together
from discreet.accounting.profiles import OfNoise, OfPrice, OfRows, Profile, profile_of
from discreet.build.explicit import explicit
from discreet.laws import Gaussian, Geometric, Staircase, ending_epsilon
from discreet.laws.bounded import Bounded
from discreet.mechanism import Continued, Mechanism, of_weights
from discreet.numbers import Epsilon
from discreet.testing import weight_matrices
from discreet.ways.row_by_row.spec import RowByRow

Pair = tuple[list[Fraction], list[Fraction]]
MILLIONTH = Fraction(1, 10**6)


def taken_together(pairs: Sequence[Pair]) -> Pair:
    """The laws of all outcomes of independent releases."""

    def both(one: list[Fraction], other: list[Fraction]) -> list[Fraction]:
        return [p * q for p in one for q in other]

    return reduce(lambda one, other: (both(one[0], other[0]), both(one[1], other[1])), pairs)


def hockey_stick(pair: Pair, odds: Fraction) -> Fraction:
    return sum((max(Fraction(0), p - odds * q) for p, q in zip(*pair)), Fraction(0))


def neighbours(mechanism: Mechanism) -> list[Pair]:
    rows = [[Fraction(weight, mechanism.weights.total) for weight in row] for row in mechanism.weights.rows]
    return [pair for one, other in pairwise(rows) for pair in ((one, other), (other, one))]


def profile(mechanism: Mechanism) -> Profile:
    found = profile_of(mechanism.form)
    assert found is not None
    return found


@settings(max_examples=12, deadline=None)
@given(st.lists(weight_matrices(3), min_size=1, max_size=3), st.fractions(0, 3, max_denominator=10))
def test_never_below_the_truth(mechanisms: list[Mechanism], epsilon: Fraction) -> None:
    """Whichever neighbours are told apart in each of them."""
    found = together([profile(one) for one in mechanisms], MILLIONTH).delta(epsilon)
    odds = Epsilon(value=epsilon).bounds(200)[1] if epsilon else Fraction(1)
    for pairs in product(*(neighbours(one) for one in mechanisms)):
        assert hockey_stick(taken_together(pairs), odds) <= found


SYMMETRIC = [[Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)], [Fraction(1, 10), Fraction(3, 10), Fraction(6, 10)]]
LEANING = [[Fraction(5, 10), Fraction(4, 10), Fraction(1, 10)], [Fraction(1, 10), Fraction(4, 10), Fraction(5, 10)]]


def rows_of(rows: list[list[Fraction]]) -> OfRows:
    return OfRows(tuple(tuple(int(10 * p) for p in row) for row in rows), 10)


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("epsilon", ["0.3", "1", "2", "3.5"])
def test_hardly_above_the_truth_where_one_pair_is_the_worst(times: int, epsilon: str) -> None:
    """Both directions are mirror images, so that nothing is lost but by straight lines."""
    losses = together([rows_of(SYMMETRIC), rows_of(LEANING)] * times, MILLIONTH)
    pair = taken_together([(SYMMETRIC[0], SYMMETRIC[1]), (LEANING[0], LEANING[1])] * times)
    low, high = Epsilon(value=Fraction(epsilon)).bounds(200)
    found = losses.delta(Fraction(epsilon))
    assert hockey_stick(pair, high) <= found
    assert found <= hockey_stick(pair, low) * (1 + Fraction(1, 10**3)) + Fraction(1, 10**5)


def optimal(odds: Fraction, delta: Fraction, times: int, r: Fraction) -> Fraction:
    """The delta of k-fold composition of (epsilon, delta) at a factor r: Kairouz, Oh and Viswanath, in rationals."""
    whole = (1 + odds) ** times
    terms = (math.comb(times, n) * max(Fraction(0), odds**n - r * odds ** (times - n)) for n in range(times + 1))
    return 1 - (1 - delta) ** times * (1 - sum(terms, Fraction(0)) / whole)


@pytest.mark.parametrize("times", [1, 2, 7, 30])
@pytest.mark.parametrize("delta", ["0", "1e-9"])
def test_equal_prices_come_to_the_optimal_composition(times: int, delta: str) -> None:
    odds, extra = Fraction(3, 2), Fraction(delta)
    losses = together([OfPrice(Epsilon(ratio=odds), extra)] * times, MILLIONTH)
    for steps in (
        times % 2,
        times - 2 if times > 2 else times,
    ):  # at multiples of epsilon there is nothing between two points
        epsilon = steps * Fraction(math.log(1.5)).limit_denominator(10**15)
        found, low = losses.delta(epsilon), Epsilon(value=epsilon).bounds(200)[0] if steps else Fraction(1)
        truth = optimal(odds, extra, times, low)
        assert truth - Fraction(1, 10**12) <= found <= truth * (1 + MILLIONTH) + Fraction(1, 10**12)
    found_epsilon = losses.epsilon(MILLIONTH)
    assert found_epsilon is not None
    above, below = (Epsilon(value=found_epsilon + gap).bounds(200) for gap in (MILLIONTH, -MILLIONTH))
    assert optimal(odds, extra, times, above[0]) <= MILLIONTH < optimal(odds, extra, times, below[1])


def test_geometric_noise_comes_to_the_same_as_its_price() -> None:
    """Its losses are epsilon and -epsilon alone, so it is the worst that costs so much."""
    odds = Fraction(2)
    by_law = together([OfNoise(Geometric(odds))] * 10, MILLIONTH).epsilon(MILLIONTH)
    by_price = together([OfPrice(Epsilon(ratio=odds))] * 10, MILLIONTH).epsilon(MILLIONTH)
    assert by_law is not None and by_price is not None
    assert abs(by_law - by_price) < Fraction(1, 10**9) and by_law < 10 * Fraction(math.log(2))


def test_other_noise_comes_to_less_than_its_price() -> None:
    fair = profile(explicit("explicit-fair", 6, alpha="2/3"))
    for made, odds in ((OfNoise(Staircase(Fraction(3), Fraction(1, 3))), Fraction(3)), (fair, Fraction(3, 2))):
        by_law = together([made] * 8, MILLIONTH).epsilon(MILLIONTH)
        by_price = together([OfPrice(Epsilon(ratio=odds))] * 8, MILLIONTH).epsilon(MILLIONTH)
        assert by_law is not None and by_price is not None and by_law < by_price < 8 * Fraction(math.log(odds))


def gaussian_delta(mean: float, epsilon: float) -> float:
    """Of two normal laws of variance 1, so far apart."""
    upper, lower = norm.sf(epsilon / mean - mean / 2), norm.sf(epsilon / mean + mean / 2)
    return float(upper - math.exp(epsilon) * lower)


def test_gaussian_noise_comes_to_one_wider_gaussian() -> None:
    variance, times = 64, 16
    losses = together([OfNoise(Gaussian(Fraction(variance)))] * times, MILLIONTH)
    for epsilon in (0.5, 1.0, 2.0):
        truth = gaussian_delta(math.sqrt(times / variance), epsilon)
        assert float(losses.delta(Fraction(epsilon))) == pytest.approx(truth, rel=2e-3, abs=1e-8)


def test_two_narrow_gaussians_are_never_below_enumeration() -> None:
    noise, reach = Gaussian(Fraction(1)), 12
    masses = np.concatenate([noise.masses(reach)[:0:-1], noise.masses(reach)])
    one, other = np.append(masses, 0.0), np.append(0.0, masses)
    losses = together([OfNoise(noise)] * 2, Fraction(1, 10**9))
    for epsilon in (0.25, 1.4, 2.5, 3.6):  # between the losses, which are whole numbers
        both, shifted = np.outer(one, one), np.outer(other, other)
        truth = float(np.maximum(both - math.exp(epsilon) * shifted, 0).sum())
        found = float(losses.delta(Fraction(epsilon)))
        assert truth - 1e-12 <= found <= truth * 1.01 + 1e-9


@given(weight_matrices(4), st.sampled_from(["1e-2", "1e-4", "0.2"]))
@settings(max_examples=12, deadline=None)
def test_epsilon_and_delta_belong_together(mechanism: Mechanism, delta: str) -> None:
    losses = together([profile(mechanism)] * 2, Fraction(delta))
    epsilon = losses.epsilon(Fraction(delta))
    if epsilon is None:
        assert losses.delta(Fraction(900)) > Fraction(delta)
        return
    assert losses.delta(epsilon) <= Fraction(delta) * (1 + Fraction(1, 10**12))
    if epsilon > MILLIONTH:
        assert losses.delta(epsilon - MILLIONTH) > Fraction(delta) * (1 - Fraction(1, 10**5))


def test_what_is_given_away_for_certain_stays_beyond_all_bounds() -> None:
    losses = together([profile(of_weights("own", [[10, 0], [9, 1]]))] * 3, MILLIONTH)
    never = 1 - Fraction(9, 10) ** 3  # one person shows with a chance of 1/10 in each
    assert losses.epsilon(MILLIONTH) is None
    assert never <= losses.delta(Fraction(50)) <= never + MILLIONTH
    goes_on = profile(Mechanism("own", Continued(of_weights("", [[10, 0], [9, 1]]).weights)))
    assert goes_on.at([Fraction(10**9)]) == [Fraction(9, 10)]  # of the next count, 1 is never published as 0


def test_nothing_to_learn_costs_nothing() -> None:
    blank = OfRows(((1, 1), (1, 1)), 2)
    assert together([blank] * 4, MILLIONTH).epsilon(MILLIONTH) == 0
    assert together([blank, OfPrice(Epsilon(value=Fraction(1)))], MILLIONTH).delta(Fraction(1)) < MILLIONTH


def test_different_sizes_go_together() -> None:
    """Many small ones beside a large one: at most the sum, and not below what one alone costs."""
    small, large = OfPrice(Epsilon(value=Fraction(1, 50))), OfPrice(Epsilon(value=Fraction(2)))
    found = together([small] * 100 + [large], MILLIONTH).epsilon(MILLIONTH)
    alone = together([large], MILLIONTH).epsilon(MILLIONTH)
    assert found is not None and alone is not None and alone < found < Fraction(7, 2)


def test_a_shift_of_several_is_told_apart_from_one() -> None:
    rows = ((6, 3, 1, 0), (3, 4, 3, 0), (1, 3, 4, 2))
    one, two = discretised(OfRows(rows, 10), Fraction(1, 64), MILLIONTH), OfRows(rows, 10, 2).at([Fraction(3)])[0]
    assert isinstance(one, Losses) and two == Fraction(6, 10) - 3 * Fraction(1, 10)
    assert OfNoise(Geometric(Fraction(2)), 3).reach(MILLIONTH) >= 3 * Fraction(math.log(2)) - MILLIONTH
    wide = OfNoise(Gaussian(Fraction(9)), 2)
    assert wide.noise.delta(Epsilon(value=wide.reach(MILLIONTH)), 2) <= MILLIONTH


def test_matrices_too_large_are_left_to_their_price() -> None:
    assert profile_of(explicit("explicit-fair", 300, 1).form) is None


def test_bounded_noise_is_never_below_enumeration_and_ends() -> None:
    """With some chance a value says for certain that it was not one further: delta ends there, at any epsilon."""
    noise = Bounded(Fraction(3), Fraction(1, 2), 4)
    below = [noise.chance_below(k) for k in range(-5, 6)]
    chances = [high - low for low, high in pairwise(below)]
    one, other = [*chances, Fraction(0)], [Fraction(0), *chances]
    losses = together([OfNoise(noise)] * 2, Fraction(1, 100))
    for epsilon in (Fraction(1, 4), Fraction(1), Fraction(3, 2), Fraction(40)):
        factor = Fraction(math.exp(epsilon))
        truth = sum(max(a * b - factor * c * d, 0) for a, c in zip(one, other) for b, d in zip(one, other))
        assert truth * (1 - MILLIONTH) <= losses.delta(epsilon) <= truth * Fraction(101, 100)
    certain = 1 - (1 - chances[0]) ** 2
    assert certain <= losses.delta(Fraction(900)) <= certain * (1 + MILLIONTH)
    end = ending_epsilon(noise, Fraction(1, 10**30))
    assert noise.delta(Epsilon(value=end)) <= chances[0] * (1 + MILLIONTH) < noise.delta(Epsilon(value=end * 9 / 10))


def test_rows_of_their_own_before_bounded_noise_have_a_profile() -> None:
    table = dc.table(pa.table({"k": ["a", "b"], "n": [1, 7]}), count="n", keys=["k"])
    plan = RowByRow(mechanism="bounded", truth="1/2", support=4, small_counts="unbiased")
    made = Mechanism("bounded", dc.release(table, 1, plan).mechanism.form)
    assert profile(made).at([Fraction(3)]) == [max(hockey_stick(pair, Fraction(3)) for pair in neighbours(made))]


@pytest.mark.parametrize(("truth", "support", "shift"), [("1/3", 1, 1), ("4/5", 1, 2), ("1/2", 2, 5)])
def test_noise_that_tells_all_or_nothing_comes_to_an_end(truth: str, support: int, shift: int) -> None:
    """Where both values can be, they are equally likely: delta is the same at every epsilon."""
    noise = OfNoise(Bounded(Fraction(3), Fraction(truth), support), shift)
    assert noise.reach(Fraction(1, 10**12)) == 0
    (given_away,) = set(noise.at([Fraction(1), Fraction(5)]))
    twice = together([noise, noise], Fraction(1, 10**6))
    assert 0 <= twice.delta(Fraction(2)) - (1 - (1 - given_away) ** 2) <= Fraction(1, 10**30)
    assert twice.epsilon(given_away) == (0 if given_away == 1 else None)
