"""Everything that was measured of a table that lacks rows, combined: the best unbiased estimates and exact variances.

Every row is measured by itself, with noise of one variance d. Then level by level, from the leaves up, all questions of
a level are heard at once: with B their sums and V their variances, the covariance C of the rows becomes
C - U R U', U = C B' and R = (B U + V)^-1. An entry of a level adds up rows of one node: R falls apart into a block for
each node, and U is zero but where a row and an entry share a node. So nothing is ever as large as rows by rows. What is
kept has variance zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.levels.design import Question
from discreet.levels.ragged import RaggedDesign

MOST_AT_A_NODE = 4000  # entries of one level's questions at one node: their inverse takes half a minute
MOST_SHARED = 1 << 27  # pairs of a row and an entry at one node, of a level above the leaves: 1.5 gigabytes
MOST_UNEVEN = 1e5  # the cells' variance over another question's: beyond it estimates lose digits that are published
TOGETHER = 1 << 22  # numbers that are held at once where a product is dense
NOTHING = 1e-10  # of the largest: sums that follow from others leave so little open, or less


@dataclass(frozen=True, eq=False)
class LevelStep:
    """What the questions of one level change."""

    questions: tuple[Question, ...]  # but for the cells, and for what follows from what is kept
    sums: Any  # B: a row for each entry, a column for each row of the table
    reach: Any  # U
    inverse: Any  # R: dense where there is one node, else sparse


@dataclass(frozen=True, eq=False)
class RaggedSpread:
    """The variances that a design has before anything is measured."""

    design: RaggedDesign
    variances: Mapping[Question, float]  # of the noise of every question; 0 where it is kept
    heard: tuple[LevelStep, ...] = field(repr=False)  # level by level, from the leaves up
    found: dict[Question, Floats] = field(repr=False)  # variances that were asked for before
    widths: dict[tuple[Question, float], Floats] = field(repr=False)  # and half widths of intervals

    @property
    def noise(self) -> float:
        """The variance of a row's own noise."""
        return self.variances[self.design.cells]

    def known(self, question: Question) -> bool:
        """Every row was measured: so everything is."""
        return True

    def covariances(self, weights: Floats) -> Floats:
        """Of the estimate of every row with that of a weighted sum of rows."""
        out: Floats = self.noise * weights
        for one in self.heard:
            out = out - one.reach @ (one.inverse @ (one.reach.T @ weights))
        return out

    def of_sum(self, weights: Floats) -> float:
        """The variance of the estimate of any weighted sum of rows."""
        return max(0.0, float(weights @ self.covariances(weights)))

    def variance(self, question: Question) -> Floats:
        """Of the estimate of every entry."""
        if question not in self.found:
            self.found[question] = self._variance(question)
        return self.found[question]

    def _variance(self, question: Question) -> Floats:
        sizes = self.design.groups(question).sizes
        if any(not variance and one.gives(question) for one, variance in self.variances.items()):
            return np.zeros(len(sizes))
        sums = _sums(self.design, question)
        out = self.noise * sizes
        for one in self.heard:
            out = out - _squares((sums @ one.reach).tocsr(), one.inverse)
        return np.where(out < NOTHING * self.noise * sizes, 0.0, out)

    def own_weight(self, question: Question) -> Floats:
        """How much of an entry's own noise is in its estimate; 0 where it was not measured."""
        own = self.variances.get(question, 0.0)
        return self.variance(question) / own if own else np.zeros(self.design.entries(question))

    def noise_weights(self, question: Question, place: int) -> dict[Question, Floats]:
        """How much of every noise that was drawn is in the estimate of one entry."""
        return self.noise_in_sum((self.design.groups(question).of == place).astype(float))

    def noise_in_sum(self, weights: Floats) -> dict[Question, Floats]:
        """The same of any weighted sum of rows."""
        found = self.covariances(weights)
        return {q: self.design.answer(found, q) / variance for q, variance in self.variances.items() if variance}


@dataclass(frozen=True, eq=False)
class RaggedCombined(RaggedSpread):
    """The best unbiased estimates of the rows, and what is kept."""

    rows: Floats = field(repr=False)
    kept: Mapping[Question, Integers] = field(repr=False)

    def estimate(self, question: Question) -> Floats:
        """Signed, not rounded; what follows from what is kept, exactly."""
        for one, answers in self.kept.items():
            if one.gives(question):
                each = np.zeros(len(self.rows), dtype=np.int64)
                groups = self.design.groups(one)
                each[groups.order[groups.starts]] = answers.ravel()
                exact: Floats = self.design.answer(each, question).astype(float)
                return exact
        found: Floats = self.design.answer(self.rows, question)
        return found


def ragged_spread(design: RaggedDesign, variances: Mapping[Question, float]) -> RaggedSpread:
    """Worked out once for a design and the variances of its noise."""
    if not variances.get(design.cells):
        raise BadInput("estimates were asked for", "rows are missing, and the cells were not measured")
    key = tuple(sorted(variances.items()))
    if key not in design.worked_out:
        design.worked_out[key] = RaggedSpread(design, variances, _heard(design, variances), {}, {})
    found: RaggedSpread = design.worked_out[key]
    return found


