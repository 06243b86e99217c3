"""What a release that kept the distribution tells an analyst: noisy rows and the law of their noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from discreet.estimate.answers import Cut
from discreet.estimate.evidence import Evidence, rows_evidence
from discreet.estimate.shares import of_rows
from discreet.estimate.view import Estimate
from discreet.mechanism import Mechanism, NoiseThenMap
from discreet.privacy.values import Remark
from discreet.record.release import Publication
from discreet.report.errors import ENOUGH_ROWS, Errors, averaged, errors_of, noise_size, where_rows_are
from discreet.ways.keep_distribution.facts import KeptDistribution
from discreet.ways.keep_distribution.spec import CUMULATIVE, MAPPED, SIGNED

MAPPED_AS = {
    "balance": Remark("mapped-balance"),
    "counts": Remark("mapped-counts"),
    "distribution": Remark("mapped-distribution"),
    "lam": Remark("mapped-lam"),
}
DRAWN = 0.95  # of all rows: among few and scattered counts the map says nothing about one that was not there
FEWEST_DRAWN = 12  # counts


def evidence(publication: Publication[KeptDistribution], level: float) -> Estimate:
    """Answers about rows and their distribution."""
    facts = publication.record.facts
    mechanism, published = facts.mechanism, facts.distribution
    top = publication.record.schema.max_count if mechanism.top_code else None
    if publication.measured is None and mechanism.name in MAPPED:
        return _bracketed(publication, top, level)
    answers = None if published.method != CUMULATIVE else published.measurements
    found: Evidence = rows_evidence(
        publication,
        mechanism.form,
        top=top,
        cumulative=answers,
        cumulative_law=None if answers is None else published.noise,
        published=published.distribution if mechanism.refined else None,
    )
    return of_rows(found, level)


def _bracketed(publication: Publication[KeptDistribution], top: int | None, level: float) -> Estimate:
    """Without the noisy values: the public map tells between which two of them each was."""
    from discreet.estimate.bracketed import bracketed_rows

    form = publication.record.facts.mechanism.form
    assert isinstance(form, NoiseThenMap) and form.range is not None
    numbers = None if publication.in_parts is None else publication.in_parts.counts.numbers
    cut, counts = top is not None, publication.counts
    told = bracketed_rows(counts, form.noise, form.range[1], form.map, cut=cut, numbers=numbers)
    why = "the noisy values that counts were made from are not published, so that only sums of rows are estimated"
    largest = None if top is None else float(top) * (np.ones(len(counts)) if numbers is None else numbers.astype(float))
    rows = None if numbers is None else int(numbers.sum())
    return Estimate(told, publication.categories, level, None, why, Cut(top), largest, in_parts=rows)


def errors(publication: Publication[KeptDistribution], _: Estimate | None) -> Errors | None:
    """Expected absolute error by true count; on average as the posterior of the rows has it."""
    facts = publication.record.facts
    made, measured = Mechanism(facts.mechanism.name, facts.mechanism.form), facts.distribution
    if facts.mechanism.constructed:
        told = (measured.measurements, measured.noise) if measured.method == CUMULATIVE else (None, None)
        return averaged(made, publication.counted, *told)
    shares, aim = measured.distribution, facts.mechanism.aim
    if aim is None:
        return errors_of(made, shares)
    form = made.form
    assert isinstance(form, NoiseThenMap)
    if aim.lam is None:  # nothing was moved: the map has the values that were there, and not those between them
        made = replace(made, form=replace(form, map=None))
    found, rows = errors_of(made, shares), publication.record.schema.rows
    drawn = max(FEWEST_DRAWN, int(np.searchsorted(np.cumsum(shares), DRAWN)) + 2)
    drawn = 0 if rows < ENOUGH_ROWS and aim.lam is not None else drawn  # a map of so few rows is one of many
    most = noise_size(form.noise) if aim.lam is None else None  # cutting to 0 and up takes some of it away
    upto = Errors(found.counts[:drawn], found.absolute[:drawn], aim.count_error, aim.distribution_error, most=most)
    return where_rows_are(upto, publication.counted)


def unbiased(publication: Publication[KeptDistribution]) -> bool:
    """Noise that goes up as often as down, and nothing after it."""
    return publication.record.facts.mechanism.name == SIGNED


def averages(publication: Publication[KeptDistribution]) -> str | None:
    """Counts that follow from the distribution of all rows are drawn to where most of these are."""
    aim = publication.record.facts.mechanism.aim
    return None if aim is None or aim.lam is None else "bias-leaning"


def steps(publication: Publication[KeptDistribution]) -> tuple[Remark, ...]:
    return tuple(_steps(publication))


def _steps(publication: Publication[KeptDistribution]) -> Iterator[Remark]:
    """What was done, in order."""
    facts, record = publication.record.facts, publication.record
    mechanism, published = facts.mechanism, facts.distribution
    if published.method is not None:
        yield Remark.of("measured-distribution", privatizer=published.method)
    if mechanism.constructed:
        yield Remark.of("constructed", mechanism=mechanism.name)
        return
    if mechanism.name == SIGNED:
        yield Remark("noise-added-alone")
    else:
        yield Remark("noise-added" if record.measured else "noise-added-unpublished")
    if mechanism.refined:
        yield Remark("refined")
    if mechanism.aim is None:
        yield Remark("left-signed")
    elif mechanism.aim.lam is None:
        yield Remark("mapped-plain")
    else:
        yield Remark("mapped-by-rank") if mechanism.name == "rank" else MAPPED_AS[mechanism.aim.favor]
