"""For all explicit mechanisms, sizes and odds: certified at their own odds, refused at anything less."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.build.explicit import explicit, names, pure_names
from discreet.certify import certify
from discreet.errors import BadInput
from discreet.mechanism import Mechanism, of_weights
from discreet.numbers import Epsilon
from discreet.testing import assert_private, epsilons, mechanisms

ALL_BUT_UNIFORM = [name for name in pure_names() if name != "uniform"]


def largest_ratio(mechanism: Mechanism) -> Fraction:
    """The specification: the largest ratio of neighbouring rows, by trying all."""
    rows = mechanism.weights.rows
    pairs = [(i, i + 1) for i in range(len(rows) - 1)]
    return max(
        Fraction(rows[i][j], rows[k][j]) for a, b in pairs for i, k in ((a, b), (b, a)) for j in range(len(rows[0]))
    )


@given(mechanisms())
def test_each_is_certified_at_the_epsilon_it_was_made_for(made: tuple[Mechanism, Epsilon]) -> None:
    mechanism, epsilon = made
    assert_private(mechanism, epsilon)
    assert mechanism.odds() == largest_ratio(mechanism)


@given(mechanisms())
def test_each_holds_at_its_own_smallest_odds_and_at_nothing_smaller(made: tuple[Mechanism, Epsilon]) -> None:
    mechanism, _ = made
    odds = mechanism.odds()
    assert odds is not None
    if odds == 1:
        assert certify(mechanism, "1e-9").holds
        return
    assert certify(mechanism, Epsilon(ratio=odds)).holds
    refused = certify(mechanism, Epsilon(ratio=odds - (odds - 1) / 10**15))
    assert not refused.holds and refused.grade == "refuted"
    assert refused.smallest_odds == odds
    witness = refused.witness
    assert witness is not None
    rows = mechanism.weights.rows
    assert Fraction(rows[witness.input][witness.output], rows[witness.neighbour][witness.output]) == witness.ratio
    assert abs(witness.input - witness.neighbour) == 1


@pytest.mark.parametrize("name", [name for name in ALL_BUT_UNIFORM if name not in ("exponential",)])
@pytest.mark.parametrize(("max_count", "alpha"), [(1, "1/2"), (3, "2/3"), (6, "31/50")])
def test_one_unit_more_on_a_tight_weight_is_refused(name: str, max_count: int, alpha: str) -> None:
    epsilon = Epsilon(ratio=1 / Fraction(alpha))
    if (name, max_count) == ("staircase", 1):
        max_count = 2  # on a bit the staircase is more private than asked
    weights = explicit(name, max_count, alpha=alpha).weights
    rows = [list(row) for row in weights.rows]
    tight = [
        (i, k, j)
        for i in range(max_count + 1)
        for k in (i - 1, i + 1)
        if 0 <= k <= max_count
        for j in range(max_count + 1)
        if rows[i][j] == epsilon.ratio * rows[k][j]
    ]
    assert tight
    for i, k, j in tight:
        for row, change in ((i, +1), (k, -1)):
            changed = [list(r) for r in rows]
            changed[row][j] += change
            # the unit goes to or comes from a weight that leaves the row sum alone
            other = max((c for c in range(max_count + 1) if c != j), key=lambda c: changed[row][c])
            changed[row][other] -= change
            verdict = certify(of_weights("changed", changed), epsilon)
            assert not verdict.holds, (name, row, j)


@given(st.integers(1, 40), epsilons("1/1000", 10))
def test_the_exponential_mechanism_wastes_almost_nothing(max_count: int, epsilon: Epsilon) -> None:
    """Rounded to integers it must stay below e^epsilon, and near what it is without rounding."""
    matrix = explicit("exponential", max_count, epsilon).matrix()
    i = np.arange(max_count + 1)
    raw = np.exp(-float(epsilon) / 2 * np.abs(i[:, None] - i))
    np.testing.assert_allclose(matrix, raw / raw.sum(axis=1, keepdims=True), rtol=1e-7)


@given(st.integers(1, 12), epsilons())
def test_noise_is_clamped(max_count: int, epsilon: Epsilon) -> None:
    for name in ("geometric", "staircase"):
        mechanism = explicit(name, max_count, epsilon)
        law = mechanism.form.noise
        for i, row in enumerate(mechanism.weights.rows):
            for j, weight in enumerate(row):
                low = Fraction(0) if j == 0 else law.chance_below(j - 1 - i)
                high = Fraction(1) if j == max_count else law.chance_below(j - i)
                assert Fraction(weight, mechanism.weights.total) == high - low
        exact = [[weight / mechanism.weights.total for weight in row] for row in mechanism.weights.rows]
        np.testing.assert_allclose(mechanism.matrix(), exact, rtol=1e-10)


@given(st.integers(1, 8), st.sampled_from(["1/10", "2"]))
def test_the_clamped_gaussian_has_its_masses(max_count: int, rho: str) -> None:
    mechanism = explicit("discrete-gaussian", max_count, rho=rho)
    variance = float(mechanism.form.noise.variance)
    assert variance == pytest.approx(1 / (2 * float(Fraction(rho))))
    k = np.arange(-200, 201)
    masses = np.exp(-(k**2) / (2 * variance))
    masses /= masses.sum()
    expected = [
        [masses[np.clip(i + k, 0, max_count) == j].sum() for j in range(max_count + 1)] for i in range(max_count + 1)
    ]
    np.testing.assert_allclose(mechanism.matrix(), expected, atol=1e-12)


def test_signed_noise_has_no_matrix() -> None:
    signed = explicit("signed-geometric", None, 1)
    assert signed.max_count is None
    with pytest.raises(BadInput, match="unbounded mechanism"):
        signed.matrix()
    assert certify(signed, 1).holds and not certify(signed, "0.999").holds


@pytest.mark.parametrize("name", [name for name in names() if name != "signed-geometric"])
def test_a_max_count_is_needed(name: str) -> None:
    with pytest.raises(BadInput, match="needs a max_count"):
        explicit(name, None, 1)


@pytest.mark.parametrize("bad", [0, -1, 2.0, "5", True])
def test_max_count_is_a_positive_whole_number(bad: Any) -> None:
    with pytest.raises(BadInput, match=r"(?i)max_count"):
        explicit("geometric", bad, 1)


def test_matrices_have_a_largest_size() -> None:
    with pytest.raises(BadInput, match="up to max_count 2000 only"):
        explicit("uniform", 10**9, 1)
    assert explicit("geometric", 10**9, 1).max_count == 10**9


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(BadInput, match="Did you mean 'geometric'"):
        explicit("geometrical", 5, 1)


def test_a_gaussian_needs_delta_or_rho() -> None:
    with pytest.raises(BadInput, match="needs a delta above 0, or rho"):
        explicit("discrete-gaussian", 5, 1)
