"""From one kind of promise to another, every rounding towards privacy."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import BadInput
from discreet.numbers import Epsilon, log_bounds, text
from discreet.privacy.values import Approximate

SMALLEST_DELTA = Fraction(1, 10**40)  # below it the enclosures of Gaussian noise say nothing


def zcdp_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """An epsilon with which rho-zCDP implies (epsilon, delta): the best of many Renyi orders, rounded up."""
    if not SMALLEST_DELTA <= delta < 1:
        raise BadInput(f"rho = {text(rho)} was to be converted", "that needs a delta between 1e-40 and 1")
    # any order above 1 is valid; the best is near this one
    near = math.sqrt(-math.log(delta) / rho)
    return min(_epsilon_at(1 + Fraction(near * 1.15**k), rho, delta) for k in range(-40, 15))


def approximate(rho: Fraction, delta: Fraction) -> Approximate:
    """What rho-zCDP implies at this delta."""
    return Approximate(Epsilon(value=zcdp_epsilon(rho, delta)), delta)


def rho_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho, to one part in a thousand, that implies (epsilon, delta)."""
    require_delta(delta)
    low, high = Fraction(0), epsilon + 1
    while high - low > high / 1000:
        middle = Fraction(f"{float((low + high) / 2):.6e}")
        low, high = (middle, high) if zcdp_epsilon(middle, delta) <= epsilon else (low, middle)
    return low


def _epsilon_at(order: Fraction, rho: Fraction, delta: Fraction) -> Fraction:
    """Proposition 12 of Canonne, Kamath and Steinke (2020), solved for epsilon at one order."""
    log_inverse_delta = log_bounds(1 / delta)[1]
    log_order = log_bounds(order)[0]
    log_share = log_bounds(1 - 1 / order)[1]
    return rho * order + (log_inverse_delta - log_order) / (order - 1) + log_share


def require_delta(delta: Fraction) -> None:
    """Refuse Gaussian noise for a delta that it cannot have, or that no enclosure could tell from zero."""
    if not 0 < delta < 1:
        raise BadInput("Gaussian noise was asked for", "it needs a delta between 0 and 1, or rho", "Give delta or rho")
    if delta < SMALLEST_DELTA:
        raise BadInput(
            "Gaussian noise was asked for", "a delta below 1e-40 cannot be proved", "Give rho, or more delta"
        )
