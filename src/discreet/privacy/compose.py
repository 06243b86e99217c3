"""How losses add up. All exact, every rounding towards privacy."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce

from discreet.numbers import Epsilon, decimal_above, log_bounds
from discreet.privacy.loss import Approximate, Concentrated, Loss, Pure


def together(losses: Iterable[Loss]) -> Loss:
    """What several measurements of the same table cost together: epsilons and deltas add up, or rhos.

    Among concentrated ones a pure loss costs epsilon^2 / 2 of rho.
    """
    parts = list(losses)
    if any(isinstance(part, Concentrated) for part in parts):
        return Concentrated(sum((rho_of(part) for part in parts), Fraction(0)))
    epsilon = reduce(_plus, (part.epsilon for part in parts if part.epsilon is not None))
    delta = sum((part.delta for part in parts), Fraction(0))
    return Approximate(epsilon, delta) if delta else Pure(epsilon)


def rho_of(loss: Loss) -> Fraction:
    """A pure or concentrated loss, in rho."""
    if isinstance(loss, Concentrated):
        return loss.rho
    if isinstance(loss, Pure):
        return above(loss.epsilon) ** 2 / 2
    raise ValueError("an (epsilon, delta) loss cannot be counted in rho")


def above(epsilon: Epsilon) -> Fraction:
    """Epsilon as a rational, rounded up where it has no exact form."""
    if epsilon.value is not None:
        return epsilon.value
    assert epsilon.ratio is not None
    return Fraction(decimal_above(log_bounds(epsilon.ratio)[1], 15))


def _plus(one: Epsilon, other: Epsilon) -> Epsilon:
    if one.ratio is not None and other.ratio is not None:
        return Epsilon(ratio=one.ratio * other.ratio)
    return Epsilon(value=above(one) + above(other))
