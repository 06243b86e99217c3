"""Samplers of l1 noise on tables with both margins kept, for the cells of one part; and on three-way tables with a
short side, which are such tables of pairs or of triples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.arrays import Flags, Integers
from discreet.lattice.halved_columns import HalvedColumns, noise_table, nonnegative_table
from discreet.lattice.laminar import given_sums
from discreet.lattice.laws import L1, width_of
from discreet.lattice.structure import Part
from discreet.lattice.three_layers import ThreeLayers, three_layers
from discreet.lattice.two_way import Narrow
from discreet.sample.bits import Bits

SELDOM = 0.002  # trials of whole tables, of a millisecond or more each, that must end in one
WIDEST_HALVED = {False: 1 << 6, True: 1 << 4}  # of noise, in units, by whether it is conditioned: seconds of a plan
LONGEST_SHORTER_SIDE = 100  # of a two-way table: 100 x 100 takes ten seconds a draw, and more may take many minutes
LONGEST_CONDITIONED = 12  # side of a two-way table without negative counts: beyond, hardly a trial may be accepted


@dataclass(frozen=True, eq=False)
class NarrowPiece:
    """A two-way table of at most four columns."""

    part: Part
    odds: Fraction
    name: str = "row-transfer"
    grade: str = "exact"

    @cached_property
    def cells(self) -> Integers:
        """Row by row of the table, if every class is one cell."""
        cells = self.part.cells
        return cells[self._order] if self.part.shape.single else cells

    @cached_property
    def _order(self) -> Integers:
        assert self.part.shape.grid is not None
        return self.part.shape.grid.place.ravel()

    @cached_property
    def narrow(self) -> Narrow:
        assert self.part.shape.grid is not None
        return Narrow(self.odds, self.part.sizes[self.part.shape.grid.place])

    def draw(self, draws: int, bits: Bits, counts: Integers | None) -> Integers:
        sums = self.narrow.draw(draws, bits).reshape(draws, -1)
        return in_cells(self.part, self.odds, sums, self._order, bits)


@dataclass(frozen=True, eq=False)
class WidePiece:
    """A two-way table of any number of columns, or one without negative counts."""

    part: Part
    odds: Fraction
    restricted: bool
    grade: str = "exact"

    @property
    def name(self) -> str:
        return "halved-nonnegative" if self.restricted else "halved-columns"

    @property
    def _places(self) -> Integers:
        assert self.part.shape.places is not None
        return self.part.shape.places

    @cached_property
    def _there(self) -> Flags:
        return self._places >= 0

    @cached_property
    def cells(self) -> Integers:
        """Row by row of the table, if every class is one cell."""
        cells = self.part.cells
        return cells[self._order] if self.part.shape.single else cells

    @property
    def _order(self) -> Integers:
        return self._places[self._there]

    @cached_property
    def box(self) -> Integers | None:
        """The places of its cells, by row, by column and within a class, where no row and no column differs from the
        others; None where some do, or where noise is conditioned on counts, which differ."""
        sizes = self.part.sizes
        if self.restricted or not self._there.all() or (sizes != sizes[0]).any():
            return None
        numbers = np.arange(self._places.size).reshape(self._places.shape) if self.part.shape.single else self._places
        return np.asarray(numbers[:, :, None] * sizes[0] + np.arange(sizes[0]))

    @cached_property
    def table(self) -> HalvedColumns:
        sizes = np.zeros(self._places.shape, dtype=np.int64)
        sizes[self._there] = self.part.sizes[self._order]
        usual = int(np.bincount(sizes.ravel()).argmax())
        others = ((int(i), int(j), int(sizes[i, j])) for i, j in np.argwhere(sizes != usual))
        return noise_table(self.odds, *sizes.shape, usual, frozenset(others))

    @property
    def _too_wide(self) -> bool:
        """Smaller tables may be wider where each has tables of its own, which grow with the square of the width."""
        rows, columns = self._places.shape
        smaller = LONGEST_CONDITIONED * (LONGEST_CONDITIONED - 1) / (rows * (columns - 1)) if self.restricted else 1
        return width_of(L1(self.odds)) > WIDEST_HALVED[self.restricted] * math.sqrt(smaller)

    @property
    def short(self) -> bool:
        """Whether it may be conditioned: single cells, and not so many that hardly a trial might be accepted."""
        return self.part.shape.single and len(self._places) <= LONGEST_CONDITIONED and not self._too_wide

    @property
    def often(self) -> bool:
        """Whether it accepts often enough: it need not where noise is so narrow that most cells are zero. Where it is
        too wide to be planned, that is said instead."""
        if self._places.shape[1] > LONGEST_SHORTER_SIDE:
            return False
        return self._too_wide or self.table.acceptance >= SELDOM

    def draw(self, draws: int, bits: Bits, counts: Integers | None) -> Integers:
        table = self._conditioned(counts) if self.restricted else self.table
        return self._in_cells(table.draw(draws, bits), bits)

    def roughly(self, draws: int, bits: Bits) -> Integers:
        """Nearly the same, for a simulation: it is never published."""
        return self._in_cells(self.table.roughly(draws, bits), bits)

    def _in_cells(self, tables: Integers, bits: Bits) -> Integers:
        return in_cells(self.part, self.odds, tables[:, self._there], self._order, bits)

    def _conditioned(self, counts: Integers | None) -> HalvedColumns:
        assert counts is not None
        table = np.zeros(self._there.shape, dtype=np.int64)
        table[self._there] = counts
        return nonnegative_table(self.odds, table, self._there)


@dataclass(frozen=True, eq=False)
class MirroredPiece:
    """A three-way table with a side of two, all two-way margins kept: what one layer gains the other loses. So a layer
    is a two-way table with its margins kept, in which every unit counts twice."""

    part: Part
    odds: Fraction
    name: str = "halved-columns"
    grade: str = "exact"

    @cached_property
    def _layers(self) -> Integers:
        return _layers(self.part, 2)

    @cached_property
    def cells(self) -> Integers:
        return self.part.cells[self._layers.ravel()]

    @cached_property
    def table(self) -> HalvedColumns:
        return noise_table(self.odds**2, *self._layers.shape[1:])

    @property
    def often(self) -> bool:
        """Whether it can be planned in seconds, and accepts often enough."""
        return width_of(L1(self.odds)) <= WIDEST_HALVED[False] and self.table.acceptance >= SELDOM

    def draw(self, draws: int, bits: Bits, counts: Integers | None) -> Integers:
        one = self.table.draw(draws, bits).reshape(draws, -1)
        return np.concatenate([one, -one], axis=1)


@dataclass(frozen=True, eq=False)
class LayeredPiece:
    """A three-way table with a side of three, all two-way margins kept."""

    part: Part
    odds: Fraction
    name: str = "halved-layers"
    grade: str = "exact"

    @cached_property
    def _layers(self) -> Integers:
        return _layers(self.part, 3)

    @cached_property
    def cells(self) -> Integers:
        return self.part.cells[self._layers.ravel()]

    @property
    def box(self) -> Integers:
        """The places of its cells."""
        return np.arange(self._layers.size).reshape(self._layers.shape)

    @cached_property
    def table(self) -> ThreeLayers | None:
        return three_layers(self.odds, *self._layers.shape[1:])

    @property
    def often(self) -> bool:
        """Whether it can be planned in seconds, and accepts often enough."""
        return self.table is not None and self.table.often

    def draw(self, draws: int, bits: Bits, counts: Integers | None) -> Integers:
        assert self.table is not None
        return self.table.draw(draws, bits).reshape(draws, -1)


def _layers(part: Part, number: int) -> Integers:
    """So many layers of a three-way table, their longer side down."""
    assert part.shape.box is not None
    layers = np.moveaxis(part.shape.box, part.shape.box.shape.index(number), 0)
    return layers if layers.shape[1] >= layers.shape[2] else layers.transpose(0, 2, 1)


def in_cells(part: Part, odds: Fraction, sums: Integers, order: Integers, bits: Bits) -> Integers:
    """Noise of the cells, a row per draw, given the sums of the classes in this order: the sums themselves where every
    class is one cell, otherwise class after class."""
    if part.shape.single:
        return sums
    by_class = sums[:, np.argsort(order)]
    return given_sums(odds, np.tile(part.sizes, len(sums)), by_class.ravel(), bits).reshape(len(sums), -1)
