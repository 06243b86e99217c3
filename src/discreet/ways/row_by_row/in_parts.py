"""Rows drawn by themselves, wherever they are: nothing has to be known of the other parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.mechanism import NoiseThenMap
from discreet.public_map import SeenValues, together
from discreet.record.release import Publication
from discreet.sample.bits import Bits
from discreet.table import Table
from discreet.ways import DrawnInParts, InParts, Published
from discreet.ways.row_by_row.draw import draw
from discreet.ways.row_by_row.facts import RowFacts
from discreet.ways.row_by_row.plan import RowPlan
from discreet.ways.row_by_row.publish import clamp_of, publish
from discreet.ways.row_by_row.replay import replay

NO_ROWS = np.zeros(0, dtype=np.int64)  # they are in the parts


def require(plan: RowPlan) -> None:
    """Every mechanism can."""


def asks(plan: RowPlan) -> None:
    return None


def maps(plan: RowPlan) -> bool:
    return clamp_of(plan) is not None


def draw_part(plan: RowPlan, table: Table[Any], bits: Bits, given: bytes) -> Integers:
    return draw(plan, table.counts, bits)


def publish_whole(plan: RowPlan, drawn: DrawnInParts) -> Published[RowFacts]:
    return publish(plan, NO_ROWS)


def counts(facts: RowFacts, rows: Integers, seen: SeenValues, before: Integers) -> Integers:
    form = facts.mechanism.form
    assert isinstance(form, NoiseThenMap) and form.clamp is not None, "nothing else is mapped"
    return np.clip(rows, *form.clamp)


def replay_whole(publication: Publication[RowFacts]) -> list[str]:
    """As far as the values that occur tell it."""
    form, noisy = publication.record.facts.mechanism.form, publication.noisy
    if noisy is not None and isinstance(form, NoiseThenMap) and form.clamp is not None:
        made, there = together([SeenValues(np.clip(noisy.values, *form.clamp), noisy.numbers)]), publication.counted
        same = np.array_equal(made.values, there.values) and np.array_equal(made.numbers, there.numbers)
        return [] if same else ["The counts of the table are not those that the measurements become."]
    return replay(publication)


def replay_part(part: Publication[RowFacts], whole: Publication[RowFacts], before: Integers) -> list[str]:
    return replay(part)


IN_PARTS: InParts[RowPlan, RowFacts] = InParts(
    require, asks, maps, draw_part, publish_whole, counts, replay_whole, replay_part
)
