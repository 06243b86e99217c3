"""Side by side: error laws and pictures."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import plot
from discreet.compare import compare
from discreet.errors import BadInput


def test_error_laws_are_those_of_the_matrix_and_the_prior():
    prior = [0.5, 0.25, 0.15, 0.1]
    result = compare(3, 1, prior=prior)
    for compared in result.mechanisms:
        matrix = compared.design.mechanism.matrix()
        errors, law = compared.error_law()
        slow = {e: sum(prior[i] * matrix[i, i + e] for i in range(4) if 0 <= i + e < 4) for e in range(-3, 4)}
        assert dict(zip(errors.tolist(), law)) == pytest.approx(slow)
        assert law.sum() == pytest.approx(1)
        assert 1 - law[3] == pytest.approx(compared.cost["wrong"])
        assert np.abs(errors) @ law == pytest.approx(compared.cost["absolute"])


def test_figure_14_the_geometric_mechanism_errs_far_at_high_privacy():
    # eight people, p = 0.1, alpha = 0.91: a second peak at the output 8 (their figure 14)
    from math import comb

    prior = [comb(8, k) * 0.1**k * 0.9 ** (8 - k) for k in range(9)]
    laws = {c.name: dict(zip(*c.error_law())) for c in compare(8, alpha="0.91", prior=prior).mechanisms}
    geometric, honest = laws["geometric"], laws["weakly-honest"]
    assert geometric[8] + geometric[7] > 2 * (geometric[5] + geometric[4])
    assert honest[8] + honest[7] < honest[5] + honest[4]


def test_the_largest_comparison_solves_no_program():
    names = [compared.name for compared in compare(150, 1).mechanisms]
    assert "weakly-honest" not in names and "explicit-fair" in names


def test_pictures_are_labelled_and_formats_checked(tmp_path):
    drawing = plot.heat_map(np.eye(3), title="truth")
    axes = drawing.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("true count", "published count", "truth")
    for suffix in plot.SUFFIXES:
        plot.save(drawing, tmp_path / f"picture{suffix}")
    assert len(list(tmp_path.iterdir())) == len(plot.SUFFIXES)
    with pytest.raises(BadInput, match="must end in"):
        plot.save(drawing, tmp_path / "picture.gif")
