"""Designs of any size: bounds that are true whatever the multipliers are, mechanisms that keep every promise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.build.anytime import _edges, _of_family, anytime, integers
from discreet.build.design import HONEST
from discreet.build.formulation import Problem
from discreet.build.optimum import meets
from discreet.build.orders import ORDERS
from discreet.build.priced import Multipliers, columns_of, proven
from discreet.build.relaxed import relaxed_bound
from discreet.build.repeated import best_of_family, tied
from discreet.build.structured import structured
from discreet.costs import cost_matrix
from discreet.errors import BadInput, Infeasible, SolverFailed
from discreet.numbers import epsilon_of
from discreet.requirements import STRUCTURAL, parse_requirement
from tests.build.reference import plain_program
from tests.build.test_design import skewed

COSTS = ["wrong", "absolute", "squared", "beyond:1", "lopsided:1,3"]
DOUBT = 1e-7  # what the plain program's answers are below the optimum by
REQUIRED = st.sets(st.sampled_from(STRUCTURAL)).map(sorted)


def task_of(max_count, epsilon, cost="absolute", require=(), prior=None):
    size, allowed = max_count + 1, epsilon_of(epsilon)
    shares = tuple(prior) if prior else (Fraction(1, size),) * size
    asked = tuple(parse_requirement(name, shares) for name in require)
    problem = Problem(size, allowed.odds(), Fraction(0), cost_matrix(cost, size), shares, False, asked)
    return structured(problem), allowed


def least(max_count, epsilon, cost, require, prior=None):
    """The optimum by the plain program."""
    return plain_program(max_count, np.exp(float(Fraction(epsilon))), cost, require, prior)[0]


@pytest.mark.parametrize("kind", sorted(ORDERS))
@pytest.mark.parametrize("size", [2, 3, 6])
def test_orders_are_the_rows_of_the_requirement(kind, size):
    orders = ORDERS[kind](size)
    found = {(divmod(s, size), divmod(g, size)) for s, g in zip(orders.small.tolist(), orders.large.tolist())}
    rows = parse_requirement(kind).rows(size)
    assert all(row.coefficients == (1, -1) and row.sense == "<=" and row.bound == 0 for row in rows)
    assert found == {row.cells for row in rows}
    assert len(orders.small) == len(rows)


@settings(max_examples=80, deadline=None)
@given(
    max_count=st.integers(1, 6), epsilon=st.sampled_from(["0.1", "1/2", "2"]), cost=st.sampled_from(COSTS),
    require=REQUIRED, uneven=st.booleans(), seed=st.integers(0, 2**32), spread=st.sampled_from([0.0, 0.01, 0.1, 1.0]),
)  # fmt: skip
def test_whatever_the_multipliers_are_the_bound_is_true(max_count, epsilon, cost, require, uneven, seed, spread):
    prior = skewed(max_count + 1) if uneven else None
    task, allowed = task_of(max_count, epsilon, cost, require, prior)
    rng = np.random.default_rng(seed)
    orders = {kind: spread * rng.normal(size=len(ORDERS[kind](task.size).small)) for kind in task.kinds & set(ORDERS)}
    anything = Multipliers(orders, *(spread * rng.normal(size=(2, task.size))))
    columns = columns_of(task, allowed, anything)
    optimum = least(max_count, epsilon, cost, require, prior)
    for sums in (np.zeros(task.size), rng.normal(size=task.size), optimum / task.size * np.ones(task.size)):
        assert proven(columns, sums)[0] <= optimum + DOUBT


@settings(max_examples=40, deadline=None)
@given(
    max_count=st.integers(2, 9), epsilon=st.sampled_from(["0.2", "1/2", "1"]), cost=st.sampled_from(COSTS),
    require=REQUIRED, uneven=st.booleans(),
)  # fmt: skip
def test_with_every_count_free_the_bound_and_the_mechanism_meet(max_count, epsilon, cost, require, uneven):
    prior = skewed(max_count + 1) if uneven else None
    task, allowed = task_of(max_count, epsilon, cost, require, prior)
    optimum = least(max_count, epsilon, cost, require, prior)
    bound = float(relaxed_bound(task, allowed, task.size, 1, 60.0))
    near = pytest.approx(optimum, rel=1e-4, abs=DOUBT if optimum <= DOUBT else 0)  # zero, as the plain program has it
    assert bound == near
    assert bound <= optimum + DOUBT
    answer = anytime(task, allowed, 60.0)
    assert answer.value == near
    assert answer.value >= optimum - DOUBT


@settings(max_examples=15, deadline=None)
@given(cost=st.sampled_from(COSTS), require=REQUIRED, uneven=st.booleans())
def test_a_repeated_interior_is_above_the_optimum_and_its_bound_below(cost, require, uneven):
    max_count = 24
    prior = skewed(max_count + 1) if uneven else None
    task, allowed = task_of(max_count, "1", cost, require, prior)
    optimum = least(max_count, "1", cost, require, prior)
    assert float(relaxed_bound(task, allowed, 3, 2, 60.0) or 0) <= optimum + DOUBT
    ties = tied(task.size, 4, 2, task.mirrored, task.fair)
    found = best_of_family(task, ties, np.exp(-1 + 1e-6), 1e-6, 60.0)
    if found is not None:
        rows, total = integers(task, found)
        assert meets(task.problem, rows, total)
        assert (task.prices * np.array(rows, dtype=float) / total).sum() >= optimum - DOUBT


def test_few_variables_and_no_loss():
    """At epsilon 1 the ends matter for a few counts only, so that 120 counts need no more variables than 40."""
    counts = [tied(size, 6, 2, True, True).count for size in (41, 121, 1001)]
    assert counts[0] == counts[1] == counts[2] < 100
    task, allowed = task_of(120, "1", "absolute", ["fair", "column-monotone"])
    assert anytime(task, allowed, 60.0).gap < 1e-4


@pytest.mark.parametrize("cost, require, prior", [
    ("absolute", ["fair", "column-monotone", "row-monotone"], None),
    ("squared", STRUCTURAL, None),
    ("absolute", ["column-honest", "row-honest"], None),
    ("lopsided:1,3", ["column-monotone", "fair"], None),
    ("absolute", ["truth=0.2", "column-monotone"], None),
])  # fmt: skip
def test_large_designs_keep_every_promise(cost, require, prior):
    made = dc.design(150, "1/2", objective=cost, require=require, prior=prior)
    assert made.method == "anytime"
    weights = made.mechanism.weights
    assert all(sum(row) == weights.total for row in weights.rows)
    assert made.certificate.holds
    assert all(parse_requirement(name).check(weights.rows, weights.total) is None for name in require)
    assert made.lower_bound <= made.value
    assert made.gap / made.value < 1e-3


def test_a_prior_of_its_own_is_answered_with_its_gap():
    made = dc.design(150, "1/2", objective="absolute", require=["fair", "column-monotone"], prior=skewed(151))
    assert 0 < made.lower_bound <= made.value
    assert made.objective.value == pytest.approx(
        (np.array(skewed(151), float)[:, None] * cost_matrix("absolute", 151) * made.mechanism.matrix()).sum()
    )


def test_without_time_there_is_an_answer_and_a_larger_gap():
    told = []
    soon = dc.design(150, "0.1", objective="absolute", require=["fair", "column-monotone"], seconds=0.001)
    later = dc.design(
        150,
        "0.1",
        objective="absolute",
        require=["fair", "column-monotone"],
        seconds=20,
        tell=lambda *now: told.append(now),
    )
    assert soon.mechanism.name == "explicit-fair"
    assert 0 < soon.lower_bound <= later.lower_bound <= later.value < soon.value
    assert [gap for gap, _ in told] == sorted((gap for gap, _ in told), reverse=True)


@pytest.mark.parametrize("seconds", [0, -1, "1", None, float("nan"), True, np.float32(-1)])
def test_seconds_are_a_number_above_zero(seconds):
    with pytest.raises(BadInput, match="seconds"):
        dc.design(150, "0.1", require=["column-honest"], seconds=seconds)


def test_a_chance_of_the_truth_that_none_has_is_refused_at_once():
    with pytest.raises(Infeasible, match="truth"):
        dc.design(300, "0.1", require=["truth=1/2"])


@pytest.mark.parametrize("chance", ["1/151", "1/50", "0.0499", "1/160"])
def test_without_time_every_possible_chance_of_the_truth_is_met(chance):
    required = [f"truth={chance}", *(STRUCTURAL if chance != "1/160" else ["symmetric"])]
    made = dc.design(150, "0.1", objective="absolute", require=required, seconds=1e-9)
    assert "mixed" in made.reason
    weights = made.mechanism.weights
    assert {Fraction(row[i], weights.total) for i, row in enumerate(weights.rows)} == {Fraction(chance)}
    assert all(parse_requirement(name).check(weights.rows, weights.total) is None for name in required)
    assert 0 < made.lower_bound < made.value


@pytest.mark.parametrize("chance", ["1/1000", "0.4621171572600097"])
def test_a_chance_that_is_not_found_is_said_and_the_advice_works(chance):
    """One is far below an even chance, the other nearer to the largest than numbers are rounded."""
    with pytest.raises(SolverFailed, match=r"From 1/151 to 0\.\d+ there is one") as refused:
        dc.design(150, 1, require=[f"truth={chance}"], seconds=1e-9)
    largest = str(refused.value).split(" to ")[1].split()[0]
    for named in ("1/151", largest):
        dc.design(150, 1, require=[f"truth={named}"], seconds=1e-9)


@pytest.mark.parametrize("kind", sorted(HONEST))
def test_a_chance_below_an_even_one_clashes_with_honesty(kind):
    assert plain_program(4, np.e, "wrong", [kind, "truth=0.19"]) is None
    assert plain_program(4, np.e, "wrong", [kind, "truth=0.2"]) is not None
    with pytest.raises(Infeasible, match="1/151 at least") as clash:
        dc.design(150, 1, require=[kind, "truth=1/152"])
    assert clash.value.values["conflict"] == ("truth=1/152", kind)


@pytest.mark.parametrize("factor", [2.0**-900, 2.0**70, 2.0**1000])
@pytest.mark.parametrize("require", [["fair", "column-monotone"], ["weakly-honest", "column-monotone"], ["symmetric"]])
def test_units_of_cost_make_no_difference(factor, require):
    optimum = factor * least(8, "1", "absolute", require)
    answer = anytime(*task_of(8, "1", cost_matrix("absolute", 9) * factor, require), 60.0)
    assert answer.value == pytest.approx(optimum, rel=1e-4)
    assert float(answer.bound) == pytest.approx(optimum, rel=1e-4)
    assert answer.gap < 1e-4


def test_costs_that_fall_with_the_error_are_answered_without_regard_to_the_count():
    made = dc.design(120, 1, objective=-cost_matrix("absolute", 121), require=["column-monotone"], seconds=1e-9)
    assert made.mechanism.name == "uniform" and "do not depend on the count" in made.reason
    assert made.lower_bound <= made.value < -40


def test_multipliers_without_limit_give_a_true_bound():
    task, allowed = task_of(4, "1", "absolute", ["weakly-honest", "fair", "column-honest"])
    optimum = least(4, "1", "absolute", ["weakly-honest", "fair", "column-honest"])
    huge, nothing = 1e30 * np.arange(5), np.zeros(5)
    for some in (Multipliers({"column-honest": 1e30 * np.arange(20)}, huge, huge), Multipliers({}, nothing, nothing)):
        assert proven(columns_of(task, allowed, some), huge)[0] <= optimum + DOUBT


def test_multipliers_of_what_is_not_required_are_refused():
    task, allowed = task_of(4, "1")
    nothing = np.zeros(task.size)
    with pytest.raises(AssertionError, match="not required"):
        columns_of(task, allowed, Multipliers({"column-honest": np.ones(20)}, nothing, nothing))


def test_other_problems_are_left_to_the_program():
    task, _ = task_of(4, "1")
    assert structured(replace(task.problem, minimax=True)) is None
    assert structured(replace(task.problem, delta=Fraction(1, 10))) is None
    assert structured(replace(task.problem, requirements=(parse_requirement("support=2"),))) is None


@pytest.mark.parametrize(
    "asked, advice",
    [
        ({"delta": "1e-3", "require": ["fair"]}, "Do without delta: "),
        ({"minimax": True, "require": ["fair", "unbiased"]}, "Do without minimax and unbiased: "),
        ({"method": "program", "require": ["fair"]}, "Use the method 'auto': "),
        ({"objective": "delta", "require": ["truth=1/2", "support=9"]}, "Release with the mechanism 'bounded'"),
        ({"objective": "delta", "require": ["support=9"]}, "Use a smaller max_count"),
    ],
)
def test_a_program_that_is_too_large_is_refused_with_what_would_do(asked, advice):
    with pytest.raises(BadInput, match="programs are solved up to max_count 200") as refused:
        dc.design(max_count=300, epsilon=1, **{"objective": "absolute", **asked})
    assert advice in str(refused.value)


@pytest.mark.parametrize("cost", ["lopsided:1,50", "lopsided:50,1"])
def test_lopsided_costs_move_the_best_answers_and_the_family_with_them(cost):
    task, allowed = task_of(80, "1", cost, ["fair", "column-monotone"])
    found = anytime(task, allowed, 30.0)
    assert found.edge is not None and found.edge < task.size and found.gap < 1e-4


def test_many_counts_with_lopsided_costs_have_a_bound():
    """Multipliers that reach less far than the columns rise are worth nothing."""
    task, allowed = task_of(500, "1/2", "lopsided:1,50", ["fair", "column-monotone"])
    edge, reach = list(_edges(task, allowed))[6]
    made, bound = _of_family(task, allowed, edge, reach, 60.0), relaxed_bound(task, allowed, edge, reach, 60.0)
    assert made is not None and bound is not None and 0.99 * made.value < bound <= made.value


@pytest.mark.parametrize("cost", COSTS)
def test_bounds_on_costs_that_are_never_negative_are_not_either(cost):
    task, allowed = task_of(30, "1/2", cost, ["fair"])
    assert anytime(task, allowed, 1e-9, known=Fraction(-1, 10**12)).bound >= 0
