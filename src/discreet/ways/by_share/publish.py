"""From noisy values to what people see: public post-processing, which anybody can replay."""

from __future__ import annotations

from discreet.arrays import Integers
from discreet.io.layout import COUNTED
from discreet.ways import Published
from discreet.ways.by_share.facts import Shared, SharedFacts, SharedMechanism
from discreet.ways.by_share.plan import SharePlan
from discreet.ways.row_by_row.publish import as_drawn as as_drawn_rows
from discreet.ways.row_by_row.publish import clamp_of


def publish(plan: SharePlan, measured: Integers) -> Published[SharedFacts]:
    parts = tuple(
        Shared(name, share, plan.plans[name].certificate, plan.plans[name].mechanism.form)
        for name, share in plan.shares
    )
    signed = None if clamp_of(plan.first) is None else measured
    facts = SharedFacts(SharedMechanism(plan.law, COUNTED, parts))
    return Published(as_drawn(plan, measured), signed, plan.guarantee, facts, plan.first.max_count)


def as_drawn(plan: SharePlan, measured: Integers) -> Integers:
    """The range is the same in all columns."""
    return as_drawn_rows(plan.first, measured)
