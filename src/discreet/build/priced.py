"""A lower bound for designs of any size that is proven without the solver: whatever the multipliers are, it is true.

Requirements that tie different outputs together (sums of rows, orders along a row, the diagonal) are priced by
multipliers. What is left falls apart into outputs: each is a column that is private by itself, and the least it can
cost is found step by step away from the diagonal. All prices are integers in units of a power of two; where products
need rounding it is towards minus infinity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.build.duals import float_below
from discreet.build.orders import ORDERS
from discreet.build.structured import Structured
from discreet.numbers import Epsilon

BITS = 48  # of the largest price: sums of thousands fit into 63
LARGEST_UNITS = 2.0**61  # sums of two fit, too

NO_PRICE = 1e-200  # what rounding down makes of a cost of nothing is far below
SAFELY = 1.001  # a sum of doubles of one sign is off by far less


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Of the orders by kind, of T[i, i] >= 1/n, and of the equality of all T[i, i]."""

    orders: Mapping[str, Floats]
    honest: Floats
    fair: Floats


@dataclass(frozen=True, eq=False)
class Columns:
    """What an entry costs besides its share of its row's sum, in units of 2^-shift, at the least; and what all cost."""

    costs: Integers
    constant: Fraction
    shift: int
    low: float  # neighbours of an entry, away from the diagonal, are between low and high times as large
    high: float


def columns_of(task: Structured, epsilon: Epsilon, multipliers: Multipliers) -> Columns:
    """The problem with these multipliers, at no less than e^epsilon."""
    size = task.size
    largest = max(float(np.abs(task.below).max()), *(float(np.abs(part).max()) for part in _all(multipliers)))
    shift = BITS - (int(np.ceil(np.log2(largest))) if largest > NO_PRICE else 0)
    costs = np.floor(np.ldexp(task.below, shift)).astype(np.int64)
    flat = costs.reshape(-1)
    for kind, parts in multipliers.orders.items():
        if kind not in task.kinds:
            raise AssertionError(f"{kind} is not required")
        orders, units = ORDERS[kind](size), _units(np.maximum(parts, 0.0), shift)
        np.add.at(flat, orders.small, units)
        np.add.at(flat, orders.large, -units)
    constant = _diagonal(task, multipliers, costs, shift)
    odds = -float_below(-epsilon.bounds(160)[1])
    high = 1.0 if "row-monotone" in task.kinds else odds
    return Columns(costs, constant, shift, float(np.nextafter(1 / odds, 0.0)), high)


def _all(multipliers: Multipliers) -> list[Floats]:
    return [multipliers.honest, multipliers.fair, *multipliers.orders.values()]


def _units(numbers: Floats, shift: int) -> Integers:
    """Those that are too large for the prices are made smaller: any multipliers will do."""
    return np.clip(np.rint(np.ldexp(numbers, shift)), -LARGEST_UNITS, LARGEST_UNITS).astype(np.int64)


def _diagonal(task: Structured, multipliers: Multipliers, costs: Integers, shift: int) -> Fraction:
    """What the diagonal's multipliers add to its entries, and in all."""
    constant, places = Fraction(0), np.arange(task.size)
    if "weakly-honest" in task.kinds:
        units = _units(np.maximum(multipliers.honest, 0.0), shift)
        costs[places, places] -= units
        constant += Fraction(int(units.sum()), task.size) / Fraction(2) ** shift
    if task.fair:
        units = _units(multipliers.fair, shift)
        if task.truth is None:  # equal entries: what one costs more another must cost less
            rest = int(units.sum())
            units[0] -= rest // 2
            units[-1] -= rest - rest // 2
        costs[places, places] -= units
        constant += (task.truth or 0) * int(units.sum()) / Fraction(2) ** shift
    return constant


def proven(columns: Columns, sums: Floats) -> tuple[Fraction, Floats]:
    """What no mechanism can cost less than, given multipliers of the rows' sums; and what each column lacks or has.

    A column whose entry on the diagonal is x costs at least `least` times x, and 0 <= x <= 1; nor can it cost less than
    ones at everything that is negative.
    """
    units = _units(sums, columns.shift)
    costs = np.nextafter((columns.costs - units[:, None]).astype(float), -np.inf)
    turned = costs[::-1, ::-1]
    after = _outwards(costs, columns)
    before = (after if np.array_equal(costs, turned) else _outwards(turned, columns))[::-1]
    least = _add(_add(after, before), np.diagonal(costs))
    least = np.maximum(least, SAFELY * np.minimum(costs, 0.0).sum(axis=0))
    total = sum(units.tolist()) + sum((Fraction(lack) for lack in least[least < 0].tolist()), Fraction(0))
    return columns.constant + total / Fraction(2) ** columns.shift, np.ldexp(least, -columns.shift)


def _outwards(costs: Floats, columns: Columns) -> Floats:
    """For every output j the least that the entries of inputs above j can cost, where that of j itself is 1."""
    size = len(costs)
    found, least = np.zeros(size), np.zeros(size)
    for i in range(size - 1, 0, -1):  # least[j]: of the inputs from i on, where the one before is 1
        from_here = _add(costs[i, :i], least[:i])
        least[:i] = np.nextafter(from_here * np.where(from_here > 0, columns.low, columns.high), -np.inf)
        found[i - 1] = least[i - 1]
    return found


def _add(one: Floats, other: Floats) -> Floats:
    return np.nextafter(one + other, -np.inf)
