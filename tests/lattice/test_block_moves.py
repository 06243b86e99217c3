"""Block moves: the law of a block against all its points, the coupling, the law that the chain leaves unchanged."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.errors import NotProven
from discreet.lattice import _block_kernels as kernels
from discreet.lattice import block_chain, block_moves
from discreet.lattice.block_chain import BlockSampler, block_sampler, blocks_serve
from discreet.lattice.chains import chain_sampler
from discreet.lattice.coupling import diagnose
from discreet.lattice.invariants import invariant_matrix, sums
from discreet.lattice.laws import L1
from discreet.lattice.markov import table_of
from discreet.lattice.sampler import ChainPiece
from discreet.lattice.simulated import simulated
from discreet.lattice.structure import structure_of
from discreet.sample.bits import seeded
from tests.lattice.fibres import THREE_SETS, lattice_ball, law_of, margins


def two_way_margins(shape: tuple[int, int, int]) -> np.ndarray:
    """All two-way margins of a three-way table."""
    cells = np.arange(math.prod(shape)).reshape(shape)
    lines = [line for axis in range(3) for line in np.moveaxis(cells, axis, 2).reshape(-1, shape[axis])]
    return np.array([np.isin(np.arange(cells.size), line) for line in lines]).astype(int)


def all_steps(bends: np.ndarray, rate: float, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """The definition: every vector of steps that add up to zero, up to `reach`, and its probability."""
    free = np.array(list(itertools.product(range(-reach, reach + 1), repeat=len(bends) - 1)))
    steps = np.column_stack([free, -free.sum(axis=1)])
    weights = np.exp(-rate * np.abs(steps[:, :, None] - bends).sum(axis=(1, 2)))
    return steps, weights / weights.sum()


def compiled_steps(bends: np.ndarray, rate: float, words: np.ndarray) -> np.ndarray:
    decay, steps = np.exp(-rate * np.arange(int(745 / rate) + 8)), np.zeros(len(bends), dtype=np.int64)
    kernels.draw(np.sort(bends, axis=1), len(bends), rate, decay, words, steps)
    return steps


def plain_steps(bends: np.ndarray, rate: float, words: np.ndarray) -> np.ndarray:
    return block_moves.drawn(bends, rate, block_moves.units(words))


BLOCKS = {
    "a pair of rows": (np.array([[0, 2], [-1, 3], [1, 1]]), 0.6),
    "rows that must go down": (np.array([[2, 4], [1, 3], [0, 5]]), 0.6),
    "four lines": (np.array([[0, 2, -1, 5], [-3, -3, 1, 0], [0, 0, 1, 4]]), 0.35),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_has_its_law_and_not_one_five_percent_off(name):
    (bends, rate), number = BLOCKS[name], 100_000
    steps, expected = all_steps(bends, rate, 40)
    near = np.flatnonzero(expected * number >= 10)
    words = seeded(1).words(2 * number).astype(np.uint64).reshape(number, 2)
    seen = count([compiled_steps(bends, rate, row) for row in words], steps[near])
    assert chisquare(seen, number * folded(expected, near)).pvalue > 1e-6
    for wrong in (0.95, 1.05):
        assert chisquare(seen, number * folded(all_steps(bends, wrong * rate, 40)[1], near)).pvalue < 1e-6


def count(points, near) -> np.ndarray:
    """How often each of the points was met, and any other."""
    place = {tuple(point): i for i, point in enumerate(near.tolist())}
    return np.bincount(
        [place.get(tuple(point), len(near)) for point in np.array(points).tolist()], minlength=len(near) + 1
    )


def folded(law: np.ndarray, near: np.ndarray) -> np.ndarray:
    return np.append(law[near], 1 - law[near].sum())


@pytest.mark.parametrize("draw", [compiled_steps, plain_steps])
@pytest.mark.parametrize("name", BLOCKS)
def test_every_step_is_the_inverse_of_its_exact_distribution_function(name, draw):
    """Place by place, by enumeration: no sampling error."""
    bends, rate = BLOCKS[name]
    right, off = all_steps(bends, rate, 60), all_steps(bends, 1.05 * rate, 60)
    words = seeded(2).words(2 * 200).astype(np.uint64).reshape(200, 2)
    drawn = [draw(bends, rate, row) for row in words]
    assert all(inverts(*right, steps, block_moves.units(row)) for steps, row in zip(drawn, words))
    assert not all(inverts(*off, steps, block_moves.units(row)) for steps, row in zip(drawn, words))


def inverts(steps: np.ndarray, law: np.ndarray, drawn: np.ndarray, chances: np.ndarray) -> bool:
    """Whether each step is the first whose distribution function, given those before it, exceeds its chance."""
    left = np.ones(len(law), dtype=bool)
    for place, chance in enumerate(chances):
        total = law[left].sum()
        low = law[left & (steps[:, place] < drawn[place])].sum() / total
        left &= steps[:, place] == drawn[place]
        if not low - 1e-9 <= chance <= low + law[left].sum() / total + 1e-9:
            return False
    return bool(drawn.sum() == 0)


@given(
    st.integers(2, 5).flatmap(
        lambda size: st.sampled_from([2, 4]).flatmap(
            lambda corners: st.lists(
                st.lists(st.integers(-40, 40), min_size=corners, max_size=corners), min_size=size, max_size=size
            )
        )
    ),
    st.sampled_from([1 / 16, 0.3, 2.0]),
    st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_compiled_and_plain_draws_are_the_same(bends, rate, seed):
    words = seeded(seed).words(len(bends) - 1).astype(np.uint64)
    assert np.array_equal(compiled_steps(np.array(bends), rate, words), plain_steps(np.array(bends), rate, words))


@given(st.lists(st.lists(st.integers(-9, 9), min_size=2, max_size=2), min_size=3, max_size=3), st.booleans())
@settings(max_examples=30, deadline=None)
def test_sums_beyond_reach_are_negligible(bends, four):
    """Of the exact law, by enumeration, at a cut that leaves something to see."""
    doubled = np.array([[*pair, *pair[::-1]] if four else pair for pair in bends])
    rate, narrow = 1.0, block_moves.reach_of(doubled, 1.0) - math.ceil(block_moves.CUT / 4)
    steps, law = all_steps(doubled, rate, 60)
    sums = np.abs(np.cumsum(steps, axis=1)).max(axis=1)
    for beyond in (1, 3, 5):
        single = law[sums > narrow + beyond]
        assert single.max() <= law.max() * math.exp(-4 * beyond * rate) * (1 + 1e-9)


SHAPES = {"3 x 3": margins(3, 3), "2 x 2 x 3": two_way_margins((2, 2, 3))}


@pytest.mark.parametrize("name", SHAPES)
def test_the_chain_keeps_its_law_and_not_one_five_percent_off(name):
    """Two-way and three-way, against every table whose noise is not too rare to be seen."""
    matrix, rate = SHAPES[name], 0.5
    sampler = chain_sampler(matrix, epsilon=rate)
    assert isinstance(sampler, BlockSampler)
    ball = full_ball(name)
    law = law_of(ball, "l1", rate)
    path = sampler.trace(3, 40_000, thin=8)[0]
    assert not (path @ matrix.T).any()
    near = np.flatnonzero(law * len(path) >= 10)
    seen = count(path, ball[near])
    assert chisquare(seen, len(path) * folded(law, near)).pvalue > 1e-6
    for wrong in (0.95, 1.05):
        assert chisquare(seen, len(path) * folded(law_of(ball, "l1", wrong * rate), near)).pvalue < 1e-6


def full_ball(name: str) -> np.ndarray:
    """All noise whose free cells are small; what is left out has a share of about 1e-6."""
    if name == "3 x 3":
        free = np.array(list(itertools.product(range(-9, 10), repeat=4))).reshape(-1, 2, 2)
        wide = np.concatenate([free, -free.sum(axis=2, keepdims=True)], axis=2)
        return np.concatenate([wide, -wide.sum(axis=1, keepdims=True)], axis=1).reshape(-1, 9)
    pairs = np.array(list(itertools.product(range(-14, 15), repeat=2)))
    line = np.column_stack([pairs, -pairs.sum(axis=1)])
    return (np.array([[1, -1], [-1, 1]])[None, :, :, None] * line[:, None, None, :]).reshape(-1, 12)


def test_the_balls_are_lattices_of_these_shapes():
    ball, small = full_ball("3 x 3"), {tuple(point) for point in lattice_ball(margins(3, 3), 1)}
    assert small == {tuple(point) for point in ball[abs(ball).max(axis=1) <= 1]}
    assert not (full_ball("2 x 2 x 3") @ SHAPES["2 x 2 x 3"].T).any()


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 3)])
def test_plain_and_compiled_chains_are_the_same(shape, monkeypatch):
    table = np.random.default_rng(0).permutation(math.prod(shape)).reshape(shape)
    sampler = block_sampler(table, 0.3, iterations=20)
    fast = sampler.trace(5, 40, thin=2), sampler.draw(seeded(1)), sampler.meeting()(9, 3, 100)
    monkeypatch.setattr(block_chain, "compiled", lambda: None)
    plain = sampler.trace(5, 40, thin=2), sampler.draw(seeded(1)), sampler.meeting()(9, 3, 100)
    assert np.array_equal(fast[0], plain[0]) and np.array_equal(fast[1], plain[1]) and fast[2] == plain[2] <= 100
    assert fast[0][0, -10:].any()


def coupled(sampler: BlockSampler, lag: int, number: int, seed: int, after: int):
    """Both copies `after` steps after the second began; then the first step at which they are the same, if any."""
    width, pairs = block_moves.words_of_step(sampler.table.shape), []
    for word in seeded(seed).words(number):
        words = block_moves.streamed(int(word), 0, (lag + after) * width).reshape(-1, width)
        ahead, behind = np.zeros((2, sampler.cells), dtype=np.int64)
        kernels.run(*sampler._plan(), ahead, words[:lag])
        kernels.run(*sampler._plan(), ahead, words[lag:])
        kernels.run(*sampler._plan(), behind, words[lag:])
        pairs.append((ahead, behind))
    return pairs


def test_each_copy_of_a_pair_has_the_law_of_the_chain():
    """Both are close to the stationary law after 30 blocks; neither is hurt by sharing its words."""
    sampler, rate = block_sampler(np.arange(9).reshape(3, 3), 0.5), 0.5
    pairs = coupled(sampler, 4, 20_000, 6, 30)
    ball = full_ball("3 x 3")
    law = law_of(ball, "l1", rate)
    near = np.flatnonzero(law * len(pairs) >= 10)
    for copy in (0, 1):
        seen = count([pair[copy] for pair in pairs], ball[near])
        assert chisquare(seen, len(pairs) * folded(law, near)).pvalue > 1e-6
        for wrong in (0.95, 1.05):
            assert chisquare(seen, len(pairs) * folded(law_of(ball, "l1", wrong * rate), near)).pvalue < 1e-6


def test_pairs_that_met_stay_together_and_meet_when_the_coupling_says():
    sampler, lag = block_sampler(np.arange(12).reshape(3, 4), 0.25, iterations=10), 2
    size = sampler.updates * block_moves.words_of_step(sampler.table.shape)
    for word in (3, 1 << 63, 12345):
        met, together = sampler.meeting()(word, lag, 400), []
        ahead, behind = np.zeros((2, 12), dtype=np.int64)
        for iteration in range(1, met + 60):
            words = block_moves.streamed(word, (iteration - 1) * size, size).reshape(sampler.updates, -1)
            kernels.run(*sampler._plan(), ahead, words)
            if iteration > lag:
                kernels.run(*sampler._plan(), behind, words)
                together.append(np.array_equal(ahead, behind))
        assert together == [lag + 1 + k >= met for k in range(len(together))]
        assert ahead.any()


def test_the_second_copy_repeats_the_path_of_the_first_if_it_is_given_its_words():
    """A chain in its own right: the lag moves it in time and does nothing else."""
    sampler = block_sampler(np.arange(8).reshape(2, 2, 2), 0.5)
    width = block_moves.words_of_step((2, 2, 2))
    words = block_moves.streamed(4, 0, 50 * width).reshape(-1, width)
    state = np.zeros(8, dtype=np.int64)
    kernels.run(*sampler._plan(), state, words)
    path = np.zeros((50, 8), dtype=np.int64)
    kernels.trace(*sampler._plan(), np.zeros(8, dtype=np.int64), np.uint64(4), width, 1, path)
    assert np.array_equal(state, path[-1])


def test_tables_are_found_in_any_order():
    for matrix, shape in ((margins(3, 4), (3, 4)), (two_way_margins((2, 3, 4)), (2, 3, 4))):
        order = np.random.default_rng(1).permutation(matrix.shape[1])
        table = table_of(matrix[:, order])
        assert sorted(table.shape) == sorted(shape) and sorted(table.ravel()) == list(range(len(order)))
        noise = block_sampler(table, 0.5).trace(2, 20)[0]
        assert noise.any() and not (matrix[:, order] @ noise.T).any()
    assert table_of(margins(3, 3)[:, :-1]) is None
    assert table_of(np.repeat(margins(2, 2), 2, axis=1)) is None
    assert table_of(THREE_SETS) is None and table_of(np.ones((1, 4), dtype=int)) is None


def test_where_blocks_serve():
    table = np.arange(27).reshape(3, 3, 3)
    assert blocks_serve(table, "l1", 0.125, False)
    assert not blocks_serve(table, "gaussian", 0.125, False)
    assert not blocks_serve(table, "l1", 0.125, True)
    assert not blocks_serve(table, "l1", 0.01, False)
    assert not blocks_serve(np.arange(100).reshape(10, 10), "l1", 0.25, False)
    assert chain_sampler(margins(3, 3), epsilon=1, blocks=False).moved == "line"
    assert chain_sampler(margins(3, 3), epsilon=1).moved == "block"


def test_pairs_meet_by_blocks_where_minors_keep_them_apart():
    matrix = margins(7, 7)
    met = diagnose(chain_sampler(matrix, epsilon=0.25), runs=20, lag=20, seed=1)
    assert met.runs == 20 and met.bound(chain_sampler(matrix, epsilon=0.25).iterations) == 0
    with pytest.raises(NotProven, match="had not met"):
        diagnose(chain_sampler(matrix, epsilon=0.25, blocks=False), runs=20, lag=20, seed=1)


def test_the_length_of_a_draw_is_fixed_by_public_sizes():
    sampler = chain_sampler(two_way_margins((4, 4, 4)), epsilon=0.125)
    assert sampler.iterations * sampler.updates >= block_chain.STEPS and sampler.dimension == 27
    assert chain_sampler(two_way_margins((4, 4, 4)), epsilon=2).iterations == sampler.iterations
    assert not sampler.private_side and sampler.grade == "diagnosed"


def test_a_simulation_walks_one_path_and_meets_the_law(monkeypatch):
    """The variance of every cell, against enumeration; noise a fifth narrower or wider is told apart."""
    matrix, odds = margins(3, 3), Fraction(8, 5)
    (part,) = structure_of(invariant_matrix([sums(matrix)], {}, 9)).parts
    monkeypatch.setattr(BlockSampler, "draw", None)  # a start anew for every draw would take many minutes
    piece = ChainPiece(part, L1(odds), False)
    noise = simulated([piece], len(piece.cells), 4000, seeded(1))[:, piece.cells]
    assert noise.shape == (4000, 9) and not (noise @ matrix[:, part.cells].T).any()

    def variance(rate: float) -> np.ndarray:
        return law_of(full_ball("3 x 3"), "l1", rate) @ full_ball("3 x 3") ** 2

    seen, rate = (noise.astype(float) ** 2).mean(axis=0), math.log(odds)
    assert np.abs(seen / variance(rate)[part.cells] - 1).max() < 0.15
    for wrong in (0.8, 1.2):
        assert np.abs(seen / variance(wrong * rate)[part.cells] - 1).min() > 0.15
