"""Which sampler serves which part of the lattice. Parts are independent, except under the l2 law."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from discreet.arrays import Flags, Integers
from discreet.errors import BadInput
from discreet.lattice.cut_off import cut_off_blocks
from discreet.lattice.fixed_sum import MOST_CELLS_AT_ONCE, gaussian_group
from discreet.lattice.klein import (
    KleinGaussian,
    KleinLaplace,
    Ladder,
    box_ladder,
    chain_ladder,
    free_ladder,
    joined,
    ladder,
)
from discreet.lattice.laminar import GeometricGroup, given_sums
from discreet.lattice.laws import LatticeLaw
from discreet.lattice.merging import Group, Merged
from discreet.lattice.restricted import restricted_free, restricted_noise
from discreet.lattice.structure import Classes, Part, Structure
from discreet.lattice.two_way import WIDEST
from discreet.lattice.two_way_pieces import WIDEST_HALVED, LayeredPiece, MirroredPiece, NarrowPiece, WidePiece
from discreet.laws import Gaussian, Geometric, draw_noise
from discreet.sample.bits import Bits

MOST_MERGED = 10_000_000  # counts drawn by class merging for one draw, most of them thrown away: a second or so
RAREST_CONDITIONED = 1e-4  # the same without negative counts: how many are accepted then depends on the counts
RARE = 0.02  # from here on Klein's walk is faster
LARGEST_BASIS = 150  # basis vectors whose exact Gram-Schmidt form is worked out
# of noise, in units, by sampler and law: their tables and walks grow with it, and beyond this a draw takes many minutes
WIDEST_DRAWN = {
    ("row-transfer", "l1"): 1 << 10,
    ("halved-columns", "l1"): WIDEST_HALVED[False],
    ("merging", "l1"): 1 << 16,
    ("merging", "gaussian"): 1 << 16,
    ("halving", "gaussian"): 1 << 16,
    ("klein", "gaussian"): 1 << 16,
    ("klein", "l2"): 1 << 13,
    ("chain", "l1"): 1 << 16,
    ("chain", "gaussian"): 1 << 16,
}
LAYERED: dict[int, type[MirroredPiece] | type[LayeredPiece]] = {
    2: MirroredPiece,
    3: LayeredPiece,
}  # by the shortest side of a three-way table
APART = 20  # iterations, of about as many steps as there are dimensions: neighbours then correlate by 1/8 at most
SETTLING = 200  # places of a path that are left out, since it starts at zero
LONGEST_WALK = 2_000  # dimensions, walked one by one for every draw: half a second, and seconds for the first


class Piece(Protocol):
    """A sampler of the noise of some cells."""

    @property
    def name(self) -> str: ...

    @property
    def cells(self) -> Integers: ...

    @property
    def grade(self) -> str: ...

    def draw(self, draws: int, bits: Bits, counts: Integers | None) -> Integers:
        """Noise of these cells, a row per draw. `counts` are their counts, read only under inequalities."""


@dataclass(frozen=True, eq=False)
class FreePiece:
    """Cells in no kept sum."""

    cells: Integers
    noise: LatticeLaw
    restricted: bool
    name: str = "independent"
    grade: str = "exact"

    def draw(self, draws: int, bits: Bits, counts: Integers | None) -> Integers:
        size = draws * len(self.cells)
        if self.restricted:
            assert counts is not None and self.noise.odds is not None
            return restricted_free(self.noise.odds, np.tile(counts, draws), bits).reshape(draws, -1)
        if self.noise.odds is not None:
            return draw_noise(Geometric(self.noise.odds), size, bits).reshape(draws, -1)
        assert self.noise.variance is not None
        return draw_noise(Gaussian(self.noise.variance), size, bits).reshape(draws, -1)


@dataclass(frozen=True, eq=False)
class BlockPiece:
    """Disjoint blocks of cells, each with a kept sum."""

    blocks: Classes
    noise: LatticeLaw
    restricted: bool
    grade: str = "exact"

    @property
    def name(self) -> str:
        return "compositions" if self.noise.odds is not None else "halving"

    @property
    def cells(self) -> Integers:
        return self.blocks.cells

    @property
    def sizes(self) -> Integers:
        return self.blocks.sizes

    def draw(self, draws: int, bits: Bits, counts: Integers | None) -> Integers:
        if self.restricted:
            assert counts is not None
            return self._restricted(counts, draws, bits)
        if self.noise.odds is not None:
            sizes = np.tile(self.sizes, draws)
            return given_sums(self.noise.odds, sizes, np.zeros_like(sizes), bits).reshape(draws, -1)
        return self._gaussian(draws, bits)

    def _restricted(self, counts: Integers, draws: int, bits: Bits) -> Integers:
        assert self.noise.odds is not None
        blocks = cut_off_blocks(self.noise.odds, counts, self.sizes)
        together = max(1, MOST_CELLS_AT_ONCE // len(counts))
        runs = [min(together, draws - done) for done in range(0, draws, together)]
        return np.concatenate([blocks.times(run).draw(bits).reshape(run, -1) for run in runs])

    def _gaussian(self, draws: int, bits: Bits) -> Integers:
        assert self.noise.variance is not None
        out = np.zeros((draws, len(self.cells)), dtype=np.int64)
        starts = np.cumsum(self.sizes) - self.sizes
        for size in np.unique(self.sizes[self.sizes > 1]):
            group = gaussian_group(self.noise.variance, int(size))
            places = starts[self.sizes == size][:, None] + np.arange(size)
            values = group.given(np.zeros(draws * len(places), dtype=np.int64), bits)
            out[:, places.ravel()] = values.reshape(draws, -1)
        return out


@dataclass(frozen=True, eq=False)
class MergedPiece:
    """Overlapping sums over few classes."""

    part: Part
    noise: LatticeLaw
    restricted: bool
    name: str = "merging"
    grade: str = "exact"

    @property
    def cells(self) -> Integers:
        return self.part.cells

    @cached_property
    def merged(self) -> Merged:
        groups: list[Group] = []
        for size in self.part.sizes.tolist():
            if self.noise.odds is not None:
                groups.append(GeometricGroup(self.noise.odds, size))
            else:
                assert self.noise.variance is not None
                groups.append(gaussian_group(self.noise.variance, size))
        return Merged(self.part.shape.dense, tuple(groups))

    def draw(self, draws: int, bits: Bits, counts: Integers | None) -> Integers:
        if self.restricted:
            assert counts is not None and self.noise.odds is not None
            classes = np.split(counts, np.cumsum(self.part.sizes)[:-1])
            return restricted_noise(self.noise.odds, self.part.shape.dense, classes, draws, bits)
        return np.concatenate(self.merged.draw(draws, bits), axis=1)


@dataclass(frozen=True, eq=False)
class RepeatedPiece:
    """Parts of one shape, drawn together: the noise of each is another draw of the same."""

    one: Piece  # for cells 0, 1, ...
    part: Part

    @property
    def name(self) -> str:
        return self.one.name

    @property
    def grade(self) -> str:
        return self.one.grade

    @cached_property
    def cells(self) -> Integers:
        return self.part.cells.reshape(self.part.copies, -1)[:, self.one.cells].ravel()

    def draw(self, draws: int, bits: Bits, counts: Integers | None) -> Integers:
        return self.one.draw(draws * self.part.copies, bits, None).reshape(draws, -1)

    def some(self, wanted: Flags) -> RepeatedPiece | None:
        """Of those whose cells, by these flags, are wanted."""
        part = self.part.some(np.flatnonzero(wanted[self.part.cells[:: int(self.part.sizes.sum())]]))
        return RepeatedPiece(self.one, part) if part.copies else None


@dataclass(frozen=True, eq=False)
class WalkPiece:
    """Klein's walk: Gaussian noise on one part, or l2 noise on everything at once."""

    cells: Integers
    steps: Ladder
    noise: LatticeLaw
    name: str = "klein"
    grade: str = "exact"

    @cached_property
    def law(self) -> KleinGaussian | KleinLaplace:
        if self.noise.variance is not None:
            return KleinGaussian(self.steps, self.noise.variance)
        assert self.noise.rate is not None
        return KleinLaplace(self.steps, self.noise.rate)

    def draw(self, draws: int, bits: Bits, counts: Integers | None) -> Integers:
        return np.stack([self.law.draw(bits) for _ in range(draws)])


