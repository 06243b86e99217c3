"""The parts of this way."""

from __future__ import annotations

from discreet.arrays import Integers
from discreet.ways import Way
from discreet.ways.row_by_row.draw import draw
from discreet.ways.row_by_row.evidence import averages, errors, evidence, steps, unbiased
from discreet.ways.row_by_row.facts import RowFacts
from discreet.ways.row_by_row.in_parts import IN_PARTS
from discreet.ways.row_by_row.plan import RowPlan, plan
from discreet.ways.row_by_row.prove import prove
from discreet.ways.row_by_row.publish import as_drawn, publish
from discreet.ways.row_by_row.replay import replay
from discreet.ways.row_by_row.spec import RowByRow

WAY: Way[RowByRow, RowPlan, Integers, RowFacts] = Way(
    "row-by-row", RowByRow, RowFacts, plan, draw, publish, prove, replay, evidence, errors, steps, as_drawn=as_drawn,
    unbiased=unbiased, averages=averages, in_parts=IN_PARTS, rows_alike=True,
)  # fmt: skip
