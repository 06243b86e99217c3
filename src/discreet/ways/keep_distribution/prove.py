"""That a release which kept the distribution is as private as it claims. Nothing here knows how it was built."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np

from discreet.certify.prove import proof_of
from discreet.distribution.privatizer import exact_privatizers, pays_for, privatizer
from discreet.errors import NotProven
from discreet.laws import NoiseLaw
from discreet.mechanism import Continued, Mechanism, NoiseThenMap, form_parameters
from discreet.privacy.convert import zcdp_epsilon
from discreet.privacy.values import Approximate, Concentrated, Loss, Pure, Share, grade_of, priced, rho_of
from discreet.record.release import Publication
from discreet.ways.keep_distribution.facts import (
    SEEDED,
    STEPS,
    DistributionFacts,
    KeptDistribution,
    MappedMechanism,
    PartFacts,
    Step,
    lam_text,
    left_alone,
    remarks,
)  # fmt: skip
from discreet.ways.keep_distribution.spec import (
    CONSTRUCTED,
    CUMULATIVE,
    FAVORS,
    LARGEST_MAPPED,
    MAPPED,
    SIGNED,
    WEIGHTS,
)

CLOSE = 1e-6  # of a sum of shares to one: floats
WRITTEN_WEIGHT = r"inf|\d+(\.\d+)?(e[+-]\d+)?"  # how a weight is written in a record
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
    if promise.unit != priced(shares, record.schema.contributions):
        problems.append("The guarantee is about other neighbours than the schema's contributions and the shares say.")
    if promise.grade != grade_of(promise.loss):
        problems.append(f"The guarantee is of the grade {promise.grade!r}; it should be {grade_of(promise.loss)!r}.")
    if promise.remarks != remarks(record.facts, record.schema.max_count, record.schema.rows):
        problems.append("The guarantee's remarks are not those that belong to such a release.")
    return problems


def _shape(publication: Publication[KeptDistribution]) -> list[str]:
    """The name, the form and what was measured fit each other."""
    record = publication.record
    mechanism, published = record.facts.mechanism, record.facts.distribution
    mark = "" if record.private else SEEDED
    fits = mechanism.name in (*MAPPED, SIGNED, *CONSTRUCTED) and _form_fits(record.facts)
    fits = fits and not (mechanism.constructed and mechanism.refined)
    fits = fits and mechanism.parameters == form_parameters(mechanism.form)
    fits = fits and re.fullmatch(mark + r"[0-9a-f]{32}", mechanism.map_seed) is not None
    fits = fits and [part.what for part in mechanism.parts] == [what for what in STEPS if what in mechanism.steps]
    problems = [] if fits else ["The mechanism is not what its name says."]
    top = record.schema.max_count
    if top is not None and not 1 <= top <= LARGEST_MAPPED:
        problems.append("The largest count of the schema is none that a distribution is kept up to.")
    if (mechanism.top_code and top is None) or (mechanism.constructed and not mechanism.top_code):
        problems.append("Whether larger counts were cut does not fit the mechanism.")
    if not _aim_fits(mechanism, record.schema.rows):
        problems.append("The weight of the distribution is not what was favoured.")
    if mechanism.refined and published.method not in (None, CUMULATIVE):
        problems.append("The distribution was refined, which only the measurements of 'cumulative' can be.")
    if published.method is None and not mechanism.refined:
        problems.append("The distribution was neither measured nor estimated from the noisy counts.")
    measured = published.method in exact_privatizers() if published.measurements is not None else None
    if measured is False or (published.measurements is None) != (published.method is None):
        problems.append("The distribution was not measured by the method it names.")
    if abs(published.distribution.sum() - 1) > CLOSE or np.min(published.distribution, initial=0) < 0:
        problems.append("The published distribution is none.")
    return problems


def _form_fits(facts: KeptDistribution) -> bool:
    """Noise is mapped by rank, or left as it is; a constructed mechanism draws every row by itself."""
    mechanism, form, bins = facts.mechanism, facts.mechanism.form, facts.distribution.histogram
    if mechanism.constructed:
        noisy = isinstance(form, NoiseThenMap) == (mechanism.name == "unfixed")
        return noisy and bins is None and not isinstance(form, Continued)
    if not isinstance(form, NoiseThenMap):
        return False
    if mechanism.name == SIGNED:
        return form.clamp is None and form.map is None and bins is None
    return form.range is not None and form.map is not None and bins is not None and bool((bins >= 0).all())


def _aim_fits(mechanism: MappedMechanism, rows: int) -> bool:
    aim = mechanism.aim
    if aim is None or mechanism.name not in MAPPED:
        return aim is None and mechanism.name not in MAPPED
    if not all(math.isfinite(error) and error >= 0 for error in (aim.count_error, aim.distribution_error)):
        return False
    if mechanism.noise is not None and left_alone(mechanism.noise, aim.favor, rows):
        return aim.lam is None and aim.favor in (*FAVORS, "lam")
    follows = mechanism.name == "rank" or not mechanism.refined
    if follows and aim.lam != lam_text(math.inf):
        return False
    if aim.favor in WEIGHTS:
        return aim.lam == lam_text(WEIGHTS[aim.favor])
    if aim.lam is None:
        return aim.favor == "balance"
    return aim.favor in ("balance", "lam") and re.fullmatch(WRITTEN_WEIGHT, aim.lam) is not None


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
    published = publication.record.facts.distribution
    if (published.noise is None) != ("distribution" not in shares):
        return ["A share of the budget does not fit what was measured."]
    if (published.noise is None) != (published.measurements is None):
        return ["The measurements of the distribution come without the law of their noise, or it without them."]
    if published.noise is None or published.method is None:
        return []
    return _stage_one(published, published.noise, shares["distribution"], publication)


def _stage_one(
    published: DistributionFacts, noise: NoiseLaw, share: Share, publication: Publication[KeptDistribution]
) -> list[str]:
    """As many answers as there are questions, with no less noise than their share needs, and no more."""
    assert published.method is not None and published.measurements is not None, "which has been seen"
    top, people = publication.record.schema.max_count, publication.record.schema.contributions
    if top is None and published.method != CUMULATIVE:
        return ["The distribution was measured over a range that nobody knew."]
    method, bins, problems = published.method, (len(published.measurements) if top is None else top) + 1, []
    some = np.zeros(bins, dtype=np.int64)
    some[0] = publication.record.schema.rows  # any histogram of so many rows
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
    claim = share.per_unit(people)
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
