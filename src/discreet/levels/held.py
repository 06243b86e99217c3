"""Which kept sums a table of whole numbers can be promised to have: those that two families of sums at a time hold.

Down the tree one family is spoken for: the cells of the level above. So the sums that are kept at a level must be those
of one set of attributes, and what follows from them. Where sets cross, every node of that level is begun with, by
itself, and the levels above it are added up. Sets that cross are joined one by one: a table by all attributes so far
and the next set are two families, if what they share is within one set that has been joined.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.errors import BadInput
from discreet.levels.design import LevelDesign, Question

Axes = tuple[int, ...]


@dataclass(frozen=True)
class Held:
    """The attributes by whose combinations sums are kept."""

    start: int  # the level to begin with
    top: tuple[Axes, ...]  # kept at that level: none, one, or several that cross, in the order to join them
    below: tuple[Axes | None, ...]  # kept at each level after it; None: nothing


def maximal(sets: Iterable[Axes]) -> tuple[Axes, ...]:
    """Those that are in no other, small ones first."""
    found = sorted(set(sets), key=lambda one: (len(one), one))
    return tuple(one for one in found if not any(set(one) < set(other) for other in found))


def held_by(design: LevelDesign, kept: Iterable[Question]) -> Held:
    """Where to begin, and what is held; refuses sums for which no table can be promised."""
    asked = tuple(kept)
    levels = [maximal(q.attributes for q in asked if q.level >= level) for level in range(design.last + 1)]
    crossing = [level for level, sets in enumerate(levels) if len(sets) > 1]
    start = max(crossing, default=0)
    top = _joined(levels[start])
    if top is None or levels[start] != levels[0]:
        worst = max(levels, key=len)
        raise BadInput(
            f"sums by {len(worst)} sets of attributes were to be kept together",
            "they cross each other so that no table of whole numbers can be promised to have them all",
            "Keep fewer of them, or measure them instead",
        )
    return Held(start, top, tuple(sets[0] if sets else None for sets in levels[start + 1 :]))


def _joined(sets: tuple[Axes, ...]) -> tuple[Axes, ...] | None:
    """In an order in which each shares with all before it only what one of them has; None: there is no such order.

    The one that shares most comes next: if there is an order, that finds one.
    """
    order, left = list(sets[:1]), list(sets[1:])
    while left:
        seen = {axis for one in order for axis in one}
        following = max(left, key=lambda one: len(seen & set(one)))
        if not any(seen & set(following) <= set(one) for one in order):
            return None
        order.append(following)
        left.remove(following)
    return tuple(order)


def require_table(design: LevelDesign, kept: Iterable[Question]) -> None:
    """Refuse kept sums that cross in no way that a table can be promised for, while nothing is spent."""
    held_by(design, kept)
