"""Gaussian noise on any lattice, and l2 noise as a mixture of it.

Klein's walk chooses the coefficients of the basis vectors from last to first, each from a discrete Gaussian around the
point that the earlier choices make best, and accepts the vector by the product of the normalisers rho(Z - c)/rho(Z).
Centres and widths are exact rationals; every choice compares random bits with enclosures.

The l2 law exp(-e r) is bounded by sqrt(e) (Euler's number to the half) times the sum over j of
exp(-j^2/2) exp(-e^2 r^2 / (2 j^2)): for every r one of these tangent curves comes within a factor exp(-1/2). So draw j
by its weight times the mass of its walk, walk with width j/e, and accept by the ratio; on rejection draw j again too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Integers
from discreet.lattice.chances import integer_bounds, settle
from discreet.laws.digit import one_sided_geometric
from discreet.laws.law import scaled
from discreet.numbers import Epsilon, arb_of, enclose
from discreet.sample.bits import Bits
from discreet.sample.draw import WORD_BITS, invert

if TYPE_CHECKING:
    from flint import arb

WIDEST_TABLE = 2  # variances above are drawn by rejection
AHEAD = 64  # numbers drawn in one call, since one at a time costs nearly as much


@dataclass(frozen=True, eq=False)
class Ladder:
    """A basis (cells and entries of each vector), its squared Gram-Schmidt norms, and its coefficients."""

    cells: int
    vectors: tuple[tuple[Integers, Integers], ...]
    norms: tuple[Fraction, ...]
    below: tuple[tuple[tuple[int, Fraction], ...], ...]  # for i: pairs (j, mu_ji), j > i

    @cached_property
    def dense(self) -> Integers:
        out = np.zeros((len(self.vectors), self.cells), dtype=np.int64)
        for i, (cells, entries) in enumerate(self.vectors):
            out[i, cells] = entries
        return out


def ladder(basis: Integers) -> Ladder:
    """The exact Gram-Schmidt form of a basis given by rows."""
    from flint import fmpq_mat, fmpz_mat

    size, cells = basis.shape
    gram = fmpq_mat(fmpz_mat((basis @ basis.T).tolist()))
    # elimination without row exchanges: gram = lower * diagonal * lower'
    rows = [[gram[i, j] for j in range(size)] for i in range(size)]
    below: list[tuple[tuple[int, Fraction], ...]] = []
    norms = []
    for i in range(size):
        pivot = rows[i][i]
        norms.append(_fraction(pivot))
        factors = [(j, rows[i][j] / pivot) for j in range(i + 1, size) if rows[i][j] != 0]
        below.append(tuple((j, _fraction(factor)) for j, factor in factors))
        for j, factor in factors:
            for k, _ in factors:
                if k >= j:
                    rows[j][k] = rows[j][k] - factor * rows[i][k]
    vectors = tuple((np.flatnonzero(row), row[np.flatnonzero(row)]) for row in basis)
    return Ladder(cells, vectors, tuple(norms), tuple(below))


def _fraction(number: object) -> Fraction:
    return Fraction(int(number.p), int(number.q))  # type: ignore[attr-defined]


def box_ladder(place: Integers, cells: int) -> Ladder:
    """Two-way tables, three-way ones with all two-way margins, ..: the product of chains e_i - e_(i+1), whose
    Gram-Schmidt form is known."""
    sides = np.array(place.shape) - 1
    number = np.arange(int(sides.prod())).reshape(sides)
    corners = [np.array(corner) for corner in np.ndindex(*(2,) * place.ndim)]
    signs = np.array([(-1) ** int(corner.sum()) for corner in corners])
    vectors, norms, below = [], [], []
    for first in np.ndindex(*sides):
        at = np.array(first)
        vectors.append((np.array([place[tuple(at + corner)] for corner in corners]), signs))
        norms.append(math.prod((Fraction(i + 2, i + 1) for i in first), start=Fraction(1)))
        steps = []
        for corner in corners[1:]:
            if np.all(at + corner < sides):
                factors = (Fraction(-(i + 1), i + 2) for i, moved in zip(first, corner.tolist()) if moved)
                steps.append((int(number[tuple(at + corner)]), math.prod(factors, start=Fraction(1))))
        below.append(tuple(steps))
    return Ladder(cells, tuple(vectors), tuple(norms), tuple(below))


def chain_ladder(blocks: list[Integers], cells: int) -> Ladder:
    """Blocks of cells that sum to zero: a chain each."""
    vectors, norms, below = [], [], []
    for block in blocks:
        for i in range(len(block) - 1):
            vectors.append((block[i : i + 2], np.array([1, -1])))
            norms.append(Fraction(i + 2, i + 1))
            below.append(((len(vectors), Fraction(-(i + 1), i + 2)),) if i + 2 < len(block) else ())
    return Ladder(cells, tuple(vectors), tuple(norms), tuple(below))


@dataclass(frozen=True, eq=False)
class Stock:
    """Two-sided geometric numbers drawn ahead: P(k) proportional to exp(-|k|/width)."""

    bits: Bits
    shelves: dict[int, list[int]] = field(default_factory=dict)

    def take(self, width: int) -> int:
        shelf = self.shelves.setdefault(width, [])
        if not shelf:
            rate = Epsilon(value=Fraction(1, width))
            both = one_sided_geometric(rate, 2 * AHEAD, self.bits)
            shelf += (both[:AHEAD] - both[AHEAD:]).tolist()
        return shelf.pop()


def _wide(variance: Fraction, shift: Fraction, stock: Stock) -> int:
    """By rejection from two-sided geometric numbers of nearly the same width (after Canonne, Kamath and Steinke)."""
    width = math.isqrt(math.floor(variance)) + 1
    most = abs(shift) / width + variance / (2 * width**2)  # the largest value of |k|/width - (k-shift)^2/(2 variance)
    while True:
        k = stock.take(width)
        exponent = abs(k) / Fraction(width) - (k - shift) ** 2 / (2 * variance) - most
        word = stock.bits.integer(WORD_BITS)
        if settle(lambda b, e=exponent: scaled(enclose(lambda: arb_of(e).exp(), b), b), word, stock.bits):  # type: ignore[misc]
            return k


@lru_cache(maxsize=1 << 14)
def _shifted(variance: Fraction, shift: Fraction, bits: int) -> tuple[int, list[tuple[int, int]]]:
    """Bounds on 2^bits P(X <= k) for P(k) proportional to exp(-(k-shift)^2 / (2 variance)), and the first k."""
    from flint import arb, ctx

    reach = math.ceil(math.sqrt(2 * (bits + 8) * math.log(2) * float(variance))) + 3
    with ctx.workprec(bits + 64):
        rate = -1 / (2 * arb_of(variance))
        masses = [(rate * arb_of((k - shift) ** 2)).exp() for k in range(-reach, reach + 1)]
        # beyond, neighbouring masses fall at least by the factor e^(-(reach-1)/variance)
        fall = 1 - (-arb(reach - 1) / arb_of(variance)).exp()
        before, after = (masses[0] / fall).union(arb(0)), (masses[-1] / fall).union(arb(0))
        scale = arb(2) ** bits / (before + sum(masses, arb(0)) + after)
        running, bounds = before, []
        for mass in masses:
            running = running + mass
            bounds.append(integer_bounds(running * scale, bits))
    return -reach, bounds


def around(variance: Fraction, centre: Fraction, stock: Stock) -> int:
    """A draw from P(k) proportional to exp(-(k - centre)^2 / (2 variance))."""
    whole, bits = round(centre), stock.bits
    shift = centre - whole
    if variance > WIDEST_TABLE:
        return whole + _wide(variance, shift, stock)

    def below(k: int, known: int) -> tuple[int, int]:
        first, bounds = _shifted(variance, shift, known)
        if k < first:
            return 0, bounds[0][1]
        return bounds[k - first] if k - first < len(bounds) else (bounds[-1][0], 1 << known)

    return whole + invert(below, bits.integer(WORD_BITS), WORD_BITS, 0, bits)


def mass(variance: Fraction, shift: Fraction) -> arb:
    """rho(Z - shift): the sum over k of exp(-(k-shift)^2 / (2 variance)), at the working precision; |shift| <= 1/2."""
    from flint import ctx

    return _mass(variance, abs(shift), ctx.prec)


@lru_cache(maxsize=1 << 14)
def _mass(variance: Fraction, shift: Fraction, bits: int) -> arb:
    from flint import arb

    if variance >= 1:  # Poisson's summation: a few terms of the dual sum
        rate = -2 * arb.pi() ** 2 * arb_of(variance)
        reach = math.ceil(math.sqrt(bits * math.log(2) / (2 * math.pi**2 * float(variance)))) + 1
        terms = [(rate * m * m).exp() for m in range(1, reach + 1)]
        series = sum((2 * term * (2 * arb.pi() * arb_of(shift) * m).cos() for m, term in enumerate(terms, 1)), arb(1))
        return (2 * arb.pi() * arb_of(variance)).sqrt() * (series + (4 * terms[-1]).union(-4 * terms[-1]))
    rate = -1 / (2 * arb_of(variance))
    reach = math.ceil(math.sqrt(2 * bits * math.log(2) * float(variance))) + 3
    whole = sum(((rate * arb_of((k - shift) ** 2)).exp() for k in range(-reach, reach + 1)), arb(0))
    return whole + (4 * (rate * reach**2).exp()).union(arb(0))


def walk(steps: Ladder, variance: Fraction, bits: Bits) -> tuple[list[int], list[Fraction]]:
    """Coefficients of the basis, and the shifts of the centres from whole numbers."""
    size, stock = len(steps.norms), Stock(bits)
    chosen, shifts = [0] * size, [Fraction(0)] * size
    for i in range(size - 1, -1, -1):
        centre = -sum((chosen[j] * factor for j, factor in steps.below[i]), Fraction(0))
        chosen[i] = around(variance / steps.norms[i], centre, stock)
        shifts[i] = centre - round(centre)
    return chosen, shifts


@dataclass(frozen=True, eq=False)
class KleinGaussian:
    """P(v) proportional to exp(-|v|^2 / (2 variance)) on the lattice."""

    steps: Ladder
    variance: Fraction

    @cached_property
    def surely(self) -> int:
        """2^64 times a chance that acceptance never falls below."""
        return _chance(self.steps, self.variance, [Fraction(1, 2)] * len(self.steps.norms), WORD_BITS)[0]

    def accepts(self, shifts: list[Fraction], bits: Bits) -> bool:
        word = bits.integer(WORD_BITS)
        return word < self.surely or settle(lambda b: _chance(self.steps, self.variance, shifts, b), word, bits)

    def draw(self, bits: Bits) -> Integers:
        while True:
            chosen, shifts = walk(self.steps, self.variance, bits)
            if self.accepts(shifts, bits):
                return combine(self.steps, chosen)


def combine(steps: Ladder, chosen: list[int]) -> Integers:
    out = np.zeros(steps.cells, dtype=np.int64)
    for number, (cells, entries) in zip(chosen, steps.vectors):
        if number:
            out[cells] += number * entries
    return out


def _chance(steps: Ladder, variance: Fraction, shifts: list[Fraction], bits: int) -> tuple[int, int]:
    """Bounds on 2^bits times the product of rho(Z - c)/rho(Z); each factor is least at c = 1/2."""
    from flint import arb

    def product() -> arb:
        whole = arb(1)
        for norm, shift in zip(steps.norms, shifts):
            if shift:
                whole = whole * mass(variance / norm, shift) / mass(variance / norm, Fraction(0))
        return whole

    return scaled(enclose(product, bits + 16), bits)


@dataclass(frozen=True, eq=False)
class KleinLaplace:
    """P(v) proportional to exp(-rate |v|), |v| the Euclidean norm."""

    steps: Ladder
    rate: Fraction

    def variance(self, j: int) -> Fraction:
        return (j / self.rate) ** 2

    def mass(self, j: int) -> arb:
        """The weight of width j times the mass of its walk."""
        from flint import arb

        whole = (-arb(j * j) / 2).exp()
        for norm in self.steps.norms:
            whole = whole * mass(self.variance(j) / norm, Fraction(0))
        return whole

    def width(self, bits: Bits) -> int:
        def below(k: int, known: int) -> tuple[int, int]:
            if k < 1:
                return 0, 0
            bounds = _widths(self, known)
            return bounds[k - 1] if k <= len(bounds) else (bounds[-1][0], 1 << known)

        return invert(below, bits.integer(WORD_BITS), WORD_BITS, 1 + math.isqrt(len(self.steps.norms)), bits)

    def chance(self, square: int, bits: int) -> tuple[int, int]:
        """Bounds on 2^bits exp(-rate r) / (sqrt(e) times the sum of the tangent curves at r), r^2 = square."""
        from flint import arb, ctx

        def ratio() -> arb:
            exponent = arb_of(self.rate**2 * square)
            curves, j = arb(0), 1
            while True:
                curve = (-(arb(j * j) + exponent / (j * j)) / 2).exp()
                curves += curve
                # from j^4 = 4 rate^2 r^2 on each curve is less than half of the one before
                if j**4 >= 4 * self.rate**2 * square and curve < curves * arb(2) ** -ctx.prec:
                    break
                j += 1
            curves += curve.union(arb(0))
            return (-arb_of(self.rate) * arb(square).sqrt() - arb(1) / 2).exp() / curves

        return scaled(enclose(ratio, bits + 16), bits)

    def draw(self, bits: Bits) -> Integers:
        while True:
            j = self.width(bits)
            chosen, shifts = walk(self.steps, self.variance(j), bits)
            if not _walker(self, j).accepts(shifts, bits):
                continue
            vector = combine(self.steps, chosen)
            square = int(vector @ vector)
            if settle(lambda b, square=square: self.chance(square, b), bits.integer(WORD_BITS), bits):  # type: ignore[misc]
                return vector


@lru_cache(maxsize=64)
def _walker(law: KleinLaplace, j: int) -> KleinGaussian:
    return KleinGaussian(law.steps, law.variance(j))


@lru_cache(maxsize=16)
def _widths(law: KleinLaplace, bits: int) -> list[tuple[int, int]]:
    """Bounds on 2^bits P(width <= j), j = 1, 2, .."""
    from flint import arb, ctx

    size = len(law.steps.norms)
    with ctx.workprec(bits + 64):
        masses: list[arb] = []
        largest, ratio = arb(0), arb(1)
        while not (ratio < 0.5 and masses[-1] < largest * arb(2) ** -(bits + 16)):
            j = len(masses) + 1
            masses.append(law.mass(j))
            largest = largest.max(masses[-1])
            # the mass of a walk grows at most like its width in every step
            ratio = (-arb(2 * j + 1) / 2).exp() * (1 + 1 / arb(j)) ** size
        rest = (masses[-1] * 2 * ratio).union(arb(0))
        scale = arb(2) ** bits / (sum(masses, arb(0)) + rest)
        running, bounds = arb(0), []
        for part in masses:
            running = running + part
            bounds.append(integer_bounds(running * scale, bits))
    return bounds


def joined(ladders: list[Ladder], cells: int) -> Ladder:
    """Lattices on different cells, side by side."""
    vectors: list[tuple[Integers, Integers]] = []
    norms: list[Fraction] = []
    below: list[tuple[tuple[int, Fraction], ...]] = []
    for part in ladders:
        start = len(vectors)
        vectors += part.vectors
        norms += part.norms
        below += [tuple((start + j, factor) for j, factor in steps) for steps in part.below]
    return Ladder(cells, tuple(vectors), tuple(norms), tuple(below))


def free_ladder(untouched: Integers, cells: int) -> Ladder:
    """Cells in no kept sum."""
    vectors = tuple((np.array([cell]), np.array([1])) for cell in untouched)
    return Ladder(cells, vectors, (Fraction(1),) * len(vectors), ((),) * len(vectors))
