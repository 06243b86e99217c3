"""A release that measured margins: every sum of rows has a best unbiased estimate and an exact standard deviation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.estimate.answers import Answer, SumsOnly, groups_by, require_columns
from discreet.levels.design import Question
from discreet.levels.intervals import half_width_of_sum, half_widths
from discreet.levels.layout import Layout

if TYPE_CHECKING:
    from discreet.levels.combine import Combined
    from discreet.levels.regress import RaggedCombined
    from discreet.ways.measure.follow import Heard


@dataclass(frozen=True, eq=False)
class MeasuredEstimate(SumsOnly):
    """Answers from all measurements together; what is kept has no error at all."""

    why_only: ClassVar[str] = "the release measures sums, and its estimates are of sums"

    layout: Layout
    counts: Integers  # the published ones
    told: Heard | None  # what was measured, where it is published
    level: float = 0.95

    @cached_property
    def combined(self) -> Combined | RaggedCombined:
        if self.told is None:
            found = "the measurements are not published beside the table"
            raise BadInput("an estimate was asked for", found, "Use the file of answers, or release with measurements")
        return self.told.combined()

    def total(self) -> Answer:
        """The sum of the true counts."""
        return self._entries(Question(0))[0]

    def mean(self) -> Answer:
        """The mean true count."""
        total, rows = self.total(), len(self.counts)
        low, high = total.interval
        return Answer(total.estimate / rows, (low / rows, high / rows), self.level, total.exact)

    def by(self, *columns: str) -> dict[Any, Answer]:
        """The total of each group of rows that share values of one key column, or of several."""
        require_columns(columns, (*self.layout.levels, *self.layout.attributes))
        from discreet.lattice.invariants import margin

        question = self.layout.question(margin(*columns))
        keys = self.layout.frame(question)
        return dict(zip(groups_by(keys, columns), self._entries(question)))

    def region(self, weights: ArrayLike) -> Answer:
        """A weighted sum of the true counts, row by row in the order of the table: 1 and 0 for some rows, or also -1
        for the difference of two groups."""
        variance, rows, design = self._variance(weights), np.asarray(weights, dtype=float), self.layout.design
        value = float(design.in_rows(self.combined.estimate(design.cells)) @ rows)
        assert self.told is not None
        width = half_width_of_sum(self.combined, self.told.noise, design.in_cells(rows), self.level)
        return Answer(value, (value - width, value + width), self.level, variance == 0)

    def _variance(self, weights: ArrayLike) -> float:
        try:
            rows = np.asarray(weights, dtype=float)
        except (TypeError, ValueError):
            rows = np.empty(0)
        if rows.shape != (len(self.counts),) or not np.isfinite(rows).all():
            found = f"it is not one number for each of the {len(self.counts)} rows"
            raise BadInput("a sum over some rows was asked for", found, "Give 1 for rows that count, 0 for others")
        variance = self.combined.of_sum(self.layout.design.in_cells(rows))
        if not np.isfinite(variance):
            found = "what was measured does not tell it"
            raise BadInput("a sum over some rows was asked for", found, "Ask for a margin that was measured")
        return variance

    def deviation(self, weights: ArrayLike) -> float:
        """The standard deviation of `region`."""
        return math.sqrt(self._variance(weights))

    def rows(self) -> Any:
        """For every row: the keys, the best unbiased estimate of its count, and an interval."""
        answers = self._entries(self.layout.design.cells)
        order = self.layout.design.in_rows(np.arange(len(answers)))
        frame = self.layout.categories
        for name, values in (
            ("estimate", [answers[i].estimate for i in order]),
            ("low", [answers[i].interval[0] for i in order]),
            ("high", [answers[i].interval[1] for i in order]),
        ):
            frame = frame.append_column(name, [values])
        return frame

    def _entries(self, question: Question) -> list[Answer]:
        """Estimate and interval of every entry."""
        combined = self.combined
        if not combined.known(question):
            name = self.layout.name(question)
            raise BadInput(f"{name} was asked for", "what was measured does not tell it", "Ask for a coarser one")
        assert self.told is not None
        width = half_widths(combined, self.told.noise, question, self.level)
        widths: Floats = self.layout.design.by_entry(width, question)
        values = combined.estimate(question).ravel()
        ends = zip(values.tolist(), (values - widths).tolist(), (values + widths).tolist(), (widths == 0).tolist())
        return [Answer(value, (low, high), self.level, exact) for value, low, high, exact in ends]
