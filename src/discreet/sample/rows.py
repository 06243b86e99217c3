"""A mechanism applied to a table: every count is replaced by a draw from its own row."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers
from discreet.laws.rows import PowerRow, WeightRow
from discreet.mechanism import Continued, EdgeThenNoise, Exponents, Weights
from discreet.sample.bits import Bits
from discreet.sample.draw import draw


def draw_rows(form: Weights | Continued | Exponents, counts: Integers, bits: Bits) -> Integers:
    """Independent draws, one for each count; exact."""
    if isinstance(form, Continued):
        beyond = np.maximum(counts - form.last, 0)
        return draw_rows(form.start, counts - beyond, bits) + beyond
    out = np.empty(len(counts), dtype=np.int64)
    order = np.argsort(counts, kind="stable")
    values, starts = np.unique(counts[order], return_index=True)
    for value, places in zip(values.tolist(), np.split(order, starts[1:])):
        out[places] = draw(_row_law(form, value), len(places), bits)
    return out


def draw_from_the_edge(form: EdgeThenNoise, counts: Integers, bits: Bits) -> Integers:
    """The same where only the smallest counts have rows of their own, and all others get noise."""
    used = np.maximum(counts if form.top is None else np.minimum(counts, form.top), form.first)
    low = used < form.beyond
    out = np.empty(len(counts), dtype=np.int64)
    out[low] = draw_rows(form.edge, used[low] - form.first, bits)
    out[~low] = form.noise.add(used[~low], bits)
    return out


def _row_law(form: Weights | Exponents, value: int) -> WeightRow | PowerRow:
    if isinstance(form, Exponents):
        return PowerRow(form.odds, tuple(form.powers[value].tolist()))
    return WeightRow(tuple(np.cumsum(np.array(form.rows[value], dtype=object)).tolist()))
