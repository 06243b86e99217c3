"""Public randomness: words that anybody can expand again from a published seed. Nothing secret may rest on them."""

from __future__ import annotations

from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray


def public_words(seed: str, purpose: str, size: int, bits: int = 64) -> NDArray[np.uint64]:
    """`size` words below 2^bits, expanded from the seed by SHAKE-256; another purpose gives other words."""
    stream = shake_256(f"{seed} {purpose}".encode()).digest(8 * size)
    return np.frombuffer(stream, dtype="<u8") >> np.uint64(64 - bits)


def spread_words(values: NDArray[np.int64], seed: str, bits: int) -> NDArray[np.uint64]:
    """A uniform word for every row, spread evenly among the rows that share a value.

    Each word by itself is uniform; together they split a group of rows nearly in the proportions of its map, so that
    mapping adds almost no sampling error.
    """
    ties, within = public_words(seed, "order", len(values)), public_words(seed, "within", len(values), 32)
    order = np.lexsort((ties, values))
    groups, sizes = np.unique(values, return_counts=True)
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(values))
    place[order] = np.arange(len(values)) - np.repeat(starts, sizes)
    size = sizes[np.searchsorted(groups, values)]
    words = np.floor((place + within / 2.0**32) / size * 2.0**bits)
    return np.minimum(words, 2.0**bits - 1).astype(np.uint64)