def combine_ragged(
    design: RaggedDesign, measured: Mapping[Question, Any], variances: Mapping[Question, float]
) -> RaggedCombined:
    """Generalised least squares of all that was measured, with what is kept (variance zero) held exactly."""
    spread, rows = ragged_spread(design, variances), np.asarray(measured[design.cells], dtype=float).ravel()
    for one in spread.heard:
        told = np.concatenate([np.asarray(measured[q]).ravel() for q in one.questions])
        rows = rows + one.reach @ (one.inverse @ (told - one.sums @ rows))
    kept = {q: np.asarray(measured[q]) for q, variance in variances.items() if not variance}
    return RaggedCombined(design, variances, spread.heard, spread.found, spread.widths, rows, kept)


def _heard(design: RaggedDesign, variances: Mapping[Question, float]) -> tuple[LevelStep, ...]:
    found: list[LevelStep] = []
    kept = [q for q, variance in variances.items() if not variance]
    free = [q for q in variances if q != design.cells and not any(one != q and one.gives(q) for one in kept)]
    for level in range(design.last, -1, -1):
        questions = tuple(q for q in free if q.level == level)
        if not questions:
            continue
        sums = sparse.vstack([_sums(design, q) for q in questions], format="csr")
        reach = variances[design.cells] * sums.T.tocsr()
        for one in found:
            reach = reach - one.reach @ sparse.csr_array(one.inverse @ (one.reach.T @ sums.T))
        node = np.concatenate([design.groups(q).node for q in questions])
        added = np.concatenate([np.full(design.entries(q), variances[q]) for q in questions])
        inverse = _inverse((sums @ reach + sparse.diags_array(added)).tocoo(), node, len(kept) > 1)
        found.append(LevelStep(questions, sums, reach.tocsr(), inverse))
    return tuple(found)


def too_many(design: RaggedDesign, questions: Sequence[Question]) -> int | None:
    """How many entries questions of one level have at one node, where these are too many to be combined."""
    for level in range(design.last + 1):
        nodes = [design.groups(q).node for q in questions if q.level == level and q != design.cells]
        most = int(np.bincount(np.concatenate(nodes)).max()) if nodes else 0
        if most > MOST_AT_A_NODE or (level < design.last and most * len(design.place) > MOST_SHARED):
            return most
    return None


def too_uneven(design: RaggedDesign, variances: Mapping[Question, float]) -> Question | None:
    """A question that is known so much better than the cells that both cannot be combined in floats."""
    least = variances[design.cells] / MOST_UNEVEN
    return next((q for q, variance in variances.items() if 0 < variance < least), None)


def _sums(design: RaggedDesign, question: Question) -> Any:
    """The matrix that adds rows up to a question's entries."""
    groups = design.groups(question)
    rows, ends = len(groups.order), np.append(groups.starts, len(groups.order))
    return sparse.csr_array((np.ones(rows), groups.order, ends), shape=(len(groups.starts), rows))


def _squares(rows: Any, inverse: Any) -> Floats:
    """Of every row r: r R r'."""
    if sparse.issparse(inverse):
        return np.asarray((rows @ inverse).multiply(rows).sum(axis=1)).ravel()
    out, step = np.empty(rows.shape[0]), max(1, TOGETHER // max(1, rows.shape[1]))
    for start in range(0, len(out), step):
        part = rows[start : start + step]
        out[start : start + step] = np.asarray(part.multiply(part @ inverse).sum(axis=1)).ravel()
    return out


def _inverse(matrix: Any, node: Integers, redundant: bool) -> Any:
    """Of a symmetric matrix that has a block for each node."""
    invert = _pseudo_inverse if redundant else np.linalg.inv
    sizes = np.bincount(node)
    if len(sizes) == 1:
        return invert(matrix.toarray())
    order = np.argsort(node, kind="stable")
    within = np.empty_like(node)
    within[order] = np.arange(len(node)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    ends = np.cumsum(sizes**2)
    begin, size = (ends - sizes**2)[node], sizes[node]
    flat = np.zeros(ends[-1])
    np.add.at(flat, begin[matrix.row] + within[matrix.row] * size[matrix.row] + within[matrix.col], matrix.data)
    for one in np.unique(sizes[sizes > 0]):
        places = (ends - sizes**2)[sizes == one][:, None] + np.arange(one * one)
        flat[places] = invert(flat[places].reshape(-1, one, one)).reshape(len(places), -1)
    rows = np.repeat(order, sizes[node[order]])
    columns = np.concatenate([np.tile(block, len(block)) for block in np.split(order, np.cumsum(sizes)[:-1])])
    return sparse.csr_array((flat, (rows, columns)), shape=matrix.shape)


def _pseudo_inverse(blocks: Floats) -> Floats:
    """Where some of what is kept follows from the rest."""
    return np.asarray(np.linalg.pinv(blocks, rcond=NOTHING, hermitian=True), dtype=np.float64)
