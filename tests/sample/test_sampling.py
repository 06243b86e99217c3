"""The machinery of inversion, checked exhaustively against exact arithmetic with words chosen by hand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.laws import Geometric, Staircase
from discreet.laws.rows import PowerRow, WeightRow
from discreet.public_map import public_words
from discreet.sample.bits import secure, seeded
from discreet.sample.contract import assert_sampler_law, assert_shares
from discreet.sample.draw import bernoulli, draw, guide, invert
from tests.fake import Told

HALF, GUIDE = 1 << 47, 1 << 16


def smallest_above(below: Callable[[int], Fraction], uniform: Fraction, start: int) -> int:
    """The specification: the smallest k with U < P(X <= k), by walking."""
    k = start
    while uniform < below(k - 1):
        k -= 1
    while uniform >= below(k):
        k += 1
    return k


LAWS: dict[str, tuple[Any, Callable[[int], Fraction]]] = {
    "geometric 3/2": (Geometric(Fraction(3, 2)), Geometric(Fraction(3, 2)).chance_below),
    "geometric 2, dyadic ends": (Geometric(Fraction(3)), Geometric(Fraction(3)).chance_below),
    "staircase": (Staircase(Fraction(2), Fraction(1, 3)), Staircase(Fraction(2), Fraction(1, 3)).chance_below),
    "row": (WeightRow((1, 1, 4, 9, 9, 10)), lambda k: Fraction(([0, 1, 1, 4, 9, 9, 10])[min(max(k, -1), 5) + 1], 10)),
    "dyadic row": (WeightRow((1, 3, 3, 8)), lambda k: Fraction(([0, 1, 3, 3, 8])[min(max(k, -1), 3) + 1], 8)),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("tail", [0, HALF, (1 << 48) - 1])
def test_every_guide_cell_agrees_with_exact_inversion(name: str, tail: int) -> None:
    law, below = LAWS[name]
    heads = np.arange(GUIDE)
    unsettled = guide(law).cells[heads] == guide(law).unsettled
    assert 0 < unsettled.sum() < 2 * GUIDE // 100
    # a word of 64 bits is drawn for an unsettled cell, and its lower 48 bits are used after a shift by 16
    told = Told(heads, np.full(GUIDE, tail << 16, dtype=np.uint64), [1 << 63] * GUIDE)
    drawn = draw(law, GUIDE, told)
    walk, known = 0, cache(below)
    for head in heads.tolist():
        # should still more bits be drawn, they are 1000...; a settled cell must hold whatever its tail
        uniform = Fraction(2 * ((head << 48) | tail) + 1, 1 << 65)
        walk = smallest_above(known, uniform, walk)
        assert drawn[head] == walk, (name, head, tail)


@pytest.mark.parametrize("name", LAWS)
def test_ties_are_broken_by_more_bits(name: str) -> None:
    law, below = LAWS[name]
    first, last = law.centre
    for k in range(max(first, -8), min(last, 8)):
        at = below(k) * 2**64
        floor = at.numerator // at.denominator
        if at == floor or not 0 < below(k) < 1:
            continue
        rest = (at - floor) * 2**64  # the next 64 bits of the probability
        digits = rest.numerator // rest.denominator
        found = []
        for more in (digits - 1, digits + 1):
            told = Told([floor >> 48], [(floor & ((1 << 48) - 1)) << 16], [more, 0])
            found.append(int(draw(law, 1, told)[0]))
            assert len(told.integers) == 1  # the first 64 bits did not settle it, the next did
            assert found[-1] == smallest_above(below, Fraction((floor << 64) | more, 1 << 128), k)
        assert found[0] < found[1]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any), st.integers(0, (1 << 64) - 1))
def test_a_row_of_weights_is_inverted_exactly(weights: list[int], word: int) -> None:
    running = tuple(np.cumsum(weights).tolist())
    told = Told([word >> 48], [(word & ((1 << 48) - 1)) << 16], [0, 0, 0])
    found = int(draw(WeightRow(running), 1, told)[0])
    target = Fraction(word, 1 << 64) * running[-1]
    assert found == bisect_right([Fraction(part) for part in running], target)
    assert weights[found] > 0


@given(
    st.fractions(Fraction(1, 1000), Fraction(999, 1000)),
    st.lists(st.integers(0, (1 << 64) - 1), min_size=4, max_size=4),
)
def test_a_bernoulli_draw_compares_with_the_digits_of_its_chance(chance: Fraction, words: list[int]) -> None:
    def bounds(bits: int) -> tuple[int, int]:
        at = chance * 2**bits
        return at.numerator // at.denominator, -(-at.numerator // at.denominator)

    uniform = sum(Fraction(word, 1 << (64 * (i + 1))) for i, word in enumerate(words))
    told = Told(integers=[*words, 0, 0])
    assert bernoulli(bounds, told) == (uniform < chance)


def test_inversion_finds_far_values() -> None:
    law = Geometric(Fraction(11, 10))
    word = (1 << 64) - 2  # far in the tail
    told = Told(integers=[0, 0])
    found = invert(law.below, word, 64, 0, told)
    assert found == smallest_above(law.chance_below, Fraction(word << 64, 1 << 128), found - 3)
    assert found > law.centre[1]


def test_rows_have_their_laws() -> None:
    weights = [3, 0, 5, 11, 1]
    shares = [weight / 20 for weight in weights]
    near = [0.16, 0.0, 0.25, 0.54, 0.05]
    row = WeightRow((3, 3, 8, 19, 20))
    assert_sampler_law(lambda size: draw(row, size, secure()), shares, size=400_000, wrong=near)
    odds, powers = Fraction(3, 2), (2, 1, 0, 1, 2, 3)
    raw = np.array([1.5**-power for power in powers])
    wrong = np.array([1.55**-power for power in powers])
    many = draw(PowerRow(odds, powers), 400_000, secure())
    assert_sampler_law(lambda _: many, raw / raw.sum(), size=400_000, wrong=wrong / wrong.sum())


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.integers(0, 5), st.integers(1, 90))
def test_rows_of_powers_enclose_their_sums(powers: list[int], k: int, bits: int) -> None:
    odds = Fraction(7, 5)
    masses = [odds**-power for power in powers]
    chance = sum(masses[: k + 1], Fraction(0)) / sum(masses)
    low, high = PowerRow(odds, tuple(powers)).below(k, bits)
    assert low <= chance * 2**bits <= high <= low + 2


# Public words, which carry no secret but must be uniform.


def test_public_words_are_uniform_and_repeatable() -> None:
    words = public_words("seed", "map", 100_000)
    assert np.array_equal(words, public_words("seed", "map", 100_000))
    assert not np.array_equal(words, public_words("seed", "ties", 100_000))
    assert not np.array_equal(words, public_words("other", "map", 100_000))
    for shift in (0, 28, 56):
        assert_uniform((words >> np.uint64(shift)) & np.uint64(255), 256, tilt=0.15)
    assert int(public_words("seed", "map", 1000, 10).max()) < 1 << 10


# The source itself.


def test_bits_are_uniform_and_of_the_width_asked_for() -> None:
    for width in (8, 16, 32, 64):
        words = secure().words(100_000, width)
        assert words.dtype.itemsize == width // 8
        for shift in {0, width - 8}:
            assert_uniform((words >> shift) & 255, 256, tilt=0.15)
    assert_uniform([secure().below(6) for _ in range(30_000)], 6, tilt=0.1)
    assert_uniform([secure().integer(3) for _ in range(30_000)], 8, tilt=0.1)


def assert_uniform(drawn: Any, number: int, tilt: float) -> None:
    """And the lower half not likelier by so much."""
    tilted = 1 + tilt * np.where(np.arange(number) < number // 2, 1, -1)
    assert_shares(np.bincount(np.asarray(drawn, dtype=int), minlength=number), np.ones(number), tilted)


def test_a_seeded_source_repeats_itself_and_is_not_private() -> None:
    assert secure().private and not seeded(0).private
    assert seeded(7).bytes(20) == seeded(7).bytes(20)
    assert secure().bytes(20) != secure().bytes(20)
