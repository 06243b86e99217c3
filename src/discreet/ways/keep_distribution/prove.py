"""That a release which kept the distribution is as private as it claims. Nothing here knows how it was built."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np

from discreet.certify.prove import proof_of
from discreet.distribution.privatizer import exact_privatizers, pays_for, privatizer
from discreet.errors import NotProven
from discreet.laws import Geometric, NoiseLaw
from discreet.mechanism import Mechanism, NoiseThenMap, form_parameters
from discreet.privacy.convert import zcdp_epsilon
from discreet.privacy.values import Approximate, Concentrated, Loss, Pure, rho_of
from discreet.record.release import Publication
from discreet.ways.keep_distribution.facts import (
    SEEDED,
    STEPS,
    DistributionFacts,
    KeptDistribution,
    PartFacts,
    Share,
    Step,
    grade_of,
    neighbours,
    per_unit,
    remarks,
)  # fmt: skip
from discreet.ways.keep_distribution.spec import CONSTRUCTED, CUMULATIVE, MAPPED

CLOSE = 1e-6  # of a sum of shares to one: floats
NEARLY = 1 - Fraction(1, 1 << 12)  # of a share: noise is calibrated far more closely than that


def prove(publication: Publication[KeptDistribution]) -> list[str]:
    """Every part is as private as its share of the budget, and the shares do not exceed the whole."""
    mechanism = publication.record.facts.mechanism
    shares = {part.what: part.loss for part in mechanism.parts if not isinstance(part.loss, Approximate)}
    if len({part.what for part in mechanism.parts}) != len(mechanism.parts):
        return ["A share of the budget is listed twice."]
    if "counts" not in shares or len(shares) != len(mechanism.parts):
        return ["The shares of the budget are none that such a release has."]
    return [
        *_promise(publication, list(shares.values())),
        *_shape(publication),
        *_whole(publication.record.guarantee.loss, mechanism.parts),
        *_stages(publication, shares),
        *_rows(publication, shares["counts"]),
    ]


def _promise(publication: Publication[KeptDistribution], shares: list[Share]) -> list[str]:
    record = publication.record
    promise, problems = record.guarantee, []
    if promise.unit != neighbours(shares, record.schema.contributions):
        problems.append("The guarantee is about other neighbours than the schema's contributions and the shares say.")
    if promise.grade != grade_of(promise.loss):
        problems.append(f"The guarantee is of the grade {promise.grade!r}; it should be {grade_of(promise.loss)!r}.")
    if promise.remarks != remarks(record.facts, record.schema.max_count):
        problems.append("The guarantee's remarks are not those that belong to such a release.")
    return problems


def _shape(publication: Publication[KeptDistribution]) -> list[str]:
    """The name, the form and what was measured fit each other."""
    record = publication.record
    mechanism, published = record.facts.mechanism, record.facts.distribution
    consistent = published is not None and published.histogram is not None
    noisy = isinstance(mechanism.form, NoiseThenMap)
    fits = mechanism.name in (*MAPPED, *CONSTRUCTED)
    fits = fits and (mechanism.name == "rank") == consistent and noisy == (mechanism.name in (*MAPPED, "unfixed"))
    fits = fits and not (mechanism.constructed and mechanism.refined)
    fits = fits and mechanism.parameters == form_parameters(mechanism.form)
    if isinstance(mechanism.form, NoiseThenMap):
        mapped = published is not None and mechanism.name != "rank"
        fits = fits and (mechanism.constructed or (mechanism.form.map is not None) == mapped)
    mark = "" if record.private else SEEDED
    fits = fits and re.fullmatch(mark + r"[0-9a-f]{32}", mechanism.map_seed) is not None
    fits = fits and [part.what for part in mechanism.parts] == [what for what in STEPS if what in mechanism.steps]
    problems = [] if fits else ["The mechanism is not what its name says."]
    if mechanism.refined and published is not None and published.method not in (None, CUMULATIVE):
        problems.append("The distribution was refined, which only the measurements of 'cumulative' can be.")
    if published is not None and published.method is None and not mechanism.refined:
        problems.append("The distribution was neither measured nor estimated from the noisy counts.")
    if mechanism.constructed and published is None:
        problems.append("The distribution that the mechanism was constructed for is missing.")
    if published is not None:
        measured = published.method in exact_privatizers() if published.measurements is not None else None
        if measured is False or (published.measurements is None) != (published.method is None):
            problems.append("The distribution was not measured by the method it names.")
        if abs(published.distribution.sum() - 1) > CLOSE or np.min(published.distribution, initial=0) < 0:
            problems.append("The published distribution is none.")
    return problems


def _whole(loss: Loss, parts: tuple[PartFacts, ...]) -> list[str]:
    too_much = ["The shares of the budget exceed the whole."]
    if all(isinstance(part.loss, Pure) for part in parts):
        if not isinstance(loss, Pure):
            return ["The shares of the budget are pure, but the guarantee is not."]
        total = sum((part.loss.epsilon.rational() for part in parts if part.loss.epsilon is not None), Fraction(0))
        return [] if total == loss.epsilon.rational() else ["The shares of the budget are not the whole."]
    rho = sum((rho_of(part.loss) for part in parts), Fraction(0))
    if isinstance(loss, Concentrated):
        return [] if rho <= loss.rho else too_much
    if not loss.delta:
        return ["The noise is Gaussian, but the guarantee has neither rho nor a delta."]
    return [] if zcdp_epsilon(rho, loss.delta) <= loss.epsilon.rational() else too_much


def _stages(publication: Publication[KeptDistribution], shares: dict[Step, Share]) -> list[str]:
    """What was measured beside the rows had noise enough, and every share was spent on something."""
    record = publication.record
    people, problems = record.schema.contributions, []
    published, bought = record.facts.distribution, record.facts.mechanism.bought_max_count
    noise = None if published is None else published.noise
    if (noise is None) != ("distribution" not in shares) or (bought is None) != ("max_count" not in shares):
        return ["A share of the budget does not fit what was measured."]
    if published is not None and (noise is None) != (published.measurements is None):
        return ["The measurements of the distribution come without the law of their noise, or it without them."]
    if published is not None and noise is not None and published.method is not None:
        problems += _stage_one(published, noise, shares["distribution"], publication)
    if bought is not None:
        law, share = Geometric(bought.odds), shares["max_count"]
        if not _pays(law, share, people) or _pays(law, share.times(NEARLY), people):
            problems.append("The noise in the measurement of the max_count is not what its share of the budget needs.")
    return problems


def _stage_one(
    published: DistributionFacts, noise: NoiseLaw, share: Share, publication: Publication[KeptDistribution]
) -> list[str]:
    """As many answers as there are questions, with no less noise than their share needs, and no more."""
    assert published.method is not None and published.measurements is not None, "which has been seen"
    method, bins, problems = published.method, len(published.distribution), []
    people, some = publication.record.schema.contributions, np.zeros(bins, dtype=np.int64)
    some[0] = len(publication.counts)  # any histogram of so many rows
    if published.measurements.shape != privatizer(method).answers(some).shape:
        problems.append("There are not as many measurements of the distribution as its method makes.")
    if not pays_for(method, bins, noise, share, people):
        problems.append("The noise in the measurement of the distribution is smaller than its share needs.")
    elif pays_for(method, bins, noise, share.times(NEARLY), people):
        problems.append("The noise in the measurement of the distribution is larger than its share needs.")
    return problems


def _pays(noise: NoiseLaw, share: Share, people: int) -> bool:
    """Whether noise of that law pays for that share when one person adds `people` units to one value."""
    price = noise.price(people)
    if isinstance(price, Concentrated) or isinstance(share, Concentrated):
        return isinstance(price, Concentrated) and isinstance(share, Concentrated) and price.rho <= share.rho
    ratio = noise.worst_odds
    return ratio is not None and share.times(Fraction(1, people)).epsilon.allows(ratio)


def _rows(publication: Publication[KeptDistribution], share: Share) -> list[str]:
    record = publication.record
    form, people = record.facts.mechanism.form, record.schema.contributions
    claim = per_unit(share, people)
    if isinstance(share, Concentrated) or isinstance(claim, Concentrated):
        enough = isinstance(form, NoiseThenMap) and _pays(form.noise, share, people)
        extra = [] if record.certificate is None else ["The release has a certificate of something it does not claim."]
        return extra if enough else ["The noise of the counts is smaller than its share needs.", *extra]
    # where measurements are published the noise alone must be private, whatever a map makes of it
    proved = Mechanism("noise", NoiseThenMap(form.noise)) if isinstance(form, NoiseThenMap) else Mechanism("own", form)
    try:
        proof = proof_of(proved, claim)
    except NotProven as error:
        return [str(error)]
    return [] if proof == record.certificate else ["The certificate is not the one that the mechanism earns."]
