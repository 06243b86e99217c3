"""Explicit mechanisms and the figures published about them.

CKS: Cormode, Kulkarni and Srivastava, Constrained private mechanisms for count data. Its rescaled score is
L0 = (n/(n-1)) (1 - trace/n), with n = max_count + 1; its alpha is e^-epsilon.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.build.explicit import explicit
from discreet.mechanism import Exponents, Mechanism

ALPHAS = [Fraction(1, 2), Fraction(31, 50), Fraction(9, 10), Fraction(10, 11), Fraction(99, 100)]


def trace(mechanism: Mechanism) -> Fraction:
    weights = mechanism.weights
    return Fraction(sum(row[i] for i, row in enumerate(weights.rows)), weights.total)


def rescaled_score(mechanism: Mechanism) -> Fraction:
    size = mechanism.form.shape[0]
    return Fraction(size, size - 1) * (1 - trace(mechanism) / size)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("max_count", [1, 2, 3, 7, 20])
def test_the_geometric_mechanism_scores_2a_over_1_plus_a(alpha: Fraction, max_count: int) -> None:
    # CKS, section 6.1: the L0 score of GM is 2 alpha / (1 + alpha), whatever the group size
    assert rescaled_score(explicit("geometric", max_count, alpha=alpha)) == 2 * alpha / (1 + alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("max_count", [2, 4, 6, 20])
def test_the_diagonal_of_the_fair_mechanism_in_closed_form(alpha: Fraction, max_count: int) -> None:
    # CKS, equation 17: y = (1 - a) / (1 + a - 2 a^(m/2 + 1)), for even m
    y = (1 - alpha) / (1 + alpha - 2 * alpha ** (max_count // 2 + 1))
    assert trace(explicit("explicit-fair", max_count, alpha=alpha)) == (max_count + 1) * y


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("max_count", [1, 3, 5, 7, 9])
def test_the_diagonal_of_the_fair_mechanism_for_odd_counts(alpha: Fraction, max_count: int) -> None:
    # the first row holds a^0, a^1, a^1, a^2, a^2, ... : m + 1 terms
    row = [alpha ** ((k + 1) // 2) for k in range(max_count + 1)]
    assert trace(explicit("explicit-fair", max_count, alpha=alpha)) == (max_count + 1) / sum(row)
    closed = (1 - alpha) / (1 + alpha - 2 * alpha ** (Fraction(max_count, 2) + 1))  # what the even formula would give
    assert trace(explicit("explicit-fair", max_count, alpha=alpha)) / (max_count + 1) != pytest.approx(
        float(closed), abs=0
    )


def test_the_powers_of_the_fair_mechanism_for_seven() -> None:
    # CKS, figure 4: powers of alpha, a row for each output and a column for each true count
    printed = [
        [0, 1, 2, 3, 4, 4, 4, 4],
        [1, 0, 1, 2, 3, 3, 3, 3],
        [1, 1, 0, 1, 2, 3, 3, 3],
        [2, 2, 1, 0, 1, 2, 2, 2],
        [2, 2, 2, 1, 0, 1, 2, 2],
        [3, 3, 3, 2, 1, 0, 1, 1],
        [3, 3, 3, 3, 2, 1, 0, 1],
        [4, 4, 4, 4, 3, 2, 1, 0],
    ]
    form = explicit("explicit-fair", 7, alpha="1/2").form
    assert isinstance(form, Exponents)
    assert form.powers.T.tolist() == printed


def test_the_scores_published_for_a_group_of_four() -> None:
    # CKS, introduction and figure 7: a true answer with probability 0.224 (EM) and 0.238 (GM) for n = 4. The figures
    # are those of alpha = 10/11, not of the 0.9 printed there.
    fair, geometric = explicit("explicit-fair", 4, alpha="10/11"), explicit("geometric", 4, alpha="10/11")
    assert float(trace(fair)) / 5 == pytest.approx(0.224, abs=5e-4)
    assert float(trace(geometric)) / 5 == pytest.approx(0.238, abs=5e-4)
    assert float(trace(explicit("explicit-fair", 4, alpha="9/10"))) / 5 != pytest.approx(0.224, abs=5e-4)


def test_randomized_response_tells_the_truth_with_probability_1_over_1_plus_a() -> None:
    # CKS, lemma 2: for a single bit GM is randomized response with p = 1 / (1 + alpha)
    bit = explicit("randomized-response", 1, alpha="31/50")
    assert trace(bit) == 2 / (1 + Fraction(31, 50))
    np.testing.assert_allclose(bit.matrix(), explicit("geometric", 1, alpha="31/50").matrix(), rtol=1e-15)


@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
def test_the_exponential_mechanism_on_a_bit_is_randomized_response_at_half_of_epsilon(epsilon: str) -> None:
    # CKS, theorem 4: p = e^(epsilon/2) / (1 + e^(epsilon/2))
    p = 1 / (1 + np.exp(-float(Fraction(epsilon)) / 2))
    np.testing.assert_allclose(explicit("exponential", 1, epsilon).matrix(), [[p, 1 - p], [1 - p, p]], rtol=1e-10)


def test_the_geometric_mechanism_on_two_people() -> None:
    # CKS, example 1: n = 2 and alpha = 9/10
    matrix = explicit("geometric", 2, alpha="9/10").matrix()
    assert matrix[1] == pytest.approx([0.47, 0.05, 0.47], abs=0.005)
    assert matrix[0, 0] == pytest.approx(0.53, abs=0.005)
    assert matrix[1, [0, 2]].sum() / matrix[1, 1] == pytest.approx(18, abs=0.01)


@given(st.sampled_from(ALPHAS), st.integers(1, 12))
def test_fairness_costs_little(alpha: Fraction, max_count: int) -> None:
    # CKS, section 6.3: EM scores (n+1)/n (1-y), which is between GM's score and (n+1)/n times that
    fair = rescaled_score(explicit("explicit-fair", max_count, alpha=alpha))
    geometric = rescaled_score(explicit("geometric", max_count, alpha=alpha))
    assert geometric <= fair <= geometric * Fraction(max_count + 1, max_count)


@given(st.sampled_from([*ALPHAS, Fraction(2, 3), Fraction(5, 7)]), st.integers(2, 12))
def test_weak_honesty_of_the_geometric_mechanism(alpha: Fraction, max_count: int) -> None:
    # CKS, lemma 3: GM is weakly honest if and only if n >= 2 alpha / (1 - alpha)
    holds = explicit("geometric", max_count, alpha=alpha).properties()["weakly-honest"] is None
    assert holds == (max_count >= 2 * alpha / (1 - alpha))


@given(st.sampled_from(ALPHAS), st.integers(2, 12))
def test_column_properties_of_the_geometric_mechanism(alpha: Fraction, max_count: int) -> None:
    # CKS, lemma 4: GM is column monotone if and only if alpha <= 1/2
    found = explicit("geometric", max_count, alpha=alpha).properties()
    assert (found["column-monotone"] is None) == (alpha <= Fraction(1, 2))
    assert all(found[name] is None for name in ("row-honest", "row-monotone", "symmetric"))
    assert found["fair"] is not None


@given(st.sampled_from(ALPHAS), st.integers(1, 14))
def test_the_fair_mechanism_has_all_seven_properties(alpha: Fraction, max_count: int) -> None:
    # CKS, theorem 6
    found = explicit("explicit-fair", max_count, alpha=alpha).properties()
    assert len(found) == 7 and all(witness is None for witness in found.values())


@given(st.integers(1, 12))
def test_the_uniform_mechanism_has_all_seven_properties_and_says_nothing(max_count: int) -> None:
    uniform = explicit("uniform", max_count, 1)
    assert all(witness is None for witness in uniform.properties().values())
    assert uniform.odds() == 1 and rescaled_score(uniform) == 1


@given(st.sampled_from(ALPHAS), st.integers(1, 12))
def test_randomized_response_has_all_seven_properties(alpha: Fraction, max_count: int) -> None:
    assert all(w is None for w in explicit("randomized-response", max_count, alpha=alpha).properties().values())
