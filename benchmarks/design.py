"""Design by requirements: programs of the promised size, closed forms for many people, one against the other."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from discreet.build.bounded_noise import bounded_noise
from discreet.build.design import design
from discreet.requirements import STRUCTURAL

REQUIREMENTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("absolute", ("fair", "column-monotone")),
    ("squared", ("fair", "row-monotone", "column-monotone")),
    ("absolute", ("weakly-honest", "column-monotone")),
    ("absolute", ("row-honest", "column-honest")),
    ("squared", STRUCTURAL),
)


def run() -> list[dict[str, object]]:
    return [*programs(), *closed_forms(), *both_ways(), plain_solver(), noise(), *sizes()]


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def programs() -> list[dict[str, object]]:
    """max_count 50 with all seven properties: at most 10 seconds each."""
    rows: list[dict[str, object]] = []
    for cost in ("wrong", "absolute", "squared"):
        for epsilon in ("0.1", "1"):
            start = time.perf_counter()
            made = design(50, epsilon, objective=cost, require=STRUCTURAL, method="program")
            spent = time.perf_counter() - start
            name = f"max_count 50, all seven properties, {cost}, epsilon {epsilon} (s; 10 allowed)"
            rows.append({"name": name, "ours": spent, "other": 10.0, "ratio": 10 / spent, "gap": made.gap})
    return rows


def sizes() -> list[dict[str, object]]:
    """Five sets of requirements from 40 to 1,000 counts at epsilon 0.1: time, and the relative gap that is proven."""
    rows: list[dict[str, object]] = []
    for cost, require in REQUIREMENTS:
        for counts in (40, 80, 120, 200, 500, 1000):
            start, cpu = time.perf_counter(), time.process_time()
            made = design(counts, "0.1", objective=cost, require=require)
            spent = time.perf_counter() - start
            name = f"{counts} counts, {cost}, {' '.join(require)}: {made.method} (s; 60 allowed)"
            rows.append({"name": name, "ours": spent, "other": 60.0, "ratio": 60 / spent})
            rows[-1] |= {"cpu": time.process_time() - cpu, "relative_gap": (made.gap or 0.0) / made.value}
    return rows


def closed_forms() -> list[dict[str, object]]:
    """max_count 1000: at most a second each, certificate included."""
    cases: dict[str, Callable[[], object]] = {
        "geometric": lambda: design(1000, "0.1"),
        "explicit-fair with all properties": lambda: design(1000, "0.1", require=STRUCTURAL),
        "noise then the best answer, absolute": lambda: design(1000, "0.1", objective="absolute"),
    }
    rows: list[dict[str, object]] = []
    for name, work in cases.items():
        spent = seconds(work)
        rows.append({"name": f"max_count 1000, {name} (s; 1 allowed)", "ours": spent, "other": 1.0, "ratio": 1 / spent})
    return rows


def both_ways() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for name, settings in {
        "geometric": {},
        "explicit-fair": {"require": STRUCTURAL},
        "noise then the best answer": {"objective": "absolute"},
    }.items():
        quick = seconds(lambda settings=settings: design(30, "0.2", **settings))  # type: ignore[misc]
        slow = seconds(lambda settings=settings: design(30, "0.2", method="program", **settings), 1)  # type: ignore[misc]
        rows.append({"name": f"auto against program, max_count 30, {name} (s)", "ours": quick, "other": slow})
        rows[-1]["ratio"] = slow / quick
    return rows


def plain_solver() -> dict[str, object]:
    """The same program with every entry a variable and no proof, by scipy."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    from discreet.build.formulation import privacy_rows
    from discreet.numbers import epsilon_of
    from discreet.requirements import parse_requirement

    size, odds = 31, epsilon_of("0.5").odds()
    rows = [row for name in STRUCTURAL for row in parse_requirement(name).rows(size)] + [*privacy_rows(size, odds)]

    def matrix(sense: str) -> tuple[csr_array, list[float]]:
        chosen = [row for row in rows if row.sense == sense]
        data = [float(c) for row in chosen for c in row.coefficients]
        lines = [k for k, row in enumerate(chosen) for _ in row.cells]
        columns = [i * size + j for row in chosen for i, j in row.cells]
        return csr_array((data, (lines, columns)), shape=(len(chosen), size**2)), [float(row.bound) for row in chosen]

    def plain() -> object:
        from scipy.sparse import kron, vstack

        (below, below_to), (equal, equal_to) = matrix("<="), matrix("==")
        sums = kron(np.eye(size), np.ones((1, size)))
        cost = np.abs(np.arange(size)[:, None] - np.arange(size)).ravel() / size
        return linprog(cost, below, below_to, vstack([equal, sums]), [*equal_to, *[1.0] * size], method="highs")

    ours = seconds(lambda: design(30, "0.5", objective="absolute", require=STRUCTURAL))
    other = seconds(plain, 1)
    return {
        "name": "max_count 30, all seven, against scipy's linprog without proof (s)",
        "ours": ours,
        "other": other,
        "ratio": other / ours,
    }


def noise() -> dict[str, object]:
    made = bounded_noise("1.1", truth="0.5", support=8)
    ours, other = float(made.delta_optimal), float(made.delta_paper)
    return {
        "name": "bounded noise 1.1, 0.5, 8: delta against the paper's",
        "ours": ours,
        "other": other,
        "ratio": other / ours,
    }
