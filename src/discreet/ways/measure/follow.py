"""From what was measured to answers and a table: what `publish` does, and `replay` does again.

Answers are published as whole multiples of 1/UNIT, and the table follows from these alone, in whole numbers. So
another machine, whose last digits are others, comes to the same table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.laws import NoiseLaw
from discreet.levels.combine import Combined
from discreet.levels.design import Question
from discreet.levels.either import Design, combined_of, table_of
from discreet.levels.fixed import UNIT
from discreet.levels.intervals import half_widths
from discreet.levels.layout import Layout
from discreet.public_map import rank_rows, seen_of
from discreet.record.release import AnswerTable

if TYPE_CHECKING:
    from discreet.levels.combine import Spread
    from discreet.levels.regress import RaggedCombined, RaggedSpread
    from discreet.report.errors import Errors

LEVEL = 0.95  # of the intervals that are published


@dataclass(frozen=True, eq=False)
class Heard:
    """Noisy answers with the laws of their noise, and exact ones."""

    layout: Layout
    noise: dict[Question, NoiseLaw]
    noisy: dict[Question, Integers]
    kept: dict[Question, Integers]

    def combined(self) -> Combined | RaggedCombined:
        told = {**self.noisy, **self.kept}
        return combined_of(self.layout.design, told, variances(self.noise, tuple(self.kept)))


def variances(noise: Mapping[Question, NoiseLaw], kept: tuple[Question, ...]) -> dict[Question, float]:
    """Of the noise of every question; none where it is kept."""
    return {**{question: law.spread for question, law in noise.items()}, **dict.fromkeys(kept, 0.0)}


def apart(design: Design, questions: list[Question], noisy: Integers) -> dict[Question, Integers]:
    """Noisy answers of one question after the other, by question."""
    ends = np.cumsum([design.entries(question) for question in questions])
    parts = np.split(noisy, ends[:-1])
    return {question: part.reshape(design.table_shape(question)) for question, part in zip(questions, parts)}


def answer(told: Heard, combined: Combined | RaggedCombined, question: Question) -> AnswerTable:
    """Estimates, standard deviations and intervals of a question's entries; the counts are yet to come."""
    middle = units(combined.estimate(question).ravel())
    deviations, reach = errors_of(told.layout.design, combined, told.noise, question)
    return AnswerTable(np.zeros_like(middle), middle, deviations, middle - reach, middle + reach)


def errors_of(
    design: Design, spread: Spread | RaggedSpread, noise: Mapping[Question, NoiseLaw], question: Question
) -> tuple[Integers, Integers]:
    """Standard deviations of a question's entries, and how far their intervals reach: they follow from public facts."""
    variance = design.by_entry(spread.variance(question), question)
    width = design.by_entry(half_widths(spread, noise, question, LEVEL), question)
    return units(np.sqrt(variance)), np.ceil(width * UNIT - 1e-6).astype(np.int64)


def units(values: Floats) -> Integers:
    return np.rint(values * UNIT).astype(np.int64)


def mapped(told: Heard) -> Integers | None:
    """How many leaves are to have each count, where leaves have no attributes and were measured one by one: their
    noisy values are mapped so that the distribution of counts is kept, before they are fitted to their sums."""
    leaves = mapped_leaves(told.layout.design, told.noise)
    return None if leaves is None else _histogram(told, leaves)


def estimated_histogram(told: Heard) -> Integers | None:
    """How many cells have each count, as far as their own noisy values tell; None where these were not measured."""
    cells = _measured_cells(told.layout.design, told.noise)
    return None if cells is None else _histogram(told, cells)


def _histogram(told: Heard, cells: Question) -> Integers:
    from discreet.ways.keep_distribution.follow import Noisy, least_error

    return least_error(Noisy(seen_of(told.noisy[cells].ravel()), told.noise[cells], None), None, None).histogram


def errors_of_cells(told: Heard, counts: Integers) -> Errors | None:
    """How far these counts are off, as far as the cells' own noisy values tell."""
    from discreet.report.errors import seen_through
    from discreet.ways.keep_distribution.facts import too_wide
    from discreet.ways.keep_distribution.follow import Noisy

    cells = _measured_cells(told.layout.design, told.noise)
    if cells is None or too_wide(told.noise[cells]):
        return None
    values, law = told.noisy[cells].ravel(), told.noise[cells]
    return seen_through(values, counts, law, Noisy(seen_of(values), law, None).fitted().distribution)


def mapped_leaves(design: Design, noise: Mapping[Question, NoiseLaw]) -> Question | None:
    """The question whose noisy values are mapped: the cells, if these were measured and have no attributes."""
    return None if design.plain(design.cells).attributes else _measured_cells(design, noise)


def _measured_cells(design: Design, noise: Mapping[Question, NoiseLaw]) -> Question | None:
    """The cells, or a question with the same entries."""
    cells = design.plain(design.cells)
    return next((question for question in reversed(list(noise)) if design.plain(question) == cells), None)


def targets_of(answers: dict[Question, AnswerTable], told: Heard, histogram: Integers | None) -> Integers | None:
    """What noisy leaves were mapped to."""
    leaves = mapped_leaves(told.layout.design, told.noise)
    if histogram is None or leaves is None:
        return None
    return rank_rows(told.noisy[leaves].ravel(), histogram, _seed(answers))


def table(
    layout: Layout, answers: dict[Question, AnswerTable], kept: dict[Question, Integers], targets: Integers | None
) -> Integers:
    """The counts of all rows, from published answers alone; and from targets of the leaves, where these were mapped."""
    design, seed = layout.design, _seed(answers)
    estimates = {q: one.estimates.reshape(design.table_shape(q)) for q, one in answers.items()}
    deviations = {q: one.deviations.reshape(design.table_shape(q)) for q, one in answers.items()}
    counts: Integers = design.in_rows(table_of(design, estimates, deviations, kept, seed, targets))
    return counts


def _seed(answers: dict[Question, AnswerTable]) -> str:
    """Public words that decide among equals are expanded from the answers themselves."""
    found = sha256()
    for one in answers.values():
        found.update(one.estimates.astype("<i8").tobytes())
    return found.hexdigest()
