"""From what was measured to what people see: public post-processing, which anybody can replay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.certify.prove import Proof, proof_of
from discreet.distribution.evidence.thresholds import FEWEST_ROWS
from discreet.distribution.privatizer import estimated
from discreet.mechanism import Form, Mechanism, NoiseThenMap, form_parameters
from discreet.privacy.values import Concentrated
from discreet.public_map import map_each, monotone_map
from discreet.ways import Published
from discreet.ways.keep_distribution.draw import Measured
from discreet.ways.keep_distribution.facts import (
    AimFacts,
    DistributionFacts,
    KeptDistribution,
    MappedMechanism,
    PartFacts,
    remarks,
)  # fmt: skip
from discreet.ways.keep_distribution.follow import LeastError, Noisy, least_error, onto, rows_of
from discreet.ways.keep_distribution.plan import DistributionPlan
from discreet.ways.keep_distribution.spec import SIGNED


def publish(plan: DistributionPlan, measured: Measured) -> Published[KeptDistribution]:
    if plan.noise is None:
        counts, facts = _constructed(plan, measured)
    else:
        facts = mapped(plan, measured)
        counts = rows_of(facts, measured.rows, measured.seen)
    form = facts.mechanism.form
    noisy = measured.rows if isinstance(form, NoiseThenMap) and form.clamp is not None else None
    return published(plan, facts, counts, noisy)


def published(
    plan: DistributionPlan, facts: KeptDistribution, counts: Integers, noisy: Integers | None
) -> Published[KeptDistribution]:
    promise = replace(plan.guarantee, remarks=remarks(facts, plan.spec.top, plan.rows))
    return Published(counts, noisy, promise, facts, plan.spec.top, _proof(plan, facts.mechanism.form))


def as_drawn(plan: DistributionPlan, measured: Measured) -> Integers | None:
    """The counts where they are the noisy ones; what is said of them takes longer."""
    spec = plan.spec
    if plan.noise is None or not (spec.signed or (spec.refined and spec.weight is None and plan.rows < FEWEST_ROWS)):
        return None
    return measured.rows if spec.signed else np.clip(measured.rows, 0, spec.cut)


def _constructed(plan: DistributionPlan, measured: Measured) -> tuple[Integers, KeptDistribution]:
    assert measured.mechanism is not None
    form, counts = measured.mechanism.form, measured.rows
    if isinstance(form, NoiseThenMap):
        counts = map_each(np.clip(measured.rows, 0, plan.spec.top), form.map, measured.public_seed)
    described = _mechanism(plan, measured, measured.mechanism.name, form)
    return counts, KeptDistribution(described, _distribution(measured, plan, _measured_distribution(plan, measured)))


def mapped(plan: DistributionPlan, measured: Measured) -> KeptDistribution:
    """Noise, then the counts that follow from it and from the distribution behind it: all but the rows."""
    assert plan.noise is not None
    found, spec = outcome(plan, measured), plan.spec
    if spec.signed:
        described = _mechanism(plan, measured, SIGNED, NoiseThenMap(plan.noise))
        return KeptDistribution(described, _distribution(measured, plan, found.distribution))
    followed, bins = found.followed, found.histogram
    top = len(bins) - 1
    seen = measured.seen.histogram(0, top).astype(float)
    form = NoiseThenMap(plan.noise, (0, top), monotone_map(seen, bins.astype(float)))
    shares = bins / bins.sum() if spec.consistent else found.distribution
    aim = AimFacts.of(spec.aim, followed.lam, followed.count_error, followed.distribution_error)
    described = _mechanism(plan, measured, "rank" if spec.consistent else "transport", form, aim)
    return KeptDistribution(described, _distribution(measured, plan, shares, bins))


def outcome(plan: DistributionPlan, measured: Measured) -> LeastError:
    """The distribution, and how many rows are to have each count."""
    assert plan.noise is not None
    first, spec = measured.stage_one, plan.spec
    if not spec.refined:
        return onto(Noisy(measured.seen, plan.noise, spec.cut), _measured_distribution(plan, measured))
    told = (None, None) if first is None else (first.answers, first.noise)
    return least_error(Noisy(measured.seen, plan.noise, spec.cut, *told), spec.weight, spec.top)


def _measured_distribution(plan: DistributionPlan, measured: Measured) -> Floats:
    """As stage one tells it; up to max_count, or to the end that its own answers chose."""
    assert measured.stage_one is not None
    answers = measured.stage_one.answers
    bins = len(answers) + 1 if plan.spec.top is None else plan.spec.top + 1
    return estimated(plan.spec.privatizer, answers, plan.rows, bins)


def _mechanism(
    plan: DistributionPlan, measured: Measured, name: str, form: Form, aim: AimFacts | None = None
) -> MappedMechanism:
    shares = {"distribution": plan.distribution, "counts": plan.counts}
    parts = tuple(PartFacts(what, loss) for what, loss in shares.items() if loss is not None)  # type: ignore[arg-type]
    refined, cut = plan.spec.refined and plan.noise is not None, plan.spec.cut is not None
    return MappedMechanism(name, form_parameters(form), form, measured.public_seed, refined, cut, aim, parts)


def _distribution(
    measured: Measured, plan: DistributionPlan, shares: Floats, histogram: Integers | None = None
) -> DistributionFacts:
    first = measured.stage_one
    if first is None:
        return DistributionFacts(shares, None, None, None, None, histogram)
    return DistributionFacts(shares, plan.spec.privatizer, first.answers, first.borders, first.noise, histogram)


def _proof(plan: DistributionPlan, form: Form) -> Proof | None:
    """For the rows' share of a pure budget; of a concentrated one the variance is the proof.

    Where the measurements are published the noise alone must be private, whatever a map makes of it.
    """
    claim = plan.counts.per_unit(plan.contributions)
    if isinstance(claim, Concentrated):
        return None
    proved = Mechanism("noise", NoiseThenMap(form.noise)) if isinstance(form, NoiseThenMap) else Mechanism("own", form)
    return proof_of(proved, claim)
