"""A design problem as a linear program in exact numbers.

Equalities between entries, and entries with a fixed value, never reach the solver: equal entries share one variable and
fixed entries are constants, so that whatever the solver answers, these requirements hold exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput
from discreet.requirements import Cell, Requirement, Row, parse_requirement

if TYPE_CHECKING:
    from discreet.program import LinearProgram

Exact = int | Fraction


class Contradiction(Exception):
    """Two requirements fix an entry at different values, or a bound excludes a fixed value."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What is asked for: costs[i, j] is what answer j costs when the truth is i, which has the probability prior[i]."""

    size: int
    odds: Fraction
    delta: Fraction
    costs: NDArray[np.float64]
    prior: tuple[Fraction, ...]
    minimax: bool
    requirements: tuple[Requirement, ...]
    least_delta: bool = False  # whether delta is what is made small; `delta` is then the most there can be

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """What each input counts for: its prior; if the worst one counts, its prior in parts of an even one."""
        return tuple(self.size * share for share in self.prior) if self.minimax else self.prior

    @cached_property
    def prices(self) -> list[tuple[Fraction, ...]]:
        """costs times shares, exactly."""
        lines = zip(self.costs.tolist(), self.shares)
        return [tuple(Fraction(cost) * share for cost in line) for line, share in lines]

    @cached_property
    def rows(self) -> list[Row]:
        """The linear rows of the requirements that no other one implies."""
        implied = {name for requirement in self.requirements for name in requirement.implies}
        kept = [requirement for requirement in self.requirements if requirement.kind not in implied]
        return [row for requirement in kept for row in requirement.rows(self.size)]

    @cached_property
    def mirrored(self) -> bool:
        """Whether counting from the top leaves the problem as it is, so that a symmetric optimum exists."""
        prices = self.prices
        same_prices = all(tuple(reversed(a)) == b for a, b in zip(prices, reversed(prices)))
        return same_prices and self.rows_mirrored

    @cached_property
    def rows_mirrored(self) -> bool:
        """Whether counting from the top leaves the requirements as they are: if they can be met, then symmetrically."""
        return {_canonical(row) for row in self.rows} == {_canonical(_mirror(row, self.size - 1)) for row in self.rows}

    def with_odds(self, odds: Fraction) -> Problem:
        return replace(self, odds=odds)


@dataclass(frozen=True)
class LinearRow:
    """sum of coefficients * x[columns] <= or == bound; `certified`: the finished mechanism is held to it."""

    columns: tuple[int, ...]
    coefficients: tuple[Exact, ...]
    equal: bool
    bound: Exact
    certified: bool = True


