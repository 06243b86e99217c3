"""That noise on a lattice is wide enough for the smallest change that survives what is kept."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import choose
from discreet.lattice.laws import LAWS, LatticeLaw
from discreet.lattice.neighbours import grade_of, neighbours, remarks, terms_of
from discreet.lattice.sampler import pieces_for, sampler_names
from discreet.numbers import text
from discreet.privacy.values import ROWS_ARE_PUBLIC, Remark
from discreet.record.release import Publication, ReleaseRecord
from discreet.ways.keep_sums.facts import KeptSums, LatticeFacts, described, kept_of

RESOLVED = Fraction(29, 10_000)  # a thousand runs without a failure show a chance below about 3/1000, not less


def prove(publication: Publication[KeptSums]) -> list[str]:
    """The noise pays for the promise, and the promise is about the change that what is kept leaves."""
    record = publication.record
    mechanism, promise = record.facts.mechanism, record.guarantee
    choose(mechanism.law, LAWS, "law")
    noise = mechanism.noise
    problems = _shape(record, noise)
    if problems:
        return problems
    invariants, structure = kept_of(publication)
    people = record.schema.contributions
    limits, per_unit = mechanism.inequalities, promise.unit.per_unit
    terms = terms_of(structure, mechanism.law, people, per_unit, mechanism.conditioned, limits)
    said = (ROWS_ARE_PUBLIC, *remarks(noise, terms, structure, invariants, mechanism.projected))
    if mechanism.bound != terms.bound:
        problems.append("What conditioning costs is bounded in another way than is proved for what is kept.")
    if promise.unit != neighbours(noise, terms):
        problems.append("The guarantee is about other neighbours than what is kept leaves.")
    if promise.remarks[: len(said)] != said:
        problems.append("The guarantee's remarks are not those that belong to what is kept.")
    if not noise.pays(promise.loss, terms):
        problems.append("The noise is smaller than what is claimed needs.")
    if mechanism.sampler != sampler_names(
        pieces_for(structure, noise, mechanism.conditioned and noise.odds is not None)
    ):
        problems.append("The noise was not drawn by the sampler that belongs to what is kept.")
    return [*problems, *_grade(record, noise, promise.remarks[len(said) :])]


def _shape(record: ReleaseRecord[KeptSums], noise: LatticeLaw) -> list[str]:
    """Nothing is said that belongs to another kind of release, and the noise is what it is called."""
    problems = []
    if record.certificate is not None:
        problems.append("The release tells of a certificate, but such a release has none.")
    if record.schema.max_count is not None:
        problems.append("The release tells of a largest count, which would change the kept sums.")
    limits = record.facts.mechanism.inequalities
    if limits is not None and (limits.matrix.shape[1] != record.schema.rows or len(limits.pinned())):
        problems.append("The inequalities are about other rows, or leave one of them a single value.")
    if not _is_itself(record.facts.mechanism, noise) or not _one_way(record.facts.mechanism):
        problems.append("The mechanism is not what its name says.")
    return problems


def _is_itself(mechanism: LatticeFacts, noise: LatticeLaw) -> bool:
    same = described(noise, mechanism.sampler)
    return (same.name, same.parameters) == (mechanism.name, mechanism.parameters)


def _one_way(mechanism: LatticeFacts) -> bool:
    """Whether negative counts are met in one way, and only that one is told of."""
    settled = mechanism.nonnegative == (mechanism.nonnegative_by is not None)
    told = mechanism.projected == (mechanism.projection is not None)
    return settled and told and not (mechanism.projected and mechanism.inequalities is not None)


def _grade(record: ReleaseRecord[KeptSums], noise: LatticeLaw, more: tuple[Remark, ...]) -> list[str]:
    """A chain's sample is never said to be exact; its distance is part of the delta."""
    promise, epsilon, delta = record.guarantee, record.guarantee.loss.epsilon, record.guarantee.loss.delta
    chain = "chain" in record.facts.mechanism.sampler.split("+")
    if delta and not chain and noise.variance is None:
        return ["A delta is claimed, but the noise is pure."]
    if chain and epsilon is not None and delta < (1 + epsilon.bounds()[0]) * RESOLVED:
        return ["The delta of a chain is below anything that its runs could show."]
    charged = chain and delta > 0 and more == (Remark.of("chain", delta=text(delta)),)
    right = (
        charged and promise.grade == "diagnosed"
        if chain
        else promise.grade == grade_of(noise, promise.loss) and not more
    )
    return [] if right else ["The grade of the guarantee is not the one of its sampler."]