@dataclass(frozen=True, eq=False)
class RoughWalk(WalkPiece):
    """The same in floats, for a simulation: it is never published."""

    grade: str = "simulated"

    def draw(self, draws: int, bits: Bits, counts: Integers | None) -> Integers:
        from discreet.lattice.rough import rough_draws

        return rough_draws(self.law, draws, bits)


@dataclass(frozen=True, eq=False)
class ChainPiece:
    """A Markov chain of fixed length: diagnosed, never proved."""

    part: Part
    noise: LatticeLaw
    nonnegative: bool
    name: str = "chain"
    grade: str = "diagnosed"

    @property
    def cells(self) -> Integers:
        return self.part.cells

    @cached_property
    def chain(self) -> Any:
        """Made only if it is allowed: its moves can take many seconds to find."""
        from discreet.lattice.chains import chain_sampler

        columns = np.repeat(np.arange(len(self.part.classes)), self.part.sizes)
        matrix = self.part.shape.matrix.tocsc()[:, columns].tocsr()
        if self.noise.variance is not None:
            return chain_sampler(matrix, law="gaussian", sigma=float(self.noise.variance) ** 0.5)
        assert self.noise.odds is not None
        return chain_sampler(matrix, law="l1", epsilon=math.log(self.noise.odds), nonnegative=self.nonnegative)

    def draw(self, draws: int, bits: Bits, counts: Integers | None) -> Integers:
        return np.stack([self.chain.draw(bits, counts) for _ in range(draws)])

    def path(self, draws: int, bits: Bits) -> Integers:
        """Places of one path, for a simulation: so far apart that they tell nearly as much as draws do."""
        seed = int(bits.words(1, 32)[0])
        places: Integers = self.chain.trace(seed, SETTLING + draws, thin=APART)[0, SETTLING:]
        return places


