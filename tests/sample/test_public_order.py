"""The public order among equals: a bijection for every size, uniform as far as pairs tell, and replayed by anybody."""

from __future__ import annotations

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet import public_map as public_order
from discreet.arrays import Integers
from discreet.public_map import PublicOrder, SeenValues, counts_in_order, rank_rows, seen_of, together

GROUPS = 40_000
PASSES, FAILS = 1e-4, 1e-20  # of 98 sizes the smallest p of a right law is below the first in one test of a hundred


def order_of(size: int, groups: int = 1, seed: str = "seed") -> PublicOrder:
    """As many values as there are groups, each of so many rows."""
    return PublicOrder(SeenValues(np.arange(groups), np.full(groups, size)), seed)


def all_places(order: PublicOrder, group: int, size: int) -> Integers:
    return order.among_equals(np.full(size, group), np.arange(size))


def test_every_place_is_given_once_for_every_size() -> None:
    for size in range(1, 400):
        order = order_of(size, 3, f"seed {size}")
        for group in range(3):
            assert np.array_equal(np.sort(all_places(order, group, size)), np.arange(size))


def test_without_walking_most_sizes_are_no_bijection() -> None:
    """Numbers beyond the size, reduced into it, meet others: the test above would find it."""
    broken = sum(
        len(set((order_of(size)._rounds(np.zeros(size, dtype=np.int64), np.arange(size)) % size).tolist())) < size
        for size in range(1, 400)
    )
    assert broken > 300


def shares_of_orders(size: int, few: int, monkeypatch: pytest.MonkeyPatch) -> float:
    """Of a chi-square test that all orders of so many rows come equally often; up to `few` rows get whole ones."""
    monkeypatch.setattr(public_order, "FEW", few)
    groups = 10 * GROUPS
    order, ranks = order_of(size, groups), np.tile(np.arange(size), groups)
    places = order.among_equals(np.repeat(np.arange(groups), size), ranks).reshape(groups, size)
    _, numbers = np.unique(places @ size ** np.arange(size), return_counts=True)
    assert len(numbers) == factorial(size)
    return float(chisquare(numbers).pvalue)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7])
