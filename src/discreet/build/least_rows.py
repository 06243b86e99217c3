"""Rows of least delta, in integers: however small it is, found to eight digits wherever the solver can follow."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log2
from typing import TypeAlias

from discreet.build.duals import BoundProof
from discreet.build.formulation import Formulation
from discreet.build.refined import SURE, refined
from discreet.build.rounding import exact_weights, integer_weights
from discreet.errors import BadInput, SolverFailed, called
from discreet.numbers import digits_above

SCALE = 1000.0  # the solver's tolerances are absolute: rows that sum to 1000 make them finer
ROUNDED = 40  # bits behind the delta: what rounding the rows adds to it is far below what is announced
SMALL = Fraction(1, 10**9)  # a delta that is useful, though it may not be the least
ABOUT_THE_LEAST = Fraction(10**4 + 1, 10**4)  # times the bound: what floats come to where they do not fail
NEGLIGIBLE = Fraction(1, 10**15)  # a delta below which nobody asks for less: floats hardly tell it from nothing
LARGE = Fraction(1, 10**5)  # a delta of which the errors of floats, of 1e-10 or so, are a small part
BEYOND_FLOATS = "Use a smaller support or epsilon, or release with the mechanism 'bounded' and"

Rows: TypeAlias = list[list[int]]
Measure: TypeAlias = Callable[[Rows, int], Fraction]


@dataclass(frozen=True, eq=False)
class LeastRows:
    """Weights with a common sum, and their delta; none that keep the same promises have a smaller one than `bound`."""

    delta: Fraction
    rows: Rows
    total: int
    bound: Fraction
    multipliers: BoundProof  # that prove it


def least_rows(program: Formulation, odds: Fraction, first: int, least: Fraction, measure: Measure) -> LeastRows:
    """Of a program whose last variable is delta. The first row is that of the count `first`; `least`: what delta may
    come to if small counts cost nothing, and about what it is expected to be. `measure` is the delta that rows have."""
    answer = refined(program, _sizes(program, odds, first, _power(least)))
    found = []
    if answer is not None and answer.value > 0:
        rows, total = exact_weights(program, answer.values, ROUNDED - _exponent(answer.value))
        found = _measured(LeastRows(Fraction(1), rows, total, answer.bound, answer.multipliers), measure)
        if found and found[0].delta <= max(NEGLIGIBLE, SURE * max(answer.bound, least)):
            return found[0]
    with suppress(SolverFailed):
        found += _measured(_in_floats(program), measure)
    best = min(found, key=lambda one: one.delta, default=None)
    proof = max(found, key=lambda one: one.bound, default=None)
    if best is None or proof is None or best.delta > max(SMALL, 2 * proof.bound, 2 * least):
        asked = f"rows of a delta of {digits_above(least, 2)} or so were to be found"
        raise BadInput(
            asked, "that is too small for the solver", f"{BEYOND_FLOATS} {called('small_counts', 'clamped')}"
        )
    return replace(best, bound=proof.bound, multipliers=proof.multipliers)


def rows_in_floats(program: Formulation, measure: Measure) -> LeastRows | None:
    """Where delta is so large that the errors of floats do not matter, and is proven to be about the least."""
    found = []
    with suppress(SolverFailed):
        found = _measured(_in_floats(program), measure)
    return found[0] if found and LARGE <= found[0].delta <= ABOUT_THE_LEAST * found[0].bound else None


def _measured(found: LeastRows, measure: Measure) -> list[LeastRows]:
    """With the delta they have; nothing, if rounding made one negative."""
    return [] if min(map(min, found.rows)) < 0 else [replace(found, delta=measure(found.rows, found.total))]


def _sizes(program: Formulation, odds: Fraction, first: int, guess: Fraction) -> list[Fraction]:
    """Entries fall by the odds away from the count, down to about delta; so large are all excesses."""
    sizes, step = [guess] * len(program.costs), log2(odds)
    for i, line in enumerate(program.variable.tolist()):
        for j, column in enumerate(line):
            if column >= 0:
                sizes[column] = max(guess, Fraction(2) ** round(-abs(first + i - j) * step))
    return sizes


def _in_floats(program: Formulation) -> LeastRows:
    """To about 1e-10."""
    from discreet.program import solve

    answer = solve(program.program(scale=SCALE))
    if not answer.optimal:
        raise SolverFailed("rows of least delta were to be found", f"HiGHS says '{answer.status}', though there are")
    rows, total = integer_weights(program, answer.values / SCALE)
    proof = BoundProof(answer.duals)
    return LeastRows(Fraction(1), rows, total, max(Fraction(0), proof.bound(program)), proof)


def _exponent(number: Fraction) -> int:
    """Of the power of two that is about as large."""
    return number.numerator.bit_length() - number.denominator.bit_length()


def _power(number: Fraction) -> Fraction:
    return Fraction(2) ** _exponent(number)
