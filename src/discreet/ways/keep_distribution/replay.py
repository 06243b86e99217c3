"""That the largest count, the distribution, the map and the table follow from the published measurements."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.max_count import border_of
from discreet.distribution.privatizer import estimated
from discreet.distribution.projections import integer_bins
from discreet.distribution.refine import refine
from discreet.mechanism import NoiseThenMap, possible_outputs
from discreet.public_map import LARGEST_RANGE, MAP_BITS, PublicMap, map_each, map_onto, rank_rows
from discreet.record.release import Publication
from discreet.ways.keep_distribution.facts import DistributionFacts, KeptDistribution
from discreet.ways.keep_distribution.spec import LARGEST_MAPPED

TOLERANCE = 1e-6  # refinement is numerical: another machine may differ in the last digits


def replay(publication: Publication[KeptDistribution]) -> list[str]:
    return [*_max_count(publication), *_distribution(publication), *_map(publication), *_table(publication)]


def _max_count(publication: Publication[KeptDistribution]) -> list[str]:
    record, measured = publication.record, publication.measured
    mechanism, top = record.facts.mechanism, record.schema.max_count
    bought = mechanism.bought_max_count
    if bought is not None and top != border_of(bought.above, len(publication.counts), bought.quantile, bought.odds):
        return ["The largest count does not follow from its measurement."]
    if not isinstance(mechanism.form, NoiseThenMap):
        fits = mechanism.form.shape[0] - 1 == top
    else:
        expected = top if top is not None else None if measured is None else max(1, int(measured.max()))
        clamp = mechanism.form.clamp
        fits = clamp is not None and clamp[0] == 0 and expected in (None, clamp[1])
    return [] if fits else ["The range of the map is not the one of the schema."]


def _distribution(publication: Publication[KeptDistribution]) -> list[str]:
    published, clamp = publication.record.facts.distribution, publication.record.facts.mechanism.clamp
    if published is None:
        wide = clamp is not None and clamp[1] > LARGEST_MAPPED
        return [] if wide else ["The distribution of counts is missing."]
    if len(published.distribution) != _bins(publication):
        return ["The published distribution is not one of the counts that rows can have."]
    expected, bins, rows = _expected(publication, published), published.histogram, len(publication.counts)
    if bins is not None and (bins.sum() != rows or _apart(published.distribution, bins / bins.sum())):
        return ["The published distribution is not the one of the published histogram."]
    if expected is None:
        return []
    if bins is not None:
        if len(bins) != len(expected) or np.abs(np.cumsum(bins - integer_bins(expected, rows))).max() > 1:
            return ["The published histogram does not follow from the measurements."]
        return []
    off = _apart(published.distribution, expected)
    return ["The published distribution does not follow from the measurements."] if off else []


def _bins(publication: Publication[KeptDistribution]) -> int:
    """How many counts a row can have."""
    form = publication.record.facts.mechanism.form
    if not isinstance(form, NoiseThenMap):
        return form.shape[1]
    return 0 if form.clamp is None else form.clamp[1] + 1


def _apart(one: Floats, other: Floats) -> bool:
    return len(one) != len(other) or bool(np.abs(one - other).max() > TOLERANCE)


def _expected(publication: Publication[KeptDistribution], published: DistributionFacts) -> Floats | None:
    """What the measurements make of the distribution; None where they are not published."""
    mechanism, rows = publication.record.facts.mechanism, len(publication.counts)
    answers = published.measurements
    if answers is not None and published.method is not None and not mechanism.refined:
        return estimated(published.method, answers, rows, len(published.distribution))
    if publication.measured is None or mechanism.clamp is None or mechanism.noise is None:
        return None
    top = mechanism.clamp[1]
    seen = np.bincount(np.clip(publication.measured, 0, top), minlength=top + 1)
    return refine(seen, mechanism.noise, answers, published.noise)


def _map(publication: Publication[KeptDistribution]) -> list[str]:
    """A map is about the values there can be; a mechanism of the published distribution leaves it as it is."""
    facts = publication.record.facts
    form, published = facts.mechanism.form, facts.distribution
    if not isinstance(form, NoiseThenMap):
        assert published is not None, "which has been found"
        moved = np.abs(published.distribution @ form.matrix() - published.distribution).max()
        return [] if moved <= TOLERANCE else ["The mechanism does not keep the published distribution."]
    if form.map is None or form.clamp is None:
        return []
    top, ends = form.clamp[1], form.map.keys
    fits = (form.map.first, form.map.bits) == (0, MAP_BITS) and top < LARGEST_RANGE
    fits = fits and form.map.outputs.min() >= 0 and form.map.outputs.max() <= top
    fits = fits and bool((np.diff(form.map.outputs) >= 0).all())  # a map of ours keeps the order of what it maps
    fits = fits and int(ends.max(initial=0)) <= (top + 1) << MAP_BITS
    return [] if fits else ["The map is none of the values there can be."]


def _table(publication: Publication[KeptDistribution]) -> list[str]:
    facts, counts = publication.record.facts, publication.counts
    form, published = facts.mechanism.form, facts.distribution
    most = form.shape[1]
    if counts.min() < 0 or counts.max() >= most:
        return [f"The table holds counts outside 0..{most - 1}."]
    histogram = None if published is None else published.histogram
    if histogram is not None and not np.array_equal(np.bincount(counts, minlength=most), histogram):
        return ["The histogram of the table is not the published one."]
    if publication.measured is None:
        return _unmeasured(facts, counts)
    if not isinstance(form, NoiseThenMap):
        return ["The release has a file of measurements, but its counts are all there is to measure."]
    made = _replayed(facts, form, publication.measured)
    if made is None:
        return ["The map does not lead to the published distribution."]
    wrong = np.flatnonzero(made != counts)
    return [f"Row {int(wrong[0]) + 1} of the table does not follow from the measurements."] if len(wrong) else []


def _unmeasured(facts: KeptDistribution, counts: Integers) -> list[str]:
    """What the table alone must be: made of counts that can come out, and as many of each as were mapped there."""
    form, published = facts.mechanism.form, facts.distribution
    possible = possible_outputs(form)
    if possible is not None and not np.isin(counts, possible).all():
        return ["The table holds a count that cannot come out of the mechanism."]
    if facts.mechanism.name != "transport" or published is None or not isinstance(form, NoiseThenMap):
        return []
    bins = integer_bins(published.distribution, len(counts))
    if possible is not None and not np.array_equal(possible, np.flatnonzero(bins)):
        return ["The map does not lead to the published distribution."]
    # a bin that ends within the rows of one noisy value ends at a whole row: one more or one less
    off = np.abs(np.cumsum(np.bincount(counts, minlength=len(bins)) - bins)).max()
    return [] if off <= 1 else ["The table does not have the published distribution."]


def _replayed(facts: KeptDistribution, form: NoiseThenMap, measured: Integers) -> Integers | None:
    """The counts that follow; None if the published map is not the one between the published histograms."""
    seed, published = facts.mechanism.map_seed, facts.distribution
    if published is not None and published.histogram is not None:
        return rank_rows(measured, published.histogram, seed)
    if form.clamp is None:
        return None
    clamped = np.clip(measured, *form.clamp)
    if facts.mechanism.constructed or form.map is None or published is None:
        return map_each(clamped, form.map, seed)
    seen = np.bincount(clamped, minlength=len(published.distribution))
    counts, public_map = map_onto(clamped, seen, integer_bins(published.distribution, len(clamped)), seed)
    return counts if same_map(form.map, public_map) else None


def same_map(one: PublicMap, other: PublicMap) -> bool:
    """Up to the rounding of floats that another machine may do in another way."""
    if (one.first, one.bits) != (other.first, other.bits) or not np.array_equal(one.outputs, other.outputs):
        return False
    off = np.abs(one.keys.astype(float) - other.keys.astype(float)).max(initial=0)
    return bool(off <= TOLERANCE * 2.0**other.bits)
