from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.build.explicit import explicit
from discreet.certify import certify
from discreet.certify.prove import underivable
from discreet.certify.rows import exact_rows
from discreet.errors import BadInput
from discreet.laws import Gaussian, Geometric, least_epsilon
from discreet.mechanism import Exponents, Mechanism, NoiseThenMap
from discreet.numbers import Epsilon, log_bounds
from discreet.privacy.convert import zcdp_epsilon
from discreet.public_map import PublicMap
from discreet.testing import assert_private, epsilons, mechanisms, weight_matrices
from tests.certify.hockey_stick import hockey_stick, rational_rows


@given(weight_matrices(), st.fractions(Fraction(11, 10), 20, max_denominator=50))
def test_any_matrix_is_accepted_exactly_if_it_is_private(mechanism: Mechanism, odds: Fraction) -> None:
    rows = rational_rows(mechanism)
    verdict = certify(mechanism, Epsilon(ratio=odds))
    assert verdict.holds == (hockey_stick(rows, odds) == 0)
    assert certify(rows, Epsilon(ratio=odds)) == verdict
    if not verdict.holds:
        assert verdict.witness is not None
        high, low = rows[verdict.witness.input], rows[verdict.witness.neighbour]
        assert high[verdict.witness.output] > odds * low[verdict.witness.output]
    if verdict.smallest_odds is not None:
        assert hockey_stick(rows, verdict.smallest_odds) == 0
        assert verdict.smallest_odds == 1 or hockey_stick(rows, verdict.smallest_odds * Fraction(10**9 - 1, 10**9)) > 0


@given(
    weight_matrices(),
    st.fractions(Fraction(11, 10), 9, max_denominator=20),
    st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50),
)
def test_delta_is_the_hockey_stick(mechanism: Mechanism, odds: Fraction, delta: Fraction) -> None:
    rows = rational_rows(mechanism)
    verdict = certify(mechanism, Epsilon(ratio=odds), delta)
    needed = hockey_stick(rows, odds)
    assert verdict.holds == (needed <= delta)
    if not verdict.holds:
        assert verdict.witness is not None and verdict.witness.delta == needed
    if verdict.smallest_odds is None:
        assert hockey_stick(rows, Fraction(10**9)) > delta
    else:
        assert hockey_stick(rows, verdict.smallest_odds) <= delta
        below = verdict.smallest_odds - Fraction(1, 10**9)
        assert verdict.smallest_odds == 1 or hockey_stick(rows, below) > delta


@given(weight_matrices(), epsilons())
def test_the_privacy_profile_is_the_hockey_stick(mechanism: Mechanism, epsilon: Epsilon) -> None:
    low, high = epsilon.bounds(200)
    found = mechanism.delta(epsilon)
    assert hockey_stick(rational_rows(mechanism), high) <= found
    assert found <= hockey_stick(rational_rows(mechanism), low) + Fraction(1, 2**64)


@given(mechanisms(6), epsilons())
def test_the_profile_of_explicit_mechanisms_is_the_hockey_stick(
    made: tuple[Mechanism, Epsilon], other: Epsilon
) -> None:
    mechanism, _ = made
    low, high = other.bounds(200)
    rows = rational_rows(mechanism)
    found = mechanism.delta(other)
    assert hockey_stick(rows, high) <= found <= hockey_stick(rows, low) + Fraction(1, 2**64)
    if found:
        assert certify(mechanism, other, found).holds
        assert not certify(mechanism, other, found * Fraction(999, 1000)).holds


@given(st.integers(210, 400), epsilons("1/10", 2), epsilons("1/10", 2))
def test_the_profile_of_wide_noise_is_that_of_narrow_noise(max_count: int, made: Epsilon, other: Epsilon) -> None:
    """Beyond a size noise is judged without its matrix; the profile does not depend on the size."""
    wide, narrow = explicit("geometric", max_count, made), explicit("geometric", 3, made)
    assert abs(wide.delta(other) - narrow.delta(other)) < Fraction(1, 2**60)
    assert wide.odds() == narrow.odds()


@given(weight_matrices())
def test_the_smallest_epsilon_is_rounded_up(mechanism: Mechanism) -> None:
    verdict = certify(mechanism, 1)
    if verdict.smallest_epsilon is None:
        assert verdict.smallest_odds is None
        return
    assert verdict.smallest_odds is not None
    low, high = log_bounds(verdict.smallest_odds, 200) if verdict.smallest_odds > 1 else (Fraction(0),) * 2
    assert high <= Fraction(verdict.smallest_epsilon) < low + Fraction(1, 10**11)
    if 0 < Fraction(verdict.smallest_epsilon) <= 1000:
        assert certify(mechanism, verdict.smallest_epsilon).holds


