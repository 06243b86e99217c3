"""Multipliers for a design of any size: individual ones near both ends, the same for all counts between.

They come from a program whose rows between the ends are added up. Nothing rests on it: `priced` proves what they give.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.build.orders import ORDERS, Orders
from discreet.build.priced import Columns, Multipliers, columns_of, proven
from discreet.build.repeated import Ties, bounds_of, falling, summed, tied, usual_truth
from discreet.build.structured import Structured
from discreet.numbers import Epsilon
from discreet.program import LinearProgram, interior_point

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CLIMBS = 30  # steps up and down, then as many down only; more gain less than another program
IN_COLUMNS = frozenset({"row-monotone"})  # what `priced` holds each column to: it needs no multipliers


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Rows that share multipliers: their sum, by the place of each multiplier in what it is for (-1: none)."""

    matrix: csr_array
    lower: Floats
    upper: Floats
    place: Integers


def relaxed_bound(task: Structured, epsilon: Epsilon, edge: int, reach: int, seconds: float) -> Fraction | None:
    """Proven; None where the program does not come to an end in so many seconds."""
    from scipy.sparse import csr_array, vstack

    ratio = float(1 / epsilon.bounds()[1])
    ties = tied(task.size, edge + reach, reach, task.mirrored, False)
    powers, usual = falling(task.size, ratio), usual_truth(ratio)
    groups = _groups(task, ties, usual * powers, edge, reach)
    bounds = bounds_of(ties, task.kinds & IN_COLUMNS)
    lines = len(bounds.small)
    data, places, variables = bounds.rows(ratio)
    private = csr_array((data, (places, variables)), shape=(lines, ties.count))
    program = LinearProgram(
        usual * summed(ties.variable.ravel(), (task.prices * powers).ravel(), ties.count),
        vstack([*(group.matrix for group in groups.values()), private]).tocsr(),
        np.concatenate([*(group.lower for group in groups.values()), np.full(lines, -np.inf)]),
        np.concatenate([*(group.upper for group in groups.values()), np.zeros(lines)]),
        np.zeros(ties.count),
        np.full(ties.count, np.inf),
    )
    answer = interior_point(program, seconds)
    if answer is None or not np.isfinite(answer.duals).all():
        return None
    ends = np.cumsum([len(group.lower) for group in groups.values()])
    duals = dict(zip(groups, np.split(answer.duals, ends)))
    found = {name: np.append(duals[name], 0.0)[group.place] for name, group in groups.items()}
    nothing = np.zeros(task.size)
    orders = {kind: -found[kind] for kind in found if kind in ORDERS}
    multipliers = Multipliers(orders, found.get("honest", nothing), found.get("fair", nothing))
    return climbed(columns_of(task, epsilon, multipliers), found["sums"], usual)


def climbed(columns: Columns, sums: Floats, step: float) -> Fraction:
    """The best bound on the way to multipliers of the sums with which no column lacks anything."""
    best, now = None, sums
    for turn in range(2 * CLIMBS):
        bound, lacks = proven(columns, now)
        best = bound if best is None else max(best, bound)
        if turn >= CLIMBS and not (lacks < 0).any():
            break
        now = now + step * (lacks if turn < CLIMBS else np.minimum(lacks, 0.0))
    assert best is not None
    return best


def _groups(task: Structured, ties: Ties, weights: Floats, edge: int, reach: int) -> dict[str, SharedRows]:
    """Sums of rows, the diagonal, and orders near it, grouped by where they are."""
    size, diagonal = task.size, np.arange(task.size) * (task.size + 1)
    adder = _Adder(ties, weights.ravel())
    place = _of_count(size, edge, task.mirrored)
    many = np.bincount(place).astype(float)
    everywhere = adder.added(np.repeat(place, size), np.arange(size * size))
    groups = {"sums": SharedRows(everywhere, many, many, place)}
    truths = adder.added(place, diagonal)
    if "weakly-honest" in task.kinds:
        groups["honest"] = SharedRows(truths, many / size, np.full(len(many), np.inf), place)
    if task.truth is not None:
        groups["fair"] = SharedRows(truths, many * float(task.truth), many * float(task.truth), place)
    elif task.fair:
        ends = [adder.added(place, np.full(size, end)) for end in (diagonal[0], diagonal[-1])]
        groups["fair"] = SharedRows(truths - (ends[0] + ends[1]) / 2, 0 * many, 0 * many, place)
    for kind in sorted(task.kinds & set(ORDERS) - IN_COLUMNS):
        groups[kind] = _of_orders(ORDERS[kind](size), adder, place, edge, edge + reach, task.mirrored)
    return groups


class _Adder:
    """Adds rows over entries up to rows over variables."""

    def __init__(self, ties: Ties, weights: Floats) -> None:
        self._variable, self._weights, self._count = ties.variable.ravel(), weights, ties.count

    def added(self, rows: Integers, entries: Integers) -> csr_array:
        from scipy.sparse import coo_array

        shape = (int(rows.max()) + 1, self._count)
        return coo_array((self._weights[entries], (rows, self._variable[entries])), shape).tocsr()


def _of_count(size: int, edge: int, mirrored: bool) -> Integers:
    """Counts near an end have a place of their own, those between share one."""
    low = np.arange(size)
    high = low[::-1]
    places = np.minimum(np.minimum(low, high) if mirrored else low, edge + 1)
    if not mirrored:
        places = np.where(high <= edge, edge + 2 + high, places)
    return np.unique(places, return_inverse=True)[1]


def _of_orders(orders: Orders, adder: _Adder, place: Integers, edge: int, far: int, mirrored: bool) -> SharedRows:
    """Those of one count are apart by their offset; far from the diagonal none is needed."""
    size = len(place)
    offset = orders.offset
    if mirrored:
        offset = np.where(2 * orders.about >= size, -offset, offset)
        own_image = (2 * orders.about == size - 1) | (np.minimum(orders.about, size - 1 - orders.about) > edge)
        offset = np.where(own_image, np.abs(offset), offset)
    near = np.flatnonzero(np.abs(offset) <= far)
    codes, kept = np.unique(place[orders.about[near]] * 4 * size + offset[near] + size, return_inverse=True)
    chosen = orders.where(near)
    matrix = adder.added(kept, chosen.small) - adder.added(kept, chosen.large)
    where = np.full(len(orders.small), -1)
    where[near] = kept
    return SharedRows(matrix, np.full(len(codes), -np.inf), np.zeros(len(codes)), where)
