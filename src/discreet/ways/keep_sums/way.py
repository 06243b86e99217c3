"""The parts of this way."""

from __future__ import annotations

from discreet.arrays import Integers
from discreet.ways import Way
from discreet.ways.keep_sums.draw import check, draw
from discreet.ways.keep_sums.evidence import errors, evidence, steps, unbiased
from discreet.ways.keep_sums.facts import KeptSums
from discreet.ways.keep_sums.in_parts import IN_PARTS
from discreet.ways.keep_sums.plan import SumsPlan, plan
from discreet.ways.keep_sums.prove import prove
from discreet.ways.keep_sums.publish import publish
from discreet.ways.keep_sums.replay import replay
from discreet.ways.keep_sums.spec import KeepSums

WAY: Way[KeepSums, SumsPlan, Integers, KeptSums] = Way(
    "keep-sums",
    KeepSums,
    KeptSums,
    plan,
    draw,
    publish,
    prove,
    replay,
    evidence,
    errors,
    steps,
    check,
    unbiased=unbiased,
    in_parts=IN_PARTS,
)
