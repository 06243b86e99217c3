"""Everything that was measured, combined: the best unbiased estimate of every question, and its exact variance.

Split a table at a node into components: for a set r of attributes, sum over the others and take off the mean along
every attribute of r. Noise of variance v on a margin over M puts noise of variance v n(M - r) on component r (but for
the means taken off), n being the number of combinations, and the noises of different components are uncorrelated. So
the components fall apart, and each has one number a node on a tree, for which least squares is one pass up and one
down. Kept sums have variance zero. No matrix is formed, and no solver is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.levels.design import LevelDesign, Question, subsets

Component = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Passes:
    """What least squares on the tree needs to know of one component, level by level; it depends on no measurement."""

    measured: Floats  # the precision with which each level was measured: 0 if not at all, inf where it is kept
    precision: tuple[Floats, ...]  # of a node's component from itself and all below it
    below: tuple[Floats, ...]  # from what is below it alone; empty at the leaves
    share: tuple[Floats, ...]  # the part of its parent's correction that a node takes
    variance: tuple[Floats, ...]  # of the final estimate of one coordinate
    pull: tuple[Floats, ...]  # how much of what it and its subtree say is in its final estimate


def passes(design: LevelDesign, measured: Floats) -> Passes:
    """Precisions upwards, variances downwards."""
    last = design.last
    precision: list[Floats] = [np.empty(0)] * (last + 1)
    below: list[Floats] = [np.empty(0)] * (last + 1)
    with np.errstate(divide="ignore"):
        for level in range(last, -1, -1):
            inner = np.zeros(design.nodes(level))
            if level < last:
                inner = below[level] = 1 / design.above(1 / precision[level + 1], level + 1)
            precision[level] = measured[level] + inner
        width = [1 / one for one in precision]
    share, variance, pull = [np.zeros(1)], [width[0]], [np.ones(1)]
    for level in range(1, last + 1):
        parent, own = design.parents[level], width[level]
        taken = _shares(design, level, own)
        passed = pull[level - 1] * _quotient(below[level - 1], precision[level - 1])
        with np.errstate(invalid="ignore"):
            inside = np.where(taken == 1, 0.0, own * (1 - taken))  # an only child is what its parent is
            free = inside + np.where(np.isinf(inside), 0.0, taken**2 * variance[level - 1][parent])
        share.append(taken)
        variance.append(free)
        pull.append(1 - taken * (1 - passed[parent]))
    return Passes(measured, *(tuple(one) for one in (precision, below, share, variance, pull)))


def _shares(design: LevelDesign, level: int, width: Floats) -> Floats:
    """By variance; alike among nodes of which nothing is known, and nothing where all are known."""
    parent = design.parents[level]
    if np.isinf(width).any():  # then of all: what is asked is asked of a whole level
        alike: Floats = 1 / np.bincount(parent)[parent]
        return alike
    total = design.above(width, level)[parent]
    shares: Floats = np.divide(width, total, out=np.zeros_like(width), where=total > 0)
    return shares


def _quotient(part: Floats, whole: Floats) -> Floats:
    """part / whole: one where both are infinite, zero where both are zero."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(part), 1.0, np.divide(part, whole, out=np.zeros_like(part), where=whole > 0))


def precisions(design: LevelDesign, variances: Mapping[Question, float]) -> dict[Component, Floats]:
    """For every component, level by level: how precisely it was measured there."""
    found = {r: np.zeros(design.last + 1) for r in subsets(design.attributes)}
    for question, variance in variances.items():
        for r in subsets(question.attributes):
            others = design.size(question.attributes) / design.size(r)
            found[r][question.level] += np.inf if variance == 0 else 1 / (variance * others)
    return found


