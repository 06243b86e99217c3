"""Amounts of privacy: what a release costs, what a budget allows, and how costs add up. All exact."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import BadInput
from discreet.numbers import text
from discreet.privacy.values import Approximate, Concentrated, Loss, above, rho_of

COMPOSITION = {
    "pure": "basic composition: the epsilons of all releases add up",
    "approximate": "basic composition: the epsilons and the deltas of all releases add up",
    "concentrated": "zero-concentrated composition: the rhos of all releases add up; a pure epsilon costs epsilon^2/2",
}


@dataclass(frozen=True)
class Spending:
    """What one release is about to cost, in the terms it will be published with.

    `digest` stands for the public arguments of the release, never for the data; `discloses` names what is published
    exactly, without noise.
    """

    loss: Loss
    digest: str = ""
    discloses: tuple[str, ...] = ()
    note: str = ""

    @property
    def amount(self) -> Amount:
        """Epsilon as a rational, rounded up if it has no exact form."""
        return amount_of(self.loss)


@dataclass(frozen=True)
class Amount:
    """A budget, or a part of one: epsilon and delta, or rho."""

    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    @property
    def kind(self) -> str:
        """`pure`, `approximate` or `concentrated`."""
        if self.rho is not None:
            return "concentrated"
        return "approximate" if self.delta else "pure"

    def plus(self, other: Amount) -> Amount:
        return self._each(other, 1)

    def minus(self, other: Amount) -> Amount:
        return self._each(other, -1)

    def covers(self, other: Amount) -> bool:
        left = self.minus(other)
        return all(part is None or part >= 0 for part in (left.epsilon, left.delta, left.rho))

    def zero(self) -> Amount:
        return self.minus(self)

    def as_json(self) -> dict[str, str]:
        if self.rho is not None:
            return {"rho": text(self.rho)}
        return {"epsilon": text(self.epsilon or Fraction(0)), "delta": text(self.delta)}

    def __str__(self) -> str:
        parts = self.as_json()
        return ", ".join(f"{name} = {value}" for name, value in parts.items() if name != "delta" or value != "0")

    def _each(self, other: Amount, sign: int) -> Amount:
        if self.rho is not None:
            return Amount(rho=self.rho + sign * (other.rho or 0))
        return Amount((self.epsilon or 0) + sign * (other.epsilon or Fraction(0)), self.delta + sign * other.delta)


def amount_of(loss: Loss) -> Amount:
    """A loss as a balance that can be added up."""
    if isinstance(loss, Concentrated):
        return Amount(rho=loss.rho)
    return Amount(above(loss.epsilon), loss.delta)


def charge(budget: Amount, spending: Spending) -> Amount:
    """What `spending` costs in the units of `budget`; refused where no sound conversion is made."""
    loss, stated, found = spending.loss, spending.amount, ""
    if budget.kind == "concentrated":
        if not isinstance(loss, Approximate):
            return Amount(rho=rho_of(loss))
        found = "the budget is in rho, and an (epsilon, delta) guarantee cannot be counted in rho"
    elif isinstance(loss, Concentrated):
        found = "the budget is in epsilon, and the release is counted in rho"
    elif isinstance(loss, Approximate) and budget.kind == "pure":
        found = "the budget is pure (delta = 0), and the release has a delta"
    if found:
        raise BadInput(
            f"a release with {stated} was to be recorded",
            found,
            "Ask for the release in the units of the budget",
            budget=budget.as_json(),
            cost=stated.as_json(),
        )
    return stated


def digest_of_arguments(arguments: Mapping[str, object]) -> str:
    """sha256 of the public arguments of a release, in a form that does not depend on their order."""
    canonical = json.dumps(arguments, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()