def for_learning(piece: Piece) -> Piece:
    return RoughWalk(piece.cells, piece.steps, piece.noise) if isinstance(piece, WalkPiece) else piece


def in_order(values: Integers, places: Integers) -> Integers:
    """The columns moved to these places, all of them."""
    if np.array_equal(places, np.arange(len(places))):
        return values
    out = np.empty_like(values)
    out[:, places] = values
    return out


def sampler_names(pieces: Iterable[Piece]) -> str:
    """The names of the samplers at work, each once."""
    return "+".join(dict.fromkeys(piece.name for piece in pieces))


def pieces_for(structure: Structure, noise: LatticeLaw, nonnegative: bool) -> tuple[Piece, ...]:
    """The samplers that together draw the whole noise; everything looked at is public."""
    if noise.rate is not None:
        return (_whole_walk(structure, noise),)
    pieces: list[Piece] = []
    if len(structure.untouched):
        pieces.append(FreePiece(structure.untouched, noise, nonnegative))
    if len(structure.apart):
        pieces.append(BlockPiece(structure.apart, noise, nonnegative))
    return (*pieces, *(one for part in structure.alike if part.shape.free for one in _alike(part, noise, nonnegative)))


def _alike(part: Part, noise: LatticeLaw, nonnegative: bool) -> Iterable[Piece]:
    """For parts of one shape: one, where it is known to draw many at once."""
    if part.copies > 1 and not nonnegative:
        width = int(part.sizes.sum())
        one = _overlapping(Part(part.shape, Classes(np.arange(width), part.sizes)), noise, False)
        if isinstance(one, (NarrowPiece, WidePiece, MergedPiece)):
            return (RepeatedPiece(one, part),)
    return (_overlapping(one, noise, nonnegative) for one in part.each)


def _overlapping(part: Part, noise: LatticeLaw, nonnegative: bool) -> Piece:
    if part.shape.places is not None and noise.odds is not None:
        columns = part.shape.places.shape[1]
        if part.shape.grid is not None and not nonnegative and columns <= (WIDEST if part.shape.single else 2):
            return NarrowPiece(part, noise.odds)
        wide = WidePiece(part, noise.odds, nonnegative)
        if wide.short if nonnegative else wide.often:
            return wide
    elif noise.odds is not None and not nonnegative and part.shape.single and part.shape.box is not None:
        shortest = min(part.shape.box.shape)
        layered = LAYERED[shortest](part, noise.odds) if shortest in LAYERED else None
        if layered is not None and layered.often:
            return layered
    merged = MergedPiece(part, noise, nonnegative)
    small = len(part.classes) <= 400
    acceptance = merged.merged.acceptance if small else 0.0
    soon = len(merged.cells) <= MOST_MERGED * acceptance
    often = acceptance >= (RARE if noise.variance is not None else RAREST_CONDITIONED)
    if often if noise.variance is not None or nonnegative else soon:
        return merged
    if noise.variance is not None:
        steps = _ladder(part)
        if steps is not None:
            return WalkPiece(part.cells, steps, noise)
    if soon and not nonnegative:
        return merged
    return ChainPiece(part, noise, nonnegative)


def _ladder(part: Part) -> Ladder | None:
    """The Gram-Schmidt form of a part's basis over its own cells, where it is known or small enough to work out."""
    starts = np.cumsum(part.sizes) - part.sizes
    total = int(part.sizes.sum())
    if part.shape.single and part.shape.whole is not None:
        return box_ladder(part.shape.whole, total)
    blocks = [start + np.arange(size) for start, size in zip(starts.tolist(), part.sizes.tolist())]
    if not part.shape.free:
        return chain_ladder(blocks, total)
    if part.shape.dimensions > LARGEST_BASIS:
        return None
    lifted = np.zeros((len(part.shape.kernel), total), dtype=np.int64)
    lifted[:, starts] = part.shape.kernel
    return ladder(np.vstack([chain_ladder(blocks, total).dense, lifted]))


def _whole_walk(structure: Structure, noise: LatticeLaw) -> WalkPiece:
    ladders = [free_ladder(np.arange(len(structure.untouched)), structure.cells)]
    cells, start = [structure.untouched], len(structure.untouched)
    for part in structure.parts:
        steps = _ladder(part)
        if steps is None:
            raise BadInput(
                "l2 noise was asked for",
                f"these sums leave more than {LARGEST_BASIS} directions free",
                "Use law l1 and keep two margins at most, or sums that are nested or disjoint",
            )
        moved = tuple((places + start, entries) for places, entries in steps.vectors)
        ladders.append(Ladder(structure.cells, moved, steps.norms, steps.below))
        cells.append(part.cells)
        start += steps.cells
    whole = joined(ladders, structure.cells)
    if len(whole.norms) > LONGEST_WALK:
        raise BadInput(
            "l2 noise was asked for",
            f"the lattice has {len(whole.norms):,} dimensions",
            "Use law l1 or gaussian: they split it",
        )
    return WalkPiece(np.concatenate(cells), whole, noise)
