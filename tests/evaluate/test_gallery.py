"""The gallery: every picture can be drawn on axes one has, and told apart without colour."""

from __future__ import annotations

from itertools import pairwise

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


@pytest.mark.parametrize("most", [4, 40, 4_000])
def test_numbers_beside_an_axis_do_not_run_into_each_other(most: float) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    drawing, axes = plot.figure(1, 3, 3.8, 2.8)
    plot.frontier({"one": [(0.3, 0.1), (2, 1)], "other": [(0.7, 0.2), (most, most)]}, axes[0, 2])
    canvas = FigureCanvasAgg(drawing)
    canvas.draw()
    for axis, across in ((axes[0, 2].xaxis, True), (axes[0, 2].yaxis, False)):
        texts = [one for one in axis.get_ticklabels(which="both") if one.get_text()]
        boxes = [one.get_window_extent(canvas.get_renderer()) for one in texts]
        ends = sorted((one.x0, one.x1) if across else (one.y0, one.y1) for one in boxes)
        assert len(ends) >= 2 and all(one[1] < other[0] for one, other in pairwise(ends))
        assert {text.get_text() for text in texts} & {"1", "10", "100"}, "as people write numbers"
