"""Public maps of noisy values onto a distribution: post-processing with public words, which anybody can replay.

A monotone map sends every noisy value to the same quantile of the target. By rank, the k-th smallest noisy row gets the
k-th smallest count, so that the published counts have exactly the histogram that was meant for them. Nothing secret
may rest on the words: they are expanded from a published seed.

Equal values are not sorted. Of m rows that share one, the j-th in the public order of rows gets the place p(j), p a
keyed permutation of 0..m-1: Feistel rounds on the bits of j, repeated until the result is below m, then a rotation by a
number that is uniform below m. It is a bijection for every m, so every place is given once; and the place of each row
alone is uniform. Of at most eight rows the whole order is drawn instead, each as likely as any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import shake_256
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers, Words
from discreet.errors import BadInput

MAP_BITS = 40  # of a source value's mass: finer than any table can show
FARTHEST_RANKED = 1 << 22  # outside the histogram: what is further out is the first, or the last, in any case
LARGEST_RANGE = 1 << (64 - MAP_BITS)  # so that a value and its word fit into 64 bits

ROUNDS = 8  # of four, pairs of places are seen not to be uniform
FEWEST_BITS = 5  # of 4, the places of four of nine rows are seen not to be uniform
FEW = 8  # rows that are given one of all their orders: a list of those of one more would be as long as a large table
CHUNK = 1 << 15  # rows at a time: what is known of them stays in the cache
BATCH = CHUNK << 3  # rows that walk together: the last of them are few, and take as many steps as many would
FEW_STEPS = 4  # of more, a search is made
DENSE = 1 << 16  # values are numbered by a table as long as their range, if it is below this, or below ...
DENSE_ROWS = 4  # ... so many for every row
MIX = (0x85EBCA6B, 0xC2B2AE35)  # the multipliers of MurmurHash3's last step, by A. Appleby (public domain)


@dataclass(frozen=True, eq=False)
class PublicMap:
    """A randomised map of noisy values, applied with public random words: post-processing, so it needs no proof.

    The value l with the word w of `bits` bits goes to outputs[k], k the number of keys <= ((l - first) << bits) | w.
    """

    first: int
    bits: int
    keys: Words
    outputs: Integers

    def __post_init__(self) -> None:
        if len(self.outputs) != len(self.keys) + 1 or (np.diff(self.keys.astype(object)) < 0).any():
            raise BadInput("a public map was given", "its keys must ascend and be one fewer than its outputs")

    def apply(self, values: Integers, words: Words) -> Integers:
        keys = ((values - self.first).astype(np.uint64) << np.uint64(self.bits)) | words
        return self.outputs[np.searchsorted(self.keys, keys, side="right")]

    def matrix(self, inputs: int, outputs: int) -> Floats:
        """R[l, j]: the probability that the value first + l goes to j."""
        ends = np.concatenate([[0], self.keys.astype(float), [float(inputs << self.bits)]]) / 2.0**self.bits
        result = np.zeros((inputs, outputs))
        for output, start, end in zip(self.outputs, ends[:-1], ends[1:]):
            for value in range(int(start), min(inputs, int(np.ceil(end)))):
                result[value, output] += max(0.0, min(end, value + 1) - max(start, value))
        return result


def monotone_map(source: Floats, target: Floats, first: int = 0, outputs: Integers | None = None) -> PublicMap:
    """The map that carries `source` (a law on first, first + 1, ...) to `target` and never reverses an order.

    `target` is a law on `outputs`, or on 0, 1, ... Its end points are found from the nearer end of the line, so that
    both tails keep their relative accuracy; each is rounded to 2^-40 of the mass of a source value.
    """
    if len(source) >= LARGEST_RANGE:
        raise BadInput(f"a map of {len(source)} noisy values was asked for", f"it can hold {LARGEST_RANGE - 1}")
    values = np.arange(len(target)) if outputs is None else np.asarray(outputs, dtype=np.int64)
    kept = np.flatnonzero(target > 0)
    places, parts = _ends(np.asarray(source, dtype=float), np.asarray(target, dtype=float)[kept])
    keys = (places.astype(np.uint64) << np.uint64(MAP_BITS)) + np.rint(parts * 2.0**MAP_BITS).astype(np.uint64)
    return PublicMap(first, MAP_BITS, np.maximum.accumulate(keys), values[kept].astype(np.int64))


def _ends(source: Floats, target: Floats) -> tuple[Integers, Floats]:
    """Where each target value but the last ends: the source value, and the part of its mass that lies below."""
    below, above = np.cumsum(source), np.cumsum(source[::-1])
    wanted, wanted_above = np.cumsum(target)[:-1] * (below[-1] / target.sum()), np.cumsum(target[::-1])[-2::-1]
    wanted_above = wanted_above * (above[-1] / target.sum())
    places, parts = _inverse(source, below, wanted)
    mirrored, parts_above = _inverse(source[::-1], above, wanted_above)
    from_above = wanted_above < wanted
    places[from_above] = len(source) - 1 - mirrored[from_above]
    parts[from_above] = 1 - parts_above[from_above]
    return places, parts


def _inverse(masses: Floats, running: Floats, wanted: Floats) -> tuple[Integers, Floats]:
    places = np.minimum(np.searchsorted(running, wanted, side="left"), len(masses) - 1)
    before = np.where(places > 0, running[places - 1], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.nan_to_num((wanted - before) / masses[places], nan=0.0)
    return places, np.clip(parts, 0.0, 1.0)


def map_each(clamped: Integers, public_map: PublicMap | None, seed: str) -> Integers:
    """Every row with a public word of its own."""
    if public_map is None:
        return clamped
    return public_map.apply(clamped, public_words(seed, "map", len(clamped), public_map.bits))


def rank_rows(
    rows: Integers, bins: Integers, seed: str, beyond: bool = True,
    *, seen: SeenValues | None = None, before: Integers | None = None,
) -> Integers:  # fmt: skip
    """The k-th smallest noisy value becomes the k-th smallest count of the histogram; equals by their public order.

    `beyond`: what is above the last count of the histogram, and has become it, is left as it was. Where these are only
    some rows of a table, `seen` is what all of them have, and `before` how many of each of its values come earlier.
    """
    last = len(bins) - 1
    limits = -FARTHEST_RANKED, last + FARTHEST_RANKED
    values = seen_of(rows) if seen is None else seen
    order = PublicOrder(values.clipped(*limits), seed)
    earlier = None if before is None else SeenValues(values.values, before).clipped(*limits).numbers
    counts = counts_in_order(rows, np.cumsum(bins), order, limits, earlier)
    if beyond and values.values[-1] > last:
        far = np.flatnonzero(rows > last)
        counts[far] = np.where(counts[far] == last, rows[far], counts[far])
    return counts


@dataclass(frozen=True, eq=False)
class SeenValues:
    """The values that occur, ascending, and how many rows have each."""

    values: Integers
    numbers: Integers

    @property
    def rows(self) -> int:
        return int(self.numbers.sum())

    def upto(self, low: int, high: int) -> Integers:
        """How many rows have a value of at most low, low + 1, ..., high, values outside cut to these."""
        within = np.clip(self.values, low, high) - low
        counted = np.zeros(high - low + 1, dtype=np.int64)
        np.add.at(counted, within, self.numbers)
        return np.cumsum(counted)

    def at_most(self, borders: Integers) -> Integers:
        """How many rows have a value of at most each of these."""
        return np.concatenate([[0], np.cumsum(self.numbers)])[np.searchsorted(self.values, borders, side="right")]

    def histogram(self, low: int, high: int) -> Integers:
        """How many rows have each value low..high, values outside cut to these."""
        return np.diff(self.upto(low, high), prepend=0)

    def clipped(self, low: int, high: int) -> SeenValues:
        """With values outside taken for the nearest of these."""
        if low <= self.values[0] and self.values[-1] <= high:
            return self
        return together([SeenValues(np.clip(self.values, low, high), self.numbers)])

    def mean_and_deviation(self, of_values: Floats) -> tuple[float, float]:
        """Of something that follows from the values, over all rows."""
        mean = float(of_values @ self.numbers) / self.rows
        square = float((of_values - mean) ** 2 @ self.numbers) / self.rows
        return mean, square**0.5


def seen_of(rows: Integers) -> SeenValues:
    """Counted, not sorted, unless the values are far apart."""
    low, high = int(rows.min()), int(rows.max())
    if high - low >= max(DENSE, DENSE_ROWS * len(rows)):
        return SeenValues(*np.unique(rows, return_counts=True))
    if high - low < DENSE:
        counted = np.zeros(high - low + 1, dtype=np.int64)
        for start in range(0, len(rows), BATCH):
            counted += np.bincount(rows[start : start + BATCH] - low, minlength=len(counted))
    else:
        counted = np.bincount(rows - low)
    there = np.flatnonzero(counted)
    return SeenValues(there + low, counted[there])


def together(several: Iterable[SeenValues]) -> SeenValues:
    """What is seen in several tables."""
    listed = list(several)
    values, which = np.unique(np.concatenate([one.values for one in listed]), return_inverse=True)
    numbers = np.zeros(len(values), dtype=np.int64)
    np.add.at(numbers, which, np.concatenate([one.numbers for one in listed]))
    return SeenValues(values, numbers)


@dataclass(frozen=True, eq=False)
class PublicOrder:
    """The order of all rows with these values, smallest first."""

    seen: SeenValues
    seed: str

    @cached_property
    def first(self) -> Integers:
        """Of each value the place of its first row."""
        return np.cumsum(self.seen.numbers) - self.seen.numbers

    @cached_property
    def halves(self) -> tuple[Integers, NDArray[np.uint32], NDArray[np.uint32]]:
        """Of a row's number among its equals: how many bits the lower half has, and what fits into the upper and into
        the lower."""
        bits = np.frexp((self.seen.numbers - 1).astype(float))[1].astype(np.int64)  # or one more: no harm
        bits = np.maximum(bits, FEWEST_BITS)
        return bits // 2, *(_ones(width) for width in (bits - bits // 2, bits // 2))

    @cached_property
    def keys(self) -> NDArray[np.uint32]:
        return _words32(self.seed, "rounds", ROUNDS)

    @cached_property
    def salts(self) -> NDArray[np.uint32]:
        """A word for each value, so that each has a permutation of its own."""
        return _words32(self.seed, "salts", len(self.seen.values))

    @cached_property
    def turns(self) -> Integers:
        """Of each value how far its places are rotated; of one with few rows, which of their orders they have."""
        orders = np.array([factorial(rows) for rows in range(FEW + 1)])
        few = self.seen.numbers <= FEW
        return _below(np.where(few, orders[np.where(few, self.seen.numbers, 0)], self.seen.numbers), self.seed, "turns")

    def counts(self, ends: Integers, before: Integers, there: Integers) -> NDArray[np.unsignedinteger[Any]]:
        """Of each value so many rows, after so many before them, value by value: the row at place p has the first
        count k with p < ends[k]."""
        last = self.first + self.seen.numbers - 1
        least, most = (np.searchsorted(ends, place, side="right") for place in (self.first, last))
        out = np.repeat(least.astype(np.min_scalar_type(len(ends))), there)
        starts, apart = np.cumsum(there) - there, np.flatnonzero(least < most)
        steps = range((most - least).max(initial=0))
        for groups, skipped, taken in _batches(apart, there[apart]):
            group, ranks = np.repeat(groups, taken), _counting(taken, skipped)
            places = self.among_equals(group, ranks + before.take(group))
            places += self.first.take(group)
            if len(steps) <= FEW_STEPS:  # soon told: a place in the range of its value lies before its last end
                reached = (ends[np.minimum(least + step, most)].take(group) for step in steps)
                found = sum((places >= end).astype(out.dtype) for end in reached) + least.astype(out.dtype).take(group)
            else:
                found = np.searchsorted(ends, places, side="right")
            ranks += starts.take(group)
            out[ranks] = found
        return out

    def among_equals(self, group: Integers, ranks: Integers) -> Integers:
        """The places of rows among their equals: of the values with these numbers, the rows with these."""
        sizes = self.seen.numbers.take(group)
        few = sizes <= FEW
        if not few.any():
            return self._walked(group, ranks, sizes)
        out, (listed, starts) = np.empty_like(ranks), _all_orders()
        out[few] = listed[starts[sizes[few]] + self.turns[group[few]] * sizes[few] + ranks[few]]
        out[~few] = self._walked(group[~few], ranks[~few], sizes[~few])
        return out

    def _walked(self, group: Integers, ranks: Integers, sizes: Integers) -> Integers:
        """Where rows are many: through the rounds until a place is one of theirs, and round by the turn."""
        out = self._rounds(group, ranks)
        walking = np.flatnonzero(out >= sizes)
        while len(walking):
            walked = self._rounds(group.take(walking), out.take(walking))
            out[walking] = walked
            walking = walking[walked >= sizes.take(walking)]
        out += self.turns.take(group)
        return np.subtract(out, sizes, out=out, where=out >= sizes)

    def _rounds(self, group: Integers, places: Integers) -> Integers:
        """A permutation of the numbers of as many bits as a value's ranks have."""
        out = np.empty_like(places)
        for start in range(0, len(places), CHUNK):
            some, own = group[start : start + CHUNK], places[start : start + CHUNK]
            low, upper, lower, salt = (each.take(some) for each in (*self.halves, self.salts))
            left, right = (own >> low).astype(np.uint32), own.astype(np.uint32) & lower
            for k in range(0, ROUNDS, 2):
                left ^= _mixed(right ^ (salt + self.keys[k])) & upper
                right ^= _mixed(left ^ (salt + self.keys[k + 1])) & lower
            out[start : start + CHUNK] = (left.astype(np.int64) << low) | right
        return out

    def _numbering(self) -> Any:
        """A function that turns values into their numbers."""
        low, reach = int(self.seen.values[0]), int(self.seen.values[-1]) - int(self.seen.values[0])
        if reach >= max(DENSE, DENSE_ROWS * self.seen.rows):
            return lambda values: np.searchsorted(self.seen.values, values)
        table = np.zeros(reach + 1, dtype=np.int64)
        table[self.seen.values - low] = np.arange(len(self.seen.values))
        return lambda values: table[values - low]


