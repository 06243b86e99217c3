from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.build import explicit
from discreet.build.construct import METHODS, Construction, construct
from discreet.build.unfixed import unfixed, unfixed_bound
from discreet.certify import certify
from discreet.costs import cost_matrix
from discreet.errors import BadInput, SolverFailed
from discreet.laws import Gaussian, Geometric
from discreet.mechanism import NoiseThenMap
from tests.build.laws import binomial, distributions, skewed
from tests.build.slow import plain_program

FIXED = [name for name in METHODS if name != "unfixed"]
EXPLICIT = [name for name in explicit.names() if name not in ("signed-geometric", "discrete-gaussian")]


@pytest.mark.parametrize("method", [*METHODS, *EXPLICIT])
@pytest.mark.parametrize("cost", ["absolute", "wrong"])
def test_every_method_is_private_and_knows_its_cost(method: str, cost: str) -> None:
    z = skewed(13)
    found = construct(z, "1/2", method=method, cost=cost)
    assert found.method == method == found.mechanism.name
    assert certify(found.mechanism, "1/2").holds
    matrix = found.matrix()
    assert found.cost == pytest.approx(float(z @ (cost_matrix(cost, 13) * matrix).sum(axis=1)), rel=1e-9)
    assert found.fixed_point_residual == pytest.approx(np.abs(z @ matrix - z).max(), abs=1e-14)
    if method in FIXED:
        assert found.fixed_point_residual < 1e-8
    if method in METHODS:
        assert found.lower_bound is not None and 0 <= found.gap < 0.5  # type: ignore[operator]
        wanted = plain_program(cost_matrix(cost, 13), z, math.exp(0.5), None if method == "unfixed" else z)
        assert found.lower_bound <= wanted * (1 + 1e-7)
        assert found.cost >= wanted * (1 - 1e-7)
    else:
        assert found.lower_bound is None and found.gap is None


@pytest.mark.parametrize("method", ["transport", "fixed-point-simplex", "fixed-point-interior", "column-generation"])
def test_the_optimal_ones_are_optimal(method: str) -> None:
    assert construct(skewed(13), 1, method=method).gap < 1e-6  # type: ignore[operator]


@given(distributions(2, 7), st.sampled_from(["1/10", "1", "3"]), st.sampled_from(sorted(METHODS)))
@settings(max_examples=40, deadline=None)
def test_any_distribution_will_do(z: np.ndarray, epsilon: str, method: str) -> None:
    found = construct(z, epsilon, method=method)
    assert certify(found.mechanism, epsilon).holds
    if method != "unfixed":
        assert found.fixed_point_residual < 1e-7


@given(
    distributions(2, 6, tiny=False),
    st.sampled_from([1.2, 3.0]),
    st.sampled_from(["absolute", "squared", "wrong", "beyond:1"]),
)
@settings(max_examples=30, deadline=None)
def test_unfixed_is_the_least_of_all(z: np.ndarray, odds: float, cost: str) -> None:
    noise, costs = Geometric(Fraction(odds)), cost_matrix(cost, len(z))
    value = float(z @ (costs * unfixed(z, noise, costs).matrix()).sum(axis=1))
    assert value == pytest.approx(plain_program(costs, z, odds), abs=1e-7)
    assert value - 1e-10 <= unfixed_bound(z, noise, costs) + 1e-9 and unfixed_bound(z, noise, costs) <= value + 1e-10


def test_a_solver_that_is_far_off_is_refused() -> None:
    """Tails of 1e-18 are below every tolerance of the general solver."""
    with pytest.raises(SolverFailed, match=r"above the optimum.*column-generation"):
        construct(binomial(60), 3, method="fixed-point-simplex")
    assert construct(binomial(60), 3, method="column-generation").gap < 1e-6  # type: ignore[operator]


def test_best_of_three_is_the_best() -> None:
    z = skewed(20)
    each = [construct(z, 1, method=f"heuristic-{name}").cost for name in ("max", "min", "sandwich")]
    best = construct(z, 1, method="heuristic-best")
    assert best.cost == min(each) and best.notes[0].startswith("selector")
    assert construct(z, 1).cost <= best.cost * (1 + 1e-9)


def test_gaussian_noise_and_another_target() -> None:
    z, target = skewed(13), skewed(13)[::-1]
    found = construct(z, rho="1/8")
    assert isinstance(found.mechanism.form, NoiseThenMap) and found.mechanism.form.noise == Gaussian(Fraction(4))
    assert found.fixed_point_residual < 1e-11 and found.lower_bound is None
    moved = construct(z, 1, target=target)
    assert np.abs(z @ moved.matrix() - target).max() < 1e-11 and moved.gap < 1e-9  # type: ignore[operator]
    assert certify(construct(z, 1, delta="1e-6").mechanism, 1, "1e-6").holds


