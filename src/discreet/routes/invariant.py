"""Keep sums exactly: integer noise on the lattice that they leave free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.errors import BadInput
from discreet.guarantee import Guarantee
from discreet.lattice.invariants import kept_json
from discreet.lattice.plan import LatticePlan, plan_lattice
from discreet.routes import Measured, Published, Request
from discreet.sample.bits import Bits
from discreet.table import Integers, Schema


@dataclass(frozen=True, eq=False)
class InvariantRoute:
    """Noise that cannot break what is kept; nothing is repaired afterwards."""

    plan: LatticePlan
    signed: bool = False

    @property
    def guarantee(self) -> Guarantee:
        return self.plan.guarantee

    @property
    def max_count(self) -> int | None:
        return None

    @property
    def discloses(self) -> tuple[str, ...]:
        return self.plan.discloses

    def check(self, counts: Integers) -> None:
        self.plan.check(counts)

    def draw(self, counts: Integers, bits: Bits) -> Measured:
        return Measured(self.plan.release(counts, bits))

    def publish(self, measured: Measured) -> Published:
        return Published(
            measured.rows,
            {"route": "invariant", **self.plan.mechanism, "steps": self._steps()},
            invariants=self._invariants(measured.rows),
            remarks=self.plan.remarks,
        )

    def _invariants(self, counts: Integers) -> dict[str, Any]:
        """The kept sums are public: the released counts have them too."""
        kept = self.plan.invariants
        return {
            "kept": [kept_json(what) for what in kept.kept],
            "labels": list(kept.labels),
            "sums": kept.sums(counts).tolist(),
            "determined": [int(row) + 1 for row in self.plan.determined],
        }

    def _steps(self) -> list[str]:
        return [
            "What is kept was turned into a lattice: all changes of the table that leave every kept sum as it is.",
            f"Random noise was drawn on that lattice (sampler: {self.plan.sampler}) and added. Nothing was repaired.",
        ]


def plan_invariant(schema: Schema, request: Request) -> InvariantRoute:
    """The lattice, its noise and its promise, from public values alone."""
    for name, value in (("consistent", request.consistent), ("split", request.split), ("refine", request.refine)):
        if value:
            raise BadInput(f"{name} was asked for together with keep", "kept sums go by another route", f"Drop {name}")
    if request.max_count is not None:
        raise BadInput(
            "max_count was asked for together with keep", "top-coding would change the sums", "Drop max_count"
        )
    plan = plan_lattice(
        {name: schema.column(name) for name in schema.keys}, request.keep, request.epsilon, rows=schema.rows,
        rho=request.rho, delta=request.delta, law=request.law, nonnegative=request.nonnegative,
        inequalities=request.inequalities, per_unit=request.per_unit, contributions=schema.contributions,
        allow_diagnosed=request.allow_diagnosed,
    )  # fmt: skip
    return InvariantRoute(plan)
