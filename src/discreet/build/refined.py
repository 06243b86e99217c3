"""Answers to a linear program that are as exact as one likes, from a solver that works in floats.

What an answer lacks is itself the answer to a program: the same one, with what is left of the bounds and of the costs,
written large. Each turn adds several digits (Gleixner, Steffy and Wolter 2016, 'iterative refinement'). All that is
left is worked out in rationals, so that no turn rests on the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.build.duals import BoundProof
from discreet.build.formulation import Formulation
from discreet.program import LinearProgram, Repeated, Solution

if TYPE_CHECKING:
    from flint import fmpq

CLOSE_ENOUGH = Fraction(1, 10**9)  # relative gap: a figure of eight digits is then right
SURE = 1 + 10 * CLOSE_ENOUGH  # how many times the bound a value may be that counts as the least
TURNS = 40  # of a few digits at the least
LARGEST_GROWTH = 1 << 20  # of what is left, from turn to turn: more than the digits of one answer would be noise
GENTLER, FAILURES = 1 << 10, 3  # how much less large, and how often, where the solver gives up
SETTLED = 96  # bits behind the size of a value or of a price, where those of a basis are worked out
STEPS = 24  # towards that; each adds some twenty bits, or the basis is left
DEAR = 1e6  # what is so dear is not bought; should it be after all, the next turn sees its price
FAR = 1e8  # a bound that is so far away is left out; should it matter after all, the next turn sees it
KEPT_BITS = 64  # of a float that is added, behind its own leading digit
MORE_BITS = 80  # of multipliers, behind the size of what is left


@dataclass(frozen=True, eq=False)
class Refined:
    """Values of all variables, and a cost that no values that meet every row undercut."""

    values: list[Fraction]
    value: Fraction
    bound: Fraction
    lack: Fraction  # the most by which a row or a bound of a variable is missed
    multipliers: BoundProof  # that prove the bound

    @property
    def surely(self) -> Fraction:
        """About what values cost that miss nothing."""
        return self.value + self.lack


def refined(formulation: Formulation, sizes: Sequence[Fraction]) -> Refined | None:
    """Until the gap is small; None where the solver finds no answer to the first program.

    `sizes`: about how large each variable is, as powers of two. The solver's tolerances are in parts of these.
    """
    scaled = _Scaled(formulation, sizes)
    solver = Repeated(scaled.program())
    state, best, failures = _State.nothing(scaled), None, 0
    for _ in range(TURNS):
        answer = solver.solve(*state.left())
        if answer is None:
            failures += 1
            if best is None or failures > FAILURES:
                break
            state = state.gentler()
            continue
        state = _settled(state.with_answer(answer), *solver.basis()).grown(state)
        found = state.told(formulation, scaled)
        if best is not None:
            values = found if found.surely < best.surely else best
            proof = found if found.bound > best.bound else best
            found = replace(values, bound=proof.bound, multipliers=proof.multipliers)
        best = found
        if best.surely - best.bound <= CLOSE_ENOUGH * abs(best.value):
            break
    return best


def _settled(state: _State, columns: Integers, rows: Integers) -> _State:
    """The values and the multipliers that a basis leads to: as far as the solver got, if they cannot be worked out."""
    from scipy.sparse import csc_array, hstack
    from scipy.sparse.linalg import splu

    scaled, basic = state.scaled, set(columns.tolist())
    matrix = csc_array(scaled.program().matrix)
    alone = csc_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(matrix.shape[0], len(rows)))
    if len(columns) + len(rows) != matrix.shape[0]:
        return state
    try:
        factors: Any = splu(hstack([matrix[:, columns], alone]).tocsc())
    except RuntimeError:  # singular
        return state
    ends = zip(state.values, scaled.lower, scaled.upper)
    values = [
        value if k in basic else low if value - low <= high - value else high
        for k, (value, low, high) in enumerate(ends)
    ]
    duals = list(state.duals)

    def missing_values() -> list[fmpq]:
        return scaled.slacks(values)

    def missing_prices() -> list[fmpq]:
        found = scaled.reduced(duals)
        return [*(found[k] for k in columns.tolist()), *(-duals[k] for k in rows.tolist())]

    def add_values(more: Floats, unit: int) -> None:
        part = more[: len(columns)]
        moved = _added([values[k] for k in columns.tolist()], part, unit)
        for k, value in zip(columns.tolist(), moved):
            values[k] = value

    def add_prices(more: Floats, unit: int) -> None:
        duals[:] = _added(duals, more, unit)

    _towards(missing_values, add_values, factors.solve)
    priced = _towards(missing_prices, add_prices, lambda lack: factors.solve(lack, "T"))
    prices = duals if priced else state.duals
    found = replace(state, values=values, duals=prices)
    return found if found.lack <= state.lack else replace(state, duals=prices)


def _towards(
    missing: Callable[[], list[fmpq]], add: Callable[[Floats, int], None], solve: Callable[[Floats], Floats]
) -> bool:
    """Steps until nothing is missing, or False where they lead nowhere."""
    before = None
    for _ in range(STEPS):
        lack = missing()
        largest = max(map(abs, lack))
        if largest * (1 << SETTLED) <= 1:
            return True
        if before is not None and not largest * 4 < before:
            return False
        before, unit = largest, _scale(largest, 1, 1 << 4096)
        add(solve(_floats([one * unit for one in lack])), unit)
    return False


class _Scaled:
    """Equalities only, since what a row leaves over has a price, too; variables in parts of their sizes, and every row
    and the costs in parts of their largest coefficient. In flint's rationals."""

    def __init__(self, formulation: Formulation, sizes: Sequence[Fraction]) -> None:
        self.sizes, self.weights = list(sizes), []
        self.lower = [Fraction(low) / size for low, size in zip(formulation.lower, sizes)]
        self.upper = [Fraction(high) / size for high, size in zip(formulation.upper, sizes)]
        self.cost_unit = max(_size(cost * size) for cost, size in zip(formulation.costs, sizes) if cost)
        costs = [Fraction(cost) * size / self.cost_unit for cost, size in zip(formulation.costs, sizes)]
        self.terms: list[list[tuple[int, fmpq]]] = []
        bounds = []
        for row in formulation.rows:
            parts = [c * sizes[column] for column, c in zip(row.columns, row.coefficients)]
            weight = 1 / max(_size(part) for part in (*parts, row.bound) if part)
            self.weights.append(weight)
            bounds.append(_rational(row.bound * weight))
            terms = [(column, _rational(part * weight)) for column, part in zip(row.columns, parts)]
            if not row.equal:
                terms.append((len(costs), _rational(Fraction(1))))
                costs.append(Fraction(0))
                self.lower.append(Fraction(0))
                self.upper.append(Fraction(1 << 1000))
            self.terms.append(terms)
        self.costs, self.bounds = [_rational(cost) for cost in costs], bounds
        self.lower, self.upper = [_rational(low) for low in self.lower], [_rational(high) for high in self.upper]

    def program(self) -> LinearProgram:
        from scipy.sparse import csr_array

        starts = np.concatenate([[0], np.cumsum([len(terms) for terms in self.terms])])
        columns = np.array([column for terms in self.terms for column, _ in terms], dtype=np.int32)
        data = _floats([coefficient for terms in self.terms for _, coefficient in terms])
        matrix = csr_array((data, columns, starts), shape=(len(self.terms), len(self.costs)))
        ends = (
            np.zeros(len(self.terms)),
            np.zeros(len(self.terms)),
            np.zeros(len(self.costs)),
            np.zeros(len(self.costs)),
        )
        return LinearProgram(_floats(self.costs), matrix, *ends)

    def slacks(self, values: Sequence[fmpq]) -> list[fmpq]:
        found = []
        for bound, terms in zip(self.bounds, self.terms):
            for column, coefficient in terms:
                bound = bound - coefficient * values[column]
            found.append(bound)
        return found

    def reduced(self, duals: Sequence[fmpq]) -> list[fmpq]:
        found = list(self.costs)
        for dual, terms in zip(duals, self.terms):
            if dual:
                for column, coefficient in terms:
                    found[column] -= dual * coefficient
        return found


