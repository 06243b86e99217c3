"""Pictures: one style for all, readable in grey and by colour-blind readers; nothing is drawn to a screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import BadInput

INK, FILL = "#1b3a4b", "#7fb7be"
SUFFIXES = (".png", ".svg", ".pdf")


def figure(rows: int = 1, columns: int = 1, width: float = 4.0, height: float = 3.2) -> tuple[Any, Any]:
    """A figure and its array of axes, each `width` by `height` inches."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(columns * width, rows * height), layout="constrained")
    return drawing, drawing.subplots(rows, columns, squeeze=False)


def heat_map(matrix: ArrayLike, ax: Any = None, title: str = "", largest: float | None = None) -> Any:
    """T[input, output] as a picture: inputs run to the right, outputs upwards. The figure it is in."""
    drawing, axes = (ax.figure, ax) if ax is not None else _single()
    picture = axes.imshow(
        np.asarray(matrix, dtype=float).T,
        origin="lower",
        cmap="cividis",
        vmin=0,
        vmax=largest,
        aspect="equal",
        interpolation="nearest",
    )
    axes.set_xlabel("true count")
    axes.set_ylabel("published count")
    axes.set_title(title, fontsize=10)
    bar = drawing.colorbar(picture, ax=axes, shrink=0.8)
    bar.set_label("probability")
    _whole_ticks(axes)
    return drawing


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


def check_suffix(path: str | Path) -> Path:
    """Refuse a file that could not be drawn to, before any work is done."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise BadInput(f"a picture was to be drawn to {target}", f"the name must end in {', '.join(SUFFIXES)}")
    if not target.parent.is_dir():
        raise BadInput(f"a picture was to be drawn to {target}", f"there is no folder {target.parent}")
    return target


def save(drawing: Any, path: str | Path) -> None:
    """Write the figure, whole or not at all; the suffix names the format."""
    target = check_suffix(path)
    kind = target.suffix.lower()[1:]
    part = target.with_name(target.name + ".part")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    try:
        drawing.savefig(part, format=kind, dpi=160, metadata=metadata)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BadInput(f"a picture was to be drawn to {target}", error.strerror or str(error)) from error


def _single() -> tuple[Any, Any]:
    drawing, axes = figure()
    return drawing, axes[0, 0]


def _whole_ticks(axes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis) if axes.images else (axes.xaxis,):
        axis.set_major_locator(MaxNLocator(integer=True, nbins=6))
