"""That a release row by row is as private as it claims. Nothing here knows how it was built."""

from __future__ import annotations

from fractions import Fraction

from discreet.certify.prove import proof_of
from discreet.errors import NotProven
from discreet.laws import NoiseLaw
from discreet.mechanism import EdgeThenNoise, Mechanism, NoiseThenMap, form_parameters
from discreet.privacy.convert import zcdp_epsilon
from discreet.privacy.values import Approximate, Concentrated, Loss, Pure, one_person
from discreet.record.release import Publication, ReleaseRecord
from discreet.ways.row_by_row.facts import (
    OWN,
    RowFacts,
    RowMechanism,
    by_ratio,
    grade_of,
    has_own_delta,
    keeps_its_promises,
    need_no_delta,
    neighbours,
    price_of,
    proved_form,
    remarks,
    unit_loss,
    worked_out,
)  # fmt: skip
from discreet.ways.row_by_row.named import is_named
from discreet.ways.row_by_row.spec import BOUNDED, MATRICES, SIGNED

CERTIFICATE = "The certificate is not the one that the mechanism earns."


NEEDLESS = "A delta is claimed, but the mechanism is private without one."


def prove(publication: Publication[RowFacts]) -> list[str]:
    record = publication.record
    form = record.facts.mechanism.form
    needless = need_no_delta([form], record.guarantee.loss, record.schema.contributions)
    return [NEEDLESS] if needless else prove_one(publication)


def prove_one(publication: Publication[RowFacts]) -> list[str]:
    """The mechanism is as private as claimed when one person adds one to one count, and the claim is the right one."""
    record = publication.record
    mechanism, loss, people = record.facts.mechanism, record.guarantee.loss, record.schema.contributions
    noise, price = mechanism.noise, price_of(mechanism.form)
    if has_own_delta(mechanism.form):
        return _bounded(record)
    if mechanism.min_count is not None:
        return ["A smallest count is claimed, but the mechanism is for all counts."]
    if isinstance(loss, Approximate) and noise is not None and noise.pure:
        return ["A delta is claimed, but the noise is pure."]
    if isinstance(loss, Concentrated) and not isinstance(price, Concentrated):
        return ["A rho is claimed, but the noise is not Gaussian."]
    return [*_promise(record, price), *_name(mechanism, loss, people), *_privacy(record, price)]


def _promise(record: ReleaseRecord[RowFacts], price: Loss | None) -> list[str]:
    promise, should = record.guarantee, grade_of(price, record.guarantee.loss)
    problems = []
    if promise.unit != neighbours(price, promise.loss, record.schema.contributions):
        problems.append("The guarantee is about other neighbours than the schema's contributions and the noise say.")
    if promise.grade != should:
        problems.append(f"The guarantee is of the grade {promise.grade!r}; it should be {should!r}.")
    if promise.remarks != remarks(record.facts.mechanism.form):
        problems.append("The guarantee's remarks are not those that belong to such a release.")
    return problems


def _bounded(record: ReleaseRecord[RowFacts]) -> list[str]:
    """Noise whose delta is worked out, again: it is what is claimed for a unit and for a person, and no other."""
    mechanism, promise, people = record.facts.mechanism, record.guarantee, record.schema.contributions
    noise, loss, least, top = mechanism.noise, promise.loss, mechanism.min_count, mechanism.max_count
    if isinstance(loss, Concentrated) or noise is None:
        return ["A rho is claimed, but the noise is not Gaussian."]
    unit, whole = worked_out(mechanism.form, loss.epsilon, people)
    problems = _name(mechanism, loss, people)
    if least is not None and (least < 0 or (top is not None and least > top)):
        problems.append("The smallest count is below 0, or above the largest.")
    if getattr(noise, "odds", None) != unit.epsilon.odds():
        problems.append("The noise is not the one that the claimed epsilon asks for.")
    if loss != whole or promise.unit != one_person(unit, people):
        problems.append("The guarantee is not the one that the noise earns.")
    if promise.grade != "exact" or promise.remarks != remarks(mechanism.form, least):
        problems.append("The guarantee's grade or remarks are not those that belong to such a release.")
    proof = proof_of(Mechanism(mechanism.name, proved_form(mechanism.form)), unit)
    return problems if proof == record.certificate else [*problems, CERTIFICATE]


def _name(mechanism: RowMechanism, loss: Loss, people: int) -> list[str]:
    form = mechanism.form
    if isinstance(form, EdgeThenNoise):
        fits = mechanism.name == form.noise.name and form.first == (mechanism.min_count or 0)
        fits = fits and keeps_its_promises(form)
    elif isinstance(form, NoiseThenMap):
        fits = form.map is None and (form.clamp is None or form.clamp[0] == 0)
        fits = fits and (form.clamp is None or form.range is not None or form.noise.name in ("geometric", BOUNDED))
        if mechanism.name == SIGNED:
            fits = fits and form.noise.name == "geometric" and form.clamp is None
        else:
            clamped = form.clamp is not None or not (form.noise.pure or mechanism.name == BOUNDED)
            fits = fits and mechanism.name == form.noise.name and clamped
    elif mechanism.name in MATRICES:
        fits = isinstance(loss, Pure) and is_named(mechanism.name, form, unit_loss(loss, people).epsilon)
    else:
        fits = mechanism.name == OWN
    fits = fits and mechanism.parameters == form_parameters(form)
    return [] if fits else ["The mechanism is not what its name says."]


def _privacy(record: ReleaseRecord[RowFacts], price: Loss | None) -> list[str]:
    mechanism, loss, people = record.facts.mechanism, record.guarantee.loss, record.schema.contributions
    if not by_ratio(price, loss, people):
        assert mechanism.noise is not None, "whose price it is"
        extra = [] if record.certificate is None else ["The release has a certificate of something it does not claim."]
        return [*extra, *_concentrated(mechanism.noise, loss, people)]
    try:
        proof = proof_of(Mechanism(mechanism.name, proved_form(mechanism.form)), unit_loss(loss, people))
    except NotProven as error:
        return [str(error)]
    return [] if proof == record.certificate else [CERTIFICATE]


def _concentrated(noise: NoiseLaw, loss: Loss, people: int) -> list[str]:
    rho = noise.price(people).rho or Fraction(0)
    if isinstance(loss, Concentrated):
        return [] if rho == loss.rho else ["The noise is not the one that the claimed rho needs."]
    enough = loss.delta > 0 and zcdp_epsilon(rho, loss.delta) <= loss.epsilon.rational()
    return [] if enough else ["The noise is smaller than the claimed epsilon and delta need."]
