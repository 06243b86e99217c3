"""One table of non-negative whole numbers from the estimates: level by level, from the top down to the leaves.

Each level is made to add up to the one above it, which is not touched again: first the totals of the nodes, or the sums
that are kept, then the cells of every node, so that they add up to the node and, with its siblings, to the cells of the
node above. What the sums already say, a child's total split as its parent is, is combined with the estimate by how much
is known of either. At the top, cells of which only margins are known are as spread out as these allow.

Anybody can replay it and gets the same table: only whole numbers are ever added up (`fixed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.arrays import Flags, Floats, Integers, Words
from discreet.errors import BadInput
from discreet.lattice.blocks import nearest_in_blocks, taken_off
from discreet.levels.design import LevelDesign, Question
from discreet.levels.fit import TwoSums, fitted
from discreet.levels.fixed import FINE, UNIT, in_fine
from discreet.levels.held import Axes, held_by, require_table
from discreet.levels.margins import cells_with_margins, prior_with_margins
from discreet.levels.order import Order, coarse_first
from discreet.levels.rounding import whole_in_blocks, whole_in_rows_and_columns
from discreet.levels.shrink import CellEstimates, better_rows, posterior
from discreet.levels.told import Told
from discreet.levels.top import top_cells

__all__ = ["UNIT", "require_table", "whole_table"]


def whole_table(
    design: LevelDesign,
    estimates: Mapping[Question, Integers],
    deviations: Mapping[Question, Integers],
    kept: Mapping[Question, Integers],
    words: str,
    targets: Integers | None = None,
) -> Integers:
    """The cells: non-negative, with every kept sum, near to the estimates at every level.

    `deviations` are of the shape of the estimates, or one for each node. `targets` are counts for the leaves of a table
    without attributes, which are fitted to the sums of the level above them in place of the estimates.
    """
    if targets is not None and design.size(design.attributes) > 1:
        raise BadInput("targets were given for cells by attributes", "only leaves without attributes have any")
    told, held = Told(design, estimates, deviations, kept, words), held_by(design, kept)
    cells = top_cells(told, held)
    for level, rows_by in enumerate(held.below, start=held.start + 1):
        if design.size(design.attributes) > 1:
            cells = _cells_below(told, level, cells, rows_by)
        else:
            aims = targets if level == design.last else None
            cells = _nodes_below(told, level, cells, aims) if rows_by is None else told.kept_sums(Question(level))
    return cells.reshape(design.table_shape(design.cells))


def _nodes_below(told: Told, level: int, above: Integers, targets: Integers | None) -> Integers:
    """Without attributes: the nodes of a level, from their estimates or from whole targets."""
    if targets is None:
        return _split(told, level, above, in_fine(_expected(told, level, above)))
    counts, family = targets.reshape(-1), told.design.parents[level]
    off = told.fine(Question(level)).reshape(-1) - counts * FINE
    words = dealt_out(told.words(f"nodes {level}", len(counts)), (family, counts), off)
    return nearest_in_blocks(counts, _families(told, level), above.reshape(-1), words)[:, None]


def dealt_out(words: Words, alike: Sequence[Integers], values: Integers) -> Words:
    """Among leaves that are alike, the smallest words to those of the smallest values: so chance alone decides from how
    many of a kind something is taken, and their values from which of them."""
    dealt = np.empty_like(words)
    dealt[np.lexsort((words, values, *alike))] = words[np.lexsort((words, *alike))]
    return dealt


def _expected(told: Told, level: int, above: Integers) -> Floats:
    """Totals of the nodes: as estimated, or if nothing is known of the level, their parents' in equal parts."""
    if told.margins(level):
        return told.counts(Question(level))
    parts: Floats = (above.sum(axis=1) / _families(told, level))[told.design.parents[level]]
    return parts[:, None]


def _split(told: Told, level: int, above: Integers, fine: Integers) -> Integers:
    """Totals of the nodes, near to these and adding up to the level above."""
    words = told.words(f"nodes {level}", fine.size)
    return whole_in_blocks(fine.reshape(-1), _families(told, level), above.sum(axis=1), words)[:, None]


def _families(told: Told, level: int) -> Integers:
    """How many children each node of the level above has."""
    sizes: Integers = np.diff(np.append(told.design.starts[level], told.design.nodes(level)))
    return sizes


def _cells_below(told: Told, level: int, above: Integers, rows_by: Axes | None) -> Integers:
    """The cells of a level, given those of the level above it and the attributes by which sums are kept."""
    design = told.design
    order = coarse_first(design.shape, rows_by or ())
    columns, parent = order.into(above), design.parents[level]
    share = (columns / np.maximum(columns.sum(axis=2), 1)[:, :, None])[parent]
    noisy = _noisy(told, Question(level, rows_by or ()), order)
    if rows_by is None:
        rows = _split(told, level, above, in_fine(_rows(told, level, above, noisy, share)))
    else:
        rows = told.kept_sums(Question(level, rows_by))
    prior = prior_with_margins(told, level, order, rows[:, :, None] * share)
    target, spread = prior, prior
    if noisy is not None:
        cells = posterior(noisy.cells, noisy.noise, prior)
        target, spread = cells_with_margins(told, level, order, noisy.noise, *cells)
    sums = TwoSums(parent, design.starts[level], rows * FINE, columns * FINE)
    whole: Integers = order.back(_whole(target, spread, sums, told.bits(f"cells {level}", target.size)))
    return whole


def _rows(told: Told, level: int, above: Integers, noisy: CellEstimates | None, share: Floats) -> Floats:
    """Totals of the nodes, before they are made to add up."""
    if noisy is None:
        return _expected(told, level, above)
    cells, sizes = in_fine(noisy.cells[:, 0]), _families(told, level)
    cells -= np.repeat(taken_off(cells, sizes, above * FINE), sizes, axis=0)
    return better_rows(noisy, share, cells[:, None] / np.float64(FINE))


def _whole(target: Floats, spread: Floats, sums: TwoSums, ties: Flags) -> Integers:
    """Fitted to sums of rows and of columns, and rounded."""
    whole, ties = np.empty(target.shape, dtype=np.int64), ties.reshape(target.shape)
    for here, part in sums.parts():
        fine = fitted(target[here], spread[here], part)
        whole[here] = whole_in_rows_and_columns(fine, part.starts, ties[here].reshape(-1))
    return whole


def _noisy(told: Told, rows: Question, order: Order) -> CellEstimates | None:
    """What was measured of a level's cells; None: only of their margins."""
    cells = Question(rows.level, told.design.attributes)
    if told.margins(rows.level) != (cells.attributes,):
        return None
    return CellEstimates(order.into(told.counts(cells)), told.counts(rows), told.variance(cells), told.variance(rows))
