"""That the noise of all questions together is as private as is claimed. Nothing here knows how shares were chosen."""

from __future__ import annotations

from fractions import Fraction

from discreet.io.coded import key_columns
from discreet.lattice.invariants import invariant_matrix
from discreet.lattice.laws import Terms
from discreet.lattice.neighbours import kept_remarks, protected_change
from discreet.lattice.structure import structure_of
from discreet.privacy.convert import rho_for, zcdp_epsilon
from discreet.privacy.values import (
    ONE_PERSON,
    Approximate,
    Change,
    Concentrated,
    Loss,
    Pure,
    Remark,
    grade_of,
    rho_of,
)
from discreet.record.release import Publication
from discreet.ways.measure.facts import NAME, MeasureFacts, QuestionFacts, Stretch, neighbours, pays, remarks

NEARLY = 1 - Fraction(1, 1 << 12)  # of a share: noise is calibrated far more closely than that


def prove(publication: Publication[MeasureFacts]) -> list[str]:
    """Every question has noise for its share, the shares are the whole, and the promise is about the right change."""
    record = publication.record
    mechanism, promise = record.facts.mechanism, record.guarantee
    problems = _shape(publication)
    if problems:
        return problems
    change, said = _kept(publication)
    stretch = Stretch(change, record.schema.contributions)
    if promise.unit != neighbours([one.noise for one in mechanism.questions], stretch):
        problems.append("The guarantee is about other neighbours than what is kept leaves, or at another price.")
    if promise.remarks != remarks(said):
        problems.append("The guarantee's remarks are not those that belong to such a release.")
    if promise.grade != grade_of(promise.loss):
        problems.append("The grade of the guarantee is not the one of such a release.")
    whole = _whole(promise.loss, mechanism.questions, stretch)
    if whole is None:
        return [*problems, "The noise of the questions together is smaller than what is claimed needs."]
    if _too_much(promise.loss, whole):
        problems.append("The noise of the questions together is larger than what is claimed needs.")
    for one in mechanism.questions:
        share = whole.times(one.share)
        if not pays(one.noise, share, stretch):
            problems.append(f"The noise of {one.question} is smaller than its share needs.")
        elif pays(one.noise, share.times(NEARLY), stretch):
            problems.append(f"The noise of {one.question} is larger than its share needs.")
    return problems


def _shape(publication: Publication[MeasureFacts]) -> list[str]:
    """Names and shares are those of such a release."""
    record, problems = publication.record, []
    mechanism = record.facts.mechanism
    shares = [one.share for one in mechanism.questions]
    if record.certificate is not None:
        problems.append("The release tells of a certificate, but such a release has none.")
    if record.schema.max_count is not None:
        problems.append("The release tells of a largest count, and nothing was cut.")
    if mechanism.name != NAME or not mechanism.questions:
        problems.append("The mechanism is not what its name says.")
    if sum(shares, Fraction(0)) != 1 or min(shares, default=Fraction(0)) <= 0:
        problems.append("The shares of the budget are not the whole, or one is none.")
    if len({one.question for one in mechanism.questions}) != len(mechanism.questions):
        problems.append("A question was measured twice.")
    if len({one.noise.price(1).kind for one in mechanism.questions}) > 1:
        problems.append("The noises of the questions are of different kinds.")
    return problems


def _kept(publication: Publication[MeasureFacts]) -> tuple[Change, tuple[Remark, ...]]:
    """The smallest change that survives what is kept, and what must be said about it."""
    record = publication.record
    kept, people = record.facts.invariants, record.schema.contributions
    if kept is None:
        return ONE_PERSON, ()
    keys = key_columns(publication.categories, record.schema.keys)
    invariants = invariant_matrix(kept.kept, keys, len(publication.counts))
    structure = structure_of(invariants)
    terms = Terms(protected_change(structure, people), people)
    law = "l1" if isinstance(record.guarantee.loss, Pure) else "gaussian"
    return terms.change, kept_remarks(law, terms, structure, invariants)


def _whole(loss: Loss, questions: tuple[QuestionFacts, ...], stretch: Stretch) -> Pure | Concentrated | None:
    """What was divided; None where the noise of all questions does not pay for the promise."""
    if not isinstance(loss, Approximate):
        return loss
    prices = [rho_of(one.noise.price(1)) * stretch.square for one in questions]
    together = sum(prices, Fraction(0))
    return Concentrated(together) if zcdp_epsilon(together, loss.delta) <= loss.epsilon.rational() else None


def _too_much(loss: Loss, whole: Pure | Concentrated) -> bool:
    """Whether less noise would keep the promise, too: then it, or the noise, is not the one that was asked for."""
    if not isinstance(loss, Approximate) or not isinstance(whole, Concentrated):
        return False
    return whole.rho < rho_for(loss.epsilon.rational(), loss.delta) * NEARLY
