"""From noisy values to what people see: public post-processing, which anybody can replay."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers
from discreet.mechanism import NoiseThenMap
from discreet.ways import Published
from discreet.ways.row_by_row.facts import RowFacts, described
from discreet.ways.row_by_row.plan import RowPlan


def publish(plan: RowPlan, measured: Integers) -> Published[RowFacts]:
    facts = RowFacts(described(plan.mechanism, plan.min_count))
    signed = None if clamp_of(plan) is None else measured
    return Published(as_drawn(plan, measured), signed, plan.guarantee, facts, plan.max_count, plan.certificate)


def as_drawn(plan: RowPlan, measured: Integers) -> Integers:
    clamp = clamp_of(plan)
    return measured if clamp is None else np.clip(measured, *clamp)


def clamp_of(plan: RowPlan) -> tuple[int, int | None] | None:
    form = plan.mechanism.form
    return form.clamp if isinstance(form, NoiseThenMap) else None
