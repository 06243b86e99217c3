"""Uniform ways to write a sum as ordered non-negative parts: stars and bars, for many sums at once.

Of sum + parts - 1 places, parts - 1 are bars. A uniform subset is what uniform places, drawn until enough of them are
different, leave; whichever of stars and bars are fewer are placed.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers
from discreet.lattice.chances import AT_ONCE, uniform_below
from discreet.sample.bits import Bits

MOST_PLACES_MARKED = 1 << 27  # five bytes for each: 640 MB
FEW_PARTS = 8  # up to here bars are placed one by one
CROWDED = 16  # places per choice up to which marking beats sorting


def compositions(sums: Integers, parts: Integers, bits: Bits) -> Integers:
    """For every i a uniform composition of sums[i] into parts[i] >= 1 parts, one after the other."""
    if len(parts) and parts[0] <= FEW_PARTS and np.all(parts == parts[0]):
        return _few(sums, int(parts[0]), bits).ravel()
    out = np.zeros(int(parts.sum()), dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(parts)])
    few_stars = sums < parts - 1
    for stars in (False, True):
        chosen = np.flatnonzero((few_stars == stars) & (sums > 0))
        if len(chosen):
            fill = _by_stars if stars else _by_bars
            fill(out, starts[chosen], sums[chosen], parts[chosen], bits)
    return out


def _few(sums: Integers, parts: int, bits: Bits) -> Integers:
    """Bars placed one by one (Floyd): each below a bound that grows by one, or at the bound if that place is taken."""
    bars = np.empty((parts - 1, len(sums)), dtype=np.int64)
    for placed in range(parts - 1):
        bound = sums + placed
        place = uniform_below(bound + 1, bits)
        taken = np.zeros(len(sums), dtype=bool)
        for earlier in bars[:placed]:
            taken |= earlier == place
        bars[placed] = np.where(taken, bound, place)
    bars.sort(axis=0)
    out = np.empty((len(sums), parts), dtype=np.int64)
    before = np.full(len(sums), -1, dtype=np.int64)
    for part, bar in enumerate((*bars, sums + parts - 1)):
        out[:, part] = bar - before - 1
        before = bar
    return out


def _by_bars(out: Integers, starts: Integers, sums: Integers, parts: Integers, bits: Bits) -> None:
    bars = parts - 1
    places = sums + bars
    offsets = np.concatenate([[0], np.cumsum(places + 1)])  # one place more, for a bar at the end of each
    chosen = subsets(bars, places, offsets[:-1], bits)
    all_bars = np.insert(chosen, np.cumsum(bars), offsets[1:] - 1)
    gaps = np.diff(all_bars, prepend=-1) - 1
    out[within(starts, parts)] = gaps


def _by_stars(out: Integers, starts: Integers, sums: Integers, parts: Integers, bits: Bits) -> None:
    places = sums + parts - 1
    offsets = np.concatenate([[0], np.cumsum(places)])
    chosen = subsets(sums, places, offsets[:-1], bits)
    before = np.arange(len(chosen)) - np.repeat(np.cumsum(sums) - sums, sums)
    cell = chosen - np.repeat(offsets[:-1], sums) - before + np.repeat(starts, sums)
    np.add.at(out, cell, 1)


def within(starts: Integers, lengths: Integers) -> Integers:
    """starts[0], starts[0]+1, .. for each run, one after the other."""
    places: Integers = np.arange(int(lengths.sum())) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return places


def subsets(sizes: Integers, places: Integers, offsets: Integers, bits: Bits) -> Integers:
    """For every i a uniform subset of sizes[i] of the numbers offsets[i] .. offsets[i] + places[i] - 1; all, sorted."""
    if len(sizes) == 0 or not sizes.any():
        return np.zeros(0, dtype=np.int64)
    reach = int(offsets[-1] + places[-1])
    if reach <= min(MOST_PLACES_MARKED, CROWDED * int(sizes.sum())):
        return _marked(sizes, places, offsets, reach, bits)
    return _sorted(sizes, places, offsets, bits)


def _proposals(owners: Integers, places: Integers, offsets: Integers, bits: Bits) -> Integers:
    found = uniform_below(places, bits, owners)
    for start in range(0, len(owners), AT_ONCE):
        found[start : start + AT_ONCE] += offsets[owners[start : start + AT_ONCE]]
    return found


def _marked(sizes: Integers, places: Integers, offsets: Integers, reach: int, bits: Bits) -> Integers:
    if len(sizes) == 1:
        return _marked_once(int(sizes[0]), reach, bits)
    marks, stamps = np.zeros(reach, dtype=bool), np.empty(reach, dtype=np.int32)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    while len(owners):
        proposed, taken = _proposals(owners, places, offsets, bits), []
        for start in range(0, len(owners), AT_ONCE):
            new = proposed[start : start + AT_ONCE]
            order = np.arange(len(new), dtype=np.int32)
            stamps[new] = order  # of equal proposals one keeps its stamp
            lost = stamps[new] != order
            lost |= marks[new]
            marks[new] = True
            taken.append(owners[start : start + AT_ONCE][lost])
        owners = np.concatenate(taken)
    return np.flatnonzero(marks)


def _marked_once(size: int, places: int, bits: Bits) -> Integers:
    marks = np.zeros(places, dtype=bool)
    while needed := size - np.count_nonzero(marks):
        marks[uniform_below(np.full(needed, places), bits)] = True
    return np.flatnonzero(marks)


def _sorted(sizes: Integers, places: Integers, offsets: Integers, bits: Bits) -> Integers:
    chosen = np.zeros(0, dtype=np.int64)
    needed = sizes
    while needed.any():
        owners = np.repeat(np.arange(len(sizes)), needed)
        chosen = np.concatenate([chosen, _proposals(owners, places, offsets, bits)])
        chosen.sort()
        chosen = chosen[np.diff(chosen, prepend=-1) > 0]
        needed = sizes - np.diff(np.append(np.searchsorted(chosen, offsets), len(chosen)))
    return chosen
