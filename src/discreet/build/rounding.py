"""From the solver's floats to integer weights with a common row sum, with every equality kept exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from discreet.arrays import Floats
from discreet.build.formulation import Formulation, LinearRow
from discreet.errors import SolverFailed

BITS = 58  # of the grid: its steps are far finer than the smallest margin that answers are solved with
LARGEST_EXACT = 10**6  # an equality whose coefficients need a larger common denominator is met up to rounding only
PROJECTIONS = 3  # more than one, since each leaves rounding errors that the next takes away
ZERO = 1e-14  # entries below are what the solver's rounding left


def integer_weights(
    formulation: Formulation, values: Floats, active: Sequence[LinearRow] = (), bits: int = BITS
) -> tuple[list[list[int]], int]:
    """The weights and their row sum. `active` rows are met with equality as well."""
    equalities = [row for row in formulation.rows if row.equal]
    near = _project(np.where(values < ZERO, 0.0, values), equalities)
    exact = [row for row in equalities if _denominator(row) <= LARGEST_EXACT] + list(active)
    grid = lcm(1, *(value.denominator for value in formulation.fixed.values())) << bits
    rounded = [Fraction(max(0, round(Fraction(value) * grid)), grid) for value in near.tolist()]
    return _of_entries(formulation, _solve_exactly(rounded, exact), grid)


def exact_weights(formulation: Formulation, values: Sequence[Fraction], bits: int) -> tuple[list[list[int]], int]:
    """The same of rationals that meet everything already, up to less than 2^-bits."""
    equalities = [row for row in formulation.rows if row.equal]
    grid = lcm(1, *(value.denominator for value in formulation.fixed.values())) << bits
    rounded = [Fraction(max(0, round(value * grid)), grid) for value in values]
    return _of_entries(formulation, _solve_exactly(rounded, equalities), grid)


def _of_entries(formulation: Formulation, solved: Sequence[Fraction], grid: int) -> tuple[list[list[int]], int]:
    total = lcm(grid, *(value.denominator for value in solved))
    entries = [int(value * total) for value in solved]
    size = len(formulation.variable)
    rows = [
        [
            entries[column] if column >= 0 else int(formulation.fixed[i, j] * total)
            for j, column in enumerate(formulation.variable[i].tolist())
        ]
        for i in range(size)
    ]
    return rows, total


def _denominator(row: LinearRow) -> int:
    return lcm(*(Fraction(coefficient).denominator for coefficient in row.coefficients))


def _project(values: Floats, equalities: Sequence[LinearRow]) -> Floats:
    """The nearest point that meets the equalities, to machine precision; what is zero stays zero."""
    near = values.copy()
    if not equalities:
        return near
    matrix, bounds = _dense(equalities, len(values))
    free = near > 0
    for _ in range(PROJECTIONS):
        near[free] += np.linalg.lstsq(matrix[:, free], bounds - matrix @ near, rcond=None)[0]
    return near


def _dense(rows: Sequence[LinearRow], columns: int) -> tuple[Floats, Floats]:
    matrix = np.zeros((len(rows), columns))
    for line, row in zip(matrix, rows):
        line[list(row.columns)] = [float(c) for c in row.coefficients]
    return matrix, np.array([float(row.bound) for row in rows])


def _solve_exactly(values: list[Fraction], rows: Sequence[LinearRow]) -> list[Fraction]:
    """Move as few values as there are independent rows, and by as little as rounding requires."""
    from flint import fmpq, fmpq_mat
    from scipy.linalg import qr

    if not rows:
        return values
    dense, _ = _dense(rows, len(values))
    sizes = np.sqrt([float(value) for value in values])
    triangle, order = qr(dense * sizes, mode="r", pivoting=True)
    steps = np.abs(np.diagonal(triangle))
    rank = int((steps > 1e-9 * steps.max(initial=0.0)).sum())
    pivots = sorted(order[:rank].tolist())
    independent = sorted(qr(dense[:, pivots].T, mode="r", pivoting=True)[1][:rank].tolist())
    place = {column: k for k, column in enumerate(pivots)}
    system, missing = fmpq_mat(rank, rank), fmpq_mat(rank, 1)
    for line, index in enumerate(independent):
        row, lack = rows[index], Fraction(rows[index].bound)
        for column, coefficient in zip(row.columns, row.coefficients):
            lack -= coefficient * values[column]
            if column in place:
                fraction = Fraction(coefficient)
                system[line, place[column]] = fmpq(fraction.numerator, fraction.denominator)
        missing[line, 0] = fmpq(lack.numerator, lack.denominator)
    try:
        moves = system.solve(missing)
    except ZeroDivisionError as error:
        raise SolverFailed(
            "a design was to be put into integers", "its equalities are too nearly dependent to be solved exactly"
        ) from error
    moved = list(values)
    for column, k in place.items():
        moved[column] += Fraction(int(moves[k, 0].p), int(moves[k, 0].q))
    return moved
