"""One release of one table by every method. The product's releases are made by the product's own code."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.levels.asked import Asked, Cells
from discreet.levels.design import Question
from discreet.levels.either import combined_of
from discreet.levels.fixed import UNIT
from discreet.privacy.values import Concentrated, Loss, Pure
from discreet.record.release import AnswerTable
from discreet.sample.bits import seeded
from discreet.ways.keep_distribution import draw as distribution_draw
from discreet.ways.keep_distribution import plan as distribution_plan
from discreet.ways.keep_distribution import publish as distribution_publish
from discreet.ways.keep_distribution.spec import KeepDistribution
from discreet.ways.measure.draw import draw
from discreet.ways.measure.follow import Heard, answer, apart, variances
from discreet.ways.measure.plan import MeasurePlan, plan
from discreet.ways.measure.publish import publish
from discreet.ways.measure.spec import Measure
from discreet_lab.levels.graphical import fitted_model, installed
from discreet_lab.levels.tables import LevelsTable
from discreet_lab.levels.top_down import top_down

Method = Literal[
    "measure", "measure, and cells", "measure, even shares", "estimates", "cells", "default",
    "top-down", "top-down, even shares", "mbi", "intervals",
]  # fmt: skip
OURS: tuple[Method, ...] = ("measure", "estimates", "measure, and cells", "measure, even shares", "cells", "default")
OTHERS: tuple[Method, ...] = ("top-down", "top-down, even shares")
MODEL: tuple[Method, ...] = ("mbi",)
INTERVALS: tuple[Method, ...] = ("intervals",)
GROUPS = (OURS, OTHERS, MODEL, INTERVALS)  # what is made together
BUDGETS: dict[str, Loss] = {
    "epsilon 0.1": Pure("0.1"), "epsilon 0.5": Pure("0.5"), "epsilon 1": Pure("1"),
    "rho 1/20": Concentrated(Fraction(1, 20)),
}  # fmt: skip
MANY, FEW = 50, 2  # draws of noise behind one number of coverage, for small tables and for large ones
LEVEL = 0.95  # of the intervals


@dataclass(frozen=True)
class LevelsOutcome:
    """Of one release: mean absolute errors by question, the mean count where the truth is zero, Wasserstein-1 of the
    cells; or, of intervals: how many held the truth, and how many would if they were as short as whole noise allows."""

    method: Method
    errors: Mapping[str, float]
    at_zeros: float | None = None
    distribution: float | None = None
    seconds: float = 0.0
    least: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class LevelsSetting:
    """A table and a budget; what does not depend on the noise is worked out once."""

    study: LevelsTable
    budget: str

    def planned(self, measure: Any) -> MeasurePlan:
        return plan(self.study.table.schema, BUDGETS[self.budget], Measure(measure=measure, levels=self.study.levels))

    @cached_property
    def asked(self) -> MeasurePlan:
        """What the other methods are given, too."""
        return self.planned("auto")

    @cached_property
    def with_cells(self) -> MeasurePlan | None:
        """The same questions and the cells, where these are not among them."""
        layout = self.study.layout
        some = [layout.name(question) for question in self.asked.asked]
        return None if Cells() in some else self.planned([*some, Cells()])

    @cached_property
    def cells_alone(self) -> MeasurePlan:
        return self.planned("cells")

    @cached_property
    def even(self) -> MeasurePlan:
        """The same questions, each with the same share."""
        names, layout = self.asked.asked, self.study.layout
        return self.planned([Asked(layout.name(question), Fraction(1, len(names))) for question in names])

    @cached_property
    def reach(self) -> dict[Question, Integers]:
        """Half of the width of every interval, which depends on no measurement."""
        made, design = self.asked, self.study.layout.design
        zeros = {question: np.zeros(design.table_shape(question), dtype=np.int64) for question in made.noise}
        told = Heard(self.study.layout, made.noise, zeros, {})
        combined = told.combined()
        return {question: answer(told, combined, question).high for question in made.answered}

    def seed(self, repeat: int) -> int:
        return zlib.crc32(f"{self.study.name} {repeat}".encode())

    def name(self, question: Question) -> str:
        return str(self.study.layout.name(question))

    def judged(self, method: Method, cells: Any, seconds: float) -> LevelsOutcome:
        """Errors of a table that was released, in the order of the cells."""
        study, design = self.study, self.study.layout.design
        truth = study.truth
        errors = {self.name(q): _mean(np.abs(design.answer(cells, q).ravel() - truth[q])) for q in truth}
        flat, true = np.asarray(cells).ravel(), study.cells.ravel()
        zeros, apart_by = flat[true == 0], np.abs(np.sort(flat) - np.sort(true))
        return LevelsOutcome(method, errors, _mean(zeros) if len(zeros) else None, _mean(apart_by), seconds)


def _mean(values: Any) -> float:
    return float(np.mean(values))


def released(setting: LevelsSetting, group: tuple[Method, ...], repeat: int) -> tuple[LevelsOutcome, ...]:
    """A group of methods, in one repeat."""
    if group == OURS:
        return _ours(setting, repeat)
    if group == INTERVALS:
        return (_intervals(setting, repeat),)
    return _others(setting, repeat) if group == OTHERS else _model(setting, repeat)


def _ours(setting: LevelsSetting, repeat: int) -> tuple[LevelsOutcome, ...]:
    found = [*_measured(setting, "measure", setting.asked, repeat)]
    if setting.with_cells is not None:
        found.append(_measured(setting, "measure, and cells", setting.with_cells, repeat)[0])
    found.append(_measured(setting, "measure, even shares", setting.even, repeat)[0])
    found.append(_measured(setting, "cells", setting.cells_alone, repeat)[0])
    return (*found, _default(setting, repeat))


def _measured(
    setting: LevelsSetting, method: Method, made: MeasurePlan, repeat: int
) -> tuple[LevelsOutcome, LevelsOutcome]:
    """The table, and the signed estimates beside it."""
    began = time.perf_counter()
    out = publish(made, draw(made, setting.study.table.counts, seeded(setting.seed(repeat))))
    seconds = time.perf_counter() - began
    design = setting.study.layout.design
    table = setting.judged(method, design.in_cells(out.counts), seconds)
    return table, _estimates(setting, dict(zip(made.answered, out.answers or ())))


def _estimates(setting: LevelsSetting, answers: Mapping[Question, AnswerTable]) -> LevelsOutcome:
    truth = setting.study.truth
    errors = {
        setting.name(q): _mean(np.abs(one.estimates / UNIT - truth[q])) for q, one in answers.items() if q in truth
    }
    return LevelsOutcome("estimates", errors)


def _default(setting: LevelsSetting, repeat: int) -> LevelsOutcome:
    table, spec = setting.study.table, KeepDistribution()
    made = distribution_plan.plan(table.schema, BUDGETS[setting.budget], spec)
    began = time.perf_counter()
    drawn = distribution_draw.draw(made, table.counts, seeded(setting.seed(repeat)))
    counts = distribution_publish.publish(made, drawn).counts
    seconds = time.perf_counter() - began
    return setting.judged("default", setting.study.layout.design.in_cells(counts), seconds)


def _others(setting: LevelsSetting, repeat: int) -> tuple[LevelsOutcome, ...]:
    def made(method: Method, chosen: MeasurePlan) -> LevelsOutcome:
        return _from_noisy(setting, method, chosen, repeat, top_down)

    return made("top-down", setting.asked), made("top-down, even shares", setting.even)


def _model(setting: LevelsSetting, repeat: int) -> tuple[LevelsOutcome, ...]:
    def fit(design: Any, noisy: Mapping[Question, Integers], spread: Mapping[Question, float]) -> Floats:
        total = float(combined_of(design, noisy, spread).estimate(Question(0)).ravel()[0])
        return fitted_model(design, noisy, spread, total)

    if not installed() or setting.study.large:
        return ()
    return (_from_noisy(setting, "mbi", setting.asked, repeat, fit),)


def _from_noisy(
    setting: LevelsSetting, method: Method, made: MeasurePlan, repeat: int, fit: Callable[..., Any]
) -> LevelsOutcome:
    """The very noise that the product has with this plan and this seed."""
    design = setting.study.layout.design
    drawn = draw(made, setting.study.table.counts, seeded(setting.seed(repeat)))
    noisy = apart(design, list(made.noise), drawn.noisy)
    began = time.perf_counter()
    cells = fit(design, noisy, variances(made.noise, ()))
    return setting.judged(method, cells, time.perf_counter() - began)


def draws_of(study: LevelsTable) -> int:
    return FEW if study.large else MANY


def _intervals(setting: LevelsSetting, repeat: int) -> LevelsOutcome:
    """Of many draws: an interval holds the truth where the estimate from noise alone is within its reach of zero."""
    made, design, bits = setting.asked, setting.study.layout.design, seeded(setting.seed(repeat))
    zeros, many = np.zeros(len(setting.study.table), dtype=np.int64), draws_of(setting.study)
    inside = dict.fromkeys(setting.reach, 0.0)
    spread = variances(made.noise, ())
    for _ in range(many):
        noisy = apart(design, list(made.noise), draw(made, zeros, bits).noisy)
        combined = combined_of(design, noisy, spread)
        for question, reach in setting.reach.items():
            off = np.abs(np.rint(combined.estimate(question).ravel() * UNIT))
            inside[question] += _mean(off <= reach) / many
    least = {setting.name(q): _least(made, q) for q in inside}
    return LevelsOutcome("intervals", {setting.name(q): share for q, share in inside.items()}, least=least)


def _least(made: MeasurePlan, question: Question) -> float:
    """The chance of the shortest interval that has 95%: more than that, where all noise is an entry's own and whole."""
    law = made.noise.get(question)
    if law is None:
        return LEVEL
    variance, own = made.spread.variance(question)[0], made.spread.own_weight(question)[0]
    if variance - own**2 * law.spread > 1e-6 * variance:
        return LEVEL
    half = law.masses(int(20 * np.sqrt(law.spread)) + 2)
    reach = np.cumsum(np.append(half[0], 2 * half[1:]))
    return float(reach[np.searchsorted(reach, LEVEL - 1e-12)])
