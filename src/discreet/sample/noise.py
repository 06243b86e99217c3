"""Where noise was added: now a law adds itself."""

# until the last caller has moved
from __future__ import annotations

from fractions import Fraction

from discreet.arrays import Integers
from discreet.laws import Gaussian, Geometric, NoiseLaw
from discreet.sample.bits import Bits


def add_geometric(counts: Integers, odds: Fraction, bits: Bits, top: int | None = None) -> Integers:
    return Geometric(odds).add(counts, bits, top)


def add_gaussian(counts: Integers, variance: Fraction, bits: Bits, top: int | None = None) -> Integers:
    return Gaussian(variance).add(counts, bits, top)


def add_law(counts: Integers, law: NoiseLaw, bits: Bits, top: int | None = None) -> Integers:
    return law.add(counts, bits, top)