def component(design: LevelDesign, table: Any, question: Question, r: Component) -> Floats:
    """Of the answers to a question: summed over the attributes outside r, without the means along those inside; a row
    for every node."""
    axes = tuple(1 + i for i, a in enumerate(question.attributes) if a not in r)
    out: Floats = np.asarray(table, dtype=float).reshape(design.table_shape(question)).sum(axis=axes)
    for axis in range(1, 1 + len(r)):
        out = out - out.mean(axis=axis, keepdims=True)
    return out.reshape(len(out), -1)


@dataclass(frozen=True, eq=False)
class Spread:
    """The variances that a design has before anything is measured."""

    design: LevelDesign
    variances: Mapping[Question, float]  # of the noise of every question; 0 where it is kept

    @cached_property
    def passes(self) -> dict[Component, Passes]:
        return {r: passes(self.design, row) for r, row in precisions(self.design, self.variances).items()}

    @cached_property
    def widths(self) -> dict[tuple[Question, float], Floats]:
        """Half widths of intervals that were asked for before, whatever was measured."""
        found: dict[tuple[Question, float], Floats]
        found = self.design.worked_out.setdefault(tuple(sorted(self.variances.items())), {})
        return found

    def known(self, question: Question) -> bool:
        """Whether what was measured says anything about it."""
        return bool(np.isfinite(self.variance(question)).all())

    def variance(self, question: Question) -> Floats:
        """Of the estimate of an entry, for every node: it is the same for all combinations of attributes."""
        out = np.zeros(self.design.nodes(question.level))
        attributes = self.design.plain(question).attributes  # one value alone has no component of its own
        for r in subsets(attributes):
            others = self.design.size(attributes) / self.design.size(r)
            out = out + self.passes[r].variance[question.level] * self._left(r) / others**2
        return out

    def own_weight(self, question: Question) -> Floats:
        """How much of an entry's own noise is in its estimate, for every node; 0 where it was not measured."""
        out, variance = np.zeros(self.design.nodes(question.level)), self.variances.get(question, 0.0)
        if not variance:
            return out
        for r in subsets(question.attributes):
            here, level = self.passes[r], question.level
            others = self.design.size(question.attributes) / self.design.size(r)
            if np.isfinite(here.measured[level]):
                out = out + here.pull[level] / here.precision[level] * self._left(r) / (variance * others**2)
        return out

    def of_sum(self, weights: Floats) -> float:
        """The variance of the estimate of any weighted sum of cells; infinite where it is not known."""
        total, largest = 0.0, float(np.abs(weights).max(initial=0.0)) or 1.0
        for r in subsets(self.design.attributes):
            others = self.design.size(self.design.attributes) / self.design.size(r)
            total += self._on_tree(r, component(self.design, weights / largest, self.design.cells, r) / others)
        return total * largest**2

    def noise_weights(self, question: Question, node: int) -> dict[Question, Floats]:
        """How much of every noise that was drawn is in the estimate of one entry: that of the first combination of the
        question's attributes at a node.

        The weight of a measurement is the covariance of its own estimate and the entry's, over its variance; and one
        call of least squares, fed with the entry alone, gives all covariances. Of components by other attributes than
        the question's there is nothing in it.
        """
        design, variances = self.design, self.variances
        question = design.plain(question)
        told = {one: np.zeros(design.table_shape(one)) for one, variance in variances.items() if not variance}
        fed = question if variances.get(question) else self._finer(question)
        entry = np.zeros(design.table_shape(question))
        entry.reshape(len(entry), -1)[node, 0] = variances[fed]
        told[fed] = design.spread_out(entry, question, fed)
        parts = {r: _least_squares(design, r, self.passes[r], told, variances) for r in subsets(question.attributes)}
        found = Combined(design, variances, parts)
        return {one: found.estimate(one) / variance for one, variance in variances.items() if variance}

    def noise_in_sum(self, weights: Floats) -> dict[Question, Floats]:
        """The same of any weighted sum of cells, where these were measured."""
        design, variances = self.design, self.variances
        told = {one: np.zeros(design.table_shape(one)) for one, variance in variances.items() if not variance}
        found = combine(design, {**told, design.cells: variances[design.cells] * weights}, variances)
        return {one: found.estimate(one) / variance for one, variance in variances.items() if variance}

    def _finer(self, question: Question) -> Question:
        """A measured question that tells the answer to this one."""
        return next(one for one, variance in self.variances.items() if variance and one.gives(question))

    def _on_tree(self, r: Component, weights: Floats) -> float:
        """Of a weighted sum of one component's leaves, a column a coordinate."""
        here, total = self.passes[r], 0.0
        with np.errstate(divide="ignore"):
            widths = [1 / one for one in here.precision]
        for level in range(self.design.last, 0, -1):
            mean = self.design.above(here.share[level][:, None] * weights, level)
            off = ((weights - mean[self.design.parents[level]]) ** 2).sum(axis=1)
            total += float(widths[level] @ off) if np.isfinite(widths[level]).all() else _all_or_none(off)
            weights = mean
        root = float((weights[0] ** 2).sum())
        return total + (root * float(widths[0][0]) if np.isfinite(widths[0][0]) else _all_or_none(np.array([root])))

    def _left(self, r: Component) -> float:
        """What taking means off along r leaves of one coordinate's variance."""
        return prod(1 - 1 / self.design.shape[a] for a in r)


