"""Keep the distribution of counts: measure it, add noise to every row, map the noisy rows onto it.

Everything after the two measurements is public post-processing, and is published with them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.build.rank import rank_map
from discreet.certify import Certificate
from discreet.distribution.max_count import MaxCount, private_max_count, refuse_few_rows
from discreet.distribution.projections import integer_bins, median
from discreet.distribution.refine import refine
from discreet.encode import map_json, mechanism_json, noise_json
from discreet.errors import BadInput, choose
from discreet.guarantee import Guarantee, unit_of
from discreet.mechanism import Mechanism, NoiseThenMap
from discreet.numbers import whole
from discreet.routes import Measured, Published, Request
from discreet.routes.budget import Budget, divide
from discreet.routes.explicit import noisy, proved
from discreet.sample.bits import Bits
from discreet.sample.laws import Geometric
from discreet.sample.public import public_words, spread_words
from discreet.sample.rows import draw_rows
from discreet.table import Schema

LARGEST_MAPPED = 1_000_000  # noisy counts beyond this are left as they are: no distribution is worth keeping so fine
BASES = ("geometric", "gaussian")


@dataclass(frozen=True, eq=False)
class TwoStageRoute:
    """Distribution, noise, map; or distribution and a mechanism constructed for it."""

    request: Request
    schema: Schema
    budget: Budget
    refined: bool
    discloses: tuple[str, ...] = ()

    @property
    def guarantee(self) -> Guarantee:
        return self.budget.guarantee

    @property
    def charged(self) -> Guarantee:
        return self.guarantee

    @property
    def max_count(self) -> int | None:
        return self.request.max_count if isinstance(self.request.max_count, int) else None

    @property
    def signed(self) -> bool:
        return self.request.mechanism in MAPPED

    @property
    def consistent(self) -> bool:
        return bool(self.request.consistent)

    def check(self, counts: Integers) -> None:
        """Every table can go this way."""

    def draw(self, counts: Integers, bits: Bits) -> Measured:
        bought = self._buy_max_count(counts, bits)
        top = self.max_count if bought is None else bought.max_count
        capped = counts if top is None else np.minimum(counts, top)
        cumulative = None
        if self.budget.distribution is not None:
            assert top is not None, "a budget for the distribution is divided off only where counts have a limit"
            prefix = np.cumsum(np.bincount(capped, minlength=top + 1))[:-1]
            cumulative = noisy(prefix, self.budget.distribution.noise, bits)
        measured = Measured(np.empty(0, dtype=np.int64), cumulative, top, bits.bytes(16).hex(), bought)
        if self.request.mechanism == "transport":
            return replace(measured, rows=noisy(capped, self.budget.rows.noise, bits))
        mechanism = self._construct(measured)
        form = mechanism.form
        rows = noisy(capped, form.noise, bits) if isinstance(form, NoiseThenMap) else draw_rows(form, capped, bits)
        return replace(measured, rows=rows, mechanism=mechanism)

    def _buy_max_count(self, counts: Integers, bits: Bits) -> MaxCount | None:
        part = self.budget.max_count
        if part is None or part.epsilon is None:
            return None
        bought = private_max_count(counts, part.epsilon, contributions=self.schema.contributions, bits=bits)
        if bought.max_count > LARGEST_MAPPED:
            raise _too_fine(bought.max_count)
        return bought

    def _construct(self, measured: Measured) -> Mechanism:
        """The mechanism for the measured distribution, certified by its maker."""
        from discreet.build.construct import construct

        assert self.budget.rows.epsilon is not None
        each = self.budget.rows.epsilon.times(Fraction(1, self.schema.contributions))
        return construct(self._measured_distribution(measured), each, method=self.request.mechanism).mechanism

    def _measured_distribution(self, measured: Measured) -> Any:
        rows = self.schema.rows
        assert measured.cumulative is not None
        return median(np.diff(measured.cumulative, prepend=0, append=rows).astype(float), float(rows))

    def publish(self, measured: Measured) -> Published:
        if self.request.mechanism == "transport":
            return self._publish_mapped(measured)
        assert measured.mechanism is not None
        counts = measured.rows
        if self.signed:
            counts = apply_map(measured.mechanism, measured.rows, measured.public_seed)
        distribution = self._distribution_json(measured, self._measured_distribution(measured))
        described = self._described(measured, mechanism_json(measured.mechanism))
        certificate = self._certificate(measured.mechanism)
        remarks = _remarks(measured.max_count)
        return Published(counts, described, distribution, remarks=remarks, certificate=certificate)

    def _publish_mapped(self, measured: Measured) -> Published:
        from discreet.build.transport import monotone_map

        top = self._range(measured)
        clamped = np.clip(measured.rows, 0, top)
        described: dict[str, Any] = {
            "noise": noise_json(self.budget.rows.noise),
            "clamp": [0, top],
            "form": "noise-then-map",
        }
        if top > LARGEST_MAPPED:
            described = self._described(measured, {**described, "name": "transport", "map": None})
            remarks = (*_remarks(measured.max_count), TOO_WIDE)
            return Published(clamped, described, remarks=remarks, certificate=self._certificate())
        seen = np.bincount(clamped, minlength=top + 1)
        target = self._target(measured, seen)
        bins = integer_bins(target, len(clamped))
        if self.consistent:
            counts = rank_rows(measured.rows, bins, measured.public_seed)
            described |= {"name": "rank", "map": None}
            distribution = self._distribution_json(measured, bins / bins.sum()) | {"histogram": bins.tolist()}
        else:
            # onto whole numbers of rows: a lone large count must not wander off into a tail of tiny shares
            public_map = monotone_map(seen.astype(float), bins.astype(float))
            counts = public_map.apply(clamped, spread_words(clamped, measured.public_seed, public_map.bits))
            described |= {"name": "transport", "map": map_json(public_map)}
            distribution = self._distribution_json(measured, target)
        described, remarks = self._described(measured, described), (*_remarks(measured.max_count), DEPENDENT)
        return Published(counts, described, distribution, remarks=remarks, certificate=self._certificate())

    def _certificate(self, mechanism: Mechanism | None = None) -> Certificate | None:
        """The proof for the rows' share of a pure budget; of a concentrated one the variance is the proof."""
        part = self.budget.rows
        if part.epsilon is None:
            return None
        each = part.epsilon.times(Fraction(1, self.schema.contributions))
        return proved(mechanism or Mechanism("noise", NoiseThenMap(part.noise)), each)

    def _range(self, measured: Measured) -> int:
        """The largest count of the map: given, bought, or read off the noisy values."""
        if measured.max_count is not None:
            return measured.max_count
        return max(1, int(measured.rows.max()))

    def _target(self, measured: Measured, seen: Integers) -> Any:
        if not self.refined:
            return self._measured_distribution(measured)
        part = self.budget.distribution
        return refine(seen, self.budget.rows.noise, measured.cumulative, None if part is None else part.noise)

    def _described(self, measured: Measured, mechanism: dict[str, Any]) -> dict[str, Any]:
        bought = measured.bought
        return {
            "route": "two-stage",
            "parameters": {},
            **mechanism,
            "map_seed": measured.public_seed,
            "refined": self.refined,
            "parts": [part.as_json() for part in self.budget.parts()],
            "bought_max_count": None if bought is None else bought.as_json(),
            "steps": self._steps(measured),
        }

    def _distribution_json(self, measured: Measured, distribution: Any) -> dict[str, Any]:
        part = self.budget.distribution
        return {
            "distribution": [float(share) for share in distribution],
            "method": None if part is None else "cumulative",
            "measurements": None if measured.cumulative is None else measured.cumulative.tolist(),
            "noise": None if part is None else noise_json(part.noise),
        }

    def _steps(self, measured: Measured) -> list[str]:
        steps = []
        if measured.bought is not None:
            steps.append(f"A twentieth of the budget bought the largest count: {measured.max_count}.")
        if measured.cumulative is not None:
            steps.append("How many rows have a count of at most 0, 1, 2, ... was measured with random noise.")
        if self.request.mechanism != "transport":
            return [
                *steps,
                f"The mechanism '{self.request.mechanism}' was built to keep that distribution, for each row.",
            ]
        steps.append("Random noise was added to the count of every row (the file of measurements).")
        if self.refined:
            steps.append("The distribution of counts was estimated from what had been measured; this costs no privacy.")
        how = "by their ranks" if self.consistent else "one by one"
        return [*steps, f"The noisy counts were mapped {how} onto that distribution; this costs no privacy either."]


