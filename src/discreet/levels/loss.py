"""The sum of the variances of all that is asked, as a function of how precisely each question is measured; with its
gradient. It is searched over, so it never runs over nodes that are alike.

Two nodes are alike if the trees below them are, and their parents are one or alike: then all their variances are the
same. One of them stands for all: all leaves below one parent are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.levels.combine import Component
from discreet.levels.design import LevelDesign, Question, subsets
from discreet.levels.ragged import RaggedDesign

EXACT = 1e30  # the precision of what is kept, and 1 / EXACT of what nothing is known of: squares of both are numbers


@dataclass(frozen=True, eq=False)
class Alike:
    """A tree whose nodes each stand for all nodes that are alike, level by level."""

    starts: tuple[Integers, ...]  # where the children of each node of the level above begin
    parents: tuple[Integers, ...]
    siblings: tuple[Floats, ...]  # how many below one parent it stands for
    nodes: tuple[Floats, ...]  # how many in all

    def above(self, values: Floats, level: int) -> Floats:
        """Sums over the children, a row for every node of the level above."""
        return np.asarray(np.add.reduceat(values, self.starts[level], axis=0))


def alike(design: LevelDesign) -> Alike:
    """Kinds of subtrees upwards, then nodes of one kind with one parent downwards."""
    kinds = _kinds(design)
    parents, nodes = [np.zeros(1, dtype=np.int64)], [np.ones(1)]
    place = np.zeros(1, dtype=np.int64)
    for level in range(1, design.last + 1):
        width = int(kinds[level].max()) + 1
        both, place, count = np.unique(
            place[design.parents[level]] * width + kinds[level], return_inverse=True, return_counts=True
        )
        parents.append(both // width)
        nodes.append(count.astype(float))
    siblings = [np.ones(1)] + [own / above[up] for own, above, up in zip(nodes[1:], nodes, parents[1:])]
    starts = tuple(np.flatnonzero(np.diff(up, prepend=-1)) for up in parents)
    return Alike(starts, tuple(parents), tuple(siblings), tuple(nodes))


def _kinds(design: LevelDesign) -> list[Integers]:
    """Of every node, level by level: the number of its kind; two nodes are of a kind if their children are."""
    kinds = [np.zeros(design.nodes(level), dtype=np.int64) for level in range(design.last + 1)]
    for level in range(design.last, 0, -1):
        order = np.lexsort((kinds[level], design.parents[level]))
        families = np.split(kinds[level][order], design.starts[level][1:])
        numbers: dict[bytes, int] = {}
        kinds[level - 1] = np.array([numbers.setdefault(one.tobytes(), len(numbers)) for one in families])
    return kinds


@dataclass(frozen=True, eq=False)
class Loss:
    """Components that are asked for, and what each measured question tells of them."""

    tree: Alike
    weights: Floats  # of the variance of a coordinate: level, component
    kept: Floats  # EXACT where it is kept, 0 elsewhere: level, component
    reach: Floats  # precision of a component for a unit of precision of a question: level, component, question

    def __call__(self, precision: Floats) -> tuple[float, Floats]:
        """The loss, and its derivative by the precision of every question."""
        loss, slope = self.of_components(self.kept + self.reach @ precision)
        return loss, np.tensordot(slope, self.reach, 2)

    def of_components(self, measured: Floats) -> tuple[float, Floats]:
        """The same, by the precision of every component at every level: up and down the tree, and back."""
        tree, last = self.tree, len(self.weights) - 1
        width, below = self._up(np.clip(measured, 1 / EXACT, EXACT))
        taken, variance = [np.ones_like(width[0])], [width[0]]
        for level in range(1, last + 1):
            up = tree.parents[level]
            taken.append(width[level] / below[level - 1][up])
            variance.append(width[level] * (1 - taken[level]) + taken[level] ** 2 * variance[level - 1][up])
        loss = sum(float((row * (tree.nodes[level] @ variance[level])).sum()) for level, row in enumerate(self.weights))

        by_variance = [row * tree.nodes[level][:, None] for level, row in enumerate(self.weights)]
        by_width, by_below = [by_variance[0]] * (last + 1), [np.zeros_like(width[0])] * (last + 1)
        for level in range(last, 0, -1):
            up, part, own = tree.parents[level], taken[level], by_variance[level]
            by_taken = own * (2 * part * variance[level - 1][up] - width[level])
            by_width[level] = own * (1 - part) + by_taken / below[level - 1][up]
            by_below[level - 1] = -tree.above(by_taken * part, level) / below[level - 1]
            by_variance[level - 1] = by_variance[level - 1] + tree.above(own * part**2, level)
        by_width[0] = by_variance[0]

        slope = np.zeros_like(self.weights)
        for level in range(last + 1):
            if level:
                up, alike_here = tree.parents[level], tree.siblings[level][:, None]
                by_width[level] = by_width[level] + by_below[level - 1][up] * alike_here
            by_precision = -by_width[level] * width[level] ** 2
            slope[level] = by_precision.sum(axis=0)
            if level < last:
                by_below[level] = by_below[level] - by_precision / below[level] ** 2
        return loss, slope

    def _up(self, measured: Floats) -> tuple[list[Floats], list[Floats]]:
        """Variances of a node from itself and all below it, and from what is below it alone."""
        last = len(measured) - 1
        width, below = [np.empty(0)] * (last + 1), [np.empty(0)] * last
        width[last] = np.repeat(1 / measured[last][None], len(self.tree.nodes[last]), axis=0)
        for level in range(last - 1, -1, -1):
            below[level] = self.tree.above(width[level + 1] * self.tree.siblings[level + 1][:, None], level + 1)
            width[level] = 1 / (measured[level] + 1 / below[level])
        return width, below


def loss_by_precision(
    design: LevelDesign | RaggedDesign,
    asked: Sequence[Question],
    kept: Sequence[Question],
    measured: Sequence[Question],
) -> Loss:
    """Every entry of every question asked counts alike; components that nothing asked depends on are left out.

    Where rows are missing, as if all nodes and all combinations lacked as many: that is near enough to divide by.
    """
    components = sorted({r for q in asked for r in subsets(q.attributes)}, key=lambda r: (len(r), r))
    place = {r: i for i, r in enumerate(components)}
    weights, fixed = np.zeros((2, design.last + 1, len(components)))
    reach = np.zeros((design.last + 1, len(components), len(measured)))
    for question in asked:
        for r in subsets(question.attributes):
            others = _others(design, question, r)
            left = prod(1 - 1 / design.shape[a] for a in r)
            weights[question.level, place[r]] += (
                design.entries(question) / design.nodes(question.level) * left / others**2
            )
    for question in kept:
        fixed[question.level, [place[r] for r in subsets(question.attributes) if r in place]] = EXACT
    for i, question in enumerate(measured):
        for r in subsets(question.attributes):
            if r in place:
                reach[question.level, place[r], i] = 1 / _others(design, question, r)
    return Loss(alike(design.completed), weights, fixed, reach)


def _others(design: LevelDesign | RaggedDesign, question: Question, r: Component) -> float:
    """How many combinations of the question's other attributes one of r is the sum of."""
    return design.entries(question) / design.entries(Question(question.level, r))
