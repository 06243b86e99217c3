"""A baseline in the manner of the Census Bureau's TopDown: level by level, each one fixed before the next.

At the root, and then at each level given the whole table of the level above it: non-negative least squares of that
level's measurements, weighted by their variances, so that children add up to their parent; then rounded, so that they
still do. What was measured further down does not correct what stands above. It is not the Bureau's program: one pass
of least squares for all questions of a level, no invariants, a first-order method in place of a commercial solver.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.levels.design import LevelDesign, Question
from discreet.levels.fit import TwoSums, fitted
from discreet.levels.fixed import FINE, in_fine
from discreet.levels.rounding import whole_in_blocks, whole_in_rows_and_columns

STEPS = 1000  # of the first-order method, at most
CLOSE = 1e-3  # a cell's move in one step: smaller ones end it


def top_down(design: LevelDesign, noisy: Mapping[Question, Integers], variances: Mapping[Question, float]) -> Integers:
    """The cells: whole, non-negative, and consistent over the levels."""
    rng = np.random.default_rng(0)  # of ties
    above: Integers | None = None
    for level in range(design.last + 1):
        told = {q: (noisy[q], variances[q]) for q in noisy if q.level == level}
        real = least_squares(design, level, told, above)
        above = _whole_root(design, real, list(told)) if above is None else _whole(design, level, real, above, rng)
    assert above is not None
    return above.reshape(design.table_shape(design.cells))


def least_squares(
    design: LevelDesign, level: int, told: Mapping[Question, tuple[Integers, float]], above: Integers | None
) -> Floats:
    """Of one level: non-negative cells, a row for each node, whose children add up to `above`; accelerated steps along
    the gradient, each followed by the projection, and started anew where they overshoot."""
    shape = (design.nodes(level), *design.shape)
    point = _start(design, level, above)
    if not told:
        return point
    steepest = sum(design.size(design.attributes) / design.size(q.attributes) / v for q, (_, v) in told.items())
    ahead, pace = point, 1.0
    for _ in range(STEPS):
        slope = _slope(design, ahead.reshape(shape), told).reshape(point.shape)
        new = _projected(design, level, ahead - slope / steepest, above)
        move = new - point
        if np.abs(move).max() < CLOSE and pace > 1:
            return new
        if (slope * move).sum() > 0:
            pace = 1.0
        faster = (1 + sqrt(1 + 4 * pace * pace)) / 2
        ahead, point, pace = new + (pace - 1) / faster * move, new, faster
    return point


def _start(design: LevelDesign, level: int, above: Integers | None) -> Floats:
    """Nothing at the root; children alike elsewhere."""
    if above is None:
        return np.zeros((1, design.size(design.attributes)))
    parent = design.parents[level]
    alike: Floats = above[parent] / np.bincount(parent)[parent][:, None]
    return alike


def _slope(design: LevelDesign, cells: Floats, told: Mapping[Question, tuple[Integers, float]]) -> Floats:
    out = np.zeros_like(cells)
    for question, (noisy, variance) in told.items():
        others = tuple(1 + a for a in design.attributes if a not in question.attributes)
        sums = cells.sum(axis=others, keepdims=True)
        out += (sums - noisy.reshape(sums.shape)) / variance
    return out


def _projected(design: LevelDesign, level: int, cells: Floats, above: Integers | None) -> Floats:
    """The nearest cells that are not negative and, over the children of a node, add up to its cells."""
    if above is None:
        return np.maximum(cells, 0.0)
    parent, starts = design.parents[level], design.starts[level]
    active = np.ones(cells.shape, dtype=bool)
    while True:
        many = np.maximum(np.add.reduceat(active, starts, axis=0, dtype=np.int64), 1)
        off = (np.add.reduceat(np.where(active, cells, 0.0), starts, axis=0) - above) / many
        fewer = active & (cells > off[parent])
        if np.array_equal(fewer, active):
            return np.where(active & (above[parent] > 0), cells - off[parent], 0.0)
        active = fewer


def _whole_root(design: LevelDesign, real: Floats, questions: list[Question]) -> Integers:
    """Up or down, cell after cell, whichever leaves the sums of the questions nearer to what they were."""
    shape, cells = design.shape, real.reshape(-1)
    places = np.indices(shape).reshape(len(shape), len(cells))
    where, size = [], 0
    for question in {Question(0), *questions}:
        of, sizes = [places[a] for a in question.attributes], [shape[a] for a in question.attributes]
        where.append(size + (np.ravel_multi_index(of, sizes) if of else np.zeros(len(cells), dtype=np.int64)))
        size += design.size(question.attributes)
    entries, gaps, whole = np.stack(where, axis=1), np.zeros(size), np.floor(cells)
    left = cells - whole
    for cell in np.random.default_rng(0).permutation(np.flatnonzero(left)):
        here, part = entries[cell], left[cell]
        up = 2 * gaps[here].sum() + len(here) * (1 - 2 * part) < 0
        whole[cell] += up
        gaps[here] += up - part
    return whole.astype(np.int64)[None, :]


def _whole(design: LevelDesign, level: int, real: Floats, above: Integers, rng: np.random.Generator) -> Integers:
    """Nodes' totals first, then cells: all sums of nodes and of cells over siblings stay what they are."""
    starts = design.starts[level]
    sizes = np.diff(np.append(starts, design.nodes(level)))
    words = rng.integers(0, 1 << 63, len(real), dtype=np.uint64)
    rows = whole_in_blocks(in_fine(real.sum(axis=1)), sizes, above.sum(axis=1), words)
    if not design.shape:
        return rows[:, None]
    sums = TwoSums(design.parents[level], starts, rows[:, None] * FINE, above[:, None, :] * FINE)
    fine = fitted(real[:, None, :], np.full((len(real), 1, real.shape[1]), 1 / FINE) + real[:, None, :], sums)
    return whole_in_rows_and_columns(fine, starts, rng.random(fine.size) < 0.5).reshape(len(real), -1)
