"""The parts of this way."""

from __future__ import annotations

from discreet.ways import Way
from discreet.ways.measure.draw import Drawn, check, draw
from discreet.ways.measure.evidence import errors, evidence, steps
from discreet.ways.measure.facts import MeasureFacts
from discreet.ways.measure.files import long_keys
from discreet.ways.measure.plan import MeasurePlan, plan
from discreet.ways.measure.prove import prove
from discreet.ways.measure.publish import publish
from discreet.ways.measure.replay import replay
from discreet.ways.measure.spec import Measure

WAY: Way[Measure, MeasurePlan, Drawn, MeasureFacts] = Way(
    "measure", Measure, MeasureFacts,
    plan, draw, publish, prove, replay, evidence, errors, steps, check=check, long_keys=long_keys,
)  # fmt: skip
