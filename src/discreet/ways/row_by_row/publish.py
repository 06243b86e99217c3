"""From noisy values to what people see: public post-processing, which anybody can replay."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers
from discreet.mechanism import NoiseThenMap, form_parameters
from discreet.ways import Published
from discreet.ways.row_by_row.facts import RowFacts, RowMechanism
from discreet.ways.row_by_row.plan import RowPlan


def publish(plan: RowPlan, measured: Integers) -> Published[RowFacts]:
    form = plan.mechanism.form
    clamp = form.clamp if isinstance(form, NoiseThenMap) else None
    counts = measured if clamp is None else np.clip(measured, *clamp)
    facts = RowFacts(RowMechanism(plan.mechanism.name, form_parameters(form), form))
    signed = None if clamp is None else measured
    return Published(counts, signed, plan.guarantee, facts, plan.max_count, plan.certificate)