MAPPED = ("transport", "unfixed")
DEPENDENT = "Rows were mapped together, so they are not independent of each other."
TOO_WIDE = "Counts are too large for their distribution to be kept; they were left as the noise made them."


def _remarks(top: int | None) -> tuple[str, ...]:
    return () if top is None else (f"Counts above {top} are treated as {top}.",)


def apply_map(mechanism: Mechanism, rows: Integers, seed: str) -> Integers:
    """Clamp and map, with public words."""
    form = mechanism.form
    assert isinstance(form, NoiseThenMap) and form.clamp is not None
    clamped = np.clip(rows, *form.clamp)
    return clamped if form.map is None else form.map.apply(clamped, public_words(seed, "map", len(rows), form.map.bits))


def rank_rows(rows: Integers, bins: Integers, seed: str) -> Integers:
    """The k-th smallest noisy value becomes the k-th smallest count of the histogram; ties are broken at random."""
    return rank_map(rows, np.cumsum(bins), public_words(seed, "ties", len(rows)))


def plan_two_stage(schema: Schema, request: Request) -> TwoStageRoute:
    """Refuses what makes no sense, and divides the budget; the counts are not looked at."""
    choose(request.base, BASES, "base noise")
    transport = request.mechanism == "transport"
    if isinstance(request.max_count, str) and request.max_count != "auto":
        raise BadInput(f"max_count = {request.max_count!r} was asked for", "it must be a whole number or 'auto'")
    if isinstance(request.max_count, int):
        request = replace(request, max_count=whole(request.max_count, "max_count", 1))
    if not transport:
        _matrix_only(request)
    refined = transport if request.refine is None else request.refine
    unit, bounded = unit_of(schema.contributions), request.max_count is not None
    if isinstance(request.max_count, int) and request.max_count > LARGEST_MAPPED:
        raise _too_fine(request.max_count)
    budget = divide(request, schema.contributions, unit, refined=refined, bounded=bounded)
    bought = budget.max_count
    if bought is not None and bought.epsilon is not None and isinstance(bought.noise, Geometric):
        refuse_few_rows(schema.rows, bought.noise.odds, bought.epsilon)
    return TwoStageRoute(request, schema, budget, refined)


def _too_fine(top: int) -> BadInput:
    return BadInput(
        f"a largest count of {top} was asked for, or bought",
        f"the distribution of counts is kept up to {LARGEST_MAPPED:,} only",
        "Leave max_count out, or use mechanism 'geometric'",
    )


def _matrix_only(request: Request) -> None:
    """What a constructed mechanism cannot do."""
    name = request.mechanism
    if request.max_count is None:
        raise BadInput(f"the mechanism {name!r} was asked for", "it needs a max_count", "Give a number or 'auto'")
    if request.refine:
        raise BadInput(f"refinement was asked for with {name!r}", "only mapped noise can be refined", "Use 'transport'")
    if request.rho is not None or request.base == "gaussian":
        raise BadInput(f"Gaussian noise was asked for with {name!r}", "it is built for pure epsilon", "Use 'transport'")
    if request.consistent:
        raise BadInput(f"consistent was asked for with {name!r}", "only ranks keep it", "Use 'transport'")
