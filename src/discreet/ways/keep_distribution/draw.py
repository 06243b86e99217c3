"""The only step that touches the secret counts, and the only one with secret randomness."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.arrays import Integers
from discreet.distribution.borders import ask
from discreet.distribution.privatizer import estimated, measure, noise_for
from discreet.laws import NoiseLaw
from discreet.mechanism import EdgeThenNoise, Mechanism, NoiseThenMap
from discreet.privacy.values import Share, pure_only
from discreet.public_map import SeenValues, seen_of
from discreet.sample.bits import Bits
from discreet.sample.rows import draw_rows
from discreet.ways.keep_distribution.facts import SEEDED
from discreet.ways.keep_distribution.plan import DistributionPlan
from discreet.ways.keep_distribution.spec import LARGEST_MAPPED


@dataclass(frozen=True, eq=False)
class StageOne:
    """Noisy answers about the distribution, and the law of the noise in each."""

    answers: Integers
    noise: NoiseLaw
    borders: Integers | None = None  # the first answers, where the range was chosen from them


@dataclass(frozen=True, eq=False)
class Measured:
    """Everything that was learned from the secret counts, with its noise in it. From here on all is post-processing."""

    rows: Integers  # a noisy value for each row
    public_seed: str  # expands into the public words of the map
    stage_one: StageOne | None = None
    mechanism: Mechanism | None = None  # constructed for the measured distribution
    in_parts: SeenValues | None = None  # where the rows are elsewhere, in parts: the values that occur in all of them

    @cached_property
    def seen(self) -> SeenValues:
        """The noisy values that occur, and how often."""
        return seen_of(self.rows) if self.in_parts is None else self.in_parts


def draw(plan: DistributionPlan, counts: Integers, bits: Bits) -> Measured:
    first = None if plan.distribution is None else stage_one(plan, plan.distribution, seen_of(counts), bits)
    measured = Measured(np.empty(0, dtype=np.int64), map_seed(bits), first)
    if plan.noise is not None:
        return replace(measured, rows=noisy_rows(plan, counts, bits))
    treated = counts if plan.spec.cut is None else np.minimum(counts, plan.spec.cut)
    mechanism = _construct(plan, first)
    form = mechanism.form
    assert not isinstance(form, EdgeThenNoise), "no constructor makes one"
    rows = form.noise.add(treated, bits) if isinstance(form, NoiseThenMap) else draw_rows(form, treated, bits)
    return replace(measured, rows=rows, mechanism=mechanism)


def map_seed(bits: Bits) -> str:
    """The public seed of a map. The mark is a part of it: without the mark the map is another one."""
    return ("" if bits.private else SEEDED) + bits.bytes(16).hex()


def noisy_rows(plan: DistributionPlan, counts: Integers, bits: Bits) -> Integers:
    """A noisy value for each row, whichever rows of the table these are."""
    assert plan.noise is not None
    return plan.noise.add(counts if plan.spec.cut is None else np.minimum(counts, plan.spec.cut), bits)


def stage_one(plan: DistributionPlan, share: Share, counted: SeenValues, bits: Bits) -> StageOne:
    """The distribution up to max_count; where there is none, as far as its own first answers say."""
    top = plan.spec.top
    if top is None:
        noise = noise_for(plan.spec.privatizer, LARGEST_MAPPED + 1, share, plan.contributions)
        found = ask(counted, noise, LARGEST_MAPPED, bits)
        return StageOne(found.prefix, noise, found.coarse)
    return StageOne(*measure(plan.spec.privatizer, counted.histogram(0, top), share, plan.contributions, bits))


def _construct(plan: DistributionPlan, first: StageOne | None) -> Mechanism:
    """The mechanism for the measured distribution, certified by its maker."""
    from discreet.build.construct import construct

    assert first is not None and plan.spec.top is not None
    law = estimated(plan.spec.privatizer, first.answers, plan.rows, plan.spec.top + 1)
    each = pure_only(plan.counts.per_unit(plan.contributions), plan.spec.mechanism).epsilon
    return construct(law, each, method=plan.spec.mechanism).mechanism
