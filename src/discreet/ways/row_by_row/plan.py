"""A mechanism by name, or of the user's own, certified for what was asked. The counts are not looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from discreet.certify.prove import Proof, proof_of
from discreet.errors import BadInput, called
from discreet.laws import law_named
from discreet.mechanism import Form, Mechanism, NoiseThenMap
from discreet.privacy.values import Approximate, Guarantee, Loss, Remark, noise_meant, odds_only, one_person, pure_only
from discreet.table import Schema
from discreet.ways.row_by_row.facts import (
    OWN,
    by_ratio,
    grade_of,
    least_loss,
    near_zero,
    need_no_delta,
    neighbours,
    price_of,
    proved_form,
    remarks,
    unit_loss,
)  # fmt: skip
from discreet.ways.row_by_row.spec import MATRICES, SIGNED, RowByRow


@dataclass(frozen=True, eq=False)
class RowPlan:
    """One mechanism for every row, and its proof."""

    spec: RowByRow
    mechanism: Mechanism
    max_count: int | None
    guarantee: Guarantee
    certificate: Proof | None
    min_count: int | None = None
    discloses: tuple[str, ...] = ()
    apart: ClassVar[bool] = True

    @property
    def law(self) -> str:
        return self.mechanism.name

    @property
    def laws(self) -> tuple[Form, ...]:
        """What a count goes through before anything of it is published."""
        return (proved_form(self.mechanism.form),)

    @property
    def steps(self) -> tuple[Remark, ...]:
        top, people = self.max_count, self.guarantee.unit.contributions
        cut = Remark("leave-uncut") if top is None else Remark.of("cut-at", max_count=top)
        raised = () if self.min_count is None else (Remark.of("raise-to", min_count=self.min_count),)
        name, paid = self.mechanism.name, str(self.guarantee.loss)
        drawn = Remark.of("draw-rows", price=paid, mechanism=name)
        price = drawn if name != OWN else Remark.of("draw-rows-own", price=paid)
        widened = (Remark.of("widened", contributions=people),) if people > 1 else ()
        small = near_zero(self.mechanism.form, self.min_count) if self.spec.bounded else ()
        return (cut, *raised, price, *widened, *small)


def plan(schema: Schema, loss: Loss, spec: RowByRow) -> RowPlan:
    made = plan_one(schema, loss, spec)
    if isinstance(loss, Approximate):
        refuse_needless([made.mechanism.form], loss, schema.contributions)
    least = least_loss([made.mechanism.form], loss, schema.contributions) if spec.own else loss
    return made if least == loss else promised(least, spec, made.mechanism, schema.contributions)


def refuse_needless(forms: list[Form], loss: Loss, contributions: int) -> None:
    """Refuse a delta that none of these mechanisms needs."""
    if need_no_delta(forms, loss, contributions):
        pure_only(loss, "this mechanism")


def plan_one(schema: Schema, loss: Loss, spec: RowByRow) -> RowPlan:
    """One mechanism of possibly several."""
    people = schema.contributions
    if spec.mechanism is None:
        spec = replace(spec, mechanism=noise_meant(loss, None, "geometric", "discrete-gaussian"))
    if spec.bounded:
        return _bounded(loss, spec, people)
    mechanism = _own(loss, spec) if spec.own else _named(loss, spec, people)
    return promised(loss, spec, mechanism, people)


def promised(loss: Loss, spec: RowByRow, mechanism: Mechanism, people: int) -> RowPlan:
    """With the proof of the promise."""
    price, top, proof = price_of(mechanism.form), mechanism.max_count, None
    if by_ratio(price, loss, people):
        proof = proof_of(Mechanism(mechanism.name, proved_form(mechanism.form)), unit_loss(loss, people))
    promise = Guarantee(loss, neighbours(price, loss, people), grade_of(price, loss), remarks(mechanism.form))
    return RowPlan(spec, mechanism, top, promise, proof)


def _bounded(loss: Loss, spec: RowByRow, people: int) -> RowPlan:
    """Noise whose delta is worked out: the one that was asked for, if any, is the most it may be."""
    from discreet.ways.row_by_row.bounded import bounded

    mechanism, unit, whole = bounded(spec, loss, people)
    proof = proof_of(Mechanism(mechanism.name, proved_form(mechanism.form)), unit)
    said = remarks(mechanism.form, spec.min_count)
    promise = Guarantee(whole, one_person(unit, people), "exact", said)
    return RowPlan(spec, mechanism, mechanism.max_count, promise, proof, spec.min_count)


def _named(loss: Loss, spec: RowByRow, people: int) -> Mechanism:
    if spec.mechanism in MATRICES:
        from discreet.build.explicit import explicit
        from discreet.ways.row_by_row.own import refuse_unwritable

        each = unit_loss(pure_only(loss, f"the mechanism {spec.mechanism!r}"), people)
        made = explicit(spec.mechanism, spec.max_count, each.epsilon)
        refuse_unwritable(
            made.form, f"the mechanism {spec.mechanism!r} was asked for", f"Give a smaller {called('max_count')}"
        )
        return made
    signed = spec.mechanism == SIGNED
    noise = law_named("geometric" if signed else spec.mechanism).calibrated(loss, people)
    if signed:
        return Mechanism(SIGNED, NoiseThenMap(noise))
    if spec.max_count is not None or spec.mechanism == "geometric":
        return Mechanism(spec.mechanism, NoiseThenMap(noise, (0, spec.max_count)))
    if spec.mechanism != "discrete-gaussian":
        found = f"it needs a {called('max_count')}"
        raise BadInput(
            f"the mechanism {spec.mechanism!r} was asked for", found, f"Give {called('max_count')}, or use geometric"
        )
    return Mechanism(spec.mechanism, NoiseThenMap(noise))


def _own(loss: Loss, spec: RowByRow) -> Mechanism:
    """A mechanism of the user's: its size is the largest count."""
    from discreet.ways.row_by_row.own import own_mechanism

    odds_only(loss, "a mechanism of your own")
    mechanism = own_mechanism(spec.mechanism)
    if spec.max_count not in (None, mechanism.max_count):
        range_of_it = "of any size" if mechanism.max_count is None else f"up to {mechanism.max_count}"
        found = f"the mechanism given is for counts {range_of_it}"
        raise BadInput(
            f"{called('max_count', spec.max_count)} was asked for", found, f"Leave {called('max_count')} out"
        )
    return mechanism
