"""What such a release tells an analyst: what the rows of each column tell, put together."""

from __future__ import annotations

import numpy as np

from discreet.estimate.answers import Cut
from discreet.estimate.evidence import rows_evidence
from discreet.estimate.shares import CountShares
from discreet.estimate.sized import RowPart, put_together
from discreet.estimate.view import Estimate
from discreet.mechanism import NoiseThenMap
from discreet.privacy.values import Remark
from discreet.record.release import Publication
from discreet.report.errors import ColumnError, Errors
from discreet.ways.by_share.facts import SharedFacts, of_one_column, rows_of
from discreet.ways.row_by_row.evidence import errors as errors_of_rows


def evidence(publication: Publication[SharedFacts], level: float) -> Estimate:
    record = publication.record
    mechanism, top = record.facts.mechanism, record.schema.max_count
    groups = rows_of(publication.categories, mechanism.column, [one.counted for one in mechanism.shares])
    parts = tuple(
        RowPart(rows, rows_evidence(of_one_column(publication, one, rows), one.form, top=top))
        for one, rows in zip(mechanism.shares, groups)
    )
    told, shares = put_together(parts), CountShares(parts, level)
    largest = None if top is None else np.full(record.schema.rows, float(top))
    return Estimate(told, publication.categories, level, shares, cut=Cut(top), largest=largest)


def errors(publication: Publication[SharedFacts], _: Estimate | None) -> Errors:
    """They differ from column to column: none is that of the table."""
    mechanism, nothing = publication.record.facts.mechanism, np.zeros(0)
    groups = rows_of(publication.categories, mechanism.column, [one.counted for one in mechanism.shares])
    found = []
    for one, rows in zip(mechanism.shares, groups):
        told = errors_of_rows(of_one_column(publication, one, rows), None)
        found.append(ColumnError(one.counted, len(rows), None if told is None else told.typical))
    return Errors(nothing, nothing, None, apart=tuple(found))


def unbiased(publication: Publication[SharedFacts]) -> bool:
    """Noise that goes up as often as down, and nothing after it."""
    forms = [one.form for one in publication.record.facts.mechanism.shares]
    return all(isinstance(form, NoiseThenMap) and form.clamp is None for form in forms)


def steps(publication: Publication[SharedFacts]) -> tuple[Remark, ...]:
    mechanism = publication.record.facts.mechanism
    return (Remark.of("drawn-by-share", mechanism=mechanism.name, columns=len(mechanism.shares)),)
