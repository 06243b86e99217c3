"""Moves: they keep what is kept, and they connect what must be connected."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.lattice.basis import kernel_basis
from discreet.lattice.markov import graver, grid_of, merge_columns, minors, moves_for
from tests.lattice.fibres import THREE_SETS, components, lattice_ball, margins, nonnegative_tables, same_lattice

matrices = st.integers(1, 3).flatmap(
    lambda rows: st.lists(st.lists(st.integers(0, 1), min_size=rows, max_size=rows), min_size=rows + 1, max_size=6).map(
        lambda columns: np.array(columns).T
    )
)


@given(matrices, st.booleans())
@settings(max_examples=60, deadline=None)
def test_moves_keep_the_sums_and_span_the_lattice(matrix, bounded):
    moves = moves_for(matrix, bounded=bounded)
    directions = np.array(moves.listed()).reshape(-1, matrix.shape[1])
    assert not (matrix @ directions.T).any()
    basis = kernel_basis(matrix)
    assert moves.dimension == len(basis)
    assert same_lattice(directions, basis)


@given(matrices, st.data())
@settings(max_examples=40, deadline=None)
def test_bounded_moves_connect_every_fibre(matrix, data):
    matrix = np.vstack([matrix, np.ones((1, matrix.shape[1]), int)])
    counts = np.array(data.draw(st.lists(st.integers(0, 2), min_size=matrix.shape[1], max_size=matrix.shape[1])))
    moves = moves_for(matrix, bounded=True)
    assert moves.connects
    assert components(nonnegative_tables(matrix, counts), moves.listed()) == 1


def test_a_basis_splits_unit_margins_and_minors_connect_them():
    matrix, counts = margins(3, 3), np.eye(3, dtype=int).ravel()
    tables = nonnegative_tables(matrix, counts)
    assert len(tables) == 6
    assert components(tables, list(kernel_basis(matrix))) > 1
    assert components(tables, moves_for(matrix, bounded=True).listed()) == 1


def test_graver_basis_is_the_minimal_lattice_vectors():
    matrix = np.array([[1, 2, 3]])
    ball = [v for v in lattice_ball(matrix, 4) if v.any()]

    def inside(one, other):
        return (one * other >= 0).all() and (abs(one) <= abs(other)).all() and (one != other).any()

    minimal = {tuple(v) for v in ball if not any(inside(u, v) for u in ball)}
    found = graver(kernel_basis(matrix))
    assert {tuple(v) for v in found} | {tuple(-v) for v in found} == minimal


def test_graver_gives_up_beyond_its_limit():
    assert graver(kernel_basis(margins(3, 3)), most=5) is None


@given(st.integers(2, 4), st.integers(2, 4), st.integers(1, 3), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_two_way_tables_are_recognised_in_any_order(rows, columns, depth, random):
    matrix = np.kron(margins(rows, columns), np.ones((1, depth), int))
    order = list(range(matrix.shape[1]))
    random.shuffle(order)
    lines = list(range(len(matrix)))
    random.shuffle(lines)
    shuffled = np.vstack([matrix[lines][:, order], np.ones((1, len(order)), int)])
    moves = moves_for(shuffled, bounded=True)
    assert sorted(moves.grid) == sorted((rows, columns))
    assert not (shuffled @ np.array(moves.listed()).T).any()
    assert moves.dimension == matrix.shape[1] - (rows + columns - 1)


def test_incomplete_and_other_tables_are_not_taken_for_two_way_ones():
    assert grid_of(merge_columns(margins(3, 3)[:, :-1])[1]) is None
    assert grid_of(merge_columns(THREE_SETS)[1]) is None
    assert (
        grid_of(merge_columns(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1], [1, 0, 1, 0]]))[1])
        is None
    )


def test_separate_two_way_tables_each_get_their_minors():
    block = margins(2, 3)
    empty = np.zeros_like(block)
    matrix = np.block([[block, empty], [empty, block]])
    moves = moves_for(matrix, bounded=True)
    assert moves.dimension == 4
    assert len(moves.listed()) == 2 * len(minors(2, 3))
    assert moves.connects


def test_a_three_way_table_moves_by_its_minors():
    shape = (2, 3, 4)
    cells = np.arange(24).reshape(shape)
    lines = [line for axis in range(3) for line in np.moveaxis(cells, axis, 2).reshape(-1, shape[axis])]
    matrix = np.array([np.isin(np.arange(24), line) for line in lines]).astype(int)
    order = np.random.default_rng(0).permutation(24)
    moves = moves_for(matrix[:, order])
    directions = np.array(moves.listed())
    assert len(directions) == 1 * 3 * 6 and moves.dimension == 1 * 2 * 3
    assert not (matrix[:, order] @ directions.T).any() and same_lattice(directions, kernel_basis(matrix[:, order]))


def test_an_inequality_becomes_a_slack_that_follows_the_cells():
    limits = np.array([[0, 1, 1, 0], [-1, 0, 0, 0]])
    moves = moves_for(np.ones((1, 4), int), limits, bounded=True)
    for direction in moves.listed():
        assert direction[:4].sum() == 0
        assert (direction[4:] == limits @ direction[:4]).all()


@pytest.mark.parametrize("shape", [(2, 2), (3, 4)])
def test_number_of_minors(shape):
    pairs = [len(list(itertools.combinations(range(side), 2))) for side in shape]
    assert len(minors(*shape)) == pairs[0] * pairs[1]
