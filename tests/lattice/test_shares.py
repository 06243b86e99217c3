"""Blocks that lie in several parts: dealt out first, then drawn, they have the law of one draw."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.lattice.shares import Share, deal, dealt, noise_of
from discreet.sample.bits import seeded
from discreet.sample.contract import law_p_value

DRAWS = 10_000


@given(total=st.integers(0, 30), cells=st.integers(1, 6), others=st.integers(1, 6), bits=st.integers(8, 40))
def test_the_distribution_function_is_that_of_counting(total: int, cells: int, others: int, bits: int) -> None:
    law, running = Share(total, cells, others), 0
    everything = comb(total + cells + others - 1, cells + others - 1)
    weights = [comb(k + cells - 1, cells - 1) * comb(total - k + others - 1, others - 1) for k in range(total + 1)]
    assert sum(weights) == everything
    assert weights[law.mode] == max(weights)
    for k, weight in enumerate(weights):
        running += weight
        low, high = law.below(k, bits)
        assert low <= Fraction(running << bits, everything) <= high and high - low <= 2


@given(total=st.integers(0, 50), sizes=st.lists(st.integers(1, 5), min_size=1, max_size=5), seed=st.integers(0, 99))
def test_everything_is_dealt_out(total: int, sizes: list[int], seed: int) -> None:
    found = dealt(total, np.array(sizes), seeded(seed))
    assert found.sum() == total and (found >= 0).all()


def exact_law(odds: Fraction, cells: int, reach: int) -> dict[tuple[int, ...], float]:
    """By enumeration: P(v) proportional to odds^-|v| on the vectors that sum to zero."""
    some = (v for v in product(range(-reach, reach + 1), repeat=cells) if sum(v) == 0)
    weights = {v: float(odds) ** -sum(map(abs, v)) for v in some}
    whole = sum(weights.values())
    return {v: weight / whole for v, weight in weights.items()}


def drawn(odds: Fraction, sizes: list[int], draws: int) -> np.ndarray:
    """Many blocks at once, each in pieces of these sizes."""
    bits = seeded(5)
    pieces, cells = np.tile(sizes, draws), sum(sizes)
    found = noise_of(deal(odds, np.repeat(np.arange(draws), len(sizes)), pieces, bits), pieces, bits)
    return found.reshape(draws, cells)


def p_value(found: np.ndarray, law: dict[tuple[int, ...], float]) -> float:
    """Of whole vectors, numbered; those that are rare share a number."""
    likely = [v for v, chance in law.items() if chance * len(found) >= 20]
    number = {v: k for k, v in enumerate(likely)}
    values = np.array([number.get(tuple(row), len(likely)) for row in found.tolist()])
    masses = [law[v] for v in likely]
    return law_p_value(values, [*masses, 1 - sum(masses)])


def test_pieces_of_a_block_have_the_joint_law_of_one_machine() -> None:
    odds = Fraction(3)
    for sizes in ([1, 2], [2, 1, 1], [4], [1, 1, 1]):
        found = drawn(odds, sizes, DRAWS)
        assert (found.sum(axis=1) == 0).all()
        law = exact_law(odds, sum(sizes), 9 if sum(sizes) < 4 else 7)
        assert p_value(found, law) > 1e-6
        near = exact_law(Fraction(33, 10), sum(sizes), 9 if sum(sizes) < 4 else 7)
        assert p_value(found, near) < 1e-6


def test_the_law_does_not_depend_on_the_pieces() -> None:
    """A wrong way of dealing, in equal shares to pieces of different sizes, is seen."""
    law = exact_law(Fraction(3), 3, 9)
    right = drawn(Fraction(3), [1, 2], DRAWS)
    assert p_value(right, law) > 1e-6
    bits = seeded(7)
    blocks = np.repeat(np.arange(DRAWS), 2)
    swapped = deal(Fraction(3), blocks, np.tile([2, 1], DRAWS), bits)  # dealt for the other sizes
    wrong = noise_of(swapped, np.tile([1, 2], DRAWS), bits).reshape(DRAWS, 3)
    assert p_value(wrong, law) < 1e-6
