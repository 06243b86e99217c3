"""What may be lost, however it was written: the one parser of privacy parameters, which everything uses."""

from __future__ import annotations

from typing import Any

from discreet.errors import BadInput, called
from discreet.numbers import LARGEST_EPSILON, SMALLEST_EPSILON, Epsilon, Number, epsilon_of, quoted, text
from discreet.options import listed
from discreet.privacy.values import (
    DELTA,
    EPSILON,
    RHO,
    Approximate,
    Concentrated,
    Loss,
    Pure,
    asked_delta,
    delta_of,
    pure_of,
    pure_only,
)

NEEDED = "a privacy parameter was needed"
ONE = f"Give exactly one of {EPSILON}, {called('alpha')} and {RHO}"
SMALLEST_RHO = SMALLEST_EPSILON**2  # rho = epsilon^2 / 2, nearly: the same noise
LARGEST_RHO = LARGEST_EPSILON**2 // 2  # what the largest epsilon comes to


def loss_of(
    given: Number | Epsilon | Loss | None = None,
    *,
    alpha: Number | None = None,
    rho: Number | None = None,
    delta: Number = 0,
) -> Loss:
    """What may be lost, however it was written: exactly one of epsilon, alpha = e^-epsilon, rho, or a value."""
    names = {"epsilon": given, "alpha": alpha, "rho": rho}
    named = [name for name, value in names.items() if value is not None]
    if len(named) != 1:
        found = f"{' and '.join(map(called, named))} were given together" if named else "none was given"
        raise BadInput(NEEDED, found, ONE)
    number = delta_of(delta)
    if isinstance(given, (Pure, Approximate, Concentrated)):
        if number:
            found = f"{given!r} says already all there is to say"
            raise BadInput(f"{asked_delta(number)} was asked for", found, "Use Approximate(epsilon, delta)")
        return _sensible(given)
    if rho is not None:
        if number:
            asked, do = (
                f"{asked_delta(number)} was asked for with {RHO}",
                f"Leave {DELTA} out, or give {EPSILON}",
            )
            raise BadInput(asked, "rho stands alone, without a delta", do)
        return _sensible(Concentrated(rho))
    epsilon = epsilon_of(given, alpha)
    return Approximate(epsilon, number) if number else pure_of(epsilon)


def _sensible(loss: Loss) -> Loss:
    """What is asked for; a share of it may be smaller, and several together larger."""
    if isinstance(loss, Concentrated) and not SMALLEST_RHO <= loss.rho <= LARGEST_RHO:
        asked = f"{called('rho', quoted(text(loss.rho)))} was asked for"
        if loss.rho > LARGEST_RHO:
            raise BadInput(asked, f"above {LARGEST_RHO:,} it protects nobody")
        raise BadInput(asked, "below 1e-18 the noise would drown every count", "Give more")
    return loss


def epsilons_of(given: Any, what: str) -> list[Epsilon]:
    """One epsilon or several, each read as everywhere."""
    several = listed(given, (str,))
    if not several:
        raise BadInput(f"{what} was asked for", "no epsilon was given")
    return [pure_only(loss_of(one), what).epsilon for one in several]
