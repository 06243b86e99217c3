"""Where the table begins: cells of the top, or of every node of a level by itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.lattice.blocks import nearest_in_blocks, taken_off
from discreet.levels.design import Question, subsets
from discreet.levels.feedback import whole_watching
from discreet.levels.fit import TwoSums, fitted
from discreet.levels.fixed import FINE, LARGEST_TOTAL, in_fine
from discreet.levels.flat import Box, Estimated, consistent_margins, proportional
from discreet.levels.held import Axes, Held, maximal
from discreet.levels.margins import cells_with_margins
from discreet.levels.order import Order, coarse_first
from discreet.levels.rounding import largest_remainders, whole_in_rows_and_columns
from discreet.levels.shrink import CellEstimates, heard_rows, posterior
from discreet.levels.told import Told


def top_cells(told: Told, held: Held) -> Integers:
    """[node, cell] of the level to begin with: non-negative, whole, with all that is held there."""
    design, level = told.design, held.start
    totals = told.totals(level)
    if int(totals.sum()) > LARGEST_TOTAL:
        raise BadInput("a table was to be made of estimates", f"it counts more than {LARGEST_TOTAL:,}")
    if not design.shape:
        return totals
    box = Box(design.nodes(level), design.shape)
    margins = _margins(told, box, level, totals)
    target = _target(told, box, level, margins)
    coarse, sums = _held_sums(told, box, held, target, totals)
    return _rounded(told, box, target, (coarse, sums.reshape(-1)), margins)


def _rounded(
    told: Told, box: Box, target: Floats, held: tuple[Axes, Integers], margins: Mapping[Axes, Integers]
) -> Integers:
    """Whole cells with the sums that are held, near to the target and, all together, to the margins."""
    coarse, sums = held
    order = coarse_first(box.shape, coarse)
    cells = order.into(target).reshape(len(sums), -1)
    factor = sums * np.float64(FINE) / np.maximum(in_fine(cells).sum(axis=1), 1)
    scaled, sizes = in_fine(cells * factor[:, None]).reshape(-1), np.full(len(sums), cells.shape[1])
    words = told.words("top", len(scaled))
    fine = nearest_in_blocks(scaled, sizes, sums * FINE, words)
    watched = {axes: margins[axes] for axes in maximal(margins) if not set(axes) <= set(coarse)}
    if watched:
        whole = whole_watching(fine, sizes, *_watched(box, order, fine, watched))
    else:
        whole = largest_remainders(fine, sizes, sums, words)
    back: Integers = order.back(whole)
    return back


def _margins(told: Told, box: Box, level: int, totals: Integers) -> dict[Axes, Integers]:
    """Margins that were published, consistent and non-negative; where cells are known, also those by two attributes."""

    def estimate(axes: Axes) -> Estimated:
        question = Question(level, axes)
        counts, variance = told.counts(question), told.variance(question)
        if len(axes) == 1 and _cells_known(told, level):
            counts = counts + _not_negative(told, box, question, totals)
        return Estimated(in_fine(counts), variance)

    pairs = [axes for axes in subsets(told.design.attributes) if len(axes) == min(2, len(box.shape) - 1)]
    known = [*told.proper_margins(level), *(pairs if _cells_known(told, level) else ())]
    words = told.words("margins", box.nodes * max(told.design.shape))
    return consistent_margins(box, known, estimate, totals * FINE, words)


def _not_negative(told: Told, box: Box, margin: Question, totals: Integers) -> Floats:
    """What a margin is to be changed by because none of its cells is negative; [node, combination]."""
    cells, order = Question(margin.level, told.design.attributes), coarse_first(box.shape, margin.attributes)
    fine, known = told.fine(cells), told.variance(margin)
    sizes = np.full(box.nodes, fine.shape[1])
    taken = taken_off(fine.reshape(-1), sizes, totals.reshape(-1) * FINE)
    fitting = order.into((fine - taken[:, None]) / np.float64(FINE))
    noisy = CellEstimates(order.into(told.counts(cells)), told.counts(margin), told.variance(cells), known)
    each = (known / np.float64(fitting.shape[2]))[:, None, None]  # cells of an entry are alike, and add up to it
    return heard_rows(noisy, fitting, each)


def _cells_known(told: Told, level: int) -> bool:
    return told.margins(level) == (told.design.attributes,)


def _target(told: Told, box: Box, level: int, margins: Mapping[Axes, Integers]) -> Floats:
    """What the cells should be near to."""
    everything = told.design.attributes
    known = _cells_known(told, level)
    cells = Question(level, everything)
    if known and maximal(margins) == ((),):
        return np.maximum(told.counts(cells), 0)
    wanted = {axes: margins[axes].reshape(box.nodes, -1) / np.float64(FINE) for axes in maximal(margins)}
    start = np.full((box.nodes, box.size(everything)), 1.0)
    spread_out = proportional(box, start, wanted)
    if not known:
        return spread_out
    noise, order = told.variance(cells)[:, None, None], coarse_first(box.shape, ())
    wide = np.repeat(noise.reshape(-1), box.size(everything))
    found = posterior(told.counts(cells).reshape(-1), wide, spread_out.reshape(-1))
    middle, _ = cells_with_margins(told, level, order, noise, *(one.reshape(box.nodes, 1, -1) for one in found))
    near: Floats = np.maximum(order.back(middle), 0.0)
    return near


def _held_sums(told: Told, box: Box, held: Held, target: Floats, totals: Integers) -> tuple[Axes, Integers]:
    """The attributes by which sums are fixed first, and these sums, [node, combination]."""
    if not held.top:
        return (), totals
    coarse, sums = held.top[0], told.kept_sums(Question(held.start, held.top[0]))
    for other in held.top[1:]:
        both = tuple(sorted({*coarse, *other}))
        sums = _joined(told, box, (coarse, sums), (other, told.kept_sums(Question(held.start, other))), target)
        coarse = both
    return coarse, sums


def _joined(told: Told, box: Box, one: tuple[Axes, Integers], other: tuple[Axes, Integers], target: Floats) -> Integers:
    """A table by the attributes of both, near to the target, that has the sums of either."""
    both = tuple(sorted({*one[0], *other[0]}))
    first, middle, last = (
        tuple(a for a in both if a in one[0] and a not in other[0]),
        tuple(a for a in both if a in one[0] and a in other[0]),
        tuple(a for a in both if a not in one[0]),
    )
    order = Order(tuple(box.shape[a] for a in both), *(tuple(map(both.index, part)) for part in (first, middle, last)))
    size, shared, others = order.sizes
    rows = _turned(box, one, first + middle).reshape(-1, shared) * FINE
    columns = _turned(box, other, middle + last).reshape(-1, shared, others) * FINE
    starts = np.arange(box.nodes) * size
    sums = TwoSums(np.repeat(np.arange(box.nodes), size), starts, rows, columns)
    cells = order.into(box.margin(target, both))
    fine = fitted(cells, np.maximum(cells, 0.0) + 1, sums)
    joined: Integers = order.back(whole_in_rows_and_columns(fine, starts, told.bits(f"joined {both}", fine.size)))
    return joined


def _turned(box: Box, sums: tuple[Axes, Integers], wanted: Axes) -> Integers:
    """Sums with their attributes in another order."""
    axes, values = sums
    own = values.reshape(box.nodes, *(box.shape[a] for a in axes))
    return own.transpose(0, *(1 + axes.index(a) for a in wanted))


def _watched(box: Box, order: Order, fine: Integers, margins: Mapping[Axes, Integers]) -> tuple[Integers, Integers]:
    """For each cell the sums that it counts for, and how far these are from what they should be."""
    entries, off, before = [], [], 0
    for axes, wanted in margins.items():
        place = order.into(box.entries(axes)).reshape(-1)
        found = np.zeros(len(wanted), dtype=np.int64)
        np.add.at(found, place, fine)
        entries.append(place + before)
        off.append(found - wanted)
        before += len(wanted)
    return np.stack(entries, axis=1), np.concatenate(off)