def counts_in_order(
    rows: Integers, ends: Integers, order: PublicOrder, limits: tuple[int, int], before: Integers | None = None
) -> Integers:
    """The row at place p becomes the first count k with p < ends[k]; values outside the limits are taken for them.

    First the counts of the rows with each value, one after the other; then every row takes the next of its own.
    """
    number = order._numbering()
    there, earlier = order.seen.numbers, np.zeros_like(order.first) if before is None else before
    if before is not None:
        own = seen_of(rows).clipped(*limits)
        there = np.zeros_like(order.first)
        there[number(own.values)] = own.numbers
    counts, following = order.counts(ends, earlier, there), np.cumsum(there) - there
    out, size = np.empty(len(rows), dtype=np.int64), max(CHUNK, len(there))
    for start in range(0, len(rows), size):
        group = number(np.clip(rows[start : start + size], *limits))
        short = group.astype(np.uint16) if len(there) <= 1 << 16 else group  # sixteen bits are sorted by counting
        numbers = np.bincount(group, minlength=len(there))
        out[start : start + size][np.argsort(short, kind="stable")] = counts[_counting(numbers, following)]
        following += numbers
    return out


@cache
def _all_orders() -> tuple[Integers, Integers]:
    """All orders of 0, 1, ..., FEW rows, one after the other; and where those of each number of rows begin."""
    orders = [np.zeros((1, 0), dtype=np.int64)]
    for last in range(FEW):
        orders.append(np.concatenate([np.insert(orders[-1], place, last, axis=1) for place in range(last + 1)]))
    sizes = np.array([one.size for one in orders])
    return np.concatenate([one.ravel() for one in orders]), np.cumsum(sizes) - sizes


