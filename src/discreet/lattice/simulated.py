"""Noise that is drawn again to learn its law and is never published: so draws that are slow may serve several times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.arrays import Integers
from discreet.lattice.sampler import ChainPiece, Piece, RepeatedPiece, for_learning
from discreet.lattice.two_way_pieces import LayeredPiece, WidePiece
from discreet.sample.bits import Bits

TURNED, TURNED_WIDE = 6_000, 24_000  # numbers that are drawn, in three-way tables and in two-way ones
FEWEST_TURNED = 4  # tables that are drawn at least; all others are these, turned
MOST_SLOWLY = 1_000_000  # numbers that are drawn of all tables that lack cells: two seconds
FEWEST_SLOWLY = 300  # draws of each of them, which are rough: standard errors are then known to 5%
AT_ONCE = 1 << 20  # numbers that are turned together


def simulated(pieces: Sequence[Piece], cells: int, draws: int, bits: Bits) -> Integers:
    """The noise of all cells, a row per draw."""
    out = np.zeros((draws, cells), dtype=np.int64)
    slow = sum(len(piece.cells) for piece in pieces if _box(piece) is None and isinstance(piece, WidePiece))
    few = int(np.clip(MOST_SLOWLY // max(1, slow), FEWEST_SLOWLY, max(draws, FEWEST_SLOWLY)))
    for piece in pieces:
        out[:, piece.cells] = _simulated(piece, draws, few, bits)
    return out


def _simulated(piece: Piece, draws: int, few: int, bits: Bits) -> Integers:
    """A chain need not start anew for every draw, a walk may be in floats, and tables whose draws are slow are drawn a
    few times only: whole ones turned, others roughly, in another order than those beside them."""
    if isinstance(piece, ChainPiece):
        return piece.path(draws, bits)
    box = _box(piece)
    if isinstance(piece, RepeatedPiece) and box is not None:
        number = draws * piece.part.copies
        return _turned_together(piece.one.draw(_few(piece.one, box, number), bits, None), box, number, bits).reshape(
            draws, -1
        )
    if box is not None:
        return turned(piece.draw(_few(piece, box, draws), bits, None), box, draws, bits)
    if isinstance(piece, WidePiece):
        drawn = piece.roughly(min(few, draws), bits)
        return drawn if few >= draws else drawn[_rng(bits).integers(few, size=draws)]
    return for_learning(piece).draw(draws, bits, None)


def _box(piece: Piece) -> Integers | None:
    """The places of a whole table, where these are one or several."""
    one = piece.one if isinstance(piece, RepeatedPiece) else piece
    return one.box if isinstance(one, LayeredPiece | WidePiece) else None


def _few(piece: Piece, box: Integers, draws: int) -> int:
    numbers = TURNED if isinstance(piece, LayeredPiece) else TURNED_WIDE
    return min(draws, max(FEWEST_TURNED, numbers // box.size))


def _rng(bits: Bits) -> np.random.Generator:
    return np.random.default_rng(bits.words(4, 32).tolist())


def turned(drawn: Integers, box: Integers, draws: int, bits: Bits) -> Integers:
    """So many tables of these: in a whole table no row, column or layer is told apart, so that in another order they
    are noise of the same law."""
    rng, found = _rng(bits), np.empty((draws, box.size), dtype=drawn.dtype)
    for k in range(draws):
        order = np.ix_(*(rng.permutation(side) for side in box.shape))
        found[k, box.ravel()] = drawn[k % len(drawn)][box[order].ravel()]
    return found


def _turned_together(drawn: Integers, box: Integers, number: int, bits: Bits) -> Integers:
    """The same for tables that stand beside each other, which are many: which one is turned is drawn, too."""
    rng, found = _rng(bits), np.empty((number, box.size), dtype=drawn.dtype)
    step = max(1, AT_ONCE // box.size)
    for start in range(0, number, step):
        some = min(step, number - start)
        down, across, within = (rng.permuted(np.tile(np.arange(side), (some, 1)), axis=1) for side in box.shape)
        places = box[down[:, :, None, None], across[:, None, :, None], within[:, None, None, :]]
        which = rng.integers(len(drawn), size=some)
        found[start : start + some, box.ravel()] = drawn[which[:, None], places.reshape(some, -1)]
    return found
