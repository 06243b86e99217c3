"""What a release row by row tells an analyst: a value for each row, and how it came from the true count."""

from __future__ import annotations

from dataclasses import replace

from discreet.arrays import Integers
from discreet.certify.profile import moments_of
from discreet.distribution.evidence import Posterior
from discreet.estimate.evidence import rows_evidence
from discreet.estimate.shares import of_rows
from discreet.estimate.view import Estimate
from discreet.laws import NoiseLaw
from discreet.mechanism import Continued, EdgeThenNoise, Mechanism, NoiseThenMap
from discreet.privacy.values import Remark
from discreet.record.release import Publication
from discreet.report.errors import Errors, averaged, averaged_continued, errors_of
from discreet.ways.keep_distribution.facts import too_wide
from discreet.ways.row_by_row.facts import OWN, RowFacts, ends_reached, has_own_delta, near_zero
from discreet.ways.row_by_row.spec import BOUNDED


def evidence(publication: Publication[RowFacts], level: float) -> Estimate:
    mechanism, top = publication.record.facts.mechanism, publication.record.schema.max_count
    least = mechanism.min_count or 0
    return of_rows(rows_evidence(publication, mechanism.form, top=top, least=least), level)


def errors(publication: Publication[RowFacts], view: Estimate | None) -> Errors | None:
    """By true count; and on average, for the counts that the release itself lets one expect."""
    mechanism = publication.record.facts.mechanism
    form, made = mechanism.form, Mechanism(mechanism.name, mechanism.form)
    if isinstance(form, EdgeThenNoise):
        return replace(errors_of(made), typical=None)
    if isinstance(form, Continued):
        return averaged_continued(form, publication.counted)
    if not isinstance(form, NoiseThenMap):
        return averaged(made, publication.counted)
    found = errors_of(made)
    if form.clamp is None or too_wide(form.noise):
        return found
    from discreet.distribution.evidence import unchanged

    told = unchanged(*_fitted(publication, form.noise, view))
    return replace(found, typical=told.count_error, distribution=told.distribution_error)


def _fitted(publication: Publication[RowFacts], noise: NoiseLaw, view: Estimate | None) -> tuple[Posterior, Integers]:
    """The distribution behind the rows, as their posteriors have it, if these are there; and how many rows have at most
    0, 1, ... of the counts that it is about."""
    told = None if view is None or view.shares is None else view.shares.parts[0].evidence
    seen = publication.noisy or publication.counted
    if told is not None and told.law is not None:
        return told.fitted, seen.upto(0, told.size - 1)
    from discreet.ways.keep_distribution.follow import Noisy
    from discreet.ways.keep_distribution.spec import LARGEST_MAPPED

    top = publication.record.schema.max_count
    noisy = Noisy(seen, noise, None if top is None or top > LARGEST_MAPPED else top)  # few rows come near a larger one
    return noisy.fitted(), noisy.plain


def unbiased(publication: Publication[RowFacts]) -> bool:
    """Noise that goes up as often as down, and nothing after it, or nothing that it could come to."""
    mechanism = publication.record.facts.mechanism
    if not isinstance(mechanism.form, NoiseThenMap):
        return False
    if mechanism.name == BOUNDED:
        return not any(ends_reached(mechanism.form, mechanism.min_count))
    return mechanism.form.clamp is None and not has_own_delta(mechanism.form)


def averages(publication: Publication[RowFacts]) -> str | None:
    """Rows of their own: all are right on average, or all but that of 0, or any may be wrong; noise has none."""
    mechanism = publication.record.facts.mechanism
    if isinstance(mechanism.form, NoiseThenMap) or mechanism.name not in (OWN, BOUNDED):
        return None
    first = mechanism.form.first if isinstance(mechanism.form, EdgeThenNoise) else 0
    wrong = [count for count, one in enumerate(moments_of(mechanism.form), first) if one.bias]
    return "bias-rows" if not wrong else "bias-zero" if wrong == [0] else "bias-own"


def steps(publication: Publication[RowFacts]) -> tuple[Remark, ...]:
    mechanism = publication.record.facts.mechanism
    if mechanism.name == OWN:
        return (Remark("rows-drawn-own"),)
    drawn = Remark.of("rows-drawn", mechanism=mechanism.name)
    return (drawn, *near_zero(mechanism.form, mechanism.min_count)) if mechanism.name == BOUNDED else (drawn,)
