"""Whether the published table can have come out of such a release, column by column."""

from __future__ import annotations

from discreet.record.release import Publication
from discreet.ways.by_share.facts import SharedFacts, of_one_column, rows_of
from discreet.ways.row_by_row.replay import replay as replay_rows


def replay(publication: Publication[SharedFacts]) -> list[str]:
    mechanism = publication.record.facts.mechanism
    groups = rows_of(publication.categories, mechanism.column, [one.counted for one in mechanism.shares])
    problems = []
    for one, rows in zip(mechanism.shares, groups):
        found = replay_rows(of_one_column(publication, one, rows))
        problems += [f"Among the rows of {one.counted!r}: {problem}" for problem in found]
    return problems
