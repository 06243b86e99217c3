"""The gallery: every picture can be drawn on axes one has, and told apart without colour."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import plot

DRAWN = {
    "lines": lambda ax: plot.lines([1, 2, 3], {"a": [1, 2, 3], "b": ([3, 2, 1], [0.1, 0.1, 0.1])}, ax),
    "error against epsilon": lambda ax: plot.error_against_epsilon([0.1, 1], {"a": [1, 0.1]}, ax),
    "before and after": lambda ax: plot.before_after([5, 3, 1], [4, 4, 1], ax),
    "frontier": lambda ax: plot.frontier({"a": [(1, 0.5), (0.5, 0.7)]}, ax),
    "noise by cell": lambda ax: plot.noise_by_cell(np.eye(4) - 0.25, ax, marked={"one": [1, 0, 0, -1]}),
    "heat map": lambda ax: plot.heat_map(np.eye(3), ax),
    "histogram": lambda ax: plot.histogram([-1, 0, 1], [0.2, 0.6, 0.2], ax),
}


@pytest.mark.parametrize("name", DRAWN)
def test_draws_on_given_axes(name, tmp_path):
    drawing, axes = plot.figure()
    assert DRAWN[name](axes[0, 0]) is drawing
    assert axes[0, 0].has_data() and axes[0, 0].get_xlabel() is not None
    plot.save(drawing, tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text().startswith("<?xml")


def test_styles_differ_in_dash_and_in_marker():
    assert len({str(dash) for _, dash, _ in plot.STYLES}) == len(plot.STYLES)
    assert len({marker for _, _, marker in plot.STYLES}) == len(plot.STYLES)


def test_before_and_after_shows_shares():
    _, axes = plot.figure()
    plot.before_after([5, 3, 2], [40, 40, 20], axes[0, 0])
    assert [bar.get_height() for bar in axes[0, 0].patches[:3]] == pytest.approx([0.5, 0.3, 0.2])