def test_no_violation_is_too_small_to_be_seen() -> None:
    odds = Fraction(2)
    for digits in (3, 15, 40, 200):
        tiny = Fraction(1, 10**digits)
        good = [[Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)]]
        bad = [[Fraction(2, 3) + tiny, Fraction(1, 3) - tiny], [Fraction(1, 3), Fraction(2, 3)]]
        assert certify(good, alpha=1 / odds).holds
        assert not certify(bad, alpha=1 / odds).holds
    e = math.exp(1)  # the float nearest to e is below it, the next one above
    below, above = [[e / (1 + e), 1 / (1 + e)]] * 2, math.nextafter(e, 3)
    assert certify(below, 1).holds
    p = Fraction(above) / (1 + Fraction(above))
    assert not certify([[p, 1 - p], [1 - p, p]], 1).holds
    p = Fraction(e) / (1 + Fraction(e))
    assert certify([[p, 1 - p], [1 - p, p]], 1).holds


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        ([[0.5, math.nan], [0.5, 0.5]], "row 0, column 1 is not a finite number"),
        ([[0.5, 0.5], [math.inf, 0.5]], "row 1, column 0 is not a finite number"),
        ([[1.1, -0.1], [0.5, 0.5]], "row 0, column 1 is negative"),
        ([[1 + 1e-300, -1e-300], [0.5, 0.5]], "row 0, column 1 is negative"),
        ([[0.5, 0.5 + 2e-9], [0.5, 0.5]], "row 0 sums to 1.000000002, not to 1"),
        ([[0.5, 0.5 - 2e-9], [0.5, 0.5]], "row 0 sums to 0.999999998, not to 1"),
        ([[0.5, 0.5], [1.0]], "different lengths"),
        ([["a", 0.5], [0.5, 0.5]], "row 0, column 0 is not a finite number"),
        ([[None, 0.5], [0.5, 0.5]], "row 0, column 0 is not a finite number"),
        ([], "not a list of rows"),
        ([[]], "not a list of rows"),
        (5, "not a list of rows"),
        (np.ones(3) / 3, "not a list of rows"),
    ],
)
def test_what_is_no_matrix_of_probabilities_is_refused(matrix: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        certify(matrix, 1)
    with pytest.raises(BadInput, match=said):
        certify(matrix, 1, delta="0.5")


@given(st.lists(st.lists(st.floats(1e-3, 1), min_size=3, max_size=3), min_size=2, max_size=4), st.floats(-9e-10, 9e-10))
def test_rows_that_nearly_sum_to_one_are_divided_by_their_sum(raw: list[list[float]], off: float) -> None:
    rows = np.array(raw)
    rows = rows / rows.sum(axis=1, keepdims=True) * (1 + off)
    exact = exact_rows(rows)
    for given_row, integers, total in zip(rows, exact.rows, exact.sums):
        normalised = [Fraction(x) / sum(map(Fraction, given_row)) for x in given_row.tolist()]
        assert [Fraction(weight, total) for weight in integers] == normalised


@given(mechanisms(8))
def test_floats_of_a_private_matrix_pass_with_a_little_more(made: tuple[Mechanism, Epsilon]) -> None:
    mechanism, epsilon = made
    assert certify(mechanism.matrix(), epsilon.rational() * Fraction(1001, 1000)).holds


def test_a_claim_about_odds_below_one_is_none() -> None:
    powers = np.array([[0, 1], [1, 0]])
    with pytest.raises(BadInput, match="odds are below 1"):
        Exponents(Fraction(1, 2), powers)
    with pytest.raises(BadInput, match="a power is below 0"):
        Exponents(Fraction(2), powers - 1)
    with pytest.raises(BadInput, match="same powers"):
        Exponents(Fraction(2), np.array([[0, 1], [0, 2]]))


def test_noise_then_map_is_judged_by_what_the_map_leaves() -> None:
    everything_to_zero = PublicMap(0, 4, np.array([], dtype=np.uint64), np.array([0]))
    mapped = Mechanism("mapped", NoiseThenMap(Geometric(Fraction(3)), (0, 4), everything_to_zero))
    assert mapped.odds() == 1
    assert certify(mapped, "1/1000").holds and certify(mapped, "1/1000").smallest_odds == 1


# Gaussian noise


def brute_gaussian_delta(variance: float, epsilon: float) -> float:
    k = np.arange(-400, 401)
    masses = np.exp(-(k**2) / (2 * variance))
    masses /= masses.sum()
    return float(np.maximum(masses[:-1] - np.exp(epsilon) * masses[1:], 0).sum())


@given(st.fractions(Fraction(1, 2), 60, max_denominator=9), st.fractions(Fraction(1, 20), 3, max_denominator=20))
def test_the_delta_of_gaussian_noise(variance: Fraction, epsilon: Fraction) -> None:
    found = float(Gaussian(variance).delta(Epsilon(value=epsilon)))
    assert found == pytest.approx(brute_gaussian_delta(float(variance), float(epsilon)), rel=1e-6, abs=1e-13)


@given(st.sampled_from(["1/2", "1", "2"]), st.sampled_from(["1e-3", "1e-6", "1e-9"]))
def test_gaussian_noise_is_certified_with_its_smallest_epsilon(epsilon: str, delta: str) -> None:
    mechanism = explicit("discrete-gaussian", 6, epsilon, delta=delta)
    verdict = certify(mechanism, epsilon, delta)
    assert verdict.holds and verdict.grade == "enclosed"
    assert verdict.smallest_epsilon is not None
    smallest = Fraction(verdict.smallest_epsilon)
    assert smallest <= Fraction(epsilon) and smallest == pytest.approx(Fraction(epsilon), rel=5e-3)
    refused = certify(mechanism, smallest * Fraction(999, 1000), delta)
    assert not refused.holds and refused.grade == "refuted" and refused.witness is not None
    assert refused.smallest_epsilon is not None
    assert certify(mechanism, refused.smallest_epsilon, delta).holds
    assert not certify(mechanism, 1).holds  # nothing without delta


@pytest.mark.parametrize(("rho", "delta"), [("0.1", "1e-6"), ("1e-8", "1e-6"), ("2", "1e-9")])
def test_zero_concentrated_privacy_implies_approximate_privacy(rho: str, delta: str) -> None:
    """The conversion must not promise less epsilon than the exact delta of such noise needs."""
    converted = zcdp_epsilon(Fraction(rho), Fraction(delta))
    classical = float(Fraction(rho)) + 2 * math.sqrt(float(Fraction(rho)) * math.log(1 / float(Fraction(delta))))
    assert float(converted) < classical
    if Fraction(rho) > Fraction(1, 1000):
        variance = 1 / (2 * Fraction(rho))
        assert least_epsilon(Gaussian(variance), Fraction(delta)) <= converted
        assert Gaussian(variance).delta(Epsilon(value=converted)) <= Fraction(delta)


# Derivable from the geometric mechanism


def derivable_by_inversion(mechanism: Mechanism, alpha: Fraction) -> bool:
    """The specification: G^-1 T is non-negative, G the geometric mechanism."""
    geometric = np.array(rational_rows(explicit("geometric", mechanism.form.shape[0] - 1, alpha=alpha)), dtype=object)
    size = len(geometric)
    system = np.hstack([geometric, np.array(rational_rows(mechanism), dtype=object)])
    for i in range(size):
        pivot = next(k for k in range(i, size) if system[k, i] != 0)
        system[[i, pivot]] = system[[pivot, i]]
        system[i] = system[i] / system[i, i]
        for k in range(size):
            if k != i:
                system[k] = system[k] - system[k, i] * system[i]
    return bool((system[:, size:] >= 0).all())


@given(weight_matrices(4, 12), st.sampled_from([Fraction(1, 2), Fraction(1, 5), Fraction(9, 10)]))
def test_what_is_a_map_of_the_geometric_mechanism(mechanism: Mechanism, alpha: Fraction) -> None:
    witness = mechanism.derivable_from_geometric(None, alpha=alpha)
    assert (witness is None) == derivable_by_inversion(mechanism, alpha)


def test_the_geometric_mechanism_is_derivable_from_itself_and_the_fair_one_is_not() -> None:
    assert explicit("geometric", 6, alpha="1/2").derivable_from_geometric(None, alpha="1/2") is None
    assert underivable(explicit("explicit-fair", 6, alpha="1/2").weights.rows, Fraction(2)) is not None


def test_gaussian_laws_are_cached_not_confused() -> None:
    assert Gaussian(Fraction(2)).below(0, 64) != Gaussian(Fraction(3)).below(0, 64)


@given(weight_matrices(4))
def test_the_contract_for_newcomers_passes_and_fails_as_it_should(mechanism: Mechanism) -> None:
    odds = mechanism.odds()
    if odds is None:
        with pytest.raises(AssertionError, match="not private"):
            assert_private(mechanism, 100)
    elif odds > 1:
        assert_private(mechanism, Epsilon(ratio=odds))
        with pytest.raises(AssertionError, match="not private"):
            assert_private(mechanism, Epsilon(ratio=(1 + odds) / 2))


def test_numbers_that_no_float_can_hold() -> None:
    found = certify([[0.5, 0.5], [5e-324, 1.0]], 800).as_json()  # the ratio is 2^1073, e^800 is 2^1154
    assert found["holds"] and found["smallest_epsilon"].startswith("743.7")
    refuted = certify([[0.5, 0.5], [5e-324, 1.0]], 720).as_json()
    assert not refuted["holds"] and refuted["witness"]["ratio"] == refuted["witness"]["allowed"] == sys.float_info.max
    json.loads(json.dumps(refuted, allow_nan=False))
    with pytest.raises(BadInput, match="row 0 sums to more than 2"):
        certify([[10**400, 0], [0, 1]], 1)


@pytest.mark.parametrize("name", ["ptable.csv", Path("ptable.csv"), "geometric"])
def test_a_name_is_no_matrix(name):
    with pytest.raises(BadInput, match=r"Read a file first, with dc.read_mechanism"):
        certify(name, epsilon=1)
