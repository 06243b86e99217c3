"""What a release row by row tells an analyst: a value for each row, and how it came from the true count."""

from __future__ import annotations

from discreet.estimate.answers import Estimate
from discreet.estimate.evidence import rows_evidence
from discreet.mechanism import Mechanism
from discreet.privacy.values import Remark
from discreet.record.release import Publication
from discreet.report.errors import Errors, errors_of
from discreet.ways.row_by_row.facts import RowFacts


def evidence(publication: Publication[RowFacts], level: float) -> Estimate:
    form, top = publication.record.facts.mechanism.form, publication.record.schema.max_count
    return Estimate(rows_evidence(publication, form, top=top), level)


def errors(publication: Publication[RowFacts]) -> Errors | None:
    mechanism = publication.record.facts.mechanism
    return errors_of(Mechanism(mechanism.name, mechanism.form))


def steps(publication: Publication[RowFacts]) -> tuple[Remark, ...]:
    return (Remark.of("rows-drawn", mechanism=publication.record.facts.mechanism.name),)
