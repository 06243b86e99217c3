"""Whether the published table can have come out of such a release, row by row and size by size."""

from __future__ import annotations

from discreet.record.release import Publication
from discreet.ways.by_size.draw import rows_by_size
from discreet.ways.by_size.facts import SizedFacts, of_one_size, sizes_of
from discreet.ways.row_by_row.replay import replay as replay_rows


def replay(publication: Publication[SizedFacts]) -> list[str]:
    mechanism = publication.record.facts.mechanism
    groups = rows_by_size(sizes_of(publication.categories, mechanism.column))
    if publication.record.schema.max_count != mechanism.sizes[-1].max_count or len(groups) != len(mechanism.sizes):
        return ["The largest count of the schema is not that of the mechanism."]
    problems = []
    for one, (size, rows) in zip(mechanism.sizes, groups):
        found = replay_rows(of_one_size(publication, one, rows))
        problems += [f"Among groups of {size}: {problem}" for problem in found]
    return problems
