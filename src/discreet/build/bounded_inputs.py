"""Bounded noise for small counts too: its law depends on the count, so that nothing negative is published."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from discreet.build.formulation import Exact, Formulation, LinearRow
from discreet.build.least_rows import LeastRows, least_rows, rows_in_floats
from discreet.laws import Bounded
from discreet.mechanism import Mechanism, of_weights
from discreet.numbers import Epsilon, Number, probability, text, whole
from discreet.options import spelt
from discreet.privacy import Loss, loss_of
from discreet.privacy.values import ratio_alone
from discreet.requirements import Cell
from discreet.shown import Shown

Measure = Literal["hockey-stick", "single-outputs"]


@dataclass(frozen=True, eq=False, repr=False)
class BoundedMechanism(Shown):
    """Published counts lie within `support` of the truth, are never negative, and may exceed max_count.

    `delta` is exact for all inputs of the mechanism; `delta_single` looks at single outputs only. No mechanism of the
    kind has a smaller measure than `lower_bound`. The first row of the mechanism belongs to the count `first`.
    """

    mechanism: Mechanism
    first: int
    epsilon: Epsilon
    truth: Fraction
    support: int
    delta: Fraction
    delta_single: Fraction
    lower_bound: Fraction


@spelt
def bounded_mechanism(
    max_count: int,
    epsilon: Number | Epsilon | Loss | None = None,
    *,
    truth: Number,
    support: int,
    alpha: Number | None = None,
    delta: Number = 0,
    rho: Number | None = None,
) -> BoundedMechanism:
    """The least exact delta over all counts from 0 to max_count.

    Every count is published truly with probability `truth`, and right on average, except 0, which cannot be.
    """
    asked = ratio_alone(loss_of(epsilon, alpha=alpha, delta=delta, rho=rho), "a bounded mechanism")
    return _solved(max_count, asked.epsilon, truth, support, 0, "hockey-stick")


@spelt
def published_bounded_mechanism(
    max_count: int,
    epsilon: Number | Epsilon | Loss | None = None,
    *,
    truth: Number,
    support: int,
    alpha: Number | None = None,
    delta: Number = 0,
    rho: Number | None = None,
) -> BoundedMechanism:
    """Sadeghi, Asoodeh and Calmon's program: least delta for single outputs, over counts from 1 on.

    For comparison only: it leaves the counts 0 and 1 unprotected from each other.
    """
    asked = ratio_alone(loss_of(epsilon, alpha=alpha, delta=delta, rho=rho), "a bounded mechanism")
    return _solved(max_count, asked.epsilon, truth, support, 1, "single-outputs")


def _solved(
    max_count: int, epsilon: Epsilon, truth: Number, support: int, first: int, measure: Measure
) -> BoundedMechanism:
    last, chance = whole(max_count, "max_count", 1), probability(truth, "truth", open_ends=True)
    layout = _Layout(first, last, whole(support, "support", 1), chance)
    found = _rows(layout, epsilon, measure)
    excesses = _excesses(found.rows, found.total, epsilon.odds())
    true = _program(layout, epsilon.bounds(160)[1], measure)
    return BoundedMechanism(
        mechanism=of_weights("bounded-noise", found.rows, truth=text(chance), support=layout.support),
        first=first,
        epsilon=epsilon,
        truth=chance,
        support=layout.support,
        delta=max(sum(line, Fraction(0)) for line in excesses),
        delta_single=max(max(line) for line in excesses),
        lower_bound=max(Fraction(0), found.multipliers.bound(true)),
    )


def _rows(layout: _Layout, epsilon: Epsilon, measure: Measure) -> LeastRows:
    """In floats where that will do; they cannot tell small deltas from nothing."""
    program, odds = _program(layout, epsilon.odds(), measure), epsilon.odds()

    def delta(rows: list[list[int]], total: int) -> Fraction:
        lines = _excesses(rows, total, odds)
        return max(sum(line, Fraction(0)) if measure == "hockey-stick" else max(line) for line in lines)

    least = Bounded(odds, layout.truth, layout.support).delta(Epsilon(ratio=odds))
    return rows_in_floats(program, delta) or least_rows(program, odds, layout.first, least, delta)


@dataclass(frozen=True)
class _Layout:
    """Inputs first..last, outputs 0..last + support; the entries that may be positive, and those that are fixed."""

    first: int
    last: int
    support: int
    truth: Fraction

    @property
    def shape(self) -> tuple[int, int]:
        return self.last - self.first + 1, self.last + self.support + 1

    def cells(self) -> tuple[np.ndarray, dict[Cell, Fraction]]:
        rows, columns = self.shape
        error = np.arange(columns)[None, :] - np.arange(self.first, self.last + 1)[:, None]
        free = (np.abs(error) <= self.support) & (error != 0)
        variable = np.where(free, np.cumsum(free.ravel()).reshape(free.shape) - 1, -1)
        fixed = {
            (i, j): self.truth if error[i, j] == 0 else Fraction(0)
            for i in range(rows)
            for j in range(columns)
            if not free[i, j]
        }
        return variable, fixed


def _program(layout: _Layout, odds: Fraction, measure: Measure) -> Formulation:
    """Minimise delta, the last variable; before it come the entries, and for the hockey stick their excesses."""
    variable, fixed = layout.cells()
    entries = int(variable.max()) + 1
    pairs = [pair for i in range(layout.shape[0] - 1) for pair in ((i, i + 1), (i + 1, i))]
    outputs = {pair: [j for j in range(layout.shape[1]) if fixed.get((pair[0], j)) != 0] for pair in pairs}
    excesses = sum(map(len, outputs.values())) if measure == "hockey-stick" else 0
    delta, column = entries + excesses, entries
    rows = law_rows(variable, fixed, layout.first)
    for one, other in pairs:
        start = column
        for j in outputs[one, other]:
            limit = column if excesses else delta
            rows.append(excess_row(variable, fixed, (one, j), (other, j), odds, limit))
            column += 1 if excesses else 0
        if excesses:
            together = tuple(range(start, column))
            rows.append(LinearRow((*together, delta), (*(1,) * len(together), -1), False, 0))
    size = delta + 1
    return Formulation(variable, fixed, [0] * delta + [1], 0, [1] * size, [0] * size, rows)


def law_rows(variable: np.ndarray, fixed: dict[Cell, Fraction], first: int) -> list[LinearRow]:
    """Every input's probabilities sum to one; every input but 0 is right on average. The first is `first`."""
    rows = []
    for i, line in enumerate(variable.tolist()):
        free = [j for j, column in enumerate(line) if column >= 0]
        columns = tuple(line[j] for j in free)
        truth = fixed.get((i, first + i), Fraction(0))
        rows.append(LinearRow(columns, (1,) * len(columns), True, 1 - truth))
        if first + i > 0:
            rows.append(LinearRow(columns, tuple(j - first - i for j in free), True, 0))
    return rows


def excess_row(
    variable: np.ndarray, fixed: dict[Cell, Fraction], here: Cell, there: Cell, odds: Fraction, limit: int
) -> LinearRow:
    """T[here] - odds T[there] <= x[limit]."""
    terms: dict[int, Exact] = {limit: -1}
    bound: Exact = 0
    for cell, coefficient in ((here, Fraction(1)), (there, -odds)):
        if cell in fixed:
            bound -= coefficient * fixed[cell]
        else:
            terms[int(variable[cell])] = coefficient
    return LinearRow(tuple(terms), tuple(terms.values()), False, bound)


def _excesses(rows: list[list[int]], total: int, odds: Fraction) -> list[list[Fraction]]:
    """For every pair of neighbouring inputs, how much each output exceeds `odds` times its neighbour's probability."""
    p, q = odds.numerator, odds.denominator
    array = np.array(rows, dtype=object)
    found = [np.maximum(q * a - p * b, 0) for a, b in ((array[:-1], array[1:]), (array[1:], array[:-1]))]
    return [[Fraction(int(excess), q * total) for excess in line] for part in found for line in part]
