"""Linear programs as values, and the one place that calls the solver. Knows nothing of privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from discreet.arrays import Floats
from discreet.errors import BadInput, SolverFailed

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Algorithm = Literal["simplex", "interior"]
ALGORITHMS: dict[Algorithm, str] = {"simplex": "simplex", "interior": "ipm"}
TIGHTEST = 1e-10  # the smallest feasibility tolerance the solver accepts
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
