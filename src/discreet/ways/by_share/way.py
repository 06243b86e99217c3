"""The parts of this way."""

from __future__ import annotations

from discreet.arrays import Integers
from discreet.ways import Way
from discreet.ways.by_share.draw import draw
from discreet.ways.by_share.evidence import errors, evidence, steps, unbiased
from discreet.ways.by_share.facts import SharedFacts
from discreet.ways.by_share.plan import SharePlan, plan
from discreet.ways.by_share.prove import prove
from discreet.ways.by_share.publish import as_drawn, publish
from discreet.ways.by_share.replay import replay
from discreet.ways.by_share.spec import ByShare

WAY: Way[ByShare, SharePlan, Integers, SharedFacts] = Way(
    "by-share",
    ByShare,
    SharedFacts,
    plan,
    draw,
    publish,
    prove,
    replay,
    evidence,
    errors,
    steps,
    as_drawn=as_drawn,
    unbiased=unbiased,
)
