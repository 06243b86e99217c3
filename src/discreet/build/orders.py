"""Requirements that order two entries each, for all entries at once.

The same promises as the rows of `requirements`, as arrays: with a thousand counts there are millions of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Integers


@dataclass(frozen=True, eq=False)
class Orders:
    """T[small] <= T[large], places counted row by row; each is about one count, `offset` from it lies `small`."""

    small: Integers
    large: Integers
    about: Integers
    offset: Integers

    def where(self, chosen: Integers) -> Orders:
        return Orders(self.small[chosen], self.large[chosen], self.about[chosen], self.offset[chosen])


def _monotone(size: int, swapped: bool) -> Orders:
    """From the count outwards, one step after the other."""
    about, place = np.divmod(np.arange(size * size), size)
    found = []
    for step, more in ((1, (place >= about) & (place < size - 1)), (-1, (place <= about) & (place > 0))):
        found.append(_orders(size, swapped, about[more], place[more] + step, place[more]))
    return Orders(*(np.concatenate(parts) for parts in zip(*found)))


def _honest(size: int, swapped: bool) -> Orders:
    """Everything against the entry of the count itself."""
    about, place = np.divmod(np.arange(size * size), size)
    other = about != place
    return Orders(*_orders(size, swapped, about[other], place[other], about[other]))


def _orders(size: int, swapped: bool, about: Integers, small: Integers, large: Integers) -> tuple[Integers, ...]:
    """`about` is the input, or where `swapped` the output."""
    far, near = (1, size) if swapped else (size, 1)
    return about * far + small * near, about * far + large * near, about, small - about


ORDERS: dict[str, Callable[[int], Orders]] = {
    "column-monotone": lambda size: _monotone(size, False),
    "column-honest": lambda size: _honest(size, False),
    "row-monotone": lambda size: _monotone(size, True),
    "row-honest": lambda size: _honest(size, True),
}