def test_all_orders_of_few_rows_are_equally_likely(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shares_of_orders(size, public_order.FEW, monkeypatch) > PASSES


def test_rounds_alone_favour_some_orders_of_five_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shares_of_orders(5, 0, monkeypatch) < FAILS


def test_all_orders_are_listed_once() -> None:
    listed, starts = public_order._all_orders()
    for size in range(public_order.FEW + 1):
        there = listed[starts[size] :][: size * factorial(size)].reshape(factorial(size), size)
        assert sorted(map(tuple, there.tolist())) == list(permutations(range(size)))


def smallest_p(first: int, second: int) -> float:
    """Over sizes 3..100: of a chi-square test that the distance between the places of two rows is uniform."""
    found = []
    for size in range(max(3, first + 1, second + 1), 101):
        order, groups = order_of(size, GROUPS), np.arange(GROUPS)
        one, other = (order.among_equals(groups, np.full(GROUPS, rank)) for rank in (first, second))
        found.append(chisquare(np.bincount((other - one) % size, minlength=size)[1:]).pvalue)
    return float(min(found))


@pytest.mark.parametrize(("first", "second"), [(0, 1), (0, 2), (1, 7)])
def test_distances_of_places_are_uniform(first: int, second: int) -> None:
    assert smallest_p(first, second) > PASSES


def test_half_the_rounds_are_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_order, "ROUNDS", public_order.ROUNDS // 2)
    assert smallest_p(0, 1) < FAILS


def four_of_nine() -> float:
    """Of a chi-square test that the places of four of nine rows, seen from the first of them, are uniform."""
    groups = 40 * GROUPS
    order, every = order_of(9, groups), np.arange(groups)
    first, *others = (order.among_equals(every, np.full(groups, rank)) for rank in range(4))
    _, numbers = np.unique(sum((one - first) % 9 * 9**k for k, one in enumerate(others)), return_counts=True)
    assert len(numbers) == 8 * 7 * 6
    return float(chisquare(numbers).pvalue)


def test_numbers_of_four_bits_are_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """For few rows the numbers of a larger set are permuted."""
    assert four_of_nine() > PASSES
    monkeypatch.setattr(public_order, "FEWEST_BITS", 4)
    assert four_of_nine() < FAILS


def test_the_place_of_a_row_is_uniform() -> None:
    for size in (3, 5, 6, 12):
        order, groups, rank = order_of(size, GROUPS), np.arange(GROUPS), np.zeros(GROUPS, dtype=np.int64)
        places = order.among_equals(groups, rank)
        assert chisquare(np.bincount(places, minlength=size)).pvalue > PASSES
        turns = order.turns if size > public_order.FEW else order.turns % size
        assert chisquare(np.bincount(turns, minlength=size)).pvalue > PASSES


def test_turns_are_drawn_by_rejection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word in the last, incomplete stretch of 2^64 is drawn again, until it lies in a complete one."""
    words = iter([[2**64 - 1, 5, 2**64 - 1], [2**64 - 1, 9, 7], [4, 9, 9]])
    monkeypatch.setattr(public_order, "public_words", lambda *_: np.array(next(words), dtype=np.uint64))
    order = PublicOrder(SeenValues(np.arange(3), np.array([3, 4, 15])), "seed")
    assert order.turns.tolist() == [4 % 6, 5 % 24, 7 % 15]


def slowly_ranked(rows: list[int], bins: list[int], seed: str) -> list[int]:
    """Row by row, in Python integers."""
    values = sorted(set(rows))
    order = PublicOrder(SeenValues(np.array(values), np.array([rows.count(value) for value in values])), seed)
    flat = [count for count, number in enumerate(bins) for _ in range(number)]
    met, out = dict.fromkeys(values, 0), []
    for value in rows:
        group, size = values.index(value), rows.count(value)
        bits = max(5, (size - 1).bit_length())
        low, x, turn = bits // 2, met[value], int(order.turns[group])
        met[value] += 1
        if size <= 8:
            out.append(flat[sum(other < value for other in rows) + slow_order(size, turn)[x]])
            continue
        while True:
            left, right = x >> low, x % (1 << low)
            for k in range(8):
                word = (int(order.salts[group]) + int(order.keys[k])) % 2**32
                if k % 2 == 0:
                    left ^= murmur(right ^ word) % (1 << (bits - low))
                else:
                    right ^= murmur(left ^ word) % (1 << low)
            x = (left << low) | right
            if x < size:
                break
        out.append(flat[sum(other < value for other in rows) + (x + turn) % size])
    return out


def slow_order(size: int, number: int) -> list[int]:
    """The order of that number: the last row's place in front, then that of the last but one among those before."""
    if size == 0:
        return []
    place, rest = divmod(number, factorial(size - 1))
    found = slow_order(size - 1, rest)
    return [*found[:place], size - 1, *found[place:]]


def murmur(word: int) -> int:
    word = (word ^ (word >> 16)) * 0x85EBCA6B % 2**32
    word = (word ^ (word >> 13)) * 0xC2B2AE35 % 2**32
    return word ^ (word >> 16)


TABLES = st.lists(st.integers(-4, 6), min_size=1, max_size=60)


@given(TABLES, st.data())
@settings(max_examples=100, deadline=None)
def test_rows_are_ranked_as_the_slow_way_says(rows: list[int], data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(0, 6), min_size=len(rows), max_size=len(rows)))
    bins = np.bincount(counts, minlength=7)
    assert rank_rows(np.array(rows), bins, "seed", beyond=False).tolist() == slowly_ranked(rows, bins.tolist(), "seed")