@dataclass(frozen=True, eq=False)
class _State:
    """Values and multipliers so far, and how much larger what is left of each is written."""

    scaled: _Scaled
    values: list[fmpq]
    duals: list[fmpq]
    primal_scale: int = 1
    dual_scale: int = 1

    @classmethod
    def nothing(cls, scaled: _Scaled) -> _State:
        zero = _rational(Fraction(0))
        return cls(scaled, [zero] * len(scaled.costs), [zero] * len(scaled.terms))

    def with_answer(self, answer: Solution) -> _State:
        values = _added(self.values, answer.values, self.primal_scale)
        duals = _added(self.duals, answer.duals, self.dual_scale)
        return replace(self, values=values, duals=duals)

    def grown(self, before: _State) -> _State:
        """What is left is written larger than it was."""
        scales = _scale(self.lack, before.primal_scale), _scale(self.wrong, before.dual_scale)
        return _State(self.scaled, self.values, self.duals, *scales)

    def gentler(self) -> _State:
        """What is left is written less large: the solver may be able to do with that."""
        less = max(1, self.primal_scale // GENTLER), max(1, self.dual_scale // GENTLER)
        return _State(self.scaled, self.values, self.duals, *less)

    @cached_property
    def slacks(self) -> list[fmpq]:
        return self.scaled.slacks(self.values)

    @cached_property
    def reduced(self) -> list[fmpq]:
        return self.scaled.reduced(self.duals)

    @cached_property
    def lack(self) -> fmpq:
        """The most by which a row or a bound is missed."""
        below = (low - value for low, value in zip(self.scaled.lower, self.values))
        above = (value - high for high, value in zip(self.scaled.upper, self.values))
        return max(*map(abs, self.slacks), *below, *above)

    @cached_property
    def wrong(self) -> fmpq:
        """The most by which a reduced cost has the wrong sign for the end that its variable is nearer to."""
        return max(
            -cost if value - low <= high - value else cost
            for cost, value, low, high in zip(self.reduced, self.values, self.scaled.lower, self.scaled.upper)
        )

    def left(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """What is left of the costs, of the rows' two bounds and of the variables', each written large."""
        large, dear = self.primal_scale, self.dual_scale
        rows = _floats([slack * large for slack in self.slacks])
        lower = _floats([(low - value) * large for low, value in zip(self.scaled.lower, self.values)])
        upper = _floats([(high - value) * large for high, value in zip(self.scaled.upper, self.values)])
        ends = np.where(lower < -FAR, -np.inf, lower), np.where(upper > FAR, np.inf, upper)
        costs = np.clip(_floats([cost * dear for cost in self.reduced]), -DEAR, DEAR)
        return costs, rows, rows, *ends

    def told(self, formulation: Formulation, scaled: _Scaled) -> Refined:
        values = [_fraction(value) * size for value, size in zip(self.values, scaled.sizes)]
        cost = sum((c * x for c, x in zip(formulation.costs, values) if c), Fraction(0)) + formulation.constant
        duals = [_fraction(dual) * weight * scaled.cost_unit for dual, weight in zip(self.duals, scaled.weights)]
        bits = self.dual_scale.bit_length() + MORE_BITS - _exponent(scaled.cost_unit)
        proof = BoundProof(duals, bits)
        return Refined(values, cost, proof.bound(formulation), _fraction(self.missed()), proof)

    def missed(self) -> fmpq:
        """The most by which a row or a bound is missed, in their own units."""
        rows = (abs(slack) / _rational(weight) for slack, weight in zip(self.slacks, self.scaled.weights))
        sizes = [_rational(size) for size in self.scaled.sizes]
        below = ((low - value) * size for low, value, size in zip(self.scaled.lower, self.values, sizes))
        return max(*rows, *below)


def _exponent(number: Fraction) -> int:
    """Of the power of two that is about as large."""
    return abs(number.numerator).bit_length() - number.denominator.bit_length()


def _size(number: int | Fraction) -> Fraction:
    return Fraction(2) ** _exponent(Fraction(number))


def _scale(left: fmpq, before: int, most: int = LARGEST_GROWTH) -> int:
    """A power of two that makes what is left about one, but never much larger than the one before."""
    if left <= 0:
        return before * most
    inverse = int(left.q) // int(left.p)
    return max(before, min(1 << max(0, inverse.bit_length() - 1), before * most))


def _added(numbers: Sequence[fmpq], more: Floats, scale: int) -> list[fmpq]:
    from flint import fmpq

    unit = scale << KEPT_BITS
    parts = [round(Fraction(part) * (1 << KEPT_BITS)) for part in more.tolist()]
    return [number + fmpq(part, unit) if part else number for number, part in zip(numbers, parts)]


def _floats(numbers: Sequence[fmpq]) -> Floats:
    return np.array([_float(number) for number in numbers])


def _float(number: fmpq) -> float:
    try:
        return int(number.p) / int(number.q)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def _rational(number: Fraction | int) -> fmpq:
    from flint import fmpq

    return fmpq(Fraction(number).numerator, Fraction(number).denominator)


def _fraction(number: fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))
