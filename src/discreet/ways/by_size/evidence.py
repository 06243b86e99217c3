"""What such a release tells an analyst: what groups of each size tell, put together."""

from __future__ import annotations

from typing import Any

from discreet.estimate.answers import Cut
from discreet.estimate.evidence import rows_evidence
from discreet.estimate.shares import CountShares
from discreet.estimate.sized import RowPart, put_together
from discreet.estimate.view import Estimate
from discreet.privacy.values import Remark
from discreet.record.release import Publication
from discreet.ways.by_size.draw import rows_by_size
from discreet.ways.by_size.facts import SizedFacts, of_one_size, sizes_of


def evidence(publication: Publication[SizedFacts], level: float) -> Estimate:
    mechanism = publication.record.facts.mechanism
    sizes = sizes_of(publication.categories, mechanism.column)
    parts = []
    for one, (size, rows) in zip(mechanism.sizes, rows_by_size(sizes), strict=True):
        part = of_one_size(publication, one, rows)
        parts.append(RowPart(rows, rows_evidence(part, one.form, top=size)))
    told, shares = put_together(tuple(parts)), CountShares(tuple(parts), level, by_size=True)
    return Estimate(
        told, publication.categories, level, shares, cut=Cut(by_size=True), largest=sizes.astype(float)
    )  # fmt: skip


def errors(publication: Publication[SizedFacts], _: Estimate | None) -> Any:
    """They differ from size to size: none is that of the table."""
    return None


def steps(publication: Publication[SizedFacts]) -> tuple[Remark, ...]:
    mechanism = publication.record.facts.mechanism
    return (Remark.of("drawn-by-size", mechanism=mechanism.name, sizes=len(mechanism.sizes), column=mechanism.column),)
