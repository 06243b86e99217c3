"""Everything of it, small enough for one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.arrays import Integers
from discreet.estimate.evidence import rows_evidence
from discreet.estimate.shares import of_rows
from discreet.estimate.view import Estimate
from discreet.laws import Geometric, NoiseLaw
from discreet.mechanism import NoiseThenMap
from discreet.numbers import whole
from discreet.options import option, spelt_fields
from discreet.privacy.values import ROWS_ARE_PUBLIC, Guarantee, Loss, Remark, one_person, pure_only
from discreet.record import words
from discreet.record.release import Publication
from discreet.sample.bits import Bits
from discreet.table import Schema
from discreet.ways import Published, Way, WaySpec

words.learn(
    {"in-steps-of": "Every count is a multiple of {step}."},
    {"put-in-steps": "Noisy counts became the nearest multiple of {step}."},
)


@spelt_fields
@dataclass(frozen=True)
class InSteps(WaySpec):
    """Publish multiples of a step."""

    name: ClassVar[str] = "in-steps"
    step: int = option(5, "what published counts are multiples of", kind=int)

    def __post_init__(self) -> None:
        whole(self.step, "the step", 1)


@dataclass(frozen=True)
class Noise:
    name: str
    step: int
    noise: NoiseLaw


@dataclass(frozen=True)
class Steps:
    """What its record holds."""

    mechanism: Noise


@dataclass(frozen=True, eq=False)
class StepPlan:
    spec: InSteps
    noise: Geometric
    guarantee: Guarantee
    discloses: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[Remark, ...]:
        return (Remark.of("put-in-steps", step=self.spec.step),)


def plan(schema: Schema, loss: Loss, spec: InSteps) -> StepPlan:
    noise = Geometric.calibrated(pure_only(loss, "steps"), schema.contributions)
    unit = one_person(noise.price(), schema.contributions)
    of_steps = Remark.of("in-steps-of", step=spec.step)
    return StepPlan(spec, noise, Guarantee(loss, unit, remarks=(ROWS_ARE_PUBLIC, of_steps)))


def draw(plan: StepPlan, counts: Integers, bits: Bits) -> Integers:
    return plan.noise.add(counts, bits)


def publish(plan: StepPlan, measured: Integers) -> Published[Steps]:
    facts = Steps(Noise("in-steps", plan.spec.step, plan.noise))
    return Published(_rounded(measured, plan.spec.step), measured, plan.guarantee, facts)


def _rounded(values: Integers, step: int) -> Integers:
    return np.maximum(0, (values + step // 2) // step * step)


def prove(publication: Publication[Steps]) -> list[str]:
    loss, noise = publication.record.guarantee.loss, publication.record.facts.mechanism.noise
    assert loss.epsilon is not None and noise.worst_odds is not None
    return [] if loss.epsilon.allows(noise.worst_odds) else ["The noise is too small."]


def replay(publication: Publication[Steps]) -> list[str]:
    measured, step = publication.measured, publication.record.facts.mechanism.step
    wrong = measured is not None and not np.array_equal(_rounded(measured, step), publication.counts)
    return ["The table does not follow."] if wrong else []


def evidence(publication: Publication[Steps], level: float) -> Estimate:
    return of_rows(rows_evidence(publication, NoiseThenMap(publication.record.facts.mechanism.noise), top=None), level)


def errors(publication: Publication[Steps], view: Estimate | None) -> None:
    return None


def steps(publication: Publication[Steps]) -> tuple[Remark, ...]:
    return (Remark.of("put-in-steps", step=publication.record.facts.mechanism.step),)


WAY: Way[InSteps, StepPlan, Integers, Steps] = Way(
    "in-steps", InSteps, Steps, plan, draw, publish, prove, replay, evidence, errors, steps
)
