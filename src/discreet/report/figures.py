"""Pictures of the report, as inline SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.report.errors import Errors

INK, FILL = "#1b3a4b", "#7fb7be"
SHOWN = 0.98  # of all rows: beyond, nothing can be seen
MOST_BARS = 200  # beyond, an outline: thousands of bars take minutes to draw and cannot be told apart
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)  # what matplotlib says of powers of ten is no comment of our grammar
MOST_POINTS = 1000  # of the outline: neighbouring counts are averaged


def distribution_svg(distribution: NDArray[np.float64] | None) -> str | None:
    """Share of rows by count; the long flat tail is left out."""
    if distribution is None:
        return None
    figure, axes = _figure()
    shown = max(12, int(np.searchsorted(np.cumsum(distribution), SHOWN)) + 2)
    shares = 100 * distribution[:shown]
    if len(shares) <= MOST_BARS:
        axes.bar(np.arange(len(shares)), shares, color=FILL, edgecolor=INK, linewidth=0.6)
    else:
        starts = np.arange(0, len(shares), -(-len(shares) // MOST_POINTS))
        means = np.add.reduceat(shares, starts) / np.diff(starts, append=len(shares))
        axes.fill_between(starts, means, step="post", color=FILL, edgecolor=INK, linewidth=0.6)
    axes.set_xlabel("count")
    axes.set_ylabel("share of rows, %")
    return _svg(figure)


def error_svg(errors: Errors | None) -> str | None:
    if errors is None or len(errors.counts) < 3:
        return None
    figure, axes = _figure()
    axes.plot(errors.counts, errors.absolute, color=INK, linewidth=1.6)
    axes.set_ylim(0, None)
    axes.set_xlabel("true count")
    axes.set_ylabel("expected error")
    return _svg(figure)


def curve_svg(points: Sequence[tuple[Any, Any]]) -> str:
    """delta by epsilon."""
    from discreet.plot import privacy_curve

    figure, axes = _figure()
    privacy_curve(points, axes)
    return COMMENT.sub("", _svg(figure))


def _figure() -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 2.7), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.01)
    return figure, axes


def _svg(figure: Any) -> str:
    """The picture without a date in it, so that equal releases give equal pages."""
    from matplotlib import rc_context

    from discreet.plot import REPEATABLE

    buffer = io.StringIO()
    with rc_context(REPEATABLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = buffer.getvalue()
    return text[text.index("<svg") :]
