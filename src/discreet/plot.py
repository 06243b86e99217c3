"""Pictures: one style for all, readable in grey and by colour-blind readers; nothing is drawn to a screen.

`dc.plot(value)` is the picture of a release, an estimate, a plan or a design; the functions here draw parts of one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import BadInput

if TYPE_CHECKING:
    from discreet.io.areas import Area
    from discreet.shown.pictures import Picture

INK, FILL = "#1b3a4b", "#7fb7be"
REPEATABLE = {"svg.hashsalt": "discreet"}  # the same figure gives the same file
WIDE = 5  # times as large: below that a logarithmic axis has labels that collide, and shows nothing more
ROOM_FOR_FIVES = 100  # from the first to the last of an axis: beyond, there is room for powers of ten
SUFFIXES = (".png", ".svg", ".pdf")
STYLES = (  # apart in lightness, dash and marker, so that any one of them is enough
    ("#000000", "-", "o"),
    ("#0072b2", "--", "s"),
    ("#d55e00", "-.", "^"),
    ("#009e73", ":", "D"),
    ("#a0568c", (0, (5, 1)), "v"),
    ("#8c7800", (0, (1, 1)), "P"),
    ("#4f9ec4", (0, (3, 1, 1, 1)), "X"),
    ("#777777", (0, (8, 2)), "*"),
)


def figure(rows: int = 1, columns: int = 1, width: float = 4.0, height: float = 3.2) -> tuple[Any, Any]:
    """A figure and its array of axes, each `width` by `height` inches."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    above = ConstrainedLayoutEngine(h_pad=0.08)  # inches: titles of two lines need them
    drawing = Figure(figsize=(columns * width, rows * height), layout=above)
    return drawing, drawing.subplots(rows, columns, squeeze=False)


def heat_map(matrix: ArrayLike, ax: Any = None, title: str = "", largest: float | None = None, bar: bool = True) -> Any:
    """T[input, output] as a picture: inputs run to the right, outputs upwards. The figure it is in."""
    from matplotlib.colors import PowerNorm

    drawing, axes = (ax.figure, ax) if ax is not None else _single()
    picture = axes.imshow(
        np.asarray(matrix, dtype=float).T,
        origin="lower",
        cmap="cividis",
        norm=PowerNorm(0.5, 0, largest),  # small chances are seen beside large ones
        aspect="equal",
        interpolation="nearest",
    )
    axes.set_xlabel("true count")
    axes.set_ylabel("published count")
    axes.set_title(title, fontsize=10)
    if bar:
        drawing.colorbar(picture, ax=axes, shrink=0.8).set_label("probability")
    _whole_ticks(axes)
    return drawing


def colour_bar(drawing: Any, axes: Sequence[Any]) -> None:
    """One for all heat maps of a row, which have one scale."""
    drawing.colorbar(axes[0].images[0], ax=list(axes), shrink=0.9, pad=0.01).set_label("probability")


