"""What a release that kept the distribution tells an analyst: noisy rows and the law of their noise."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.errors import BadInput
from discreet.estimate.answers import Estimate
from discreet.estimate.evidence import Evidence, rows_evidence
from discreet.mechanism import Mechanism
from discreet.privacy.values import Remark
from discreet.record.release import Publication
from discreet.report.errors import Errors, errors_of
from discreet.ways.keep_distribution.facts import KeptDistribution


def evidence(publication: Publication[KeptDistribution], level: float) -> Estimate:
    """Answers about rows and their distribution."""
    facts = publication.record.facts
    published = facts.distribution
    if facts.mechanism.name == "rank" and publication.measured is None:
        raise BadInput(
            "an estimate was asked for",
            "rows were mapped by their ranks and the measurements were not published",
            "Publish the release with its measurements",
        )
    answers = None if published is None or published.method != "cumulative" else published.measurements
    found: Evidence = rows_evidence(
        publication,
        facts.mechanism.form,
        cumulative=answers,
        cumulative_law=None if answers is None or published is None else published.noise,
        published=None if published is None else published.distribution,
    )
    return Estimate(found, level)


def errors(publication: Publication[KeptDistribution]) -> Errors | None:
    """Expected absolute error by true count, weighted by the published distribution."""
    facts = publication.record.facts
    shares = None if facts.distribution is None else facts.distribution.distribution
    return errors_of(Mechanism(facts.mechanism.name, facts.mechanism.form), shares)


def steps(publication: Publication[KeptDistribution]) -> tuple[Remark, ...]:
    return tuple(_steps(publication))


def _steps(publication: Publication[KeptDistribution]) -> Iterator[Remark]:
    """What was done, in order."""
    facts, record = publication.record.facts, publication.record
    mechanism, published = facts.mechanism, facts.distribution
    if mechanism.bought_max_count is not None and record.schema.max_count is not None:
        yield Remark.of("bought-max-count", max_count=record.schema.max_count)
    if published is not None and published.method is not None:
        yield Remark.of("measured-distribution", privatizer=published.method)
    if mechanism.constructed:
        yield Remark.of("constructed", mechanism=mechanism.name)
        return
    yield Remark("noise-added" if record.measured else "noise-added-unpublished")
    if published is None:
        return
    if mechanism.refined:
        yield Remark("refined")
    yield Remark("mapped-by-rank" if published.histogram is not None else "mapped-one-by-one")
