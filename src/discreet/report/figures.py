"""Pictures of the report, as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.numbers import few_digits
from discreet.report.drawing import ROOM, Frame, axis, bars, dots, drawing, line, logarithmic_axis, steps
from discreet.report.errors import Errors

SHOWN = 0.98  # of all rows: beyond, nothing can be seen
MOST_BARS = 120  # beyond, the cumulative curve: thousands of bars cannot be told apart
MOST_POINTS = 500  # of the cumulative curve
MOST_DOTS = 80  # beyond, they run together, and a line is drawn


def is_cumulative(distribution: NDArray[np.float64] | None) -> bool:
    """Whether shares of rows up to each count are drawn: there are too many counts for bars."""
    return distribution is not None and _length(distribution) > MOST_BARS


def _length(distribution: NDArray[np.float64]) -> int:
    return min(len(distribution), max(12, int(np.searchsorted(np.cumsum(distribution), SHOWN)) + 2))


def distribution_svg(distribution: NDArray[np.float64] | None) -> str | None:
    """Share of rows by count; the long flat tail is left out."""
    if distribution is None:
        return None
    shares = 100 * distribution[: _length(distribution)]
    middle = int(np.searchsorted(np.cumsum(distribution), 0.5))
    said = (
        f"Share of rows by count. Rows with 0: {100 * distribution[0]:.3g}%. Half of the rows have {middle:,} or less."
    )
    across = axis("count", -0.6, len(shares) - 0.4, whole=True)
    if not is_cumulative(distribution):
        frame = Frame(across, axis("share of rows, %", 0, (1 + ROOM) * float(shares.max())))
        return drawing(frame, bars(shares), said)
    places = np.unique(np.linspace(0, len(shares) - 1, MOST_POINTS).round().astype(int))
    upto = np.cumsum(shares)[places]
    frame = Frame(across, axis("share of rows up to it, %", 0, (1 + ROOM) * float(upto.max())))
    return drawing(frame, steps(places, upto), said)


def error_svg(errors: Errors | None) -> str | None:
    if errors is None or len(errors.counts) < 3:
        return None
    last, largest = float(errors.counts[-1]), float(errors.absolute.max())
    frame = Frame(
        axis("true count", -0.02 * last, 1.01 * last, whole=True),
        axis("expected error, in counts", 0, (1 + ROOM) * largest),
    )
    apart = np.diff(errors.counts).max() > 1  # between, there are no rows, and no line would say anything
    marks = (dots if apart or len(errors.counts) <= MOST_DOTS else line)(errors.counts, errors.absolute)
    low, high = (few_digits(end, 2) for end in (errors.absolute.min(), largest))
    said = f"Expected error by true count, from 0 to {errors.counts[-1]:,.0f}: between {low} and {high}."
    return drawing(frame, marks, said)


def curve_svg(points: Sequence[tuple[Any, Any]]) -> str:
    """delta by epsilon; logarithmic, so a delta of zero is not on it."""
    above = [(float(epsilon), float(delta)) for epsilon, delta in points if delta > 0]
    xs, ys = zip(*above) if above else ((), ())
    upwards = logarithmic_axis("least delta", min(ys), max(ys)) if above else axis("least delta", 0, 1)
    frame = Frame(axis("epsilon", 0, 1.02 * max(xs, default=1.0)), upwards)
    return drawing(frame, line(xs, ys, dots=True), "delta by epsilon")
