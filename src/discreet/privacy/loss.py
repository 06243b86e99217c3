"""How much a release may tell: one value for each kind of promise, and the one parser that everything uses.

The meaning of these values never changes: Pure(e) bounds every likelihood ratio by e^e; Approximate(e, d) bounds the
probability of every set of outcomes by e^e times the other one, plus d; Concentrated(r) is zero-concentrated
differential privacy, a bound of r times the order on every Renyi divergence.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias

from discreet.errors import BadInput
from discreet.numbers import SMALLEST_EPSILON, Epsilon, Number, epsilon_of, exact, positive, text

NEEDED = "a privacy parameter was needed"
ONE = "Give exactly one of epsilon, alpha and rho"
SMALLEST_RHO = SMALLEST_EPSILON**2  # rho = epsilon^2 / 2, nearly: the same noise


@dataclass(frozen=True, init=False)
class Pure:
    """Pure differential privacy: no published table is more than e^epsilon times as likely as under a neighbour."""

    epsilon: Epsilon
    kind: ClassVar[Literal["pure"]] = "pure"
    delta: ClassVar[Fraction] = Fraction(0)
    rho: ClassVar[None] = None

    def __init__(self, epsilon: Number | Epsilon) -> None:
        object.__setattr__(self, "epsilon", epsilon_of(epsilon))

    @classmethod
    def of_alpha(cls, alpha: Number) -> Pure:
        """alpha = e^-epsilon, an exact rational."""
        return cls(epsilon_of(alpha=alpha))

    def times(self, factor: Fraction | int) -> Pure:
        """A share of it, or several together; rounded down where it has no exact form."""
        return Pure(self.epsilon.times(factor))

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon}"

    def __repr__(self) -> str:
        return f"Pure({str(self.epsilon)!r})"


@dataclass(frozen=True, init=False)
class Approximate:
    """Approximate differential privacy: any set of outcomes is at most e^epsilon times as likely, plus delta."""

    epsilon: Epsilon
    delta: Fraction
    kind: ClassVar[Literal["approximate"]] = "approximate"
    rho: ClassVar[None] = None

    def __init__(self, epsilon: Number | Epsilon, delta: Number) -> None:
        number = _delta(delta)
        if number == 0:
            raise BadInput("delta = 0 was asked for", "without a delta the promise is pure", "Use Pure(epsilon)")
        object.__setattr__(self, "epsilon", epsilon_of(epsilon))
        object.__setattr__(self, "delta", number)

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon}, delta = {text(self.delta)}"

    def __repr__(self) -> str:
        return f"Approximate({str(self.epsilon)!r}, {text(self.delta)!r})"


@dataclass(frozen=True, init=False)
class Concentrated:
    """Zero-concentrated differential privacy: Renyi divergences of order a are at most rho a."""

    rho: Fraction
    kind: ClassVar[Literal["concentrated"]] = "concentrated"
    epsilon: ClassVar[None] = None
    delta: ClassVar[Fraction] = Fraction(0)

    def __init__(self, rho: Number) -> None:
        number = positive(rho, "rho")
        if number < SMALLEST_RHO:
            raise BadInput(f"rho = {rho} was asked for", "below 1e-18 the noise would drown every count")
        object.__setattr__(self, "rho", number)

    def times(self, factor: Fraction | int) -> Concentrated:
        """A share of it, or several together."""
        return Concentrated(self.rho * factor)

    def __str__(self) -> str:
        return f"rho = {text(self.rho)}"

    def __repr__(self) -> str:
        return f"Concentrated({text(self.rho)!r})"


Loss: TypeAlias = Pure | Approximate | Concentrated


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
        found = f"{' and '.join(named)} were given together" if named else "none was given"
        raise BadInput(NEEDED, found, ONE)
    number = _delta(delta)
    if isinstance(given, (Pure, Approximate, Concentrated)):
        if number:
            found = f"{given!r} says already all there is to say"
            raise BadInput(f"delta = {text(number)} was asked for", found, "Use Approximate(epsilon, delta)")
        return given
    if rho is not None:
        if number:
            found = "rho stands alone, without a delta"
            raise BadInput(f"delta = {text(number)} was asked for with rho", found, "Leave delta out, or give epsilon")
        return Concentrated(rho)
    epsilon = epsilon_of(given, alpha)
    return Approximate(epsilon, number) if number else Pure(epsilon)


def pure_only(loss: Loss, what: str) -> Pure:
    """For noise that needs no delta: to take one would be to pay for nothing."""
    if isinstance(loss, Approximate):
        found = "its noise is pure: a delta would be spent for nothing"
        raise BadInput(f"delta = {text(loss.delta)} was asked for with {what}", found, "Leave delta out")
    if isinstance(loss, Concentrated):
        found = "only Gaussian noise is calibrated by rho"
        raise BadInput(f"rho was asked for with {what}", found, "Give epsilon")
    return loss


def gaussian_only(loss: Loss, what: str) -> Approximate | Concentrated:
    """For Gaussian noise, which no epsilon alone can bound."""
    if isinstance(loss, Pure):
        found = "Gaussian noise needs a delta above 0, or rho"
        raise BadInput(f"epsilon alone was given for {what}", found, "Give rho, or epsilon with delta")
    return loss


def odds_only(loss: Loss, what: str) -> Pure | Approximate:
    """For mechanisms that are judged by likelihood ratios."""
    if isinstance(loss, Concentrated):
        found = "only Gaussian noise is calibrated by rho"
        raise BadInput(f"rho was asked for with {what}", found, "Give epsilon")
    return loss


def _delta(value: Any) -> Fraction:
    number = exact(value, "delta")
    if not 0 <= number < 1:
        raise BadInput(f"delta = {value} was asked for", "it must be at least 0 and below 1")
    return number
