"""What it costs to draw l1 noise under inequalities: the normaliser then depends on the table, and so does the law.

P_x(y) = a^|y - x| / Z(x) over the tables y with the same kept sums that meet the inequalities, a = 1/odds. For two such
tables at distance k, Z changes by a factor of at most

    a^-k                      whatever the inequalities: the likelihood ratio is at most odds^(2k)      ("doubled")
    1 + a^(2-k) - a^2         if every inequality bounds a single cell                                  ("shifted")

The second holds because a table y whose distances to x and x' differ by all of k can be shifted by x - x' and stays
within the bounds of every cell. Where moreover all sums are nested or disjoint, a larger change is made of moves of one
person, every table on the way being within the bounds too: so many moves cost so many times as much   ("stepwise").
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from discreet.lattice.inequalities import Inequalities
from discreet.lattice.structure import Structure
from discreet.numbers import Epsilon, simplest_between

By = Literal["project", "condition"]  # how negative counts are avoided
Bound = Literal["stepwise", "shifted", "doubled"]
LONGEST_SHIFT = 64  # of a change: beyond, exact powers take long and both bounds are nearly the same
FINENESS = 40  # bits to which the largest odds are found


def bound_for(structure: Structure, limits: Inequalities | None, distance: int, people: int, per_unit: bool) -> Bound:
    """The least bound that is proved for what is kept, for a change of this distance made so many times."""
    if limits is not None and limits.widest > 1:
        return "doubled"
    if not any(part.shape.free for part in structure.alike):
        return "stepwise"
    return "doubled" if per_unit or distance * people > LONGEST_SHIFT else "shifted"


def shifted(odds: Fraction, distance: int) -> Fraction:
    """The likelihood ratio at that distance, at most."""
    return odds**distance * (1 + odds ** (distance - 2) - odds**-2)


def largest_odds(allowed: Epsilon, distance: int) -> Fraction:
    """The largest odds, nearly, with `shifted(odds, distance)` at most e^allowed."""
    most = allowed.odds()
    low = allowed.times(Fraction(1, 2 * distance)).odds()
    high = low**2
    while shifted(low, distance) > most:  # two roundings downwards may differ in their last bits
        low = 1 + (low - 1) * (1 - Fraction(1, 1 << FINENESS))
    while (high - low) * 2 ** (FINENESS + 1) > low - 1:
        middle = simplest_between((3 * low + high) / 4, (low + 3 * high) / 4)
        low, high = (middle, high) if shifted(middle, distance) <= most else (low, middle)
    return simplest_between(low - (low - 1) / 2**FINENESS, low)
