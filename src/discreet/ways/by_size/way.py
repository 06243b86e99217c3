"""The parts of this way."""

from __future__ import annotations

from discreet.arrays import Integers
from discreet.ways import Way
from discreet.ways.by_size.draw import check, draw
from discreet.ways.by_size.evidence import errors, evidence, steps
from discreet.ways.by_size.facts import SizedFacts
from discreet.ways.by_size.plan import SizePlan, plan
from discreet.ways.by_size.prove import prove
from discreet.ways.by_size.publish import as_drawn, publish
from discreet.ways.by_size.replay import replay
from discreet.ways.by_size.spec import BySize

WAY: Way[BySize, SizePlan, Integers, SizedFacts] = Way(
    "by-size",
    BySize,
    SizedFacts,
    plan,
    draw,
    publish,
    prove,
    replay,
    evidence,
    errors,
    steps,
    as_drawn=as_drawn,
    check=check,
)
