"""What the names of matrices mean, as predicates. Nothing here knows how they are built."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.mechanism import Exponents, Form, Weights
from discreet.numbers import Epsilon

CLOSE = 1e-9  # of a probability to its irrational definition, relative to it: both are rounded


def is_named(name: str, form: Form, epsilon: Epsilon) -> bool:
    """Whether the matrix of one unit at this epsilon is what its name says."""
    return form.shape[0] == form.shape[1] and NAMED[name](form, epsilon)


def _uniform(form: Form, _: Epsilon) -> bool:
    """Every count is equally likely."""
    return isinstance(form, Weights) and {weight for row in form.rows for weight in row} == {1}


def _randomized_response(form: Form, epsilon: Epsilon) -> bool:
    """The truth is so many times as likely as any other count, and these are equally likely."""
    if not isinstance(form, Weights):
        return False
    odds = epsilon.odds()
    pairs = ((i == j, weight) for i, row in enumerate(form.rows) for j, weight in enumerate(row))
    return all(weight == (odds.numerator if truth else odds.denominator) for truth, weight in pairs)


def _explicit_fair(form: Form, epsilon: Epsilon) -> bool:
    """Every row falls by the same powers, twice each: the nearer a count to the truth, the smaller its power."""
    if not isinstance(form, Exponents) or form.odds != epsilon.odds():
        return False
    return all(row == _ranked(i, len(form.powers)) for i, row in enumerate(form.powers.tolist()))


def _ranked(truth: int, size: int) -> list[int]:
    """The power of each count: half its place, rounded up, in the order of distance from the truth."""
    edge = min(truth, size - 1 - truth)
    powers = []
    for count in range(size):
        distance = abs(count - truth)
        place = 2 * distance if distance <= edge else edge + distance  # both sides, then the one that is left
        powers.append((place + 1) // 2)
    return powers


def _exponential(form: Form, epsilon: Epsilon) -> bool:
    """Masses fall by e^(epsilon/2) a step."""
    if not isinstance(form, Weights):
        return False
    rate, places = np.log(float(epsilon.times(Fraction(1, 2)).odds())), np.arange(len(form.rows))
    raw = np.exp(-rate * np.abs(places[:, None] - places[None, :]))
    expected = raw / raw.sum(axis=1, keepdims=True)
    return bool((np.abs(form.matrix() - expected) <= CLOSE * expected + np.finfo(float).tiny).all())


NAMED: dict[str, Callable[[Form, Epsilon], bool]] = {
    "uniform": _uniform,
    "randomized-response": _randomized_response,
    "explicit-fair": _explicit_fair,
    "exponential": _exponential,
}
