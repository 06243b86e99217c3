"""What Cormode, Kulkarni and Srivastava, 'Constrained Private Mechanisms for Count Data', publish about designs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.build.design import design
from discreet.requirements import STRUCTURAL

ALL = list(STRUCTURAL)
ALPHAS = [Fraction(1, 2), Fraction(2, 3), Fraction(10, 11), Fraction(99, 100)]
COMBINATIONS = [[], ["RH"], ["RM"], ["CH"], ["CM"], ["RH", "CH"], ["RH", "CM"], ["RM", "CH"], ["RM", "CM"]]


def score(made):
    """Their L0: the chance of a wrong answer, rescaled so that guessing costs 1."""
    size = made.mechanism.max_count + 1
    return made.value * size / (size - 1)


@pytest.mark.parametrize(("alpha", "m"), [*product(ALPHAS, [2, 3, 8, 15])])
def test_figure_6_scores(alpha, m):
    a = float(alpha)
    geometric = design(m, alpha=alpha)
    honest = design(m, alpha=alpha, require=["WH", "RM", "CM"])
    fair = design(m, alpha=alpha, require=["F"])
    uniform = design(m, alpha=alpha, mechanism="uniform")
    assert score(geometric) == pytest.approx(2 * a / (1 + a), abs=1e-9)
    assert score(uniform) == pytest.approx(1)
    assert score(geometric) - 1e-9 <= score(honest) <= score(fair) + 1e-9
    if m % 2 == 0:  # the printed closed form of the fair diagonal is that of even sizes
        y = (1 - a) / (1 + a - 2 * a ** (m / 2 + 1))
        assert score(fair) == pytest.approx((1 - y) * (m + 1) / m, abs=1e-9)


@pytest.mark.parametrize(("alpha", "m"), [*product(ALPHAS, [2, 3, 8, 15])])
def test_figure_6_properties(alpha, m):
    named = {
        name: design(m, alpha=alpha, mechanism=name).properties for name in ("geometric", "explicit-fair", "uniform")
    }
    assert named["geometric"]["symmetric"] and named["geometric"]["row-monotone"] and not named["geometric"]["fair"]
    assert all(named["explicit-fair"].values()) and all(named["uniform"].values())
    honest = design(m, alpha=alpha, require=["WH"]).properties
    assert honest["weakly-honest"] and honest["symmetric"]
    # lemma 3 and lemma 4
    assert named["geometric"]["weakly-honest"] == (m >= 2 * alpha / (1 - alpha))
    assert named["geometric"]["column-monotone"] == (alpha <= Fraction(1, 2))


@pytest.mark.parametrize("numerator", range(1, 20))
@pytest.mark.parametrize("m", [2, 3, 4, 7, 12, 19])
def test_lemmas_3_and_4_over_a_grid(numerator, m):
    alpha = Fraction(numerator, 20)
    found = design(m, alpha=alpha, mechanism="geometric").mechanism.properties()
    assert (found["weakly-honest"] is None) == (m * (1 - alpha) >= 2 * alpha)
    assert (found["column-monotone"] is None) == (2 * alpha <= 1)


def test_figure_4_the_fair_mechanism_for_seven_people():
    alpha = Fraction(3, 4)
    # exponents of alpha as printed there (their columns are our rows)
    printed = """
        0 1 2 3 4 4 4 4
        1 0 1 2 3 3 3 3
        1 1 0 1 2 3 3 3
        2 2 1 0 1 2 2 2
        2 2 2 1 0 1 2 2
        3 3 3 2 1 0 1 1
        3 3 3 3 2 1 0 1
        4 4 4 4 3 2 1 0"""
    powers = np.array([[int(k) for k in line.split()] for line in printed.strip().splitlines()]).T
    made = design(7, alpha=alpha, require=["fair"])
    expected = float(alpha) ** powers
    assert made.mechanism.matrix() == pytest.approx(expected / expected.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("m", [2, 3, 4, 5, 8, 9])
def test_the_explicit_fair_mechanism_is_the_best_fair_one_for_odd_and_even_sizes(m):
    quick = design(m, alpha="0.8", require=["fair"])
    solved = design(m, alpha="0.8", require=["fair"], method="program")
    everything = design(m, alpha="0.8", require=ALL, method="program")
    assert quick.mechanism.name == "explicit-fair"
    assert quick.value == pytest.approx(solved.value, abs=1e-9) == pytest.approx(everything.value, abs=1e-9)


def test_group_size_4():
    # 0.224 (fair) and 0.238 (geometric) for four people are true at alpha = 10/11
    truth = [1 - design(4, alpha="10/11", require=require).value for require in (["fair"], [])]
    assert truth == pytest.approx([0.224, 0.238], abs=5e-4)


def test_example_1():
    # two people, alpha = 9/10, input 1: 0 and 2 about 0.47 each, the truth about 0.05; input 0: about 0.53
    matrix = design(2, alpha="9/10").mechanism.matrix()
    assert matrix[1] == pytest.approx([0.47, 0.05, 0.47], abs=0.005)
    assert matrix[0, 0] == pytest.approx(0.53, abs=0.005)


@pytest.mark.parametrize(("m", "alpha"), [(3, "0.76"), (5, "0.76"), (8, "0.76"), (6, "0.9"), (4, "0.97")])
def test_figure_8_weak_honesty_with_anything_behaves_in_two_ways(m, alpha):
    values = {tuple(extra): design(m, alpha=alpha, require=["WH", *extra]).value for extra in COMBINATIONS}
    without = {round(v, 8) for extra, v in values.items() if not {"CH", "CM"} & set(extra)}
    with_columns = {round(v, 8) for extra, v in values.items() if {"CH", "CM"} & set(extra)}
    assert len(without) == len(with_columns) == 1
    assert without.pop() <= with_columns.pop()


def test_figure_8_at_alpha_076():
    # 2a/(1-a) = 6.33: weak honesty alone costs as much as the geometric mechanism, 0.864, from 7 people on
    assert score(design(7, alpha="0.76", require=["WH"], method="program")) == pytest.approx(0.864, abs=5e-4)
    assert score(design(6, alpha="0.76", require=["WH"])) > 0.8637
    assert score(design(7, alpha="0.76", require=["WH", "CM"])) > 0.8645


@pytest.mark.parametrize(("m", "cost"), [(4, "squared"), (7, "absolute"), (5, "absolute"), (5, "beyond:1")])
def test_figure_1_gaps_without_requirements_and_none_with_all(m, cost):
    bare = design(m, alpha="0.62", objective=cost).mechanism.matrix()
    assert (bare.max(axis=0) == 0).any()  # outputs that are never given
    full = design(m, alpha="0.62", objective=cost, require=ALL)
    assert full.mechanism.matrix().min() > 1e-3
    assert all(full.properties.values())


def test_figure_1_spikes():
    # the caption says alpha = 0.62; the spikes in the text are those of stronger privacy
    always_two = design(4, alpha="0.8", objective="squared").mechanism.matrix()
    assert always_two[:, 2] == pytest.approx(np.ones(5))
    two_or_five = design(7, alpha="0.85", objective="absolute").mechanism.matrix()[:, [2, 5]].sum(axis=1)
    assert two_or_five.min() >= 0.7
    one_or_four = design(5, alpha="0.9", objective="beyond:1").mechanism.matrix()[:, [1, 4]].sum(axis=1)
    assert one_or_four.min() >= 0.9


def test_figure_2_all_properties_answer_within_one_with_probability_two_thirds():
    matrix = design(4, alpha="0.62", objective="squared", require=ALL).mechanism.matrix()
    near = [sum(row[max(0, i - 1) : i + 2]) for i, row in enumerate(matrix)]
    assert min(near) == pytest.approx(2 / 3, abs=0.005)


@pytest.mark.parametrize("m", [3, 4, 7])
def test_designed_mechanisms_are_not_maps_of_the_geometric_one(m):
    fair = design(m, alpha="0.9", require=["fair"]).mechanism
    honest = design(m, alpha="0.9", require=["WH", "RM", "CM"]).mechanism
    assert fair.derivable_from_geometric(None, "0.9") is not None
    assert honest.derivable_from_geometric(None, "0.9") is not None
    assert design(m, alpha="0.9").mechanism.derivable_from_geometric(None, "0.9") is None


@pytest.mark.parametrize(("first", "alpha"), [("0.6", "0.5"), ("0.5", "0.5"), ("0.7", "0.2")])
def test_theorem_3_one_person(first, alpha):
    prior = [Fraction(first), 1 - Fraction(first)]
    for cost in ("wrong", "absolute", "squared"):
        made = design(1, alpha=alpha, objective=cost, prior=prior, method="program")
        assert made.mechanism.matrix()[0, 0] == pytest.approx(1 / (1 + float(Fraction(alpha))), abs=1e-6)
