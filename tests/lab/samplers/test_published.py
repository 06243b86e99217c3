"""The published samplers: right law, and the acceptance rates their authors report."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.errors import BadInput, NotProven
from discreet.lattice.basis import kernel_basis
from discreet_lab.samplers.published import independence_sampler, metropolis_sampler, smith, tuned
from tests.lattice.fibres import law_of, margins, nonnegative_tables, observed, same_lattice

# 003, table 1 (top): women, then men, by age; the first four ages are below voting age
WOMEN = [8, 6, 3, 6, 4, 4, 4, 8, 5, 7, 7, 6, 1, 5, 4, 4, 9, 6, 2, 8, 8, 8, 7]
MEN = [3, 4, 5, 8, 6, 4, 5, 5, 5, 6, 10, 7, 3, 2, 5, 11, 6, 4, 7, 4, 5, 3, 8]
SEX_BY_AGE = np.array(WOMEN + MEN)
KEPT = np.array([[1] * 46, [1] * 23 + [0] * 23, ([0] * 4 + [1] * 19) * 2])
SOLVED_FOR = [0, 22, 45]  # all but 003's index set {2..22, 24..45}, counted from 1


# 002, table 2: delinquent children by county and education of the head of household
DELINQUENT = np.array([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])


@given(st.integers(1, 4), st.integers(1, 6), st.data())
@settings(max_examples=60, deadline=None)
def test_smith_form(rows, columns, data):
    entries = st.lists(st.integers(-4, 4), min_size=columns, max_size=columns)
    matrix = np.array(data.draw(st.lists(entries, min_size=rows, max_size=rows)))
    form = smith(matrix)
    assert (form.left @ matrix.astype(object) @ form.right == form.diagonal).all()
    assert abs(determinant(form.left)) == 1 and abs(determinant(form.right)) == 1
    divisors = [int(form.diagonal[i, i]) for i in range(form.rank)]
    off = form.diagonal.copy()
    for i, divisor in enumerate(divisors):
        off[i, i] = 0
        assert divisor > 0 and (i == 0 or divisor % divisors[i - 1] == 0)
    assert not off.any()
    assert same_lattice(form.kernel(), kernel_basis(matrix))


def determinant(matrix):
    from flint import fmpz_mat

    return int(fmpz_mat(matrix.tolist()).det())


def test_margins_are_redundant_by_one():
    """002's basis has d - k vectors only if the sums are independent; two-way margins are not."""
    assert smith(margins(4, 4)).rank == 7


def test_published_margins():
    """002 prints 35 for the third county; its cells sum to 25, as the column totals and the total need."""
    assert DELINQUENT.sum(axis=1).tolist() == [20, 55, 25, 35]
    assert DELINQUENT.sum(axis=0).tolist() == [50, 35, 30, 20]


def test_published_table_keeps_its_margins():
    path = metropolis_sampler(margins(4, 4), rate=0.25).path(np.random.default_rng(5), 200, 5)
    tables = DELINQUENT + path.states.reshape(-1, 4, 4)
    assert (tables.sum(axis=2) == DELINQUENT.sum(axis=1)).all()
    assert (tables.sum(axis=1) == DELINQUENT.sum(axis=0)).all()
    assert 0.2 < path.acceptance < 0.5


def test_published_table_sums():
    """003, table 1: 130 women, 126 men, 43 below voting age, 213 of it or above."""
    assert (KEPT @ SEX_BY_AGE).tolist() == [256, 130, 213]


def test_independence_sampler_accepts_as_often_as_published():
    """003, section 3: 1.68% at 0.6, from one run of 10,000; such runs vary from 0.7% to 2.4%."""
    rng = np.random.default_rng(1)
    sampler = independence_sampler(KEPT, SEX_BY_AGE, rate=0.5, proposal_rate=0.6, dependent=SOLVED_FOR)
    path = sampler.path(rng, 1000, 1000)
    assert 0.013 < path.acceptance < 0.019
    assert not (KEPT @ path.states.T).any()
    assert (SEX_BY_AGE + path.states).min() >= 0
    assert 0.55 <= tuned(sampler, rng, (0.3, 0.4, 0.55, 0.6, 0.65, 0.7, 1.0), 200_000).proposal_rate <= 0.7


def test_independence_sampler_has_the_law():
    matrix, counts = np.array([[1, 1, 1, 0], [0, 0, 1, 1]]), np.array([1, 1, 1, 1])
    noise = nonnegative_tables(matrix, counts) - counts
    sampler = independence_sampler(matrix, counts, rate=0.5, proposal_rate=0.6)
    seen = observed(sampler.path(np.random.default_rng(3), 20_000, 40).states, noise)
    assert chisquare(seen, seen.sum() * law_of(noise, "l1", 0.5)).pvalue > 1e-6
    assert chisquare(seen, seen.sum() * law_of(noise, "l1", 0.65)).pvalue < 1e-6


def test_independence_sampler_refuses_fractions():
    """Sums that do not determine whole cells: x0 + x1, x1 + x2, x0 + x2."""
    matrix = np.array([[1, 1, 0, 1], [0, 1, 1, 0], [1, 0, 1, 0]])
    sampler = independence_sampler(matrix, np.full(4, 5), rate=0.5, proposal_rate=0.5, dependent=[0, 1, 2])
    assert sampler.divisor == 2
    states = sampler.path(np.random.default_rng(0), 2000, 2).states
    assert not (matrix @ states.T).any() and len(np.unique(states[:, 3])) > 3


def test_dependent_cells_must_be_determined():
    with pytest.raises(BadInput, match="do not determine them"):
        independence_sampler(KEPT, SEX_BY_AGE, rate=0.5, proposal_rate=0.6, dependent=[0, 1, 45])


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("law", ["l1", "l2", "gaussian"])
def test_metropolis_has_the_law(law, joint):
    """2 x 2 margins: one coordinate, cells +-k."""
    sampler = metropolis_sampler(margins(2, 2), law=law, rate=0.2, ratio=0.5, joint=joint)
    values = np.abs(sampler.path(np.random.default_rng(2), 20_000, 30).states[:, 0])
    line = np.arange(-60, 61)[:, None] * np.ones((1, 4), int)
    for factor, alike in ((1.0, True), (1.3, False)):
        chance = law_of(line, law, factor * 0.2)[60:] * np.where(np.arange(61) > 0, 2, 1)
        top = int((chance * len(values) > 20).sum())
        expected = np.append(chance[:top], chance[top:].sum()) * len(values)
        seen = np.bincount(np.minimum(values, top), minlength=top + 1)
        assert (chisquare(seen, expected).pvalue > 1e-6) == alike


def test_published_coupling_needs_thousands_of_iterations():
    """002, figure 1: about 10^4 iterations on the 4 x 4 table, a = e^-1, epsilon = 0.25."""
    sampler = metropolis_sampler(margins(4, 4), rate=0.25, ratio=math.exp(-1))
    beyond = sampler.meetings(np.random.default_rng(1), 60, 500, 200_000) - 500
    assert 3e3 < np.quantile(beyond, 0.98) < 3e4


def test_coupling_limits_are_explained():
    sampler = metropolis_sampler(margins(4, 4))
    with pytest.raises(NotProven, match="took over 12 iterations"):
        sampler.meetings(np.random.default_rng(1), 3, 10, 12)
    with pytest.raises(BadInput, match="joint jumps only"):
        metropolis_sampler(margins(2, 2), joint=False).meetings(np.random.default_rng(1), 3, 10, 12)
