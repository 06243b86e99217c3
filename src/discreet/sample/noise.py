"""Integer noise with no float on the path: two-sided geometric and discrete Gaussian, of any width."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.numbers import Epsilon, arb_of, enclose
from discreet.sample.bits import Bits
from discreet.sample.draw import Law, add_noise, bernoulli, draw
from discreet.sample.laws import CENTRE_BITS, Digit, Gaussian, Geometric, scaled

WIDEST_TABLE = 3000  # a guide table resolves nearly every draw up to about this reach
DIGIT = 256
WIDEST = 1 << 52  # wider noise might not fit into 64 bits
CENTRE_REACH = CENTRE_BITS * math.log(2)


def geometric(odds: Fraction, size: int, bits: Bits) -> Integers:
    """P(k) = (1-a)/(1+a) a^|k| with a = 1/odds."""
    return add_geometric(np.zeros(size, dtype=np.int64), odds, bits)


def add_geometric(counts: Integers, odds: Fraction, bits: Bits, top: int | None = None) -> Integers:
    """counts, none above `top`, plus two-sided geometric noise."""
    law = Geometric(odds)
    if 1 / (odds - 1) > WIDEST:
        raise _too_wide()
    if law.centre[1] <= WIDEST_TABLE:
        return add_noise(counts, law, bits, top=top)
    return _capped(counts, top) + _wide_geometric(Epsilon(ratio=odds), len(counts), bits)


def gaussian(variance: Fraction, size: int, bits: Bits) -> Integers:
    """P(k) proportional to exp(-k^2 / (2 variance))."""
    return add_gaussian(np.zeros(size, dtype=np.int64), variance, bits)


def add_gaussian(counts: Integers, variance: Fraction, bits: Bits, top: int | None = None) -> Integers:
    """counts, none above `top`, plus discrete Gaussian noise."""
    law = Gaussian(variance)
    if variance > WIDEST**2:
        raise _too_wide()
    if law.centre[1] <= WIDEST_TABLE:
        return add_noise(counts, law, bits, top=top)
    return _capped(counts, top) + _wide_gaussian(variance, len(counts), bits)


def _capped(counts: Integers, top: int | None) -> Integers:
    return counts if top is None else np.minimum(counts, top)


def _too_wide() -> BadInput:
    return BadInput("noise was asked for", "it is so wide that it may not fit into 64 bits", "Spend more")


def add_law(counts: Integers, law: Law, bits: Bits, top: int | None = None) -> Integers:
    """counts, none above `top`, plus noise of any law whose table is small."""
    if law.centre[1] > WIDEST_TABLE:
        raise BadInput("noise of that law was asked for", "it is too wide to be drawn from a table", "Raise epsilon")
    return add_noise(counts, law, bits, top=top)


def one_sided_geometric(rate: Epsilon, size: int, bits: Bits) -> Integers:
    """P(k) = (1-a) a^k for k >= 0, a = e^-rate, digit by digit: the digits of a geometric variable are independent."""
    unit, out = 1, np.zeros(size, dtype=np.int64)
    while WIDEST_TABLE * unit * float(rate) < CENTRE_REACH:
        out += unit * draw(Digit(rate, unit, DIGIT), size, bits)
        unit *= DIGIT
    return out + unit * draw(Digit(rate, unit, None), size, bits)


def _wide_geometric(rate: Epsilon, size: int, bits: Bits) -> Integers:
    """The difference of two one-sided geometric variables is two-sided geometric."""
    return one_sided_geometric(rate, size, bits) - one_sided_geometric(rate, size, bits)


def _wide_gaussian(variance: Fraction, size: int, bits: Bits) -> Integers:
    """Rejection from two-sided geometric noise of nearly the same width (Canonne, Kamath and Steinke)."""
    width = math.isqrt(math.floor(variance)) + 1
    out = np.empty(size, dtype=np.int64)
    done = 0
    while done < size:
        proposals = _wide_geometric(Epsilon(value=Fraction(1, width)), 2 * (size - done) + 16, bits)
        kept = proposals[_accepted(np.abs(proposals), variance, width, bits)][: size - done]
        out[done : done + len(kept)] = kept
        done += len(kept)
    return out


def _accepted(distances: Integers, variance: Fraction, width: int, bits: Bits) -> np.ndarray:
    """Each with probability exp(-(distance - variance/width)^2 / (2 variance))."""
    values, which = np.unique(distances, return_inverse=True)
    chances = [_chance_of((int(value) - variance / width) ** 2 / (2 * variance)) for value in values]
    bounds = [chance(64) for chance in chances]
    largest = (1 << 64) - 1
    low = np.array([min(b[0], largest) for b in bounds], dtype=np.uint64)[which]
    last = np.array([max(b[1] - 1, 0) for b in bounds], dtype=np.uint64)[which]
    words = bits.words(len(distances))
    accepted = words < low
    for i in np.flatnonzero((words >= low) & (words <= last)):
        accepted[i] = bernoulli(chances[which[i]], bits, int(words[i]), 64)
    return accepted


def _chance_of(gamma: Fraction) -> Callable[[int], tuple[int, int]]:
    """Enclosures of 2^b e^-gamma."""
    return lambda b: scaled(enclose(lambda: (-arb_of(gamma)).exp(), b), b)
