"""What is public when the table is made: estimates, how far they may be off, kept sums, and a seed for ties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Flags, Floats, Integers, Words
from discreet.errors import BadInput
from discreet.levels.design import LevelDesign, Question
from discreet.levels.fixed import FINE, counts_of, in_fine
from discreet.levels.held import Axes, maximal
from discreet.public_map import public_words

FINER = np.float64(1 << 20)  # variances are added up in multiples of 1/FINER,
WIDEST = np.float64(1 << 30)  # and none is wider: nothing is known of such a cell


@dataclass(frozen=True, eq=False)
class Told:
    """Answers to any question that what was published gives: a row for each node, a column for each combination."""

    design: LevelDesign
    estimates: Mapping[Question, Integers]
    deviations: Mapping[Question, Integers]
    kept: Mapping[Question, Integers]
    seed: str

    def margins(self, level: int) -> tuple[Axes, ...]:
        """Attributes by which the nodes of a level are known, without those that follow from others."""
        return maximal(q.attributes for q in (*self.estimates, *self.kept) if q.level >= level)

    def proper_margins(self, level: int) -> tuple[Axes, ...]:
        """The same, the cells themselves left aside."""
        published = (q.attributes for q in (*self.estimates, *self.kept) if q.level >= level)
        return maximal(axes for axes in published if axes != self.design.attributes)

    def fine(self, question: Question) -> Integers:
        """The estimate in multiples of 1/FINE."""
        return in_fine(self.counts(question))

    def counts(self, question: Question) -> Floats:
        """The estimate as a number of people."""
        if _source(self.design, question, self.kept) is not None:
            return self.kept_sums(question).astype(np.float64)
        source = _source(self.design, question, self.estimates)
        if source is None:
            raise BadInput("a table was to be made of estimates", f"nothing that was measured gives {question}")
        return counts_of(_summed(self.design, self.estimates[source], source, question))

    def variance(self, question: Question) -> Floats:
        """Of one entry of the estimate, for each node; where the entry is a sum of others, at most."""
        if _source(self.design, question, self.kept) is not None:
            return np.zeros(self.design.nodes(question.level))
        source = _source(self.design, question, self.deviations)
        if source is None:
            raise BadInput("a table was to be made of estimates", f"no deviation was published that gives {question}")
        deviation = counts_of(self.deviations[source].reshape(self.design.nodes(source.level), -1)[:, 0])
        added_up = self.design.size(source.attributes) // self.design.size(question.attributes)
        variance = deviation * deviation * np.float64(added_up)
        if source.level == question.level:
            return variance
        whole = np.rint(np.minimum(variance, WIDEST) * FINER).astype(np.int64)
        for level in range(source.level, question.level, -1):
            whole = self.design.above(whole, level)
        return whole / FINER

    def kept_sums(self, question: Question) -> Integers:
        source = _source(self.design, question, self.kept)
        assert source is not None
        return _summed(self.design, self.kept[source], source, question)

    def totals(self, level: int) -> Integers:
        """The nearest counts to the nodes' totals, not below zero."""
        return np.maximum((2 * self.fine(Question(level)) + FINE) // (2 * FINE), 0)

    def words(self, purpose: str, size: int) -> Words:
        return public_words(self.seed, purpose, size)

    def bits(self, purpose: str, size: int) -> Flags:
        """One for each of so many cells."""
        words = public_words(self.seed, purpose, -(-size // 64)).astype("<u8")
        return np.unpackbits(words.view(np.uint8)).astype(bool)[:size]


def _source(design: LevelDesign, question: Question, among: Mapping[Question, Integers]) -> Question | None:
    """The coarsest question whose answers give these."""
    giving = [one for one in among if one.gives(question)]
    return min(giving, key=lambda one: (design.entries(one), one), default=None)


def _summed(design: LevelDesign, answers: Integers, source: Question, question: Question) -> Integers:
    """A finer answer added up."""
    others = tuple(1 + i for i, a in enumerate(source.attributes) if a not in question.attributes)
    out: Integers = np.asarray(answers).reshape(design.table_shape(source)).sum(axis=others)
    for level in range(source.level, question.level, -1):
        out = design.above(out, level)
    return out.reshape(design.nodes(question.level), -1)
