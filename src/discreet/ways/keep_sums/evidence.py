"""What a release that keeps sums tells an analyst: counts whose joint noise has a public law."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.estimate.joint import SEED, SIMULATED, Again, JointRows
from discreet.estimate.possible import KeptBounds
from discreet.estimate.told import SumEstimates, around
from discreet.estimate.view import Estimate
from discreet.lattice.laws import width_of
from discreet.lattice.plan import LatticePlan
from discreet.lattice.projection import project
from discreet.lattice.sampler import for_learning, pieces_for
from discreet.lattice.tails import error_remark
from discreet.laws import Geometric, NoiseLaw
from discreet.numbers import decimal_above
from discreet.privacy.values import Remark
from discreet.record.release import Publication
from discreet.report.errors import ENOUGH_ROWS, Errors, noise_size
from discreet.sample.bits import seeded
from discreet.ways.keep_sums.facts import KeptSums, built_with

if TYPE_CHECKING:
    from scipy.sparse import csr_array


ERRORS_DRAWN = 20_000  # errors of rows that are averaged: so the second digit is known


@dataclass(frozen=True, eq=False)
class KeptAlone:
    """The kept sums of a release in parts, in place of rows: they have no error."""

    kept: Integers
    conservative: bool = False

    @property
    def rows(self) -> int:
        return len(self.kept)

    def sums(self, weights: csr_array, level: float) -> SumEstimates:
        estimate = np.asarray(weights @ self.kept, dtype=float)
        none = np.zeros(len(estimate))
        return around(estimate, none, none, np.ones(len(estimate), dtype=bool))

    def covariances(self, weights: csr_array, one: csr_array) -> Floats:
        return np.zeros(weights.shape[0])

    def noisy(self, weights: csr_array, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        return np.asarray(weights @ self.kept, dtype=float), np.zeros((draws, weights.shape[0]))


def evidence(publication: Publication[KeptSums], level: float) -> Estimate:
    """From the signed values, where the counts were made from them: these are biased, those are not."""
    facts, signed = publication.record.facts, publication.measured
    if publication.in_parts is not None:
        why = "the release is in parts and keeps sums, so that without its rows only their total is told"
        told_sums = KeptAlone(facts.invariants.sums)
        return Estimate(told_sums, None, level, why_only_sums=why, in_parts=publication.record.schema.rows)
    told = _joint(publication)
    if facts.mechanism.restricted:
        told = replace(told, again=_conditioned(publication, told), conservative=True)
    elif facts.mechanism.projected and signed is None:
        told = replace(told, again=_projected(publication, told), conservative=True)
    why = "the release keeps sums, so the noise of its rows is joint, and only sums of rows are estimated from it"
    kept = KeptBounds(lambda: told.invariants.matrix, publication.counts) if facts.invariants.kept else None
    return Estimate(told, publication.categories, level, why_only_sums=why, kept=kept)


def _joint(publication: Publication[KeptSums]) -> JointRows:
    mechanism, invariants = publication.record.facts.mechanism, publication.record.facts.invariants
    signed = publication.measured
    known = invariants.fixed - 1 if mechanism.nonnegative or mechanism.restricted else np.zeros(0, dtype=np.int64)
    return JointRows(
        publication.counts if signed is None else signed, publication.counts, lambda: built_with(publication),
        known, mechanism.noise,
    )  # fmt: skip


def _conditioned(publication: Publication[KeptSums], told: JointRows) -> Again:
    """Noise that was conditioned on inequalities has a law that depends on the true counts. The published ones stand in
    for them, and are released again."""

    def again(number: int) -> Integers:
        mechanism = publication.record.facts.mechanism
        inside = mechanism.conditioned and mechanism.noise.odds is not None
        pieces = tuple(for_learning(piece) for piece in pieces_for(told.structure, mechanism.noise, inside))
        plan = LatticePlan(
            told.invariants, told.structure, mechanism.noise, pieces,
            publication.record.guarantee, mechanism.conditioned, mechanism.inequalities,
        )  # fmt: skip
        return plan.draws(number, seeded(SEED), publication.counts)

    return again


def _projected(publication: Publication[KeptSums], told: JointRows) -> Again:
    """The signed values are not published: the published counts get noise again, and are projected again."""

    def again(number: int) -> Integers:
        counts, noise = publication.counts, told.drawn(number)
        return np.stack([project(told.structure, counts + one).counts - counts for one in noise])

    return again


def errors(publication: Publication[KeptSums], view: Estimate | None) -> Errors | None:
    """On average over all rows, by the errors that intervals are made from: no row has one of its own."""
    rows, mechanism = publication.record.schema.rows, publication.record.facts.mechanism
    if view is None or not isinstance(view.told, JointRows) or not ENOUGH_ROWS <= rows <= SIMULATED:
        noise = _of_a_row(publication, view)
        return None if noise is None else Errors(np.zeros(0), np.zeros(0), None, most=noise_size(noise))
    if mechanism.projected and not mechanism.restricted:
        typical = _projected_twice(publication.counts, view.told, -(-ERRORS_DRAWN // rows))
    else:
        typical = float(np.abs(view.told.noise[: -(-ERRORS_DRAWN // rows)]).mean())
    return Errors(np.zeros(0), np.zeros(0), typical)


def _of_a_row(publication: Publication[KeptSums], view: Estimate | None) -> NoiseLaw | None:
    """Noise that leads as far as that of a row, or farther; None where none is known. In a block whose sum is kept a
    row errs less than by noise of its own: the more it errs, the less likely are the others to make up for it."""
    mechanism = publication.record.facts.mechanism
    if mechanism.restricted or mechanism.projected:
        return None
    if publication.in_parts is not None:  # where no block meets another
        return None if mechanism.noise.odds is None else Geometric(mechanism.noise.odds)
    return view.told.noise_apart if view is not None and isinstance(view.told, JointRows) else None


def _projected_twice(counts: Integers, told: JointRows, number: int) -> float:
    """The error of a table that is released from the published one. How it goes on to a table that is released from
    that one is taken for how it came about: small counts become fewer, or more, every time."""
    noise = told.noise if told.again is None else told.drawn(2 * number)
    first = np.stack([project(told.structure, counts + one).counts for one in noise[:number]])
    second = np.stack([project(told.structure, one + other).counts for one, other in zip(first, noise[number:])])
    once, twice = np.abs(first - counts).mean(), np.abs(second - first).mean()
    return float(once * once / twice) if twice else float(once)


def unbiased(publication: Publication[KeptSums]) -> bool:
    """Noise that goes up as often as down, and nothing after it."""
    mechanism = publication.record.facts.mechanism
    return not mechanism.nonnegative and mechanism.inequalities is None


def steps(publication: Publication[KeptSums]) -> tuple[Remark, ...]:
    mechanism = publication.record.facts.mechanism
    if not publication.record.facts.invariants.kept:
        return Remark.of("free-noise-added", sampler=mechanism.sampler), *_afterwards(publication)
    noise = Remark.of("lattice-noise-added", sampler=mechanism.sampler)
    return Remark("turned-into-a-lattice"), noise, *_afterwards(publication)


def _afterwards(publication: Publication[KeptSums]) -> Iterator[Remark]:
    """How much noise there is at most, and what became of negative counts."""
    mechanism, free = publication.record.facts.mechanism, publication.record.facts.invariants.dimensions
    if not mechanism.restricted and publication.record.guarantee.grade != "diagnosed":
        yield error_remark(mechanism.noise, free, publication.record.schema.rows)
    if mechanism.projected:
        yield Remark("projected" if publication.measured is not None else "projected-unpublished")
        if mechanism.projection is not None and mechanism.projection.gap:
            yield Remark.of("projected-nearly", gap=decimal_above(mechanism.projection.gap, 2))
    elif mechanism.conditioned:
        yield Remark.of("noise-conditioned", empty=f"{float(width_of(mechanism.noise)):.2g}")
    if mechanism.inequalities is not None:
        yield Remark("inequalities-met")
    elif not mechanism.nonnegative:
        yield Remark("nothing-repaired")
