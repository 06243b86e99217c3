"""R-hat and effective draws: near their known values for independent draws and for a slow chain."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from discreet.errors import BadInput, MissingExtra
from discreet.lattice.chains import chain_sampler
from discreet.lattice.diagnostics import effective_draws, mixing
from tests.lattice.fibres import margins


def test_independent_draws_count_fully():
    paths = np.random.default_rng(1).integers(-5, 6, size=(4, 2000, 3))
    found = mixing(paths)
    assert found.ess > 0.8 * 8000
    assert found.rhat < 1.01
    assert (found.chains, found.draws, found.grade) == (4, 2000, "diagnosed")


def test_a_slow_walk_counts_little_and_different_chains_are_noticed():
    rng = np.random.default_rng(2)
    walk = np.zeros((1, 20_000, 1))
    for t in range(1, walk.shape[1]):
        walk[0, t] = 0.9 * walk[0, t - 1] + rng.normal()
    assert effective_draws(walk) == pytest.approx(20_000 * 0.1 / 1.9, rel=0.4)  # (1-r)/(1+r), r = 0.9
    apart = rng.normal(size=(2, 500, 1)) + np.array([0, 4])[:, None, None]
    assert mixing(apart).rhat > 1.5


def test_line_moves_on_margins_mix_well():
    sampler = chain_sampler(margins(4, 4), epsilon=0.25)
    found = mixing(sampler.trace(1, 4000, chains=4, thin=3))
    assert found.rhat < 1.02
    assert found.ess > 1000


def test_bad_input_is_explained():
    with pytest.raises(BadInput, match="no cell ever moved"):
        mixing(np.zeros((2, 10, 3)))
    with pytest.raises(BadInput, match="shape"):
        mixing(np.zeros((10, 3)))


def test_without_arviz_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz_stats.base", None)
    with pytest.raises(MissingExtra, match=r"discreet\[diagnostics\]"):
        mixing(np.random.default_rng(1).integers(-5, 6, size=(4, 20, 3)))