def histogram(values: ArrayLike, heights: ArrayLike, ax: Any = None, title: str = "", label: str = "error") -> Any:
    """Bars over whole numbers. The figure they are in."""
    drawing, axes = (ax.figure, ax) if ax is not None else _single()
    axes.bar(np.asarray(values), np.asarray(heights, dtype=float), color=FILL, edgecolor=INK, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(label)
    axes.set_ylabel("probability")
    axes.set_title(title, fontsize=10)
    _whole_ticks(axes)
    return drawing


def lines(
    across: ArrayLike,
    series: Mapping[str, Any],
    ax: Any = None,
    title: str = "",
    labels: tuple[str, str] = ("", ""),
    log: str = "",
) -> Any:
    """A line for each name, over the same points; a pair (values, margins) gets error bars. `log` names axes: 'xy'."""
    drawing, axes = (ax.figure, ax) if ax is not None else _single()
    for number, (name, values) in enumerate(series.items()):
        heights, margins = values if isinstance(values, tuple) else (values, None)
        every = max(1, len(np.asarray(heights)) // 12)
        axes.errorbar(
            np.asarray(across)[: len(np.asarray(heights))],
            np.asarray(heights, dtype=float),
            yerr=margins,
            label=name,
            markevery=every,
            capsize=2,
            **line_style(number, len(series)),
        )
    _labelled(axes, title, labels, log)
    axes.legend(fontsize=7, framealpha=0.6, edgecolor="none")
    return drawing


def line_style(number: int, of: int) -> dict[str, object]:
    """The style of one line of several: earlier ones are wider, so that they show under later ones that cover them;
    beyond the styles there are, markers are hollow."""
    colour, dash, marker = STYLES[number % len(STYLES)]
    width = 1.1 + 1.8 * (of - 1 - number) / max(of - 1, 7)
    style: dict[str, object] = {
        "color": colour,
        "linestyle": dash,
        "marker": marker,
        "markersize": 2.5 + 1.5 * width,
        "linewidth": width,
    }
    return style if number < len(STYLES) else {**style, "markerfacecolor": "white", "markersize": 6}


def legend_below(drawing: Any, columns: int = 4) -> Any:
    """One legend for all panels, under them, where it hides nothing."""
    for ax in drawing.axes:
        if ax.get_legend() is not None:
            ax.get_legend().remove()
    found = {name: line for ax in drawing.axes for line, name in zip(*ax.get_legend_handles_labels())}
    drawing.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns, fontsize=7, frameon=False)
    return drawing


def error_against_epsilon(epsilons: ArrayLike, errors: Mapping[str, Any], ax: Any = None, title: str = "") -> Any:
    """Error curves of several methods; both axes logarithmic."""
    return lines(epsilons, errors, ax, title, ("epsilon", "error"), "xy")


def privacy_curve(points: Sequence[tuple[Any, Any]], ax: Any = None, title: str = "") -> Any:
    """delta by epsilon; logarithmic, so a delta of zero is not on it."""
    drawing, axes = (ax.figure, ax) if ax is not None else _single()
    above = [(float(epsilon), float(delta)) for epsilon, delta in points if delta > 0]
    axes.plot(*zip(*above) if above else ([], []), color=INK, marker="o", markersize=3, linewidth=1.3)
    _labelled(axes, title, ("epsilon", "least delta"), "y" if above else "")
    return drawing


def before_after(before: ArrayLike, after: ArrayLike, ax: Any = None, title: str = "") -> Any:
    """The distribution of counts before (bars) and after (steps) a release; histograms or distributions."""
    drawing, axes = (ax.figure, ax) if ax is not None else _single()
    one, other = (np.asarray(values, dtype=float) for values in (before, after))
    axes.bar(np.arange(len(one)), one / one.sum(), width=0.9, color=FILL, label="before")
    ends = np.arange(len(other) + 1) - 0.5
    axes.stairs(other / other.sum(), ends, color=INK, linewidth=1.4, label="after")
    _labelled(axes, title, ("count", "share of rows"))
    axes.legend(fontsize=8, frameon=False)
    _whole_ticks(axes)
    return drawing


def frontier(points: Mapping[str, Any], ax: Any = None, title: str = "") -> Any:
    """Count error against distribution error: each method is a path of (count error, distribution error)."""
    drawing, axes = (ax.figure, ax) if ax is not None else _single()
    for number, (name, path) in enumerate(points.items()):
        errors = np.asarray(path, dtype=float).reshape(-1, 2)
        axes.plot(errors[:, 0], errors[:, 1], label=name, **line_style(number, len(points)))
    _labelled(axes, title, ("error of a count", "error of the distribution"), "xy")
    axes.legend(fontsize=7, framealpha=0.6, edgecolor="none")
    return drawing


def noise_by_cell(
    draws: ArrayLike, ax: Any = None, title: str = "", marked: Mapping[str, ArrayLike] | None = None
) -> Any:
    """A box for every cell over many draws (one a row); `marked` adds single noise vectors by name."""
    drawing, axes = (ax.figure, ax) if ax is not None else _single()
    noise = np.asarray(draws, dtype=float)
    places = np.arange(noise.shape[1])
    axes.boxplot(
        noise,
        positions=places,
        widths=0.6,
        manage_ticks=False,
        boxprops={"color": INK, "linewidth": 0.7},
        whiskerprops={"color": INK, "linewidth": 0.7},
        capprops={"color": INK, "linewidth": 0.7},
        medianprops={"color": INK, "linewidth": 1.2},
        flierprops={"marker": ".", "markersize": 1.5, "markerfacecolor": FILL, "markeredgecolor": FILL},
    )
    for number, (name, values) in enumerate((marked or {}).items()):
        colour, _, marker = STYLES[1 + number % (len(STYLES) - 1)]
        axes.plot(places, np.asarray(values), linestyle="", marker=marker, markersize=3, color=colour, label=name)
    axes.axhline(0, color="#999999", linewidth=0.6)
    _labelled(axes, title, ("cell", "noise"))
    if marked:
        axes.legend(fontsize=7, frameon=False, loc="upper right")
    _whole_ticks(axes)
    return drawing


def bias_by_size(counts: ArrayLike, draws: ArrayLike, ax: Any = None, title: str = "", groups: int = 12) -> Any:
    """The mean noise of cells of about the same count, over draws (one a row), with two standard errors.

    This shows secret counts: it belongs on the private side.
    """
    drawing, axes = (ax.figure, ax) if ax is not None else _single()
    sizes, noise = np.asarray(counts, dtype=float), np.atleast_2d(np.asarray(draws, dtype=float))
    order = np.argsort(sizes, kind="stable")
    members = np.array_split(order, min(groups, len(order)))
    middle = [sizes[cells].mean() for cells in members]
    by_draw = np.array([noise[:, cells].mean(axis=1) for cells in members])
    error = 2 * by_draw.std(axis=1) / np.sqrt(noise.shape[0])
    axes.errorbar(middle, by_draw.mean(axis=1), error, color=INK, marker="o", markersize=3, linewidth=0.9, capsize=2)
    axes.axhline(0, color="#999999", linewidth=0.6)
    _labelled(axes, title, ("count", "mean noise"))
    if sizes.max(initial=0) > 1000:
        axes.set_xscale("symlog")
    return drawing


def with_error_bars(
    names: Sequence[str], values: ArrayLike, low: ArrayLike, high: ArrayLike, ax: Any = None, title: str = "",
    most: int = 40, about: str = "interval",
) -> Any:  # fmt: skip
    """Estimates with their intervals, the first ones at the top; of very many the largest. Those without an upper end
    go as far as any, and have an arrow. The figure they are in."""
    value, least, largest = (np.asarray(part, dtype=float) for part in (values, low, high))
    shown = np.arange(len(value)) if len(value) <= most else np.sort(np.argsort(-value, kind="stable")[:most])
    drawing, axes = (ax.figure, ax) if ax is not None else figure(height=max(1.6, 0.6 + 0.22 * len(shown)))
    axes = axes if ax is not None else axes[0][0]
    value, least, largest, places = value[shown], least[shown], largest[shown], np.arange(len(shown))[::-1]
    endless = ~np.isfinite(largest)
    farthest = float(np.concatenate([value, largest[~endless]]).max()) if len(value) else 0.0
    ends = np.where(endless, farthest + 0.1 * (farthest - least.min(initial=farthest)), largest)
    reach = np.maximum([value - least, ends - value], 0.0)
    axes.errorbar(value, places, xerr=reach, fmt="o", markersize=4, color=INK, ecolor=INK, capsize=2)
    axes.plot(ends[endless], places[endless], ">", markersize=5, color=INK)
    axes.set_yticks(places, [names[k] for k in shown], fontsize=8)
    axes.set_ylim(-0.6, len(shown) - 0.4)  # none on the frame
    left_out = "" if len(shown) == len(names) else f"the largest {len(shown)} of {len(names)}"
    axes.set_title(" - ".join(part for part in (title, left_out) if part), fontsize=10)
    axes.set_xlabel(f"estimate, with its {about}")
    axes.grid(axis="x", alpha=0.3)
    return drawing


def choropleth(
    areas: Sequence[Area], values: ArrayLike, low: ArrayLike, high: ArrayLike, ax: Any = None, title: str = "",
    about: str = "",
) -> Any:  # fmt: skip
    """A map: areas by their estimates, hatched where the interval is wider than the estimate. The figure it is in."""
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path as Outline

    value, width = np.asarray(values, dtype=float), np.asarray(high, dtype=float) - np.asarray(low, dtype=float)
    drawing, axes = (ax.figure, ax) if ax is not None else _single()
    for hatch, chosen in (
        (None, [one for one in areas if one.place is not None and width[one.place] <= abs(value[one.place])]),
        ("////", [one for one in areas if one.place is not None and width[one.place] > abs(value[one.place])]),
    ):
        paths = [Outline.make_compound_path(*(Outline(ring, closed=True) for ring in one.rings)) for one in chosen]
        some = PathCollection(paths, cmap="cividis", edgecolors="white", linewidths=0.4, hatch=hatch)
        some.set_array(np.array([value[one.place] for one in chosen if one.place is not None]))
        some.set_clim(float(value.min()), float(value.max()))
        axes.add_collection(some)
    empty = [Outline.make_compound_path(*(Outline(ring, closed=True) for ring in one.rings)) for one in areas
             if one.place is None and one.rings]  # fmt: skip
    axes.add_collection(PathCollection(empty, facecolors="none", edgecolors="#999999", linewidths=0.4))
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(title or "hatched: the interval\nis wider than the estimate", fontsize=10)
    bar = drawing.colorbar(axes.collections[0], ax=axes, shrink=0.8)
    bar.set_label(f"estimate{about}")
    return drawing


def check_suffix(path: str | Path) -> Path:
    """Refuse a file that could not be drawn to, before any work is done."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise BadInput(f"a picture was to be drawn to {target}", f"the name must end in {', '.join(SUFFIXES)}")
    if not target.parent.is_dir():
        raise BadInput(f"a picture was to be drawn to {target}", f"there is no folder {target.parent}")
    return target


def save(drawing: Any, path: str | Path, dots: int = 160) -> None:
    """Write the figure, whole or not at all; the suffix names the format, `dots` an inch its fineness."""
    from matplotlib import rc_context

    target = check_suffix(path)
    kind = target.suffix.lower()[1:]
    part = target.with_name(target.name + ".part")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    try:
        with rc_context(REPEATABLE):
            drawing.savefig(part, format=kind, dpi=dots, metadata=metadata)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput(f"a picture was to be drawn to {target}", error.strerror or str(error)) from error


def _single() -> tuple[Any, Any]:
    drawing, axes = figure()
    return drawing, axes[0, 0]


def _labelled(axes: Any, title: str, labels: tuple[str, str], log: str = "") -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_title(title, fontsize=10)
    ends = axes.dataLim
    if "x" in log and ends.x1 >= WIDE * ends.x0:
        axes.set_xscale("log")
        _log_ticks(axes.xaxis, ends.x1 < ROOM_FOR_FIVES * ends.x0)
    if "y" in log and ends.y1 >= WIDE * ends.y0:
        axes.set_yscale("log")
        _log_ticks(axes.yaxis, ends.y1 < ROOM_FOR_FIVES * ends.y0)


def _log_ticks(axis: Any, has_room: bool) -> None:
    """Numbers as people write them, at 1, 2 and 5 where there is room, and none between."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if has_room else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _whole_ticks(axes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis) if axes.images else (axes.xaxis,):
        axis.set_major_locator(MaxNLocator(integer=True, nbins=6))


class Plot(ModuleType):
    """This module, which is called as a function, too."""

    def __call__(self, value: Any, path: str | Path | None = None) -> Picture:
        """The picture of a value: a Release, Estimate, Plan, Design, Choices, Comparison, Certificate or Evaluation.

        A notebook shows it; `path` writes it to a PNG, SVG or PDF file, too.
        """
        from discreet.shown.pictures import picture_of

        return picture_of(value, path)


sys.modules[__name__].__class__ = Plot
