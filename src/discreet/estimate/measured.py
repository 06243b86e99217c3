"""A release that measured margins: every sum of rows has a best unbiased estimate and an exact standard deviation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.estimate.told import SumEstimates, around, terms_of
from discreet.laws import NoiseLaw
from discreet.levels.design import LevelDesign, Question
from discreet.levels.intervals import factor, half_width_of_sum, half_widths
from discreet.levels.layout import Layout

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from discreet.levels.combine import Spread
    from discreet.levels.regress import RaggedSpread

MOST_WORK = 2_000_000_000  # rows times sums that are no entries of a question: some minutes
MOST_KINDS = 24  # of sums whose laws are worked out; further ones get the wider of two
LEVEL = 0.5  # any: only estimates are asked for
NOTHING = 1e-7  # of a count: a sum that is kept is off by rounding only
ALIKE = 1e-6  # parts of a variance: sums that differ by less are of one kind


@dataclass(frozen=True, eq=False)
class MeasuredRows:
    """Answers from all measurements together; what is kept has no error at all."""

    layout: Layout
    spread: Spread | RaggedSpread
    noise: Mapping[Question, NoiseLaw]
    told: Callable[[Question], Floats | None] = field(repr=False)  # estimates of a question's entries, where known
    conservative: bool = False

    @property
    def rows(self) -> int:
        return len(self.layout.leaf)

    def sums(self, weights: csr_array, level: float) -> SumEstimates:
        found = self._question_of(weights)
        if found is None:
            return self._one_by_one(weights, level)
        question, entries = found
        values = self._estimates(question)
        width = self.layout.design.by_entry(half_widths(self.spread, self.noise, question, level), question)
        variance = self.layout.design.by_entry(self.spread.variance(question), question)
        exact = variance[entries] == 0
        reach = np.where(exact, 0.0, width[entries])
        return around(values[entries], np.sqrt(variance[entries]), reach, exact)

    def covariances(self, weights: csr_array, one: csr_array) -> Floats:
        """From the variances of both sums, and of their difference."""
        from scipy.sparse import csr_array

        whole = self._variance(one)[0]
        if whole == 0:
            return np.zeros(weights.shape[0])
        rest = csr_array(one[np.zeros(weights.shape[0], dtype=int)]) - weights
        found: Floats = (self._variance(weights) + whole - self._variance(rest.tocsr())) / 2
        return found

    def noisy(self, weights: csr_array, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Estimates are linear: those from noise alone are their errors."""
        from discreet.estimate.intervals import draw_sums
        from discreet.levels.either import combined_of

        design, spread = self.layout.design, self.spread
        values = self.sums(weights, LEVEL).estimate
        kept = {q: np.zeros(design.table_shape(q)) for q, variance in spread.variances.items() if not variance}
        out = np.empty((draws, weights.shape[0]))
        one = {q: np.ones(design.entries(q), dtype=np.int64) for q in self.noise}
        for k in range(draws):
            drawn = {
                q: draw_sums(self.noise[q], each, 1, rng)[0].reshape(design.table_shape(q)) for q, each in one.items()
            }
            found = combined_of(design, {**drawn, **kept}, spread.variances)
            out[k] = weights @ design.in_rows(found.estimate(design.cells)).ravel()
        return values, np.where(np.abs(out) < NOTHING, 0.0, out)

    def _variance(self, weights: csr_array) -> Floats:
        found = self._question_of(weights)
        if found is None:
            return self._variances(weights)
        return np.asarray(self.layout.design.by_entry(self.spread.variance(found[0]), found[0])[found[1]])

    def _estimates(self, question: Question) -> Floats:
        name = self.layout.name(question)
        if not self.spread.known(question):
            raise BadInput(f"{name} was asked for", "what was measured does not tell it", "Ask for a coarser one")
        values = self._told(question)
        if values is None:
            found = "it is in no file of answers, and the measurements are not published"
            raise BadInput(f"{name} was asked for", found, "Ask for one that is answered")
        return values

    def _told(self, question: Question) -> Floats | None:
        """Estimates of a question's entries; where it is not answered itself, from a finer one that is: they add up."""
        values = self.told(question)
        if values is not None:
            return values
        for finer in self.layout.design.questions():
            values = self.told(finer) if finer.gives(question) else None
            if values is not None:
                first = np.unique(self._codes(finer), return_index=True)[1]
                return np.bincount(self._codes(question)[first], weights=values).astype(float)
        return None

    def _question_of(self, weights: csr_array) -> tuple[Question, Integers] | None:
        """The question that has all these sums among its entries, and which they are."""
        terms = terms_of(weights)
        if not len(terms) or not terms.all() or (weights.data != 1).any():
            return None
        first = weights.indices[weights.indptr[:-1]]
        for question in self.layout.design.questions():
            if self.layout.design.entries(question) < len(terms):
                continue
            code = self._codes(question)
            entries = code[first]
            alike = np.array_equal(code[weights.indices], np.repeat(entries, terms))
            if alike and np.array_equal(np.bincount(code)[entries], terms):
                return question, entries
        return None

    def _codes(self, question: Question) -> Integers:
        """Of each row of the table the entry it is in."""
        design = self.layout.design
        if not isinstance(design, LevelDesign):
            return np.asarray(design.in_rows(design.groups(question).of), dtype=np.int64)
        places = np.arange(design.entries(question)).reshape(design.table_shape(question))
        return np.asarray(design.in_rows(design.spread_out(places, question, design.cells)), dtype=np.int64)

    def _one_by_one(self, weights: csr_array, level: float) -> SumEstimates:
        """Any other sums, each by its own variance."""
        design, variance = self.layout.design, self._variances(weights)
        cells = self.told(design.cells)
        if cells is None:
            found = "it is in no file of answers, and the measurements are not published"
            raise BadInput("a sum over some rows was asked for", found, "Ask for a margin that is answered")
        exact = variance == 0
        reach = self._reaches(weights, variance, level)
        return around(weights @ design.in_rows(cells), np.sqrt(variance), np.where(exact, 0.0, reach), exact)

    def _variances(self, weights: csr_array) -> Floats:
        """Of any sums, one after the other."""
        number, design = weights.shape[0], self.layout.design
        if number * self.rows > MOST_WORK:
            found = f"{number:,} sums of {self.rows:,} rows are no margin, and each is worked out by itself"
            raise BadInput("sums over some rows were asked for", found, "Ask for fewer, or for a margin")
        variance = np.array([self.spread.of_sum(design.in_cells(_dense(weights, k))) for k in range(number)])
        if not np.isfinite(variance).all():
            found = "what was measured does not tell it"
            raise BadInput("a sum over some rows was asked for", found, "Ask for a margin that was measured")
        return variance

    def _reaches(self, weights: csr_array, variance: Floats, level: float) -> Floats:
        """By the law of all noises in a sum; where there are many kinds of sums, by the wider law of few and many."""
        kinds, first, of = np.unique(_kind(variance), return_index=True, return_inverse=True)
        if len(kinds) > MOST_KINDS:
            pure = any(law.pure for law in self.noise.values())
            largest = np.maximum.reduceat(np.abs(weights.data), weights.indptr[:-1])
            reach: Floats = factor(level, pure) * np.sqrt(variance) + largest / 2
            return reach
        design = self.layout.design
        each = [half_width_of_sum(self.spread, self.noise, design.in_cells(_dense(weights, k)), level) for k in first]
        return np.array(each)[of.reshape(-1)]


def _kind(variance: Floats) -> Floats:
    """A number for each variance, the same for those that hardly differ."""
    kinds: Floats = np.rint(np.log(np.maximum(variance, 1e-300)) / ALIKE)
    return kinds


def _dense(weights: csr_array, row: int) -> Floats:
    """One sum's weights of all rows."""
    out = np.zeros(weights.shape[1])
    inside = slice(weights.indptr[row], weights.indptr[row + 1])
    out[weights.indices[inside]] = weights.data[inside]
    return out
