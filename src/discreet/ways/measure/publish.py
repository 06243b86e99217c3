"""From what was measured to what people see: public post-processing, which anybody can replay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.lattice.disclosure import fixed_rows
from discreet.ways import Published
from discreet.ways.keep_sums.facts import InvariantFacts
from discreet.ways.measure.draw import Drawn
from discreet.ways.measure.facts import NAME, MeasuredMargins, MeasureFacts, QuestionFacts
from discreet.ways.measure.follow import Heard, answer, apart, mapped, table, targets_of
from discreet.ways.measure.plan import MeasurePlan


def publish(plan: MeasurePlan, drawn: Drawn) -> Published[MeasureFacts]:
    layout, design = plan.layout, plan.layout.design
    told = Heard(layout, plan.noise, apart(design, list(plan.noise), drawn.noisy), drawn.kept)
    combined, histogram = told.combined(), mapped(told)
    answers = {question: answer(told, combined, question) for question in plan.answered}
    targets = targets_of(answers, told, histogram)
    counts = table(layout, answers, drawn.kept, targets)
    cells = design.in_cells(counts)
    shown = tuple(replace(one, counts=design.answer(cells, q).ravel()) for q, one in answers.items())
    questions = tuple(
        QuestionFacts(layout.name(q), q in plan.asked, plan.chosen.shares[q], law) for q, law in plan.noise.items()
    )
    names = tuple(layout.name(question) for question in plan.answered)
    mechanism = MeasuredMargins(NAME, layout.levels, questions, names, histogram)
    facts = MeasureFacts(mechanism, _invariants(plan, drawn, counts))
    return Published(counts, drawn.noisy, plan.guarantee, facts, answers=shown)


def _invariants(plan: MeasurePlan, drawn: Drawn, counts: np.ndarray) -> InvariantFacts | None:
    if plan.invariants is None or plan.structure is None or drawn.sums is None:
        return None
    kept, structure = plan.invariants, plan.structure
    fixed = fixed_rows(structure, counts)
    return InvariantFacts(kept.kept, kept.labels, drawn.sums, structure.determined + 1, fixed, structure.dimensions)
