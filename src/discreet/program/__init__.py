"""Linear programs as values, and the one place that calls the solver. Knows nothing of privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput, SolverFailed

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Algorithm = Literal["simplex", "interior"]
ALGORITHMS: dict[Algorithm, str] = {"simplex": "simplex", "interior": "ipm"}
TIGHTEST = 1e-10  # the smallest feasibility tolerance the solver accepts
SMALLEST_COEFFICIENT = 1e-12  # of which the solver takes notice; none smaller can be asked for
LONGEST_REPEATED = 60.0  # seconds for all attempts together
ABOUT = 1e-9  # of answers that are rounded and proved afterwards: finer ones take longer and are no better


@dataclass(frozen=True)
class LinearProgram:
    """Minimise costs . x subject to row_lower <= matrix x <= row_upper and lower <= x <= upper."""

    costs: Floats
    matrix: csr_array
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats

    def __post_init__(self) -> None:
        rows, columns = self.matrix.shape
        sizes = [vector.shape for vector in (self.row_lower, self.row_upper)]
        if sizes != [(rows,)] * 2 or any(v.shape != (columns,) for v in (self.costs, self.lower, self.upper)):
            raise BadInput("a linear program was given", "its vectors do not fit its matrix")


@dataclass(frozen=True)
class Solution:
    """What the solver says: to be checked, not to be trusted.

    `duals` belong to rows: costs - matrix.T duals are the reduced costs; at an upper bound they are not positive.
    """

    optimal: bool
    status: str
    value: float
    values: Floats
    duals: Floats


def solve(program: LinearProgram, algorithm: Algorithm = "simplex", tolerance: float = TIGHTEST) -> Solution:
    """Optimal, or `optimal=False` when the solver finds the program infeasible; anything else is an error."""
    import highspy

    solver = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("solver", ALGORITHMS[algorithm]),
        ("primal_feasibility_tolerance", tolerance),
        ("dual_feasibility_tolerance", tolerance),
        ("ipm_optimality_tolerance", 1e-12),
    ):
        solver.setOptionValue(option, value)
    solver.passModel(_model(program))
    solver.run()
    status = solver.getModelStatus()
    answer, found = solver.getSolution(), solver.modelStatusToString(status)
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        return Solution(False, found, np.nan, np.empty(0), np.empty(0))
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverFailed(
            "a linear program of {} rows and {} columns was to be solved".format(*program.matrix.shape),
            f"HiGHS ({algorithm}) stopped with the status '{found}'",
        )
    values, duals = np.array(answer.col_value), np.array(answer.row_dual)
    return Solution(True, found, float(program.costs @ values), values, duals)


class Repeated:
    """A program that is solved again and again with other costs and bounds, each time from the answer before."""

    def __init__(self, program: LinearProgram) -> None:
        import highspy

        self._program, self._solver = program, highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("solver", ALGORITHMS["simplex"]),
            ("primal_feasibility_tolerance", ABOUT),
            ("dual_feasibility_tolerance", ABOUT),
            ("small_matrix_value", SMALLEST_COEFFICIENT),
            ("time_limit", LONGEST_REPEATED),
            ("presolve", "off"),  # it removes what is dear, and prints where that goes wrong
        ):
            self._solver.setOptionValue(option, value)
        self._solver.passModel(_model(program))

    def solve(
        self, costs: Floats, row_lower: Floats, row_upper: Floats, lower: Floats, upper: Floats
    ) -> Solution | None:
        """None where no attempt comes to an end: as it is scaled, the same from nothing, and as the solver scales."""
        import highspy

        rows, columns = (np.arange(size, dtype=np.int32) for size in self._program.matrix.shape)
        self._solver.changeColsCost(len(columns), columns, costs)
        self._solver.changeColsBounds(len(columns), columns, lower, upper)
        self._solver.changeRowsBounds(len(rows), rows, row_lower, row_upper)
        for anew, scaling in ((False, 0), (True, 0), (True, 2)):
            if anew:
                self._solver.clearSolver()
            self._solver.setOptionValue("simplex_scale_strategy", scaling)
            self._solver.run()
            if self._solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                answer = self._solver.getSolution()
                values, duals = np.array(answer.col_value), np.array(answer.row_dual)
                return Solution(True, "Optimal", float(costs @ values), values, duals)
        return None

    def basis(self) -> tuple[Integers, Integers]:
        """Of the last answer: which columns and which rows are at neither bound, as many as there are rows."""
        import highspy

        found = self._solver.getBasis()
        free = highspy.HighsBasisStatus.kBasic
        columns, rows = (np.flatnonzero([one == free for one in part]) for part in (found.col_status, found.row_status))
        return columns, rows


def _model(program: LinearProgram) -> Any:
    import highspy

    model = highspy.HighsLp()
    matrix = program.matrix.tocsr()
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_, model.col_lower_, model.col_upper_ = program.costs, program.lower, program.upper
    model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    return model


def solve_whole(program: LinearProgram, seconds: float) -> Floats | None:
    """The same in whole numbers: the best that is found in so many seconds, or None where there is nothing."""
    import highspy

    solver = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", 1e-9),
        ("threads", 1),
        ("time_limit", seconds),
    ):
        solver.setOptionValue(option, value)
    model = _model(program)
    model.integrality_ = [highspy.HighsVarType.kInteger] * len(program.costs)
    solver.passModel(model)
    solver.run()
    if solver.getInfo().primal_solution_status != 2:  # feasible
        return None
    return np.array(solver.getSolution().col_value)


def interior_point(program: LinearProgram, seconds: float) -> Solution | None:
    """About optimal, by interior points without going on to a vertex; None if nothing is found in so many seconds."""
    import highspy

    solver = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("solver", "ipm"),
        ("run_crossover", "off"),
        ("threads", 1),
        ("primal_feasibility_tolerance", ABOUT),
        ("dual_feasibility_tolerance", ABOUT),
        ("ipm_optimality_tolerance", ABOUT),
        ("time_limit", max(seconds, 0.0)),
    ):
        solver.setOptionValue(option, value)
    solver.passModel(_model(program))
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    answer = solver.getSolution()
    values = np.array(answer.col_value)
    return Solution(True, "Optimal", float(program.costs @ values), values, np.array(answer.row_dual))
