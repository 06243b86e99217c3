"""L-lag couplings: the bound is a bound, it falls as fast as promised, and it is never sold for more than it shows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput, NotProven
from discreet.lattice.chains import ChainTarget, chain_sampler
from discreet.lattice.coupling import Diagnosis, diagnose
from tests.lattice.fibres import law_of, margins, nonnegative_tables
from tests.lattice.test_chains import transition_matrix


@given(st.lists(st.integers(1, 400), min_size=1, max_size=30), st.integers(1, 50), st.integers(0, 300))
@settings(max_examples=100, deadline=None)
def test_bound_is_the_average_of_the_formula(beyond, lag, iteration):
    diagnosis = Diagnosis(lag, np.array(beyond) + lag, False)
    plain = np.mean([max(0, math.ceil((tau + lag - lag - iteration) / lag)) for tau in beyond])
    assert diagnosis.bound(iteration) == pytest.approx(min(1.0, plain))


@given(st.lists(st.integers(1, 400), min_size=1, max_size=30), st.integers(1, 50), st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_iterations_for_is_the_first_that_will_do(beyond, lag, distance):
    diagnosis = Diagnosis(lag, np.array(beyond) + lag, False)
    first = diagnosis.iterations_for(distance)
    assert diagnosis.bound(first) <= distance
    assert first == 0 or diagnosis.bound(first - 1) > distance


def test_curve_falls_to_zero():
    curve = Diagnosis(10, np.array([25, 60, 18]), False).curve()
    bounds = [bound for _, bound in curve]
    assert curve[0][0] == 0 and bounds[-1] == 0
    assert bounds == sorted(bounds, reverse=True)


def test_delta_charges_for_the_distance_and_never_below_what_the_runs_can_show():
    diagnosis = Diagnosis(10, np.full(300, 15), False)
    assert diagnosis.bound(5) == 0
    assert diagnosis.floor == pytest.approx(0.01)
    assert diagnosis.delta(1.0, 5) == pytest.approx((1 + math.e) * 0.01)
    assert diagnosis.delta(0.5, 4) == 1.0
    assert diagnosis.grade == "diagnosed"


@pytest.mark.parametrize("counts", [[2, 0, 1, 0, 3, 1], [4, 3, 0, 0, 1, 2]])
def test_bound_exceeds_the_true_distance(counts):
    """Where the law after every iteration can be computed: 2 x 3 tables, all of them listed."""
    matrix, counts = margins(2, 3), np.array(counts)
    sampler = chain_sampler(matrix, epsilon=0.2, nonnegative=True)
    noise = nonnegative_tables(matrix, counts) - counts
    kernel = transition_matrix(ChainTarget("l1", 0.2, -counts), noise, sampler.moves.listed())
    iteration = np.linalg.matrix_power(kernel, sampler.updates)
    law, here = law_of(noise, "l1", 0.2), (np.abs(noise).sum(axis=1) == 0).astype(float)
    diagnosis = diagnose(sampler, counts=counts, runs=3000, lag=3, seed=8)
    for at in range(8):
        true = np.abs(here - law).sum() / 2
        assert diagnosis.bound(at) + 5 * math.sqrt(0.25 / diagnosis.runs) >= true
        here = here @ iteration
    assert diagnosis.bound(0) > 0.1  # it does not hold for want of content
    assert diagnosis.private_side


def test_margins_of_the_published_table_meet_within_sixty_iterations():
    """4 x 4 margins, epsilon 0.25 per unit: the published sampler needs about 10^4 iterations (002, figure 1)."""
    diagnosis = diagnose(chain_sampler(margins(4, 4), epsilon=0.25), runs=2000, seed=1)
    assert diagnosis.iterations_for(0.01) <= 60
    assert diagnosis.iterations_for(0.01) > 5
    assert diagnosis.floor < 0.01
    assert not diagnosis.private_side


@pytest.mark.parametrize(("law", "scale"), [("l2", {"epsilon": 0.25}), ("gaussian", {"sigma": 4})])
def test_other_laws_meet_too(law, scale):
    diagnosis = diagnose(chain_sampler(margins(3, 3), law=law, **scale), runs=100, seed=2)
    assert diagnosis.bound(int(diagnosis.meetings.max())) == 0


def test_a_seed_repeats_the_meetings():
    sampler = chain_sampler(margins(3, 3), epsilon=0.25)
    once, again = (diagnose(sampler, runs=20, lag=10, seed=4).meetings for _ in range(2))
    assert (once == again).all()


def test_runs_that_never_meet_are_reported_and_prove_nothing():
    with pytest.raises(NotProven, match="had not met") as caught:
        diagnose(chain_sampler(margins(6, 6), epsilon=0.25), runs=10, lag=2, most=3, seed=1)
    assert caught.value.values["iterations"] == 3


def test_a_table_too_wide_for_couplings_is_refused_soon():
    """Meeting times grow fast with the size of the table; a few seconds must be enough to say so."""
    with pytest.raises(NotProven, match="exact sampler"):
        diagnose(chain_sampler(margins(12, 12), epsilon=0.25), seed=1)


def test_bad_input_is_explained():
    sampler = chain_sampler(margins(3, 3), epsilon=0.25)
    with pytest.raises(BadInput, match=r"(?i)lag = 0"):
        diagnose(sampler, lag=0)
    with pytest.raises(BadInput, match=r"(?i)runs = 0"):
        diagnose(sampler, runs=0)
    with pytest.raises(BadInput, match="nothing free"):
        diagnose(chain_sampler(np.eye(3, dtype=int), epsilon=1), runs=3)
