"""The only step that touches the secret counts, and the only one with secret randomness."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers
from discreet.sample.bits import Bits
from discreet.ways.by_share.plan import SharePlan
from discreet.ways.row_by_row.draw import draw as draw_rows


def draw(plan: SharePlan, counts: Integers, bits: Bits) -> Integers:
    """A noisy value, or a drawn one, for each row; which mechanism it goes through is public."""
    out = np.empty(len(counts), dtype=np.int64)
    for rows, one in zip(plan.rows, plan.plans.values()):
        out[rows] = draw_rows(one, counts[rows], bits)
    return out
