"""One-sided geometric draws of any width, digit by digit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Integers
from discreet.laws.law import CENTRE_BITS, WIDEST_TABLE, scaled
from discreet.numbers import Epsilon, enclose
from discreet.sample.bits import Bits
from discreet.sample.draw import draw

if TYPE_CHECKING:
    from flint import arb

DIGIT = 256  # few values beside the 65,536 cells of a guide table, which settles nearly every draw
CENTRE_REACH = CENTRE_BITS * math.log(2)  # times 1 / rate: there the tail is 2^-CENTRE_BITS


@dataclass(frozen=True)
class Digit:
    """A digit of a one-sided geometric variable with ratio e^-rate: P(d) proportional to e^(-rate unit d), d < size.

    Without a size it is the leading digit, which has no end.
    """

    rate: Epsilon
    unit: int
    size: int | None

    @property
    def centre(self) -> tuple[int, int]:
        if self.size is not None:
            return 0, self.size - 1
        return 0, math.ceil(CENTRE_REACH / (float(self.rate) * self.unit))

    def below(self, k: int, bits: int) -> tuple[int, int]:
        if k < 0:
            return 0, 0
        if self.size is not None and k >= self.size - 1:
            return 1 << bits, 1 << bits

        def chance() -> arb:
            rate = self.rate.ball()
            first = -(-rate * self.unit * (k + 1)).expm1()
            return first if self.size is None else first / -(-rate * self.unit * self.size).expm1()

        return scaled(enclose(chance, bits), bits)


def one_sided_geometric(rate: Epsilon, size: int, bits: Bits) -> Integers:
    """P(k) = (1-a) a^k for k >= 0, a = e^-rate, digit by digit: the digits of a geometric variable are independent."""
    unit, out = 1, np.zeros(size, dtype=np.int64)
    while WIDEST_TABLE * unit * float(rate) < CENTRE_REACH:
        out += unit * draw(Digit(rate, unit, DIGIT), size, bits)
        unit *= DIGIT
    return out + unit * draw(Digit(rate, unit, None), size, bits)
