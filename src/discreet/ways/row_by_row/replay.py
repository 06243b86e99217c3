"""That the table is the measurements, clamped."""

from __future__ import annotations

import numpy as np

from discreet.mechanism import NoiseThenMap, possible_outputs
from discreet.record.release import Publication
from discreet.ways.row_by_row.facts import RowFacts


def replay(publication: Publication[RowFacts]) -> list[str]:
    record = publication.record
    top, counts = record.schema.max_count, publication.counts
    if record.facts.mechanism.max_count != top:
        return ["The largest count of the schema is not that of the mechanism."]
    if top is not None and len(counts) and (counts.min() < 0 or counts.max() > top):
        return [f"The table holds counts outside 0..{top}."]
    form = record.facts.mechanism.form
    if publication.measured is None:
        possible = possible_outputs(form, int(counts.max(initial=0)))
        fits = possible is None or np.isin(counts, possible).all()
        return [] if fits else ["The table holds a count that cannot come out of the mechanism."]
    if not isinstance(form, NoiseThenMap) or form.clamp is None:
        return ["The release has a file of measurements, but its counts are all there is to measure."]
    wrong = np.flatnonzero(np.clip(publication.measured, *form.clamp) != counts)
    return [f"Row {int(wrong[0]) + 1} of the table does not follow from its measurement."] if len(wrong) else []