def test_large_distributions() -> None:
    z = skewed(5000)
    found = construct(z, 1)
    assert found.lower_bound is None and any("theorem" in note for note in found.notes)
    assert found.as_json()["matrix"] is None
    with pytest.raises(BadInput, match=r"whole matrices, up to 2001 counts. Use the method transport"):
        construct(z, 1, method="column-generation")
    with pytest.raises(BadInput, match="offered up to 200"):
        construct(skewed(500), 1, method="fixed-point-simplex")


@pytest.mark.parametrize(
    ("z", "message"),
    [
        ([0.5, -0.1, 0.6], "negative"),
        ([0.5, 0.2], "sums to 0.7"),
        ([1.0], "at least 2"),
        ([[0.5, 0.5]], "shape"),
        ([0.5, math.nan], "non-finite"),
    ],
)
def test_bad_distributions_are_refused(z: list[float], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        construct(z, 1)


def test_bad_questions_are_refused() -> None:
    z = [0.5, 0.5]
    with pytest.raises(BadInput, match="Did you mean 'transport'"):
        construct(z, 1, method="trasport")
    with pytest.raises(BadInput, match="only transport takes one"):
        construct(z, 1, method="unfixed", target=z)
    with pytest.raises(BadInput, match="The target was given"):
        construct(z, 1, target=[0.2, 0.3, 0.5])
    with pytest.raises(BadInput, match="'heuristic-max': only Gaussian noise is calibrated by rho"):
        construct(z, rho=1, method="heuristic-max")
    with pytest.raises(BadInput, match="'unfixed': its noise is pure: a delta would be spent for nothing"):
        construct(z, 1, delta="0.01", method="unfixed")
    with pytest.raises(BadInput, match=r"none was given\. Give exactly one of epsilon, alpha and rho"):
        construct(z)
    with pytest.raises(BadInput, match="no cost of that name"):
        construct(z, 1, cost="absolut")
    with pytest.raises(BadInput, match="has no matrix"):
        construct(z, 1, method="signed-geometric")


def run(*words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    import sys

    from discreet.cli import main

    monkeypatch.setattr(sys, "argv", ["discreet", "construct", *words])
    with pytest.raises(SystemExit) as left:
        main()
    out = capsys.readouterr()
    return int(left.value.code or 0), out.out, out.err


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    law, costs = tmp_path / "z.csv", tmp_path / "costs.csv"
    law.write_text("0.5\n0.3\n0.2\n")
    costs.write_text("0,1,4\n1,0,1\n4,1,0\n")
    tools = {"capsys": capsys, "monkeypatch": monkeypatch}
    status, out, _ = run(
        "--distribution",
        str(law),
        "--epsilon",
        "1",
        "--method",
        "column-generation",
        "--cost",
        str(costs),
        "--json",
        **tools,
    )
    value = json.loads(out)
    assert status == 0
    assert set(value) == {"method", "matrix", "cost", "lower_bound", "gap", "fixed_point_residual"}
    assert value["cost"] == pytest.approx(construct([0.5, 0.3, 0.2], 1, cost="squared").cost, rel=1e-6)
    status, out, _ = run("--distribution", str(law), "--alpha", "1/2", **tools)
    assert status == 0 and "No such mechanism costs less" in out
    law.write_text("0.5\n0.3\n")
    status, out, err = run("--distribution", str(law), "--epsilon", "1", "--json", **tools)
    assert status == 2 and out == "" and "sums to 0.8" in err


def test_a_construction_is_frozen() -> None:
    found = construct([0.5, 0.5], 1)
    with pytest.raises(AttributeError):
        found.cost = 0.0  # type: ignore[misc]
    assert isinstance(found, Construction)


@pytest.mark.parametrize("cost", ["wrong", "beyond:2"])
@pytest.mark.parametrize("method", ["transport", "heuristic-best", "column-generation"])
def test_a_bound_for_a_cost_that_is_not_convex_says_something(cost, method):
    """The duals of transport alone gave -48.6 for a cost of 0.54 at 200 counts."""
    z = np.exp(-np.arange(60) / 15.0)
    found = construct(z / z.sum(), epsilon=1, method=method, cost=cost)
    assert found.lower_bound > 0 and 0 <= found.gap < 0.2
    best = construct(z / z.sum(), epsilon=1, method="column-generation", cost=cost)
    assert found.lower_bound <= best.cost + 1e-12


def test_next_to_no_cost_is_no_gap():
    """Optima far below what floats resolve: a search over distributions with next to all mass in one place."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        z = rng.dirichlet(np.full(int(rng.integers(2, 30)), 0.005))
        if not np.isfinite(z).all() or z.sum() <= 0:
            continue
        found = construct(z / z.sum(), epsilon=float(rng.choice([0.1, 3, 20])))
        assert 0 <= found.lower_bound <= found.cost and found.gap < 1e-3


def test_column_generation_gives_what_it_has_when_time_is_up():
    z = np.exp(-np.arange(80) / 20.0)
    z /= z.sum()
    early, done = (construct(z, epsilon=1, method="column-generation", cost="wrong", seconds=s) for s in (1e-6, 600))
    assert "stopped after" in " ".join(early.notes) and not any("stopped" in note for note in done.notes)
    assert early.lower_bound <= done.cost <= early.cost + 1e-12 and early.gap > done.gap
    assert early.fixed_point_residual < 1e-9  # what it has is a mechanism of the kind all the same
    for wrong in (0, -1, float("nan"), True, "ten"):
        with pytest.raises(BadInput, match="econds was given"):
            construct(z, epsilon=1, method="column-generation", seconds=wrong)


@pytest.mark.parametrize("method", ["transport", "heuristic-best", "column-generation"])
@pytest.mark.parametrize("epsilon", [0.1, 20])
def test_a_cost_that_is_not_convex_and_a_large_budget(method, epsilon):
    """At epsilon 20 the interior-point method may get nowhere: transport was refused with it, for want of a bound."""
    rng = np.random.default_rng(1)
    failed = 0
    for size in (5, 9, 14, 19, 23):
        z = rng.dirichlet(np.ones(size))
        costs = np.minimum(np.abs(np.subtract.outer(np.arange(size), np.arange(size))), 2.0)
        found = construct(z, epsilon=epsilon, method=method, cost=costs)
        assert found.cost >= found.lower_bound >= 0 and found.fixed_point_residual < 1e-9
        other = construct(z, epsilon=epsilon, cost=costs)
        assert method != "column-generation" or found.cost <= other.cost * (1 + 1e-6) + 1e-9
        failed += any("failed" in note for note in found.notes)
    assert failed == 0 or (method == "column-generation" and epsilon == 20)


def test_a_gap_where_costs_are_negative_is_a_part_of_their_size():
    """A gain of 2 and a bound of -3 leave a half to gain, not two thousand million times the cost."""
    rng = np.random.default_rng(2)
    for size in (3, 8, 15):
        z, costs = rng.dirichlet(np.ones(size)), rng.normal(size=(size, size))
        plain, moved = (construct(z, epsilon=1, cost=each) for each in (costs, costs - 10))
        assert moved.cost == pytest.approx(plain.cost - 10) and moved.cost < 0
        assert moved.gap == pytest.approx((moved.cost - moved.lower_bound) / -moved.cost)
        assert construct(z, epsilon=1, cost=costs - 10, method="column-generation").gap < 1e-6


@pytest.mark.parametrize("cost", ["absolute", "squared", "lopsided:1,3", "lopsided:5,1/2", "lopsided:1,0"])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_guess_without_a_matrix_is_the_one_with(cost, seed):
    from discreet.build.transport import transport_cost
    from discreet.build.unfixed import unfixed, unfixed_by_name
    from discreet.costs import cost_matrix

    rng = np.random.default_rng(seed)
    z = rng.dirichlet(np.full(int(rng.integers(2, 120)), rng.choice([0.05, 1.0])))
    noise = Geometric(Fraction(int(rng.integers(11, 60)), 10))
    slow, fast = unfixed(z, noise, cost_matrix(cost, len(z))), unfixed_by_name(z, noise, cost)
    assert transport_cost(fast, z, cost) == pytest.approx(transport_cost(slow, z, cost), rel=1e-9, abs=1e-13)


def test_the_unfixed_optimum_for_many_counts():
    z = np.exp(-np.arange(50_000) / 4_000.0)
    found = construct(z / z.sum(), epsilon="0.01", method="unfixed")
    fixed = construct(z / z.sum(), epsilon="0.01")
    assert 0 < found.cost < fixed.cost and found.lower_bound is None
    assert 0 < construct(z / z.sum(), epsilon="0.01", method="unfixed", cost="lopsided:1,2").cost < 2 * found.cost
    with pytest.raises(BadInput, match="absolute, squared and lopsided"):
        construct(z / z.sum(), epsilon="0.01", method="unfixed", cost="wrong")
