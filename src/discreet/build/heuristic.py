"""The greedy constructor: fill column after column with scales until the row sums are one.

The remainder of the row sums shrinks exponentially and cancels, so it is not kept: its 2(n-1) slacks are, together with
the fact (not a comparison of floats) which of them are used up. Plain floats are tried first. If the result fails its
check, the same steps are done on integers, with more and more digits, until it passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.errors import SolverFailed

TOLERANCE = 1e-10  # of every constraint: where floats lose more, integers are used instead
MOST_BITS = 1 << 17  # 500 counts at epsilon 3 need 4,600


def by_largest(z: Floats) -> Integers:
    return np.argsort(-z, kind="stable")


def by_smallest(z: Floats) -> Integers:
    return np.argsort(z, kind="stable")


def sandwich(z: Floats) -> Integers:
    """0, n-1, 1, n-2, ..."""
    pairs = np.stack([np.arange(len(z)), len(z) - 1 - np.arange(len(z))], axis=1).ravel()
    return pairs[: len(z)]


SELECTORS: dict[str, Callable[[Floats], Integers]] = {"max": by_largest, "min": by_smallest, "sandwich": sandwich}


@dataclass(frozen=True)
class Greedy:
    """A checked matrix, the digits it took (0: plain floats) and the number of scales it is made of."""

    matrix: Floats
    bits: int
    scales: int


def heuristic(z: Floats, odds: Fraction, selector: str) -> Greedy:
    """The greedy mechanism with fixed point z; every constraint holds to 1e-10 or an error is raised."""
    order = SELECTORS[selector](z)
    columns = [int(j) for j in order if z[j] > 0]
    with np.errstate(all="ignore"):
        matrix, scales = _in_floats(z, float(odds), columns)
    if worst_violation(matrix, z, float(odds)) < TOLERANCE:
        return Greedy(matrix, 0, scales)
    bits = 256 + 2 * math.ceil(len(z) * math.log2(odds))
    while bits <= MOST_BITS:
        matrix, scales = _in_integers(z, odds, bits, columns)
        if worst_violation(matrix, z, float(odds)) < TOLERANCE:
            return Greedy(matrix, bits, scales)
        bits *= 2
    raise SolverFailed(
        f"the greedy mechanism for {len(z)} counts was asked for",
        f"its row sums are still wrong with {bits // 2} binary digits",
        "Use transport, which is never worse",
    )


def worst_violation(matrix: Floats, z: Floats, odds: float) -> float:
    """How far from a private mechanism with fixed point z; infinite if something is not a number."""
    if not np.isfinite(matrix).all():
        return math.inf
    lower, upper = matrix[:-1], matrix[1:]
    errors: Iterable[float] = (
        np.abs(matrix.sum(axis=1) - 1).max(),
        np.abs(z @ matrix - z).max(),
        (upper - odds * lower).max(initial=0.0),
        (lower - odds * upper).max(initial=0.0),
        -matrix.min(),
    )
    return float(max(errors))


def _pattern(tight: Integers, column: int) -> Integers:
    """Rise to the column and fall after it (+1, -1), except where the remainder leaves no choice."""
    peaked = np.where(np.arange(len(tight)) < column, 1, -1)
    return np.where(tight != 0, tight, peaked)


def _depths(pattern: Integers) -> Integers:
    """How many steps each entry of the scale lies below its largest."""
    heights = np.concatenate([[0], np.cumsum(pattern)])
    depths: Integers = heights.max() - heights
    return depths


def _in_floats(z: Floats, odds: float, columns: list[int]) -> tuple[Floats, int]:
    size, rise = len(z), odds - 1 / odds
    matrix, tight, scales = np.zeros((size, size)), np.zeros(size - 1, dtype=np.int64), 0
    slacks = np.full((2, size - 1), odds - 1)  # for steps up, for steps down
    edges = np.arange(size - 1)
    for column in columns:
        left = z[column]
        while left > 0 and scales < 3 * size:
            pattern = _pattern(tight, column)
            scale = np.exp(-math.log(odds) * _depths(pattern))
            falls = (pattern < 0).astype(np.int64)
            used = rise * np.maximum(scale[1:], scale[:-1])
            rooms = np.where((tight == 0) & (used > 0), slacks[falls, edges] / used, np.inf)
            whole, edge = left / (z @ scale), int(np.argmin(rooms)) if size > 1 else 0
            amount = min(whole, rooms[edge])
            matrix[:, column] += amount * scale
            slacks[falls, edges] = np.maximum(slacks[falls, edges] - amount * used, 0.0)
            scales += 1
            if amount == whole:
                break
            left -= amount * (z @ scale)
            slacks[falls[edge], edge], tight[edge] = 0.0, -pattern[edge]
    return matrix, scales


def _in_integers(z: Floats, odds: Fraction, bits: int, columns: list[int]) -> tuple[Floats, int]:
    """The same in fixed point: x stands for x / 2^bits. Powers of the odds are taken one short step a time."""
    size, p, q = len(z), odds.numerator, odds.denominator
    rise, log_odds = odds - 1 / odds, math.log(odds)
    exact_z = [int(Fraction(entry) * (1 << bits)) for entry in z.tolist()]
    full = (p - q << bits) // q
    slacks = np.full((2, size - 1), full, dtype=object)
    matrix, scales, edges = np.zeros((size, size)), 0, np.arange(size - 1)
    tight = np.zeros(size - 1, dtype=np.int64)
    for column in columns:
        left = exact_z[column]
        while left > 0 and scales < 3 * size:
            pattern = _pattern(tight, column)
            depths = _depths(pattern)
            falls, above = (pattern < 0).astype(np.int64), np.minimum(depths[1:], depths[:-1])
            mass = _mass(exact_z, depths, odds)
            whole = (left * rise.numerator << bits) // (mass * rise.denominator)
            edge, room = _least_room(slacks[falls, edges], above, tight, odds)
            amount = whole if edge is None else min(whole, room)
            powers = _falling_powers(amount, odds, int(depths.max()) + 1)
            share = float(Fraction(amount, 1 << bits) / rise)
            matrix[:, column] += share * np.exp(-log_odds * depths)
            slacks[falls, edges] = np.maximum(slacks[falls, edges] - powers[above], 0)
            scales += 1
            if edge is None or whole <= room:
                break
            left -= (amount * mass * rise.denominator // rise.numerator) >> bits
            slacks[falls[edge], edge], tight[edge] = 0, -pattern[edge]
    return matrix, scales


def _mass(exact_z: list[int], depths: Integers, odds: Fraction) -> int:
    """z . scale, the entries of the scale being odds^-depth."""
    levels = [0] * (int(depths.max()) + 1)
    for entry, depth in zip(exact_z, depths.tolist()):
        levels[depth] += entry
    total = 0
    for level in reversed(levels):
        total = total * odds.denominator // odds.numerator + level
    return total


def _falling_powers(amount: int, odds: Fraction, many: int) -> NDArray[np.object_]:
    powers = np.empty(many, dtype=object)
    for k in range(many):
        powers[k] = amount
        amount = amount * odds.denominator // odds.numerator
    return powers


def _least_room(
    slacks: NDArray[np.object_], depths: Integers, tight: Integers, odds: Fraction
) -> tuple[int | None, int]:
    """The edge whose slack is used up first, and the least slack * odds^depth. Logarithms sort out nearly all edges."""
    free = np.flatnonzero(tight == 0)
    if not len(free):
        return None, 0
    logs = np.array([_log2(slack) for slack in slacks[free]]) + math.log2(odds) * depths[free]
    near = free[logs <= logs.min() + 1e-6]
    rooms = [int(slacks[i]) * odds.numerator ** int(depths[i]) // odds.denominator ** int(depths[i]) for i in near]
    least = int(np.argmin(np.array(rooms, dtype=object)))
    return int(near[least]), rooms[least]


def _log2(number: int) -> float:
    length = number.bit_length()
    return (
        length - 53 + math.log2(number >> (length - 53)) if length > 53 else math.log2(number) if number else -math.inf
    )
