"""From noisy values to what people see: public post-processing, which anybody can replay."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers
from discreet.mechanism import NoiseThenMap
from discreet.ways import Published
from discreet.ways.by_size.facts import Sized, SizedFacts, SizedMechanism
from discreet.ways.by_size.plan import SizePlan


def publish(plan: SizePlan, measured: Integers) -> Published[SizedFacts]:
    sizes = tuple(Sized(size, one.certificate, one.mechanism.form) for size, one in plan.plans.items())
    facts = SizedFacts(SizedMechanism(plan.law, plan.spec.max_count, sizes))
    signed = measured if isinstance(sizes[0].form, NoiseThenMap) else None
    return Published(as_drawn(plan, measured), signed, plan.guarantee, facts, sizes[-1].max_count)


def as_drawn(plan: SizePlan, measured: Integers) -> Integers:
    noisy = isinstance(next(iter(plan.plans.values())).mechanism.form, NoiseThenMap)
    return np.clip(measured, 0, plan.limits) if noisy else measured
