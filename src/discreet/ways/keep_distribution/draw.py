"""The only step that touches the secret counts, and the only one with secret randomness."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import Integers
from discreet.distribution.max_count import MaxCount, private_max_count
from discreet.distribution.privatizer import estimated, measure
from discreet.laws import NoiseLaw
from discreet.mechanism import Mechanism, NoiseThenMap
from discreet.privacy.values import pure_only
from discreet.sample.bits import Bits
from discreet.sample.rows import draw_rows
from discreet.ways.keep_distribution.facts import map_seed
from discreet.ways.keep_distribution.plan import DistributionPlan
from discreet.ways.keep_distribution.spec import LARGEST_MAPPED, too_fine


@dataclass(frozen=True, eq=False)
class Measured:
    """Everything that was learned from the secret counts, with its noise in it. From here on all is post-processing."""

    rows: Integers  # a noisy value for each row
    max_count: int | None
    public_seed: str  # expands into the public words of the map
    answers: Integers | None = None  # noisy answers about the distribution, if it was measured
    noise: NoiseLaw | None = None  # of the answers
    bought: MaxCount | None = None  # a largest count that was paid for
    mechanism: Mechanism | None = None  # constructed for the measured distribution


def draw(plan: DistributionPlan, counts: Integers, bits: Bits) -> Measured:
    bought = _buy_max_count(plan, counts, bits)
    top = plan.spec.top if bought is None else bought.max_count
    capped = counts if top is None else np.minimum(counts, top)
    answers, noise = None, None
    if plan.distribution is not None:
        assert top is not None, "a budget for the distribution is divided off only where counts have a limit"
        histogram = np.bincount(capped, minlength=top + 1)
        answers, noise = measure(plan.spec.privatizer, histogram, plan.distribution, plan.contributions, bits)
    seed = map_seed(bits.bytes(16), bits.private)
    measured = Measured(np.empty(0, dtype=np.int64), top, seed, answers, noise, bought)
    if plan.noise is not None:
        return replace(measured, rows=plan.noise.add(capped, bits))
    mechanism = _construct(plan, measured)
    form = mechanism.form
    rows = form.noise.add(capped, bits) if isinstance(form, NoiseThenMap) else draw_rows(form, capped, bits)
    return replace(measured, rows=rows, mechanism=mechanism)


def _buy_max_count(plan: DistributionPlan, counts: Integers, bits: Bits) -> MaxCount | None:
    if plan.max_count is None:
        return None
    bought = private_max_count(counts, plan.max_count.epsilon, contributions=plan.contributions, bits=bits)
    if bought.max_count > LARGEST_MAPPED:
        raise too_fine(bought.max_count)
    return bought


def _construct(plan: DistributionPlan, measured: Measured) -> Mechanism:
    """The mechanism for the measured distribution, certified by its maker."""
    from discreet.build.construct import construct

    assert measured.answers is not None and measured.max_count is not None
    law = estimated(plan.spec.privatizer, measured.answers, plan.rows, measured.max_count + 1)
    each = pure_only(plan.row_loss, plan.spec.mechanism).epsilon
    return construct(law, each, method=plan.spec.mechanism).mechanism
