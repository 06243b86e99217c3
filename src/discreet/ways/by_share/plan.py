"""One mechanism for every column of counts, each for its share. The counts are not looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.io.layout import COUNTED
from discreet.mechanism import Form
from discreet.numbers import few_digits
from discreet.privacy.values import Approximate, Guarantee, Loss, Remark
from discreet.report.errors import noise_size
from discreet.table import Schema
from discreet.ways.by_share.facts import noise_of, remarks_of, rows_of, share_of, shared_neighbours
from discreet.ways.by_share.spec import ByShare
from discreet.ways.row_by_row.facts import proved_form
from discreet.ways.row_by_row.plan import RowPlan, plan_one
from discreet.ways.row_by_row.spec import RowByRow


@dataclass(frozen=True, eq=False)
class SharePlan:
    """A plan for each column of counts, and the rows that are of it."""

    spec: ByShare
    shares: tuple[tuple[str, Fraction], ...]
    rows: tuple[Integers, ...]
    plans: Mapping[str, RowPlan]  # by the name of the column
    guarantee: Guarantee
    discloses: tuple[str, ...] = ()
    apart: ClassVar[bool] = True

    @property
    def first(self) -> RowPlan:
        return next(iter(self.plans.values()))

    @property
    def law(self) -> str:
        return self.first.law

    @property
    def laws(self) -> tuple[Form, ...]:
        """What the counts of one person go through: one in every column."""
        return tuple(proved_form(one.mechanism.form) for one in self.plans.values())

    @property
    def steps(self) -> tuple[Remark, ...]:
        top, people = self.first.max_count, self.guarantee.unit.contributions
        cut = Remark("leave-uncut") if top is None else Remark.of("cut-at", max_count=top)
        drawn = (_drawn(name, one) for name, one in self.plans.items())
        return (cut, *drawn, *((Remark.of("widened", contributions=people),) if people > 1 else ()))


def _drawn(column: str, one: RowPlan) -> Remark:
    price, law, noise = str(one.guarantee.loss), one.law, noise_of(one.mechanism.form)
    if noise is None:
        return Remark.of("draw-column", price=price, mechanism=law, column=column)
    size = few_digits(noise_size(noise), 2)
    return Remark.of("draw-column-noise", price=price, mechanism=law, column=column, noise=size)


def plan(schema: Schema, loss: Loss, spec: ByShare) -> SharePlan:
    if not schema.shares:
        found, do = "its columns of counts have none", "Say them beside the columns: count='births@3/4,deaths@1/4'"
        raise BadInput("a table was to be released by the shares of its columns", found, do)
    if isinstance(loss, Approximate):
        found = "an epsilon with a delta cannot be shared out"
        raise BadInput("columns of counts were given shares of their own", found, "Give epsilon alone, or rho")
    people = schema.contributions // len(schema.shares)
    each, asked = replace(schema, contributions=people), RowByRow(spec.mechanism, spec.max_count)
    plans = {name: plan_one(each, share_of(loss, share), asked) for name, share in schema.shares}
    forms = [one.mechanism.form for one in plans.values()]
    promise = Guarantee(
        loss,
        shared_neighbours([noise_of(form) for form in forms], loss, people),
        next(iter(plans.values())).guarantee.grade,
        remarks_of(forms[0], schema.shares),
    )
    rows = rows_of(schema.categories, COUNTED, [name for name, _ in schema.shares])
    return SharePlan(spec, schema.shares, tuple(rows), plans, promise)
