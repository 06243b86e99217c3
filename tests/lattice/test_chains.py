"""Line moves: every compiled draw against the plain definition, and the law they leave unchanged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.errors import BadInput, MissingExtra
from discreet.lattice import chains
from discreet.lattice.chains import UNBOUNDED, ChainTarget, chain_sampler
from discreet.sample.bits import seeded
from tests.lattice.fibres import THREE_SETS, law_of, margins, nonnegative_tables, observed

SCALE = {"l1": {"epsilon": 0.3}, "l2": {"epsilon": 0.3}, "gaussian": {"sigma": 3}}


def compiled_draw(sampler, state, lower, direction, chance):
    kernels, plan = chains.compiled(), sampler.plan()
    room = kernels.room_for(plan._replace(widest=len(state)), len(state))
    cells = np.flatnonzero(direction)
    room.cells[: len(cells)], room.steps[: len(cells)] = cells, direction[cells]
    square = kernels.squared_norm(plan, state)
    return kernels.draw(plan, state, lower, room, len(cells), chance, square)


def same_up_to_rounding(line, chance, k):
    """`k` is the inverse at `chance`, or at a chance so near that floats cannot tell."""
    running = np.cumsum(line.weights) / line.weights.sum()
    place = int(np.flatnonzero(line.points == k)[0])
    before = running[place - 1] if place else 0.0
    return before - 1e-9 <= chance <= running[place] + 1e-9


@pytest.mark.parametrize("law", ["l1", "l2", "gaussian"])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_compiled_draws_invert_the_law_on_the_line(law, data):
    sampler = chain_sampler(THREE_SETS, law=law, **SCALE[law])
    directions = sampler.moves.listed()
    direction = directions[data.draw(st.integers(0, len(directions) - 1))] * data.draw(st.sampled_from([1, -1, 2]))
    state = np.array(data.draw(st.lists(st.integers(-6, 6), min_size=14, max_size=14)))
    lower = np.full(14, UNBOUNDED)
    for cell in data.draw(st.sets(st.integers(0, 13))):
        lower[cell] = state[cell] - data.draw(st.integers(0, 5))
    chance = data.draw(st.floats(1e-6, 1 - 1e-6))
    line = ChainTarget(law, sampler.rate, lower).on_line(state, direction)
    assert same_up_to_rounding(line, chance, compiled_draw(sampler, state, lower, direction, chance))


@given(
    st.lists(st.integers(-15, 15), min_size=4, max_size=4), st.floats(1e-6, 1 - 1e-6), st.sampled_from([0.1, 0.5, 3.0])
)
@settings(max_examples=100, deadline=None)
def test_the_fast_minor_inverts_the_same_law(values, chance, rate):
    state = np.array(values)
    decay = np.exp(-rate * np.arange(400))
    k = chains.compiled().draw_minor(decay, rate, state, np.arange(4), chance)
    line = ChainTarget("l1", rate, np.full(4, UNBOUNDED)).on_line(state, np.array([1, 1, -1, -1]))
    assert same_up_to_rounding(line, chance, k)


def transition_matrix(target, points, directions):
    """Random scan over the directions, written out in full."""
    place = {tuple(point): i for i, point in enumerate(points)}
    matrix = np.zeros((len(points), len(points)))
    for i, point in enumerate(points):
        for direction in directions:
            line = target.on_line(point, direction, reach=12)
            for k, weight in zip(line.points, line.weights / line.weights.sum()):
                matrix[i, place[tuple(point + k * direction)]] += weight / len(directions)
    return matrix


@pytest.mark.parametrize("law", ["l1", "l2", "gaussian"])
@pytest.mark.parametrize("counts", [[1, 0, 2, 0, 1, 1], [2, 1, 0, 0, 1, 1]])
def test_line_moves_are_reversible_and_irreducible(law, counts):
    matrix, counts = margins(2, 3), np.array(counts)
    noise = nonnegative_tables(matrix, counts) - counts
    target = ChainTarget(law, 0.4, -counts)
    kernel = transition_matrix(target, noise, chain_sampler(matrix, epsilon=1, nonnegative=True).moves.listed())
    law_here = law_of(noise, law, 0.4)
    flow = law_here[:, None] * kernel
    assert np.allclose(kernel.sum(axis=1), 1)
    assert np.allclose(flow, flow.T, atol=1e-14)
    assert (np.linalg.matrix_power(kernel, len(noise)) > 0).all()


@pytest.mark.parametrize("law", ["l1", "l2", "gaussian"])
def test_bounded_chain_has_the_law_and_not_a_nearby_one(law):
    matrix, counts = margins(3, 3), np.array([1, 0, 2, 0, 1, 1, 2, 0, 0])
    sampler = chain_sampler(matrix, law=law, nonnegative=True, **SCALE[law])
    noise = nonnegative_tables(matrix, counts) - counts
    seen = observed(sampler.trace(11, 20_000, thin=12, counts=counts), noise)
    assert chisquare(seen, seen.sum() * law_of(noise, law, sampler.rate)).pvalue > 1e-6
    assert chisquare(seen, seen.sum() * law_of(noise, law, 1.3 * sampler.rate)).pvalue < 1e-6


def test_chain_with_a_general_inequality_has_the_law():
    matrix, counts = np.ones((1, 4), int), np.array([1, 0, 1, 1])
    limits, least = np.array([[1, 1, 0, 0], [0, 0, -1, 0]]), np.array([1, -2])
    sampler = chain_sampler(matrix, epsilon=0.5, nonnegative=True, inequalities=(limits, least))
    tables = nonnegative_tables(matrix, counts)
    noise = tables[(tables @ limits.T >= least).all(axis=1)] - counts
    seen = observed(sampler.trace(5, 20_000, thin=15, counts=counts), noise)
    assert chisquare(seen, seen.sum() * law_of(noise, "l1", 0.5)).pvalue > 1e-6
    assert chisquare(seen, seen.sum() * law_of(noise, "l1", 0.65)).pvalue < 1e-6


def test_jumps_have_the_law_where_no_markov_basis_is_known(monkeypatch):
    monkeypatch.setattr("discreet.lattice.markov.graver", lambda basis: None)
    matrix = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0], [1, 0, 0, 0, 1, 1]])
    counts = np.array([1, 1, 0, 1, 1, 1])
    sampler = chain_sampler(matrix, epsilon=0.5, nonnegative=True)
    assert sampler.moves.jumps and not sampler.moves.connects
    noise = nonnegative_tables(matrix, counts) - counts
    seen = observed(sampler.trace(6, 20_000, thin=25, counts=counts), noise)
    assert chisquare(seen, seen.sum() * law_of(noise, "l1", 0.5)).pvalue > 1e-6


def test_unbounded_pair_is_two_sided_geometric():
    sampler = chain_sampler(np.ones((1, 2), int), epsilon=0.5)
    values = sampler.trace(3, 40_000)[0, :, 0]
    expected = np.exp(-np.arange(11)) * len(values) * np.tanh(0.5)  # P(k) = tanh(1/2) e^-|k|: both cells move
    expected[1:] *= 2
    seen = np.bincount(np.minimum(np.abs(values), 10), minlength=11)
    expected[10] = len(values) - expected[:10].sum()
    assert chisquare(seen, expected).pvalue > 1e-6


def line_step(target, directions):
    """The plain definition: a direction at random, then a draw from the law on that line."""

    def step(rng, state):
        direction = directions[rng.integers(len(directions))]
        return state + target.on_line(state, direction).invert(rng.random()) * direction

    return step


def test_pure_step_and_compiled_chain_agree():
    sampler = chain_sampler(margins(3, 3), epsilon=0.5, blocks=False)
    step = line_step(ChainTarget("l1", 0.5, np.full(9, UNBOUNDED)), sampler.moves.listed())
    rng, state, norms = np.random.default_rng(2), np.zeros(9, dtype=np.int64), []
    for _ in range(1500):
        state = step(rng, state)
        norms.append(np.abs(state).sum())
    ours = np.abs(sampler.trace(4, 4000)).sum(axis=2)
    assert abs(np.mean(norms) - ours.mean()) < 1.0  # about 12; batch means spread by 0.2
    assert abs(np.mean(norms) - ours.mean() * 0.7) > 1.0


@pytest.mark.parametrize("law", ["l1", "l2", "gaussian"])
def test_a_draw_keeps_the_sums_and_repeats_with_its_seed(law):
    sampler = chain_sampler(margins(4, 5), law=law, iterations=20, **SCALE[law])
    noise = sampler.draw(seeded(1))
    assert not (margins(4, 5) @ noise).any()
    assert (noise == sampler.draw(seeded(1))).all()
    assert noise.any()
    assert (noise != sampler.draw(seeded(2))).any()
    assert sampler.grade == "diagnosed"


def test_a_draw_obeys_the_inequalities():
    matrix, counts = margins(3, 4), np.array([0, 1, 0, 3, 2, 0, 0, 0, 1, 0, 4, 0])
    sampler = chain_sampler(matrix, epsilon=0.1, nonnegative=True, iterations=30)
    for seed in range(20):
        table = counts + sampler.draw(seeded(seed), counts)
        assert (table >= 0).all() and (matrix @ table == matrix @ counts).all()
    assert sampler.private_side


def test_steps_do_not_depend_on_the_data():
    matrix = margins(3, 3)
    samplers = [chain_sampler(matrix, epsilon=1, nonnegative=flag, blocks=False) for flag in (True, False)]
    assert samplers[0].iterations == samplers[1].iterations


def test_nothing_free_draws_zero():
    assert not chain_sampler(np.eye(3, dtype=int), epsilon=1).draw(seeded(1)).any()


def test_bad_input_is_explained():
    with pytest.raises(BadInput, match="positive sigma"):
        chain_sampler(margins(2, 2), law="gaussian", epsilon=1)
    with pytest.raises(BadInput, match="Did you mean 'gaussian'"):
        chain_sampler(margins(2, 2), law="gausian", sigma=1)
    bounded = chain_sampler(margins(2, 2), epsilon=1, nonnegative=True)
    with pytest.raises(BadInput, match="no table came"):
        bounded.draw(seeded(1))
    with pytest.raises(BadInput, match="3 cells where 4 are needed"):
        bounded.draw(seeded(1), [1, 2, 3])
    with pytest.raises(BadInput, match="breaks 1 of them"):
        bounded.draw(seeded(1), [1, 2, -3, 4])


def test_without_numba_it_says_what_to_install(monkeypatch):
    import sys

    import discreet.lattice as package

    monkeypatch.setitem(sys.modules, "discreet.lattice._kernels", None)
    monkeypatch.delattr(package, "_kernels", raising=False)
    with pytest.raises(MissingExtra, match=r"discreet\[fast\]"):
        chain_sampler(margins(2, 2), epsilon=1, blocks=False).draw(seeded(1))