@dataclass(frozen=True, eq=False)
class Formulation:
    """Minimise costs . x + constant over lower <= x <= upper and the rows; `variable` and `fixed` give T back.

    The first rows, `sums` of them, are those that say that probabilities sum to one.
    """

    variable: NDArray[np.int64]  # the variable of each entry, or -1
    fixed: dict[Cell, Fraction]
    costs: Sequence[Exact]
    constant: Exact
    upper: Sequence[Exact]
    lower: Sequence[Exact]
    rows: Sequence[LinearRow]
    sums: int = 0

    def program(self, margin: float = 0.0, scale: float = 1.0) -> LinearProgram:
        """In floats, with x multiplied by `scale` and every certified inequality tightened by `margin`."""
        from scipy.sparse import csr_array

        from discreet.program import LinearProgram

        lengths = [len(row.columns) for row in self.rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        columns = np.array([column for row in self.rows for column in row.columns], dtype=np.int32)
        try:
            data = np.array([float(c) for row in self.rows for c in row.coefficients])
        except OverflowError as error:  # e^710 is no float
            raise BadInput(
                "a linear program was to be solved", "its epsilon is too large for floats", "Give less"
            ) from error
        bounds = np.array([float(row.bound) for row in self.rows])
        equal = np.array([row.equal for row in self.rows], dtype=bool)
        certified = np.array([row.certified for row in self.rows], dtype=bool)
        above = scale * (bounds - margin * (certified & ~equal))
        return LinearProgram(
            np.array([float(cost) for cost in self.costs]),
            csr_array((data, columns, starts), shape=(len(self.rows), len(self.costs))),
            np.where(equal, above, -np.inf),
            above,
            scale * np.array([float(bound) for bound in self.lower]),
            scale * np.array([float(bound) for bound in self.upper]),
        )


def formulate(problem: Problem, symmetric: bool) -> Formulation:
    """`symmetric`: search among symmetric mechanisms only."""
    cells = _Cells(problem, symmetric)
    upper: list[Exact] = [1] * cells.count
    rows = _Rows(cells)
    for i in range(problem.size):
        rows.add(Row(tuple((i, j) for j in range(problem.size)), (1,) * problem.size, "==", 1))
    sums = len(rows.kept)
    for row in problem.rows:
        rows.add(row)
    lower: list[Exact] = [0] * cells.count
    if problem.delta:
        extra = _hockey_stick(problem, cells, rows, symmetric) + problem.least_delta
        upper, lower = upper + [1] * extra, lower + [0] * extra
    else:
        for row in privacy_rows(problem.size, problem.odds):
            rows.add(row)
    costs: list[Exact] = [0] * len(upper)
    constant: Exact = 0
    if problem.least_delta:
        costs[-1] = 1
    elif problem.minimax:
        prices = [price for line in problem.prices for price in line]
        costs, upper, lower = [*costs, 1], [*upper, max(prices)], [*lower, min(prices)]
        for i, line in enumerate(problem.prices):
            row = Row(tuple((i, j) for j in range(problem.size)), line, "<=", 0)
            rows.add(row, extra=((len(costs) - 1, -1),), certified=False)
    else:
        for i, line in enumerate(problem.prices):
            for j, price in enumerate(line):
                if cells.variable[i, j] >= 0:
                    costs[cells.variable[i, j]] += price
                else:
                    constant += price * cells.fixed[i, j]
    return Formulation(cells.variable, cells.fixed, costs, constant, upper, lower, list(rows.kept), sums)


def privacy_rows(size: int, odds: Fraction) -> Iterable[Row]:
    """T[i, j] / odds <= T[k, j] for neighbouring inputs."""
    coefficients = (1 / odds, -1)
    for i in range(size - 1):
        for j in range(size):
            for one, other in ((i, i + 1), (i + 1, i)):
                yield Row(((one, j), (other, j)), coefficients, "<=", 0)


def _hockey_stick(problem: Problem, cells: _Cells, rows: _Rows, symmetric: bool) -> int:
    """For neighbouring inputs: sum over j of max(0, T[i, j] - odds T[k, j]) <= delta. The number of new variables; one
    more comes after them where delta itself is variable."""
    last, count = problem.size - 1, 0
    sums = []
    for i in range(last):
        for one, other in ((i, i + 1), (i + 1, i)):
            if symmetric and (one, other) > (last - one, last - other):
                continue
            excess = []
            for j in range(problem.size):
                if cells.fixed.get((one, j)) != 0:
                    column = cells.count + count
                    row = Row(((one, j), (other, j)), (1 / problem.odds, -1), "<=", 0)
                    rows.add(row, extra=((column, -1 / problem.odds),))
                    excess.append(column)
                    count += 1
            sums.append(tuple(excess))
    delta = cells.count + count
    for terms in sums:
        ones = (1,) * len(terms)
        if problem.least_delta:
            rows.put(LinearRow((*terms, delta), (*ones, -1), False, 0, certified=False))
        else:
            rows.put(LinearRow(terms, ones, False, problem.delta))
    return count


class _Cells:
    """Which entries share a variable and which are fixed, deduced from the equalities alone."""

    def __init__(self, problem: Problem, symmetric: bool) -> None:
        size = problem.size
        self._parent = list(range(size * size))
        self._size = size
        values: dict[int, Fraction] = {}
        rows = problem.rows + (parse_requirement("symmetric").rows(size) if symmetric else [])
        for row in rows:
            if row.sense == "==" and len(row.cells) == 2 and row.bound == 0 and sum(row.coefficients) == 0:
                self._join(*(self._number(cell) for cell in row.cells))
        for row in rows:
            if row.sense == "==" and len(row.cells) == 1:
                self._fix(values, row.cells[0], Fraction(row.bound) / row.coefficients[0])
            elif row.bound == 0 and (row.sense == "==" or len(row.cells) == 1) and min(row.coefficients) > 0:
                for cell in row.cells:
                    self._fix(values, cell, Fraction(0))
        if not problem.delta:
            self._spread_zeros(values)
        self._finish(values)

    def _number(self, cell: Cell) -> int:
        return cell[0] * self._size + cell[1]

    def _root(self, number: int) -> int:
        while self._parent[number] != number:
            self._parent[number] = number = self._parent[self._parent[number]]
        return number

    def _join(self, one: int, other: int) -> None:
        first, second = sorted((self._root(one), self._root(other)))
        self._parent[second] = first

    def _fix(self, values: dict[int, Fraction], cell: Cell, value: Fraction) -> None:
        if values.setdefault(self._root(self._number(cell)), value) != value:
            raise Contradiction

    def _spread_zeros(self, values: dict[int, Fraction]) -> None:
        """Pure privacy: an output that is impossible for one input is impossible for every input."""
        size = self._size
        while True:
            zero = {j for i in range(size) for j in range(size) if values.get(self._root(i * size + j)) == 0}
            before = len(values)
            for j in zero:
                for i in range(size):
                    self._fix(values, (i, j), Fraction(0))
            if len(values) == before:
                return

    def _finish(self, values: dict[int, Fraction]) -> None:
        size, numbers = self._size, dict[int, int]()
        self.variable = np.full((size, size), -1, dtype=np.int64)
        self.fixed: dict[Cell, Fraction] = {}
        for i in range(size):
            for j in range(size):
                root = self._root(i * size + j)
                if root in values:
                    self.fixed[i, j] = values[root]
                else:
                    self.variable[i, j] = numbers.setdefault(root, len(numbers))
        self.count = len(numbers)


class _Rows:
    """Rows over entries turned into rows over variables, each kept once."""

    def __init__(self, cells: _Cells) -> None:
        self._cells = cells
        self._variable = cells.variable.tolist()
        self.kept: dict[LinearRow, None] = {}

    def add(self, row: Row, extra: Sequence[tuple[int, Exact]] = (), certified: bool = True) -> None:
        sums: dict[int, Exact] = {}
        bound: Exact = row.bound
        for (i, j), coefficient in zip(row.cells, row.coefficients):
            column = self._variable[i][j]
            if column < 0:
                bound = bound - coefficient * self._cells.fixed[i, j]
            else:
                sums[column] = sums.get(column, 0) + coefficient
        terms = sorted((column, value) for column, value in sums.items() if value != 0) + list(extra)
        self.put(LinearRow(tuple(c for c, _ in terms), tuple(v for _, v in terms), row.sense == "==", bound, certified))

    def put(self, row: LinearRow) -> None:
        if row.columns:
            self.kept[row] = None
        elif row.bound < 0 or (row.equal and row.bound != 0):
            raise Contradiction


def _canonical(row: Row) -> tuple[Any, ...]:
    terms = sorted(zip(row.cells, row.coefficients))
    sign = -1 if row.sense == "==" and terms[0][1] < 0 else 1
    return tuple((cell, sign * value) for cell, value in terms), row.sense, sign * row.bound


def _mirror(row: Row, last: int) -> Row:
    return replace(row, cells=tuple((last - i, last - j) for i, j in row.cells))
