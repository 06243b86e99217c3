"""Exact noise that keeps sums: time of a draw, and effective samples per second against the published samplers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from discreet.lattice.diagnostics import effective_draws
from discreet.lattice.invariants import invariant_matrix, sums
from discreet.lattice.papers import MetropolisSampler, independence_sampler, smith, tuned
from discreet.lattice.plan import LatticePlan, lattice_sampler, plan_lattice
from discreet.sample.bits import secure

RATIOS = (0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
JOINT_RATIOS = (0.005, 0.01, 0.02, 0.05, float(np.exp(-2.5)), 0.2, float(np.exp(-1)))  # e^-1, e^-2.5: published


def plan_of(matrix: np.ndarray, epsilon: float, **options: Any) -> LatticePlan:
    keep = invariant_matrix([sums(matrix)], {"cell": range(matrix.shape[1])})
    return lattice_sampler(keep, epsilon, per_unit=True, **options)


def seconds_a_draw(plan: LatticePlan, name: str, limit: float, **options: Any) -> dict[str, Any]:
    plan.draw(secure(), **options)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        plan.draw(secure(), **options)
        times.append(time.perf_counter() - start)
    return {"name": name, "ours": min(times), "goal": limit, "unit": "seconds a draw", "sampler": plan.sampler}


def draw_times() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    million = plan_lattice({"cell": range(1_000_000)}, ["total"], "0.192", per_unit=True)
    states = np.concatenate([np.arange(51), rng.integers(0, 51, 3142 - 51)])
    counties = plan_lattice({"state": states, "county": range(3142)}, ["margin:state"], "0.192", per_unit=True)
    side = np.arange(900)
    wide = {"row": side // 30, "column": side % 30}
    gaussian = plan_lattice(wide, ["margin:row", "margin:column"], rho="1/10", law="gaussian")
    table = np.arange(4000)
    narrow = plan_lattice({"row": table // 4, "column": table % 4}, ["margin:row", "margin:column"], 1)
    return [
        seconds_a_draw(million, "a million cells, fixed total, l1", 1.0),
        seconds_a_draw(counties, "3,142 counties, 51 kept totals, l1, epsilon 0.192", 0.1),
        seconds_a_draw(narrow, "1,000 x 4 table, both margins, l1", 1.0),
        seconds_a_draw(gaussian, "30 x 30 table, both margins, Gaussian", 1.0),
    ]


def exact_rate(plan: LatticePlan, draws: int, counts: np.ndarray | None = None) -> float:
    """Independent draws per second of processor time."""
    plan.draws(draws // 10, secure(), counts)
    start = time.process_time()
    plan.draws(draws, secure(), counts)
    return draws / (time.process_time() - start)


def published_rate(
    matrix: np.ndarray, epsilon: float, ratios: tuple[float, ...], joint: bool, draws: int, thin: int
) -> tuple[float, float, float]:
    """The best over proposal widths: effective samples per second of processor time, width, acceptance."""
    basis, rng, found = smith(matrix).kernel(), np.random.default_rng(7), []
    for ratio in ratios:
        sampler = MetropolisSampler(basis, "l1", epsilon, ratio, joint)
        sampler.path(rng, 200)
        start = time.process_time()
        path = sampler.path(rng, draws, thin)
        spent = time.process_time() - start
        if path.acceptance > 0:
            found.append((effective_draws(path.states[None]) / spent, ratio, path.acceptance))
    return max(found)


def row(name: str, ours: float, theirs: tuple[float, float, float], goal: float) -> dict[str, Any]:
    return {
        "name": name,
        "ours": ours,
        "other": theirs[0],
        "ratio": ours / theirs[0],
        "goal": goal,
        "unit": "effective samples per second, ratio = ours / other",
        "published_parameter": theirs[1],
        "published_acceptance": theirs[2],
    }


def against_metropolis() -> list[dict[str, Any]]:
    """The published sampler proposes all coordinates at once; one after the other is a stronger variant, shown too."""
    total = np.ones((1, 102), dtype=int)
    sets = np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)] * 2).T
    cells = np.arange(16)
    margins = np.array([cells // 4 == i for i in range(4)] + [cells % 4 == j for j in range(4)]).astype(int)
    rows = []
    for name, matrix, epsilon, draws, goal in (
        ("102 cells, fixed total", total, 0.192, 5_000, 8),
        ("4 x 4 margins", margins, 0.25, 50_000, 12),
        ("three sets, 14 records", sets, 0.25, 50_000, 15),
    ):
        ours = exact_rate(plan_of(matrix, epsilon), draws)
        published = published_rate(matrix, epsilon, JOINT_RATIOS, True, 10_000, 100 if len(matrix) == 1 else 10)
        stronger = published_rate(matrix, epsilon, RATIOS, False, 10_000, 1)
        found = row(name, ours, published, goal)
        rows.append({**found, "one_coordinate_after_the_other": stronger[0], "ratio_to_that": ours / stronger[0]})
    return rows


def against_independence() -> dict[str, Any]:
    """Sex by age, 2 x 23, with total, women and voters kept and nothing negative; noise of rate 0.5 a cell."""
    sex, age = np.arange(46) // 23, np.arange(46) % 23
    matrix = np.array([np.ones(46, dtype=int), sex, (age >= 4).astype(int)])
    counts = np.random.default_rng(4).negative_binomial(1, 1 / 6.26, 46)
    ours = exact_rate(plan_of(matrix, 1.0, nonnegative=True), 20_000, counts)  # the promise counts the rate twice
    rng = np.random.default_rng(7)
    sampler = tuned(independence_sampler(matrix, counts, rate=0.5, proposal_rate=0.6), rng)
    sampler.path(rng, 10)
    start = time.process_time()
    path = sampler.path(rng, 20_000, 50)
    spent = time.process_time() - start
    theirs = (effective_draws(path.states[None]) / spent, sampler.proposal_rate, path.acceptance)
    return row("sex by age, not negative", ours, theirs, 40)


def run() -> list[dict[str, Any]]:
    return [*draw_times(), *against_metropolis(), against_independence()]


if __name__ == "__main__":
    for line in run():
        print(line, flush=True)
