"""Margins that are known by themselves, brought into the cells of a level.

What is split as its parent is may have other margins than were measured: where all women are fewer, so are those of
every age. So the prior gets the margins first; then, once the cells have been heard, each margin is heard as far as it
says more than they do.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.levels.design import Question
from discreet.levels.flat import Box, proportional
from discreet.levels.held import Axes
from discreet.levels.order import Order
from discreet.levels.shrink import TINY, posterior
from discreet.levels.told import Told

SWEEPS = 5  # of proportional fitting: the margins of a prior need not be exact


def prior_with_margins(told: Told, level: int, order: Order, prior: Floats) -> Floats:
    """In proportion to the prior, with margins that are each drawn towards what the prior said of them."""
    known, box = _known(told, level, order), Box(told.design.nodes(level), told.design.shape)
    if not known:
        return prior
    start, margins = order.back(prior), {}
    for axes in known:
        question, expected = Question(level, axes), box.margin(start, axes)
        wanted, _ = posterior(told.counts(question), told.variance(question)[:, None], expected)
        margins[axes] = np.maximum(wanted, 0.0)
    fits: Floats = order.into(proportional(box, start, margins, SWEEPS))
    return fits


def cells_with_margins(
    told: Told, level: int, order: Order, noise: Floats, target: Floats, spread: Floats
) -> tuple[Floats, Floats]:
    """Cells and their variances once every margin has been heard; `noise` is the variance of the cells' estimates."""
    known, box = _known(told, level, order), Box(told.design.nodes(level), told.design.shape)
    if not known:
        return target, spread
    cells, open_ = (order.back(one).reshape(box.nodes, *box.shape) for one in (target, spread))
    for axes in known:
        question = Question(level, axes)
        added_up = np.float64(box.size(told.design.attributes) // box.size(axes))
        by_cells = 1 / np.maximum(noise[:, :, 0] * added_up, TINY)
        more = np.maximum(1 / np.maximum(told.variance(question)[:, None], TINY) - by_cells, 0.0)
        gain = more / (1 + box.margin(open_, axes) * more)
        off = told.counts(question) - box.margin(cells, axes)
        cells = cells + open_ * box.broadcast(gain * off, axes)
        open_ = open_ - open_ * open_ * box.broadcast(gain, axes)
    return order.into(cells), order.into(open_)


def _known(told: Told, level: int, order: Order) -> list[Axes]:
    """Margins that are not among the rows."""
    return [axes for axes in told.proper_margins(level) if not set(axes) <= set(order.middle)]
