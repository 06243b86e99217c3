"""A picture of a value, by what it is: a release, an estimate, a plan, a design, and what else can be drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import BadInput, DiscreetError
from discreet.numbers import percent
from discreet.plot import FILL, INK, REPEATABLE, figure, heat_map, histogram, privacy_curve, save
from discreet.shown.terse import in_digits

MOST_COUNTS = 60  # bars side by side; beyond, a curve of the shares above
NEARLY_ALL = 0.99  # of the rows: the long flat tail is left out
FEW_POWERS = 1_000  # beyond, there is no room for numbers between powers of ten
MOST_POINTS = 25  # thresholds of a curve
PLAIN = "The picture shows {what}."


@dataclass(frozen=True, eq=False)
class Picture:
    """A drawing, and what it shows in words for those who do not see it."""

    figure: Any  # of matplotlib
    words: str

    def save(self, path: str | Path) -> None:
        """To a PNG, SVG or PDF file, whole or not at all."""
        save(self.figure, path)

    def svg(self) -> str:
        from matplotlib import rc_context

        buffer = StringIO()
        with rc_context(REPEATABLE):
            self.figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        return buffer.getvalue()[buffer.getvalue().index("<svg") :]

    def __repr__(self) -> str:
        return f"<Picture: {self.words}>"

    def _repr_html_(self) -> str:
        return f'<div role="img" aria-label="{escape(self.words)}">{self.svg()}</div>'


def picture_of(value: Any, path: str | Path | None = None) -> Picture:
    """The picture of a value, and written to a file where one is named."""
    kinds = [kind.__name__ for kind in type(value).__mro__ if kind.__name__ in DRAWN]
    if not kinds:
        known = "a Release, Estimate, Plan, Design, Choices, Comparison, Certificate or Evaluation"
        raise BadInput("a picture was asked for", f"a {type(value).__name__} has none", f"Give {known}")
    made = DRAWN[kinds[0]](value)
    if path is not None:
        made.save(path)
    return made


def release(value: Any) -> Picture:
    """How many rows have each published count."""
    schema, counts = value.record.schema, np.asarray(value.counts)
    title = f"{schema.count}: published counts of {schema.rows:,} rows"
    drawing, axes = figure(1, 1, width=6.4, height=3)
    if counts.max(initial=0) - counts.min(initial=0) < MOST_COUNTS:
        values, rows = np.unique(counts, return_counts=True)
        axes[0, 0].bar(values, rows, color=FILL, edgecolor=INK, linewidth=0.6)
        axes[0, 0].set_ylabel("rows")
        shown = "how many rows have each published count"
    else:
        ordered = np.sort(counts)
        shares = 100 * (1 - np.arange(1, len(ordered) + 1) / len(ordered))
        axes[0, 0].step(ordered, shares, where="post", color=INK)
        _wide_range(axes[0, 0], int(ordered[0]), int(ordered[-1]))
        axes[0, 0].set_ylabel("rows above it, %")
        shown = "the share of rows whose published count is above each count"
    _plain(axes[0, 0], title, schema.count)
    return Picture(drawing, PLAIN.format(what=f"{shown}; the middle row has {float(np.median(counts)):g}"))


def plan(value: Any) -> Picture:
    """The errors to expect, shape by shape; and of every question, where there are any."""
    drawing, axes = figure(1, 1 + bool(value.questions and value.expected), width=4.6, height=3)
    panels = list(axes[0])
    if value.expected:
        ax, place = panels.pop(0), np.arange(len(value.expected))
        for shift, name, colour in ((-0.2, "count_error", INK), (0.2, "distribution_error", FILL)):
            heights = [getattr(one, name) for one in value.expected]
            bars = ax.bar(place + shift, heights, 0.38, color=colour, label=f"of {LABELS[name]}")
            ax.bar_label(bars, fmt=lambda error: in_digits(error, 2), fontsize=7)
        ax.set_xticks(place, [one.shape for one in value.expected])
        ax.set_ylim(0, 1.25 * ax.get_ylim()[1])
        ax.legend(fontsize=8, frameon=False, ncols=2, loc="upper center")
        _plain(ax, f"errors to expect, {value.promise.loss}", "shape of the data")
        ax.set_ylabel("error")
    for ax in panels:
        names = [one.name for one in value.questions]
        ax.barh(names[::-1], [one.sd for one in value.questions][::-1], color=FILL, edgecolor=INK, linewidth=0.6)
        _plain(ax, "every answer", "standard deviation")
    said = "; ".join(f"{one.shape}: {one.count_error:g} and {one.distribution_error:g}" for one in value.expected)
    return Picture(drawing, PLAIN.format(what=f"the error of a count and of the distribution ({said})"))


LABELS = {"count_error": "a count", "distribution_error": "the distribution"}


def design(value: Any) -> Picture:
    """What is published for every true count, and how the errors are spread."""
    drawing, axes = figure(1, 2, width=4.6, height=3.2)
    name = value.mechanism.name
    heat_map(value.mechanism.matrix(), axes[0, 0], f"{name}, epsilon = {value.epsilon}")
    histogram(*_where_likely(*value.error_law()), axes[0, 1], "how errors are spread")
    axes[0, 1].set_ylabel("probability", labelpad=8)
    truth = float(1 - value.cost["wrong"])
    return Picture(drawing, PLAIN.format(what=f"{name}: the truth is published with a chance of {truth:.2f}"))


def _where_likely(errors: Any, law: Any) -> tuple[Any, Any]:
    """The errors that can be seen in a picture."""
    seen = np.flatnonzero(law >= law.max() / 500)
    part = slice(seen.min(), seen.max() + 1)
    return errors[part], law[part]


def estimate(value: Any) -> Picture:
    """The share of rows above each count, with intervals; where only sums are known, totals by the first key."""
    drawing, axes = figure(1, 1, width=6.4, height=3)
    ax = axes[0, 0]
    try:
        thresholds, answers = _shares(value)
    except (DiscreetError, AttributeError):
        found = value.total()
        ax.errorbar([found.estimate], [0], xerr=_arms([found]), color=INK, marker="o", capsize=4)
        ax.set_yticks([0], ["total"])
        _plain(ax, f"total, with a {percent(value.level)} interval", "count")
        return Picture(drawing, PLAIN.format(what=f"the total: {found}"))
    middle = [100 * one.estimate for one in answers]
    ends = [[100 * one.interval[side] for one in answers] for side in (0, 1)]
    ax.fill_between(thresholds, *ends, color=FILL, alpha=0.6, label=f"{percent(value.level)} interval, each")
    ax.plot(thresholds, middle, color=INK, marker="o", markersize=3, label="estimate")
    ax.set_ylim(0, None)
    ax.set_ylabel("rows above it, %")
    if thresholds[-1] > MOST_COUNTS:
        _wide_range(ax, 0, int(thresholds[-1]))
    ax.legend(fontsize=8, frameon=False)
    _plain(ax, "true counts, estimated", "count")
    return Picture(drawing, PLAIN.format(what=f"the share of rows above each count; above zero it is {answers[0]}"))


def _wide_range(ax: Any, least: int, largest: int) -> None:
    """Small counts at equal distances, larger ones by powers of ten; with numbers at 1, 2, 5 where there is room."""
    ax.set_xscale("symlog", linthresh=10)
    steps = (1, 2, 5) if max(largest, -least) < FEW_POWERS else (1,)
    wide = [step * 10**power for power in range(1, 19) for step in steps]
    places = [-one for one in reversed(wide) if one <= -least] + [0, 5] + [one for one in wide if one <= largest]
    ax.set_xticks(places, [f"{one:,}" for one in places], minor=False)
    ax.set_xticks([], minor=True)


def _shares(value: Any) -> tuple[list[int], list[Any]]:
    """Shares above thresholds that are spread over most of the rows."""
    shares = np.cumsum(value.distribution())
    last = max(2, int(np.searchsorted(shares, NEARLY_ALL)))
    thresholds = np.unique(np.round(np.concatenate([np.arange(6), np.geomspace(1, last, MOST_POINTS)])).astype(int))
    found = [(int(one), value.share_above(int(one))) for one in thresholds if one <= last]
    return [one for one, _ in found], [answer for _, answer in found]


def _arms(answers: list[Any]) -> list[list[float]]:
    low = [one.estimate - one.interval[0] for one in answers]
    return [low, [one.interval[1] - one.estimate for one in answers]]


def choices(value: Any) -> Picture:
    ends = f"from {value[0].count_error:g} at {value[0].epsilon} to {value[-1].count_error:g} at {value[-1].epsilon}"
    return Picture(value.drawing(), PLAIN.format(what=f"errors against epsilon: of a count {ends}"))


def comparison(value: Any) -> Picture:
    costs = "; ".join(f"{one.name} {one.cost['absolute']:.2f}" for one in value.mechanisms)
    return Picture(value.drawing(), PLAIN.format(what=f"every mechanism and its errors, on average {costs}"))


def certificate(value: Any) -> Picture:
    if value.curve is None:
        raise BadInput("a curve was to be drawn", "it was not worked out", "Ask certify for it with curve=True")
    return Picture(privacy_curve(value.curve.points), PLAIN.format(what="the least delta for every epsilon"))


def evaluation(value: Any) -> Picture:
    return Picture(value.drawing(), PLAIN.format(what="errors of every method against epsilon; private side"))


def _plain(ax: Any, title: str, label: str) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(title, fontsize=10)
    ax.set_xlabel(label)


DRAWN: dict[str, Callable[[Any], Picture]] = {
    "Release": release, "Plan": plan, "Design": design, "Estimate": estimate,
    "Choices": choices, "Comparison": comparison, "Certificate": certificate,
    "Evaluation": evaluation,
}  # fmt: skip
