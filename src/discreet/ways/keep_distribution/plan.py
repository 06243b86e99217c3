"""How a release that keeps the distribution divides its budget. The counts are not looked at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from discreet.distribution.max_count import refuse_few_rows
from discreet.distribution.privatizer import noise_for
from discreet.distribution.split import checked_split, default_split, rho_split
from discreet.errors import BadInput
from discreet.laws import NoiseLaw, law_named
from discreet.laws.geometric import Geometric
from discreet.numbers import Epsilon, text
from discreet.privacy.convert import rho_for
from discreet.privacy.values import Approximate, Concentrated, Guarantee, Loss, Pure, Remark, gaussian_only, pure_only
from discreet.table import Schema
from discreet.ways.keep_distribution.facts import Share, grade_of, neighbours, per_unit
from discreet.ways.keep_distribution.spec import AUTO, CUMULATIVE, LARGEST_MAPPED, KeepDistribution

SHARE_OF_MAX_COUNT = Fraction(1, 20)  # a quantile is a coarse question: a larger share would be missed elsewhere


@dataclass(frozen=True, eq=False)
class DistributionPlan:
    """What will be measured, which share of the budget each step gets, and what that promises."""

    spec: KeepDistribution
    rows: int
    contributions: int
    guarantee: Guarantee
    noise: NoiseLaw | None  # of the rows, before the map; None where a mechanism will be constructed
    refined: bool
    counts: Share
    distribution: Share | None = None
    max_count: Pure | None = None
    discloses: tuple[str, ...] = ()

    @property
    def row_loss(self) -> Share:
        """What one unit in one row may cost in the step that draws the rows."""
        return per_unit(self.counts, self.contributions)

    @property
    def apart(self) -> bool:
        """One person moved changes two different answers, or one answer in two directions, where they are cumulative.

        Other answers, and the borders of a bought largest count, may be pushed the same way by both rows.
        """
        return self.max_count is None and (self.distribution is None or self.spec.privatizer == CUMULATIVE)

    @property
    def law(self) -> str:
        return self.spec.mechanism

    @property
    def steps(self) -> tuple[Remark, ...]:
        return tuple(_steps(self))


def plan(schema: Schema, loss: Loss, spec: KeepDistribution) -> DistributionPlan:
    """Shares for a bought largest count, for the distribution, and the rest for the rows."""
    transport, gaussian = spec.mechanism == "transport", spec.base == "gaussian"
    if transport and (gaussian or (spec.base is None and isinstance(loss, Concentrated))):
        return _concentrated(schema, gaussian_only(loss, "the base noise 'gaussian'"), spec)
    what = f"{spec.base or 'geometric'} noise" if transport else f"the mechanism {spec.mechanism!r}"
    return _pure(schema, pure_only(loss, what), spec)


def _pure(schema: Schema, loss: Pure, spec: KeepDistribution) -> DistributionPlan:
    left, bought = loss, None
    if spec.max_count == AUTO:
        bought, left = loss.times(SHARE_OF_MAX_COUNT), loss.times(1 - SHARE_OF_MAX_COUNT)
    each = per_unit(loss, schema.contributions).epsilon or loss.epsilon
    split = _split(spec, default_split(each, spec.refined))
    return _made(schema, loss, spec, left.times(1 - split), left.times(split) if split else None, bought)


def _concentrated(schema: Schema, loss: Approximate | Concentrated, spec: KeepDistribution) -> DistributionPlan:
    rho = loss.rho if isinstance(loss, Concentrated) else rho_for(loss.epsilon.rational(), loss.delta)
    left, bought = Concentrated(rho), None
    if spec.max_count == AUTO:
        share = SHARE_OF_MAX_COUNT * rho
        # pure epsilon costs epsilon^2 / 2 of rho
        bought = Pure(Epsilon(value=Fraction(math.isqrt(math.floor(2 * share * 10**12)), 10**6)))
        left = Concentrated(rho - share)
    split = _split(spec, rho_split())
    return _made(schema, loss, spec, left.times(1 - split), left.times(split) if split else None, bought)


def _made(
    schema: Schema, loss: Loss, spec: KeepDistribution, counts: Share, distribution: Share | None, bought: Pure | None
) -> DistributionPlan:
    """The plan, once the shares are known."""
    if bought is not None:
        geometric = Geometric.calibrated(bought, schema.contributions)
        refuse_few_rows(schema.rows, geometric.odds, bought.epsilon)
    noise = None
    if spec.mechanism == "transport":
        gaussian = isinstance(counts, Concentrated)
        noise = law_named("discrete-gaussian" if gaussian else spec.base or "geometric").calibrated(
            counts, schema.contributions
        )
    if distribution is not None:  # noise that cannot be drawn is refused here, while nothing is spent
        bins = (LARGEST_MAPPED if bought is not None else spec.top or 0) + 1
        noise_for(spec.privatizer, bins, distribution, schema.contributions)
    shares = [share for share in (bought, distribution, counts) if share is not None]
    promise = Guarantee(loss, neighbours(shares, schema.contributions), grade_of(loss))
    return DistributionPlan(
        spec, schema.rows, schema.contributions, promise, noise, spec.refined, counts, distribution, bought
    )


def _split(spec: KeepDistribution, otherwise: Fraction) -> Fraction:
    """The share of the distribution: as asked for, or the one chosen by the study."""
    asked = None if spec.split is None else Fraction(spec.split)
    if spec.max_count is None:
        if asked:
            raise BadInput(
                f"split = {text(asked)} was asked for without max_count",
                "the distribution can be measured only over a known range",
                "Give max_count (or 'auto'), or split 0",
            )
        return checked_split(Fraction(0), spec.refined)
    return otherwise if asked is None else checked_split(asked, spec.refined)


def _steps(plan: DistributionPlan) -> Iterator[Remark]:
    """In the order in which they are done, each with its price."""
    spec = plan.spec
    if plan.max_count is not None:
        yield Remark.of("buy-max-count", price=str(plan.max_count), rows=plan.rows)
    if spec.max_count is None:
        yield Remark("leave-uncut")
    else:
        yield Remark.of("cut-at", max_count=spec.max_count)
    if plan.distribution is not None:
        yield Remark.of("measure-distribution", price=str(plan.distribution), privatizer=spec.privatizer)
    if spec.mechanism != "transport":
        yield Remark.of("construct", mechanism=spec.mechanism)
        yield Remark.of("draw-rows", price=str(plan.counts), mechanism=spec.mechanism)
    else:
        yield Remark.of("add-noise", price=str(plan.counts), rows=plan.rows)
        if spec.refined:
            yield Remark("refine")
        yield Remark("map-by-rank" if spec.consistent else "map-one-by-one")
    if plan.contributions > 1:
        yield Remark.of("widened", contributions=plan.contributions)
