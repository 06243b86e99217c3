"""A small picture as SVG: two axes, what stands between them, and the same in words. It loads nothing and runs nothing.

Ours, because a page is drawn once when a release is saved and once more by everybody who verifies it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from discreet.arrays import Floats

INK, FILL = "#1b3a4b", "#7fb7be"
WIDTH, HEIGHT = 640, 270  # of the picture: points that a browser makes as wide as the page
TOP, BOTTOM = 10, 46  # left free; below for the numbers and the name of the axis
LETTER = 7.2  # points that a digit takes, at most, in letters of twelve
NAMED = 30  # points beside the numbers, for the name of an axis that runs upwards
MOST_TICKS = 8  # on an axis; twice as many cannot be read
NICE = (1, 2, 5, 10)  # steps between ticks, times a power of ten
ROOM = 0.05  # above what is largest


@dataclass(frozen=True)
class Axis:
    """From where to where an axis goes, what is written along it, and what it is called."""

    name: str
    low: float
    high: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def parts(self, values: Iterable[float]) -> Floats:
        """How far along the axis values are, from 0 to 1."""
        found = np.asarray(values, dtype=float)
        if self.logarithmic:
            found, low, high = np.log10(found), math.log10(self.low), math.log10(self.high)
        else:
            low, high = self.low, self.high
        return np.asarray((found - low) / (high - low), dtype=float)


def axis(name: str, low: float, high: float, *, whole: bool = False) -> Axis:
    """With round numbers along it, whole ones where nothing else occurs."""
    span = max(high - low, 1e-9)
    rough = span / MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * nice for nice in NICE if power * nice >= rough)
    if whole:
        step = max(1.0, step)
    ticks = np.arange(math.ceil(low / step), math.floor((low + span) / step) + 1) * step
    return Axis(name, low, low + span, tuple(ticks.tolist()))


def logarithmic_axis(name: str, low: float, high: float) -> Axis:
    """From a power of ten to another."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    step = -((first - last) // MOST_TICKS)
    return Axis(name, 10.0**first, 10.0**last, tuple(10.0**k for k in range(first, last + 1, step)), logarithmic=True)


@dataclass(frozen=True)
class Frame:
    """Two axes, and where they are in the picture."""

    across: Axis
    upwards: Axis

    @property
    def left(self) -> float:
        return NAMED + LETTER * max((len(_number(tick)) for tick in self.upwards.ticks), default=0)

    @property
    def right(self) -> float:
        """So that half of the last number finds room beyond it."""
        return WIDTH - LETTER * max((len(_number(tick)) for tick in self.across.ticks), default=0) / 2 - 6

    def xs(self, values: Iterable[float]) -> Floats:
        return self.left + self.across.parts(values) * (self.right - self.left)

    def ys(self, values: Iterable[float]) -> Floats:
        return (HEIGHT - BOTTOM) - self.upwards.parts(values) * (HEIGHT - BOTTOM - TOP)


Marks = Callable[[Frame], str]


def bars(heights: Floats) -> Marks:
    """A bar for every whole number from zero."""

    def drawn(frame: Frame) -> str:
        places = np.arange(len(heights))
        ends = zip(frame.xs(places - 0.4), frame.xs(places + 0.4), frame.ys(heights))
        floor = HEIGHT - BOTTOM
        path = "".join(f"M{a:.2f} {floor}V{y:.2f}H{b:.2f}V{floor}z" for a, b, y in ends)
        return _path(path, f"fill:{FILL};stroke:{INK};stroke-width:.8")

    return drawn


def line(xs: Sequence[float] | Floats, ys: Sequence[float] | Floats, *, dots: bool = False) -> Marks:
    """From point to point."""

    def drawn(frame: Frame) -> str:
        points = [f"{x:.2f} {y:.2f}" for x, y in zip(frame.xs(xs), frame.ys(ys))]
        found = _path("M" + "L".join(points), f"fill:none;stroke:{INK};stroke-width:1.8") if points else ""
        return found + (_dots(points) if dots else "")

    return drawn


def dots(xs: Sequence[float] | Floats, ys: Sequence[float] | Floats) -> Marks:
    return lambda frame: _dots([f"{x:.2f} {y:.2f}" for x, y in zip(frame.xs(xs), frame.ys(ys))])


def steps(xs: Floats, ys: Floats) -> Marks:
    """A line that stays as high as it is until the next point."""
    return line(np.repeat(xs, 2)[1:], np.repeat(ys, 2)[:-1])


def drawing(frame: Frame, marks: Marks, said: str) -> str:
    """The picture, and its title in words for those who do not see it."""
    left, floor, right = frame.left, HEIGHT - BOTTOM, frame.right
    across = list(zip(frame.xs(frame.across.ticks), frame.across.ticks))
    upwards = list(zip(frame.ys(frame.upwards.ticks), frame.upwards.ticks))
    ruled = f"M{left:.2f} {TOP}V{floor}H{right:.2f}"
    ruled += "".join(f"M{x:.2f} {floor}v5" for x, _ in across) + "".join(f"M{left:.2f} {y:.2f}h-5" for y, _ in upwards)
    written = "".join(_text(x, floor + 18, _number(tick), "middle") for x, tick in across)
    written += "".join(_text(left - 8, y + 4, _number(tick), "end") for y, tick in upwards)
    written += _text((left + right) / 2, HEIGHT - 8, frame.across.name, "middle")
    written += _text(14, (TOP + floor) / 2, frame.upwards.name, "middle", turned=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">\n'
        f"<title>{escape(said)}</title>\n{marks(frame)}{_path(ruled, f'fill:none;stroke:{INK};stroke-width:1')}"
        f'<g style="font-family:sans-serif;font-size:12px;fill:{INK}">\n{written}</g>\n</svg>'
    )


def _number(value: float) -> str:
    return f"{value:,.10g}"


def _path(path: str, style: str) -> str:
    return f'<path d="{path}" style="{style}"/>\n'


def _dots(points: Sequence[str]) -> str:
    return _path("".join(f"M{point}h0" for point in points), f"stroke:{INK};stroke-width:5;stroke-linecap:round")


def _text(x: float, y: float, words: str, anchor: str, *, turned: bool = False) -> str:
    turn = f' transform="rotate(-90 {x:.2f} {y:.2f})"' if turned else ""
    return f'<text x="{x:.2f}" y="{y:.2f}" style="text-anchor:{anchor}"{turn}>{escape(words)}</text>\n'
