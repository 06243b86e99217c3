"""Counts that were mapped by their ranks, without the noisy values that they were made from.

The map is public and monotone: it tells between which two noisy values each published count lies, and so bounds the sum
of any rows. The interval is that of the noisy values, and as far again as these are not known: it is wide, and true.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.estimate.independent import IndependentRows, at_the_ends, right_on_average
from discreet.laws import NoiseLaw
from discreet.mechanism import LARGEST_MATRIX, NoiseThenMap
from discreet.public_map import PublicMap


def bracketed_rows(
    counts: Integers, noise: NoiseLaw, last: int, public_map: PublicMap | None, *, cut: bool,
    numbers: Integers | None = None,
) -> IndependentRows:  # fmt: skip
    """The middle of what each row may have been, half of the width as slack, and the largest variance there is.

    numbers: of each count how many rows have it, where every count comes once."""
    values, variance = _of_noisy(noise, last, cut)
    first, end = _brackets(last, public_map)
    inside = np.clip(counts, 0, last)
    least, most = values[first][inside], values[end][inside]
    if not cut:  # what is above the last count of the map was left as it was
        beyond = counts > last
        least, most = np.where(beyond, counts, least), np.where(beyond, counts, most)
    times = np.ones(len(counts)) if numbers is None else numbers.astype(float)
    middle, slack = (least + most) / 2 * times, (most - least) / 2 * times
    return IndependentRows(middle, variance * times, noise, slack=slack, conservative=True, times=numbers)


def _of_noisy(noise: NoiseLaw, last: int, cut: bool) -> tuple[Floats, float]:
    """What a noisy value, cut to 0..last, says on average of the count, never less for a larger one; and a variance."""
    if noise.decay is not None:
        return at_the_ends(np.arange(last + 1, dtype=np.int64), noise, 0, last if cut else None)[0], noise.spread
    if last >= LARGEST_MATRIX:
        found = f"noisy values are not published, and for this noise that is made up for below {LARGEST_MATRIX} only"
        raise BadInput("an estimate was asked for", found, "Publish the release with its measurements")
    flat = np.full(last + 1, 1 / (last + 1))
    values, variance, _ = right_on_average(NoiseThenMap(noise, (0, last)).matrix(), flat, last + 1)
    return np.maximum.accumulate(values), float(variance.max())


def _brackets(last: int, public_map: PublicMap | None) -> tuple[Integers, Integers]:
    """Of each count the smallest and the largest noisy value that became it; of one that none became, itself."""
    first, end = np.arange(last + 1), np.arange(last + 1)
    if public_map is not None:
        keys = public_map.keys.astype(object)
        starts = np.array([0, *(int(key) >> public_map.bits for key in keys)], dtype=np.int64)
        ends = np.array([*((int(key) - 1) >> public_map.bits for key in keys), last], dtype=np.int64)
        first[public_map.outputs], end[public_map.outputs] = starts, np.maximum(ends, starts)
    return np.minimum(first, last), np.minimum(end, last)
