"""Rounding inside blocks that watches other sums: what one cell is rounded up, others with the same sums are down."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.levels.compiled import LOOPS_WORTH_LOADING, kernels
from discreet.levels.fixed import FINE, FINE_BITS


def whole_watching(fine: Integers, sizes: Integers, entries: Integers, off: Integers) -> Integers:
    """Floors or ceilings of multiples of 1/FINE, with the same whole sum in every block.

    `entries[cell]` are the sums that a cell counts for, and `off` how far each of them is from what it should be.
    """
    starts = np.append(0, np.cumsum(sizes))
    if (compiled := kernels(len(fine), LOOPS_WORTH_LOADING)) is not None:
        whole = fine.copy()
        compiled.settle_blocks(whole, starts, entries, off.copy(), FINE)
        return whole >> FINE_BITS
    cells = fine.tolist()
    settle_blocks(cells, starts.tolist(), entries.tolist(), off.tolist(), FINE)
    return np.array(cells, dtype=np.int64) >> FINE_BITS


def settle_blocks(cells: Any, starts: Any, entries: Any, off: Any, unit: int) -> None:
    """Two cells of a block that are not whole pass as much between them as makes one of them whole, that way round
    which brings the sums nearer to what they should be; in place. Runs as it is, or compiled."""
    for block in range(len(starts) - 1):
        one = -1
        for other in range(starts[block], starts[block + 1]):
            if cells[other] % unit == 0:
                continue
            if one < 0:
                one = other
                continue
            first, second = cells[one] % unit, cells[other] % unit
            up, down = min(unit - first, second), min(first, unit - second)
            slope, changed = 0, 1
            for k in range(len(entries[one])):
                here, there = entries[one][k], entries[other][k]
                if here != there:
                    slope += off[here] - off[there]
                    changed += 1
            step = up if up * (slope + changed * up) <= down * (changed * down - slope) else -down
            cells[one] += step
            cells[other] -= step
            for k in range(len(entries[one])):
                off[entries[one][k]] += step
                off[entries[other][k]] -= step
            if cells[one] % unit == 0:
                one = other if cells[other] % unit != 0 else -1
