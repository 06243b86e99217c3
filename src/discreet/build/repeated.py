"""A family of mechanisms with few free entries: those near both ends, and an interior that repeats itself.

T[i, j] = a^|i-j| x, where x is free for the outputs within `edge` of an end and up to `reach` further inputs, stays as
it is beyond, and depends on i-j only for the outputs between. Since geometric tails add up to a geometric tail, rows of
the interior sum to one as soon as those near the ends and the one in the middle do. Columns of private mechanisms fall
by a at most, so x does not fall away from the diagonal, and where it stays as it is nothing could be smaller.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.build.orders import ORDERS
from discreet.build.structured import Structured
from discreet.program import LinearProgram, interior_point


@dataclass(frozen=True, eq=False)
class Ties:
    """Which entries share a variable, and the inputs whose rows have to be looked at; the other rows follow."""

    variable: Integers
    rows: Integers

    @property
    def count(self) -> int:
        return int(self.variable.max()) + 1

    @property
    def size(self) -> int:
        return len(self.variable)


def tied(size: int, edge: int, reach: int, mirrored: bool, fair: bool) -> Ties:
    """`mirrored`: an entry and its image, counted from the top, are one; `fair`: those of the diagonal are."""
    last, far = size - 1, edge + reach
    i, j = np.divmod(np.arange(size * size).reshape(size, size), size)
    if mirrored:
        turned = (2 * j > last) | ((2 * j == last) & (i > j))
        i, j = np.where(turned, last - i, i), np.where(turned, last - j, j)
    apart = np.abs(i - j) if mirrored else i - j
    low = j * size + np.minimum(i, far)
    high = size * size + (last - j) * size + np.minimum(last - i, far)
    inner = 2 * size * size + size + np.clip(apart, -reach, reach)
    codes = np.where(j <= edge, low, np.where(last - j <= edge, high, inner))
    if fair:
        np.fill_diagonal(codes, -1)
    variable = np.unique(codes, return_inverse=True)[1].reshape(size, size)
    near = np.arange(min(far, last // 2) + 1)
    return Ties(variable, np.unique([*near, last // 2, *([] if mirrored else last - near)]))


@dataclass(frozen=True, eq=False)
class Bounds:
    """a^power x[small] <= x[large], the strongest for each pair of variables."""

    small: Integers
    large: Integers
    power: Integers

    def rows(self, ratio: float, margin: float = 0.0) -> tuple[Floats, Integers, Integers]:
        """Entries of a matrix that is at most zero; orders that are no privacy of their own have a margin."""
        factors = np.where(self.power > 0, 1 + margin, 1.0) * ratio**self.power
        lines = np.arange(len(self.small))
        data = np.concatenate([factors, np.full(len(lines), -1.0)])
        return data, np.tile(lines, 2), np.concatenate([self.small, self.large])


def bounds_of(ties: Ties, kinds: frozenset[str]) -> Bounds:
    """Privacy and the orders of these kinds, over variables."""
    size, places = ties.size, np.arange(ties.size**2).reshape(ties.size, ties.size)
    above, below = places[:-1].ravel(), places[1:].ravel()
    found = [(above, below, 1), (below, above, 1)]  # one step may be larger by 1/a
    for kind in sorted(kinds & set(ORDERS)):
        orders = ORDERS[kind](size)
        found.append((orders.small, orders.large, 0))
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).ravel()
    variable = ties.variable.ravel()
    small, large, power = (
        np.concatenate(parts)
        for parts in zip(*((variable[s], variable[g], extra + apart[s] - apart[g]) for s, g, extra in found))
    )
    pair = small * ties.count + large
    order = np.lexsort((power, pair))
    first = order[np.flatnonzero(np.diff(pair[order], prepend=-1))]
    first = first[small[first] != large[first]]
    return Bounds(small[first], large[first], power[first])


def best_of_family(task: Structured, ties: Ties, ratio: float, margin: float, seconds: float) -> Floats | None:
    """The mechanism of the family that costs least, up to rounding, with a margin in every order that is required."""
    from scipy.sparse import csr_array, vstack

    powers, usual = falling(task.size, ratio), usual_truth(ratio)
    bounds = bounds_of(ties, task.kinds)
    sums = usual * np.array([summed(ties.variable[i], powers[i], ties.count) for i in ties.rows])
    lines, many = len(bounds.small), len(sums)
    data, places, columns = bounds.rows(ratio, margin)
    lower, upper = _box(task, ties, usual, margin)
    program = LinearProgram(
        usual * summed(ties.variable.ravel(), (task.prices * powers).ravel(), ties.count),
        vstack([csr_array(sums), csr_array((data, (places, columns)), shape=(lines, ties.count))]).tocsr(),
        np.concatenate([np.ones(many), np.full(lines, -np.inf)]),
        np.concatenate([np.ones(many), np.zeros(lines)]),
        lower,
        upper,
    )
    answer = interior_point(program, seconds)
    if answer is None:
        return None
    found: Floats = usual * _summing_to_one(sums, answer.values, lower < upper)[ties.variable] * powers
    return found


def falling(size: int, ratio: float) -> Floats:
    """a^|i-j|."""
    powers: Floats = ratio ** np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(float)
    return powers


def usual_truth(ratio: float) -> float:
    """About what the chance of the truth is: variables are in parts of it."""
    return (1 - ratio) / (1 + ratio)


def summed(variable: Integers, weights: Floats, count: int) -> Floats:
    return np.bincount(variable, weights, count).astype(float)


def _box(task: Structured, ties: Ties, usual: float, margin: float) -> tuple[Floats, Floats]:
    lower, upper = np.zeros(ties.count), np.full(ties.count, np.inf)
    diagonal = np.diagonal(ties.variable)
    if "weakly-honest" in task.kinds:
        lower[diagonal] = (1 + margin) / task.size / usual
    if task.truth is not None:
        lower[diagonal] = upper[diagonal] = float(task.truth) / usual
    return lower, upper


def _summing_to_one(sums: Floats, values: Floats, free: NDArray[np.bool_]) -> Floats:
    """The values, moved in proportion to their squares, so that no small one moves much."""
    near = np.maximum(values, 0.0)
    weights = sums * (np.where(free, near, 0.0) ** 2)
    for _ in range(2):  # the second time for what the first left of rounding
        near = near + weights.T @ np.linalg.lstsq(weights @ sums.T, 1.0 - sums @ near, rcond=None)[0]
    return near
