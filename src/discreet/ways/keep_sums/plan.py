"""The lattice, its noise and its promise, from public values alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from discreet.lattice.laws import width_of
from discreet.lattice.plan import LatticePlan, plan_lattice
from discreet.lattice.projection import require_projectable
from discreet.lattice.tails import error_remark
from discreet.privacy.values import ROWS_ARE_PUBLIC, Guarantee, Loss, Remark
from discreet.table import Schema
from discreet.ways.keep_sums.spec import KeepSums


@dataclass(frozen=True, eq=False)
class SumsPlan:
    """Noise that cannot break what is kept."""

    spec: KeepSums
    lattice: LatticePlan
    guarantee: Guarantee
    categories: Any = None  # the key columns that it was made from, where they are at hand
    apart: ClassVar[bool] = True

    @property
    def law(self) -> str:
        return f"lattice-{self.lattice.law.name}"

    @property
    def discloses(self) -> tuple[str, ...]:
        return self.lattice.discloses

    @property
    def steps(self) -> tuple[Remark, ...]:
        price, law = str(self.guarantee.loss), self.lattice.law.name
        if not self.discloses:
            return Remark.of("free-noise", price=price, law=law), *self._most, *self._bounded
        noise = Remark.of("lattice-noise", price=price, law=law)
        return Remark.of("keep", kept=", ".join(self.discloses)), noise, *self._most, *self._bounded

    @property
    def _bounded(self) -> tuple[Remark, ...]:
        """How counts stay within their bounds."""
        if self.spec.conditioned:
            return (Remark.of("condition", empty=f"{float(width_of(self.lattice.law)):.2g}"),)
        if self.spec.inequalities:
            return (Remark("meet-inequalities"),)
        return (Remark("project"),) if self.spec.projected else ()

    @property
    def _most(self) -> tuple[Remark, ...]:
        """Of conditioned noise no such bound is known, nor of a chain's."""
        lattice = self.lattice
        if lattice.restricted or lattice.grade == "diagnosed":
            return ()
        return (error_remark(lattice.law, lattice.structure.dimensions, lattice.structure.cells),)


def plan(schema: Schema, loss: Loss, spec: KeepSums) -> SumsPlan:
    lattice = plan_lattice(
        schema.key_columns, spec.keep, loss, rows=schema.rows, law=spec.law, nonnegative=spec.conditioned,
        inequalities=spec.inequalities, per_unit=spec.per_unit, contributions=schema.contributions,
        allow_diagnosed=spec.allow_diagnosed, projected=spec.projected,
    )  # fmt: skip
    if spec.projected:
        require_projectable(lattice.structure)
    promise = lattice.guarantee
    promise = replace(promise, remarks=(ROWS_ARE_PUBLIC, *promise.remarks))
    return SumsPlan(spec, lattice, promise, schema.categories)
