"""What a release costs one person, whatever its own neighbours are: the currency in which releases add up.

Each release promises something about its own smallest change, and these differ, so promises do not add. Prices per
unit of distance do. Let v be the difference of two tables that agree on every kept sum. Then the release tells the two
apart by at most

    lam |v|_1                 l1 noise, of a pure rate lam
    lam |v|_2                 l2 noise, of a pure rate lam
    kap |v|_2^2 of rho        Gaussian noise, of a rate kap

whether or not v is the smallest change. A person who is counted K times and is added or removed has |v|_1 <= K and
|v|_2^2 <= K^2; one who is moved has |v|_1 <= 2K and |v|_2^2 <= 2 K^2. Rates of releases add up, so prices do.

Where one answer speaks for several rows, a unit in one row and a unit in another may push it the same way. Then lengths
of changes of the table say nothing about squares, and 2K units cost as much as 2K steps: (2K)^2 kap. Not so where rows
are added up: what is added pushes a sum up, what is taken away pushes it down.

A delta of one unit, delta, is that of c units in one row: delta (E^c - 1) / (E - 1), E = e^epsilon, each step being
weighted by the factor of those before it. Two rows that are drawn apart from each other: 1 - (1 - delta)^2.

The price never falls when more is kept: that fewer changes survive is no refund.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, get_args

from discreet.errors import BadInput
from discreet.numbers import Epsilon, root_above
from discreet.privacy.convert import approximate, rho_for
from discreet.privacy.values import Approximate, Concentrated, Guarantee, Loss, Neighbours, Pure, above

Relation = Literal["added-or-removed", "moved"]  # what one person may do to the data
RELATIONS: tuple[str, ...] = get_args(Relation)
BITS = 128  # of a power of e^epsilon, rounded up
MOST_FOLLOWED = 1_000_000  # steps of one person: a second or so
DIGITS = 6  # of a delta that has no short exact form: rounded up, it is too large by a millionth at most


def price(loss: Loss, unit: Neighbours, relation: Relation, *, apart: bool = True) -> Loss:
    """What one person costs in a release that promises `loss` for `unit`; every rounding is upwards.

    `apart`: whether a person who moves never pushes one answer the same way twice.
    """
    if isinstance(unit.rate, Concentrated):
        return _concentrated(loss, unit, relation, apart)
    if isinstance(unit.rate, Approximate):
        return _by_steps(unit.rate, unit.contributions, relation, apart)
    assert not isinstance(loss, Concentrated), "a pure rate makes no promise in rho"
    steps = _steps(unit, relation)
    each = _rate(loss, unit)
    epsilon = _epsilon(unit.contributions * each * steps)
    if isinstance(loss, Pure):
        return Pure(epsilon)
    whole = _epsilon(unit.contributions * each * _length(unit, unit.change.distance, unit.change.square))
    times = math.ceil(Fraction(1 if relation == "added-or-removed" else 2, unit.change.distance))
    return _with_delta(epsilon, group_delta(loss.delta, whole, times))


def price_in_rho(loss: Loss, unit: Neighbours, relation: Relation, *, apart: bool = True) -> Concentrated | None:
    """The same where everything is counted in rho; None where a delta is in the way."""
    if isinstance(unit.rate, Concentrated):
        return Concentrated(_rho(loss, unit, relation, apart))
    own = price(loss, unit, relation, apart=apart)
    return Concentrated(above(own.epsilon) ** 2 / 2) if isinstance(own, Pure) else None


def group_delta(delta: Fraction, epsilon: Epsilon, steps: int) -> Fraction:
    """Of so many steps one after another, each (epsilon, delta); rounded up, and never less than delta. Where it comes
    to 1, which promises nothing, it is not followed any further."""
    if steps == 1 or not delta:
        return delta
    if steps > MOST_FOLLOWED:
        return Fraction(1)
    return _rounded_up(delta * weighted_steps(epsilon, steps, 1 / delta))


def weighted_steps(epsilon: Epsilon, steps: int, enough: Fraction | None = None) -> Fraction:
    """1 + E + E^2 + ..., so many of them, E = e^epsilon, or until they are enough; rounded up."""
    odds, scale = epsilon.bounds()[1], 1 << BITS
    most = None if enough is None else math.ceil(enough * scale)
    total, power = 0, scale
    for _ in range(steps):
        total, power = total + power, -(-power * odds.numerator // odds.denominator)
        if most is not None and total >= most:
            break
    return Fraction(total, scale)


def _steps(unit: Neighbours, relation: Relation) -> Fraction | int:
    """How long the change is that one counting of one person makes, in the norm of the noise; rounded up."""
    return 1 if relation == "added-or-removed" else _length(unit, 2, 2)


def _length(unit: Neighbours, distance: int, square: int) -> Fraction | int:
    return distance if unit.norm == "l1" else root_above(square)


def _rate(loss: Pure | Approximate, unit: Neighbours) -> Fraction:
    """Of a unit of distance: the promise shared out over its change, but never less than the rate of the noise."""
    whole = 1 if unit.per_unit else _length(unit, unit.change.distance, unit.change.square)
    stated, own = above(loss.epsilon) / (unit.contributions * whole), unit.rate.epsilon
    assert own is not None
    if own.value is not None:
        return max(stated, own.value)
    assert own.ratio is not None
    return stated if Epsilon(value=stated).allows(own.ratio) else above(own)


def _concentrated(loss: Loss, unit: Neighbours, relation: Relation, apart: bool) -> Loss:
    """Gaussian noise: in rho, or in the epsilon that rho implies at the delta that was promised."""
    rho = _rho(loss, unit, relation, apart)
    if not isinstance(loss, Approximate):
        return Concentrated(rho)
    promised, needed = 1 if unit.per_unit else unit.change.square, _square(relation, unit, apart)
    if promised == needed:
        return loss
    implied = approximate(rho, loss.delta)
    return loss if promised > needed and above(loss.epsilon) < above(implied.epsilon) else implied


def _rho(loss: Loss, unit: Neighbours, relation: Relation, apart: bool) -> Fraction:
    assert isinstance(unit.rate, Concentrated)
    people = unit.contributions**2
    stated = Fraction(0)
    if isinstance(loss, Concentrated):
        stated = loss.rho / (people * (1 if unit.per_unit else unit.change.square))
    return max(stated, unit.rate.rho) * people * _square(relation, unit, apart)


def _square(relation: Relation, unit: Neighbours, apart: bool) -> int:
    if relation == "added-or-removed":
        return 1
    return 2 if apart and unit.norm == "l2" else 4


def _by_steps(rate: Approximate, contributions: int, relation: Relation, apart: bool) -> Approximate:
    """A rate with a delta: what c units in one row cost, and as much again in another."""
    one_row = contributions if relation == "added-or-removed" or apart else 2 * contributions
    epsilon, delta = above(rate.epsilon), group_delta(rate.delta, rate.epsilon, one_row)
    if relation == "added-or-removed" or not apart:
        return _with_delta(_epsilon(one_row * epsilon), delta)
    return _with_delta(_epsilon(2 * one_row * epsilon), 1 - (1 - delta) ** 2 if delta < 1 else delta)


def _with_delta(epsilon: Epsilon, delta: Fraction) -> Approximate:
    if delta >= 1:
        found = "for one person its delta comes to 1 or more, which promises nothing"
        raise BadInput("a release was to be priced", found, "Ask for a smaller epsilon or delta")
    return Approximate(epsilon, delta)


def _epsilon(value: Fraction | int) -> Epsilon:
    return Epsilon(value=Fraction(value))


def _rounded_up(number: Fraction) -> Fraction:
    """To a few significant digits."""
    if number >= 1:
        return number
    places = DIGITS + max(0, math.floor(-math.log10(number)))
    return Fraction(math.ceil(number * 10**places), 10**places)


def whole_price(promise: Guarantee) -> Loss:
    """What the whole smallest change costs, where the promise is stated per unit of distance."""
    at, loss = promise.unit, promise.loss
    if not at.per_unit:
        return loss
    if isinstance(loss, Concentrated):
        return loss.times(at.change.square)
    if isinstance(at.rate, Concentrated):  # Gaussian noise, promised in epsilon and delta
        return approximate(rho_for(loss.epsilon.rational(), loss.delta) * at.change.square, loss.delta)
    epsilon = loss.epsilon.times(at.change.distance if at.norm == "l1" else root_above(at.change.square))
    return Approximate(epsilon, loss.delta) if loss.delta else Pure(epsilon)
