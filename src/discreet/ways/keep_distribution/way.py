"""The parts of this way."""

from __future__ import annotations

from discreet.ways import Way
from discreet.ways.keep_distribution.draw import Measured, draw
from discreet.ways.keep_distribution.evidence import averages, errors, evidence, steps, unbiased
from discreet.ways.keep_distribution.facts import KeptDistribution
from discreet.ways.keep_distribution.in_parts import IN_PARTS
from discreet.ways.keep_distribution.plan import DistributionPlan, plan
from discreet.ways.keep_distribution.prove import prove
from discreet.ways.keep_distribution.publish import as_drawn, publish
from discreet.ways.keep_distribution.rebuild import rebuild
from discreet.ways.keep_distribution.replay import replay
from discreet.ways.keep_distribution.spec import KeepDistribution

WAY: Way[KeepDistribution, DistributionPlan, Measured, KeptDistribution] = Way(
    "keep-distribution", KeepDistribution, KeptDistribution,
    plan, draw, publish, prove, replay, evidence, errors, steps, rebuild=rebuild, as_drawn=as_drawn, unbiased=unbiased,
    averages=averages, in_parts=IN_PARTS, rows_alike=True,
)  # fmt: skip
