"""The pictures of the documentation, drawn from the public example table with a seed: nothing here is private."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import discreet as dc
from discreet import plot

PICTURES = Path(__file__).resolve().parent / "pictures"
EPSILON, MAX_COUNT, SEED = "0.5", 50, 3


def distribution(folder: Path) -> None:
    """True, geometric and released histograms of the example table (a public table, so the truth may be shown)."""
    table = dc.example()
    true = table.histogram(MAX_COUNT)
    panels = [("the truth", true)]
    for title, options in (("geometric mechanism", {"mechanism": "geometric"}), ("discreet", {})):
        out = dc.release(table, epsilon=EPSILON, max_count=MAX_COUNT, seed=SEED, **options)
        panels.append((title, np.bincount(out.counts, minlength=MAX_COUNT + 1)))
    drawing, axes = plot.figure(1, 3, width=3.1, height=2.6)
    shown = 15
    for ax, (title, bins) in zip(axes[0], panels):
        ax.bar(np.arange(shown), bins[:shown], color=plot.FILL, edgecolor=plot.INK, linewidth=0.6)
        ax.step(np.arange(shown + 1) - 0.5, np.append(true[:shown], true[shown - 1]), where="post", color=plot.INK)
        ax.set_title(title, fontsize=11)
        ax.set_xlabel("murders in a county")
        ax.set_ylim(0, 1.05 * max(bins.max() for _, bins in panels))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel("counties")
    plot.save(drawing, folder / "distribution.svg")


def estimate(folder: Path) -> None:
    plot(dc.estimate(dc.release(dc.example(), epsilon=1, seed=SEED)), folder / "estimate.svg")


def gallery(folder: Path) -> None:
    """One picture of every kind, from the public example table."""
    table = dc.example()
    methods = ["transport", "geometric", "exponential", "staircase"]
    shown = {
        "choices": dc.choose(table),
        "plan": dc.plan(table, epsilon=1),
        "design": dc.design(10, "1/2", require=["fair"]),
        "compare": dc.compare(10, 1),
        "evaluate": dc.evaluate(table, methods, ["0.1", "0.3", "1", "3"], 5, max_count=MAX_COUNT, seed=SEED),
    }
    for name, value in shown.items():
        plot(value, folder / f"{name}.svg")


def draw_all(folder: Path) -> None:
    for draw in (distribution, estimate, gallery):
        draw(folder)


if __name__ == "__main__":
    draw_all(PICTURES)
