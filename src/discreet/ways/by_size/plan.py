"""One mechanism for every size that there is, each made once and certified. The counts are not looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.mechanism import LARGEST_WRITTEN, Form, Weights
from discreet.privacy.values import Guarantee, Loss, Remark
from discreet.table import Schema
from discreet.ways.by_size.facts import remarks_of, sizes_of
from discreet.ways.by_size.spec import BySize
from discreet.ways.row_by_row.facts import least_loss
from discreet.ways.row_by_row.plan import RowPlan, plan_one, promised, refuse_needless
from discreet.ways.row_by_row.spec import RowByRow

MOST_SIZES = 2000  # each is a mechanism of its own in the record


@dataclass(frozen=True, eq=False)
class SizePlan:
    """A plan for each size, and the size of every row."""

    spec: BySize
    limits: Integers  # the size of every row's group
    plans: Mapping[int, RowPlan]  # by size, in order
    guarantee: Guarantee
    discloses: tuple[str, ...] = ()
    apart: ClassVar[bool] = True

    @property
    def law(self) -> str:
        return next(iter(self.plans.values())).law

    @property
    def steps(self) -> tuple[Remark, ...]:
        first, people = next(iter(self.plans.values())), self.guarantee.unit.contributions
        widened = (Remark.of("widened", contributions=people),) if people > 1 else ()
        return (
            Remark.of("cut-by-size", column=self.spec.max_count),
            Remark.of("draw-by-size", price=str(first.guarantee.loss), mechanism=first.law, sizes=len(self.plans)),
            *widened,
        )


def plan(schema: Schema, loss: Loss, spec: BySize) -> SizePlan:
    limits = sizes_of(schema.categories, spec.max_count)
    sizes = np.unique(limits).tolist()
    if len(sizes) > MOST_SIZES:
        found = f"there are {len(sizes):,}, and up to {MOST_SIZES:,} can be"
        raise BadInput("groups of their own sizes were asked for", found, "Put sizes into classes")
    plans = {size: plan_one(schema, loss, RowByRow(_mechanism(spec, size), size)) for size in sizes}
    forms = [one.mechanism.form for one in plans.values()]
    refuse_needless(forms, loss, schema.contributions)
    _refuse_unwritable(forms)
    least = least_loss(forms, loss, schema.contributions) if isinstance(spec.mechanism, Mapping) else loss
    if least != loss:
        people = schema.contributions
        plans = {size: promised(least, one.spec, one.mechanism, people) for size, one in plans.items()}
    first = next(iter(plans.values())).guarantee
    return SizePlan(spec, limits, plans, replace(first, remarks=remarks_of(spec.max_count)))


def _mechanism(spec: BySize, size: int) -> Any:
    if isinstance(spec.mechanism, (str, type(None))):
        return spec.mechanism
    if size not in spec.mechanism:
        asked = "a mechanism of your own for every size was given"
        raise BadInput(asked, f"there is none for groups of {size}", f"Add one for counts from 0 to {size}", size=size)
    return spec.mechanism[size]


def _refuse_unwritable(forms: list[Form]) -> None:
    """All of them together must fit what a record may hold."""
    if sum(form.written for form in forms if isinstance(form, Weights)) > LARGEST_WRITTEN:
        found = f"written exactly, all of them take more than {LARGEST_WRITTEN >> 20} MiB"
        raise BadInput(
            "mechanisms for groups of their own sizes were asked for", found, "Use geometric, or fewer sizes"
        )
