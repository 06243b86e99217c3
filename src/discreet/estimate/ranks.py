"""Ranks: with which of the others a group may have changed places.

Another one is surely larger where the interval of the difference says so, at a level so high that none of all
comparisons of two groups is wrong, with the probability asked for. What is neither surely larger nor surely smaller may
stand before or behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats
from discreet.errors import BadInput
from discreet.estimate.answers import AnswerSet
from discreet.estimate.asked import groups_of, one_by_one
from discreet.estimate.told import SumEstimates, together

if TYPE_CHECKING:
    from discreet.estimate.view import Estimate

ALL_PAIRS = 4000  # groups: of more, not every two are compared, but their intervals


def ranks(view: Estimate, by: tuple[str, ...]) -> AnswerSet:
    """1 is the largest. All intervals together cover the ranks with the probability asked for; of equal true
    counts, any rank that they share."""
    rows = view.rows_asked
    groups = groups_of(view.categories, by, rows) if by else one_by_one(view.categories, rows)
    number = len(groups)
    if number < 2:
        raise BadInput("ranks were asked for", "there is one group only", "Rank two groups or more")
    compare, times = (_by_pairs, (number - 1) / 2) if number <= ALL_PAIRS else (_by_ends, 1.0)
    found = view.sums(groups, 1 - (1 - view.level) / (number * times))
    if compare is _by_pairs and (~found.exact & (found.low == found.high)).any():
        # mostly no noise at all: either of two may have some
        found = view.sums(groups, 1 - (1 - view.level) / (2 * number * times))
    above, below = (_by_ends if found.exact.all() else compare)(found)
    order = np.argsort(-found.estimate, kind="stable")
    place = np.empty(number)
    place[order] = np.arange(1, number + 1)
    low, high = 1.0 + above, number - below
    alone = (low == high) & found.exact.all()
    more = {"count": np.maximum(found.estimate, 0.0)}
    return AnswerSet(
        groups.keys, np.clip(place, low, high), low, high, alone, view.level, view.cut, view.told.conservative, more
    )  # fmt: skip


def _by_pairs(found: SumEstimates) -> tuple[Floats, Floats]:
    """How many others are surely larger, and surely smaller: the interval of a difference of two, as wide as two
    independent ones have it together, or by their ends where that is narrower."""
    up, down = found.high - found.estimate, found.estimate - found.low
    above, below, still = np.zeros(len(up)), np.zeros(len(up)), up + down == 0
    for k in range(len(found.estimate)):
        gap, sure = found.estimate - found.estimate[k], still | still[k]
        above[k] = (gap > np.where(sure, down + up[k], together(down, up[k]))).sum()
        below[k] = (-gap > np.where(sure, up + down[k], together(up, down[k]))).sum()
    return above, below


def _by_ends(found: SumEstimates) -> tuple[Floats, Floats]:
    """The same by intervals that do not meet."""
    low, high = np.sort(found.low), np.sort(found.high)
    above = len(low) - np.searchsorted(low, found.high, side="right")
    below = np.searchsorted(high, found.low, side="left")
    return above.astype(float), below.astype(float)