def _all_or_none(off: Floats) -> float:
    """Of something of which nothing is known: nothing, if it is not asked for. The largest weight is one."""
    return float(np.inf) if float(off.max(initial=0.0)) > 1e-18 else 0.0


@dataclass(frozen=True, eq=False)
class Combined(Spread):
    """The best unbiased estimates, component by component: a row for every node of a level. One left out is zero."""

    parts: dict[Component, tuple[Floats, ...]] = field(repr=False, default_factory=dict)

    def estimate(self, question: Question) -> Floats:
        """Signed, not rounded; an entry for every node and combination of the question's attributes."""
        shape = self.design.table_shape(question)
        out = np.zeros(shape)
        for r in (one for one in subsets(question.attributes) if one in self.parts):
            others = self.design.size(question.attributes) / self.design.size(r)
            wide = [shape[0], *(self.design.shape[a] if a in r else 1 for a in question.attributes)]
            out += self.parts[r][question.level].reshape(wide) / others
        return out


def combine(design: LevelDesign, measured: Mapping[Question, Any], variances: Mapping[Question, float]) -> Combined:
    """Generalised least squares of all that was measured, with what is kept (variance zero) held exactly."""
    spread = Spread(design, variances)
    parts = {r: _least_squares(design, r, spread.passes[r], measured, variances) for r in subsets(design.attributes)}
    return Combined(design, variances, parts)


def _least_squares(
    design: LevelDesign,
    r: Component,
    here: Passes,
    measured: Mapping[Question, Any],
    variances: Mapping[Question, float],
) -> tuple[Floats, ...]:
    """One component of every node: up, each node from itself and all below it; down, each with all the rest."""
    up: list[Floats] = [np.empty(0)] * (design.last + 1)
    for level in range(design.last, -1, -1):
        told = [q for q in measured if q.level == level and set(r) <= set(q.attributes)]
        kept = next((q for q in told if variances[q] == 0), None)
        if kept is not None:
            up[level] = component(design, measured[kept], kept, r)
            continue
        sums = np.zeros((design.nodes(level), design.size(r)))
        for q in told:
            others = design.size(q.attributes) / design.size(r)
            sums += component(design, measured[q], q, r) / (variances[q] * others)
        precision = here.precision[level]
        weight = np.divide(1.0, precision, out=np.zeros_like(precision), where=precision > 0)
        up[level] = sums * weight[:, None]
        if level < design.last:
            up[level] += _quotient(here.below[level], precision)[:, None] * design.above(up[level + 1], level + 1)
    down = [up[0]]
    for level in range(1, design.last + 1):
        gap = down[level - 1] - design.above(up[level], level)
        down.append(up[level] + here.share[level][:, None] * gap[design.parents[level]])
    return tuple(down)
