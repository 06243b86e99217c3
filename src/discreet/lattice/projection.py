"""The nearest table without negative counts that has the same kept sums: public post-processing of a signed release.

Noise on a lattice is independent noise of equal width given the kept sums, and these do not change: plain least squares
do. The signed values are whole, so the nearest whole table is looked for at once, and nothing is left to be rounded.

    cells in no sum        negative ones become zero
    nested, disjoint sums  every block by itself: a level is taken off all cells that stay above zero
    two-way tables         rows as blocks, then units are moved along shortest paths until the columns fit
    other sums             least squares, rounded by an integer program; multipliers bound what is lost

The first three work in whole numbers alone and give the same table everywhere. Among equally near tables, public words
that are expanded from the signed values themselves decide, so that no row is preferred for its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Flags, Integers, Words
from discreet.errors import BadInput, Infeasible, called
from discreet.lattice.blocks import nearest_in_blocks
from discreet.lattice.rounding import Rounded, bound_below, nearest_by_program
from discreet.lattice.structure import Classes, Part, Structure
from discreet.lattice.transport import nearest_two_way
from discreet.public_map import public_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_PROGRAMMED = 5000  # cells of one group of sums that overlap in no shape we know: a program of seconds


@dataclass(frozen=True, eq=False)
class Projection:
    """The nearest counts; `gap` is by how much their squared distance may exceed the least, and `multipliers` prove it.

    Both are empty where all sums are nested, disjoint or the margins of two-way tables: there the counts are nearest.
    """

    counts: Integers
    gap: Fraction
    multipliers: Integers


def require_projectable(structure: Structure) -> None:
    """Refuse sums onto which nothing could be projected within seconds, while nothing is spent."""
    for part in programmed(structure):
        if (cells := int(part.sizes.sum())) > MOST_PROGRAMMED:
            raise BadInput(
                "no negative counts were asked for, by projection",
                f"{cells:,} rows are in sums that overlap in no shape with a fast projection",
                f"Keep fewer sums, up to {MOST_PROGRAMMED:,} such rows, or use {called('nonnegative_by', 'condition')}",
            )


def require_counts(sums: Integers, counts: Integers) -> None:
    """Refuse a table that no table without negative counts could stand for."""
    if len(sums) and sums.min() < 0:
        raise Infeasible("no negative counts were asked for", "a kept sum is negative", "Allow negative counts")
    if counts.min(initial=0) < 0:
        raise BadInput("no negative counts were asked for", "the table itself has one", "Allow negative counts")


def programmed(structure: Structure) -> list[Part]:
    """Sums that overlap and are not the margins of a two-way table."""
    return [part for part in structure.parts if part.shape.free and part.shape.grid is None]


def project(structure: Structure, signed: Integers) -> Projection:
    """The nearest non-negative counts with the same kept sums."""
    counts, words = exactly(structure, signed), _words(signed)
    rounded = []
    for part in programmed(structure):
        cells = part.cells
        rounded.append(nearest_by_program(cell_matrix(part), signed[cells], words[cells]))
        counts[cells] = rounded[-1].counts
    if not rounded:
        return Projection(counts, Fraction(0), np.zeros(0, dtype=np.int64))
    return Projection(counts, sum((one.gap for one in rounded), Fraction(0)), _multipliers(rounded))


def exactly(structure: Structure, signed: Integers) -> Integers:
    """The same where whole numbers suffice; cells of other sums are left as they are."""
    words = _words(signed)
    counts = signed.copy()
    counts[structure.untouched] = np.maximum(signed[structure.untouched], 0)
    blocks = structure.apart
    if len(blocks):
        cells = blocks.cells
        counts[cells] = nearest_in_blocks(signed[cells], blocks.sizes, blocks.sums(signed), words[cells])
    for part in structure.alike:
        if part.shape.free and part.shape.grid is not None:
            place = part.shape.grid.place
            order = Classes(np.arange(part.sizes.sum()), part.sizes).some(place.ravel()).cells
            cells = part.cells.reshape(part.copies, -1)[:, order]
            counts[cells] = nearest_two_way(signed[cells], part.sizes[place], words[cells])
    return counts


def projected_by_program(structure: Structure) -> Flags:
    """Which cells no replay in whole numbers decides."""
    found = np.zeros(structure.cells, dtype=bool)
    for part in programmed(structure):
        found[part.cells] = True
    return found


def gap_of(structure: Structure, signed: Integers, counts: Integers, multipliers: Integers) -> Fraction | None:
    """By how much counts may be further away than the nearest, by these multipliers; None: they are not as many."""
    parts = programmed(structure)
    if len(multipliers) != sum(part.shape.matrix.shape[0] for part in parts):
        return None
    gap, start = Fraction(0), 0
    for part in parts:
        cells, sums = part.cells, part.shape.matrix.shape[0]
        least = bound_below(cell_matrix(part), signed[cells], multipliers[start : start + sums])
        gap += sum(int(z - y) ** 2 for z, y in zip(counts[cells].tolist(), signed[cells].tolist())) - least
        start += sums
    return gap


def cell_matrix(part: Part) -> csr_array:
    """A row per sum, a column per cell, the cells class after class."""
    from scipy.sparse import csr_array

    columns = np.repeat(np.arange(len(part.classes)), part.sizes)
    return csr_array(part.shape.matrix.tocsc()[:, columns].astype(np.int64))


def _multipliers(rounded: list[Rounded]) -> Integers:
    return np.concatenate([one.multipliers for one in rounded])


def _words(signed: Integers) -> Words:
    return public_words(sha256(signed.astype("<i8").tobytes()).hexdigest(), "among equals", len(signed))
