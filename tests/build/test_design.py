"""Designs against the plain program, and what is promised about each of them."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.build.design import design, fixed_point, target
from discreet.certify import certify
from discreet.errors import BadInput, Infeasible, SolverFailed
from discreet.mechanism import Weights
from discreet.numbers import epsilon_of
from discreet.requirements import STRUCTURAL, parse_requirement
from tests.build.reference import plain_program

ALL = list(STRUCTURAL)
COSTS = ["wrong", "absolute", "squared", "beyond:1", "lopsided:1,3"]


def skewed(size, seed=0):
    weights = np.random.default_rng(seed).integers(1, 20, size)
    return [Fraction(int(w), int(weights.sum())) for w in weights]


def assert_promises(made, epsilon, delta=0):
    """Private, in integers, with a common row sum; requirements exact; close to a bound that is really below."""
    weights = made.mechanism.weights
    assert all(sum(row) == weights.total for row in weights.rows)
    assert certify(made.mechanism, epsilon, delta).holds
    assert all(witness is None for witness in made.requirements.values())
    assert made.lower_bound <= made.value
    assert made.gap <= 1e-6 * max(1, made.value)


@settings(max_examples=60, deadline=None)
@given(
    max_count=st.integers(1, 6),
    epsilon=st.sampled_from(["1/100", "0.1", "1/2", "1", "2.5"]),
    cost=st.sampled_from(COSTS),
    require=st.sets(st.sampled_from(ALL)),
    uneven=st.booleans(),
    minimax=st.booleans(),
    delta=st.sampled_from(["0", "0", "1/100", "0.2"]),
)
def test_any_structural_design_equals_the_plain_program(max_count, epsilon, cost, require, uneven, minimax, delta):
    prior = skewed(max_count + 1) if uneven else None
    made = design(
        max_count, epsilon, delta=delta, objective=cost, prior=prior, require=sorted(require), minimax=minimax
    )
    assert_promises(made, epsilon, delta)
    odds = np.exp(float(Fraction(epsilon)))
    least, _ = plain_program(max_count, odds, cost, sorted(require), prior, float(Fraction(delta)), minimax)
    assert made.value == pytest.approx(least, abs=2e-6)


@settings(max_examples=60, deadline=None)
@given(
    max_count=st.integers(1, 5),
    epsilon=st.sampled_from(["0.2", "1", "2.5"]),
    delta=st.sampled_from(["0", "0.05", "0.4"]),
    structural=st.sets(st.sampled_from(ALL), max_size=2),
    valued=st.sets(st.sampled_from(["truth=3/10", "support=2", "unbiased", "at-least=0,1,1/9", "at-most=1,1,1/4"])),
    law=st.sampled_from([None, "fixed-point", "target"]),
)
def test_any_design_equals_the_plain_program_or_both_are_infeasible(max_count, epsilon, delta, structural, valued, law):
    z, prior = skewed(max_count + 1, 5), skewed(max_count + 1, 6)
    require = [*sorted(structural), *sorted(valued), *([(law, z)] if law else [])]
    odds, slack = np.exp(float(Fraction(epsilon))), float(Fraction(delta))
    plain = plain_program(max_count, odds, "absolute", require, prior, slack)
    try:
        made = design(max_count, epsilon, delta=delta, objective="absolute", prior=prior, require=require)
    except Infeasible as clash:
        assert plain is None
        blamed = [item for item in require if parse_requirement(item, prior).name in clash.values["conflict"]]
        assert plain_program(max_count, odds, "absolute", blamed, prior, slack) is None
        return
    assert_promises(made, epsilon, delta)
    assert made.value == pytest.approx(plain[0], abs=2e-6)


@pytest.mark.parametrize("max_count", [1, 2, 3, 6, 9])
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "0.7", "1.5"])
@pytest.mark.parametrize("require", [[], ["WH"], ["CM"], ["RM", "S"], ["F"], ["F", "CM", "RM"]])
@pytest.mark.parametrize("cost", ["wrong", "absolute", "beyond:1"])
def test_both_methods_agree(max_count, epsilon, require, cost):
    quick = design(max_count, epsilon, objective=cost, require=require)
    solved = design(max_count, epsilon, objective=cost, require=require, method="program")
    assert solved.method == "program"
    assert quick.value == pytest.approx(solved.value, abs=1e-8)
    assert quick.lower_bound <= solved.value + 1e-12
    assert solved.lower_bound <= quick.value + 1e-12


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("max_count", [1, 2, 5, 11])
@pytest.mark.parametrize("seed", range(4))
def test_noise_then_the_best_answer_equals_the_program_for_any_prior(cost, max_count, seed):
    prior = skewed(max_count + 1, seed)
    quick = design(max_count, "0.6", objective=cost, prior=prior)
    assert quick.method == "closed-form"
    assert_promises(quick, "0.6")
    solved = design(max_count, "0.6", objective=cost, prior=prior, method="program")
    assert quick.value == pytest.approx(solved.value, abs=1e-8)


def test_a_cost_that_does_not_depend_on_the_answer_needs_no_information():
    costs = np.outer([1.0, 2.0, 3.0], np.ones(3))
    made = design(2, 1, objective=costs, require=ALL)
    assert (made.mechanism.name, made.value) == ("uniform", pytest.approx(2))
    assert design(2, 1, objective=costs, require=ALL, method="program").value == pytest.approx(2)


@pytest.mark.parametrize(
    ("settings_", "name"),
    [
        ({}, "geometric"),
        ({"require": ["RM", "S"]}, "geometric"),
        ({"require": ["WH"]}, "designed"),  # 6 < 2a/(1-a) at a = e^-0.1
        ({"require": ["CH"]}, "designed"),
        ({"require": ["F"]}, "explicit-fair"),
        ({"require": ["F"], "minimax": True}, "explicit-fair"),
        ({"require": ["WH"], "max_count": 20}, "geometric"),  # 20 > 2a/(1-a) = 19.02
        ({"require": ["CM"], "epsilon": "0.7"}, "geometric"),  # a = 0.497 < 1/2
        ({"require": ["CM"], "epsilon": "0.69"}, "designed"),  # a = 0.502
        ({"max_count": 1, "require": ALL}, "explicit-fair"),
        ({"max_count": 1}, "randomized-response"),
    ],
)
def test_the_flow_chart(settings_, name):
    made = design(**{"max_count": 6, "epsilon": "0.1", **settings_})
    assert made.mechanism.name == name
    assert made.method == ("program" if name == "designed" else "closed-form")
    assert made.reason


@pytest.mark.parametrize("cost", ["wrong", "absolute", "squared"])
def test_every_property_at_max_count_20_is_within_a_millionth(cost):
    made = design(20, "0.3", objective=cost, require=ALL, method="program")
    assert_promises(made, "0.3")
    diagonal = {row[i] for i, row in enumerate(made.mechanism.weights.rows)}
    assert len(diagonal) == 1


def test_max_count_50_is_within_a_ten_thousandth():
    made = design(50, "0.5", objective="absolute", require=ALL)
    assert made.gap <= 1e-4
    assert all(made.properties.values())


def test_requirements_with_values_hold_exactly():
    require = ["truth=1/3", "support=4", "symmetric", "at-most=0,4,1/100", "at-least=3,4,1/7"]
    made = design(8, 1, delta="0.2", objective="absolute", require=require)
    assert_promises(made, 1, "0.2")
    weights = made.mechanism.weights
    assert all(3 * row[i] == weights.total for i, row in enumerate(weights.rows))
    assert all(row[j] == 0 for i, row in enumerate(weights.rows) for j in range(9) if abs(i - j) > 4)


def test_unbiased_needs_the_ends_told_truly():
    made = design(5, 1, delta="0.8", objective="squared", require=["unbiased"])
    assert_promises(made, 1, "0.8")
    weights = made.mechanism.weights
    assert weights.rows[0][0] == weights.rows[5][5] == weights.total
    assert all(sum((j - i) * w for j, w in enumerate(row)) == 0 for i, row in enumerate(weights.rows))


@pytest.mark.parametrize("size", [3, 8, 15])
def test_fixed_points_and_targets_hold_to_a_tiny_residual(size):
    z, prior = skewed(size, 1), skewed(size, 2)
    made = design(size - 1, 1, objective="absolute", prior=z, require=[fixed_point(z)])
    assert_promises(made, 1)
    assert np.abs([float(p) for p in z] @ made.mechanism.matrix() - [float(p) for p in z]).sum() < 1e-9
    aimed = design(size - 1, 1, objective="absolute", prior=prior, require=[("target", z)])
    assert_promises(aimed, 1)
    assert aimed.requirements == {"target=...": None}
    assert target(z, prior).check(aimed.mechanism.weights.rows, aimed.mechanism.weights.total) is None


@pytest.mark.parametrize("cost", ["absolute", "squared", "lopsided:1,3"])
@pytest.mark.parametrize("max_count", [1, 4, 9])
@pytest.mark.parametrize("aimed", [False, True])
def test_a_law_and_a_convex_cost_need_no_program(cost, max_count, aimed):
    prior, law = skewed(max_count + 1, 3), skewed(max_count + 1, 4)
    require = [("target", law) if aimed else ("fixed-point", prior)]
    quick = design(max_count, "0.7", objective=cost, prior=prior, require=require)
    assert (quick.method, quick.mechanism.name) == ("closed-form", "transport")
    assert_promises(quick, "0.7")
    solved = design(max_count, "0.7", objective=cost, prior=prior, require=require, method="program")
    assert quick.value == pytest.approx(solved.value, abs=1e-8)
    assert solved.lower_bound <= quick.value + 1e-12 and quick.lower_bound <= solved.value


def test_a_law_for_another_prior_or_cost_needs_the_program():
    z = skewed(4)
    assert design(3, 1, objective="absolute", require=[("fixed-point", z)]).method == "program"
    assert design(3, 1, objective="wrong", prior=z, require=[("fixed-point", z)]).method == "program"
    assert design(3, 1, objective="absolute", prior=z, require=[("fixed-point", z), "RM"]).method == "program"


def test_a_bound_that_leaves_one_mechanism_only():
    # odds 2, one person: truth 2/3 is the most there can be, and leaves no room to round
    made = design(1, alpha="1/2", require=["truth=2/3"], method="program")
    assert made.mechanism.matrix() == pytest.approx(np.array([[2, 1], [1, 2]]) / 3)
    with pytest.raises(Infeasible, match=re.escape("truth=0.667 cannot hold")):
        design(1, alpha="1/2", require=["truth=0.667"])


@pytest.mark.parametrize(
    ("max_count", "settings_"),
    [
        (4, {"alpha": "1/2", "require": ["truth=2/5"]}),  # the most a fair mechanism can have: 1 / (1 + 1 + 1/2)
        (
            3,
            {
                "alpha": "1/2",
                "require": ["at-least=0,0,2/3", "at-least=3,3,2/3", "at-least=1,1,1/3", "at-least=2,2,1/3"],
            },
        ),
        (5, {"epsilon": 1, "require": ["at-least=0,0,1"]}),
        (5, {"epsilon": 1, "require": ["at-most=0,0,0"]}),
        (5, {"epsilon": 1, "require": [("fixed-point", [0, "1/2", 0, "1/2", 0, 0])]}),
        (5, {"epsilon": 1, "require": ["unbiased", "row-honest"], "delta": "0.7"}),
        (8, {"epsilon": "0.01", "require": ["unbiased", "row-honest"], "delta": "0.13"}),
    ],
)
def test_requirements_that_leave_no_room_in_some_inequality(max_count, settings_):
    made = design(max_count, objective="absolute", method="program", **settings_)
    assert_promises(made, made.epsilon, made.delta)
    odds, delta = float(made.epsilon.odds()), float(made.delta)
    least, _ = plain_program(max_count, odds, "absolute", settings_["require"], delta=delta)
    assert made.value == pytest.approx(least, abs=1e-5)


def test_outputs_that_privacy_rules_out_are_never_given():
    # pure privacy with errors up to 3 leaves only the output 3 to six people
    made = design(6, 1, require=["support=3"], method="program")
    assert made.mechanism.matrix()[:, 3] == pytest.approx(np.ones(7))


@pytest.mark.parametrize(
    ("require", "conflict"),
    [
        (["support=2", "RM", "CM"], {"support=2"}),
        (["fair", "at-least=0,0,1/2", "at-most=3,3,1/3", "RM"], {"fair", "at-least=0,0,0.5"}),
        (["truth=0.4", "at-least=1,1,0.45", "S"], {"truth=0.4", "at-least=1,1,0.45"}),
        (["unbiased", "S"], {"unbiased"}),
        (["CM", "truth=1/20"], {"column-monotone", "truth=0.05"}),
    ],
)
def test_contradictions_name_a_smallest_conflicting_subset(require, conflict):
    with pytest.raises(Infeasible, match="cannot hold") as caught:
        design(6, "0.8", require=require)
    assert set(caught.value.values["conflict"]) == conflict
    odds = np.exp(0.8)
    assert plain_program(6, odds, require=sorted(conflict)) is None
    for spared in conflict:
        assert plain_program(6, odds, require=sorted(conflict - {spared})) is not None


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"max_count": 0}, BadInput, "at least 1"),
        ({"max_count": 2.0}, BadInput, "whole number"),
        ({"epsilon": 0}, BadInput, "greater than zero"),
        ({"epsilon": None}, BadInput, "exactly one of epsilon, alpha and rho"),
        ({"delta": 1}, BadInput, "below 1"),
        ({"delta": "-0.1"}, BadInput, "at least 0 and below 1"),
        ({"objective": "abslute"}, BadInput, "Did you mean 'absolute'?"),
        ({"objective": np.ones((2, 2))}, BadInput, "4 rows and 4 columns"),
        ({"prior": [0.5, 0.5]}, BadInput, "it has 2 numbers, 4 are needed"),
        ({"prior": [0.5, 0.5, 0.5, 0.5]}, BadInput, "sum to 1"),
        ({"require": ["fare"]}, BadInput, "Did you mean 'fair'?"),
        ({"require": ["truth=1"]}, BadInput, "both excluded"),
        ({"require": ["support=0"]}, BadInput, "at least 1"),
        ({"method": "simplex"}, BadInput, "there is no method of that name"),
        ({"mechanism": "geometrc"}, BadInput, "Did you mean 'geometric'?"),
        ({"mechanism": "signed-geometric"}, BadInput, "no largest count"),
        ({"max_count": 500, "require": ["CM"], "minimax": True, "epsilon": "0.1"}, BadInput, "up to max_count 200"),
        ({"max_count": 2001, "require": ["CM"], "epsilon": "0.1"}, BadInput, "it must be at most 2,000"),
    ],
)
def test_bad_input(wrong, error, message):
    with pytest.raises(error, match=re.escape(message)):
        design(**{"max_count": 3, "epsilon": 1, **wrong})


def test_a_single_requirement_need_not_be_in_a_list():
    assert design(3, 1, require="fair").requirements == {"fair": None}


def test_a_named_mechanism_reports_what_it_lacks():
    made = design(4, "0.1", mechanism="geometric", require=["fair", "row-monotone"])
    assert (made.method, made.lower_bound, made.gap) == ("named", None, None)
    assert made.requirements["row-monotone"] is None
    assert made.requirements["fair"].cells == ((0, 0), (1, 1))


def test_structured_answers_at_max_count_1000_write_no_weights():
    made = design(1000, "0.1", require=["fair"])
    assert not isinstance(made.mechanism.form, Weights)
    shown = made.as_json()
    assert shown["weights"] is None and shown["form"]["form"] == "exponents"
    assert made.certificate.holds and all(made.properties.values())


@pytest.mark.parametrize("name", ["geometric", "explicit-fair"])
@pytest.mark.parametrize("max_count", [1, 2, 3, 4, 7, 20])
@pytest.mark.parametrize("alpha", ["1/10", "1/2", "0.51", "9/10", "10/11", "0.99"])
def test_properties_without_weights_are_those_of_the_weights(name, max_count, alpha):
    made = design(max_count, alpha=alpha, mechanism=name)
    written = {kind: witness is None for kind, witness in made.mechanism.properties().items()}
    assert made.properties == written


def test_an_unbounded_program_is_an_error():
    from scipy.sparse import csr_array

    from discreet.program import LinearProgram, solve

    free = LinearProgram(np.array([-1.0]), csr_array((1, 1)), np.zeros(1), np.zeros(1), np.zeros(1), np.array([np.inf]))
    with pytest.raises(SolverFailed, match="Unbounded"):
        solve(free)
    with pytest.raises(BadInput, match="do not fit"):
        LinearProgram(np.zeros(2), csr_array((1, 1)), np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1))


def test_any_multipliers_give_a_true_bound():
    """Even nonsense multipliers stay below the optimum; good ones touch it."""
    from discreet.build.duals import proven_bound
    from discreet.build.formulation import Problem, formulate
    from discreet.costs import cost_matrix

    odds = epsilon_of("0.5").odds()
    asked = tuple(parse_requirement(name) for name in ("weakly-honest", "column-monotone"))
    problem = Problem(5, odds, Fraction(0), cost_matrix("absolute", 5), (Fraction(1, 5),) * 5, False, asked)
    formulation = formulate(problem, problem.mirrored)
    least, _ = plain_program(4, float(odds), "absolute", ["WH", "CM"])
    random = np.random.default_rng(0)
    for _ in range(50):
        assert proven_bound(formulation, random.normal(size=len(formulation.rows)) * 3) <= least + 1e-9


@pytest.mark.parametrize(("max_count", "alpha"), [(8, "0.9"), (5, "0.76")])
def test_properties_that_cost_nothing_are_given(max_count, alpha):
    asked = ["weakly-honest", "column-monotone"]
    made = design(max_count, alpha=alpha, require=asked)
    assert made.free and set(made.free).isdisjoint(asked)
    assert all(made.properties[name] for name in (*asked, *made.free))
    plain, _ = plain_program(max_count, 1 / Fraction(alpha), "wrong", asked)
    assert made.value == pytest.approx(plain, abs=1e-8)
    assert made.as_json()["free"] == list(made.free)
    for name in set(STRUCTURAL) - {name for name, holds in made.properties.items() if holds}:  # and only those
        dearer, _ = plain_program(max_count, 1 / Fraction(alpha), "wrong", [*asked, *made.free, name])
        assert dearer > plain + 1e-6


def test_neighbouring_answers_may_be_required_to_be_about_as_likely():
    made = design(6, "1/2", objective="absolute", require=["output-ratio=3/2"])
    matrix = made.mechanism.matrix()
    ratios = matrix[:, 1:] / matrix[:, :-1]
    assert ratios.max() <= 1.5 + 1e-9 and ratios.min() >= 1 / 1.5 - 1e-9
    plain, _ = plain_program(6, Fraction(made.epsilon.odds()), "absolute", ["output-ratio=3/2"])
    assert made.value == pytest.approx(plain, abs=1e-7)
    assert design(6, "1/2", objective="absolute").value < made.value
    assert design(4, "1/2", require=["output-ratio=1"]).mechanism.matrix() == pytest.approx(np.full((5, 5), 0.2))


def test_the_worst_count_is_weighed_by_its_prior():
    prior = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)]
    made = design(3, 1, objective="absolute", prior=prior, minimax=True)
    costs = (np.abs(np.subtract.outer(range(4), range(4))) * made.mechanism.matrix()).sum(axis=1)
    assert made.value == pytest.approx(float((costs * [2, 1, 0.5, 0.5]).max()))
    even = design(3, 1, objective="absolute", minimax=True)
    assert even.value == pytest.approx(even.mechanism.worst_cost("absolute"))
    again = (np.abs(np.subtract.outer(range(4), range(4))) * even.mechanism.matrix()).sum(axis=1)
    assert made.value < float((again * [2, 1, 0.5, 0.5]).max()) - 1e-3  # the even one is not the best for this prior


@pytest.mark.parametrize("minimax", [False, True])
def test_ranges_are_an_objective(minimax):
    made = design(5, "1/2", objective="ranges", minimax=minimax, require=["symmetric"])
    plain, _ = plain_program(5, Fraction(made.epsilon.odds()), "ranges", ["symmetric"], minimax=minimax)
    assert made.value == pytest.approx(plain, abs=1e-7)


@settings(max_examples=60, deadline=None)
@given(
    max_count=st.integers(2, 5),
    require=st.sets(
        st.sampled_from(
            [*ALL, "truth=0.6", "support=1", "support=2", "unbiased", "at-least=0,0,0.8", "at-most=1,1,0.1"]
        ),
        min_size=1,
        max_size=4,
    ),
    epsilon=st.sampled_from(["0.3", "1"]),
    delta=st.sampled_from(["0", "0.1"]),
)
def test_conflicts_are_found_exactly_where_there_is_no_mechanism(max_count, require, epsilon, delta):
    names = sorted(require)
    plain = plain_program(max_count, np.exp(float(epsilon)), "absolute", names, None, float(delta))
    try:
        design(max_count, epsilon, delta=delta, objective="absolute", require=names)
    except Infeasible as clash:
        assert plain is None
        for left_out in clash.values["conflict"]:
            fewer = [name for name in clash.values["conflict"] if name != left_out]
            assert plain_program(max_count, np.exp(float(epsilon)), "absolute", fewer, None, float(delta)) is not None
    except SolverFailed:
        pass  # too near the border to be told
    else:
        assert plain is not None
