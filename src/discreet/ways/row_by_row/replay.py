"""That the table is the measurements, clamped."""

from __future__ import annotations

import numpy as np

from discreet.mechanism import NoiseThenMap, can_come_out
from discreet.record.release import Publication
from discreet.ways.row_by_row.facts import RowFacts, has_own_delta


def replay(publication: Publication[RowFacts]) -> list[str]:
    record = publication.record
    top, counts = record.schema.max_count, publication.counts
    if record.facts.mechanism.max_count != top:
        return ["The largest count of the schema is not that of the mechanism."]
    form = record.facts.mechanism.form
    most = None if top is None else form.shape[1] - 1  # some mechanisms publish more than any count
    if most is not None and len(counts) and (counts.min() < 0 or counts.max() > most):
        return [f"The table holds counts outside 0..{most}."]
    if has_own_delta(form) and not _within_reach(publication):
        return ["The table, or a measurement, is further from every count there can be than the noise leads."]
    if publication.measured is None:
        return [] if can_come_out(form, counts) else ["The table holds a count that cannot come out of the mechanism."]
    if not isinstance(form, NoiseThenMap) or form.clamp is None:
        return ["The release has a file of measurements, but its counts are all there is to measure."]
    wrong = np.flatnonzero(np.clip(publication.measured, *form.clamp) != counts)
    return [f"Row {int(wrong[0]) + 1} of the table does not follow from its measurement."] if len(wrong) else []


def _within_reach(publication: Publication[RowFacts]) -> bool:
    """Bounded noise leads no further than its largest error below the smallest count, or above the largest."""
    mechanism, measured = publication.record.facts.mechanism, publication.measured
    assert mechanism.noise is not None, "it has a largest error"
    reach, top = mechanism.noise.centre[1], publication.record.schema.max_count
    seen, least = publication.counts if measured is None else measured, (mechanism.min_count or 0) - reach
    return len(seen) == 0 or bool(seen.min() >= least and (top is None or seen.max() <= top + reach))
