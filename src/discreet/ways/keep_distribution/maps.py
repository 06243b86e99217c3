"""The maps of noisy rows onto a distribution, with public words: the same for whoever publishes and whoever checks."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers
from discreet.build.rank import rank_map
from discreet.build.transport import monotone_map
from discreet.mechanism import NoiseThenMap, PublicMap
from discreet.sample.public import public_words, spread_words


def map_onto(clamped: Integers, seen: Integers, bins: Integers, seed: str) -> tuple[Integers, PublicMap]:
    """The monotone map from the noisy values as seen onto whole numbers of rows, and what it makes of them."""
    public_map = monotone_map(seen.astype(float), bins.astype(float))
    return public_map.apply(clamped, spread_words(clamped, seed, public_map.bits)), public_map


def apply_map(form: NoiseThenMap, rows: Integers, seed: str) -> Integers:
    """Clamp and map, every row with its own public word."""
    assert form.clamp is not None
    clamped = np.clip(rows, *form.clamp)
    return clamped if form.map is None else form.map.apply(clamped, public_words(seed, "map", len(rows), form.map.bits))


def rank_rows(rows: Integers, bins: Integers, seed: str) -> Integers:
    """The k-th smallest noisy value becomes the k-th smallest count of the histogram; ties are broken at random."""
    return rank_map(rows, np.cumsum(bins), public_words(seed, "ties", len(rows)))
