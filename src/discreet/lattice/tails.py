"""How far noise on a lattice gets: a bound on its length that holds with a chance of your choice, for every table.

All three laws are mixtures of Gaussian weights w(v) = e^-q(v), q a positive quadratic form. By Poisson's summation the
sum of w(v/c) over a lattice of m dimensions is at most c^m times that of w(v), for every c >= 1. So the mean of
e^(rate |v| (1 - 1/c)) is at most c^m, and by Markov's inequality, with the best c = rate t / m,
    P(|v| >= t) <= (rate t / m)^m e^(m - rate t)   for t >= m / rate,
|v| being the length that the law falls with; Gaussian noise the same with |v|^2 / (2 variance) and m / 2.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.lattice.laws import LatticeLaw
from discreet.numbers import decimal_above
from discreet.privacy import Remark

RARELY = 0.01  # the chance of more noise than a plan and a report say
HALVINGS = 60  # of an interval of lengths: far below any digit that is shown


def longest(law: LatticeLaw, dimensions: int, chance: float) -> float:
    """A length that the noise exceeds with at most this chance: the sum of all errors for l1 noise, the root of the sum
    of their squares for l2 and Gaussian noise."""
    if dimensions == 0:
        return 0.0
    if law.variance is not None:
        return math.sqrt(2 * float(law.variance) * _reached(dimensions / 2, chance))
    rate = math.log(law.odds) if law.odds is not None else float(law.rate)
    return _reached(float(dimensions), chance) / rate


def error_remark(law: LatticeLaw, dimensions: int, rows: int) -> Remark:
    """How far noise changes a row on average, at most, with a chance of nearly one."""
    length = longest(law, dimensions, RARELY)
    chance = f"{1 - RARELY:.0%}"
    if law.norm == "l1":
        return Remark.of("noise-at-most-l1", error=decimal_above(Fraction(length / rows), 2), chance=chance)
    return Remark.of("noise-at-most-l2", error=decimal_above(Fraction(length / math.sqrt(rows)), 2), chance=chance)


def _reached(m: float, chance: float) -> float:
    """The least x >= m with (x/m)^m e^(m-x) <= chance, rounded up."""
    goal, low, high = -math.log(chance), 0.0, 1.0

    def spent(over: float) -> float:
        return m * (over - math.log1p(over))  # -log of the bound at x = m (1 + over)

    while spent(high) < goal:
        high *= 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if spent(middle) >= goal else (middle, high)
    return m * (1 + high)
