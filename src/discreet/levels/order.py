"""Cells by some attributes first: a table of rows and columns for each node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.levels.held import Axes


@dataclass(frozen=True)
class Order:
    """Cells of a node in another order of attributes, parted into three: the first, the middle and the last ones."""

    shape: tuple[int, ...]  # of the attributes, in their own order
    first: Axes
    middle: Axes
    last: Axes

    @property
    def axes(self) -> Axes:
        return self.first + self.middle + self.last

    @property
    def sizes(self) -> tuple[int, int, int]:
        """How many combinations each part has."""
        first, middle, last = (
            int(np.prod([self.shape[a] for a in part], dtype=np.int64)) for part in (self.first, self.middle, self.last)
        )
        return first, middle, last

    def into(self, cells: Any) -> Any:
        """[node and first, middle, last]."""
        _, middle, last = self.sizes
        turned = np.asarray(cells).reshape(-1, *self.shape).transpose(0, *(1 + a for a in self.axes))
        return turned.reshape(-1, middle, last)

    def back(self, cells: Any) -> Any:
        """[node, cell]."""
        inner = cells.reshape(-1, *(self.shape[a] for a in self.axes))
        back = (1 + self.axes.index(a) for a in range(len(self.shape)))
        return inner.transpose(0, *back).reshape(len(inner), -1)


def coarse_first(shape: tuple[int, ...], coarse: Axes) -> Order:
    """[node, coarse, the others]."""
    return Order(shape, (), coarse, tuple(a for a in range(len(shape)) if a not in coarse))
