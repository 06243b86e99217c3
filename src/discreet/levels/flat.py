"""Cells of which only margins are known: consistent margins, then maximum entropy.

Margins are made non-negative and consistent from coarse to fine: each is fitted to the two that lack its first and its
last attribute, after it has been drawn towards what these say of it. Of all tables with such margins the one of maximum
entropy assumes nothing else; iterative proportional fitting finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Words
from discreet.lattice.blocks import nearest_in_blocks
from discreet.levels.design import subsets
from discreet.levels.fit import TwoSums, fitted
from discreet.levels.fixed import FINE, folded
from discreet.levels.held import Axes
from discreet.levels.shrink import posterior

SWEEPS = 50  # of proportional fitting, at most
CLOSE = 1 / 64  # of a count: what the margins may be off
SLOWEST = 0.9  # margins that do not fit together stay off: another sweep must gain a tenth


@dataclass(frozen=True, eq=False)
class Box:
    """Nodes times attributes; every margin is by nodes, and by some attributes."""

    nodes: int
    shape: tuple[int, ...]

    def size(self, axes: Axes) -> int:
        return int(np.prod([self.shape[a] for a in axes], dtype=np.int64))

    def margin(self, table: Floats, axes: Axes) -> Floats:
        """[node, combination]: summed over all other attributes."""
        others = tuple(a for a in range(len(self.shape)) if a not in axes)
        turned = table.reshape(self.nodes, *self.shape).transpose(*(1 + a for a in others), 0, *(1 + a for a in axes))
        return folded(turned.reshape(self.size(others), self.nodes, self.size(axes)))

    def broadcast(self, margin: Any, axes: Axes) -> Any:
        """Of the shape of the table, but one long where it does not depend on an attribute."""
        return margin.reshape(self.nodes, *(n if a in axes else 1 for a, n in enumerate(self.shape)))

    def entries(self, axes: Axes) -> Integers:
        """For every cell, the place in the margin that it counts for."""
        wide = self.broadcast(np.arange(self.nodes * self.size(axes)), axes)
        return np.broadcast_to(wide, (self.nodes, *self.shape)).reshape(-1)


@dataclass(frozen=True, eq=False)
class Estimated:
    """A margin in multiples of 1/FINE, and the variance of its entries for every node."""

    fine: Integers
    variance: Floats


def consistent_margins(
    box: Box, known: Iterable[Axes], estimate: Callable[[Axes], Estimated], totals: Integers, words: Words
) -> dict[Axes, Integers]:
    """Non-negative margins in multiples of 1/FINE with these totals and with each other's sums; and all that they give.

    Margins by three and more attributes have two of their sums, and are near to the others.
    """
    wanted = sorted({some for one in known for some in subsets(one)}, key=lambda one: (len(one), one))
    found: dict[Axes, Integers] = {(): totals.reshape(-1)}
    for axes in wanted:
        if len(axes) == 1:
            flat, sizes = estimate(axes).fine.reshape(-1), np.full(box.nodes, box.size(axes))
            found[axes] = nearest_in_blocks(flat, sizes, found[()], words[: len(flat)])
        elif axes:
            found[axes] = _between(box, axes, estimate(axes), found)
    return found


def _between(box: Box, axes: Axes, estimated: Estimated, found: Mapping[Axes, Integers]) -> Integers:
    """A margin near to its estimate with the sums of two that lack an attribute of it."""
    first, middle, last = (box.size(part) for part in (axes[:1], axes[1:-1], axes[-1:]))
    rows, columns = found[axes[:-1]].reshape(-1, middle), found[axes[1:]].reshape(box.nodes, middle, last)
    parent = np.repeat(np.arange(box.nodes), first)
    inner = np.maximum(columns.sum(axis=2), 1)[parent]
    prior = rows[:, :, None] * (columns[parent] / inner[:, :, None]) / np.float64(FINE)
    cells = (estimated.fine / np.float64(FINE)).reshape(prior.shape)
    noise = np.repeat(estimated.variance, prior.size // box.nodes)
    target, spread = posterior(cells.reshape(-1), noise, prior.reshape(-1))
    sums = TwoSums(parent, np.arange(box.nodes) * first, rows, columns)
    return fitted(target.reshape(prior.shape), spread.reshape(prior.shape), sums).reshape(-1)


def proportional(box: Box, start: Floats, margins: Mapping[Axes, Floats], sweeps: int = SWEEPS) -> Floats:
    """The table with these margins that is the start times a factor for every entry of every margin; or, where they do
    not fit together, nearly these margins."""
    table, before = start.reshape(box.nodes, *box.shape), np.inf
    for _ in range(sweeps):
        worst = 0.0
        for axes, wanted in margins.items():
            found = box.margin(table, axes)
            worst = max(worst, float(np.abs(found - wanted).max()))
            factor = np.divide(wanted, found, out=np.zeros_like(found), where=found > 0)
            table = table * box.broadcast(factor, axes)
        if worst < CLOSE or worst > SLOWEST * before:
            break
        before = worst
    return table
