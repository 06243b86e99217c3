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
MOST_BARS = 120  # beyond, the cumulative curve: thousands of bars take minutes to draw and cannot be told apart
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)  # what matplotlib says of powers of ten is no comment of our grammar
MOST_POINTS = 500  # of the cumulative curve
MOST_DOTS = 80  # beyond, they run together, and a line is drawn


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
        places = np.unique(np.linspace(0, len(shares) - 1, MOST_POINTS).round().astype(int))
        axes.step(places, np.cumsum(shares)[places], where="post", color=INK, linewidth=1.4)
    several = len(shares) > MOST_BARS
    axes.set_xlabel("count")
    axes.set_ylabel("share of rows up to it, %" if several else "share of rows, %")
    middle = int(np.searchsorted(np.cumsum(distribution), 0.5))
    said = (
        f"Share of rows by count. Rows with 0: {100 * distribution[0]:.3g}%. Half of the rows have {middle:,} or less."
    )
    return _svg(figure, said)


def error_svg(errors: Errors | None) -> str | None:
    if errors is None or len(errors.counts) < 3:
        return None
    figure, axes = _figure()
    points = {"marker": "o", "markersize": 4, "linestyle": "none"} if len(errors.counts) <= MOST_DOTS else {}
    axes.plot(errors.counts, errors.absolute, color=INK, **points)
    axes.set_ylim(0, None)
    axes.set_xlabel("true count")
    axes.set_ylabel("expected error, in counts")
    low, high = errors.absolute.min(), errors.absolute.max()
    said = f"Expected error by true count, from 0 to {errors.counts[-1]:,.0f}: between {low:.2g} and {high:.2g}."
    return _svg(figure, said)


def curve_svg(points: Sequence[tuple[Any, Any]]) -> str:
    """delta by epsilon."""
    from discreet.plot import privacy_curve

    figure, axes = _figure()
    privacy_curve(points, axes)
    return COMMENT.sub("", _svg(figure, "delta by epsilon"))


def _figure() -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 2.7), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.01)
    return figure, axes


def _svg(figure: Any, said: str) -> str:
    """The picture without a date in it, so that equal releases give equal pages; and in words."""
    from matplotlib import rc_context

    from discreet.plot import REPEATABLE

    buffer = io.StringIO()
    with rc_context(REPEATABLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = buffer.getvalue()
    start = text.index(">", text.index("<svg"))
    return f'{text[text.index("<svg") : start]} role="img">\n <title>{said}</title>{text[start + 1 :]}'
