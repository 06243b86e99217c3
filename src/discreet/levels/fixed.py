"""Sums that come out alike on every machine.

What is published is replayed by others, bit for bit. Single additions, products and quotients of floats are rounded
alike everywhere; sums of many floats are not, as they depend on the order in which a machine takes them. So floats are
only ever worked on element by element; whatever is added up is a whole number, a multiple of 1/FINE of a count, or is
folded, half upon half, in an order of its own.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats, Integers

UNIT = 10_000  # estimates are published as whole multiples of 1/UNIT
FINE_BITS = 6  # twelve would change no error at any level
FINE = 1 << FINE_BITS  # tables are fitted in whole multiples of 1/FINE, before they are rounded
LARGEST_TOTAL = 1 << 40  # of a table: sums of its multiples of 1/FINE stay far from the end of the range


def counts_of(published: Integers) -> Floats:
    """Published estimates, or deviations, as numbers of people."""
    return published / np.float64(UNIT)


def in_fine(values: Floats) -> Integers:
    """The nearest multiples of 1/FINE."""
    scaled = values * np.float64(FINE)
    fine: Integers = np.rint(scaled, out=scaled if isinstance(scaled, np.ndarray) else None).astype(np.int64)
    return fine


def folded(values: Floats) -> Floats:
    """Sums over the first axis: one half is added to the other, again and again, so that the order is the same
    everywhere."""
    while len(values) > 1:
        half = len(values) // 2
        both = values[:half] + values[half : 2 * half]
        values = both if len(values) == 2 * half else np.concatenate([both, values[2 * half :]])
    sums: Floats = values[0]
    return sums