def _counting(numbers: Integers, first: Integers | int = 0) -> Integers:
    """For each of the numbers as many integers, upwards from its first."""
    found = np.arange(numbers.sum())
    found += np.repeat(first - (np.cumsum(numbers) - numbers), numbers)
    return found


def _batches(groups: Integers, numbers: Integers) -> Iterator[tuple[Integers, Integers, Integers]]:
    """Groups with so many rows each, some rows at a time: which groups, how many of their rows are skipped, and how
    many are taken."""
    ends = np.cumsum(numbers)
    for start in range(0, int(numbers.sum()), BATCH):
        some = slice(*np.searchsorted(ends, (start, start + BATCH - 1), side="right") + (0, 1))
        skipped = np.maximum(start - (ends - numbers)[some], 0)
        yield groups[some], skipped, np.minimum(ends[some], start + BATCH) - (ends - numbers)[some] - skipped


def _ones(widths: Integers) -> NDArray[np.uint32]:
    """Words whose lowest bits, so many, are set."""
    return ((np.uint64(1) << widths.astype(np.uint64)) - np.uint64(1)).astype(np.uint32)


def _mixed(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Every bit depends on every other one; in place."""
    words ^= words >> np.uint32(16)
    words *= np.uint32(MIX[0])
    words ^= words >> np.uint32(13)
    words *= np.uint32(MIX[1])
    words ^= words >> np.uint32(16)
    return words


def public_words(seed: str, purpose: str, size: int, bits: int = 64) -> Words:
    """`size` words below 2^bits, expanded from the seed by SHAKE-256; another purpose gives other words."""
    stream = shake_256(f"{seed} {purpose}".encode()).digest(8 * size)
    return np.frombuffer(stream, dtype="<u8") >> np.uint64(64 - bits)


def _below(numbers: Integers, seed: str, purpose: str) -> Integers:
    """For each of the numbers one that is uniform below it: a word that would favour small ones is drawn again."""
    limits = numbers.astype(np.uint64)
    beyond = (np.uint64(0) - limits) % limits  # 2^64 mod limit: words above 2^64 less this favour small ones
    words, again = public_words(seed, purpose, len(limits)), 0
    while (biased := np.flatnonzero((beyond > 0) & (words >= np.uint64(0) - beyond))).size:
        again += 1
        words = words.copy()
        words[biased] = public_words(seed, f"{purpose} {again}", len(limits))[biased]
    return (words % limits).astype(np.int64)


def _words32(seed: str, purpose: str, size: int) -> NDArray[np.uint32]:
    return public_words(seed, purpose, size, 32).astype(np.uint32)
