"""Amounts of privacy: what a release costs, what a budget allows, and how costs add up. All exact."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import BadInput
from discreet.numbers import Epsilon, Number, decimal_above, exact, log_bounds, positive, text

COMPOSITION = {
    "pure": "basic composition: the epsilons of all releases add up",
    "approximate": "basic composition: the epsilons and the deltas of all releases add up",
    "concentrated": "zero-concentrated composition: the rhos of all releases add up; a pure epsilon costs epsilon^2/2",
}


@dataclass(frozen=True)
class Spending:
    """What one release is about to cost, in the terms it will be published with.

    Either `epsilon` (with `delta`, if any) or `rho`. `digest` stands for the public arguments of the release, never
    for the data; `discloses` says in words what is published exactly, without noise.
    """

    epsilon: Epsilon | Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    digest: str = ""
    discloses: tuple[str, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise BadInput("a spending was stated", "exactly one of epsilon and rho must be given")
        _check_range(self.epsilon_above, self.delta, self.rho, "spending")

    @property
    def epsilon_above(self) -> Fraction | None:
        """Epsilon as a rational, rounded up if it has no exact form."""
        if not isinstance(self.epsilon, Epsilon):
            return self.epsilon
        if self.epsilon.value is not None:
            return self.epsilon.value
        assert self.epsilon.ratio is not None
        return Fraction(decimal_above(log_bounds(self.epsilon.ratio)[1], 15))


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


def budget_of(epsilon: Number | None, delta: Number, rho: Number | None) -> Amount:
    """A budget as the user states it."""
    if (epsilon is None) == (rho is None):
        raise BadInput("a budget was to be set", "exactly one of epsilon and rho must be given")
    budget = Amount(
        None if epsilon is None else positive(epsilon, "epsilon"),
        exact(delta, "delta"),
        None if rho is None else positive(rho, "rho"),
    )
    _check_range(budget.epsilon, budget.delta, budget.rho, "budget")
    return budget


def charge(budget: Amount, spending: Spending) -> Amount:
    """What `spending` costs in the units of `budget`; refused where no sound conversion is made."""
    epsilon, found = spending.epsilon_above, ""
    if budget.kind == "concentrated":
        if spending.rho is not None:
            return Amount(rho=spending.rho)
        if epsilon is not None and not spending.delta:
            return Amount(rho=epsilon**2 / 2)
        found = "the budget is in rho, and an (epsilon, delta) guarantee cannot be counted in rho"
    elif spending.rho is not None:
        found = "the budget is in epsilon, and the release is counted in rho"
    elif spending.delta and budget.kind == "pure":
        found = "the budget is pure (delta = 0), and the release has a delta"
    if found:
        stated = Amount(epsilon, spending.delta, spending.rho)
        raise BadInput(
            f"a release with {stated} was to be recorded",
            found,
            "Ask for the release in the units of the budget",
            budget=budget.as_json(),
            cost=stated.as_json(),
        )
    return Amount(epsilon, spending.delta)


def digest_of_arguments(arguments: Mapping[str, object]) -> str:
    """sha256 of the public arguments of a release, in a form that does not depend on their order."""
    canonical = json.dumps(arguments, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _check_range(epsilon: Fraction | None, delta: Fraction, rho: Fraction | None, what: str) -> None:
    if any(part is not None and part <= 0 for part in (epsilon, rho)):
        raise BadInput(f"a {what} was stated", "epsilon or rho must be greater than zero")
    if not 0 <= delta < 1:
        raise BadInput(f"a {what} with delta = {text(delta)} was stated", "delta must be at least 0 and below 1")
    if rho is not None and delta:
        raise BadInput(f"a {what} with rho and delta was stated", "rho stands alone, without a delta")
