"""Splitting row sums over some columns into sums over two halves, for many rows at once: tables with error bounds.

Rows are of kinds (all alike, or each its own). For a kind and a sum q the left part s has chance k(s|q) proportional to
left(s) right(q - s). What is needed of it: its distribution function, for drawing; its characteristic function at a few
frequencies, since the mean of their product over a grid is the chance that the s of all rows sum to zero; and the
potential of q itself, made so large (Hoelder's inequality) that this chance never exceeds the product of the rows'
`excess`. Every table is in floats and comes with `doubt`: no entry is further from the truth than that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.lattice.potentials import Potential, SplitLaw, Tail

Waves = NDArray[np.complex128]
Pair = tuple[Potential, Potential]

UNIT = 2.0**-53  # the relative error of one operation on floats
NEGLIGIBLE = 2.0**-48  # of frequencies that are left out, together: of the size of rounding errors
SLACK = 1 + 2.0**-36  # covers the rounding of sums of up to 2^16 positive terms and of what is done with them
SMALLEST = 1e-200  # sums below it could be touched by underflow
LENGTHENED = 0.97  # a node's tails fall this much slower than those of its halves: then a constant bounds them
MOST_AT_ONCE = 1 << 21  # entries worked on together: 16 MB
MOST_STORED = 1 << 23  # entries of stored distribution functions, 64 MB; of larger tables they are made when needed


@dataclass(frozen=True)
class Frequencies:
    """Frequencies 2 pi j / period for sums over so many rows; `tilt` is for bounds on tails."""

    rows: int
    period: int
    tilt: float


@dataclass(frozen=True, eq=False)
class Spectra:
    """On a grid, by kind and sum. Logarithms: of the largest wave left out, of E e^(tilt s) and of E e^(-tilt s)."""

    grid: Frequencies
    waves: Waves
    left_out: Floats
    rising: Floats
    falling: Floats

    @cached_property
    def shares(self) -> Floats:
        return _shares(self.waves.shape[2], self.grid.period)


@dataclass(frozen=True, eq=False)
class Split:
    """Tables by kind and sum, the sums -reach .. reach; left parts go from -window to window."""

    pairs: tuple[Pair, ...]
    sums: tuple[Potential, ...]  # potentials of the sums themselves
    scales: tuple[float, ...]  # powers of two: excess = scale * potential / (sum of left(s) right(q - s))
    window: int
    spectra: tuple[Spectra, ...]
    doubt: Floats
    log_excess: Floats
    peaks: Floats  # no chance of a single s is larger

    @property
    def reach(self) -> int:
        """Of the sums: the window, or 0 where all sums are zero."""
        return int(self.doubt.shape[1] // 2)

    @property
    def points(self) -> int:
        return 2 * self.window + 1

    def law(self, kind: int, total: int) -> SplitLaw:
        return SplitLaw(*self.pairs[kind], total)

    def over(self, rows: int) -> Spectra:
        return next(spectra for spectra in self.spectra if spectra.grid.rows == rows)

    @cached_property
    def _stored(self) -> Floats | None:
        if self.doubt.size * self.points > MOST_STORED:
            return None
        return self._stacked(np.arange(self.doubt.size))

    def functions(self, places: Integers) -> tuple[Floats, Integers]:
        """Distribution functions of these (kind * sums + sum), one above the other: number plus chance, which never
        falls; and the number of each."""
        if self._stored is not None:
            return self._stored, places
        distinct, numbers = np.unique(places, return_inverse=True)
        return self._stacked(distinct), numbers.reshape(places.shape)

    def _stacked(self, places: Integers) -> Floats:
        sums = self.doubt.shape[1]
        found = np.empty((len(places), self.points))
        kinds = places // sums
        for kind in np.unique(kinds).tolist():
            those = np.flatnonzero(kinds == kind)
            for bite in np.array_split(those, 1 + len(those) * 2 * self.points // MOST_AT_ONCE):
                kernel = _Kernel.of(self.pairs[kind], self.window, places[bite] % sums - self.reach)
                found[bite] = np.minimum(np.cumsum(kernel.chances, axis=1), 1.0)
        found += np.arange(len(places))[:, None]
        return found.ravel()


def split_of(pairs: Sequence[Pair], window: int, grids: Sequence[Frequencies], reach: int) -> Split:
    """Tables for a table of as many rows as the first grid, of sums up to `reach`: the window, or 0. Only speed depends
    on the window and the grids, whose periods are above twice the window."""
    middles = [_Kernel.of(pair, window, np.zeros(1, dtype=np.int64)) for pair in pairs]
    kept = [_kept(middles, grid) for grid in grids]
    found = [_tables(pair, window, grids, kept, reach) for pair in pairs]
    spectra = tuple(
        Spectra(grid, *(np.stack([tables.spectra[i][j] for tables in found]) for j in range(4)))
        for i, grid in enumerate(grids)
    )
    wholes, doubt, peaks, excess = (np.stack(tables) for tables in zip(*(tables.flat for tables in found)))
    made = [_potential(pair, window, logs) for pair, logs in zip(pairs, excess)]
    return Split(
        tuple(pairs),
        tuple(potential for potential, _ in made),
        tuple(scale for _, scale in made),
        window,
        spectra,
        doubt,
        np.stack([_log_excess(whole, *one) for whole, one in zip(wholes, made)]),
        peaks,
    )


@dataclass(frozen=True, eq=False)
class _Tables:
    """Of one kind, by sum. Flat: wholes, doubt, peaks, logarithms of excess; on each grid what Spectra has."""

    flat: tuple[Floats, ...]
    spectra: tuple[tuple[NDArray[Any], ...], ...]

    @property
    def mirrored(self) -> _Tables:
        """Of the opposite sums, in opposite order."""
        spectra = (
            (waves[::-1].conj(), others[::-1], falling[::-1], rising[::-1])
            for waves, others, rising, falling in self.spectra
        )
        return _Tables(tuple(table[::-1] for table in self.flat), tuple(spectra))

    @property
    def but_the_first(self) -> _Tables:
        spectra = (tuple(table[1:] for table in tables) for tables in self.spectra)
        return _Tables(tuple(table[1:] for table in self.flat), tuple(spectra))


def _joined(bites: Sequence[_Tables]) -> _Tables:
    flat = tuple(np.concatenate(tables) for tables in zip(*(bite.flat for bite in bites)))
    spectra = (
        tuple(np.concatenate(tables) for tables in zip(*grids)) for grids in zip(*(bite.spectra for bite in bites))
    )
    return _Tables(flat, tuple(spectra))


def _tables(pair: Pair, window: int, grids: Sequence[Frequencies], kept: Sequence[int], reach: int) -> _Tables:
    """Where both potentials are even, the sums below zero mirror those above."""
    tables = _joined([_bite(kernel, grids, kept) for kernel in _kernels(pair, window, grids, reach)])
    return _joined([tables.mirrored, tables.but_the_first]) if _even(pair) else tables


def _even(pair: Pair) -> bool:
    return pair[0].even and pair[1].even


def _kernels(pair: Pair, window: int, grids: Sequence[Frequencies], reach: int) -> Iterator[_Kernel]:
    longest = max(4 * window, *(grid.period for grid in grids))
    step = max(1, MOST_AT_ONCE // longest)
    for first in range(0 if _even(pair) else -reach, reach + 1, step):
        yield _Kernel.of(pair, window, np.arange(first, min(first + step, reach + 1)))


def _bite(kernel: _Kernel, grids: Sequence[Frequencies], kept: Sequence[int]) -> _Tables:
    spectra: list[tuple[NDArray[Any], ...]] = []
    excess = np.zeros(0)
    for grid, number in zip(grids, kept):
        moduli, others = _moduli(kernel, grid.period, number)
        excess = excess if len(excess) else _excess(moduli, others, grid)
        moments = (_moment(kernel, tilt) for tilt in (grid.tilt, -grid.tilt))
        spectra.append((_waves(kernel, grid.period, number), np.log(others), *moments))
    peaks = np.minimum((kernel.chances.max(axis=1) + kernel.doubt) * SLACK, 1.0)
    return _Tables((kernel.wholes, kernel.doubt, peaks, excess), tuple(spectra))


@dataclass(frozen=True, eq=False)
class _Kernel:
    """left(s) right(q - s) for some q in the window and s up to twice as far, one point more on both sides."""

    left: Potential
    right: Potential
    window: int
    weights: Floats

    @classmethod
    def of(cls, pair: Pair, window: int, sums: Integers) -> _Kernel:
        left, right = pair
        across = left.floats(2 * window + 1)
        back = sliding_window_view(right.floats(3 * window + 1)[::-1], 4 * window + 3)
        return cls(left, right, window, back[window - sums] * across)

    @cached_property
    def plain(self) -> Floats:
        """Sums of weights, without what lies beyond."""
        return np.asarray(self.weights[:, 1:-1].sum(axis=1))

    @cached_property
    def wholes(self) -> Floats:
        return np.where(self.plain > SMALLEST, self.plain, 1.0)

    @cached_property
    def ratios(self) -> tuple[float, float]:
        """Of the geometric series beyond, downwards and upwards."""
        return _ratios(self.left, self.right)

    @cached_property
    def chances(self) -> Floats:
        """k(s|q) for s in the window."""
        return self.weights[:, self.window + 1 : -self.window - 1] / self.wholes[:, None]

    @cached_property
    def doubt(self) -> Floats:
        """What s outside the window can amount to, and rounding: sums of N positive terms are off by N roundings at
        most, every term by a few."""
        down, up = self.ratios
        outer = self.weights[:, 1 : self.window + 1].sum(axis=1) + self.weights[:, -self.window - 1 : -1].sum(axis=1)
        series = self.weights[:, 0] / (1 - down) + self.weights[:, -1] / (1 - up)
        rest = (outer + series) / self.wholes * SLACK
        rounding = (6 * self.weights.shape[1] + 64) * UNIT
        return np.where(self.plain > SMALLEST, np.minimum(4 * rest + rounding, 1.0), 1.0)


def _ratios(left: Potential, right: Potential) -> tuple[float, float]:
    return float(left.down.ratio * right.up.ratio), float(left.up.ratio * right.down.ratio)


def _waves(kernel: _Kernel, period: int, kept: int) -> Waves:
    """Sums of at most N terms of modulus at most k(s|q): within N roundings of the truth, like everything in doubt."""
    cosines, sines = _turns(kernel.window, period, kept)
    return kernel.chances @ cosines + 1j * (kernel.chances @ sines)


@lru_cache(maxsize=2)
def _turns(window: int, period: int, kept: int) -> tuple[Floats, Floats]:
    """Of 2 pi s j / period, reduced in integers to half a turn."""
    steps = np.arange(-window, window + 1)[:, None] * np.arange(kept)
    angles = ((steps + period // 2) % period - period // 2) * (2 * math.pi / period)
    return np.cos(angles), np.sin(angles)


def _moduli(kernel: _Kernel, period: int, kept: int) -> tuple[Floats, Floats]:
    """Upper bounds on the modulus of the characteristic function: at the kept frequencies of a grid, and at all others.

    A fast transform of length T errs in the mean square by at most a few log2(T) roundings of the whole; no single
    frequency can therefore be off by more than sqrt(T) times that.
    """
    error = 16 * math.log2(period) * math.sqrt(period) * UNIT
    transform = np.fft.rfft(kernel.chances, n=period, axis=1)
    squares = transform.real**2 + transform.imag**2
    doubt = kernel.doubt + error
    first = np.minimum(np.sqrt(squares[:, :kept]) + doubt[:, None], 1.0)
    others = squares[:, kept:].max(axis=1) if kept < squares.shape[1] else np.zeros(len(squares))
    return first, np.minimum(np.sqrt(others) + doubt, 1.0)


def _kept(middles: Sequence[_Kernel], grid: Frequencies) -> int:
    """How many frequencies do not die out in the product over the rows, if all sums are zero."""
    moduli = np.concatenate([_moduli(middle, grid.period, grid.period // 2 + 1)[0] for middle in middles])
    product = np.log(moduli).mean(axis=0) * grid.rows
    return int(np.flatnonzero(product > math.log(NEGLIGIBLE))[-1]) + 1


def _excess(moduli: Floats, others: Floats, grid: Frequencies) -> Floats:
    """Not below (1/2pi int |k^|^rows)^(1/rows), in logarithms.

    For an even power the integral is the chance that a sum of differences is zero; the mean over the grid is the chance
    that it is a multiple of the period, and larger. Odd powers lie between even ones, convex in logarithms.
    """
    even = (grid.rows - 1, grid.rows + 1) if grid.rows % 2 else (grid.rows, grid.rows)
    shares = _shares(moduli.shape[1], grid.period)
    means = ((moduli**power) @ shares + others**power for power in even)
    return np.asarray(sum(np.log(np.minimum(mean * SLACK, 1.0)) for mean in means) / (2 * grid.rows))


def _shares(kept: int, period: int) -> Floats:
    """What each of the first frequencies, and its mirror image, counts in a mean over the grid."""
    shares = np.full(kept, 2.0 / period)
    shares[0] = 1.0 / period
    if kept == period // 2 + 1:
        shares[-1] = 1.0 / period
    return shares


def _moment(kernel: _Kernel, tilt: float) -> Floats:
    """Upper bounds on log E e^(tilt s)."""
    reach = 2 * kernel.window + 1
    tilted = kernel.weights * np.exp(tilt * np.arange(-reach, reach + 1))
    down, up = kernel.ratios
    tilted[:, 0] /= 1 - down * math.exp(-tilt)
    tilted[:, -1] /= 1 - up * math.exp(tilt)
    return np.asarray(np.log(np.where(kernel.doubt < 1, tilted.sum(axis=1) / kernel.wholes, 1.0) * SLACK))


def _potential(pair: Pair, window: int, log_excess: Floats) -> tuple[Potential, float]:
    """Large enough by `log_excess`, where that is known; all weights of the sum together up to three windows; larger
    beyond."""
    left, right = pair
    raised = _all_weights(left, right, 3 * window)
    reach = len(log_excess) // 2
    raised[3 * window - reach : 3 * window + reach + 1] *= np.exp(log_excess) * SLACK
    if _even(pair):
        raised = np.maximum(raised, raised[::-1])
    scale = 2.0 ** math.floor(math.log2(raised[3 * window]))
    least = None if left.least is None or right.least is None else left.least + right.least
    up, down = (_tail(pair, side, 3 * window, scale) for side in (1, -1))
    return Potential(-3 * window, raised / scale, down, up, least), scale


def _all_weights(left: Potential, right: Potential, reach: int) -> Floats:
    """Not below the sum of left(s) right(q - s) over all s, for q in -reach .. reach."""
    across, back = left.floats(2 * reach + 1), right.floats(3 * reach + 1)
    down, up = _ratios(left, right)
    below = across[0] / (1 - down) * back[-2 * reach - 1 :]
    above = across[-1] / (1 - up) * back[: 2 * reach + 1]
    return np.asarray((np.convolve(back, across, "valid") + below + above) * SLACK)


def _tail(pair: Pair, side: int, end: int, scale: float) -> Tail:
    """By Chernoff's bound: the weights of q together are at most ratio^q sum left(s) ratio^-s sum right(s) ratio^-s."""
    ratio = max(float(half.up.ratio if side > 0 else half.down.ratio) for half in pair) ** LENGTHENED
    factor = math.prod(_transform(half, side, ratio, 2 * end) for half in pair)
    return Tail(Fraction(factor / scale * ratio**end * SLACK), Fraction(ratio))


def _transform(half: Potential, side: int, ratio: float, reach: int) -> float:
    """Not below the sum of half(s) ratio^(-side s)."""
    values, far, near = half.floats(reach)[::side], half.up.ratio, half.down.ratio
    if side < 0:
        far, near = near, far
    weights = values * ratio ** (-np.arange(-reach, reach + 1.0))
    beyond = weights[-1] / (1 - float(far) / ratio) + weights[0] / (1 - float(near) * ratio)
    return float(weights.sum() + beyond) * SLACK


def _log_excess(wholes: Floats, potential: Potential, scale: float) -> Floats:
    """Of the potential as it is stored."""
    middle, reach = len(potential.values) // 2, len(wholes) // 2
    ratio = scale * potential.values[middle - reach : middle + reach + 1] / wholes
    return np.log(np.where(ratio > 0, ratio, 1.0))
