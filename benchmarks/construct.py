"""Constructors against the plain linear program, in one run; times in seconds of the wall clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.build.certificate import transport_bound
from discreet.build.construct import construct
from discreet.build.fixed_point import fixed_point_program
from discreet.build.transport import transport, transport_cost
from discreet.costs import cost_matrix
from discreet.laws import Geometric
from discreet.numbers import epsilon_of
from discreet.program import LinearProgram

SIZE = 200


def shape(size: int) -> np.ndarray:
    """Half zeros and a heavy tail, like counts of rare events."""
    z = (np.arange(size) + 1.0) ** -1.6
    z[0] = 0
    z *= 0.47 / z.sum()
    z[0] = 0.53
    return z / z.sum()


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def interior_point(program: LinearProgram) -> str:
    """The solver at its fastest: no crossover to a vertex, its own tolerances, five minutes at most."""
    import highspy

    solver, matrix = highspy.Highs(), program.matrix.tocsr()
    for option, value in (("output_flag", False), ("solver", "ipm"), ("run_crossover", "off"), ("time_limit", 300.0)):
        solver.setOptionValue(option, value)
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_, model.col_lower_, model.col_upper_ = program.costs, program.lower, program.upper
    model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    solver.passModel(model)
    solver.run()
    return f"{solver.modelStatusToString(solver.getModelStatus())}, {solver.getInfo().objective_function_value:.10g}"


def against_the_program(name: str, costs: np.ndarray) -> dict[str, Any]:
    """Column generation, proof included, against an interior-point solver on the n^2 variables."""
    z = shape(SIZE)
    ours, found = timed(lambda: construct(z, 1, method="column-generation", cost=costs))
    program = fixed_point_program(costs, z, float(epsilon_of(1).odds()))
    other, said = timed(lambda: interior_point(program))
    return {
        "name": f"best mechanism for {name} at {SIZE} counts, against HiGHS interior point",
        "ours": ours,
        "other": other,
        "ratio": other / ours,
        "proven_gap": found.gap,
        "solver_says": said,
        "our_cost": found.cost,
    }


def transport_certificate() -> dict[str, Any]:
    """The map alone, and its proof of optimality, at 2000 counts."""
    z, noise, costs = shape(2000), Geometric(epsilon_of(1).odds()), cost_matrix("absolute", 2000)
    made, form = timed(lambda: transport(z, noise))
    proven, bound = timed(lambda: transport_bound(form, z, costs))
    gap = 1 - bound / transport_cost(form, z, "absolute")
    return {
        "name": "transport at 2000 counts: map, and proof (ratio: proof / map)",
        "ours": made,
        "other": proven,
        "ratio": proven / made,
        "proven_gap": gap,
    }


def transport_against_heuristic() -> dict[str, Any]:
    z = shape(SIZE)
    ours, best = timed(lambda: construct(z, 1))
    other, greedy = timed(lambda: construct(z, 1, method="heuristic-best"))
    return {
        "name": f"transport with proof, against the best of three greedy runs at {SIZE} counts",
        "ours": ours,
        "other": other,
        "ratio": other / ours,
        "cost_ratio": greedy.cost / best.cost,
    }


def large_map() -> dict[str, Any]:
    """A map for 100,000 counts, against one for 1,000."""
    noise = Geometric(epsilon_of(1).odds())
    ours, _ = timed(lambda: transport(shape(100_000), noise))
    other, _ = timed(lambda: transport(shape(1000), noise))
    return {
        "name": "transport map at 100,000 counts (other: 1,000 counts; ratio at least 1/100)",
        "ours": ours,
        "other": other,
        "ratio": other / ours,
    }


def run() -> list[dict[str, Any]]:
    costs = np.random.default_rng(0).random((SIZE, SIZE))
    return [
        against_the_program("the probability of a wrong answer", cost_matrix("wrong", SIZE)),
        against_the_program("a random cost", costs),
        transport_certificate(),
        transport_against_heuristic(),
        large_map(),
    ]
