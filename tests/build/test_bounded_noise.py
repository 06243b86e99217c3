"""Bounded integer noise, against Sadeghi, Asoodeh and Calmon's figures and against plain programs."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import discreet as dc
from discreet.build import bounded_noise as bounded_noise_module
from discreet.build.bounded_inputs import bounded_mechanism, published_bounded_mechanism
from discreet.build.bounded_noise import (
    bounded_noise,
    crossovers,
    exact_delta,
    formula_holds,
    least_delta,
    least_exact,
    least_single,
    single_bounds,
    single_delta,
)
from discreet.certify import certify
from discreet.errors import BadInput
from discreet.laws import Bounded, Gaussian


def least_single_program(odds, truth, support):
    """The plain program over symmetric noise p(1..D) and delta."""
    rows, bounds = [], []
    for error in range(-support, support + 2):
        for one, other in ((error, error - 1), (error - 1, error)):
            row, bound = np.zeros(support + 1), 0.0
            row[-1] = -1
            for k, c in ((abs(one), 1.0), (abs(other), -odds)):
                if k == 0:
                    bound -= c * truth
                elif k <= support:
                    row[k - 1] += c
            rows.append(row)
            bounds.append(bound)
    whole = [[2.0] * support + [0.0]]
    return linprog([0.0] * support + [1.0], rows, bounds, whole, [1 - truth], bounds=(0, None)).fun


def hockey_stick(pmf, odds):
    padded = [0.0, *map(float, pmf), 0.0]
    return sum(max(0.0, a - odds * b) for a, b in zip(padded[1:], padded[:-1]))


def test_the_three_deltas_at_epsilon_11_truth_half_support_8():
    noise = bounded_noise("1.1", truth="0.5", support=8)
    figures = [float(d) for d in (noise.delta_paper, noise.delta_exact, noise.delta_optimal)]
    assert figures == pytest.approx([8.6e-4, 4.0e-4, 7.6e-5], rel=0.01)
    assert noise.delta_optimal * 3 <= noise.delta_paper
    assert noise.lower_bound <= noise.delta_optimal <= noise.lower_bound + Fraction(1, 10**9)


def test_the_worked_example():
    # epsilon 2.18, truth 0.8, support 6 (their figure 1)
    noise = bounded_noise("2.18", truth="0.8", support=6)
    odds = noise.epsilon.odds()
    assert float(odds) == pytest.approx(8.8463, abs=5e-5)
    assert [float(c) for c in crossovers(odds, 6)[1:3]] == pytest.approx([8.1229, 7.8867], abs=5e-5)
    assert float(noise.delta_single) == pytest.approx(0.0049, abs=5e-5)
    assert noise.delta_single == single_bounds(odds, noise.truth, 6)[2]
    assert [float(p) for p in noise.pmf[7:9]] == pytest.approx([0.08987, 0.00960], abs=5e-6)
    assert float(noise.pmf[7] / noise.pmf[8]) == pytest.approx(9.3617, abs=5e-5)
    assert all(p == 0 for p in (*noise.pmf[:3], *noise.pmf[10:]))  # supported on -3..3
    # the discrete Gaussian of that variance: 0.11685 and 0.000416
    masses = np.exp(-(np.arange(-30, 31) ** 2) / (2 * float(noise.variance)))
    assert (masses / masses.sum())[31:33] == pytest.approx([0.11685, 0.000416], rel=1e-3)


def test_section_4_claims():
    for epsilon in ("1.11", "1.5", "2", "3"):
        assert bounded_noise(epsilon, truth="0.5", support=8).delta_paper <= Fraction(1, 1000)
    noise = bounded_noise("1.5", truth="0.5", support=8)
    assert float(sum(noise.pmf[5:12])) == pytest.approx(0.9945, abs=5e-5)
    assert bounded_noise("2.2", truth="0.8", support=8).delta_paper <= Fraction(5, 10**7)


@pytest.mark.parametrize("epsilon", ["1.1", "1.3", "1.6", "2", "2.5"])
def test_figure_4_bounded_noise_beats_the_gaussian_of_its_variance(epsilon):
    noise = bounded_noise(epsilon, truth="0.5", support=6)
    assert noise.delta_paper < noise.delta_gaussian == Gaussian(noise.variance).delta(noise.epsilon)


def test_delta_falls_with_epsilon_and_support_and_rises_with_truth():
    def paper(epsilon, truth, support):
        return bounded_noise(epsilon, truth=truth, support=support).delta_paper

    assert paper("1.1", "0.5", 8) > paper("1.2", "0.5", 8)
    assert paper("1.1", "0.5", 4) > paper("1.1", "0.5", 6)
    assert paper("1.1", "0.7", 8) > paper("1.1", "0.5", 8)


@settings(max_examples=40, deadline=None)
@given(
    epsilon=st.sampled_from(["0.2", "0.7", "1.1", "2.2"]),
    truth=st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50),
    support=st.integers(1, 9),
)
def test_what_any_bounded_noise_promises(epsilon, truth, support):
    noise = bounded_noise(epsilon, truth=truth, support=support)
    odds = noise.epsilon.odds()
    for pmf in (noise.pmf, noise.pmf_optimal):
        assert len(pmf) == 2 * support + 1
        assert sum(pmf) == 1 and min(pmf) >= 0 and pmf[support] == truth
        assert sum((k - support) * p for k, p in enumerate(pmf)) == 0
    assert float(noise.delta_single) == pytest.approx(
        least_single_program(float(odds), float(truth), support), abs=1e-8
    )
    assert float(noise.delta_exact) == pytest.approx(hockey_stick(noise.pmf, float(odds)), abs=1e-12)
    assert noise.lower_bound <= noise.delta_optimal <= noise.delta_exact + Fraction(1, 10**9)
    assert noise.delta_exact <= noise.delta_paper or noise.delta_paper == 1
    if noise.closed_form:
        assert noise.delta_single == max(single_bounds(odds, truth, support))


@settings(max_examples=150, deadline=None)
@given(
    odds=st.fractions(Fraction(21, 20), Fraction(30), max_denominator=20),
    truth=st.fractions(Fraction(1, 1000), Fraction(99, 100), max_denominator=1000),
    support=st.integers(1, 12),
)
def test_the_least_delta_is_that_of_the_noise_that_has_it(odds, truth, support):
    half = least_exact(odds, truth, support)
    assert len(half) == support + 1 and half[0] == truth and min(half) >= 0 and 2 * sum(half[1:]) + truth == 1
    assert exact_delta((*half[:0:-1], *half), odds) == least_delta(odds, truth, support)
    other = least_single(odds, truth, support) if not formula_holds(odds, truth, support) else half
    assert other[0] == truth and min(other) >= 0 and 2 * sum(other[1:]) + truth == 1


@settings(max_examples=60, deadline=None)
@given(
    odds=st.fractions(Fraction(11, 10), Fraction(12), max_denominator=10),
    truth=st.fractions(Fraction(1, 200), Fraction(19, 20), max_denominator=200),
    support=st.integers(1, 9),
)
def test_no_noise_has_a_smaller_delta(odds, truth, support):
    """A program over all noise, the asymmetric too: p(-D..D), then excesses both ways, then the larger sum."""
    size, cells = 2 * support + 1, 2 * support + 2
    costs = np.zeros(size + 2 * cells + 1)
    costs[-1] = 1
    rows = []
    for way in (0, 1):
        for k in range(cells):
            row = np.zeros(len(costs))
            here, there = (k, k - 1) if way == 0 else (k - 1, k)
            if 0 <= here < size:
                row[here] += 1
            if 0 <= there < size:
                row[there] -= float(odds)
            row[size + way * cells + k] = -1
            rows.append(row)
        row = np.zeros(len(costs))
        row[size + way * cells : size + (way + 1) * cells], row[-1] = 1, -1
        rows.append(row)
    fixed = np.zeros((2, len(costs)))
    fixed[0, :size], fixed[1, support] = 1, 1
    least = linprog(costs, rows, np.zeros(len(rows)), fixed, [1, float(truth)], bounds=(0, None)).fun
    assert float(least_delta(odds, truth, support)) <= least + 1e-7, "the program is right to about that"


@pytest.mark.parametrize(
    ("epsilon", "truth", "support", "least"),
    [("2.2", "0.8", 16, 4.1e-16), ("1.1", "0.5", 8, 7.553e-5), ("1.1", "0.05", 8, 2.949e-4)],
)
def test_small_deltas_are_no_rounding_errors(epsilon, truth, support, least):
    noise = bounded_noise(epsilon, truth=truth, support=support)
    assert float(noise.delta_optimal) == pytest.approx(least, rel=0.02)
    assert noise.lower_bound <= noise.delta_optimal <= noise.lower_bound * (1 + Fraction(1, 10**6))


def test_noise_of_absurd_epsilon_and_wide_noise_have_their_delta():
    assert 0 < bounded_noise(30, truth="1/2", support=3).delta_optimal < Fraction(1, 10**26)
    assert 0 < bounded_noise("1.1", truth="1/2", support=200).delta_optimal < Fraction(1, 10**95)
    shown = bounded_noise(5, truth="1/2", support=13).as_json()["delta_optimal"]
    assert shown.endswith("e-27") and Fraction(shown) >= bounded_noise(5, truth="1/2", support=13).delta_optimal


def test_the_condition_the_paper_forgets():
    # epsilon 1.1, truth 0.05, support 8: the formula gives 9.6e-5, its noise has 0.167 at a single output
    from discreet.build.bounded_noise import closed_form

    noise = bounded_noise("1.1", truth="0.05", support=8)
    odds = noise.epsilon.odds()
    half = closed_form(odds, noise.truth, 8)
    assert float(max(single_bounds(odds, noise.truth, 8))) == pytest.approx(9.6e-5, rel=0.01)
    assert float(single_delta((*half[:0:-1], *half), odds)) == pytest.approx(0.167, abs=5e-4)
    assert not noise.closed_form
    assert noise.delta_single < Fraction(1, 1000)


def test_delta_is_what_the_prover_says():
    """The noise as a mechanism on a few counts, certified at delta and refuted just below it."""
    noise = bounded_noise("1.1", truth="0.5", support=3)
    rows = [[0] * i + list(noise.pmf_optimal) + [0] * (2 - i) for i in range(3)]
    assert certify(rows, "1.1", noise.delta_optimal).holds
    assert not certify(rows, "1.1", noise.delta_optimal * Fraction(999, 1000)).holds
    assert exact_delta(noise.pmf_optimal, noise.epsilon.odds()) == noise.delta_optimal


@pytest.mark.parametrize(("max_count", "support"), [(3, 2), (6, 2), (9, 4)])
def test_one_hockey_stick_program_over_all_inputs(max_count, support):
    made = bounded_mechanism(max_count, "1.1", truth="0.5", support=support)
    weights = made.mechanism.weights
    assert weights.shape == (max_count + 1, max_count + support + 1)
    for i, row in enumerate(weights.rows):
        assert 2 * row[i] == weights.total
        assert all(w == 0 for j, w in enumerate(row) if abs(i - j) > support)
        assert i == 0 or sum((j - i) * w for j, w in enumerate(row)) == 0
    assert certify(made.mechanism, "1.1", made.delta).holds
    assert made.lower_bound <= made.delta <= made.lower_bound + Fraction(1, 10**7)


def test_the_published_program_protects_single_outputs_only():
    theirs = published_bounded_mechanism(6, "1.1", truth="0.5", support=2)
    ours = bounded_mechanism(6, "1.1", truth="0.5", support=2)
    assert theirs.first == 1 and len(theirs.mechanism.weights.rows) == 6
    assert theirs.lower_bound <= theirs.delta_single <= theirs.lower_bound + Fraction(1, 10**7)
    assert theirs.delta_single < theirs.delta
    # among counts of at least D their program can use the data-independent noise
    assert theirs.delta_single >= bounded_noise("1.1", truth="0.5", support=2).delta_single - Fraction(1, 10**7)
    assert ours.delta > 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"truth": 0}, "both excluded"),
        ({"truth": 1}, "both excluded"),
        ({"support": 0}, "at least 1"),
        ({"support": 2.5}, "whole number"),
        ({"epsilon": 0}, "greater than zero"),
    ],
)
def test_bad_input(wrong, message):
    with pytest.raises(BadInput, match=re.escape(message)):
        bounded_noise(**{"epsilon": 1, "truth": "1/2", "support": 3, **wrong})


def test_support_has_no_limit_where_no_table_is_asked_for():
    wide = bounded_noise("1/10", truth="0.02", support=3000)
    assert 0 < wide.delta_optimal < bounded_noise("1/10", truth="0.02", support=50).delta_optimal
    counts = dc.table(pd.DataFrame({"area": ["A", "B"], "people": [4000, 9000]}), count="people", keys=["area"])
    out = dc.release(counts, mechanism=wide)
    assert out.guarantee.delta >= wide.delta_optimal * (1 - Fraction(1, 10**9))
    assert max(abs(out.measurements["people"][i] - true) for i, true in enumerate((4000, 9000))) <= 3000
    assert float(sum(wide.pmf)) == pytest.approx(1, abs=1e-30) and len(wide.pmf) == 6001


@pytest.mark.parametrize("epsilon, truth", [("1", "0.5"), ("1/2", "0.9"), ("0.02", "0.001"), ("1.1", "0.05")])
def test_wide_noise_is_what_exact_noise_is(epsilon, truth, monkeypatch):
    """Without exact rationals every delta errs upwards, the bound downwards, both by nearly nothing."""
    exactly = bounded_noise(epsilon, truth=truth, support=60)
    monkeypatch.setattr(bounded_noise_module, "LARGEST_EXACT", 5)
    wide, hair = bounded_noise(epsilon, truth=truth, support=60), 1 + Fraction(1, 10**30)
    for name in ("delta_single", "delta_exact", "delta_optimal"):
        assert getattr(exactly, name) <= getattr(wide, name) <= getattr(exactly, name) * hair
    assert wide.lower_bound <= exactly.lower_bound <= wide.lower_bound * hair
    assert wide.closed_form == exactly.closed_form
    for name in ("pmf", "pmf_optimal"):
        for one, other in zip(getattr(wide, name), getattr(exactly, name), strict=True):
            assert abs(one - other) <= other / 10**30


def test_a_tie_between_two_formulas_is_no_matter_in_wide_noise(monkeypatch):
    """The truth at which the noise of least delta just need not rise: p(1) = odds truth."""
    monkeypatch.setattr(bounded_noise_module, "LARGEST_EXACT", 5)
    odds, support = Fraction(3, 2), 20
    half_share = (odds - 1) * odds ** (support - 2) / (odds**support - 1)  # truth = half_share (1 - truth) / 2
    truth = half_share / (2 + half_share)
    noise = bounded_noise(alpha=1 / odds, truth=truth, support=support)
    least = (1 - truth) / 2 * (odds - 1) / (odds**support - 1)
    assert noise.lower_bound <= least <= noise.delta_optimal <= noise.lower_bound * (1 + Fraction(1, 10**30))


@pytest.mark.parametrize("epsilon, truth", [("1", "0.5"), ("0.2", "0.01"), ("1.1", "0.05")])
def test_the_delta_of_wide_noise_is_worked_out_alike(epsilon, truth):
    """By the law's closed sums, and by adding every excess."""
    noise = bounded_noise(epsilon, truth=truth, support=400)
    law = Bounded(noise.odds, noise.truth, 400)
    factor = noise.epsilon.bounds(256)[0]
    added = exact_delta(noise.pmf_optimal, factor)
    assert added <= law.delta(noise.epsilon) <= added * (1 + Fraction(1, 10**30))
