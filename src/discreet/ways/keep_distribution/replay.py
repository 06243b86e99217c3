"""That the distribution, the map and the table follow from the published measurements."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.borders import Adaptive, fits
from discreet.distribution.privatizer import estimated
from discreet.distribution.projections import integer_bins
from discreet.mechanism import NoiseThenMap, possible_outputs
from discreet.public_map import (
    LARGEST_RANGE,
    MAP_BITS,
    PublicMap,
    SeenValues,
    map_each,
    monotone_map,
)
from discreet.record.release import Publication, ReleaseRecord
from discreet.ways.keep_distribution.facts import AimFacts, DistributionFacts, KeptDistribution, too_wide
from discreet.ways.keep_distribution.follow import LeastError, Noisy, least_error, onto, rows_of
from discreet.ways.keep_distribution.spec import LARGEST_MAPPED, SIGNED

TOLERANCE = 1e-6  # fits are numerical: another machine may differ in the last digits
ROWS_APART = 1e-4  # of all rows, and one more: by so much in all may counts differ from those that are found again
ERRORS_APART = 0.01  # of an expected error: it is written with three digits
WEIGHTS_APART = 0.1  # of the logarithm of a weight to base 2: it is searched for in steps of half that


@dataclass(frozen=True, eq=False)
class WholeRelease:
    """What all rows of a release have together."""

    record: ReleaseRecord[KeptDistribution]
    counts: SeenValues
    measured: SeenValues | None  # the noisy values, where they are published beside the counts

    @property
    def noisy(self) -> SeenValues | None:
        """The noisy values, where they are published."""
        return self.counts if self.record.facts.mechanism.name == SIGNED else self.measured

    @property
    def rows(self) -> int:
        return self.counts.rows


def replay(publication: Publication[KeptDistribution]) -> list[str]:
    whole = WholeRelease(publication.record, publication.counted, publication.noisy)
    problems = replay_whole(whole)
    if whole.record.facts.mechanism.constructed:
        return [*problems, *_constructed_table(publication)]
    return problems or followed(publication, whole)


def replay_whole(whole: WholeRelease) -> list[str]:
    """All but that each row follows from its own noisy value."""
    facts = whole.record.facts
    problems = [*_range(whole), *_borders(whole)]
    if facts.mechanism.name == SIGNED and whole.measured is not None:
        problems.append("The release has a file of measurements, but its counts are all there is to measure.")
    if problems:
        return problems
    if facts.mechanism.constructed:
        return [*_measured(whole), *_constructed_map(facts)]
    return [*_estimated(whole), *_map(whole), *_table(whole)]


def _range(whole: WholeRelease) -> list[str]:
    """The range of the map, and of the distribution, is the one of the counts that rows can have."""
    facts, top = whole.record.facts, whole.record.schema.max_count
    clamp, form = facts.mechanism.clamp, facts.mechanism.form
    if not isinstance(form, NoiseThenMap):
        holds = form.shape[0] - 1 == top and len(facts.distribution.distribution) == form.shape[1]
        return [] if holds else ["The range of the mechanism is not the one of the schema."]
    cut = top if facts.mechanism.top_code else None
    largest = cut if whole.noisy is None else Noisy(whole.noisy, form.noise, cut).largest
    if facts.mechanism.name == SIGNED:
        holds, size = clamp is None, len(facts.distribution.distribution) - 1
    else:
        holds = clamp is not None and clamp[0] == 0 and clamp[1] in ({largest} - {None} or range(1, LARGEST_MAPPED + 1))
        size = 0 if clamp is None else clamp[1]
    if not facts.mechanism.refined and not facts.mechanism.constructed and facts.mechanism.name != "rank":
        measured = facts.distribution.measurements
        size, largest = (top or (0 if measured is None else len(measured))), None
    right = len(facts.distribution.distribution) == size + 1 and largest in (None, size)
    bins = facts.distribution.histogram
    right = right and (bins is None or (clamp is not None and len(bins) == clamp[1] + 1))
    return [] if holds and right else ["The range of the map is not the one of the noisy counts."]


def _borders(whole: WholeRelease) -> list[str]:
    """Where nobody gave the range of stage one, it follows from the first answers."""
    published, known = whole.record.facts.distribution, whole.record.schema.max_count is not None
    if published.measurements is None or published.noise is None:
        return [] if published.borders is None else ["There are borders of something that was not measured."]
    if known or published.borders is None:
        return [] if known and published.borders is None else ["The borders of the measurement are not the schema's."]
    asked = Adaptive(published.borders, published.measurements)
    right = fits(asked, whole.rows, published.noise, LARGEST_MAPPED)
    return [] if right else ["The range of the measured distribution does not follow from its first answers."]


def _measured(whole: WholeRelease) -> list[str]:
    published = whole.record.facts.distribution
    assert published.method is not None and published.measurements is not None, "which has been proved"
    found = estimated(published.method, published.measurements, whole.rows, len(published.distribution))
    return [] if _close(published.distribution, found) else [NOT_THE_DISTRIBUTION]


NOT_THE_DISTRIBUTION = "The published distribution does not follow from the measurements."


def _close(one: Floats, other: Floats) -> bool:
    return len(one) == len(other) and bool(np.abs(np.cumsum(one - other)).max() <= TOLERANCE)


def _estimated(whole: WholeRelease) -> list[str]:
    """The distribution, the numbers of rows, the weight and the errors are those that are found again."""
    facts, noisy = whole.record.facts, whole.noisy
    published, aim, bins = facts.distribution, facts.mechanism.aim, facts.distribution.histogram
    if bins is not None and bins.sum() != whole.rows:
        return ["The published histogram is not one of as many rows."]
    consistent = facts.mechanism.name == "rank"
    if consistent and bins is not None and not _close(published.distribution, bins / bins.sum()):
        return ["The published distribution is not the one of the published histogram."]
    if noisy is None:
        return _stage_one_rows(whole)
    found = _found(whole.record, noisy, aim)
    problems = [] if consistent or _close(published.distribution, found.distribution) else [NOT_THE_DISTRIBUTION]
    if bins is not None:
        exact = found.followed.lam is None  # the noisy counts as they are: nothing was fitted
        moved = np.abs(np.cumsum(bins) - found.followed.upto).sum()
        if moved > (0 if exact else 1 + ROWS_APART * noisy.rows):
            problems.append("The published histogram does not follow from the measurements.")
    if aim is not None and not _same_aim(aim, found):
        problems.append("The weight of the distribution, or an expected error, is not the one that is found again.")
    return problems


def _stage_one_rows(whole: WholeRelease) -> list[str]:
    """Where noisy rows are not published: what was not refined has as many rows for each count as stage one says."""
    facts, rows = whole.record.facts, whole.rows
    mechanism, bins = facts.mechanism, facts.distribution.histogram
    if mechanism.refined or bins is None or mechanism.noise is None or too_wide(mechanism.noise):
        return []
    said = integer_bins(_stage_one(facts.distribution, rows, whole.record.schema.max_count), rows)
    last = min(len(said), len(bins)) - 1  # beyond, rows are where their noise left them
    near = whole.counts.at_most(np.array([len(bins) - 1]))
    apart = np.abs(np.cumsum(bins)[:last] - np.minimum(np.cumsum(said)[:last], near)).sum()
    right = apart <= 1 + ROWS_APART * rows
    return [] if right else ["The published histogram does not follow from the measured distribution."]


def _found(record: ReleaseRecord[KeptDistribution], seen: SeenValues, aim: AimFacts | None) -> LeastError:
    mechanism, published = record.facts.mechanism, record.facts.distribution
    assert mechanism.noise is not None
    cut = record.schema.max_count if mechanism.top_code else None
    if not mechanism.refined:
        return onto(Noisy(seen, mechanism.noise, cut), _stage_one(published, seen.rows, record.schema.max_count))
    noisy = Noisy(seen, mechanism.noise, cut, published.measurements, published.noise)
    asked = None if aim is None or aim.favor == "balance" else float(aim.lam or 0)
    return least_error(noisy, asked, record.schema.max_count)


def _stage_one(published: DistributionFacts, rows: int, top: int | None) -> Floats:
    assert published.method is not None and published.measurements is not None, "which has been proved"
    bins = (len(published.measurements) if top is None else top) + 1
    return estimated(published.method, published.measurements, rows, bins)


def _same_aim(aim: AimFacts, found: LeastError) -> bool:
    told = found.followed
    refound = AimFacts.of(aim.favor, told.lam, told.count_error, told.distribution_error)
    there, again = aim.lam, refound.lam
    same = there == again
    if not same and there is not None and again is not None and min(float(there), float(again)) > 0:
        same = abs(math.log2(float(there) / float(again))) <= WEIGHTS_APART
    return (
        same
        and _near(aim.count_error, refound.count_error)
        and _near(aim.distribution_error, refound.distribution_error)
    )


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= ERRORS_APART * max(one, other)


def _map(whole: WholeRelease) -> list[str]:
    """The published map is the one from the noisy values as seen onto the numbers of rows."""
    facts, measured = whole.record.facts, whole.measured
    form, bins = facts.mechanism.form, facts.distribution.histogram
    if bins is None or not isinstance(form, NoiseThenMap) or form.map is None or form.range is None:
        return []
    if not np.array_equal(form.map.outputs, np.flatnonzero(bins)):
        return ["The map does not lead to the published histogram."]
    if measured is None:
        return _map_of_range(form)
    again = monotone_map(measured.histogram(*form.range).astype(float), bins.astype(float))
    return [] if same_map(form.map, again) else ["The map is not the one between the published histograms."]


def _table(whole: WholeRelease) -> list[str]:
    facts, counts = whole.record.facts, whole.counts
    bins = facts.distribution.histogram
    if bins is None:
        return []
    if counts.values[0] < 0:
        return ["The table holds a negative count."]
    last = len(bins) - 1
    if facts.mechanism.top_code and counts.values[-1] > last:
        return [f"The table holds counts above {last}."]
    if not np.array_equal(counts.histogram(0, last), bins):
        return ["The histogram of the table is not the published one."]
    return []


def followed(
    publication: Publication[KeptDistribution], whole: WholeRelease, before: Integers | None = None
) -> list[str]:
    """Every row is what its noisy value becomes; `before`: how many rows of each value are in earlier parts."""
    bins = whole.record.facts.distribution.histogram
    if bins is None or publication.measured is None or whole.measured is None or bins.sum() != whole.rows:
        return []
    made = rows_of(whole.record.facts, publication.measured, whole.measured, before)
    wrong = np.flatnonzero(made != publication.counts)
    return [f"Row {int(wrong[0]) + 1} of the table does not follow from the measurements."] if len(wrong) else []


def _constructed_map(facts: KeptDistribution) -> list[str]:
    """A mechanism constructed for the published distribution leaves it as it is."""
    form, shares = facts.mechanism.form, facts.distribution.distribution
    if isinstance(form, NoiseThenMap):
        return _map_of_range(form)
    moved = np.abs(shares @ form.matrix() - shares).max()
    return [] if moved <= TOLERANCE else ["The mechanism does not keep the published distribution."]


def _map_of_range(form: NoiseThenMap) -> list[str]:
    """A map of the values there can be, which keeps their order."""
    if form.map is None or form.range is None:
        return []
    top, ends = form.range[1], form.map.keys
    fits = (form.map.first, form.map.bits) == (0, MAP_BITS) and top < LARGEST_RANGE
    fits = fits and form.map.outputs.min() >= 0 and form.map.outputs.max() <= top
    fits = fits and bool((np.diff(form.map.outputs) >= 0).all())
    fits = fits and int(ends.max(initial=0)) <= (top + 1) << MAP_BITS
    return [] if fits else ["The map is none of the values there can be."]


def _constructed_table(publication: Publication[KeptDistribution]) -> list[str]:
    facts, counts = publication.record.facts, publication.counts
    form = facts.mechanism.form
    most = form.shape[1]
    if counts.min() < 0 or counts.max() >= most:
        return [f"The table holds counts outside 0..{most - 1}."]
    possible = possible_outputs(form)
    if possible is not None and not np.isin(counts, possible).all():
        return ["The table holds a count that cannot come out of the mechanism."]
    if publication.measured is None:
        return []
    if not isinstance(form, NoiseThenMap):
        return ["The release has a file of measurements, but its counts are all there is to measure."]
    made = map_each(np.clip(publication.measured, 0, most - 1), form.map, facts.mechanism.map_seed)
    wrong = np.flatnonzero(made != counts)
    return [f"Row {int(wrong[0]) + 1} of the table does not follow from the measurements."] if len(wrong) else []


def same_map(one: PublicMap, other: PublicMap) -> bool:
    """Up to the rounding of floats that another machine may do in another way."""
    if (one.first, one.bits) != (other.first, other.bits) or not np.array_equal(one.outputs, other.outputs):
        return False
    off = np.abs(one.keys.astype(float) - other.keys.astype(float)).max(initial=0)
    return bool(off <= TOLERANCE * 2.0**other.bits)
