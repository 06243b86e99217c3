"""The only step that touches the secret counts, and the only one with secret randomness."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers
from discreet.mechanism import EdgeThenNoise, NoiseThenMap
from discreet.sample.bits import Bits
from discreet.sample.rows import draw_from_the_edge, draw_rows
from discreet.ways.row_by_row.plan import RowPlan


def draw(plan: RowPlan, counts: Integers, bits: Bits) -> Integers:
    """A noisy value, or a drawn one, for each row."""
    form, top = plan.mechanism.form, plan.max_count
    if plan.min_count is not None:
        counts = np.maximum(counts, plan.min_count)
    if isinstance(form, NoiseThenMap):
        return form.noise.add(counts, bits, top)
    if isinstance(form, EdgeThenNoise):
        return draw_from_the_edge(form, counts, bits)
    return draw_rows(form, counts if top is None else np.minimum(counts, top), bits)
