"""What a release that measured margins tells an analyst."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.arrays import Integers
from discreet.estimate.measured import MeasuredRows
from discreet.estimate.possible import KeptBounds
from discreet.estimate.view import Estimate
from discreet.io.coded import key_columns
from discreet.lattice.invariants import invariant_matrix
from discreet.levels.asked import Cells
from discreet.levels.either import spread_of
from discreet.levels.fixed import UNIT
from discreet.levels.layout import Layout, kept_questions, layout_of
from discreet.privacy.values import Remark
from discreet.record.release import Publication
from discreet.report.errors import Errors
from discreet.table import Schema
from discreet.ways.measure.facts import MeasureFacts
from discreet.ways.measure.follow import Heard, apart, errors_of_cells, estimated_histogram, variances


def layout_of_release(publication: Publication[MeasureFacts]) -> Layout:
    schema = publication.record.schema
    keys = Schema(schema.keys, schema.count, len(publication.counts), publication.categories)
    return layout_of(keys, publication.record.facts.mechanism.levels)


def told_by(publication: Publication[MeasureFacts], layout: Layout) -> Heard | None:
    """The noisy answers and the kept ones; None where the measurements are not published."""
    facts, design = publication.record.facts, layout.design
    if publication.measured is None:
        return None
    noise = {layout.question(one.question): one.noise for one in facts.mechanism.questions}
    kept = kept_questions(layout, () if facts.invariants is None else facts.invariants.kept)
    cells = design.in_cells(publication.counts)
    noisy = apart(design, list(noise), publication.measured)
    return Heard(layout, noise, noisy, {question: design.answer(cells, question) for question in kept})


def evidence(publication: Publication[MeasureFacts], level: float) -> Estimate:
    """From the measurements; or, where these are not published, from the answers that were made from them."""
    layout, facts = layout_of_release(publication), publication.record.facts
    heard = told_by(publication, layout)
    noise = {layout.question(one.question): one.noise for one in facts.mechanism.questions}
    why = "the release measures sums, and its estimates are of sums"
    if heard is not None:
        combined = heard.combined()
        told = MeasuredRows(layout, combined, noise, lambda question: combined.estimate(question).ravel())
        return Estimate(told, publication.categories, level, why_only_sums=why, kept=_bounds(publication))
    kept = kept_questions(layout, () if facts.invariants is None else facts.invariants.kept)
    spread = spread_of(layout.design, variances(noise, kept))
    answered = {
        layout.question(what): one.estimates / UNIT
        for what, one in zip(facts.mechanism.answers, publication.answers or ())
    }
    told = MeasuredRows(layout, spread, noise, answered.get)
    return Estimate(told, publication.categories, level, why_only_sums=why, kept=_bounds(publication))


def _bounds(publication: Publication[MeasureFacts]) -> KeptBounds | None:
    """What sums can be beside those that are kept, if some are."""
    facts = publication.record.facts.invariants
    if facts is None or not facts.kept:
        return None
    kept, categories = facts.kept, publication.categories
    keys = key_columns(categories, categories.column_names)
    return KeptBounds(lambda: invariant_matrix(kept, keys).matrix, publication.counts)


def errors(publication: Publication[MeasureFacts], _: Estimate | None) -> Errors | None:
    """Of the counts of the table, where cells were measured; every question has an error of its own beside that."""
    layout = layout_of_release(publication)
    told = told_by(publication, layout)
    return None if told is None else errors_of_cells(told, layout.design.in_cells(publication.counts).ravel())


def steps(publication: Publication[MeasureFacts]) -> tuple[Remark, ...]:
    return tuple(_steps(publication))


def _steps(publication: Publication[MeasureFacts]) -> Iterator[Remark]:
    facts = publication.record.facts
    deviations = {}
    for what, one in zip(facts.mechanism.answers, publication.answers or ()):
        deviations[what] = float(np.sqrt(np.mean((one.deviations / UNIT) ** 2)))
    for asked in facts.mechanism.questions:
        deviation = f"{deviations.get(asked.question, float('nan')):.3g}"
        percent = f"{float(100 * asked.share):.3g}"
        yield Remark.of("measured-question", question=str(asked.question), percent=percent, deviation=deviation)
    yield Remark("combined")
    if facts.mechanism.histogram is None:
        yield Remark("one-table-made")
        told = told_by(publication, layout_of_release(publication))
        histogram = None if told is None else estimated_histogram(told)
        if histogram is not None:
            yield Remark.of("distribution-apart", apart=f"{_apart(publication.counts, histogram):.2g}")
    else:
        apart_by = _apart(publication.counts, facts.mechanism.histogram)
        yield Remark.of("one-table-made-and-mapped", apart=f"{apart_by:.2g}")
    if Cells() not in facts.mechanism.answers:
        yield Remark("cells-made-alike")


def _apart(counts: Integers, histogram: Integers) -> float:
    """The Wasserstein distance of the published counts from the distribution that was estimated; nan if the record
    tells of no such distribution."""
    if histogram.min(initial=0) < 0 or histogram.sum() != len(counts):
        return float("nan")
    return float(np.abs(np.sort(counts) - np.repeat(np.arange(len(histogram)), histogram)).mean())