@given(TABLES, st.integers(0, 60), st.data())
@settings(max_examples=100, deadline=None)
def test_parts_of_a_table_are_ranked_as_the_whole(rows: list[int], cut: int, data: st.DataObject) -> None:
    whole = np.array(rows)
    bins = np.bincount(data.draw(st.lists(st.integers(0, 6), min_size=len(rows), max_size=len(rows))), minlength=7)
    parts = [part for part in (whole[:cut], whole[cut:]) if len(part)]
    seen = together(map(seen_of, parts))
    assert dict(zip(seen.values.tolist(), seen.numbers.tolist())) == {value: rows.count(value) for value in rows}
    before, found = np.zeros_like(seen.numbers), []
    for part in parts:
        found.append(rank_rows(part, bins, "seed", seen=seen, before=before))
        own = seen_of(part)
        before[np.searchsorted(seen.values, own.values)] += own.numbers
    assert np.concatenate(found).tolist() == rank_rows(whole, bins, "seed").tolist()


def noisy_rows(size: int, spread: int = 3) -> Integers:
    rng = np.random.default_rng(7)
    rows: Integers = rng.negative_binomial(1, 0.2, size) + rng.integers(-spread, spread + 1, size)
    return rows


def one_by_one(rows: Integers, ends: Integers, order: PublicOrder, before: Integers) -> list[int]:
    """Every row asks for its own place."""
    met, out = before.copy(), []
    for value in rows.tolist():
        group = int(np.searchsorted(order.seen.values, value))
        place = order.first[group] + order.among_equals(np.array([group]), met[[group]])[0]
        out.append(int(np.searchsorted(ends, place, side="right")))
        met[group] += 1
    return out


@pytest.mark.parametrize("spread", [3, 50_000])
@pytest.mark.parametrize("cut", [0, 1000])
def test_rows_in_batches_get_the_counts_of_rows_alone(spread: int, cut: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a whole table, and of the last part of one; where values end inside a batch, and batches inside a value."""
    monkeypatch.setattr(public_order, "CHUNK", 256)
    monkeypatch.setattr(public_order, "BATCH", 1000)
    rows = noisy_rows(1 << 12, spread)
    order = PublicOrder(seen_of(rows), "seed")
    ends, limits = np.cumsum(seen_of(np.clip(noisy_rows(1 << 12), 0, None)).histogram(0, 90)), (-200_000, 200_000)
    before = np.array([(rows[:cut] == value).sum() for value in order.seen.values])
    expected = one_by_one(rows[cut:], ends, order, before)
    assert len(set(expected)) > 20
    assert counts_in_order(rows[cut:], ends, order, limits, before).tolist() == expected
    if cut == 0:
        assert counts_in_order(rows, ends, order, limits).tolist() == expected


@pytest.mark.parametrize("rows", [[0], [5, 5, 5], [-(10**9), 0, 10**9], [2**61, -(2**61), 2**61]])
def test_far_values_are_counted_without_a_table_of_their_range(rows: list[int]) -> None:
    seen = seen_of(np.array(rows))
    assert dict(zip(seen.values.tolist(), seen.numbers.tolist())) == {value: rows.count(value) for value in rows}
    assert seen.histogram(-1, 1).tolist() == [sum(v < 0 for v in rows), rows.count(0), sum(v > 0 for v in rows)]
    assert rank_rows(np.array(rows), np.array([len(rows)]), "seed", beyond=False).tolist() == [0] * len(rows)


def test_groups_beyond_four_billion_rows_keep_their_places_apart() -> None:
    """Parts of a very long table: places need more than 32 bits."""
    size = (1 << 35) + 12345
    order = order_of(size)
    ranks = np.concatenate([np.arange(2000), np.arange(size - 2000, size)])
    places = order.among_equals(np.zeros(len(ranks), dtype=np.int64), ranks)
    assert len(np.unique(places)) == len(ranks) and places.min() >= 0 and places.max() < size
    assert (places > 1 << 32).mean() > 0.8
