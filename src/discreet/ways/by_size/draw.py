"""The only step that touches the secret counts, and the only one with secret randomness."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers
from discreet.sample.bits import Bits
from discreet.ways.by_size.plan import SizePlan
from discreet.ways.row_by_row.draw import draw as draw_rows


def draw(plan: SizePlan, counts: Integers, bits: Bits) -> Integers:
    """A noisy value, or a drawn one, for each row; which mechanism it goes through is public."""
    out = np.empty(len(counts), dtype=np.int64)
    for size, rows in rows_by_size(plan.limits):
        out[rows] = draw_rows(plan.plans[size], counts[rows], bits)
    return out


def rows_by_size(limits: Integers) -> list[tuple[int, Integers]]:
    """For every size, in order, the rows that have it."""
    order = np.argsort(limits, kind="stable")
    sizes, starts = np.unique(limits[order], return_index=True)
    return list(zip(sizes.tolist(), np.split(order, starts[1:])))
