"""From what was measured to what people see: public post-processing, which anybody can replay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.certify.prove import Proof, proof_of
from discreet.distribution.privatizer import estimated
from discreet.distribution.projections import integer_bins
from discreet.distribution.refine import refine
from discreet.mechanism import Form, Mechanism, NoiseThenMap, form_parameters
from discreet.privacy.values import Concentrated
from discreet.public_map import map_each, map_onto, rank_rows
from discreet.ways import Published
from discreet.ways.keep_distribution.draw import Measured
from discreet.ways.keep_distribution.facts import (
    BoughtFacts,
    DistributionFacts,
    KeptDistribution,
    MappedMechanism,
    PartFacts,
    remarks,
)  # fmt: skip
from discreet.ways.keep_distribution.plan import DistributionPlan
from discreet.ways.keep_distribution.spec import LARGEST_MAPPED


def publish(plan: DistributionPlan, measured: Measured) -> Published[KeptDistribution]:
    if plan.noise is None:
        counts, facts = _constructed(plan, measured)
    else:
        counts, facts = _mapped(plan, measured)
    promise = replace(plan.guarantee, remarks=remarks(facts, measured.max_count))
    signed = measured.rows if isinstance(facts.mechanism.form, NoiseThenMap) else None
    return Published(counts, signed, promise, facts, measured.max_count, _proof(plan, facts.mechanism.form))


def _constructed(plan: DistributionPlan, measured: Measured) -> tuple[Integers, KeptDistribution]:
    assert measured.mechanism is not None
    form, counts = measured.mechanism.form, measured.rows
    if isinstance(form, NoiseThenMap):
        counts = map_each(np.clip(measured.rows, 0, measured.max_count), form.map, measured.public_seed)
    described = _mechanism(plan, measured, measured.mechanism.name, form)
    return counts, KeptDistribution(described, _distribution(measured, plan, _measured_distribution(plan, measured)))


def _mapped(plan: DistributionPlan, measured: Measured) -> tuple[Integers, KeptDistribution]:
    assert plan.noise is not None
    top = measured.max_count if measured.max_count is not None else max(1, int(measured.rows.max()))
    clamped = np.clip(measured.rows, 0, top)
    form = NoiseThenMap(plan.noise, (0, top))
    if top > LARGEST_MAPPED:
        return clamped, KeptDistribution(_mechanism(plan, measured, "transport", form), None)
    seen = np.bincount(clamped, minlength=top + 1)
    target = _target(plan, measured, seen)
    bins = integer_bins(target, len(clamped))
    if plan.spec.consistent:
        counts = rank_rows(measured.rows, bins, measured.public_seed)
        shares = _distribution(measured, plan, bins / bins.sum(), bins)
        return counts, KeptDistribution(_mechanism(plan, measured, "rank", form), shares)
    # onto whole numbers of rows: a lone large count must not wander off into a tail of tiny shares
    counts, public_map = map_onto(clamped, seen, bins, measured.public_seed)
    described = _mechanism(plan, measured, "transport", replace(form, map=public_map))
    return counts, KeptDistribution(described, _distribution(measured, plan, target))


def _target(plan: DistributionPlan, measured: Measured, seen: Integers) -> Floats:
    """The distribution that rows are mapped onto."""
    if not plan.refined:
        return _measured_distribution(plan, measured)
    assert plan.noise is not None
    return refine(seen, plan.noise, measured.answers, measured.noise)


def _measured_distribution(plan: DistributionPlan, measured: Measured) -> Floats:
    assert measured.answers is not None and measured.max_count is not None
    return estimated(plan.spec.privatizer, measured.answers, plan.rows, measured.max_count + 1)


def _mechanism(plan: DistributionPlan, measured: Measured, name: str, form: Form) -> MappedMechanism:
    shares = {"max_count": plan.max_count, "distribution": plan.distribution, "counts": plan.counts}
    parts = tuple(PartFacts(what, loss) for what, loss in shares.items() if loss is not None)  # type: ignore[arg-type]
    paid = measured.bought
    bought = None if paid is None else BoughtFacts(paid.quantile, paid.above, paid.noise.odds)
    refined = plan.refined and plan.noise is not None
    return MappedMechanism(name, form_parameters(form), form, measured.public_seed, refined, parts, bought)


def _distribution(
    measured: Measured, plan: DistributionPlan, shares: Floats, histogram: Integers | None = None
) -> DistributionFacts:
    method = None if measured.answers is None else plan.spec.privatizer
    return DistributionFacts(shares, method, measured.answers, measured.noise, histogram)


def _proof(plan: DistributionPlan, form: Form) -> Proof | None:
    """For the rows' share of a pure budget; of a concentrated one the variance is the proof.

    Where the measurements are published the noise alone must be private, whatever a map makes of it.
    """
    claim = plan.row_loss
    if isinstance(claim, Concentrated):
        return None
    proved = Mechanism("noise", NoiseThenMap(form.noise)) if isinstance(form, NoiseThenMap) else Mechanism("own", form)
    return proof_of(proved, claim)
