"""How a release divides its budget among what it measures. All exact; the parts never exceed the whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.distribution.split import checked_split, default_split, rho_split
from discreet.errors import BadInput
from discreet.guarantee import Guarantee, rho_for
from discreet.numbers import Epsilon, text
from discreet.routes import Request
from discreet.routes.explicit import gaussian_guarantee
from discreet.sample.laws import Gaussian, Geometric

SHARE_OF_MAX_COUNT = Fraction(1, 20)


@dataclass(frozen=True)
class Part:
    """A share of the budget and the noise it pays for, when one person adds up to `contributions` units."""

    what: str
    epsilon: Epsilon | None
    rho: Fraction | None
    noise: Geometric | Gaussian

    def as_json(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "alpha": None if self.epsilon is None or self.epsilon.ratio is None else text(1 / self.epsilon.ratio),
            "rho": None if self.rho is None else text(self.rho),
        }


@dataclass(frozen=True)
class Budget:
    """The parts of a two-stage release: the largest count, the distribution, the rows; the first two may be missing."""

    max_count: Part | None
    distribution: Part | None
    rows: Part
    guarantee: Guarantee

    def parts(self) -> list[Part]:
        return [part for part in (self.max_count, self.distribution, self.rows) if part is not None]


def divide(request: Request, contributions: int, unit: str, *, refined: bool, bounded: bool) -> Budget:
    """Shares for a bought largest count, for the distribution, and the rest for the rows."""
    if request.base == "gaussian" or request.rho is not None:
        return _divide_rho(request, contributions, unit, refined, bounded)
    assert request.epsilon is not None
    if request.delta:
        raise BadInput("delta was asked for", "geometric noise needs none", "Leave it out, or use base 'gaussian'")
    left, bought = request.epsilon, None
    if request.max_count == "auto":
        bought = _pure("max_count", left.times(SHARE_OF_MAX_COUNT), contributions)
        left = left.times(1 - SHARE_OF_MAX_COUNT)
    each = request.epsilon.times(Fraction(1, contributions))
    split = _split(request, default_split(each, refined), refined, bounded)
    measured = _pure("distribution", left.times(split), contributions) if split else None
    rows = _pure("counts", left.times(1 - split), contributions)
    return Budget(bought, measured, rows, Guarantee(request.epsilon, unit=unit))


def _split(request: Request, otherwise: Fraction, refined: bool, bounded: bool) -> Fraction:
    """The share of the distribution: as asked for, or the one chosen by the study."""
    if not bounded:
        if request.split:
            raise BadInput(
                f"split = {text(request.split)} was asked for without max_count",
                "the distribution can be measured only over a known range",
                "Give max_count (or 'auto'), or split 0",
            )
        return checked_split(Fraction(0), refined)
    return otherwise if request.split is None else checked_split(request.split, refined)


def _pure(what: str, epsilon: Epsilon, contributions: int) -> Part:
    return Part(what, epsilon, None, Geometric(epsilon.times(Fraction(1, contributions)).odds()))


def _divide_rho(request: Request, contributions: int, unit: str, refined: bool, bounded: bool) -> Budget:
    if request.rho is not None:
        total = request.rho
    else:
        assert request.epsilon is not None
        total = rho_for(request.epsilon.rational(), request.delta)
    left, bought = total, None
    if request.max_count == "auto":
        share = SHARE_OF_MAX_COUNT * total
        # pure epsilon costs epsilon^2 / 2 of rho
        epsilon = Epsilon(value=Fraction(math.isqrt(math.floor(2 * share * 10**12)), 10**6))
        bought, left = _pure("max_count", epsilon, contributions), total - share
    split = _split(request, rho_split(), refined, bounded)
    measured = _concentrated("distribution", split * left, contributions) if split else None
    rows = _concentrated("counts", (1 - split) * left, contributions)
    return Budget(bought, measured, rows, gaussian_guarantee(request, unit))


def _concentrated(what: str, rho: Fraction, contributions: int) -> Part:
    return Part(what, None, rho, Gaussian(Fraction(contributions**2) / (2 * rho)))
