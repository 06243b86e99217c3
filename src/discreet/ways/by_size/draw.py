"""The only step that touches the secret counts, and the only one with secret randomness."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.sample.bits import Bits
from discreet.ways.by_size.plan import SizePlan
from discreet.ways.row_by_row.draw import draw as draw_rows

FEWEST_SIZES = 3  # that all are counts as well: with fewer, groups may simply be full


def check(plan: SizePlan, counts: Integers) -> None:
    """Refuse sizes that are the counts themselves: they are published."""
    if len(plan.plans) >= FEWEST_SIZES and np.array_equal(plan.limits, counts):
        column = plan.spec.max_count
        raise BadInput(
            f"the sizes of groups were asked for from the column {column!r}",
            "in every row it is the count itself, and it would be published as it is",
            "Give sizes that are known to everybody, whatever the counts are",
        )


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
