"""The distribution kept where the rows are in parts: noise part by part, one fit of all noisy values, then the map."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.public_map import SeenValues
from discreet.record.release import Publication
from discreet.sample.bits import Bits
from discreet.table import Table
from discreet.ways import DrawnInParts, InParts, Published
from discreet.ways.keep_distribution.draw import Measured, map_seed, noisy_rows, stage_one
from discreet.ways.keep_distribution.facts import KeptDistribution
from discreet.ways.keep_distribution.follow import rows_of
from discreet.ways.keep_distribution.plan import DistributionPlan
from discreet.ways.keep_distribution.publish import mapped, published
from discreet.ways.keep_distribution.replay import WholeRelease, followed, replay_whole
from discreet.ways.keep_distribution.spec import LARGEST_MAPPED

NO_ROWS = np.zeros(0, dtype=np.int64)  # they are in the parts


def require(plan: DistributionPlan) -> None:
    if plan.noise is None:
        raise BadInput(
            f"the mechanism {plan.spec.mechanism!r} was asked for in parts",
            "it is constructed for the distribution of all rows before any of them is drawn",
            "Use transport (the default), rank, signed-geometric or geometric",
        )


def asks(plan: DistributionPlan) -> int | None:
    if plan.distribution is None:
        return None
    return LARGEST_MAPPED + 1 if plan.spec.top is None else plan.spec.top


def maps(plan: DistributionPlan) -> bool:
    return not plan.spec.signed


def draw(plan: DistributionPlan, table: Table[Any], bits: Bits, given: bytes) -> Integers:
    return noisy_rows(plan, table.counts, bits)


def publish(plan: DistributionPlan, drawn: DrawnInParts) -> Published[KeptDistribution]:
    first = None
    if plan.distribution is not None:
        assert drawn.secret is not None
        first = stage_one(plan, plan.distribution, drawn.secret, drawn.bits)
    seed = map_seed(drawn.public)
    facts = mapped(plan, Measured(NO_ROWS, seed, first, in_parts=drawn.seen))
    return published(plan, facts, NO_ROWS, NO_ROWS if maps(plan) else None)


def counts(facts: KeptDistribution, rows: Integers, seen: SeenValues, before: Integers) -> Integers:
    return rows_of(facts, rows, seen, before)


def replay(publication: Publication[KeptDistribution]) -> list[str]:
    return replay_whole(WholeRelease(publication.record, publication.counted, publication.noisy))


def replay_part(
    part: Publication[KeptDistribution], whole: Publication[KeptDistribution], before: Integers
) -> list[str]:
    return followed(part, WholeRelease(whole.record, whole.counted, whole.noisy), before)


IN_PARTS: InParts[DistributionPlan, KeptDistribution] = InParts(
    require, asks, maps, draw, publish, counts, replay, replay_part
)
