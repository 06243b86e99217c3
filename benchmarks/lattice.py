"""Exact noise that keeps sums: time of a draw, and effective samples per second against the published samplers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from discreet.lattice.diagnostics import effective_draws
from discreet.lattice.invariants import invariant_matrix, sums
from discreet.lattice.plan import LatticePlan, lattice_sampler, plan_lattice
from discreet.lattice.projection import project
from discreet.sample.bits import secure
from discreet_lab.samplers.published import MetropolisSampler, independence_sampler, smith

RATIOS = (0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
JOINT_RATIOS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.55)
RECORDS = 10_000
PRECINCTS = 160_362  # of the United States, 2010
NESTED = ["margin:state", "margin:state,county", "margin:state,county,precinct"]
NOT_PRINTED = "not printed; its parameter is"

# Gong and Meng, table 1: women, then men, by age; the first four ages are below voting age
SEX_BY_AGE = np.array(
    [8, 6, 3, 6, 4, 4, 4, 8, 5, 7, 7, 6, 1, 5, 4, 4, 9, 6, 2, 8, 8, 8, 7]
    + [3, 4, 5, 8, 6, 4, 5, 5, 5, 6, 10, 7, 3, 2, 5, 11, 6, 4, 7, 4, 5, 3, 8]
)
SOLVED_FOR = (0, 22, 45)  # all but their index set {2..22, 24..45}, counted from 1


def plan_of(matrix: np.ndarray, epsilon: float, **options: Any) -> LatticePlan:
    keep = invariant_matrix([sums(matrix)], {"cell": range(matrix.shape[1])})
    return lattice_sampler(keep, epsilon, per_unit=True, **options)


def seconds_a_draw(plan: LatticePlan, name: str, limit: float, **options: Any) -> dict[str, Any]:
    plan.draw(secure(), **options)
    times = []
    for _ in range(3):
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
    halved = plan_lattice(wide, ["margin:row", "margin:column"], 1)
    long = np.arange(PRECINCTS * 8)
    precincts = plan_lattice({"row": long // 8, "column": long % 8}, ["margin:row", "margin:column"], 1)
    nested = plan_lattice(precinct_keys(), NESTED, 1)
    counts = rng.negative_binomial(0.5, 0.001, 1_000_000)
    full = plan_lattice({"cell": range(1_000_000)}, ["total"], "0.192", nonnegative=True)
    above = plan_lattice({"state": states, "county": range(3142)}, ["margin:state"], "0.192", nonnegative=True)
    return [
        seconds_a_draw(full, "a million cells, fixed total, l1, not negative", 5.0, counts=counts),
        seconds_a_draw(above, "3,142 counties, 51 kept totals, l1, not negative", 0.5, counts=counts[:3142]),
        seconds_a_draw(million, "a million cells, fixed total, l1", 1.0),
        seconds_a_draw(counties, "3,142 counties, 51 kept totals, l1, epsilon 0.192", 0.1),
        seconds_a_draw(narrow, "1,000 x 4 table, both margins, l1", 1.0),
        seconds_a_draw(halved, "30 x 30 table, both margins, l1", 0.1),
        seconds_a_draw(precincts, "160,362 x 8 table, both margins, l1", 5.0),
        seconds_a_draw(nested, "1.28 million cells, totals of all precincts, counties and states, l1", 5.0),
        seconds_a_draw(gaussian, "30 x 30 table, both margins, Gaussian", 1.0),
    ]


def precinct_keys() -> dict[str, np.ndarray]:
    """Of 160,362 precincts in 3,143 counties of 51 states, by 8 groups."""
    precinct = np.arange(PRECINCTS * 8) // 8
    county = precinct * 3143 // PRECINCTS
    return {"state": county * 51 // 3143, "county": county, "precinct": precinct, "group": np.arange(PRECINCTS * 8) % 8}


def projection_times() -> list[dict[str, Any]]:
    """The nearest tables without negative counts, from signed ones."""
    rng = np.random.default_rng(1)
    counts = rng.negative_binomial(0.3, 0.02, PRECINCTS * 8)
    county, side = np.sort(rng.integers(0, 3143, 1_000_000)), np.arange(2500)
    kept = {
        "a million cells, 3,143 kept totals": ({"county": county, "cell": range(1_000_000)}, ["margin:county"], 3.0),
        "1.28 million cells, totals of all precincts, counties and states": (precinct_keys(), NESTED, 5.0),
        "50 x 50 table, both margins": ({"row": side // 50, "column": side % 50}, ["margin:row", "margin:column"], 1.0),
    }
    found = []
    for name, (keys, keep, goal) in kept.items():
        plan = plan_lattice(keys, keep, rho="1/10", law="gaussian")
        signed = counts[: plan.invariants.cells] + plan.draw(secure())
        start = time.perf_counter()
        project(plan.structure, signed)
        taken = time.perf_counter() - start
        found.append({"name": f"{name}, projected", "ours": taken, "goal": goal, "unit": "seconds a table"})
    return found


def exact_rate(plan: LatticePlan, draws: int, counts: np.ndarray | None = None) -> float:
    """Independent draws per second of processor time."""
    plan.draws(draws, secure(), counts)
    start = time.process_time()
    plan.draws(draws, secure(), counts)
    return draws / (time.process_time() - start)


def chain_rate(sampler: Any, draws: int, thin: int) -> tuple[float, float]:
    """Effective samples per second of processor time, and the share of accepted proposals."""
    rng = np.random.default_rng(7)
    sampler.path(rng, 1000, thin)
    start = time.process_time()
    path = sampler.path(rng, draws, thin)
    spent = time.process_time() - start
    return (effective_draws(path.states[None]) / spent if path.acceptance > 0 else 0.0), path.acceptance


def best_rate(basis: np.ndarray, epsilon: float, ratios: tuple[float, ...], joint: bool, thin: int) -> dict[str, float]:
    """Over proposal parameters."""
    found = [
        (*chain_rate(MetropolisSampler(basis, "l1", epsilon, ratio, joint), RECORDS, thin), ratio) for ratio in ratios
    ]
    return dict(zip(("rate", "acceptance", "parameter"), max(found)))


def row(
    name: str, ours: float, other: float, goal: float, parameter: float, acceptance: float, paper_acceptance: str
) -> dict[str, Any]:
    return {
        "name": name,
        "ours": ours,
        "other": other,
        "ratio": ours / other,
        "goal": goal,
        "unit": "effective samples per second, ratio = ours / other",
        "parameter": parameter,
        "acceptance": acceptance,
        "paper_acceptance": paper_acceptance,
    }


def against_metropolis() -> list[dict[str, Any]]:
    """The published sampler proposes all coordinates at once, with the published parameter or the best we find.

    One coordinate after the other is a stronger sampler than the published one; it is shown too.
    """
    total = np.ones((1, 102), dtype=int)
    sets = np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)] * 2).T
    cells = np.arange(16)
    margins = np.array([cells // 4 == i for i in range(4)] + [cells % 4 == j for j in range(4)]).astype(int)
    rows = []
    for name, matrix, epsilon, power, draws, goal in (
        ("102 cells, fixed total", total, 0.192, 2.5, 20_000, 8),
        ("4 x 4 margins", margins, 0.25, 1.0, 100_000, 12),
        ("three sets, 14 records", sets, 0.25, 1.0, 100_000, 15),
    ):
        basis, thin = smith(matrix).kernel(), 100 if len(matrix) == 1 else 10
        ours = exact_rate(plan_of(matrix, epsilon), draws)
        published, acceptance = chain_rate(MetropolisSampler(basis, "l1", epsilon, np.exp(-power)), RECORDS, thin)
        best = best_rate(basis, epsilon, JOINT_RATIOS, True, thin)
        stronger = best_rate(basis, epsilon, RATIOS, False, 1)
        words = f"{NOT_PRINTED} e^-{power}, which gives {acceptance:.3g} here"
        if published > best["rate"]:
            best = {"rate": published, "acceptance": acceptance, "parameter": float(np.exp(-power))}
        found = row(name, ours, best["rate"], goal, best["parameter"], best["acceptance"], words)
        found["ratio_to_paper_parameter"] = ours / published
        found["ratio_to_one_coordinate_after_the_other"] = ours / stronger["rate"]
        rows.append(found)
    return rows


def minors(side: int) -> np.ndarray:
    """A basis of the tables of this side with empty margins: neighbouring rows and columns swap a unit."""
    found = np.zeros(((side - 1) ** 2, side, side), dtype=np.int64)
    for k, (i, j) in enumerate(np.ndindex(side - 1, side - 1)):
        found[k, i : i + 2, j : j + 2] = [[1, -1], [-1, 1]]
    return found.reshape(-1, side * side)


def against_chains() -> list[dict[str, Any]]:
    """Square tables with both margins, rate 0.25: exact draws beside the papers' Metropolis chain, in the stronger form
    that proposes one coordinate after the other."""
    rows = []
    for side, draws, records, goal in ((8, 2000, 4000, 1), (16, 500, 2000, 1), (30, 100, 1000, 1), (50, 20, 400, 1)):
        cells = np.arange(side * side)
        keys = {"row": cells // side, "column": cells % side}
        plan = plan_lattice(keys, ["margin:row", "margin:column"], "0.25", per_unit=True)
        ours = exact_rate(plan, draws)
        found = [
            (*chain_rate(MetropolisSampler(minors(side), "l1", 0.25, ratio, False), records, 1), ratio)
            for ratio in (0.7, 0.85)
        ]
        other, acceptance, parameter = max(found)
        line = row(f"{side} x {side} margins", ours, other, goal, parameter, acceptance, "not printed")
        rows.append({**line, "milliseconds_a_draw": 1000 / ours})
    return rows


def against_independence() -> dict[str, Any]:
    """Sex by age, 2 x 23, with total, women and voters kept and nothing negative; noise of rate 0.5 a cell."""
    age = np.arange(46) % 23
    matrix = np.array([np.ones(46, dtype=int), np.arange(46) < 23, age >= 4]).astype(int)
    ours = exact_rate(plan_of(matrix, 1.0, nonnegative=True), 20_000, SEX_BY_AGE)  # the promise counts the rate twice
    options = {"rate": 0.5, "dependent": SOLVED_FOR}
    published = independence_sampler(matrix, SEX_BY_AGE, proposal_rate=0.6, **options)
    other, acceptance = chain_rate(published, 20_000, 50)
    found = row("sex by age, not negative", ours, other, 40, 0.6, acceptance, "0.0168")
    nearby = [independence_sampler(matrix, SEX_BY_AGE, proposal_rate=rate, **options) for rate in (0.5, 0.55, 0.65)]
    return {**found, "ratio_to_best_parameter": ours / max(other, *(chain_rate(one, 20_000, 50)[0] for one in nearby))}


def run() -> list[dict[str, Any]]:
    return [*draw_times(), *projection_times(), *against_metropolis(), *against_chains(), against_independence()]


if __name__ == "__main__":
    for line in run():
        print(line, flush=True)
