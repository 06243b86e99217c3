"""Public maps of noisy values onto a distribution: post-processing with public words, which anybody can replay.

A monotone map sends every noisy value to the same quantile of the target. By rank, the k-th smallest noisy row gets the
k-th smallest count, so that the published counts have exactly the histogram that was meant for them. Nothing secret
may rest on the words: they are expanded from a published seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import shake_256

import numpy as np

from discreet.arrays import Floats, Integers, Words
from discreet.errors import BadInput

MAP_BITS = 40  # of a source value's mass: finer than any table can show
FARTHEST_RANKED = 1 << 22  # outside the histogram: what is further out is the first, or the last, in any case
LARGEST_RANGE = 1 << (64 - MAP_BITS)  # so that a value and its word fit into 64 bits


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


def public_words(seed: str, purpose: str, size: int, bits: int = 64) -> Words:
    """`size` words below 2^bits, expanded from the seed by SHAKE-256; another purpose gives other words."""
    stream = shake_256(f"{seed} {purpose}".encode()).digest(8 * size)
    return np.frombuffer(stream, dtype="<u8") >> np.uint64(64 - bits)


def map_each(clamped: Integers, public_map: PublicMap | None, seed: str) -> Integers:
    """Every row with a public word of its own."""
    if public_map is None:
        return clamped
    return public_map.apply(clamped, public_words(seed, "map", len(clamped), public_map.bits))


def rank_rows(rows: Integers, bins: Integers, seed: str, beyond: bool = True) -> Integers:
    """The k-th smallest noisy value becomes the k-th smallest count of the histogram; ties are broken at random.

    `beyond`: what is above the last count of the histogram, and has become it, is left as it was.
    """
    last = len(bins) - 1
    values = np.clip(rows, -FARTHEST_RANKED, last + FARTHEST_RANKED)
    keys = (values - values.min()).astype(np.uint64) << np.uint64(MAP_BITS)
    keys |= public_words(seed, "ties", len(rows), MAP_BITS)
    ends, ordered = np.cumsum(bins), np.sort(keys)
    inner = ends[(ends > 0) & (ends < len(rows))]
    if (ordered[inner] == ordered[inner - 1]).any():  # two equal words at a border: by their place in the table
        places = np.empty(len(rows), dtype=np.int64)
        places[np.argsort(keys, kind="stable")] = np.arange(len(rows))
        counts = np.searchsorted(ends, places, side="right")
    else:
        borders = np.append(ordered, np.uint64(2**64 - 1))[ends[:-1]]
        counts = np.searchsorted(borders, keys, side="right")
    return np.where(counts == last, np.maximum(rows, counts), counts) if beyond else counts
