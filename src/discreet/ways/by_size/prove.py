"""That every size's mechanism is as private as the release claims. Nothing here knows how they were built."""

from __future__ import annotations

import numpy as np

from discreet.mechanism import NoiseThenMap
from discreet.record.release import Publication
from discreet.ways.by_size.facts import SizedFacts, of_one_size, remarks_of, sizes_of
from discreet.ways.row_by_row.facts import need_no_delta
from discreet.ways.row_by_row.prove import NEEDLESS, prove_one


def prove(publication: Publication[SizedFacts]) -> list[str]:
    record = publication.record
    mechanism, none = record.facts.mechanism, np.zeros(0, dtype=np.int64)
    limits = sizes_of(publication.categories, mechanism.column)
    if [one.max_count for one in mechanism.sizes] != np.unique(limits).tolist():
        return ["The sizes that there are mechanisms for are not those of the groups."]
    problems = []
    if record.certificate is not None:
        problems.append("The release has a certificate of something it does not claim.")
    if record.guarantee.remarks != remarks_of(mechanism.column):
        problems.append("The guarantee's remarks are not those that belong to such a release.")
    if len({isinstance(one.form, NoiseThenMap) for one in mechanism.sizes}) != 1:
        problems.append("The mechanisms of different sizes are of different kinds.")
    if len({one.form.noise for one in mechanism.sizes if isinstance(one.form, NoiseThenMap)}) > 1:
        problems.append("The noise of different sizes is not the same.")
    if need_no_delta([one.form for one in mechanism.sizes], record.guarantee.loss, record.schema.contributions):
        problems.append(NEEDLESS)
    for one in mechanism.sizes:
        part = of_one_size(publication, one, none)
        if part.record.facts.mechanism.max_count != one.max_count:
            problems.append(f"The mechanism for groups of {one.max_count} is for others.")
        problems += [f"Groups of {one.max_count}: {problem}" for problem in prove_one(part)]
    return problems
