"""That every column's mechanism is as private as its share, and that the shares are the whole. No builder is known."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.mechanism import NoiseThenMap
from discreet.privacy.values import Approximate
from discreet.record.release import Publication
from discreet.ways.by_share.facts import (
    SharedFacts,
    noise_of,
    of_one_column,
    remarks_of,
    rows_of,
    shared_neighbours,
)  # fmt: skip
from discreet.ways.row_by_row.prove import prove_one


def prove(publication: Publication[SharedFacts]) -> list[str]:
    record = publication.record
    problems = _shape(publication)
    if problems:
        return problems
    parts, promise = record.facts.mechanism.shares, record.guarantee
    people = promise.unit.contributions
    noises = [noise_of(one.form) for one in parts]
    if record.certificate is not None:
        problems.append("The release has a certificate of something it does not claim.")
    if promise.unit != shared_neighbours(noises, promise.loss, people):
        problems.append("The guarantee is about other neighbours than the columns of counts and their noise say.")
    if promise.remarks != remarks_of(parts[0].form, [(one.counted, one.share) for one in parts]):
        problems.append("The guarantee's remarks are not those that belong to such a release.")
    none, grades = np.zeros(0, dtype=np.int64), set()
    for one in parts:
        part = of_one_column(publication, one, none)
        grades.add(part.record.guarantee.grade)
        problems += [f"Column {one.counted!r}: {problem}" for problem in prove_one(part)]
    if grades != {promise.grade}:
        problems.append("The grade of the guarantee is not the one of such a release.")
    return problems


def _shape(publication: Publication[SharedFacts]) -> list[str]:
    """The columns are those of the rows, the shares are the whole, and one person is counted alike in all of them."""
    record = publication.record
    mechanism, unit = record.facts.mechanism, record.guarantee.unit
    parts = mechanism.shares
    if isinstance(record.guarantee.loss, Approximate) or len(parts) < 2:
        return ["There are no shares of such a promise."]
    if mechanism.column not in record.schema.keys:
        return [f"There is no key column {mechanism.column!r} that says which rows are of which column of counts."]
    shares = [one.share for one in parts]
    if sum(shares, Fraction(0)) != 1 or min(shares) <= 0:
        return ["The shares of the columns are not the whole, or one is none."]
    rows = rows_of(publication.categories, mechanism.column, [one.counted for one in parts])
    if not np.array_equal(np.sort(np.concatenate(rows)), np.arange(publication.categories.num_rows)):
        return ["The columns that there are mechanisms for are not those of the rows."]
    if min(len(some) for some in rows) == 0:
        return ["A column that there is a mechanism for has no rows."]
    if unit.contributions < 1 or record.schema.contributions != unit.contributions * len(parts):
        return ["The contributions of one person are not the same in every column."]
    ranges = {(type(one.form), one.form.clamp if isinstance(one.form, NoiseThenMap) else None) for one in parts}
    return [] if len(ranges) == 1 else ["The mechanisms of different columns are of different kinds."]
