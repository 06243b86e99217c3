"""That answers follow from the published measurements, and the table from the published answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Integers
from discreet.io.coded import key_columns
from discreet.lattice.invariants import invariant_matrix
from discreet.lattice.structure import structure_of
from discreet.laws import NoiseLaw
from discreet.levels.combine import Spread
from discreet.levels.design import Question
from discreet.levels.either import spread_of
from discreet.levels.layout import Layout, kept_questions
from discreet.record.release import AnswerTable, Publication
from discreet.ways.keep_sums.replay import sums_fit
from discreet.ways.measure.evidence import layout_of_release, told_by
from discreet.ways.measure.facts import MeasuredMargins, MeasureFacts
from discreet.ways.measure.follow import Heard, errors_of, mapped, mapped_leaves, table, targets_of, units, variances

if TYPE_CHECKING:
    from discreet.levels.regress import RaggedSpread

APART = 2  # units of 1/10,000 by which another machine may find another number
PARTS_APART = 1e-11  # and parts of an estimate, for large ones
REACH_APART = 1e-7  # and parts of the reach of an interval, which is found by an integral
LEAVES_APART = 1e-4  # of all leaves, and one more: by so much may a mapped histogram differ


def replay(publication: Publication[MeasureFacts]) -> list[str]:
    mechanism, layout = publication.record.facts.mechanism, layout_of_release(publication)
    if publication.answers is None:
        return ["The release has no file of answers."]
    kept = _kept_tables(layout, publication)
    noise = {layout.question(one.question): one.noise for one in mechanism.questions}
    spread = spread_of(layout.design, variances(noise, tuple(kept)))
    problems = [*_kept(publication), *_names(mechanism, layout, spread)]
    if problems:
        return problems
    answers = dict(zip((layout.question(what) for what in mechanism.answers), publication.answers))
    problems += [*_counts(publication, layout, answers), *_errors(layout, spread, noise, answers)]
    told = told_by(publication, layout)
    problems += _sums(layout, answers) if told is None else _estimates(told, answers)
    problems += _histogram(layout, told, noise, mechanism.histogram)
    if problems:
        return problems
    targets = layout.design.in_cells(publication.counts).ravel() if mechanism.histogram is not None else None
    if told is not None:  # else only the sums that the leaves were fitted to can be checked
        targets = targets_of(answers, told, mechanism.histogram)
    again = table(layout, answers, kept, targets)
    right = np.array_equal(again, publication.counts)
    return [] if right else ["The table does not follow from the published answers."]


def _names(mechanism: MeasuredMargins, layout: Layout, spread: Spread | RaggedSpread) -> list[str]:
    """Every question has the one name there is for it, and all that is measured or known of the cells is answered."""
    measured, design = [layout.question(one.question) for one in mechanism.questions], layout.design
    answered = [layout.question(what) for what in mechanism.answers]
    asked = [one.question for one in mechanism.questions]
    for what, question in zip((*mechanism.answers, *asked), (*answered, *measured)):
        if layout.name(question) != what:
            return [f"A question is called {what}, and its name is {layout.name(question)}."]
    if mechanism.levels != layout.levels:
        return ["The levels of the key columns are not all named."]
    for those in (answered, measured):
        if those != [question for question in design.questions() if question in set(those)]:
            return ["Questions are asked or answered twice, or in another order than they have."]
    if not set(measured) <= set(answered) or (spread.known(design.cells) and design.cells not in answered):
        return ["A question that was measured, or is known, is not answered."]
    unknown = next((question for question in answered if not spread.known(question)), None)
    return (
        [] if unknown is None else [f"{layout.name(unknown)} is answered, though nothing that was measured tells it."]
    )


def _kept_tables(layout: Layout, publication: Publication[MeasureFacts]) -> dict[Question, Integers]:
    invariants = publication.record.facts.invariants
    cells = layout.design.in_cells(publication.counts)
    kept = kept_questions(layout, () if invariants is None else invariants.kept)
    return {question: layout.design.answer(cells, question) for question in kept}


def _kept(publication: Publication[MeasureFacts]) -> list[str]:
    """Every kept sum is there, and what is said about them."""
    published = publication.record.facts.invariants
    if published is None:
        return []
    keys = key_columns(publication.categories, publication.record.schema.keys)
    invariants = invariant_matrix(published.kept, keys, len(publication.counts))
    return sums_fit(published, invariants, structure_of(invariants), publication.counts)


def _counts(publication: Publication[MeasureFacts], layout: Layout, answers: dict[Question, AnswerTable]) -> list[str]:
    """The counts beside the answers are those of the table, and none is negative."""
    cells = layout.design.in_cells(publication.counts)
    for question, one in answers.items():
        if not np.array_equal(layout.design.answer(cells, question).ravel(), one.counts):
            return [f"The counts beside the answers to {layout.name(question)} are not those of the table."]
    return ["The table has a negative count."] if publication.counts.min() < 0 else []


def _errors(
    layout: Layout, spread: Spread | RaggedSpread, noise: dict[Question, NoiseLaw], answers: dict[Question, AnswerTable]
) -> list[str]:
    """Standard deviations and the reach of intervals follow from the noise, whatever was measured."""
    problems = []
    for question, one in answers.items():
        name = layout.name(question)
        deviations, reach = errors_of(layout.design, spread, noise, question)
        if _differ(one.deviations, deviations, REACH_APART):
            problems.append(f"The standard deviations of {name} do not follow from the noise.")
        ends = (one.high - one.estimates, one.estimates - one.low)
        if any(_differ(end, reach, REACH_APART) for end in ends):
            problems.append(f"The intervals of {name} do not follow from the noise.")
    return problems


def _estimates(told: Heard, answers: dict[Question, AnswerTable]) -> list[str]:
    combined = told.combined()
    again = {question: units(combined.estimate(question).ravel()) for question in answers}
    wrong = [q for q, one in answers.items() if _differ(one.estimates, again[q], PARTS_APART)]
    return [f"The estimates of {told.layout.name(q)} do not follow from the measurements." for q in wrong]


def _sums(layout: Layout, answers: dict[Question, AnswerTable]) -> list[str]:
    """Where nothing else can be checked: estimates add up, but for their rounding."""
    design, cells = layout.design, answers.get(layout.design.cells)
    if cells is None:
        return []
    estimates = cells.estimates.reshape(design.table_shape(design.cells))
    ones = np.ones_like(estimates)
    for question, one in answers.items():
        off = np.abs(design.answer(estimates, question).ravel() - one.estimates)
        if (off > APART + design.answer(ones, question).ravel() + PARTS_APART * np.abs(one.estimates)).any():
            return [f"The estimates of the cells do not add up to those of {layout.name(question)}."]
    return []


def _differ(one: Integers, other: Integers, parts: float) -> bool:
    return bool((np.abs(one - other) > APART + parts * np.abs(other)).any())


def _histogram(
    layout: Layout, told: Heard | None, noise: dict[Question, NoiseLaw], published: Integers | None
) -> list[str]:
    """Leaves are mapped where they have no attributes and were measured one by one, and as the measurements say."""
    design = layout.design
    if (published is not None) != (mapped_leaves(design, noise) is not None):
        return ["The release tells of leaves that were mapped, or does not."]
    if published is None:
        return []
    if (published < 0).any() or published.sum() != design.entries(design.cells):
        return ["The histogram of the leaves does not have as many as there are."]
    again = None if told is None else mapped(told)
    if again is None:
        return []
    if len(again) != len(published):
        return ["The histogram of the leaves does not fit the measurements."]
    apart = np.abs(np.cumsum(published - again)).sum()
    near = apart <= 1 + LEAVES_APART * again.sum()
    return [] if near else ["The histogram of the leaves does not follow from the measurements."]
