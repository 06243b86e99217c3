"""Corrections after the noise: nearest in their norm, and right in their sums."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput, Infeasible
from discreet.numbers import Epsilon, epsilon_of
from discreet.sample.bits import seeded
from discreet_lab.baselines.postprocess import (
    METHODS,
    noisy_projection,
    project,
    project_nonnegative,
    round_to_integers,
)
from tests.lattice.fibres import margins, nonnegative_tables

tables = st.lists(st.integers(0, 3), min_size=6, max_size=6).map(np.array)
points = st.lists(st.floats(-5, 8), min_size=6, max_size=6).map(np.array)


@given(tables, points)
@settings(max_examples=60, deadline=None)
def test_projection_moves_only_across_the_sums(table, point):
    matrix = margins(2, 3)
    nearest = project(matrix, point, matrix @ table)
    assert np.allclose(matrix @ nearest, matrix @ table)
    for direction in nonnegative_tables(matrix, table) - table:
        assert abs((point - nearest) @ direction) < 1e-8


@given(tables, points)
@settings(max_examples=60, deadline=None)
def test_nonnegative_projection_is_nearest(table, point):
    """The nearest point of a convex set: every other point of it lies on the far side."""
    matrix = margins(2, 3)
    nearest = project_nonnegative(matrix, point, matrix @ table)
    assert np.allclose(matrix @ nearest, matrix @ table, atol=1e-6)
    assert nearest.min() >= 0
    for other in nonnegative_tables(matrix, table):
        assert (point - nearest) @ (other - nearest) <= 1e-5


@given(tables, points)
@settings(max_examples=40, deadline=None)
def test_rounding_is_nearest_of_all_whole_tables(table, point):
    matrix = margins(2, 3)
    found = round_to_integers(matrix, point, matrix @ table)
    best = np.abs(nonnegative_tables(matrix, table) - point).sum(axis=1).min()
    assert (matrix @ found == matrix @ table).all() and (found >= 0).all()
    assert np.abs(found - point).sum() == pytest.approx(best, abs=1e-5)


def test_rounding_beyond_the_neighbouring_integers():
    """No whole table with these sums lies within one of the point in every cell."""
    matrix = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    point, sums = np.array([0.5, 0.5, 0.5]), np.array([4, 4, 4])
    assert round_to_integers(matrix, point, sums).tolist() == [2, 2, 2]
    signed = round_to_integers(np.ones((1, 2), int), np.array([-1.2, -0.4]), np.array([-3]), nonnegative=False)
    candidates = [(a, -3 - a) for a in range(-6, 6)]
    assert np.abs(signed - [-1.2, -0.4]).sum() == pytest.approx(min(abs(a + 1.2) + abs(b + 0.4) for a, b in candidates))


@pytest.mark.parametrize("method", METHODS)
def test_noisy_tables_keep_their_sums(method):
    matrix, counts = margins(3, 4), np.array([0, 5, 2, 9, 1, 0, 0, 3, 2, 2, 7, 1])
    table = noisy_projection(matrix, counts, epsilon_of("1/2"), seeded(3), method)
    assert np.allclose(matrix @ table, matrix @ counts, atol=1e-6)
    assert (table != counts).any()
    assert method == "l2" or table.min() >= 0
    assert method != "l1-integer" or (table == np.round(table)).all()


def test_l2_projection_leaves_no_bias_and_half_the_noise():
    """Two cells with a fixed sum: (u1 - u2)/2, variance half that of one cell."""
    rate, matrix, counts = Epsilon(ratio=Fraction(2)), np.ones((1, 2), int), np.array([3, 4])
    bits = seeded(1)
    first = np.array([noisy_projection(matrix, counts, rate, bits)[0] for _ in range(4000)]) - 3
    assert abs(first.mean()) < 5 * np.sqrt(2 / 4000)
    assert first.var() == pytest.approx(2, rel=0.25)  # 2a/(1-a)^2 = 4 for a = 1/2


def test_what_cannot_be_is_explained():
    with pytest.raises(Infeasible, match="no whole table"):
        round_to_integers(np.array([[1, 1], [1, 1]]), np.array([1.0, 2.0]), np.array([3, 4]))
    with pytest.raises(Infeasible, match="still off"):
        project_nonnegative(np.ones((1, 2)), np.array([1.0, 2.0]), np.array([-1.0]))
    with pytest.raises(BadInput, match="contradict"):
        project(np.array([[1, 1], [1, 1]]), np.array([1.0, 2.0]), np.array([3, 4]))
    with pytest.raises(BadInput, match="no method of that name"):
        noisy_projection(np.ones((1, 2), int), np.array([1, 2]), epsilon_of(1), seeded(1), "l3")


def test_rounding_agrees_with_trying_everything_on_intersecting_sums():
    matrix, sums = np.array([[1, 1, 1, 0], [0, 1, 1, 1]]), np.array([4, 3])
    point = np.array([1.6, 0.2, 1.9, 1.1])
    every = [t for t in itertools.product(range(5), repeat=4) if (matrix @ t == sums).all()]
    best = min(np.abs(np.array(t) - point).sum() for t in every)
    assert np.abs(round_to_integers(matrix, point, sums) - point).sum() == pytest.approx(best)
