"""What a noise law is, and the parts that laws share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, TypeVar, cast

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput, choose
from discreet.numbers import LARGEST_EPSILON, SMALLEST_EPSILON, Epsilon, Interval, exact, log_bounds, text
from discreet.privacy import Grade, Loss, Pure
from discreet.privacy.convert import require_delta
from discreet.sample.bits import Bits
from discreet.sample.draw import Law, add_noise

LARGEST_ODDS = 1 << 500  # so that even their square is a float
CENTRE_BITS = 18  # the centre of a law leaves out about 2^-18 of its mass
WIDEST_TABLE = 3000  # a guide table resolves nearly every draw up to about this reach
WIDEST = 1 << 40  # of noise, in units: its largest draws, added to the largest count, stay far inside 64 bits
LARGEST_POWER = 1 << 16  # bits of a power of the odds that is still written out
NEGLIGIBLE = 1e-18  # what is left out of a sum of squares
ENDED = Fraction(1, 1 << 64)  # of a delta: as near to its end as it is rounded


class NoiseLaw(Protocol):
    """Noise on the integers, symmetric about 0: a frozen dataclass whose fields are exact rationals.

    A law owns all that is its own. Nothing else in the library asks which law it has before it.
    """

    name: ClassVar[str]  # its tag in JSON, and the name of the mechanism that adds it
    pure: ClassVar[bool]  # whether an epsilon alone bounds it: `worst_odds` is a number
    rational: ClassVar[bool]  # whether its probabilities are rational: `chance_below` answers
    grade: ClassVar[Grade]  # how firmly `delta` is known
    # calibrates: False where a loss alone does not say which noise; a law that lacks it can be asked for by a loss

    def __hash__(self) -> int: ...

    @property
    def centre(self) -> tuple[int, int]:
        """Integers low <= high such that nearly all of the mass is on low..high."""

    def below(self, k: int, bits: int) -> tuple[int, int]:
        """floor and ceiling, or wider, of 2^bits P(X <= k)."""

    def chance_below(self, k: int) -> Fraction:
        """P(X <= k), exactly; refused where probabilities are not rational."""

    def masses(self, reach: int) -> Floats:
        """P(X = k) for k = 0..reach."""

    def tails(self, reach: int) -> Floats:
        """P(X >= k) for k = 0..reach."""

    def log_mass(self, values: Floats) -> Floats:
        """log P(X = value) for integers of any size and shape."""

    @property
    def spread(self) -> float:
        """The variance."""

    def curvature(self, residual: Floats) -> Floats:
        """Of the parabola about 0 that touches the negative log-mass at `residual` from above; capped near 0."""

    @property
    def decay(self) -> float | None:
        """The ratio of successive masses away from 0, where it is one constant; `worst_odds` is then its inverse."""

    @property
    def worst_odds(self) -> Fraction | None:
        """The largest ratio of the masses of neighbouring integers; None where there is no largest."""

    def delta(self, epsilon: Epsilon, shift: int = 1) -> Fraction:
        """The least delta at epsilon when a value changes by `shift`: exact, or rounded up."""

    def price(self, units: int = 1) -> Loss:
        """What it costs when a value changes by so many units."""

    @classmethod
    def calibrated(cls, loss: Loss, units: int = 1) -> Self:
        """The narrowest noise of this law at which a change by so many units costs at most `loss`."""

    def add(self, counts: Integers, bits: Bits, top: int | None = None) -> Integers:
        """counts, none above `top`, plus independent draws. Exact."""


def require(holds: bool, law: str, what: str) -> None:
    """Refuse parameters that make no law."""
    if not holds:
        raise BadInput(f"{law} noise was asked for", what)


def require_odds(odds: Fraction, law: str) -> None:
    require(odds > 1, law, "its odds must be above 1")
    require(odds < LARGEST_ODDS, law, "an epsilon above 340 protects nobody")


def log_odds(odds: Fraction) -> float:
    """The logarithm of a number that may be very near 1."""
    return math.log1p(float(odds - 1))


def reach_of(odds: Fraction) -> int:
    """Beyond it masses that fall by `odds` a step hold about 2^-18 of the whole."""
    return math.ceil(CENTRE_BITS * math.log(2) / log_odds(odds))


def scaled(bounds: Interval, bits: int) -> tuple[int, int]:
    """Integers around 2^bits times a probability known by rational bounds."""
    low, high = bounds
    return max(0, math.floor(low * 2**bits)), min(1 << bits, math.ceil(high * 2**bits))


def power_price(odds: Fraction, units: int) -> Pure:
    """What `units` steps cost when each costs the logarithm of `odds`; rounded up where the power would be huge."""
    if units * odds.numerator.bit_length() <= LARGEST_POWER:
        return Pure(Epsilon(ratio=odds**units))
    return Pure(Epsilon(value=units * log_bounds(odds)[1]))


def concave_delta(chance_below: Callable[[int], Fraction], epsilon: Epsilon, shift: int, beyond: int) -> Fraction:
    """The least delta of symmetric noise whose masses are log-concave, and geometric from `beyond` on.

    Then the outputs that tell a value from the one `shift` higher are all those up to some k, at most the half of the
    way; and if -beyond is not among them, none is. Rounded up by less than 2^-64.
    """
    factor = epsilon.bounds(96)[0]

    def excess(k: int) -> Fraction:
        return chance_below(k) - factor * chance_below(k - shift)

    low, high = -beyond, shift // 2 + 1
    if excess(low) <= excess(low - 1):
        return Fraction(0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess(middle) > excess(middle - 1) else (low, middle)
    return max(Fraction(0), excess(low))


def constant_odds(law: NoiseLaw) -> Fraction | None:
    """The odds of a law whose masses fall by one constant factor a step, for which there are short cuts."""
    return None if law.decay is None else law.worst_odds


def least_epsilon(law: NoiseLaw, delta: Fraction) -> Fraction:
    """The smallest epsilon, to one part in a million and rounded up, at which the noise is (epsilon, delta)-private."""
    require_delta(delta)
    if law.delta(Epsilon(value=SMALLEST_EPSILON)) <= delta:
        return SMALLEST_EPSILON  # the delta would do without any epsilon
    low, high = Fraction(0), Fraction(1)
    while law.delta(Epsilon(value=high)) > delta:
        low, high = high, 2 * high
    while high - low > high / 10**6:
        middle = (low + high) / 2
        low, high = (middle, high) if law.delta(Epsilon(value=middle)) > delta else (low, middle)
    return high


def ending_epsilon(law: NoiseLaw, negligible: Fraction, shift: int = 1) -> Fraction:
    """An epsilon, rounded up, from which on delta falls no more, or is negligible.

    Noise with a largest value always tells with some chance that a value was not `shift` away: delta ends there.
    """

    def at(epsilon: Fraction) -> Fraction:
        return law.delta(Epsilon(value=epsilon), shift)

    goal = max(negligible, at(Fraction(LARGEST_EPSILON)) * (1 + ENDED))
    if at(Fraction(0)) <= goal:  # likelihoods are equal wherever both values can be
        return Fraction(0)
    low, high = Fraction(0), Fraction(1)
    while high < LARGEST_EPSILON and at(high) > goal:
        low, high = high, 2 * high
    while high - low > high / 10**6:
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) > goal else (low, middle)
    return high


def summed_spread(law: NoiseLaw) -> float:
    """The variance by summing masses; for laws that are not wide."""
    reach = 16
    while law.tails(reach)[-1] * reach**2 > NEGLIGIBLE:
        reach *= 2
    return float(2 * (law.masses(reach) * np.arange(reach + 1.0) ** 2).sum())


def falling_curvature(residual: Floats, odds: Fraction) -> Floats:
    """The curvature of a law whose log-mass falls by log(odds) a step."""
    rate = math.log(odds)
    return rate / np.maximum(np.abs(residual), 1 / rate)


def add_from_table(law: Law, counts: Integers, bits: Bits, top: int | None = None) -> Integers:
    """counts, none above `top`, plus noise of any law whose table is small."""
    require_width(Fraction(law.centre[1]), WIDEST_TABLE, "noise from a table")
    return add_noise(counts, law, bits, top=top)


def capped(counts: Integers, top: int | None) -> Integers:
    return counts if top is None else np.minimum(counts, top)


def require_width(width: Fraction, widest: int = WIDEST, what: str = "noise", do: str = "Spend more") -> None:
    """Refuse noise that no sampler draws in good time; asked when it is planned, before anything is spent."""
    if width > widest:
        found = f"its width, about {float(width):.2g}, is beyond the {widest:,} that can be drawn"
        raise BadInput(f"{what} was asked for", found, do, widest=widest)


def draw_noise(law: NoiseLaw, size: int, bits: Bits) -> Integers:
    """So many independent draws of a noise."""
    return law.add(np.zeros(size, dtype=np.int64), bits)


LawClass = TypeVar("LawClass", bound=type[NoiseLaw])
_LAWS: dict[str, type[NoiseLaw]] = {}


def register(law: LawClass) -> LawClass:
    """Make a law known under its name. A decorator, or a call."""
    if not is_dataclass(law):
        raise BadInput(f"the law {law.__name__} was to be registered", "a law is a frozen dataclass of exact numbers")
    if _LAWS.get(law.name, law) is not law:
        raise BadInput(f"the law {law.name!r} was to be registered", "there is another law of that name")
    _LAWS[law.name] = law
    return law


def laws() -> dict[str, type[NoiseLaw]]:
    """Every registered law by name."""
    return dict(_LAWS)


def calibrated_laws() -> dict[str, type[NoiseLaw]]:
    """Those that a loss alone asks for."""
    return {name: law for name, law in _LAWS.items() if getattr(law, "calibrates", True)}


def law_named(name: str) -> type[NoiseLaw]:
    """The law of that name, or an error that suggests the nearest one."""
    return _LAWS.get(name) or _LAWS[choose(name, _LAWS, "noise law")]


def law_json(law: NoiseLaw) -> dict[str, str]:
    """Its name and its parameters, exactly."""
    return {"law": law.name, **law_parameters(law)}


def law_parameters(law: NoiseLaw) -> dict[str, str]:
    return {name: text(getattr(law, name)) for name in _field_names(type(law))}


def law_of_json(value: Mapping[str, object]) -> NoiseLaw:
    """The law that `law_json` wrote."""
    if not isinstance(value, Mapping):
        raise BadInput("a noise law was to be read", "it is not an object with the name of a law")
    law = law_named(str(value.get("law")))
    names = _field_names(law)
    if set(value) != {"law", *names} or not all(isinstance(value[name], str) for name in names):
        raise BadInput("a noise law was to be read", f"{law.name} has the fields {', '.join(names)}, each a text")
    try:
        numbers = [exact(str(value[name]), name) for name in names]
    except BadInput as error:
        raise BadInput("a noise law was to be read", "a parameter is not an exact number") from error
    made: NoiseLaw = cast(Any, law)(*numbers)  # a protocol does not know the fields of its classes
    return made


def _field_names(law: type[NoiseLaw]) -> list[str]:
    return [field.name for field in fields(law)]  # type: ignore[arg-type]
