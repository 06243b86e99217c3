"""Distributions of privacy losses, and what they come to together: sums of independent losses. Never below the truth.

A profile D is convex in r = e^epsilon. Joined by straight lines between some points r_k, it is the profile of a pair of
laws whose losses are the log r_k: one of mass p_k at each, which follows from the slopes, and the rest of it beyond all
bounds (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022, 'connect the dots'). Lines lie above a convex curve, so
that pair is at least as easy to tell apart; and pairs that dominate releases dominate, taken together, the releases
taken together (Zhu, Dong and Wang 2022).

Every rounding goes one way. The points are rationals r_k <= e^(k step), so that to call their loss k step raises it;
masses are integers over 2^BITS, rounded up; a mass that rounding made negative becomes 0. Larger masses never lower
delta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from discreet.accounting.profiles import Profile
from discreet.numbers import exp_bounds, log_bounds

if TYPE_CHECKING:
    from flint import fmpz_poly

BITS = 192  # of a mass: a million roundings of 2^-192 are far below any delta that is asked for
ONE = 1 << BITS  # the unit of masses
MOST_POINTS = 512  # of one profile, on either side of 0: the error of straight lines falls with their square
MOST_STEPS = 1 << 16  # of all losses together: products of such polynomials take a second


@dataclass(frozen=True, eq=False)
class Losses:
    """Masses of losses (first + k) step, k = 0, 1, ..., and of losses beyond all bounds; in units of 2^-BITS."""

    step: Fraction
    first: int
    masses: fmpz_poly
    beyond: int

    def times(self, other: Losses) -> Losses:
        """Of both together."""
        beyond = ONE - _floor((ONE - min(self.beyond, ONE)) * (ONE - min(other.beyond, ONE)))
        return Losses(self.step, self.first + other.first, _rounded(self.masses * other.masses), beyond)

    def power(self, times: int) -> Losses:
        """Of so many alike."""
        found: Losses | None = None
        square = self
        while times:
            if times & 1:
                found = square if found is None else found.times(square)
            times >>= 1
            square = square.times(square) if times else square
        assert found is not None, "of one at least"
        return found

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """The least epsilon at this delta, rounded up and not below 0; None: there is none."""
        free = delta * ONE - self.beyond
        if free < 0:
            return None
        above, weighted = 0, Fraction(0)  # the sums of p_j and of p_j e^-loss over losses above epsilon
        loss = Fraction(0)
        for loss, mass in reversed(self._atoms()):
            if loss <= 0 or above - _low(loss) * weighted > free:
                break
            above, weighted = above + mass, _down(weighted + mass * _low(-loss))
        if above <= free + weighted:
            return Fraction(0)
        return max(Fraction(0), loss, log_bounds((above - free) / weighted)[1])

    def delta(self, epsilon: Fraction) -> Fraction:
        """The least delta at this epsilon, rounded up."""
        low, found = _low(epsilon), Fraction(self.beyond)
        for loss, mass in self._atoms():
            if loss > epsilon:
                found += mass * (1 - low * _low(-loss))
        return min(found / ONE, Fraction(1))

    def _atoms(self) -> list[tuple[Fraction, int]]:
        """Losses that have a mass, rising."""
        return [((self.first + k) * self.step, int(mass)) for k, mass in enumerate(self.masses.coeffs()) if mass]


def _rounded(product: fmpz_poly) -> fmpz_poly:
    from flint import fmpz_poly

    return fmpz_poly([-(-int(mass) >> BITS) for mass in product.coeffs()])


def _floor(product: int) -> int:
    return product >> BITS


@lru_cache(maxsize=1 << 18)
def _low(exponent: Fraction) -> Fraction:
    """e^exponent, rounded down."""
    return exp_bounds(exponent, BITS)[0]


def _down(number: Fraction) -> Fraction:
    """To a short fraction, rounded down."""
    return Fraction(number.numerator * ONE // number.denominator, ONE)


def discretised(profile: Profile, step: Fraction, negligible: Fraction) -> Losses:
    """The losses of a profile on multiples of `step`."""
    from flint import fmpz_poly

    end = -(-profile.reach(negligible) // step)
    stride = max(1, -(-end // MOST_POINTS))
    top = int(-(-end // stride)) or 1
    places = [k * stride for k in range(-top, top + 1)]
    odds = [_low(place * step) if place else Fraction(1) for place in places]
    heights = _heights(profile, odds)
    slopes = [(heights[0] - 1) / odds[0]]
    slopes += [(b - a) / (s - r) for a, b, r, s in zip(heights, heights[1:], odds, odds[1:])]
    slopes.append(Fraction(0))
    masses = [0] * (2 * top * int(stride) + 1)
    for k, (before, after) in enumerate(pairwise(slopes)):
        mass = odds[k] * (after - before)
        masses[k * int(stride)] = max(0, -(-mass.numerator * ONE // mass.denominator))
    beyond = -(-heights[-1].numerator * ONE // heights[-1].denominator)
    return Losses(step, int(places[0]), fmpz_poly(masses), beyond)


def _heights(profile: Profile, odds: Sequence[Fraction]) -> list[Fraction]:
    """The profile at all factors; below 1 it is that of the other direction: D(r) = 1 - r + r D(1/r)."""
    below = [r for r in odds if r < 1]
    mirrored = profile.at([1 / r for r in reversed(below)])[::-1]
    small = [1 - r + r * height for r, height in zip(below, mirrored)]
    return [*small, *profile.at([r for r in odds if r >= 1])]


def together(profiles: Sequence[Profile], delta: Fraction) -> Losses:
    """The losses of all releases, fit to be asked for the epsilon at about this delta."""
    negligible = delta / (1000 * len(profiles))
    number: dict[Profile, int] = {}
    for profile in profiles:
        number[profile] = number.get(profile, 0) + 1
    step = _step({profile: profile.reach(negligible) for profile in number}, number)
    parts = [discretised(profile, step, negligible).power(times) for profile, times in number.items()]
    parts.sort(key=lambda part: len(part.masses))
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.times(part)
    return whole


def _step(reaches: dict[Profile, Fraction], number: dict[Profile, int]) -> Fraction:
    """Fine enough for the smallest and the largest, and not too many in all; the largest ends on one of them."""
    largest = max(reaches.values())
    if largest == 0:
        return Fraction(1)
    smallest = min(reach for reach in reaches.values() if reach)
    wanted = min(largest / MOST_POINTS, smallest / 16)
    least = sum((reach * number[profile] for profile, reach in reaches.items()), Fraction(0)) / MOST_STEPS
    return largest / max(1, largest // max(wanted, least))
