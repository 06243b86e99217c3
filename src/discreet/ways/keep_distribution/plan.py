"""How a release that keeps the distribution divides its budget. The counts are not looked at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from discreet.distribution.privatizer import noise_for
from discreet.distribution.split import RHO_SHARE, checked_split, followed_split, sparse
from discreet.laws import NoiseLaw, law_named
from discreet.mechanism import Form, NoiseThenMap
from discreet.privacy.convert import rho_for
from discreet.privacy.values import (
    Approximate,
    Concentrated,
    Guarantee,
    Loss,
    Remark,
    Share,
    gaussian_only,
    grade_of,
    noise_meant,
    priced,
    pure_only,
)
from discreet.table import Schema
from discreet.ways.keep_distribution.facts import known_remarks, left_alone
from discreet.ways.keep_distribution.spec import CUMULATIVE, LARGEST_MAPPED, KeepDistribution

MAPS = {
    "balance": Remark("map-balance"),
    "counts": Remark("map-counts"),
    "distribution": Remark("map-distribution"),
    "lam": Remark("map-lam"),
}


@dataclass(frozen=True, eq=False)
class DistributionPlan:
    """What will be measured, which share of the budget each step gets, and what that promises."""

    spec: KeepDistribution
    rows: int
    contributions: int
    guarantee: Guarantee
    noise: NoiseLaw | None  # of the rows, before the map; None where a mechanism will be constructed
    counts: Share
    distribution: Share | None = None
    discloses: tuple[str, ...] = ()

    @property
    def apart(self) -> bool:
        """One person moved changes two different answers, or one answer in two directions, where they are cumulative.

        Other answers may be pushed the same way by both rows.
        """
        return self.distribution is None or self.spec.privatizer == CUMULATIVE

    @property
    def law(self) -> str:
        return self.spec.mechanism

    @property
    def laws(self) -> tuple[Form, ...]:
        """What a count goes through, where nothing else is measured of it."""
        return (NoiseThenMap(self.noise),) if self.noise is not None and self.distribution is None else ()

    @property
    def steps(self) -> tuple[Remark, ...]:
        return tuple(_steps(self))


def plan(schema: Schema, loss: Loss, spec: KeepDistribution) -> DistributionPlan:
    """A share for the distribution, and the rest for the rows."""
    constructed = spec.mechanism != "transport"
    base = "geometric" if constructed else noise_meant(loss, spec.base, "geometric", "gaussian")
    if base == "gaussian":
        return _concentrated(schema, gaussian_only(loss, "the base noise 'gaussian'"), spec)
    pure = pure_only(loss, f"the mechanism {spec.mechanism!r}" if constructed else f"{base} noise")
    each = float(pure.per_unit(schema.contributions).epsilon)
    return _made(schema, pure, spec, pure, _split(spec, each, schema.rows))


def _concentrated(schema: Schema, loss: Approximate | Concentrated, spec: KeepDistribution) -> DistributionPlan:
    rho = loss.rho if isinstance(loss, Concentrated) else rho_for(loss.epsilon.rational(), loss.delta)
    each = math.sqrt(2 * rho) / schema.contributions  # the epsilon whose price in rho is that
    return _made(schema, loss, spec, Concentrated(rho), _split(spec, each, schema.rows, RHO_SHARE))


def _made(schema: Schema, loss: Loss, spec: KeepDistribution, whole: Share, split: Fraction) -> DistributionPlan:
    """The plan, once the split is known."""
    counts, distribution = (whole.times(1 - split), whole.times(split)) if split else (whole, None)
    noise = None
    if spec.mechanism == "transport":
        gaussian = isinstance(counts, Concentrated)
        noise = law_named("discrete-gaussian" if gaussian else spec.base or "geometric").calibrated(
            counts, schema.contributions
        )
    if distribution is not None:  # noise that cannot be drawn is refused here, while nothing is spent
        noise_for(spec.privatizer, (spec.top or LARGEST_MAPPED) + 1, distribution, schema.contributions)
    shares: list[Share] = [counts] if distribution is None else [distribution, counts]
    said = known_remarks(spec.cut, spec.signed)
    promise = Guarantee(loss, priced(shares, schema.contributions), grade_of(loss), said)
    return DistributionPlan(spec, schema.rows, schema.contributions, promise, noise, counts, distribution)


def _split(spec: KeepDistribution, epsilon: float, rows: int, followed: Fraction | None = None) -> Fraction:
    """The share of the distribution: as asked for; where it is the aim, or nothing else tells it, the one chosen by the
    study, or `followed`. Otherwise nothing: every row pays for a share, and some tables would err more by it than by
    plain noise."""
    if spec.split is not None:
        return checked_split(spec.split, spec.refined)
    if spec.refined and (spec.aim != "distribution" or sparse(rows, spec.top)):
        return Fraction(0)
    return followed_split(epsilon, spec.refined) if followed is None else followed


def _steps(plan: DistributionPlan) -> Iterator[Remark]:
    """In the order in which they are done, each with its price."""
    spec = plan.spec
    yield Remark("leave-uncut") if spec.cut is None else Remark.of("cut-at", max_count=spec.cut)
    if plan.distribution is not None:
        yield Remark.of("measure-distribution", price=str(plan.distribution), privatizer=spec.privatizer)
    if spec.mechanism != "transport":
        yield Remark.of("construct", mechanism=spec.mechanism)
        yield Remark.of("draw-rows", price=str(plan.counts), mechanism=spec.mechanism)
    else:
        yield Remark.of("add-noise", price=str(plan.counts), rows=plan.rows)
        if spec.refined:
            yield Remark("refine")
        if not spec.signed:
            yield _mapped(plan)
    if plan.contributions > 1:
        yield Remark.of("widened", contributions=plan.contributions)


def _mapped(plan: DistributionPlan) -> Remark:
    """What becomes of the noisy counts."""
    if plan.noise is not None and left_alone(plan.noise, plan.spec.aim, plan.rows):
        return Remark("map-plain")
    return Remark("map-by-rank") if plan.spec.consistent else MAPS[plan.spec.aim]
