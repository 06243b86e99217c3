"""Keep sums exactly: integer noise on the lattice that they leave free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.guarantee import Guarantee
from discreet.lattice.guarantee import whole_price
from discreet.lattice.invariants import Kept, Sums, kept_json, parse_keep
from discreet.lattice.plan import LatticePlan, plan_lattice
from discreet.routes import Measured, Published, Request
from discreet.sample.bits import Bits
from discreet.table import Schema


@dataclass(frozen=True, eq=False)
class InvariantRoute:
    """Noise that cannot break what is kept; nothing is repaired afterwards."""

    plan: LatticePlan
    signed: bool = False

    @property
    def guarantee(self) -> Guarantee:
        return self.plan.guarantee

    @property
    def charged(self) -> Guarantee:
        return whole_price(self.guarantee, self.plan.asked, self.plan.change)

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
    if request.max_count is not None:
        raise BadInput(
            "max_count was asked for together with keep", "top-coding would change the sums", "Drop max_count"
        )
    keep = [_in_order(parse_keep(what) if isinstance(what, str) else what, schema) for what in request.keep]
    plan = plan_lattice(
        {name: schema.column(name) for name in schema.keys}, keep, request.epsilon, rows=schema.rows,
        rho=request.rho, delta=request.delta, law=request.law, nonnegative=request.nonnegative,
        inequalities=_limits(request, schema), per_unit=request.per_unit, contributions=schema.contributions,
        allow_diagnosed=request.allow_diagnosed,
    )  # fmt: skip
    return InvariantRoute(plan)


def _in_order(what: Kept, schema: Schema) -> Kept:
    """Sums of one's own are about the rows as they were given; the published rows may be in another order."""
    if not isinstance(what, Sums) or schema.given_rows is None or len(what.rows[0]) != schema.rows:
        return what
    return Sums(tuple(tuple(row[place] for place in schema.given_rows.tolist()) for row in what.rows), what.name)


def _limits(request: Request, schema: Schema) -> Any:
    """Inequalities are about the rows as they were given, too."""
    if request.inequalities is None or schema.given_rows is None:
        return request.inequalities
    matrix, least = request.inequalities
    dense = np.atleast_2d(np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix))
    return (dense[:, schema.given_rows] if dense.shape[1] == schema.rows else dense), least
