"""Laws of noise on a lattice: P(v) falls with the length of v, in one of three ways. Each knows what it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias

from discreet.errors import BadInput, called, choose
from discreet.lattice.conditioning import Bound, largest_odds, shifted
from discreet.numbers import Epsilon, decimal_above, log_bounds, root_above, simplest_between
from discreet.privacy.convert import rho_for, zcdp_epsilon
from discreet.privacy.values import Change, Concentrated, Loss, Norm, Pure, gaussian_only, pure_only

LARGEST_ODDS = Fraction(1 << 28)  # of a unit: noise is then hardly ever there, and floats that plan it stay finite
DIGITS = 24  # of a price that has no short exact form, rounded up


@dataclass(frozen=True)
class Terms:
    """What the noise must pay for: a change of a table, as often as one person can make it."""

    change: Change
    contributions: int = 1
    per_unit: bool = False
    bound: Bound | None = None  # how the price is bounded, where the noise is conditioned on inequalities

    @property
    def restricted(self) -> bool:
        return self.bound is not None

    @property
    def shift(self) -> tuple[int, Fraction] | None:
        """The distance at which `shifted` decides, and the part of the promise it may use up; None: it does not."""
        if self.bound == "stepwise":
            return self.change.distance, Fraction(self.change.distance if self.per_unit else 1, self.contributions)
        return (self.change.distance * self.contributions, Fraction(1)) if self.bound == "shifted" else None

    @property
    def factor(self) -> int:
        """Conditioning makes the normaliser depend on the table, which may cost as much again."""
        return self.contributions * (2 if self.restricted else 1)

    @property
    def distance(self) -> int:
        return 1 if self.per_unit else self.change.distance

    @property
    def square(self) -> int:
        return 1 if self.per_unit else self.change.square


@dataclass(frozen=True)
class L1:
    """P(v) proportional to odds^-|v|, |v| the sum of the absolute values."""

    odds: Fraction
    name: ClassVar[str] = "l1"
    norm: ClassVar[Norm] = "l1"
    rate: ClassVar[None] = None
    variance: ClassVar[None] = None

    def __post_init__(self) -> None:
        if self.odds <= 1:
            raise BadInput("l1 noise was asked for", "its odds must be above 1")

    @classmethod
    def calibrated(cls, loss: Loss, terms: Terms) -> L1:
        epsilon = pure_only(loss, "l1 noise on a lattice").epsilon
        if terms.shift is not None:
            distance, part = terms.shift
            return cls(min(largest_odds(epsilon.times(part), distance), LARGEST_ODDS))
        return cls(min(epsilon.times(Fraction(1, terms.factor * terms.distance)).odds(), LARGEST_ODDS))

    def pays(self, loss: Loss, terms: Terms) -> bool:
        """Whether what it promises is at most `loss`; a delta beside it is a chain's, and judged elsewhere."""
        if loss.epsilon is None:
            return False
        if terms.shift is not None:
            distance, part = terms.shift
            return loss.epsilon.times(part).allows(shifted(self.odds, distance))
        return loss.epsilon.times(Fraction(1, terms.factor * terms.distance)).allows(self.odds)

    def price(self, terms: Terms) -> Loss:
        """Of one unit of distance, whatever the change."""
        if terms.bound == "stepwise":
            step = shifted(self.odds, terms.change.distance)
            if terms.change.distance == 1:
                return Pure(Epsilon(ratio=step))
            return Pure(Epsilon(value=Fraction(decimal_above(log_bounds(step)[1] / terms.change.distance, DIGITS))))
        return Pure(Epsilon(ratio=self.odds ** (2 if terms.restricted else 1)))


@dataclass(frozen=True)
class L2:
    """P(v) proportional to e^(-rate |v|), |v| the Euclidean length."""

    rate: Fraction
    name: ClassVar[str] = "l2"
    norm: ClassVar[Norm] = "l2"
    odds: ClassVar[None] = None
    variance: ClassVar[None] = None

    def __post_init__(self) -> None:
        if self.rate <= 0:
            raise BadInput("l2 noise was asked for", "its rate must be above 0")

    @classmethod
    def calibrated(cls, loss: Loss, terms: Terms) -> L2:
        epsilon = pure_only(loss, "l2 noise on a lattice").epsilon
        rate = epsilon.rational() / (terms.factor * (1 if terms.per_unit else root_above(terms.square)))
        return cls(simplest_between(rate * (1 - Fraction(1, 1 << 24)), rate))

    def pays(self, loss: Loss, terms: Terms) -> bool:
        if loss.epsilon is None:
            return False
        return (self.rate * terms.factor) ** 2 * terms.square <= loss.epsilon.rational() ** 2

    def price(self, terms: Terms) -> Loss:
        return Pure(Epsilon(value=self.rate * (2 if terms.restricted else 1)))


@dataclass(frozen=True)
class LatticeGaussian:
    """P(v) proportional to e^(-|v|^2 / (2 variance)), |v| the Euclidean length."""

    variance: Fraction
    name: ClassVar[str] = "gaussian"
    norm: ClassVar[Norm] = "l2"
    odds: ClassVar[None] = None
    rate: ClassVar[None] = None

    def __post_init__(self) -> None:
        if self.variance <= 0:
            raise BadInput("Gaussian noise was asked for", "its variance must be above 0")

    @classmethod
    def calibrated(cls, loss: Loss, terms: Terms) -> LatticeGaussian:
        if terms.restricted:
            raise BadInput(
                "Gaussian noise was asked for under inequalities",
                "the law conditioned on them has no proven guarantee",
                f"Use law l1, or, where all is about counts not below zero, {called('nonnegative_by', 'project')}",
            )
        asked = gaussian_only(loss, "Gaussian noise on a lattice")
        rho = asked.rho if isinstance(asked, Concentrated) else rho_for(asked.epsilon.rational(), asked.delta)
        least = terms.square * terms.contributions**2 / (2 * rho)
        return cls(simplest_between(least, least * (1 + Fraction(1, 1 << 20))))

    def rho(self, terms: Terms) -> Fraction:
        return Fraction(terms.square * terms.contributions**2) / (2 * self.variance)

    def pays(self, loss: Loss, terms: Terms) -> bool:
        if terms.restricted:
            return False
        if isinstance(loss, Concentrated):
            return self.rho(terms) <= loss.rho
        return loss.delta > 0 and zcdp_epsilon(self.rho(terms), loss.delta) <= loss.epsilon.rational()

    def price(self, terms: Terms) -> Loss:
        """Of one unit of squared distance."""
        return Concentrated(1 / (2 * self.variance))


LatticeLaw: TypeAlias = L1 | L2 | LatticeGaussian
LAWS = ("l1", "l2", "gaussian")  # compiled code knows them by their place
KINDS: dict[str, type[L1] | type[L2] | type[LatticeGaussian]] = dict(zip(LAWS, (L1, L2, LatticeGaussian)))


def calibrated(name: str, loss: Loss, terms: Terms) -> LatticeLaw:
    """Noise of that law that meets what was asked, every rounding towards privacy."""
    return KINDS[choose(name, LAWS, "law")].calibrated(loss, terms)


def width_of(law: LatticeLaw) -> Fraction:
    """How far from zero its values usually are, a unit or so."""
    if law.odds is not None:
        return 1 / (law.odds - 1)
    return 1 / law.rate if law.rate is not None else Fraction(math.isqrt(math.ceil(law.variance or 0)))


def parameter(law: LatticeLaw) -> tuple[str, Fraction]:
    """The one number of a law, and what it is called."""
    ((name, number),) = vars(law).items()
    return name, number
